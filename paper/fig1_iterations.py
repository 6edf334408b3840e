"""The paper's Fig. 1: what sweeps of boost k-means do to a random partition in the plane.

Rows are moved one by one here, exactly as Alg. 1 has it, so that the state after every move can be
shown. The library's sweeps decide in the same way about proposals that are made block by block: the
page has its distortions from the same start, too.
"""

from collections.abc import Iterator
from typing import Any

import experiment
from experiment import IMAGES, Json, table

# isort: split
# What is above settles threads, before NumPy is imported.
import numpy as np
from numpy.typing import NDArray

from boostkmeans import BoostKMeans

NAME = "iterations"
TITLE = "Iterations in the plane (the paper's Fig. 1)"

PICTURE, ANIMATION = "paper_iterations.png", "paper_iterations.gif"
# As many as can be told apart by colour.
N_CLUSTERS = 8
MOST_SWEEPS = 100
SHOWN = (0, 1, 2, 3)
"""Iterations in the picture, beside the last."""
# A frame for each of the first moves, which can be followed one by one, then for several at a time.
SINGLE_MOVES, MOVES_PER_FRAME = 30, 6

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
METHODS = {"boost": "boost k-means, row by row", "lloyd": "Lloyd's k-means"}


def plan(full: bool) -> list[Json]:
    """All from one start, then many starts; a picture has room for so many rows, at either size."""
    shown = [{"method": method, "n": 320, "seed": 4} for method in (*METHODS, "library")]
    return [*shown, {"method": "starts", "n": 320, "seed": 4, "n_starts": 1000 if full else 100}]


def data(n: int, seed: int) -> tuple[Floats, Labels]:
    """Overlapping groups in the plane, and random labels."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-1, 1, size=(N_CLUSTERS, 2)) * (1.5, 1)
    rows = centres[rng.integers(N_CLUSTERS, size=n)] + rng.normal(scale=0.2, size=(n, 2))
    return rows.round(4), rng.integers(N_CLUSTERS, size=n)


def measure(run: Json) -> Json:
    """The labels and centres after each iteration."""
    rows, start = data(run["n"], run["seed"])
    if run["method"] == "starts":
        return of_starts(rows, run["n_starts"])
    if run["method"] == "library":
        return of_library(rows, start)
    states, moves = boosted(rows, start, run["seed"])
    if run["method"] == "lloyd":
        states, moves = list(lloyd(rows, start)), []
    return {
        "iterations": len(states) - 2,  # in the last one, nothing moves
        "distortion": states[-1]["distortion"],
        "rows": rows.tolist(),
        "states": states,
        "moves_of_first": moves,
    }


def of_library(rows: Floats, start: Labels) -> Json:
    """Distortions of the library's sweeps from the same labels, without repair and annealing."""
    model = BoostKMeans(
        N_CLUSTERS, init=start, n_candidates=None, repair=False, annealing=0, tol=0, random_state=0
    ).fit(rows)
    return {
        "iterations": model.n_iter_,
        "distortion": model.distortion_,
        "certified": model.converged_,
        "distortions": [record.inertia / len(rows) for record in model.history_],
    }


def of_starts(rows: Floats, n_starts: int) -> Json:
    """How both methods end from many random partitions of the same rows."""
    ends: Json = {"rises": 0, "empty": 0, "elsewhere": 0}
    for seed in range(n_starts):
        start = np.random.default_rng((1, seed)).integers(N_CLUSTERS, size=len(rows))
        both = {"boost": boosted(rows, start, seed)[0], "lloyd": list(lloyd(rows, start))}
        for method, states in both.items():
            ends.setdefault(f"distortions_{method}", []).append(states[-1]["distortion"])
            ends.setdefault(f"iterations_{method}", []).append(len(states) - 2)
        curve = [one["distortion"] for one in both["boost"]]
        ends["rises"] += int((np.diff(curve) > 1e-12).sum())
        ends["empty"] += sum(one["empty"] for one in both["boost"])
        ends["elsewhere"] += both["boost"][-1]["elsewhere"]
    return ends


def boosted(rows: Floats, start: Labels, seed: int) -> tuple[list[Json], list[list[int]]]:
    """States after each sweep of Alg. 1, up to one without moves; and the first one's moves."""
    rng = np.random.default_rng(seed)
    labels = start.copy()
    states, first = [state(rows, labels, labels)], None
    for _ in range(MOST_SWEEPS):
        before = labels.copy()
        moves = sweep(rows, labels, rng.permutation(len(rows)))
        first = moves if first is None else first
        states.append(state(rows, labels, before))
        if not moves:
            break
    return states, first or []


def sweep(rows: Floats, labels: Labels, order: Labels) -> list[list[int]]:
    """Each row goes to the cluster that gains most, if any does; centres follow at once."""
    sums, sizes = composites(rows, labels)
    moves = []
    for i in order.tolist():
        own = int(labels[i])
        if sizes[own] == 1:  # the gain of emptying a cluster is never positive
            continue
        gaps = ((rows[i] - sums / np.maximum(sizes, 1)[:, None]) ** 2).sum(axis=1)
        costs = sizes / (sizes + 1) * gaps
        costs[own] = sizes[own] / (sizes[own] - 1) * gaps[own]
        best = int(costs.argmin())
        if costs[best] < costs[own] * (1 - 1e-12):
            for cluster, sign in ((own, -1), (best, 1)):
                sums[cluster] += sign * rows[i]
                sizes[cluster] += sign
            labels[i] = best
            moves.append([i, best])
    return moves


def lloyd(rows: Floats, start: Labels) -> Iterator[Json]:
    """States after each iteration of k-means, up to one without moves."""
    labels = start
    yield state(rows, labels, labels)
    for _ in range(MOST_SWEEPS):
        before = labels
        labels = without_empty(rows, nearest(rows, centres_of(rows, labels)))
        yield state(rows, labels, before)
        if (labels == before).all():
            return


def without_empty(rows: Floats, labels: Labels) -> Labels:
    """Each empty cluster gets the row that is farthest from its centre, as in scikit-learn."""
    labels = labels.copy()
    for cluster in np.flatnonzero(np.bincount(labels, minlength=N_CLUSTERS) == 0):
        gaps = ((rows - centres_of(rows, labels)[labels]) ** 2).sum(axis=1)
        labels[gaps.argmax()] = cluster
    return labels


def composites(rows: Floats, labels: Labels) -> tuple[Floats, Floats]:
    """Sums and sizes of the clusters."""
    sums = np.zeros((N_CLUSTERS, rows.shape[1]))
    np.add.at(sums, labels, rows)
    return sums, np.bincount(labels, minlength=N_CLUSTERS).astype(np.float64)


def centres_of(rows: Floats, labels: Labels) -> Floats:
    """Means; neither method has empty clusters."""
    sums, sizes = composites(rows, labels)
    means: Floats = sums / np.maximum(sizes, 1)[:, None]
    return means


def nearest(rows: Floats, centres: Floats) -> Labels:
    """The nearest centre of each row."""
    return np.asarray(((rows[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1))


def state(rows: Floats, labels: Labels, before: Labels) -> Json:
    """What a picture and the table need."""
    centres = centres_of(rows, labels)
    return {
        "labels": labels.tolist(),
        "centres": centres.round(5).tolist(),
        "distortion": float(((rows - centres[labels]) ** 2).sum(axis=1).mean()),
        "moved": np.flatnonzero(labels != before).tolist(),
        "elsewhere": int((nearest(rows, centres) != labels).sum()),
        "empty": int((np.bincount(labels, minlength=N_CLUSTERS) == 0).sum()),
    }


def cells(centres: Floats) -> Iterator[Floats]:
    """The corners of each centre's cell; those at the rim end far outside."""
    from scipy.spatial import Voronoi

    far = 100.0 * np.array([[-1, -1], [-1, 1], [1, -1], [1, 1], [0, 1], [0, -1], [1, 0], [-1, 0]])
    diagram = Voronoi(np.concatenate([centres, far]))
    for i in range(len(centres)):
        yield diagram.vertices[diagram.regions[diagram.point_region[i]]]


def draw_state(axis: Any, rows: Floats, labels: Labels, centres: Floats, moved: Labels) -> None:
    """Rows by cluster over the cells of the centres; those that moved have a black rim."""
    from matplotlib import colormaps

    colours = colormaps["tab10"].colors  # type: ignore[attr-defined]
    axis.clear()
    for i, corners in enumerate(cells(centres)):
        axis.fill(*corners.T, color=colours[i], alpha=0.13, linewidth=0)
        axis.fill(*corners.T, fill=False, edgecolor="0.45", linewidth=0.5)
    rims = np.zeros(len(rows))
    rims[moved] = 0.7
    axis.scatter(*rows.T, s=13, c=[colours[i] for i in labels], edgecolors="black", linewidths=rims)
    axis.scatter(
        *centres.T, s=60, marker="P", c=colours[: len(centres)], edgecolors="black", linewidths=1
    )
    (left, bottom), (right, top) = rows.min(axis=0) - 0.1, rows.max(axis=0) + 0.1
    axis.set(xlim=(left, right), ylim=(bottom, top), xticks=[], yticks=[], aspect="equal")


def draw(found: dict[str, Json]) -> None:
    """Both methods: the start, the first iterations, and the end."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(len(METHODS), len(SHOWN) + 1, figsize=(14, 5.2))
    for line, (method, title) in zip(axes, METHODS.items(), strict=True):
        states, rows = found[method]["states"], np.array(found[method]["rows"])
        line[0].set_ylabel(title)
        for axis, t in zip(line, (*SHOWN, found[method]["iterations"]), strict=True):
            one = states[min(t, len(states) - 1)]
            draw_state(axis, rows, *arrays(one))
            name = "random start" if t == 0 else f"iteration {t}"
            axis.set_title(f"{name}: {one['distortion']:.4f}", fontsize=9)
            axis.set_ylabel(title if t == 0 else "")
    figure.tight_layout()
    figure.savefig(IMAGES / PICTURE, dpi=75)
    plt.close(figure)


def arrays(one: Json) -> tuple[Labels, Floats, Labels]:
    """Labels, centres and moved rows of a state."""
    return np.array(one["labels"]), np.array(one["centres"]), np.array(one["moved"], dtype=np.int64)


def frames(found: Json) -> Iterator[tuple[str, Labels, Floats, Labels]]:
    """Title, labels, centres and moved rows: the first sweep move by move, then the others."""
    rows, states = np.array(found["rows"]), found["states"]
    labels = np.array(states[0]["labels"])
    moves = found["moves_of_first"]
    yield ("random labels", *arrays(states[0]))
    ends = [*range(1, SINGLE_MOVES), *range(SINGLE_MOVES, len(moves), MOVES_PER_FRAME), len(moves)]
    begin = 0
    for end in ends:
        some = np.array(moves[begin:end], dtype=np.int64).reshape(-1, 2)
        labels[some[:, 0]] = some[:, 1]
        yield f"first sweep: {end} moves", labels, centres_of(rows, labels), some[:, 0]
        begin = end
    for t, one in enumerate(states[2 : found["iterations"] + 1], start=2):
        yield (f"after sweep {t}: {one['distortion']:.4f}", *arrays(one))


def animate(found: Json) -> None:
    """All frames, and the last one for longer."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.animation import PillowWriter

    rows = np.array(found["rows"])
    figure, axis = plt.subplots(figsize=(5.2, 4), dpi=80)
    writer = PillowWriter(fps=6)
    with writer.saving(figure, str(IMAGES / ANIMATION), dpi=80):
        for title, labels, centres, moved in frames(found):
            draw_state(axis, rows, labels, centres, moved)
            axis.set_title(title, fontsize=10)
            # Sweeps after the first change much at once: they stay for a second.
            for _ in range(6 if title.startswith("after") else 1):
                writer.grab_frame()
        for _ in range(12):
            writer.grab_frame()
    plt.close(figure)


def page(result: Json) -> str:
    """Picture, animation, and what to see."""
    found = {run["run"]["method"]: run for run in result["runs"]}
    if not found.keys() >= METHODS.keys():
        return "Not measured yet."
    draw(found)
    animate(found["boost"])
    boost, lloyds = found["boost"], found["lloyd"]
    gain = 100 * (lloyds["distortion"] / boost["distortion"] - 1)
    one, two = boost["states"][1], lloyds["states"][1]
    return TEXT.format(
        picture=PICTURE, animation=ANIMATION, n=len(boost["rows"]), k=N_CLUSTERS,
        table=progress(found), sweeps=boost["iterations"], iterations=lloyds["iterations"],
        start=boost["states"][0]["distortion"], boost_one=one["distortion"],
        lloyd_one=two["distortion"], first=one["elsewhere"], moves=len(boost["moves_of_first"]),
        gain=f"{abs(gain):.1f} % {'above' if gain > 0 else 'below'} it" if abs(gain) > 0.05
        else "where boost k-means does",
        elsewhere=boost["states"][-1]["elsewhere"],
        library=library_text(found.get("library")), starts=starts_text(found.get("starts")),
    )  # fmt: skip


def progress(found: dict[str, Json]) -> str:
    """Distortion by iteration."""
    columns = {title: [one["distortion"] for one in found[method]["states"][:-1]]
               for method, title in METHODS.items()}  # fmt: skip
    if "library" in found:
        start = found["boost"]["states"][0]["distortion"]
        columns["`BoostKMeans`, block by block"] = [start, *found["library"]["distortions"]]
    length = max(len(values) for values in columns.values())
    some = [t for t in range(length) if t <= 6 or t % 5 == 0 or t == length - 1]
    lines = [
        [t, *[f"{values[t]:.4f}" if t < len(values) else "" for values in columns.values()]]
        for t in some
    ]
    return table(["iteration", *columns], lines)


def library_text(run: Json | None) -> str:
    """What the library makes of the same start."""
    if run is None:
        return ""
    certified = "and it is certified that no single move improves it" if run["certified"] else ""
    return f"From the same start, `BoostKMeans` ends at {run['distortion']:.4f}, {certified}.\n"


def starts_text(run: Json | None) -> str:
    """Whether the start of the picture is a lucky one."""
    if run is None:
        return ""
    ends = {method: np.array(run[f"distortions_{method}"]) for method in METHODS}
    lines = [
        [title, f"{ends[method].mean():.4f}", f"{ends[method].min():.4f}",
         f"{np.mean(run[f'iterations_{method}']):.1f}"]
        for method, title in METHODS.items()
    ]  # fmt: skip
    lower = float((ends["boost"] < ends["lloyd"] * (1 - 1e-9)).mean())
    higher = float((ends["boost"] > ends["lloyd"] * (1 + 1e-9)).mean())
    return (
        f"\n## Many starts\n\nOne start proves nothing: here are {len(ends['boost'])} random "
        "partitions of the same rows.\n\n"
        + table(["", "distortion, mean", "best", "iterations, mean"], lines)
        + f"\nBoost k-means ends lower from {100 * lower:.0f} % of them, higher from "
        f"{100 * higher:.0f} %. In all of its sweeps, the distortion rose {run['rises']} times, and "
        f"{run['empty']} clusters got empty; in the end, {run['elsewhere']} rows were nearer to "
        "another centre.\n"
    )


TEXT = """![Iterations](../images/{picture})

{n} rows in the plane, {k} clusters. Both methods start from the same labels, drawn at random
without looking at the rows. Colours are clusters, crosses their centres, and the tinted cells are
the places that are nearest to a centre. Rows with a black rim changed their cluster in this
iteration. The figure beside the iteration is the average distortion.

![The first sweep, move by move](../images/{animation})

What to see:

- **The start** is as bad as it can be: the centres of random clusters all lie in the middle, and
  colours have nothing to do with cells.
- **In the first sweep** of boost k-means ({moves} moves) centres follow each row at once. So
  clusters break their symmetry while the sweep goes on, and rows that come later find centres that
  are apart already: the distortion falls from {start:.4f} to {boost_one:.4f}. Lloyd's first
  iteration sees the crowded centres until its end, and reaches {lloyd_one:.4f}.
- **After the first sweep** {first} rows are in the cell of another cluster; **in the end**, after
  {sweeps} iterations, {elsewhere}: colours and cells agree, which is Lloyd's condition.
- Lloyd's takes {iterations} iterations and ends {gain}. A cluster that
  it leaves empty is given the row that is farthest from its centre, as scikit-learn does it.
- Boost k-means never leaves a cluster empty: its only row would cost something anywhere else.

{table}
In the last iteration of either, nothing moves; it is not in the table.
{library}
The paper's picture has the start, iteration 1 and iteration 10, where its example ends.
{starts}"""


if __name__ == "__main__":
    import fig1_iterations

    experiment.main(fig1_iterations)
