"""The paper's Fig. 1: effect of boost k-means sweeps on a random partition in the plane.

Rows are moved one by one here, exactly as in Alg. 1, so that the state after every move can be shown.
The library decides in the same way, but proposes moves for a block of rows at a time. The page also
shows its distortions from the same start.
"""

from collections.abc import Iterator

import experiment
from experiment import IMAGES, Json, table

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np
from numpy.typing import NDArray

import plane_plots
from boostkmeans import BoostKMeans

NAME = "iterations"
TITLE = "Iterations in the plane (the paper's Fig. 1)"
LARGER_SIZE = "the larger size"

PICTURE = "paper_iterations.png"
ANIMATION = "paper_iterations.gif"
# As many clusters as colours that can be told apart.
N_CLUSTERS = 8
# Both methods converge much earlier.
MAX_SWEEPS = 100

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
METHODS = {"boost": "boost k-means, row by row", "lloyd": "Lloyd's k-means"}


def plan(full: bool) -> list[Json]:
    """Return one run per method from the same start, and one run from many starts.

    The number of rows is the same at both sizes, because a picture has no room for more.
    """
    methods = [{"method": method, "n": 320, "seed": 4} for method in (*METHODS, "library")]
    return [*methods, {"method": "starts", "n": 320, "seed": 4, "n_starts": 1000 if full else 100}]


def cost(run: Json) -> float:
    """Return the estimated seconds of a run."""
    return 1 + 0.02 * float(run.get("n_starts", 0))


def data(n: int, seed: int) -> tuple[Floats, Labels]:
    """Return overlapping groups in the plane, and random labels."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-1, 1, size=(N_CLUSTERS, 2)) * (1.5, 1)
    rows = centres[rng.integers(N_CLUSTERS, size=n)] + rng.normal(scale=0.2, size=(n, 2))
    return rows.round(4), rng.integers(N_CLUSTERS, size=n)


def measure(run: Json) -> Json:
    """Return the states after each iteration, or the final distortions of many starts."""
    rows, start = data(run["n"], run["seed"])
    if run["method"] == "starts":
        return run_starts(rows, run["n_starts"])
    if run["method"] == "library":
        return run_library(rows, start)
    states, moves = boosted(rows, start, run["seed"])
    if run["method"] == "lloyd":
        states, moves = list(lloyd(rows, start)), []
    return {
        "iterations": len(states)
        - 2,  # Without the start, and without the last one, which moves nothing.
        "distortion": states[-1]["distortion"],
        "rows": rows.tolist(),
        "states": states,
        "moves_of_first": moves,
    }


def run_library(rows: Floats, start: Labels) -> Json:
    """Return the distortions of `BoostKMeans` from the same labels, without repair and annealing."""
    model = BoostKMeans(
        N_CLUSTERS, init=start, n_candidates=None, repair=False, annealing=0, tol=0, random_state=0
    ).fit(rows)
    return {
        "iterations": model.n_iter_,
        "distortion": model.distortion_,
        "certified": model.converged_,
        "distortions": [record.inertia / len(rows) for record in model.history_],
    }


def run_starts(rows: Floats, n_starts: int) -> Json:
    """Return the final figures of both methods from many random partitions of the same rows."""
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
    """Return the states after each sweep of Alg. 1 until nothing moves, and the first sweep's moves."""
    rng = np.random.default_rng(seed)
    labels = start.copy()
    states, first = [state(rows, labels, labels)], None
    for _ in range(MAX_SWEEPS):
        before = labels.copy()
        moves = sweep(rows, labels, rng.permutation(len(rows)))
        first = moves if first is None else first
        states.append(state(rows, labels, before))
        if not moves:
            break
    return states, first or []


def sweep(rows: Floats, labels: Labels, order: Labels) -> list[list[int]]:
    """Move each row to the cluster that gains most, update sums at once, and return the moves.

    `labels` is modified in place. A move is a pair of row and new cluster.
    """
    sums, sizes = composites(rows, labels)
    moves = []
    for i in order.tolist():
        own = int(labels[i])
        if sizes[own] == 1:  # Emptying a cluster never gains anything.
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
    """Yield the states after each iteration of k-means, up to one without moves."""
    labels = start
    yield state(rows, labels, labels)
    for _ in range(MAX_SWEEPS):
        before = labels
        labels = fill_empty(rows, nearest(rows, centres_of(rows, labels)))
        yield state(rows, labels, before)
        if (labels == before).all():
            return


def fill_empty(rows: Floats, labels: Labels) -> Labels:
    """Move the row farthest from its centre into each empty cluster, as scikit-learn does."""
    labels = labels.copy()
    for cluster in np.flatnonzero(np.bincount(labels, minlength=N_CLUSTERS) == 0):
        gaps = ((rows - centres_of(rows, labels)[labels]) ** 2).sum(axis=1)
        labels[gaps.argmax()] = cluster
    return labels


def composites(rows: Floats, labels: Labels) -> tuple[Floats, Floats]:
    """Return the sums and sizes of the clusters."""
    sums = np.zeros((N_CLUSTERS, rows.shape[1]))
    np.add.at(sums, labels, rows)
    return sums, np.bincount(labels, minlength=N_CLUSTERS).astype(np.float64)


def centres_of(rows: Floats, labels: Labels) -> Floats:
    """Return the means of the clusters, and zero for empty ones."""
    sums, sizes = composites(rows, labels)
    means: Floats = sums / np.maximum(sizes, 1)[:, None]
    return means


def nearest(rows: Floats, centres: Floats) -> Labels:
    """Return the nearest centre of each row."""
    return np.asarray(((rows[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1))


def state(rows: Floats, labels: Labels, before: Labels) -> Json:
    """Return the figures of a partition that the pictures and the table need.

    "elsewhere" is the number of rows that are nearer to the centre of another cluster.
    """
    centres = centres_of(rows, labels)
    return {
        "labels": labels.tolist(),
        "centres": centres.round(5).tolist(),
        "distortion": float(((rows - centres[labels]) ** 2).sum(axis=1).mean()),
        "moved": np.flatnonzero(labels != before).tolist(),
        "elsewhere": int((nearest(rows, centres) != labels).sum()),
        "empty": int((np.bincount(labels, minlength=N_CLUSTERS) == 0).sum()),
    }


def runs_by_method(result: Json) -> dict[str, Json] | None:
    """Return the runs by method, or None if one of `METHODS` is missing."""
    found = {run["run"]["method"]: run for run in result["runs"]}
    return found if found.keys() >= METHODS.keys() else None


def draw(result: Json) -> None:
    """Draw the iterations of both methods, and animate the first sweep of boost k-means."""
    found = runs_by_method(result)
    if found is not None:
        runs = {title: found[method] for method, title in METHODS.items()}
        plane_plots.draw_iterations(runs, IMAGES / PICTURE)
        plane_plots.animate(found["boost"], IMAGES / ANIMATION)


def page(result: Json) -> str:
    """Return the page: picture, animation, explanation and tables."""
    found = runs_by_method(result)
    if found is None:
        return "Not measured yet."
    boost, lloyds = found["boost"], found["lloyd"]
    gain = 100 * (lloyds["distortion"] / boost["distortion"] - 1)
    relation = f"{abs(gain):.1f} % {'above' if gain > 0 else 'below'}" if abs(gain) > 0.05 else "at"
    one, two = boost["states"][1], lloyds["states"][1]
    return TEXT.format(
        picture=PICTURE, animation=ANIMATION, n=len(boost["rows"]), k=N_CLUSTERS,
        table=progress_table(found), sweeps=boost["iterations"], iterations=lloyds["iterations"],
        start=boost["states"][0]["distortion"], boost_one=one["distortion"],
        lloyd_one=two["distortion"], first=one["elsewhere"], moves=len(boost["moves_of_first"]),
        relation=relation, elsewhere=boost["states"][-1]["elsewhere"],
        library=library_text(found.get("library")), starts=starts_text(found.get("starts")),
    )  # fmt: skip


def progress_table(found: dict[str, Json]) -> str:
    """Return the distortion by iteration."""
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
    """Return a sentence about `BoostKMeans` from the same start."""
    if run is None:
        return ""
    certified = (
        " with the certificate that no single move improves the result" if run["certified"] else ""
    )
    return f"From the same start, `BoostKMeans` ends at {run['distortion']:.4f}{certified}.\n"


def starts_text(run: Json | None) -> str:
    """Return the section about many starts."""
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
    return STARTS_TEXT.format(
        n=len(ends["boost"]), lower=100 * lower, higher=100 * higher, rises=run["rises"],
        empty=run["empty"], elsewhere=run["elsewhere"],
        table=table(["", "mean distortion", "lowest distortion", "mean iterations"], lines),
    )  # fmt: skip


TEXT = """![Iterations](../images/{picture})

{n} rows in the plane, {k} clusters. Both methods start from the same random labels. Colours are
clusters, crosses are their centres, and a tinted cell is the area that is nearest to a centre. Rows
with a black rim changed their cluster in this iteration. The number next to the iteration is the
average distortion.

![The first sweep, move by move](../images/{animation})

Observations:

- **The start** is as bad as possible: the centres of random clusters all lie in the middle, and colours
  are unrelated to cells.
- **In the first sweep** of boost k-means ({moves} moves), centres follow each move at once. The clusters
  separate during the sweep, and later rows are compared with separated centres: the distortion falls
  from {start:.4f} to {boost_one:.4f}. Lloyd's first iteration does not update the centres before it
  ends, and reaches {lloyd_one:.4f}.
- **After the first sweep**, {first} rows are in the cell of another cluster. **At the end**, after
  {sweeps} iterations, {elsewhere} rows are: colours and cells agree, which is Lloyd's condition.
- Lloyd's k-means takes {iterations} iterations and ends {relation} the distortion of boost k-means. Each
  empty cluster gets the row that is farthest from its centre, as in scikit-learn.
- Boost k-means never empties a cluster, because moving the only row of a cluster gains nothing.

{table}
The last iteration of each method, which moves nothing, is not in the table.
{library}
The paper's picture shows the start, iteration 1, and iteration 10, where its example ends.
{starts}"""

STARTS_TEXT = """
## Many starts

The table shows the results from {n} random partitions of the same rows.

{table}
Boost k-means ends lower than Lloyd's k-means from {lower:.0f} % of the starts, and higher from
{higher:.0f} %. During all of its sweeps, the distortion rose {rises} times, and {empty} clusters became
empty. At the end, {elsewhere} rows were nearer to another centre.
"""


if __name__ == "__main__":
    import fig1_iterations

    experiment.main(fig1_iterations)
