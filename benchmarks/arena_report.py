"""docs/peers.md and its pictures, from results/peers.json."""

import json
import math
from typing import Any

from arena import RESULT
from environment import Json
from measure import median, seconds_to
from page import DOCS, IMAGES, table
from peers import CONTESTANTS
from reasons import REASONS

OURS = [name for name, contestant in CONTESTANTS.items() if contestant.own]
PEERS = [name for name, contestant in CONTESTANTS.items() if not contestant.own]
SAME = 1 + 1e-6  # inertias that differ by less are of one optimum, rounded


def good(cell: Json, name: str) -> list[Json]:
    """The runs of a contestant that came to an end."""
    return [run for run in cell["runs"].get(name, []) if "failure" not in run]


def failure(cell: Json, name: str) -> str:
    """Why there is none."""
    runs = cell["runs"].get(name, [])
    return str(runs[0]["failure"]) if runs else "not measured"


def middle(cell: Json, name: str, figure: str) -> float:
    """The median over the runs; not a number if there is none."""
    runs = good(cell, name)
    return median([run[figure] for run in runs]) if runs else math.nan


def points(run: Json) -> list[tuple[float, float]]:
    """Seconds and inertia of ours, had it been stopped there: what comes after its last record (final
    sums and labels) is part of every time, as it is for peers.
    """
    rest = max(0.0, run["seconds"] - run["curve"][-1][0])
    course = [(seconds + rest, inertia) for seconds, inertia in run["curve"]]
    return [*course, (run["seconds"], run["inertia"])]


def seconds_of(cell: Json, own: str, target: float) -> float:
    """Until ours is at or below an inertia: the median over its runs, infinite where it never is."""
    runs = good(cell, own)
    return median([seconds_to(points(run), target * SAME) for run in runs]) if runs else math.inf


def ratio(cell: Json, own: str, peer: str) -> float:
    """Time of a peer by our time to its inertia: above 1, ours is first; 0 where ours never gets there.

    Of a peer that was stopped, the inertia is not known: there is nothing to compare.
    """
    if not good(cell, peer):
        return math.nan
    return middle(cell, peer, "seconds") / seconds_of(cell, own, middle(cell, peer, "inertia"))


def comparable(cell: Json) -> list[str]:
    """The peers that came to an end."""
    return [peer for peer in PEERS if good(cell, peer)]


def stopped(cell: Json) -> list[str]:
    """The peers that took longer than the limit."""
    return [p for p in PEERS if not good(cell, p) and failure(cell, p).startswith("more than")]


def best_own(cell: Json, peer: str, own: list[str] | None = None) -> float:
    """The ratio of whichever of our settings gets to its inertia first."""
    return max(ratio(cell, one, peer) for one in own or OURS)


def is_first(cell: Json, own: list[str]) -> bool:
    """Whether for each peer one of these settings is at its inertia sooner."""
    peers = comparable(cell)
    return bool(peers) and all(best_own(cell, peer, own) > 1 for peer in peers)


def cell_of_ratio(cell: Json, peer: str) -> str:
    """As it stands in the table."""
    value = best_own(cell, peer)
    if math.isnan(value):
        return reason_of(cell, peer)
    return f"{value:.3g} x" if value > 1 else f"**{value:.2g} x**" if value > 0 else "**never**"


def reason_of(cell: Json, peer: str) -> str:
    """Why there is no figure, in a few words."""
    text = failure(cell, peer)
    return text if len(text) < 40 else text.split(":")[-1].strip()[:60]


def summary(cells: dict[str, Json]) -> str:
    """How often ours is first."""
    rows = []
    for kind in ("dense", "sparse"):
        some = [cell for cell in cells.values() if cell["kind"] == kind]
        counts = [sum(is_first(cell, [own]) for cell in some) for own in OURS]
        together = sum(is_first(cell, OURS) for cell in some)
        share = f"**{together}** ({100 * together / max(1, len(some)):.0f} %)"
        n_stopped = sum(bool(stopped(cell)) for cell in some)
        rows.append([kind, str(len(some)), *map(str, counts), share, str(n_stopped)])
    header = ["rows", "cells", *OURS, "one of these", "cells where a peer was stopped by the limit"]
    return table(header, rows)


def nearest_table(cells: dict[str, Json]) -> str:
    """By cell: the peer that comes nearest."""
    rows = []
    for name, cell in cells.items():
        peer = min(comparable(cell), key=lambda p: best_own(cell, p), default=None)
        if peer is None:
            rows.append([name, cell["data"], "no peer within the limit", "", "", "", ""])
            continue
        target = middle(cell, peer, "inertia")
        own = min(OURS, key=lambda one: seconds_of(cell, one, target))
        gap = 100 * (middle(cell, "ours", "inertia") / target - 1)
        rows.append([
            name, cell["data"], peer, f"{middle(cell, peer, 'seconds'):.3g} s",
            f"{seconds_of(cell, own, target):.3g} s ({own})", cell_of_ratio(cell, peer), f"{gap:+.2f} %",
        ])  # fmt: skip
    header = ["cell", "rows", "nearest peer", "its time", "ours to its inertia", "ratio",
              "inertia of our defaults, against it"]  # fmt: skip
    return table(header, rows)


def matrix(cells: dict[str, Json], kind: str, entry: Any) -> str:
    """Peers by cells."""
    some = {name: cell for name, cell in cells.items() if cell["kind"] == kind}
    peers = [peer for peer in PEERS if kind in CONTESTANTS[peer].takes]
    return table(["", *peers], [[name, *(entry(cell, p) for p in peers)] for name, cell in some.items()])


def equal_time(cell: Json, peer: str) -> str:
    """The inertia of our defaults at the time of a peer, against its own."""
    if not good(cell, peer):
        return reason_of(cell, peer)
    at, gaps = middle(cell, peer, "seconds"), []
    for run in good(cell, "ours"):
        reached = [inertia for seconds, inertia in points(run) if seconds <= at]
        gaps.append(min(reached, default=math.inf) / middle(cell, peer, "inertia") - 1)
    gap = median(gaps) if gaps else math.inf
    return "no result yet" if math.isinf(gap) else f"{100 * gap:+.2f} %"


def memory_table(cells: dict[str, Json], kind: str) -> str:
    """Peaks above the input."""
    some = {name: cell for name, cell in cells.items() if cell["kind"] == kind}
    names = [one for one in (*OURS[:1], *PEERS) if kind in CONTESTANTS[one].takes]

    def shown(cell: Json, name: str) -> str:
        value = middle(cell, name, "megabytes")
        return reason_of(cell, name) if math.isnan(value) else f"{value:,.0f}"

    return table(
        ["MB", *names], [[name, *(shown(cell, n) for n in names)] for name, cell in some.items()]
    )


GROWTH = {
    "n from 10,000 to 100,000": ("SIFT 10,000 x 128, k=256", "SIFT 100,000 x 128, k=256"),
    "n from 100,000 to 1,000,000": ("SIFT 100,000 x 128, k=256", "SIFT 1,000,000 x 128, k=256"),
    "k from 256 to 1,024": ("SIFT 100,000 x 128, k=256", "SIFT 100,000 x 128, k=1,024"),
    "k from 1,024 to 4,096": ("SIFT 100,000 x 128, k=1,024", "SIFT 100,000 x 128, k=4,096"),
}


def growth_table(cells: dict[str, Json]) -> str:
    """How many times longer whole fits take."""
    rows = []
    for name, contestant in CONTESTANTS.items():
        if "dense" not in contestant.takes:
            continue
        entries = []
        for begin, end in GROWTH.values():
            there = begin in cells and end in cells
            pair = [middle(cells[one], name, "seconds") for one in (begin, end)] if there else [math.nan]
            known = not any(math.isnan(value) for value in pair)
            entries.append(f"{pair[1] / pair[0]:.3g} x" if known else "not known")
        rows.append([name, *entries])
    return table(["", *GROWTH], rows)


def reasons(cells: dict[str, Json]) -> str:
    """Where ours is not first: by which peers, and why."""
    lines = []
    for name, cell in cells.items():
        ahead = [peer for peer in comparable(cell) if best_own(cell, peer) <= 1]
        if ahead:
            by = ", ".join(f"{peer} ({cell_of_ratio(cell, peer).strip('*')})" for peer in ahead)
            lines.append(f"- **{name}**: behind {by}. {REASONS.get(name, '')}".rstrip())
    return "\n".join(lines) or "Nowhere."


def draw(cells: dict[str, Json]) -> None:
    """Inertia against time on each cell: ours as curves, peers as points."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    columns = 4
    lines = math.ceil(len(cells) / columns)
    figure, axes = plt.subplots(lines, columns, figsize=(4.2 * columns, 3.1 * lines), squeeze=False)
    markers = dict(zip(PEERS, "os^v<>DPX*hd8pH+x", strict=False))
    for axis in axes.flat[len(cells) :]:
        axis.set_axis_off()
    for axis, (name, cell) in zip(axes.flat, cells.items(), strict=False):
        draw_cell(axis, cell, markers)
        axis.set_title(name, fontsize=9)
    handles, labels = {}, {}
    for axis in axes.flat:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            handles[label], labels[label] = handle, label
    figure.legend(list(handles.values()), list(labels), loc="lower center", ncols=4, fontsize=9)
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    figure.savefig(IMAGES / "peers.svg")
    plt.close(figure)
    draw_headline(cells, markers)


def draw_headline(cells: dict[str, Json], markers: dict[str, str]) -> None:
    """The picture for the README: a million rows into 10,000 clusters."""
    import matplotlib.pyplot as plt

    cell = cells.get("SIFT 1,000,000 x 128, k=10,000")
    if cell is None:
        return
    figure, axis = plt.subplots(figsize=(8, 4.5))
    draw_cell(axis, cell, markers)
    axis.set(xlabel="seconds, labels included", ylabel="inertia, above the lowest (%)")
    axis.legend(fontsize=8)
    axis.set_title(f"{cell['data']} into 10,000 clusters, 2 threads", fontsize=10)
    figure.tight_layout()
    figure.savefig(IMAGES / "million.png", dpi=110)
    plt.close(figure)


def draw_cell(axis: Any, cell: Json, markers: dict[str, str]) -> None:
    """One panel."""
    every = [run["inertia"] for name in CONTESTANTS for run in good(cell, name)]
    if not every:
        return
    lowest = min(every)
    for own in OURS:
        for run in good(cell, own)[:1]:
            curve = [(s, 100 * (i / lowest - 1)) for s, i in points(run)]
            axis.plot(*zip(*curve, strict=True), label=own, linewidth=1.3)
    for peer in PEERS:
        if good(cell, peer):
            point = 100 * (middle(cell, peer, "inertia") / lowest - 1)
            axis.plot(middle(cell, peer, "seconds"), point, markers[peer], label=peer, markersize=5)
    ends = [middle(cell, name, "inertia") for name in CONTESTANTS if good(cell, name)]
    top = 100 * (max(ends) / lowest - 1)
    axis.set(xscale="log", ylim=(-0.05 * max(top, 0.1), 1.3 * max(top, 0.1)))
    axis.tick_params(labelsize=7)
    axis.grid(alpha=0.3)


def write_report() -> None:
    """The page, and the ratios on the terminal."""
    result = json.loads(RESULT.read_text())
    cells, env = result["cells"], result["environment"]
    versions = ", ".join(f"{name} {number}" for name, number in env["packages"].items())
    draw(cells)
    print(summary(cells), nearest_table(cells), sep="\n")
    machine = f"{env['processor']}, {env['instruction_set']}, {env['n_threads']} threads"
    parts = {
        "machine": machine, "versions": versions, "summary": summary(cells),
        "nearest": nearest_table(cells), "reasons": reasons(cells), "growth": growth_table(cells),
    }  # fmt: skip
    for kind in ("dense", "sparse"):
        parts[kind] = matrix(cells, kind, cell_of_ratio)
        parts[f"{kind}_equal"] = matrix(cells, kind, equal_time)
        parts[f"{kind}_memory"] = memory_table(cells, kind)
    (DOCS / "peers.md").write_text(TEXT.format(**parts))


TEXT = """# The peers, measured

Written by `benchmarks/arena_report.py` from `benchmarks/results/peers.json`
(`make bench`).
{machine}; {versions}.

All contestants have the same float32 rows (or CSR), the same threads, a process of their own and a time
limit; all return labels for all rows, which is part of their time. Inertia is computed from these
labels, by the means of the clusters, in float64. Three seeds in two rounds over all contestants,
medians; what takes longer than 20 seconds runs once. Time to equal inertia: for each setting
of a peer, its time, by the time after
which ours is at or below its inertia (from `history_`, counted from the call of `fit`; the time that a
fit takes after its last record, for final sums and labels, is added). Peers have the
settings that their documentation recommends or has as defaults; where these leave rows out, there is
another entry with all rows. A new contestant is one function in `benchmarks/peers.py`.

## How often ours is first

In time to equal inertia, against every setting of every peer:

{summary}

"One of these": for each peer, one of our settings gets to its inertia before it. A peer that was stopped
by the time limit is not compared: its inertia is not known.

## The nearest peer on each cell

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
