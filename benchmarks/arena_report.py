"""docs/peers.md and its pictures, from results/peers.json."""

import json
import math
from typing import Any

from arena import RESULT
from environment import Json
from measure import median, seconds_to
from page import DOCS, IMAGES, table
from peers import CONTESTANTS
from problems import PROBLEMS
from reasons import REASONS

OURS = [name for name, contestant in CONTESTANTS.items() if contestant.own]
PEERS = [name for name, contestant in CONTESTANTS.items() if not contestant.own]
SAME = 1 + 1e-6  # inertias that differ by less are of one optimum, rounded


def good(problem: Json, name: str) -> list[Json]:
    """The runs of a contestant that came to an end."""
    return [run for run in problem["runs"].get(name, []) if "failure" not in run]


def failure(problem: Json, name: str) -> str:
    """Why there is none."""
    runs = problem["runs"].get(name, [])
    return str(runs[0]["failure"]) if runs else "not measured"


def middle(problem: Json, name: str, figure: str) -> float:
    """The median over the runs; not a number if there is none."""
    runs = good(problem, name)
    return median([run[figure] for run in runs]) if runs else math.nan


def points(run: Json) -> list[tuple[float, float]]:
    """Seconds and inertia of ours, had it been stopped there: what comes after its last record (final
    sums and labels) is part of every time, as it is for peers.
    """
    rest = max(0.0, run["seconds"] - run["curve"][-1][0])
    course = [(seconds + rest, inertia) for seconds, inertia in run["curve"]]
    return [*course, (run["seconds"], run["inertia"])]


def seconds_of(problem: Json, own: str, target: float) -> float:
    """Until ours is at or below an inertia: the median over its runs, infinite where it never is."""
    runs = good(problem, own)
    return median([seconds_to(points(run), target * SAME) for run in runs]) if runs else math.inf


def ratio(problem: Json, own: str, peer: str) -> float:
    """Time of a peer by our time to its inertia: above 1, ours is first; 0 where ours never gets there.

    Of a peer that was stopped, the inertia is not known: there is nothing to compare.
    """
    if not good(problem, peer):
        return math.nan
    return middle(problem, peer, "seconds") / seconds_of(problem, own, middle(problem, peer, "inertia"))


def comparable(problem: Json) -> list[str]:
    """The peers that came to an end."""
    return [peer for peer in PEERS if good(problem, peer)]


def stopped(problem: Json) -> list[str]:
    """The peers that took longer than the limit."""
    return [p for p in PEERS if not good(problem, p) and failure(problem, p).startswith("more than")]


def best_own(problem: Json, peer: str, own: list[str] | None = None) -> float:
    """The ratio of whichever of our settings gets to its inertia first."""
    return max(ratio(problem, one, peer) for one in own or OURS)


def is_first(problem: Json, own: list[str]) -> bool:
    """Whether for each peer one of these settings is at its inertia sooner."""
    peers = comparable(problem)
    return bool(peers) and all(best_own(problem, peer, own) > 1 for peer in peers)


def entry_of_ratio(problem: Json, peer: str) -> str:
    """As it stands in the table."""
    value = best_own(problem, peer)
    if math.isnan(value):
        return reason_of(problem, peer)
    return f"{value:.3g} x" if value > 1 else f"**{value:.2g} x**" if value > 0 else "**never**"


def reason_of(problem: Json, peer: str) -> str:
    """Why there is no figure, in a few words."""
    text = failure(problem, peer)
    return text if len(text) < 40 else text.split(":")[-1].strip()[:60]


def won(problems: list[Json], own: list[str]) -> int:
    """In how many cells of the table, problems by peers, one of these settings is first."""
    return sum(best_own(problem, peer, own) > 1 for problem in problems for peer in comparable(problem))


def summary(problems: dict[str, Json]) -> str:
    """How often ours is first: by cells, and by problems."""
    rows = []
    for kind in ("dense", "sparse"):
        some = [problem for problem in problems.values() if problem["kind"] == kind]
        n_cells = sum(len(comparable(problem)) for problem in some)
        n_stopped = sum(len(stopped(problem)) for problem in some)
        shares = [
            f"{won(some, own)} ({100 * won(some, own) / max(1, n_cells):.0f} %)"
            for own in (*([one] for one in OURS), OURS)
        ]
        all_of = sum(is_first(problem, OURS) for problem in some)
        rows.append([kind, str(n_cells), *shares[:-1], f"**{shares[-1]}**", f"{all_of} of {len(some)}",
                     str(n_stopped)])  # fmt: skip
    header = ["rows", "cells", *OURS, "one of these", "problems with one of these first in all cells",
              "cells of peers that were stopped"]  # fmt: skip
    return table(header, rows)


def nearest_table(problems: dict[str, Json]) -> str:
    """By problem: the peer that comes nearest."""
    rows = []
    for name, problem in problems.items():
        peer = min(comparable(problem), key=lambda p: best_own(problem, p), default=None)
        if peer is None:
            rows.append([name, problem["data"], "no peer within the limit", "", "", "", ""])
            continue
        target = middle(problem, peer, "inertia")
        own = min(OURS, key=lambda one: seconds_of(problem, one, target))
        gap = 100 * (middle(problem, "ours", "inertia") / target - 1)
        rows.append([
            name, problem["data"], peer, f"{middle(problem, peer, 'seconds'):.3g} s",
            reached(problem, own, target), entry_of_ratio(problem, peer),
            f"{gap:+.2f} %",
        ])  # fmt: skip
    header = ["problem", "rows", "nearest peer", "its time", "ours to its inertia", "ratio",
              "inertia of our defaults, against it"]  # fmt: skip
    return table(header, rows)


def reached(problem: Json, own: str, target: float) -> str:
    """When, and by which setting."""
    seconds = seconds_of(problem, own, target)
    return "never" if math.isinf(seconds) else f"{seconds:.3g} s ({own})"


def matrix(problems: dict[str, Json], kind: str, entry: Any) -> str:
    """Peers by problems."""
    some = {name: problem for name, problem in problems.items() if problem["kind"] == kind}
    peers = [peer for peer in PEERS if kind in CONTESTANTS[peer].takes]
    return table(
        ["", *peers], [[name, *(entry(problem, p) for p in peers)] for name, problem in some.items()]
    )


def equal_time(problem: Json, peer: str) -> str:
    """The inertia of our defaults at the time of a peer, against its own."""
    if not good(problem, peer):
        return reason_of(problem, peer)
    at, gaps = middle(problem, peer, "seconds"), []
    for run in good(problem, "ours"):
        reached = [inertia for seconds, inertia in points(run) if seconds <= at]
        gaps.append(min(reached, default=math.inf) / middle(problem, peer, "inertia") - 1)
    gap = median(gaps) if gaps else math.inf
    return "no result yet" if math.isinf(gap) else f"{100 * gap:+.2f} %"


def memory_table(problems: dict[str, Json], kind: str) -> str:
    """Peaks above the input."""
    some = {name: problem for name, problem in problems.items() if problem["kind"] == kind}
    names = [one for one in (*OURS[:1], *PEERS) if kind in CONTESTANTS[one].takes]

    def shown(problem: Json, name: str) -> str:
        value = middle(problem, name, "megabytes")
        return reason_of(problem, name) if math.isnan(value) else f"{value:,.0f}"

    return table(
        ["MB", *names], [[name, *(shown(problem, n) for n in names)] for name, problem in some.items()]
    )


GROWTH = {
    "n from 10,000 to 100,000": ("SIFT 10,000 x 128, k=256", "SIFT 100,000 x 128, k=256"),
    "n from 100,000 to 1,000,000": ("SIFT 100,000 x 128, k=256", "SIFT 1,000,000 x 128, k=256"),
    "k from 256 to 1,024": ("SIFT 100,000 x 128, k=256", "SIFT 100,000 x 128, k=1,024"),
    "k from 1,024 to 4,096": ("SIFT 100,000 x 128, k=1,024", "SIFT 100,000 x 128, k=4,096"),
}


def growth_table(problems: dict[str, Json]) -> str:
    """How many times longer whole fits take."""
    rows = []
    for name, contestant in CONTESTANTS.items():
        if "dense" not in contestant.takes:
            continue
        entries = []
        for begin, end in GROWTH.values():
            there = begin in problems and end in problems
            pair = (
                [middle(problems[one], name, "seconds") for one in (begin, end)] if there else [math.nan]
            )
            known = not any(math.isnan(value) for value in pair)
            entries.append(f"{pair[1] / pair[0]:.3g} x" if known else "not known")
        rows.append([name, *entries])
    return table(["", *GROWTH], rows)


def reasons(problems: dict[str, Json]) -> str:
    """Where ours is not first: by which peers, and why."""
    lines = []
    for name, problem in problems.items():
        ahead = [peer for peer in comparable(problem) if best_own(problem, peer) <= 1]
        if ahead:
            by = ", ".join(f"{peer} ({entry_of_ratio(problem, peer).strip('*')})" for peer in ahead)
            lines.append(f"- **{name}**: behind {by}. {REASONS.get(name, '')}".rstrip())
    return "\n".join(lines) or "Nowhere."


def draw(problems: dict[str, Json]) -> None:
    """Inertia against time on each problem: ours as curves, peers as points."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    columns = 4
    lines = math.ceil(len(problems) / columns)
    figure, axes = plt.subplots(lines, columns, figsize=(4.2 * columns, 3.1 * lines), squeeze=False)
    markers = dict(zip(PEERS, "os^v<>DPX*hd8pH+x", strict=False))
    for axis in axes.flat[len(problems) :]:
        axis.set_axis_off()
    for axis, (name, problem) in zip(axes.flat, problems.items(), strict=False):
        draw_problem(axis, problem, markers)
        axis.set_title(name, fontsize=9)
    handles, labels = {}, {}
    for axis in axes.flat:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            handles[label], labels[label] = handle, label
    figure.legend(list(handles.values()), list(labels), loc="lower center", ncols=4, fontsize=9)
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    figure.savefig(IMAGES / "peers.svg")
    plt.close(figure)
    draw_headline(problems, markers)


def draw_headline(problems: dict[str, Json], markers: dict[str, str]) -> None:
    """The picture for the README: a million rows into 10,000 clusters."""
    import matplotlib.pyplot as plt

    problem = problems.get("SIFT 1,000,000 x 128, k=10,000")
    if problem is None:
        return
    figure, axis = plt.subplots(figsize=(8, 4.5))
    draw_problem(axis, problem, markers)
    axis.set(xlabel="seconds, labels included", ylabel="inertia, above the lowest (%)")
    axis.legend(fontsize=8)
    axis.set_title(f"{problem['data']} into 10,000 clusters, 2 threads", fontsize=10)
    figure.tight_layout()
    figure.savefig(IMAGES / "million.png", dpi=110)
    plt.close(figure)


def draw_problem(axis: Any, problem: Json, markers: dict[str, str]) -> None:
    """One panel."""
    every = [run["inertia"] for name in CONTESTANTS for run in good(problem, name)]
    if not every:
        return
    lowest = min(every)
    for own in OURS:
        for run in good(problem, own)[:1]:
            curve = [(s, 100 * (i / lowest - 1)) for s, i in points(run)]
            axis.plot(*zip(*curve, strict=True), label=own, linewidth=1.3)
    for peer in PEERS:
        if good(problem, peer):
            point = 100 * (middle(problem, peer, "inertia") / lowest - 1)
            axis.plot(middle(problem, peer, "seconds"), point, markers[peer], label=peer, markersize=5)
    ends = [middle(problem, name, "inertia") for name in CONTESTANTS if good(problem, name)]
    top = 100 * (max(ends) / lowest - 1)
    axis.set(xscale="log", ylim=(-0.05 * max(top, 0.1), 1.3 * max(top, 0.1)))
    axis.tick_params(labelsize=7)
    axis.grid(alpha=0.3)


def measured_apart(problems: dict[str, Json]) -> str:
    """Says so where ours were measured by another commit than peers, thus not in the same hour."""

    def commits(problem: Json, names: list[str]) -> set[str]:
        return {run.get("commit", "") for name in names for run in problem["runs"].get(name, [])}

    apart = [one for one in problems.values() if not commits(one, OURS) & commits(one, PEERS)]
    if not apart:
        return ""
    own = sorted({commit[:7] for one in problems.values() for commit in commits(one, OURS)})
    return (
        f"On {len(apart)} of {len(problems)} problems ours were measured anew after a change (commits "
        f"{', '.join(own)}), hours after the peers, and not in turn with them: on a machine whose speed "
        "varies by up to a factor of two, ratios near 1 may turn.\n"
    )


def write_report() -> None:
    """The page, and the ratios on the terminal."""
    result = json.loads(RESULT.read_text())
    env, found = result["environment"], result["problems"]
    problems = {one.name: found[one.name] for one in PROBLEMS if one.name in found}
    versions = ", ".join(f"{name} {number}" for name, number in env["packages"].items())
    draw(problems)
    print(summary(problems), nearest_table(problems), sep="\n")
    machine = f"{env['processor']}, {env['instruction_set']}, {env['n_threads']} threads"
    parts = {
        "machine": machine, "versions": versions, "summary": summary(problems),
        "nearest": nearest_table(problems), "reasons": reasons(problems),
        "growth": growth_table(problems), "apart": measured_apart(problems),
    }  # fmt: skip
    for kind in ("dense", "sparse"):
        parts[kind] = matrix(problems, kind, entry_of_ratio)
        parts[f"{kind}_equal"] = matrix(problems, kind, equal_time)
        parts[f"{kind}_memory"] = memory_table(problems, kind)
    (DOCS / "peers.md").write_text(TEXT.format(**parts))


TEXT = """# The peers, measured

Written by `benchmarks/arena_report.py` from `benchmarks/results/peers.json` (`make bench`). {machine};
{versions}.

All contestants have the same float32 rows (or CSR), the same threads, a process of their own and a time
limit; all return labels for all rows, which is part of their time. Inertia is computed from these
labels, by the means of the clusters, in float64. Three seeds in two rounds over all contestants,
medians; what takes longer than 5 seconds runs once. Time to equal inertia: for each setting of a peer,
its time, by the time after which ours is at or below its inertia (from `history_`, counted from the call
of `fit`; the time that a fit takes after its last record, for final sums and labels, is added). Peers
have the settings that their documentation recommends or has as defaults; where these leave rows out,
there is another entry with all rows. A new contestant is one function in `benchmarks/peers.py`.

{apart}
## How often ours is first

In time to equal inertia. A cell is one setting of a peer on one problem:

{summary}

"One of these": one of our settings gets to the inertia of the peer before it. A peer that was stopped by
the time limit is not compared: its inertia is not known.

## The nearest peer on each problem

{nearest}

## Where ours is not first

{reasons}

## Time to equal inertia

How many times as long a peer takes as one of our settings to the same inertia. Bold: the peer is first.

{dense}

{sparse}

## Inertia at equal time

The inertia of our defaults at the time at which a peer ends, against the inertia of the peer: below 0,
ours is lower.

{dense_equal}

{sparse_equal}

## Peak memory above the input

{dense_memory}

{sparse_memory}

## Growth

How many times longer a whole fit takes (SIFT, from 100,000 x 128 and k = 256, n or k varied alone):

{growth}

## Curves

Inertia, in percent above the lowest of all, against seconds. Lines: ours, over time. Points: peers at
their end.

![Inertia against time](images/peers.svg)
"""
