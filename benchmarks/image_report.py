"""The section of `docs/benchmarks.md` about images."""

from environment import Json
from page import context, table

TEXT = """## Near duplicates of images

Planted copies that are found among {n_images:,} images of at most 128 pixels, {n_planted} copies of each
kind. {n_without} images have no keypoints and therefore no VLAD vector. {context}
{table}
"Other pairs" are pairs of different photographs. Some of them show the same scene. The last row is the
default of `cluster_images`.

Time of the VLAD vectors of a trained pipeline, and peak memory of the main process:

{times}
With one process, OpenCV uses both cores, too.
"""


def duplicates_section(result: Json) -> str:
    """Return the planted copies that are found, and the times."""
    kinds = [name for name in result["rows"][0] if name not in ("measure", "threshold", "other pairs")]
    rows = [
        [
            one["measure"],
            " or ".join(map(str, one["threshold"]))
            if isinstance(one["threshold"], list)
            else str(one["threshold"]),
            *(str(one[kind]) for kind in kinds),
            str(one["other pairs"]),
        ]
        for one in result["rows"]
    ]
    times = [
        [
            one["images"],
            f"{one['n_images']:,}",
            str(one["n_jobs"]),
            f"{one['milliseconds_per_image']:.1f} ms",
            f"{one['peak_megabytes']:,.0f} MB",
        ]
        for one in result["times"]
    ]
    return TEXT.format(
        n_images=result["n_images"],
        n_planted=result["n_planted"],
        n_without=result["n_without_keypoints"],
        context=context(result),
        table=table(["measure", "threshold", *kinds, "other pairs"], rows),
        times=table(["images", "number", "processes", "time per image", "peak memory"], times),
    )


SECTIONS = {"image_duplicates": duplicates_section}
