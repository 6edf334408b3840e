"""The paper's Fig. 2: how often a bisecting tree breaks Lloyd's condition.

Lloyd's condition: each row is in the cluster whose centre is nearest. After a split, one of the new
centres can be nearer to rows of another branch than their own centre, but a tree never moves rows
between its branches. Refinement by boost k-means does.
"""

import time
from typing import Any

import experiment
from experiment import IMAGES, N_THREADS, Json, table

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np
from numpy.typing import NDArray

import public_data
from boostkmeans import BisectingBoostKMeans, BoostKMeans, metrics
from contenders import PLAIN
from drawing import new_figure, save
from machine_load import record_load
from plane_plots import cells, colours

NAME = "lloyd_condition"
TITLE = "Lloyd's condition in a bisecting tree (the paper's Fig. 2)"
LARGER_SIZE = "the larger size"

PLANE = "paper_lloyd_plane.png"
SHARES = "paper_lloyd_shares.svg"
SMALL = {"n": 20_000, "ks": [2**i for i in range(1, 11)]}
# The paper's figure is an illustration without a size.
FULL = {"n": 100_000, "ks": [2**i for i in range(1, 11)]}
SEEDS = 3
# Rows per batch when sums are computed in float64.
BATCH_ROWS = 65_536

Array = NDArray[Any]
Floats = NDArray[np.float64]
Labels = NDArray[np.integer[Any]]


def plan(full: bool) -> list[Json]:
    """Return the run of the picture, and runs with an increasing number of leaves."""
    size: Json = FULL if full else SMALL
    trees = [{"n": size["n"], "k": k, "seed": seed} for k in size["ks"] for seed in range(SEEDS)]
    return [{"n": 500, "k": 3, "seed": 0, "plane": True}, *trees]


def cost(run: Json) -> float:
    """Return the estimated seconds of a run: about 120 sweeps until no move is left."""
    return 5 + 120 * float(run["n"]) * float(run["k"]) * 128 / 5e10


def measure(run: Json) -> Json:
    """Return the figures of a tree before and after refinement."""
    if run.get("plane"):
        return measure_plane(run)
    rows, name = public_data.sift(run["n"])
    return {"data": name, **before_and_after(rows, run["k"], run["seed"])}


def tree_of(rows: Array, k: int, seed: int) -> BisectingBoostKMeans:
    """Fit BsBKM(non), the exact Algorithm 2."""
    return BisectingBoostKMeans(
        k, sample=None, max_passes=None, random_state=seed, n_threads=N_THREADS
    ).fit(rows)


def refinement_of(rows: Array, labels: Labels, k: int, seed: int) -> BoostKMeans:
    """Refine a partition by Algorithm 1 over all clusters until no move is left."""
    return BoostKMeans(
        k, init=labels, tol=0, max_iter=10_000, random_state=seed, n_threads=N_THREADS, **PLAIN
    ).fit(rows)


def before_and_after(rows: Array, k: int, seed: int) -> Json:
    """Return distortions, times, and the shares of rows that are nearer to another mean."""
    load: Json = {}
    with record_load(load):
        began = time.perf_counter()
        tree = tree_of(rows, k, seed)
        grown = time.perf_counter()
        refined = refinement_of(rows, tree.labels_, k, seed)
        ended = time.perf_counter()
    before, after = tree.labels_, refined.labels_
    reassigned = nearest(rows, means(rows, before, k))
    return {
        "share_before": float((reassigned != before).mean()),
        "share_after": float((nearest(rows, means(rows, after, k)) != after).mean()),
        "distortion_before": metrics.average_distortion(rows, before),
        "distortion_reassigned": metrics.average_distortion(rows, reassigned),
        "distortion_after": metrics.average_distortion(rows, after),
        **load,
        "seconds_tree": grown - began,
        "seconds_refinement": ended - grown,
        "sweeps": refined.n_iter_,
    }


def means(rows: Array, labels: Labels, k: int) -> Floats:
    """Return the means of the clusters, computed from the labels alone."""
    sums = np.zeros((k, rows.shape[1]))
    for begin in range(0, len(rows), BATCH_ROWS):
        batch = slice(begin, begin + BATCH_ROWS)
        np.add.at(sums, labels[batch], rows[batch])
    return np.asarray(sums / np.bincount(labels, minlength=k)[:, None])


def nearest(rows: Array, centres: Floats) -> Labels:
    """Return the nearest centre of each row, exactly."""
    found = metrics.exact_neighbors(centres, rows, 1, n_threads=N_THREADS)
    return np.asarray(found.indices[:, 0])


def measure_plane(run: Json) -> Json:
    """Return the states of three clusters of rows that fill a square, for the picture."""
    rows = np.random.default_rng(run["seed"]).uniform(size=(run["n"], 2)).round(4)
    tree = tree_of(rows, run["k"], run["seed"])
    refined = refinement_of(rows, tree.labels_, run["k"], run["seed"])
    partitions = {"first": tree.cut(2), "second": tree.labels_, "refined": refined.labels_}
    states = {}
    for name, labels in partitions.items():
        centres = means(rows, labels, int(labels.max()) + 1)
        states[name] = {
            "labels": labels.tolist(),
            "centres": centres.round(5).tolist(),
            "elsewhere": np.flatnonzero(nearest(rows, centres) != labels).tolist(),
            "distortion": metrics.average_distortion(rows, labels),
        }
    return {"rows": rows.tolist(), "states": states}


def split_runs(result: Json) -> tuple[list[Json], list[Json]]:
    """Return the runs of the picture, and the runs of the trees."""
    plane = [run for run in result["runs"] if run["run"].get("plane")]
    trees = [run for run in result["runs"] if not run["run"].get("plane")]
    return plane, trees


def draw(result: Json) -> None:
    """Draw both pictures."""
    plane, trees = split_runs(result)
    if plane:
        draw_plane(plane[0])
    if trees:
        draw_shares(by_k(trees))


def draw_plane(run: Json) -> None:
    """Draw the clusters after the first split, after the second split, and after refinement."""
    rows, palette = np.array(run["rows"]), colours()
    figure, axes = new_figure(1, 3, (12, 4.3))
    titles = ("after the first split", "after the second split", "refined")
    for axis, title, one in zip(axes[0], titles, run["states"].values(), strict=True):
        labels, centres = np.array(one["labels"]), np.array(one["centres"])
        for corners in cells(centres):
            axis.fill(*corners.T, fill=False, edgecolor="0.4", linewidth=0.8)
        axis.scatter(*rows.T, s=12, c=[palette[i] for i in labels])
        wrong = one["elsewhere"]
        axis.scatter(*rows[wrong].T, s=46, facecolors="none", edgecolors="black", linewidths=1.1)
        axis.scatter(*centres.T, s=110, marker="P", c=palette[: len(centres)], edgecolors="black")
        axis.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[], aspect="equal")
        axis.set_title(f"{title}: {len(wrong)} rows, distortion {one['distortion']:.4f}", fontsize=10)
    save(figure, IMAGES / PLANE, dpi=80)


def by_k(runs: list[Json]) -> dict[int, dict[str, Floats]]:
    """Return the figures of all seeds, by number of clusters."""
    found: dict[int, dict[str, Floats]] = {}
    for k in sorted({run["run"]["k"] for run in runs}):
        some = [run for run in runs if run["run"]["k"] == k]
        names = dict.fromkeys(name for run in some for name in run)
        found[k] = {
            name: np.array([run[name] for run in some if name in run], dtype=np.float64)
            for name in names
            if all(isinstance(run.get(name, 0), float | int) for run in some)
        }
    return found


def draw_shares(found: dict[int, dict[str, Floats]]) -> None:
    """Draw the share of rows that are nearer to another centre, and the decrease of the distortion."""
    ks = list(found)
    figure, axes = new_figure(1, 2, (11, 4))
    left, right = axes[0]
    for name, title in (("share_before", "tree"), ("share_after", "refined")):
        shares = [100 * found[k][name] for k in ks]
        left.plot(ks, [one.mean() for one in shares], "o-", label=title, markersize=4)
        left.fill_between(ks, [one.min() for one in shares], [one.max() for one in shares], alpha=0.2)
    left.set(xscale="log", xlabel="clusters", ylabel="% of the rows", title="nearer to another centre")
    for name, title in (("distortion_reassigned", "rows reassigned"), ("distortion_after", "refined")):
        gains = [100 * (1 - found[k][name] / found[k]["distortion_before"]).mean() for k in ks]
        right.plot(ks, gains, "o-", label=title, markersize=4)
    right.set(xscale="log", xlabel="clusters", ylabel="% below the tree", title="distortion")
    for axis in (left, right):
        axis.legend(fontsize=8)
        axis.grid(alpha=0.3)
    save(figure, IMAGES / SHARES)


def page(result: Json) -> str:
    """Return the page: both pictures and the table."""
    plane, trees = split_runs(result)
    parts = []
    if plane:
        parts.append(plane_text(plane[0]))
    if trees:
        parts.append(trees_text(trees[0]["data"], by_k(trees)))
    return "\n".join(parts)


def plane_text(run: Json) -> str:
    """Return the section about the picture in the plane."""
    second, refined = run["states"]["second"], run["states"]["refined"]
    return PLANE_TEXT.format(
        picture=PLANE, n=len(run["rows"]), wrong=len(second["elsewhere"]),
        after=len(refined["elsewhere"]), second=second["distortion"], refined=refined["distortion"],
    )  # fmt: skip


def trees_text(name: str, found: dict[int, dict[str, Floats]]) -> str:
    """Return the section about trees, by number of clusters."""
    lines = []
    for k, one in found.items():
        before = one["distortion_before"]
        gains = [one[name] / before - 1 for name in ("distortion_reassigned", "distortion_after")]
        lines.append(
            [f"{k:,}", f"{100 * one['share_before'].mean():.1f} %",
             f"{100 * one['share_after'].mean():.2f} %", f"{before.mean():,.1f}",
             *[f"{100 * gain.mean():+.2f} %" for gain in gains],
             *[f"{one[name].mean():.2f}" if name in one else "-"
               for name in ("seconds_tree", "seconds_refinement")]]
        )  # fmt: skip
    header = ["k", "elsewhere, tree", "elsewhere, refined", "distortion of the tree", "reassigned",
              "refined", "seconds for the tree", "seconds for the refinement"]  # fmt: skip
    n_seeds = max(len(one["share_before"]) for one in found.values())
    last = found[max(found)]
    gain = (1 - last["distortion_reassigned"] / last["distortion_before"]).mean()
    whole = (1 - last["distortion_after"] / last["distortion_before"]).mean()
    return TREES_TEXT.format(
        picture=SHARES, data=name, n_seeds=n_seeds, table=table(header, lines), k=f"{max(found):,}",
        share=f"{100 * last['share_before'].mean():.0f}", gain=f"{100 * gain:.1f}",
        whole=f"{100 * whole:.1f}",
    )  # fmt: skip


PLANE_TEXT = """## In the plane

![Two splits and a refinement](../images/{picture})

{n} rows fill a square. The first split cuts it in two. The second split cuts the larger part, which
moves the borders between the cells of the centres (grey lines): {wrong} rows (circled) are now nearer
to a centre of the other branch than to their own. The tree cannot move them. Refinement by boost
k-means over all three clusters can: {after} such rows are left, and the distortion falls from
{second:.4f} to {refined:.4f}.
"""

TREES_TEXT = """## On real vectors

![Shares](../images/{picture})

Data: {data}. The tree is BsBKM(non), the paper's Algorithm 2: `BisectingBoostKMeans(k, sample=None,
max_passes=None)`. Refinement is BKM over all clusters, from the leaves of the tree until no move is left
(certified). Columns:

- "elsewhere" is the share of the rows whose nearest mean belongs to another cluster;
- "reassigned" is the change of the distortion if each row is assigned to its nearest mean;
- "refined" is the change of the distortion by the whole refinement.

Values are means of {n_seeds} seeds; the band in the picture shows the lowest and the highest seed.

{table}
More splits add more borders: with {k} clusters, {share} % of the rows are nearer to another centre.
Reassigning them lowers the distortion by {gain} %, the whole refinement by {whole} %. The difference
comes from the centres, which follow their rows to places where the tree has no centre.
"""


if __name__ == "__main__":
    import fig2_lloyd_condition

    experiment.main(fig2_lloyd_condition)
