"""The paper's Fig. 5 and 6: time and distortion against the number of rows, and of clusters.

VLAD vectors of photographs in 512 dimensions (`vlad.py`), the paper's nine methods and two of ours.
Each run is in a process of its own, and is killed when its time is up. A method that failed is not
tried with more rows and as many clusters or more.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import experiment
from experiment import IMAGES, N_THREADS, Json, table

# isort: split
# What is above settles threads, before NumPy is imported, and where `isolated` is found.
import numpy as np
from numpy.typing import NDArray
from sklearn import cluster

import vlad
from boostkmeans import BisectingBoostKMeans, BoostKMeans, metrics
from boostkmeans.baselines import RBK, BisectingKMeans, KMeans
from drawing import new_figure, save
from isolated import isolated

NAME = "scalability"
TITLE = "Scalability (the paper's Fig. 5 and 6)"

TIMES, DISTORTIONS = "paper_scalability_time.svg", "paper_scalability_distortion.svg"

Array = NDArray[Any]

N_CLUSTERS = 1024
KS = (1024, 2048, 4096, 8192)
# Sizes of both series meet, so that what they have in common is run once.
SMALL: Json = {"ns": (10_000, 50_000, 100_000), "n_of_ks": 50_000, "limit": 40.0, "seeds": 1}
FULL: Json = {"ns": (10_000, 100_000, 1_000_000, 10_000_000), "n_of_ks": 1_000_000, "limit": 1800.0,
              "seeds": 3}  # fmt: skip
# Seconds of a run up to which it is repeated with other seeds.
REPEATED_UP_TO = 120.0
# Iterations of direct k-way methods at most, as in the paper; trees have no limit there.
ITERATIONS, NO_LIMIT = 20, 100_000
# Of the rows, in a batch of Mini-Batch.
SHARE = 0.1
# What is not the method's (rows that are made, figures that are measured) is killed much later.
PATIENCE = 3600.0
# Beyond its limit, a method is given as much time as it takes to see that it is beyond.
SLACK = 1.1

# The paper's direct k-way looks at all clusters, and knows neither repair nor annealing. It goes on for
# all iterations: a tolerance this low never ends it before nothing moves.
PLAIN: Json = {
    "n_candidates": None,
    "repair": False,
    "annealing": 0,
    "max_iter": ITERATIONS,
    "tol": 1e-12,
}

WAITING = "OMP_WAIT_POLICY"

Fitted = tuple[Array, float]
"""Labels, and the seconds of the method alone."""


def own_time(make: Callable[..., Any], **settings: Any) -> Callable[[Array, int, int], Fitted]:
    """A baseline, by the time that it states: without what it takes to measure it."""

    def run(rows: Array, k: int, seed: int) -> Fitted:
        model = make(k, random_state=seed, n_threads=N_THREADS, **settings).fit(rows)
        return model.labels_, model.history_[-1].seconds

    return run


def wall_time(make: Callable[..., Any], **settings: Any) -> Callable[[Array, int, int], Fitted]:
    """All of `fit`, labels included."""

    def run(rows: Array, k: int, seed: int) -> Fitted:
        began = time.perf_counter()
        model = make(k, random_state=seed, n_threads=N_THREADS, **settings).fit(rows)
        return model.labels_, time.perf_counter() - began

    return run


def plus_plus(rows: Array, k: int, seed: int) -> Fitted:
    """K-means from k-means++ with one trial for each centre, as it was published.

    scikit-learn tries several, in float64, which takes longer than the 20 iterations that follow.
    """
    began = time.perf_counter()
    centres = seeded(rows, k, np.random.default_rng(seed))
    settings = {"max_iter": ITERATIONS, "tol": 0, "random_state": seed, "n_threads": N_THREADS}
    model = KMeans(k, init=centres, **settings).fit(rows)
    return model.labels_, time.perf_counter() - began


def seeded(rows: Array, k: int, rng: np.random.Generator) -> Array:
    """Rows that are drawn one by one, by the square of the distance to the nearest one drawn before."""
    chosen = [int(rng.integers(len(rows)))]
    squares = np.einsum("ij,ij->i", rows, rows)
    gaps = np.full(len(rows), np.inf, dtype=np.float32)
    while len(chosen) < k:
        last = chosen[-1]
        np.minimum(gaps, squares + squares[last] - 2 * (rows @ rows[last]), out=gaps)
        heights = np.cumsum(np.maximum(gaps, 0), dtype=np.float64)
        chosen.append(int(np.searchsorted(heights, rng.random() * heights[-1], side="right")))
    return np.asarray(rows[chosen])


def mini_batch(rows: Array, k: int, seed: int) -> Fitted:
    """Batches of a tenth of the rows, one for each iteration, then labels for all rows."""
    began = time.perf_counter()
    rng = np.random.RandomState(seed)
    size = max(k, int(SHARE * len(rows)))
    model = cluster.MiniBatchKMeans(
        k, init="random", n_init=1, batch_size=size, compute_labels=False, random_state=rng
    )
    for _ in range(ITERATIONS):
        model.partial_fit(rows[np.sort(rng.choice(len(rows), size, replace=False))])
    return model.predict(rows), time.perf_counter() - began


K_WAY: dict[str, Callable[[Array, int, int], Fitted]] = {
    "k-means": wall_time(KMeans, init="random", max_iter=ITERATIONS, tol=0),
    "k-means++": plus_plus,
    "Mini-Batch": mini_batch,
    "BKM(non)": wall_time(BoostKMeans, init="random-partition", **PLAIN),
    "BKM(rnd)+Fast": wall_time(BoostKMeans, init="random", moves="first", **PLAIN),
}
BISECTING: dict[str, Callable[[Array, int, int], Fitted]] = {
    "BsKM": own_time(BisectingKMeans, init="random", max_iter=NO_LIMIT),
    "BsKM++": own_time(BisectingKMeans, init="k-means++", max_iter=NO_LIMIT),
    "BsBKM(non)": wall_time(BisectingBoostKMeans),
    "RBK": wall_time(RBK),
}
OURS: dict[str, Callable[[Array, int, int], Fitted]] = {
    "ours": wall_time(BoostKMeans),
    "ours, fast": wall_time(BoostKMeans, quality="fast"),
}
METHODS = {**K_WAY, **BISECTING, **OURS}


def plan(full: bool) -> list[Json]:
    """From the smallest to the largest, so that failures come before what need not be tried."""
    size = FULL if full else SMALL
    sizes = {(n, N_CLUSTERS) for n in size["ns"]} | {(size["n_of_ks"], k) for k in KS}
    return [
        {"n": n, "k": k, "method": method, "seed": seed, "limit": size["limit"]}
        for n, k in sorted(sizes, key=lambda one: (one[0] * one[1], one))
        for seed in range(size["seeds"])
        for method in METHODS
    ]


def measure(run: Json) -> Json:
    """One method at one size: seconds, distortion and memory, or why there are none."""
    reason = needless(run, experiment.runs_so_far(NAME, run["limit"] == FULL["limit"]))
    if reason:
        return reason
    with patient_threads():
        outcome = isolated(clustered, run, limit=SLACK * run["limit"] + PATIENCE)
    figures = outcome.value or {"failure": translated(outcome.failure, run["limit"])}
    if figures.get("seconds", 0.0) > run["limit"]:
        figures = {"failure": over(run["limit"])}
    if "failure" in figures:
        return dict(figures)
    return {**figures, "peak_megabytes": round(outcome.peak_megabytes)}


def needless(run: Json, so_far: list[Json]) -> Json:
    """Why a run need not be made, by those before it: empty if it is to be made."""
    same = [one for one in so_far if one["run"]["method"] == run["method"]]
    for one in same:
        n, k = one["run"]["n"], one["run"]["k"]
        if "failure" in one and run["n"] >= n and run["k"] >= k:
            return {"failure": f"not tried: it failed at n={n:,}, k={k:,}"}
        if (n, k) == (run["n"], run["k"]) and one.get("seconds", 0.0) > REPEATED_UP_TO:
            return {"skipped": f"one seed is enough: a run takes {one['seconds']:.0f} s"}
    return {}


@contextmanager
def patient_threads() -> Iterator[None]:
    """Processes that are started within it have threads of OpenMP that sleep while they wait.

    By default they spin. Where anything else runs on the machine, scikit-learn's trees, which wait
    after each of many small steps, then take eight times as long.
    """
    before = os.environ.get(WAITING)
    os.environ[WAITING] = "PASSIVE"
    try:
        yield
    finally:
        del os.environ[WAITING]
        if before is not None:
            os.environ[WAITING] = before


def over(limit: float) -> str:
    """What is written where time was up."""
    return f"more than {limit:g} s"


def translated(failure: str, limit: float) -> str:
    """A process that ended by its alarm was too slow."""
    return over(limit) if failure == f"ended with exit code {-signal.SIGALRM}" else failure


def clustered(run: Json) -> Json:
    """In a process of its own, which the system ends when the method takes too long."""
    rows, name = vlad.rows(run["n"])
    signal.setitimer(signal.ITIMER_REAL, SLACK * run["limit"])
    labels, seconds = METHODS[run["method"]](rows, run["k"], run["seed"])
    signal.setitimer(signal.ITIMER_REAL, 0)
    return {"data": name, "seconds": seconds, "distortion": metrics.average_distortion(rows, labels)}


# What is made of the figures


def sizes_of(runs: list[Json], along: str) -> list[tuple[int, int]]:
    """Rows and clusters of the runs along "n" (clusters fixed) or "k" (rows fixed)."""
    every = {(run["run"]["n"], run["run"]["k"]) for run in runs}
    if along == "n":
        return sorted(one for one in every if one[1] == N_CLUSTERS)
    of_ks = {n for n, k in every if k != N_CLUSTERS}
    return sorted(one for one in every if one[0] in of_ks)


def figures_of(runs: list[Json], method: str, n: int, k: int) -> list[Json]:
    """The seeds that came to an end."""
    return [run for run in having(runs, method, n, k) if "seconds" in run]


def having(runs: list[Json], method: str, n: int, k: int) -> list[Json]:
    """All runs of a method at a size."""
    wanted = (method, n, k)
    return [run for run in runs if (run["run"]["method"], run["run"]["n"], run["run"]["k"]) == wanted]


def mean(runs: list[Json], method: str, n: int, k: int, figure: str) -> float | None:
    """Over the seeds; None where no run came to an end."""
    some = figures_of(runs, method, n, k)
    return float(np.mean([run[figure] for run in some])) if some else None


def exponent(runs: list[Json], method: str, along: str) -> float | None:
    """p, where seconds grow like n^p or k^p: the slope of a line through the logarithms."""
    points = [
        (n if along == "n" else k, seconds)
        for n, k in sizes_of(runs, along)
        if (seconds := mean(runs, method, n, k, "seconds")) is not None
    ]
    if len(points) < 2:
        return None
    x, y = np.log(np.array(points)).T
    return float(np.polyfit(x, y, 1)[0])


def cell(runs: list[Json], method: str, n: int, k: int, figure: str) -> str:
    """Of a table."""
    value = mean(runs, method, n, k, figure)
    if value is not None:
        return {"seconds": f"{value:.3g}", "distortion": f"{value:.4f}"}.get(figure, f"{value:,.0f}")
    there = having(runs, method, n, k)
    reason = there[0].get("failure", "") if there else ""
    return "not tried" if reason.startswith("not tried") else reason


def as_table(runs: list[Json], along: str, figure: str) -> str:
    """Methods by sizes; of seconds, also the exponent."""
    sizes = sizes_of(runs, along)
    header = ["", *[f"{along} = {(n if along == 'n' else k):,}" for n, k in sizes]]
    lines = []
    for method in METHODS:
        line = [method, *[cell(runs, method, n, k, figure) for n, k in sizes]]
        if figure == "seconds":
            power = exponent(runs, method, along)
            line.append("" if power is None else f"{power:.2f}")
        lines.append(line)
    return table([*header, *(["exponent"] if figure == "seconds" else [])], lines)


def draw_times(runs: list[Json]) -> None:
    """Direct k-way and bisecting against both; ours are in all panels."""
    figure, axes = new_figure(2, 2, (11, 8))
    for line, along in zip(axes, ("n", "k"), strict=True):
        for axis, (title, some) in zip(
            line, (("direct k-way", K_WAY), ("bisecting", BISECTING)), strict=True
        ):
            for number, method in enumerate((*some, *OURS)):
                draw_line(axis, runs, method, along, f"C{number}")
            axis.set(title=title, xlabel=along, ylabel="seconds")
            finish(axis, xscale="log", yscale="log")
    save(figure, IMAGES / TIMES)


def draw_line(axis: Any, runs: list[Json], method: str, along: str, colour: str) -> None:
    """Seconds of a method, with an open marker at the limit where it ran over that."""
    points, limits = [], []
    for n, k in sizes_of(runs, along):
        size = n if along == "n" else k
        seconds = mean(runs, method, n, k, "seconds")
        if seconds is not None:
            points.append((size, seconds))
        elif any(str(run.get("failure")).startswith("more") for run in having(runs, method, n, k)):
            limits.append((size, having(runs, method, n, k)[0]["run"]["limit"]))
    style = "--" if method in OURS else "-"
    if points:
        x, y = zip(*points, strict=True)
        axis.plot(x, y, style, color=colour, marker="o", markersize=4, label=method)
    for at, limit in limits:
        axis.plot([at], [limit], color=colour, marker="^", fillstyle="none", markersize=8)


def draw_distortions(runs: list[Json]) -> None:
    """All methods in one picture, as the paper has it."""
    figure, axes = new_figure(1, 2, (11, 4.5))
    for axis, along in zip(axes[0], ("n", "k"), strict=True):
        for number, method in enumerate(METHODS):
            points = [
                (n if along == "n" else k, value)
                for n, k in sizes_of(runs, along)
                if (value := mean(runs, method, n, k, "distortion")) is not None
            ]
            if points:
                style = "--" if method in BISECTING else "-"
                x, y = zip(*points, strict=True)
                axis.plot(x, y, style, color=f"C{number % 10}", marker=".", label=method,
                          linewidth=2 if method in OURS else 1)  # fmt: skip
        axis.set(xlabel=along, ylabel="average distortion")
        finish(axis, xscale="log")
    save(figure, IMAGES / DISTORTIONS)


def finish(axis: Any, **scales: str) -> None:
    """Scales, grid and names, which only a panel with something in it can have."""
    if axis.lines:
        axis.set(**scales)
        axis.legend(fontsize=7)
    axis.grid(alpha=0.3)


def largest_of_both(runs: list[Json], along: str, one: str, other: str) -> tuple[int, int] | None:
    """The largest size at which both methods came to an end."""
    both = [
        size for size in sizes_of(runs, along)
        if figures_of(runs, one, *size) and figures_of(runs, other, *size)
    ]  # fmt: skip
    return both[-1] if both else None


def ratio(runs: list[Json], one: str, other: str, size: tuple[int, int]) -> float:
    """Seconds of one by those of another."""
    first, second = mean(runs, one, *size, "seconds"), mean(runs, other, *size, "seconds")
    assert first is not None
    assert second is not None
    return first / second


def scaled(runs: list[Json], method: str, n: int, k: int) -> tuple[float, str] | None:
    """Seconds of a method at a size: measured, or in proportion to the rows, from the most there are."""
    there = [one for one in sizes_of(runs, "n") + sizes_of(runs, "k") if one[1] == k]
    there = [one for one in there if figures_of(runs, method, *one) and one[0] <= n]
    if not there:
        return None
    size = max(there)
    seconds = mean(runs, method, *size, "seconds")
    assert seconds is not None
    how = "measured" if size[0] == n else f"in proportion to the rows, from n={size[0]:,}"
    return seconds * n / size[0], how


def beside_the_paper(runs: list[Json]) -> str:
    """Its figures, and ours."""
    lines = []
    for n, k, theirs in ((10_000_000, 1024, "94 minutes"), (1_000_000, 8192, "8 minutes")):
        found = scaled(runs, "BsBKM(non)", n, k)
        ours = f"{found[0] / 60:.2g} minutes ({found[1]})" if found else "not measured"
        lines.append([f"BsBKM(non), {n:,} rows into {k:,} clusters", theirs, ours])
    for method in ("BsKM", "BsKM++"):
        size = largest_of_both(runs, "k", method, "BsBKM(non)")
        slower = ratio(runs, method, "BsBKM(non)", size) if size else 0.0
        ours = f"{slower:.1f} x (k={size[1]:,})" if size else "not measured"
        lines.append([f"time of {method} by that of BsBKM(non)", "about 1.35 x", ours])
    for along in ("n", "k"):
        size = largest_of_both(runs, along, "k-means", "BsBKM(non)")
        faster = ratio(runs, "k-means", "BsBKM(non)", size) if size else 0.0
        ours = f"{faster:.0f} x (n={size[0]:,}, k={size[1]:,})" if size else "not measured"
        lines.append([f"time of k-means by that of BsBKM(non), largest {along}", "two orders", ours])
    return table(["", "paper", "here"], lines)


def page(result: Json) -> str:
    """Pictures and tables."""
    runs = result["runs"]
    if not runs:
        return "Not measured yet."
    draw_times(runs)
    draw_distortions(runs)
    names = sorted({run["data"] for run in runs if "data" in run}, key=len)
    of_ks = sizes_of(runs, "k")
    return TEXT.format(
        times=TIMES, distortions=DISTORTIONS, data=names[-1].split(":")[0] if names else "none",
        limit=f"{runs[0]['run']['limit']:g}", n_of_ks=f"{of_ks[0][0]:,}" if of_ks else "",
        seconds_n=as_table(runs, "n", "seconds"), seconds_k=as_table(runs, "k", "seconds"),
        distortion_n=as_table(runs, "n", "distortion"), distortion_k=as_table(runs, "k", "distortion"),
        memory=as_table(runs, "n", "peak_megabytes"), paper=beside_the_paper(runs),
        real="" if names and not names[0].startswith("made") else MADE,
    )  # fmt: skip


MADE = """The paper's Flickr10M is not at hand: vectors are made, of unit length, with the spectrum and
about the clusters of real VLAD vectors of photographs; `paper/vlad.py` has the law, and says how
well it fits. Where the real ones are in the folder that `BOOSTKMEANS_DATA` names, these are taken.
"""

TEXT = """{real}
Direct k-way methods run for 20 iterations at most, as in the paper, trees without limit; Mini-Batch
has a batch of a tenth of the rows in each iteration. K-means, Mini-Batch, BsKM and BsKM++ are
scikit-learn's, k-means++ starts from seeds that were drawn as it was published, without its trials.
"ours" are `BoostKMeans` as it is by default, and with quality="fast". Each run is in a process of
its own, and ends after {limit} seconds (an open triangle at the limit in the picture). A method
that failed is not tried at larger sizes. Seconds are those of the method with the labels of all
rows, without reading and measuring. The distortion is computed from the labels alone. Threads of
OpenMP sleep while they wait (`OMP_WAIT_POLICY=PASSIVE`), which scikit-learn's trees gain most by.

![Time](../images/{times})

## Seconds for 1,024 clusters

{seconds_n}
The exponent is p where the time grows like n^p: the slope of a line through the logarithms.

## Seconds for {n_of_ks} rows

{seconds_k}
The exponent is p where the time grows like k^p. The paper finds direct k-way methods linear in k
(1), and bisecting ones steady (0).

![Distortion](../images/{distortions})

## Distortion for 1,024 clusters

{distortion_n}
## Distortion for {n_of_ks} rows

{distortion_k}
## Peak of memory, in MB

Of the whole process, rows included, for 1,024 clusters.

{memory}
## The paper's figures

{paper}
The paper's machine had a Xeon at 2.4 GHz; how many threads it used is not said.
"""


if __name__ == "__main__":
    import fig5_scalability

    experiment.main(fig5_scalability)
