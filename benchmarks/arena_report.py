"""The page `docs/peers.md` and its plot, written from `results/peers.json`."""

import math
from collections.abc import Callable

from arena import RESULT
from arena_plots import draw_problems
from comparison import (
    OWN,
    PEERS,
    best_ratio,
    finished_peers,
    finished_runs,
    gap_at_equal_time,
    is_first,
    median_figure,
    n_won,
    seconds_to_inertia,
    short_failure,
    stopped_peers,
)
from environment import Json
from page import DOCS, IMAGES, machine, table, versions
from peers import CONTESTANTS
from problems import PROBLEMS
from reasons import REASONS
from result_files import read_result

Problems = dict[str, Json]

GROWTH = {
    "n from 10,000 to 100,000": ("SIFT 10,000 x 128, k=256", "SIFT 100,000 x 128, k=256"),
    "n from 100,000 to 1,000,000": ("SIFT 100,000 x 128, k=256", "SIFT 1,000,000 x 128, k=256"),
    "k from 256 to 1,024": ("SIFT 100,000 x 128, k=256", "SIFT 100,000 x 128, k=1,024"),
    "k from 1,024 to 4,096": ("SIFT 100,000 x 128, k=1,024", "SIFT 100,000 x 128, k=4,096"),
}
"""Pairs of problems that differ in n or k alone."""


def write_report() -> None:
    """Write the page and its plot, and print the main tables."""
    result = read_result(RESULT)
    problems = known_problems(result)
    IMAGES.mkdir(parents=True, exist_ok=True)
    draw_problems(problems, IMAGES / "peers.svg")
    print(summary_table(problems), nearest_table(problems), sep="\n")
    (DOCS / "peers.md").write_text(page_text(result))


def known_problems(result: Json) -> Problems:
    """Return the measured problems, in the order of `PROBLEMS`."""
    found = result["problems"]
    return {one.name: found[one.name] for one in PROBLEMS if one.name in found}


def page_text(result: Json) -> str:
    """Return the page as Markdown."""
    problems = known_problems(result)
    parts = {
        "machine": machine(result), "versions": versions(result),
        "summary": summary_table(problems), "nearest": nearest_table(problems),
        "reasons": reasons(problems), "growth": growth_table(problems),
        "separately": measured_separately(problems),
    }  # fmt: skip
    for kind in ("dense", "sparse"):
        parts[kind] = by_peer(problems, kind, ratio_cell)
        parts[f"{kind}_equal_time"] = by_peer(problems, kind, equal_time_cell)
        parts[f"{kind}_memory"] = memory_table(problems, kind)
    return TEXT.format(**parts)


def of_kind(problems: Problems, kind: str) -> Problems:
    """Return the problems with dense or with sparse rows."""
    return {name: problem for name, problem in problems.items() if problem["kind"] == kind}


def summary_table(problems: Problems) -> str:
    """Return how often boostkmeans is first, by pairs of problem and peer, and by problems."""
    rows = []
    for kind in ("dense", "sparse"):
        some = list(of_kind(problems, kind).values())
        n_pairs = sum(len(finished_peers(problem)) for problem in some)
        n_stopped = sum(len(stopped_peers(problem)) for problem in some)
        shares = [
            f"{n_won(some, own)} ({100 * n_won(some, own) / max(1, n_pairs):.0f} %)"
            for own in (*([one] for one in OWN), OWN)
        ]
        n_first = sum(is_first(problem, OWN) for problem in some)
        rows.append([kind, str(n_pairs), *shares[:-1], f"**{shares[-1]}**", f"{n_first} of {len(some)}",
                     str(n_stopped)])  # fmt: skip
    header = ["rows", "comparisons", *OWN, "any of these",
              "problems on which boostkmeans wins all comparisons",
              "peers stopped by the time limit"]  # fmt: skip
    return table(header, rows)


def nearest_table(problems: Problems) -> str:
    """Return the peer with the lowest ratio on each problem."""
    rows = []
    for name, problem in problems.items():
        peer = min(finished_peers(problem), key=lambda p: best_ratio(problem, p), default=None)
        if peer is None:
            rows.append([name, problem["data"], "no peer within the limit", "", "", "", ""])
            continue
        target = median_figure(problem, peer, "inertia")
        gap = 100 * (median_figure(problem, "boostkmeans", "inertia") / target - 1)
        rows.append([
            name, problem["data"], peer, f"{median_figure(problem, peer, 'seconds'):.3g} s",
            fastest_cell(problem, target), ratio_cell(problem, peer), f"{gap:+.2f} %",
        ])  # fmt: skip
    header = ["problem", "data", "nearest peer", "time of the peer",
              "time of boostkmeans to the same inertia", "ratio",
              "final inertia of the defaults relative to the peer"]  # fmt: skip
    return table(header, rows)


def fastest_cell(problem: Json, target: float) -> str:
    """Return the shortest time of boostkmeans to an inertia, and the setting."""
    own = min(OWN, key=lambda one: seconds_to_inertia(problem, one, target))
    seconds = seconds_to_inertia(problem, own, target)
    return "never" if math.isinf(seconds) else f"{seconds:.3g} s ({own})"


def by_peer(problems: Problems, kind: str, cell: Callable[[Json, str], str]) -> str:
    """Return a table with one row per problem and one column per peer."""
    peers = [peer for peer in PEERS if kind in CONTESTANTS[peer].kinds]
    rows = [
        [name, *(cell(problem, peer) for peer in peers)]
        for name, problem in of_kind(problems, kind).items()
    ]
    return table(["", *peers], rows)


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


def memory_table(problems: Problems, kind: str) -> str:
    """Return the peak memory above the input."""
    names = [name for name in (OWN[0], *PEERS) if kind in CONTESTANTS[name].kinds]

    def cell(problem: Json, name: str) -> str:
        value = median_figure(problem, name, "megabytes")
        return short_failure(problem, name) if math.isnan(value) else f"{value:,.0f}"

    rows = [
        [title, *(cell(problem, name) for name in names)]
        for title, problem in of_kind(problems, kind).items()
    ]
    return table(["MB", *names], rows)


def growth_table(problems: Problems) -> str:
    """Return the ratio of the times of whole fits for larger n or k."""
    rows = []
    for name, contestant in CONTESTANTS.items():
        if "dense" not in contestant.kinds:
            continue
        cells = [growth_cell(problems, name, small, large) for small, large in GROWTH.values()]
        rows.append([name, *cells])
    return table(["", *GROWTH], rows)


def growth_cell(problems: Problems, name: str, small: str, large: str) -> str:
    """Return the ratio of the times of two problems, or "not known"."""
    if small not in problems or large not in problems:
        return "not known"
    ratio = median_figure(problems[large], name, "seconds") / median_figure(
        problems[small], name, "seconds"
    )
    return "not known" if math.isnan(ratio) else f"{ratio:.3g} x"


def reasons(problems: Problems) -> str:
    """Return a list of the problems on which a peer is first, with the reason."""
    lines = []
    for name, problem in problems.items():
        ahead = [peer for peer in finished_peers(problem) if best_ratio(problem, peer) <= 1]
        if ahead:
            by = ", ".join(f"{peer} ({ratio_cell(problem, peer).strip('*')})" for peer in ahead)
            lines.append(f"- **{name}**: behind {by}. {REASONS.get(name, '')}".rstrip())
    return "\n".join(lines) or "There is no such problem."


def measured_separately(problems: Problems) -> str:
    """Return a note if boostkmeans and the peers were measured with different commits."""

    def commits(problem: Json, names: list[str]) -> set[str]:
        return {run.get("commit", "") for name in names for run in problem["runs"].get(name, [])}

    separate = [one for one in problems.values() if not commits(one, OWN) & commits(one, PEERS)]
    if not separate:
        return ""
    own = sorted({commit[:7] for one in problems.values() for commit in commits(one, OWN)})
    return (
        f"On {len(separate)} of {len(problems)} problems, boostkmeans was measured again after a change "
        f"(commits {', '.join(own)}), hours after the peers and not interleaved with them. The speed of "
        "this machine varies by up to a factor of two, so ratios near 1 are uncertain for these "
        "problems.\n"
    )


TEXT = """# Comparison with other libraries

This page is written by `benchmarks/arena_report.py` from `benchmarks/results/peers.json`; `make bench`
measures and writes both. Machine: {machine}. Versions: {versions}.

How the comparison works:

- All libraries get the same rows (float32 or CSR), the same number of threads, a separate process and a
  time limit. All of them return labels for all rows, and this is part of their time.
- The inertia is computed from these labels in float64, with the means of the clusters as centres.
- Each setting runs with three seeds, and the page shows medians. A setting that takes longer than
  5 seconds runs once.
- Other libraries, the *peers*, run with the settings that their documentation recommends, or with their
  defaults. If these use a sample of the rows, a second entry uses all rows.
- *Time to equal inertia* is a ratio: the time of a peer divided by the time after which boostkmeans is
  at or below the inertia of the peer. The latter is taken from `history_`, counted from the call of
  `fit`. The time after the last record, for final sums and labels, is added.
- To add a peer, write one function in `benchmarks/peers.py`.

{separately}
## How often boostkmeans is first

Each comparison is between boostkmeans and one setting of a peer on one problem, by time to equal
inertia:

{summary}

"Any of these" counts a comparison as won if at least one of the four settings of boostkmeans reaches the
inertia of the peer earlier than the peer. A peer that exceeded the time limit is not compared, because
its inertia is unknown.

## The nearest peer on each problem

{nearest}

## Where boostkmeans is not first

{reasons}

## Time to equal inertia

Each cell is the time of a peer divided by the shortest time of boostkmeans to the same inertia. Bold
cells are comparisons that the peer wins.

{dense}

{sparse}

## Inertia at equal time

Each cell is the inertia that the defaults of boostkmeans have reached when a peer ends, relative to the
inertia of the peer. Negative values mean that boostkmeans has the lower inertia.

{dense_equal_time}

{sparse_equal_time}

## Peak memory above the input

{dense_memory}

{sparse_memory}

## Growth

Factor by which the time of a whole fit grows if n or k alone increases (SIFT; n = 100,000 and k = 256
unless stated otherwise in the column):

{growth}

## Curves

Inertia in percent above the lowest inertia of all settings, against seconds. Lines show boostkmeans
during the fit, and points show the final results of peers.

![Inertia against time](images/peers.svg)
"""
