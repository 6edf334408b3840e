"""The paper's Fig. 2: why a bisecting tree breaks Lloyd's condition, and how often it does.

Lloyd's condition: each row is in the cluster whose centre is nearest. Once a part is split, one of
the new centres may be nearer to rows of another part than their own; but a tree never moves rows
between its branches. Refinement by boost k-means does.
"""

import time
from typing import Any

import experiment
from experiment import IMAGES, N_THREADS, Json, table

# isort: split
# What is above settles threads, before NumPy is imported, and where `data` is found.
import numpy as np
from numpy.typing import NDArray

import public_data
from boostkmeans import BisectingBoostKMeans, metrics
from drawing import new_figure, save
from fig1_iterations import cells

NAME = "lloyd_condition"
TITLE = "Lloyd's condition in a bisecting tree (the paper's Fig. 2)"

PLANE, SHARES = "paper_lloyd_plane.png", "paper_lloyd_shares.svg"
SMALL = {"n": 20_000, "ks": [2**i for i in range(1, 11)]}
FULL = {"n": 1_000_000, "ks": [2**i for i in range(1, 13)]}
SEEDS = 3

Array = NDArray[Any]
Floats = NDArray[np.float64]
Labels = NDArray[np.integer[Any]]


def plan(full: bool) -> list[Json]:
    """The picture; then trees of more and more leaves."""
    size: Json = FULL if full else SMALL
    trees = [{"n": size["n"], "k": k, "seed": seed} for k in size["ks"] for seed in range(SEEDS)]
    return [{"n": 500, "k": 3, "seed": 0, "plane": True}, *trees]


def measure(run: Json) -> Json:
    """A tree, before and after refinement."""
    if run.get("plane"):
        return in_plane(run)
    rows, name = public_data.sift(run["n"])
    return {"data": name, **before_and_after(rows, run["k"], run["seed"])}


def tree_of(rows: Array, k: int, seed: int, refine: bool) -> BisectingBoostKMeans:
    """BsBKM(non), and the paper's refinement: Alg. 1 over all clusters until no move is left."""
    return BisectingBoostKMeans(
        k, refine=refine, n_candidates=None, repair=False, annealing=0, tol=0, max_iter=10_000,
        random_state=seed, n_threads=N_THREADS,
    ).fit(rows)  # fmt: skip


def before_and_after(rows: Array, k: int, seed: int) -> Json:
    """Shares of rows that are nearer to another mean than to their own, and distortions."""
    began = time.perf_counter()
    tree = tree_of(rows, k, seed, refine=False)
    grown = time.perf_counter()
    refined = tree_of(rows, k, seed, refine=True)
    ended = time.perf_counter()
    before, after = tree.labels_, refined.labels_
    moved = nearest(rows, means(rows, before, k))
    return {
        "share_before": float((moved != before).mean()),
        "share_after": float((nearest(rows, means(rows, after, k)) != after).mean()),
        "distortion_before": metrics.average_distortion(rows, before),
        "distortion_reassigned": metrics.average_distortion(rows, moved),
        "distortion_after": metrics.average_distortion(rows, after),
        "seconds_tree": grown - began,
        "seconds_refinement": (ended - grown) - (grown - began),
        "sweeps": refined.n_iter_ - 1,  # without the record of the tree
    }


def means(rows: Array, labels: Labels, k: int) -> Floats:
    """Of the clusters, from the labels alone: what an estimator has as its centres plays no role."""
    sums = np.zeros((k, rows.shape[1]))
    for begin in range(0, len(rows), 65_536):
        piece = slice(begin, begin + 65_536)
        np.add.at(sums, labels[piece], rows[piece])
    return np.asarray(sums / np.bincount(labels, minlength=k)[:, None])


def nearest(rows: Array, centres: Floats) -> Labels:
    """The nearest centre of each row, exactly."""
    found = metrics.exact_neighbors(centres, rows, 1, n_threads=N_THREADS)
    return np.asarray(found.indices[:, 0])


def in_plane(run: Json) -> Json:
    """Three clusters of rows that fill a square: what is needed to draw them."""
    rows = np.random.default_rng(run["seed"]).uniform(size=(run["n"], 2)).round(4)
    tree = tree_of(rows, run["k"], run["seed"], refine=False)
    refined = tree_of(rows, run["k"], run["seed"], refine=True)
    shown = {"first": tree.cut(2), "second": tree.labels_, "refined": refined.labels_}
    states = {}
    for name, labels in shown.items():
        centres = means(rows, labels, int(labels.max()) + 1)
        states[name] = {
            "labels": labels.tolist(),
            "centres": centres.round(5).tolist(),
            "elsewhere": np.flatnonzero(nearest(rows, centres) != labels).tolist(),
            "distortion": metrics.average_distortion(rows, labels),
        }
    return {"rows": rows.tolist(), "states": states}


def draw_plane(run: Json) -> None:
    """After the first split, after the second, and refined."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib import colormaps

    colours = colormaps["tab10"].colors  # type: ignore[attr-defined]
    rows = np.array(run["rows"])
    figure, axes = plt.subplots(1, 3, figsize=(12, 4.3))
    titles = ("after the first split", "after the second split", "refined")
    for axis, title, one in zip(axes, titles, run["states"].values(), strict=True):
        labels, centres = np.array(one["labels"]), np.array(one["centres"])
        for corners in cells(centres):
            axis.fill(*corners.T, fill=False, edgecolor="0.4", linewidth=0.8)
        axis.scatter(*rows.T, s=12, c=[colours[i] for i in labels])
        wrong = one["elsewhere"]
        axis.scatter(*rows[wrong].T, s=46, facecolors="none", edgecolors="black", linewidths=1.1)
        axis.scatter(*centres.T, s=110, marker="P", c=colours[: len(centres)], edgecolors="black")
        axis.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[], aspect="equal")
        axis.set_title(f"{title}: {len(wrong)} rows, distortion {one['distortion']:.4f}", fontsize=10)
    figure.tight_layout()
    figure.savefig(IMAGES / PLANE, dpi=80)
    plt.close(figure)


def by_k(runs: list[Json]) -> dict[int, dict[str, Floats]]:
    """The seeds' figures of each number of clusters."""
    found: dict[int, dict[str, Floats]] = {}
    for k in sorted({run["run"]["k"] for run in runs}):
        some = [run for run in runs if run["run"]["k"] == k]
        found[k] = {
            name: np.array([run[name] for run in some], dtype=np.float64)
            for name, value in some[0].items()
            if isinstance(value, float | int)
        }
    return found


def draw_shares(found: dict[int, dict[str, Floats]]) -> None:
    """Rows that are nearer to another centre, and what it costs."""
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
    """Both pictures and the table."""
    plane = [run for run in result["runs"] if run["run"].get("plane")]
    trees = [run for run in result["runs"] if not run["run"].get("plane")]
    parts = []
    if plane:
        draw_plane(plane[0])
        parts.append(plane_text(plane[0]))
    if trees:
        found = by_k(trees)
        draw_shares(found)
        parts.append(trees_text(trees[0]["data"], found))
    return "\n".join(parts)


def plane_text(run: Json) -> str:
    """What the picture shows."""
    second, refined = run["states"]["second"], run["states"]["refined"]
    return PLANE_TEXT.format(
        picture=PLANE, n=len(run["rows"]), wrong=len(second["elsewhere"]),
        after=len(refined["elsewhere"]), second=second["distortion"], refined=refined["distortion"],
    )  # fmt: skip


def trees_text(name: str, found: dict[int, dict[str, Floats]]) -> str:
    """What was measured, by the number of clusters."""
    lines = []
    for k, one in found.items():
        before = one["distortion_before"]
        gains = [one[name] / before - 1 for name in ("distortion_reassigned", "distortion_after")]
        lines.append(
            [f"{k:,}", f"{100 * one['share_before'].mean():.1f} %",
             f"{100 * one['share_after'].mean():.2f} %", f"{before.mean():,.1f}",
             *[f"{100 * gain.mean():+.2f} %" for gain in gains],
             f"{one['seconds_tree'].mean():.2f}", f"{one['seconds_refinement'].mean():.2f}"]
        )  # fmt: skip
    header = ["k", "elsewhere, tree", "elsewhere, refined", "distortion of the tree", "reassigned",
              "refined", "seconds of the tree", "of the refinement"]  # fmt: skip
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

{n} rows that fill a square. The first split cuts it in two; the second one cuts the larger part,
which moves the borders between the nearest centres (grey lines): {wrong} rows, circled, are now
nearer to a centre in the other branch than to their own. The tree cannot give them away.
Refinement, which is boost k-means over all three clusters, can: {after} such rows are left, and the
distortion falls from {second:.4f} to {refined:.4f}.
"""

TREES_TEXT = """## On real vectors

![Shares](../images/{picture})

Data: {data}. The tree is `BisectingBoostKMeans(k)`, the paper's BsBKM(non); "refined" is
`refine=True` over all clusters without annealing and repair, until it is certified that no move is
left. "Elsewhere" is the share of the rows whose nearest mean is not that of their own cluster;
"reassigned" is what one gains by giving each row to its nearest mean, and "refined" by the whole
refinement. Means of {n_seeds} seeds; the band of the picture is from the lowest to the highest.

{table}
The more splits, the more borders: of {k} clusters, {share} % of the rows are nearer to another
centre. Giving them away gains {gain} %, the whole refinement {whole} %: the rest is what centres
gain that follow their rows, to places where the tree has none.
"""


if __name__ == "__main__":
    import fig2_lloyd_condition

    experiment.main(fig2_lloyd_condition)
