"""Names of methods and of groups of methods, as users type them."""

import textwrap
from collections.abc import Callable
from difflib import get_close_matches

from boostkmeans.baselines import METHOD_GROUPS, METHODS, Method

# Width of the lines that list names in a help text.
HELP_WIDTH = 76
# Value of --methods that prints the names of all methods.
LIST = "list"
# Groups that together contain each method once.
DISJOINT_GROUPS = {
    "boostkmeans": "estimators of this package",
    "k-way": "direct k-way methods of the paper",
    "trees": "trees of the paper; the sampled ones are the default of this package",
    "refined-trees": "trees, refined by the paper's Algorithm 1",
    "criteria": "CLUTO's methods with its criteria, for documents (by cosine)",
    "scikit-learn": "implementations of scikit-learn",
}
# Other groups, which select some of the methods above.
SELECTIONS = {
    "default": "methods that `boostkmeans compare` runs by default",
    "paper": "methods of the paper's Table 3",
    "table-1": "methods of the paper's Table 1",
    "all": "all methods",
}


def methods_listing() -> str:
    """Return all names, by group."""
    parts = [
        "\n".join([f"{group}: {text}", *(f"  {name}" for name in METHOD_GROUPS[group])])
        for group, text in DISJOINT_GROUPS.items()
    ]
    parts += [f"{group}: {text}" for group, text in SELECTIONS.items()]
    return "\n".join(parts)


def methods_in_help(function: Callable[..., None]) -> Callable[..., None]:
    """Add the names of all methods, by group, to the help text of a command."""
    lines = ["\b", "Methods by group:"]
    for group in DISJOINT_GROUPS:
        names = "; ".join(METHOD_GROUPS[group])
        lines += textwrap.wrap(
            f"{group}: {names}",
            HELP_WIDTH,
            initial_indent="  ",
            subsequent_indent="    ",
            break_on_hyphens=False,
        )
    lines += [f"  {group}: {text}" for group, text in SELECTIONS.items()]
    # A docstring is indented by four blanks.
    function.__doc__ = "\n\n".join([function.__doc__ or "", textwrap.indent("\n".join(lines), "    ")])
    return function


def chosen_methods(text: str) -> dict[str, Method]:
    """Return the methods that a list of names and groups, separated by commas, contains.

    Names are case-insensitive. Some of them contain a comma and a blank, as in "BsKM, refined". The
    longest name that fits is meant.
    """
    known: dict[str, tuple[str, ...]] = {name.lower(): (name,) for name in METHODS}
    known |= METHOD_GROUPS
    parts = text.split(",")
    chosen: dict[str, Method] = {}
    begin = 0
    while begin < len(parts):
        ends = range(len(parts), begin, -1)
        words = [",".join(parts[begin:end]).strip().lower() for end in ends]
        found = next(((end, word) for end, word in zip(ends, words, strict=True) if word in known), None)
        if found is None:
            raise ValueError(_unknown(parts[begin].strip()))
        chosen |= {name: METHODS[name] for name in known[found[1]]}
        begin = found[0]
    return chosen


def _unknown(name: str) -> str:
    names = {known.lower(): known for known in (*METHODS, *METHOD_GROUPS)}
    close = [names[one] for one in get_close_matches(name.lower(), names, n=3)]
    hint = f" Similar names: {', '.join(close)}." if close else ""
    return f"There is no method {name!r}, and no group of this name.{hint} See --methods list."
