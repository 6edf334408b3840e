"""Tables of `docs/peers.md`: one table per library, which is narrow enough for a screen."""

import math
import re
from collections.abc import Callable

from comparison import (
    BASELINE,
    DEFAULTS,
    OWN,
    PEERS,
    best_ratio,
    failure,
    finished_runs,
    gap_at_equal_time,
    median_figure,
    peak_megabytes,
    seconds_to_inertia,
)
from environment import Json
from page import table
from peers import CONTESTANTS

Problems = dict[str, Json]
Cell = Callable[[Json, str], str]

# Beginning of the failure of a setting that exceeded the time limit.
TOO_SLOW = "more than "
# Failures that are shown as they are. All others are messages of a library.
SHORT_FAILURES = ("not installed", "not measured", "takes no")
ERROR = "error"
# The peer of the example that explains the tables: the one that most readers know.
EXAMPLE = "scikit-learn KMeans"


def of_kind(problems: Problems, kind: str) -> Problems:
    """Return the problems with dense or with sparse rows."""
    return {name: problem for name, problem in problems.items() if problem["kind"] == kind}


def libraries(kind: str) -> dict[str, list[str]]:
    """Return the settings of each peer that accept rows of this kind."""
    found: dict[str, list[str]] = {}
    for name in PEERS:
        if kind in CONTESTANTS[name].kinds:
            found.setdefault(CONTESTANTS[name].package, []).append(name)
    return found


def short_setting(name: str) -> str:
    """Return the name of a setting without the name of its library.

    >>> short_setting("scikit-learn KMeans, random rows"), short_setting("superkmeans, sq8")
    ('KMeans, random rows', 'sq8')
    >>> short_setting("boostkmeans"), short_setting("faiss.Kmeans")
    ('defaults', 'Kmeans')
    """
    library = re.match(r"[\w-]+", name)
    return name.removeprefix(library[0] if library else "").lstrip(" ,.") or "defaults"


def tables_by_library(problems: Problems, cell: Cell, own: list[str] | None = None) -> str:
    """Return one table per library: one row per problem, and one column per setting.

    Settings in `own` are columns of a table of their own, which is the first one.
    """
    parts = []
    for kind in ("dense", "sparse"):
        some = of_kind(problems, kind)
        if not some:
            continue
        groups = {"boostkmeans": own} if own else {}
        for library, settings in {**groups, **libraries(kind)}.items():
            rows = [[name, *(cell(problem, one) for one in settings)] for name, problem in some.items()]
            header = [f"{kind} rows", *map(short_setting, settings)]
            parts.append(f"**{library}**, {kind} rows:\n\n{table(header, rows)}")
    return "\n".join(parts)


def ratio_cell(problem: Json, peer: str) -> str:
    """Return the best time ratio, in bold if the peer is first."""
    value = best_ratio(problem, peer)
    if math.isnan(value):
        return short_failure(problem, peer)
    return f"{value:.3g} x" if value > 1 else f"**{value:.2g} x**" if value > 0 else "**never**"


def equal_time_cell(problem: Json, peer: str) -> str:
    """Return the relative inertia of the defaults at the time at which a peer ends."""
    if not finished_runs(problem, peer):
        return short_failure(problem, peer)
    gap = gap_at_equal_time(problem, peer)
    return "no result yet" if math.isinf(gap) else f"{100 * gap:+.2f} %"


def memory_cell(problem: Json, name: str) -> str:
    """Return the peak memory above the input, in megabytes."""
    value = peak_megabytes(problem, name)
    return short_failure(problem, name) if math.isnan(value) else f"{value:,.0f}"


def memory_tables(problems: Problems) -> str:
    """Return the peak memory of boostkmeans and of each library."""
    return tables_by_library(problems, memory_cell, [DEFAULTS, BASELINE])


def short_failure(problem: Json, name: str) -> str:
    """Return why a contestant has no figures, in a few words.

    A time limit becomes "> 30 s", with the problem in parentheses if another problem was too slow.
    """
    text = failure(problem, name)
    if text.startswith(TOO_SLOW):
        limit, _, other = text.removeprefix(TOO_SLOW).partition(" for ")
        return f"> {limit} ({other})" if other else f"> {limit}"
    return text if text.startswith(SHORT_FAILURES) else ERROR


def error_list(problems: Problems) -> str:
    """Return the messages of the libraries for the cells that say "error"."""
    found: dict[str, dict[str, None]] = {}
    for problem in problems.values():
        for name in PEERS:
            if not finished_runs(problem, name) and name in problem["runs"]:
                text = failure(problem, name)
                if short_failure(problem, name) == ERROR:
                    found.setdefault(text.split(": ")[-1].strip(), {})[name] = None
    return "\n".join(f"- {', '.join(names)}: `{text}`" for text, names in found.items())


def example(problems: Problems) -> str:
    """Return sentences that read one cell of the tables, of a fit that takes a while, or ""."""
    won = {name: one for name, one in of_kind(problems, "dense").items() if best_ratio(one, EXAMPLE) > 1}
    if not won:
        return ""
    slow = [name for name, one in won.items() if median_figure(one, EXAMPLE, "seconds") > 1]
    name = next(iter([*slow, *won]))
    target = median_figure(won[name], EXAMPLE, "inertia")
    own = min(OWN, key=lambda one: seconds_to_inertia(won[name], one, target))
    seconds = median_figure(won[name], EXAMPLE, "seconds")
    return (
        f"For example, {EXAMPLE} took {seconds:.3g} s on the problem *{name}*. "
        f"boostkmeans ({short_setting(own)}) was at or below its inertia after "
        f"{seconds_to_inertia(won[name], own, target):.3g} s, so the cell is "
        f"{ratio_cell(won[name], EXAMPLE)}."
    )
