"""The sections of `docs/benchmarks.md` about the cluster explorer."""

from environment import Json
from machine_load import QUIET
from page import context, table

PAGES_TEXT = """## Explorer pages

Size of a page of [the cluster explorer](explorer.md), time to create it and peak memory of the process,
without the fit. The texts are WordNet's glosses, repeated. {context}
{table}
The time of small pages is that of the layout, a t-SNE of up to 2,000 landmarks. Contents are limited to
20 MB by default.
"""

BROWSER_TEXT = """## Explorer pages in a browser

Time from the start of loading until the map is drawn, and frames per second while the map is zoomed,
with {browser} without a graphics card: the processor draws the pixels. The pages have synthetic texts.
While the map moves, a slow machine draws only a part of the points; at rest, it draws all of them.
{load}
`python benchmarks/run.py explorer_browser` measures these figures. {context}
{table}"""

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


def browser_section(result: Json) -> str:
    """Return the times of pages in a browser."""
    rows = [
        [
            f"{one['n']:,}",
            f"{one['megabytes']:.1f} MB",
            f"{one['open_seconds']:.1f} s",
            f"{1000 / one['frame_milliseconds']:.0f}",
            f"{one['slowest_milliseconds']:.0f} ms",
            f"{one['points_drawn']:,}",
        ]
        for one in result["pages"]
    ]
    header = ["rows", "page", "opens in", "frames per second", "slowest frame", "points per frame"]
    return BROWSER_TEXT.format(
        browser=result["browser"],
        load=_load_note([one["others"] for one in result["pages"]]),
        context=context(result),
        table=table(header, rows),
    )


def _load_note(loads: list[float]) -> str:
    """Return a sentence that says whether the machine was idle."""
    if max(loads) <= QUIET:
        return "The machine was idle."
    return (
        "**The machine was not idle**: before and after the measurements, other processes used up to "
        f"{max(loads):.1f} processors. Repeat them on an idle machine before you compare them."
    )


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


SECTIONS = {
    "explorer": pages_section,
    "explorer_browser": browser_section,
    "explorer_layout": layout_section,
}
