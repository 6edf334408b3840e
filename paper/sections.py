"""Splits into s sections: comparisons and time for s = 2, 3, 4, 8 and 16.

The paper derives that s = 2 needs the fewest comparisons. `python paper/sections.py` runs this
experiment; see `experiment.py`.
"""

import math
import statistics
import sys
import time

from experiment import Json, main, table

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
from boostkmeans import BisectingBoostKMeans
from contenders import Task, distortion_of
from machine_load import record_load
from public_data import fingerprint, sift

NAME = "sections"
# The larger size is not timed, so the page shows the times of the small size, too.
SHOWS_BOTH = "always"
TITLE = "Splits into more than two sections"
LARGER_SIZE = "the larger size"

SECTIONS = (2, 3, 4, 8, 16)
# A power of 2, 4, 8 and 16.
K = 4_096
SEEDS = range(3)


def plan(full: bool) -> list[Json]:
    """Return one run per number of sections and seed. The paper gives no size.

    The larger size has one seed. It runs in the background, so it is not timed.
    """
    size: Json = {"n": 1_000_000, "k": K, "timed": False} if full else {"n": 100_000, "k": K}
    seeds = SEEDS[:1] if full else SEEDS
    return [{"s": s, **size, "seed": seed} for seed in seeds for s in SECTIONS]


def cost(run: Json) -> float:
    """Return the estimated seconds of a run; more sections take longer."""
    return float((1 + run["s"] / 8) * run["n"] / 6_000)


def measure(run: Json) -> Json:
    """Return comparisons, seconds and distortion of an exact tree."""
    X, data = sift(run["n"])
    model = BisectingBoostKMeans(
        run["k"], n_sections=run["s"], sample=None, max_passes=None, random_state=run["seed"]
    )
    times: Json = {}
    with record_load(times):
        began = time.perf_counter()
        tree = model.fit(X).tree_
        times["seconds"] = time.perf_counter() - began
    assert tree.n_passes is not None, "a new tree knows the passes of its splits"
    visits = tree.sizes[tree.splits] * tree.n_passes[tree.splits]
    n_sections = (tree.children[tree.splits] >= 0).sum(axis=1)
    return {
        "data": data,
        "sha256": fingerprint(X),
        **(times if run.get("timed", True) else {}),
        "comparisons": int((visits * (n_sections - 1)).sum()),
        "visits": int(visits.sum()),
        "splits": len(tree.splits),
        "passes": float(visits.sum() / tree.sizes[tree.splits].sum()),
        "distortion": distortion_of(Task(X, run["k"], run["seed"]), model.labels_),
    }


def page(result: Json) -> str:
    """Return the page: the figures by number of sections."""
    by_s = {
        s: some for s in SECTIONS
        if (some := [run for run in result["runs"] if run["run"]["s"] == s and "comparisons" in run])
    }  # fmt: skip
    first = result["runs"][0]
    n, k = first["run"]["n"], first["run"]["k"]

    def mean(s: int, figure: str) -> float:
        return statistics.fmean(run.get(figure, math.nan) for run in by_s[s])

    base = min(by_s)
    rows = [
        [s, f"{(s - 1) * math.log(k, s):.1f}", f"{mean(s, 'comparisons') / n:,.0f}",
         f"{mean(s, 'passes'):.1f}", *seconds_cells(mean(s, "seconds"), mean(base, "seconds")),
         f"{mean(s, 'distortion'):,.1f}",
         f"{100 * (mean(s, 'distortion') / mean(base, 'distortion') - 1):+.2f} %"]
        for s in by_s
    ]  # fmt: skip
    header = ["s", "(s - 1) log_s(k)", "comparisons per row", "passes", "seconds",
              f"relative to s = {base}", "distortion", f"relative to s = {base}"]  # fmt: skip
    number = len(by_s[base])
    seeds = "one seed" if number == 1 else f"means of {number} seeds"
    return TEXT.format(data=first["data"], k=k, seeds=seeds, table=table(header, rows))


def seconds_cells(seconds: float, base: float) -> list[str]:
    """Return the seconds, and their ratio to those of another s, or dashes if they are unknown."""
    return ["-", "-"] if math.isnan(seconds) else [f"{seconds:.2f}", f"{seconds / base:.2f}"]


TEXT = """Data: {data}; {k:,} clusters, which is a power of 2, 4, 8 and 16; {seeds}. The
trees are exact: a split uses all rows in random order until none moves.

The paper counts n (s - 1) log_s(k) comparisons for one pass over each set. The comparisons here are
counted: the rows of each split, times its passes, times the number of its sections minus one. "passes"
is the mean over all visited rows.

{table}
"""


if __name__ == "__main__":
    sys.exit(main(sys.modules[__name__]))
