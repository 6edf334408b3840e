"""The sections of `docs/benchmarks.md` about the cluster explorer."""

from environment import Json
from page import context, table

PAGES_TEXT = """## Explorer pages

Size of a page of [the cluster explorer](explorer.md), time to create it and peak memory of the process,
without the fit. The texts are WordNet's glosses, repeated. {context}
{table}
The time of small pages is that of the layout, a t-SNE of up to 2,000 landmarks. Contents are limited to
20 MB by default.
"""

LAYOUT_TEXT = """## Layout of explorer pages

Share of the {neighbours} nearest neighbours of a row that are among its {neighbours} nearest neighbours
on the map, k = {k}. In the data, {same:.0%} of the neighbours belong to the same cluster. {context}
{table}
The explorer keeps the rows of a cluster together, so that it can preserve at most the neighbours of the
same cluster. Its constants were chosen on these rows.
"""


def pages_section(result: Json) -> str:
    """Return the sizes and times of pages."""
    rows = [
        [
            f"{one['n']:,}",
            f"{one['k']:,}",
            "yes" if one["texts"] else "no",
            f"{one['seconds']:.1f} s",
            f"{one['megabytes']:.1f} MB",
            f"{one['peak_megabytes']:,.0f} MB",
        ]
        for one in result["pages"]
    ]
    header = ["rows", "clusters", "texts", "time", "page", "peak memory"]
    return PAGES_TEXT.format(context=context(result), table=table(header, rows))


def layout_section(result: Json) -> str:
    """Return the comparison of layouts."""
    rows = [
        [
            name,
            f"{one['preserved']:.1%}",
            f"{one['same_cluster']:.1%}",
        ]
        for name, one in result["layouts"].items()
    ]
    header = ["layout", "neighbours preserved", "neighbours on the map in the same cluster"]
    return LAYOUT_TEXT.format(
        neighbours=result["neighbours"],
        k=result["k"],
        same=result["same_cluster"],
        context=context(result),
        table=table(header, rows),
    )


SECTIONS = {"explorer": pages_section, "explorer_layout": layout_section}
