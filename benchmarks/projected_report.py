"""Section of `docs/benchmarks.md` about fits that run first in a few principal components."""

from environment import Json
from page import context, table


def projected_section(result: Json) -> str:
    """Return times and inertias by number of dimensions."""
    header = ["`dimensions`", "share of the variance", "whole fit", "time", "inertia", "sweeps"]
    text = TEXT.format(context=context(result))
    for name, settings in result["sets"].items():
        rows = [
            [
                dimensions if dimensions.isdecimal() else f"`{dimensions}`",
                "" if of["share"] is None else f"{100 * of['share']:.0f} %",
                f"{of['seconds']:.2f} s",
                f"**{of['time_ratio']:.2f}**",
                f"{100 * (of['inertia_ratio'] - 1):+.2f} %",
                f"{of['sweeps']:.0f}",
            ]
            for dimensions, of in settings.items()
        ]
        text += f"\n{name}:\n\n{table(header, rows)}"
    return text


TEXT = """## Projected fits

Whole fits that run first in the leading principal components, and then in all dimensions. Times and
inertias are relative to `dimensions=None`: medians and means of 2 seeds. Fewer components save more
time, but the fit may end with a higher inertia. "auto" uses the components that hold 87 % of the
variance, rounded up to a multiple of 16. It uses all dimensions where the estimated time would not fall
to 70 %. {context}"""


SECTIONS = {"projected_fits": projected_section}
