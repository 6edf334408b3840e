"""The goals of release 0.9.0 beside their measurements, as one table."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import cores
import small_fits
from comparison import (
    BASELINE,
    DEFAULTS,
    OWN,
    SAME_INERTIA,
    best_ratio,
    finished_peers,
    finished_runs,
    median_figure,
    n_never,
    n_won,
    peak_megabytes,
    seconds_to_inertia,
    time_ratio,
)
from environment import Json
from page import table

Problems = dict[str, Json]

# Inertias this close to the one of 0.7.0 count as reached.
CLOSE = 1.0002
# Measurements of the peak memory vary by a few megabytes.
MEMORY_NOISE = 5.0
NOT_MEASURED = "not measured"

WORDNET = "WordNet embeddings 81,000 x 512, k=1,000"
MNIST = "MNIST 70,000 x 784, k=1,000"
SIFT = "SIFT 1,000,000 x 128, k=10,000"
LARGEST_SIFT = "SIFT 1,000,000 x 128, k=100,000"
SYNTHETIC = ("embeddings 100,000 x 768, k=2,000", "embeddings 50,000 x 1,536, k=100")
FEW_CLUSTERS = ("normal 1,000,000 x 16, k=16", "MNIST 70,000 x 784, k=10", "blobs 10,000,000 x 8, k=32")
# Settings of superkmeans, with the ratio of 0.7.0 and the goal.
SUPERKMEANS = {
    "default": ("superkmeans", "2.0 x", 3.0),
    "sq8": ("superkmeans, sq8", "1.9 x", 3.0),
    "refined": ("superkmeans, hierarchical, refined", "4.1 x", 6.0),
}
# Beginnings of the names of dense problems with real data.
REAL_DATA = ("WordNet", "MNIST", "SIFT", "birch1")
# A problem that was not measured.
NO_RUNS: Json = {"runs": {}}


@dataclass(frozen=True)
class Row:
    """A line of the table: one figure."""

    figure: str
    before: str
    """Value of 0.7.0 in the same run, or its published value in parentheses."""
    target: str
    measured: str
    met: bool | None
    """None if it was not measured."""


def targets_table(result: Json, problems: Problems) -> str:
    """Return all goals with their measurements."""
    real = {name: one for name, one in problems.items() if not is_stand_in(name, one)}
    rows = [row for part in PARTS for row in part(real)] + small_rows(result.get("small", {}))
    answers = {True: "yes", False: "**no**", None: "-"}
    return table(
        ["figure", "0.7.0", "target", "measured", "met"],
        [[row.figure, row.before, row.target, row.measured, answers[row.met]] for row in rows],
    )


def is_stand_in(name: str, problem: Json) -> bool:
    """Return True if the real data of a problem was missing; no goal can be judged by synthetic rows."""
    return name.startswith(REAL_DATA) and str(problem.get("data", "")).startswith("synthetic")


def row(figure: str, before: str, target: str, measured: str, met: bool) -> Row:
    """Return a row; it is not measured if the text of the measurement is empty."""
    return Row(figure, before, target, measured or NOT_MEASURED, met if measured else None)


def dense_rows(problems: Problems) -> list[Row]:
    """Return the shares of dense comparisons that boostkmeans wins, and the number of "never"."""
    dense = [one for one in problems.values() if one["kind"] == "dense"]
    n = sum(len(finished_peers(problem)) for problem in dense)

    def percent(own: list[str]) -> float:
        return 100 * n_won(dense, own) / n if n else math.nan

    alone, any_own = percent([DEFAULTS]), percent(OWN)
    measured_before = any(finished_runs(problem, BASELINE) for problem in dense)
    before = f"{percent([BASELINE]):.0f} %" if measured_before else "(75 %)"
    never = n_never(dense, OWN)
    texts = [
        f"{alone:.0f} %",
        f"{any_own:.0f} %",
        f"{never}; {n_never(dense, [DEFAULTS])} by the defaults",
    ]
    won, by_any, by_none = texts if n else ["", "", ""]
    return [
        row("dense comparisons won by the defaults alone", before, "92 %", won, alone >= 92),
        row("dense comparisons won by any setting", "(88 %)", "98 %", by_any, any_own >= 98),
        row('dense comparisons that are "never" by any setting', "", "0", by_none, never == 0),
    ]


def against_baseline_rows(problems: Problems) -> list[Row]:
    """Return the times to the inertia of 0.7.0, relative to its times."""
    rows = []
    for name, target in ((WORDNET, 0.35), (MNIST, 0.3)):
        share = share_of_baseline(problems[name]) if name in problems else math.nan
        rows.append(
            row(f"{name}: time of the defaults to the inertia of 0.7.0 + 0.02 %, relative to its time",
                "1", f"{target:g}", share_cell(share), share <= target)
        )  # fmt: skip
    return rows


def share_of_baseline(problem: Json) -> float:
    """Return the time to the inertia of 0.7.0 + 0.02 %, relative to the time of 0.7.0.

    Return infinity if it is never reached, and NaN without a measurement.
    """
    if not finished_runs(problem, BASELINE) or not finished_runs(problem, DEFAULTS):
        return math.nan
    target = CLOSE * median_figure(problem, BASELINE, "inertia")
    return seconds_to_inertia(problem, DEFAULTS, target) / median_figure(problem, BASELINE, "seconds")


def wordnet_rows(problems: Problems) -> list[Row]:
    """Return time and inertia on WordNet relative to the defaults of superkmeans."""
    problem, peer = problems.get(WORDNET, NO_RUNS), "superkmeans"
    share, before = (share_of_peer(problem, own, peer) for own in (DEFAULTS, BASELINE))
    gap, gap_before = (inertia_gap(problem, own, peer) for own in (DEFAULTS, BASELINE))
    return [
        row(f"{WORDNET}: time to the default inertia of superkmeans, relative to its time",
            share_cell(before) or "(0.76)", "0.5", share_cell(share), share <= 0.5),
        row(f"{WORDNET}: final inertia of the defaults relative to superkmeans",
            percent_cell(gap_before) or "(-6.6 %)", "-6.6 %", percent_cell(gap), gap <= -0.0655),
    ]  # fmt: skip


def share_of_peer(problem: Json, own: str, peer: str) -> float:
    """Return the time to the inertia of a peer, relative to the time of the peer.

    Return infinity if it is never reached, and NaN without a measurement.
    """
    if not finished_runs(problem, own) or not finished_runs(problem, peer):
        return math.nan
    seconds = seconds_to_inertia(problem, own, median_figure(problem, peer, "inertia"))
    return seconds / median_figure(problem, peer, "seconds")


def inertia_gap(problem: Json, own: str, peer: str) -> float:
    """Return the relative difference of the final inertias, or NaN without both."""
    return median_figure(problem, own, "inertia") / median_figure(problem, peer, "inertia") - 1


def synthetic_rows(problems: Problems) -> list[Row]:
    """Return the ratios to the nearest setting of superkmeans on synthetic embeddings."""
    return [
        nearest_row(f"{name}: any setting against the nearest setting of superkmeans",
                    problems.get(name, NO_RUNS), "superkmeans", before, "2 x", lambda ratio: ratio >= 2)
        for name, before in zip(SYNTHETIC, ("0.72 x", "0.77 x"), strict=True)
    ]  # fmt: skip


def few_clusters_rows(problems: Problems) -> list[Row]:
    """Return the lowest ratio to any peer on problems with few clusters."""
    return [
        nearest_row(f"{name}: any setting against the nearest peer", problems.get(name, NO_RUNS), "",
                    before, "above 1 x", lambda ratio: ratio > 1)
        for name, before in zip(FEW_CLUSTERS, ("never", "never", "0.51 x"), strict=True)
    ]  # fmt: skip


def nearest_row(
    figure: str, problem: Json, library: str, before: str, target: str, good: Callable[[float], bool]
) -> Row:
    """Return the lowest ratio to the settings of a library, by any setting and by the defaults alone."""
    peers = [peer for peer in finished_peers(problem) if peer.startswith(library)]
    if not peers:
        return row(figure, f"({before})", target, "", False)
    nearest = min(peers, key=lambda peer: best_ratio(problem, peer))
    ratio = best_ratio(problem, nearest)
    alone, earlier = (
        ratio_text(min(time_ratio(problem, own, peer) for peer in peers)) for own in (DEFAULTS, BASELINE)
    )
    known = finished_runs(problem, BASELINE)
    text = f"{ratio_text(ratio)} ({nearest}); the defaults alone: {alone}"
    return row(
        figure, f"the defaults alone: {earlier}" if known else f"({before})", target, text, good(ratio)
    )


def sift_rows(problems: Problems) -> list[Row]:
    """Return the ratios of the defaults to three settings of superkmeans, and the growth with k."""
    rows, problem = [], problems.get(SIFT, NO_RUNS)
    for setting, (peer, before, target) in SUPERKMEANS.items():
        ratio, earlier = (1 / share_of_peer(problem, own, peer) for own in (DEFAULTS, BASELINE))
        rows.append(row(f"{SIFT}: the defaults against superkmeans, {setting}",
                        ratio_text(earlier) or f"({before})", f"{target:g} x", ratio_text(ratio),
                        ratio >= target))  # fmt: skip
    growth, earlier = (growth_with_k(problems, name) for name in (DEFAULTS, BASELINE))
    rows.append(row("SIFT 1,000,000 x 128: time for k=100,000 relative to k=10,000",
                    share_cell(earlier) or "(4)", "2", share_cell(growth), growth <= 2))  # fmt: skip
    return rows


def growth_with_k(problems: Problems, name: str) -> float:
    """Return the time for 100,000 clusters relative to 10,000, or NaN without both."""
    if SIFT not in problems or LARGEST_SIFT not in problems:
        return math.nan
    large, small = (median_figure(problems[one], name, "seconds") for one in (LARGEST_SIFT, SIFT))
    return large / small


def serial_rows(problems: Problems) -> list[Row]:
    """Return the highest serial share of fits longer than a second."""
    shares = {}
    for name, problem in problems.items():
        runs = finished_runs(problem, DEFAULTS)
        share = cores.serial_share(runs)
        if share is not None and median_figure(problem, DEFAULTS, "seconds") > cores.LONG_FIT:
            shares[name] = share
    worst = max(shares, key=lambda name: shares[name], default="")
    text = f"{min(shares.values()):.3f} to {shares[worst]:.3f} ({worst})" if shares else ""
    figure = "`serial_share_` of fits longer than 1 s"
    return [row(figure, "(0.01 to 0.40)", "at most 0.03", text, bool(shares) and shares[worst] <= 0.03)]


def memory_rows(problems: Problems) -> list[Row]:
    """Return the largest excess of memory over 0.7.0, as a share of what is allowed."""
    excess = {
        name: memory_excess(problem) for name, problem in problems.items() if problem["kind"] == "dense"
    }
    known = {name: value for name, value in excess.items() if not math.isnan(value[0])}
    worst = max(known, key=lambda name: known[name][0] - known[name][1], default="")
    figure = "peak memory above the input: most that the defaults need in addition to 0.7.0"
    target = "4 n d' bytes"
    if not worst:
        return [row(figure, "0 MB", target, "", False)]
    more, allowed = known[worst]
    text = f"{more:+.0f} MB, {allowed:.0f} MB allowed ({worst})"
    return [row(figure, "0 MB", target, text, more <= allowed + MEMORY_NOISE)]


def memory_excess(problem: Json) -> tuple[float, float]:
    """Return the memory in addition to 0.7.0 and 4 n d' bytes, in MB. d' is d if it is not recorded."""
    more = peak_megabytes(problem, DEFAULTS) - peak_megabytes(problem, BASELINE)
    recorded = [run.get("dimensions") for run in finished_runs(problem, DEFAULTS)]
    d = max((int(one) for one in recorded if one is not None), default=problem["d"])
    return more, 4 * problem["n"] * d / 2**20


def small_rows(small: Json) -> list[Row]:
    """Return the times of fits that take milliseconds, relative to scikit-learn."""
    rows = []
    for name in small_fits.PROBLEMS:
        runs = small.get(name, {}).get("runs", {})
        time, gap = relative_fit(runs, small_fits.OWN)
        before, _ = relative_fit(runs, BASELINE)
        text = "" if math.isnan(time) else f"{time:.2f}, inertia {100 * gap:+.2f} %"
        met = time <= 1 and gap <= SAME_INERTIA - 1
        figure = (
            f"{name}: time of the defaults relative to scikit-learn's `KMeans(n_init=1)`, at its inertia"
        )
        measured_before = "(2.4 to 3.2)" if math.isnan(before) else f"{before:.2f}"
        rows.append(row(figure, measured_before, "at most 1", text, met))
    return rows


def relative_fit(runs: Json, name: str) -> tuple[float, float]:
    """Return the time and the gap of the mean inertia relative to scikit-learn, or NaN."""
    own, other = (runs.get(one, {"failure": ""}) for one in (name, small_fits.SCIKIT_LEARN))
    if "failure" in own or "failure" in other:
        return math.nan, math.nan
    return own["seconds"] / other["seconds"], own["mean_inertia"] / other["mean_inertia"] - 1


def share_cell(share: float) -> str:
    """Return a share of a time as text: "never" if it is infinite, "" if it is unknown."""
    return "" if math.isnan(share) else "never" if math.isinf(share) else f"{share:.2f}"


def percent_cell(gap: float) -> str:
    """Return a relative difference in percent, or "" if it is unknown."""
    return "" if math.isnan(gap) else f"{100 * gap:+.2f} %"


def ratio_text(ratio: float) -> str:
    """Return a ratio of times as text: "never" for 0, "" if it is unknown."""
    return "" if math.isnan(ratio) else "never" if ratio == 0 else f"{ratio:.3g} x"


PARTS: list[Callable[[Problems], list[Row]]] = [
    dense_rows, against_baseline_rows, wordnet_rows, synthetic_rows, sift_rows, few_clusters_rows,
    serial_rows, memory_rows,
]  # fmt: skip
