"""The sections of docs/benchmarks.md for large k, and their pictures."""

from typing import Any

from environment import Json
from page import IMAGES, table, where


def new_figure() -> tuple[Any, Any]:
    """A figure and its axes."""
    from matplotlib.figure import Figure

    IMAGES.mkdir(parents=True, exist_ok=True)
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    return figure, figure.subplots()


def clusters_section(result: Json) -> str:
    """100,000 clusters."""
    rows = [
        [
            f"{int(k):,}",
            f"{of['seconds']:.1f} s",
            f"{of['distortion']:,.0f}",
            f"{of['sweeps']:.0f}",
            f"{of['megabytes_above_input']:.0f} MB",
        ]
        for k, of in result["clusters"].items()
    ]
    header = ["k", "whole fit", "distortion", "sweeps", "peak memory above the input"]
    return (
        f"## 100,000 clusters\n\n{where(result)}\n{table(header, rows)}\n"
        f"Ten times the clusters take **{result['ratio']:.2f}** of the time (target: below 2, and below "
        "1 GB).\n"
    )


def tree_section(result: Json) -> str:
    """The tree against a matrix product."""
    rows = []
    for name, of in result["contestants"].items():
        ratio = (
            f"**{of['ratio']:.2f}** ({of['ratio_to_product_into_new_memory']:.2f})"
            if "ratio" in of
            else ""
        )
        rows.append(
            [name, f"{of['seconds']:.2f} s", ratio, f"{of['distortion']:,.0f}" if "ratio" in of else ""]
        )
    header = ["", "median", "ratio to the product (to `@`)", "distortion"]
    return (
        f"## Tree\n\n`BisectingBoostKMeans`, k = {result['k']:,}, against one product of 1,000,000 x "
        f"128 by 128 x 2,000 in float32. {where(result)}\n{table(header, rows)}\n"
        f"Targets: 0.65, and a distortion of at most {1.005 * result['prototype_distortion']:,.0f}. A "
        "split takes at most 10 passes, and ends once one gains less than 1e-4 of the inertia; sets "
        "above 2 MB are split by a sample.\n"
    )


def scikit_tree_section(result: Json) -> str:
    """The tree beside scikit-learn's."""
    rows = [
        [name, f"{of['seconds']:.2f} s", f"{of['distortion']:,.0f}"]
        for name, of in result["contestants"].items()
    ]
    return (
        f"## Tree beside scikit-learn's BisectingKMeans\n\nk = {result['k']:,}. {where(result)}\n"
        f"{table(['', 'time', 'distortion'], rows)}"
    )


def headline_section(result: Json) -> str:
    """The paper's largest shapes."""
    rows = [
        [
            shape,
            f"**{of['seconds'] / 60:.2f} min**",
            f"{of['minutes_in_the_paper']} min",
            f"{of['megabytes_held_after']:.0f} MB",
            f"{of['megabytes_peak_with_mapped_file']:,.0f} MB",
        ]
        for shape, of in result["shapes"].items()
    ]
    header = ["", "tree", "the paper's", "held after the fit", "peak, pages of the file included"]
    return f"## The paper's largest shapes\n\n{where(result)}\n{table(header, rows)}"


def scaling_section(result: Json) -> str:
    """Cost against n, k and d."""
    draw_scaling(result)
    kinds = [kind for kind in result["axes"]["n"] if kind != "sizes"]
    rows = [
        [axis, *[f"{of[kind]['exponent']:.2f}" for kind in kinds]] for axis, of in result["axes"].items()
    ]
    return (
        f"## Cost against n, k and d\n\nEach varied alone; exponents of the time. {where(result)}\n"
        f"{table(['', *kinds], rows)}\n![Cost against n, k and d](images/scaling.png)\n"
    )


def draw_scaling(result: Json) -> None:
    """A panel for each of n, k and d."""
    from matplotlib.figure import Figure

    IMAGES.mkdir(parents=True, exist_ok=True)
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    for axes, (axis, of) in zip(figure.subplots(1, 3, sharey=True), result["axes"].items(), strict=True):
        for kind in of:
            if kind != "sizes":
                axes.loglog(of["sizes"], of[kind]["seconds"], marker="o", label=kind)
        axes.set(xlabel=axis, ylabel="seconds" if axis == "n" else "")
    figure.axes[0].legend(fontsize=8)
    figure.savefig(IMAGES / "scaling.png", dpi=120)


def pay_section(result: Json) -> str:
    """What "auto" stands for."""
    rows = [
        [name, way, f"{of['seconds']:.2f} s", f"{of['distortion']:.6g}"]
        for name, ways in result["sets"].items()
        for way, of in ways.items()
    ]
    return (
        '## What "auto" stands for\n\nFrom 512 clusters on, 128 candidates; up to 2,048, sweeps over '
        "all clusters follow. In between, some rows look at all clusters; all do where that gains more. "
        "Starts: k-means++ on a sample up to 1,024 clusters of 64 rows or more, "
        "else the tree. "
        f"{where(result)}\n{table(['data', 'way', 'whole fit', 'distortion'], rows)}"
    )


def low_section(result: Json) -> str:
    """Products of bytes."""
    rows = [
        [
            f"{int(k):,}",
            f"{1e3 * of['float32_seconds']:.0f} ms",
            f"{1e3 * of['bytes_seconds']:.0f} ms",
            f"**{of['float32_seconds'] / of['bytes_seconds']:.2f} x**",
            f"{100 * of['gain_to_float32']:.1f} %",
        ]
        for k, of in result["clusters"].items()
    ]
    header = ["k", "float32", "bytes", "faster", "of the gain"]
    return (
        "## Low precision\n\nOne sweep over all clusters, proposals by float32 and by products of bytes "
        f"(AVX512-VNNI; decisions are in float64 either way). {where(result)}\n{table(header, rows)}\n"
        "So rows that are bytes propose like that from 256 clusters on, as long as a twentieth of them "
        "moves. It does not pay for candidates: there, fetching the rows is what takes time, and a "
        "sweep with 128 candidates was as fast with bytes or 16-bit products as with float32. On this "
        "processor a bfloat16 product takes four times as long as a float32 one of half its length.\n"
    )


def assignment_section(result: Json) -> str:
    """New rows."""
    rows = [
        [f"`{way}`" if "=" in way else way, f"{of['seconds']:.2f} s", f"{100 * of['agreement']:.1f} %",
         f"{of['distortion']:,.0f}"]
        for way, of in result["ways"].items()
    ]  # fmt: skip
    header = ["`predict`", "100,000 rows", "agrees with the exact one", "distortion"]
    return f"## Assignment of new rows\n\nk = {result['k']:,}. {where(result)}\n{table(header, rows)}"


SECTIONS = {
    "hundred_thousand_clusters": clusters_section,
    "tree_against_product": tree_section,
    "tree_against_scikit_learn": scikit_tree_section,
    "headline_shapes": headline_section,
    "scaling": scaling_section,
    "where_candidates_pay": pay_section,
    "low_precision": low_section,
    "assignment": assignment_section,
}
