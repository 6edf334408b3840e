"""Pictures and animation of clusters in the plane, with the Voronoi cells of their centres."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drawing import new_figure, save
from experiment import Json

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

# Iterations in the picture, besides the last one.
SHOWN_ITERATIONS = (0, 1, 2, 3)
# The first moves of the animation have one frame each, so that they can be followed.
SINGLE_MOVES = 30
# Later frames show several moves.
MOVES_PER_FRAME = 6
FRAMES_PER_SECOND = 6
# The final frame stays for two seconds.
FINAL_FRAMES = 2 * FRAMES_PER_SECOND


def cells(centres: Floats) -> Iterator[Floats]:
    """Yield the corners of the cell of each centre; outer cells end far outside the picture."""
    from scipy.spatial import Voronoi

    # Distant points close the cells at the rim, which would be unbounded without them.
    far = 100.0 * np.array([[-1, -1], [-1, 1], [1, -1], [1, 1], [0, 1], [0, -1], [1, 0], [-1, 0]])
    diagram = Voronoi(np.concatenate([centres, far]))
    for i in range(len(centres)):
        yield diagram.vertices[diagram.regions[diagram.point_region[i]]]


def colours() -> Any:
    """Return ten colours that can be told apart."""
    from matplotlib import colormaps

    return colormaps["tab10"].colors  # type: ignore[attr-defined]


def draw_state(axis: Any, rows: Floats, labels: Labels, centres: Floats, moved: Labels) -> None:
    """Draw rows by cluster over the cells of the centres; rows that moved have a black rim."""
    palette = colours()
    axis.clear()
    for i, corners in enumerate(cells(centres)):
        axis.fill(*corners.T, color=palette[i], alpha=0.13, linewidth=0)
        axis.fill(*corners.T, fill=False, edgecolor="0.45", linewidth=0.5)
    rims = np.zeros(len(rows))
    rims[moved] = 0.7
    axis.scatter(*rows.T, s=13, c=[palette[i] for i in labels], edgecolors="black", linewidths=rims)
    axis.scatter(
        *centres.T, s=60, marker="P", c=palette[: len(centres)], edgecolors="black", linewidths=1
    )
    (left, bottom), (right, top) = rows.min(axis=0) - 0.1, rows.max(axis=0) + 0.1
    axis.set(xlim=(left, right), ylim=(bottom, top), xticks=[], yticks=[], aspect="equal")


def arrays(state: Json) -> tuple[Labels, Floats, Labels]:
    """Return labels, centres and moved rows of a state."""
    moved = np.array(state["moved"], dtype=np.int64)
    return np.array(state["labels"]), np.array(state["centres"]), moved


def draw_iterations(runs: dict[str, Json], path: Path) -> None:
    """Draw one line per method: the start, the first iterations and the end."""
    figure, axes = new_figure(len(runs), len(SHOWN_ITERATIONS) + 1, (14, 5.2))
    for line, (title, run) in zip(axes, runs.items(), strict=True):
        states, rows = run["states"], np.array(run["rows"])
        for axis, t in zip(line, (*SHOWN_ITERATIONS, run["iterations"]), strict=True):
            state = states[min(t, len(states) - 1)]
            draw_state(axis, rows, *arrays(state))
            name = "random start" if t == 0 else f"iteration {t}"
            axis.set_title(f"{name}: {state['distortion']:.4f}", fontsize=9)
            axis.set_ylabel(title if t == 0 else "")
    save(figure, path, dpi=75)


def frames(run: Json) -> Iterator[tuple[str, Labels, Floats, Labels]]:
    """Yield title, labels, centres and moved rows: the first sweep move by move, then each sweep."""
    rows, states = np.array(run["rows"]), run["states"]
    labels = np.array(states[0]["labels"])
    n_clusters = len(states[0]["centres"])
    moves = run["moves_of_first"]
    yield ("random labels", *arrays(states[0]))
    ends = [*range(1, SINGLE_MOVES), *range(SINGLE_MOVES, len(moves), MOVES_PER_FRAME), len(moves)]
    begin = 0
    for end in ends:
        some = np.array(moves[begin:end], dtype=np.int64).reshape(-1, 2)
        labels[some[:, 0]] = some[:, 1]
        centres = np.stack([rows[labels == r].mean(axis=0) for r in range(n_clusters)])
        yield f"first sweep: {end} moves", labels, centres, some[:, 0]
        begin = end
    for t, state in enumerate(states[2 : run["iterations"] + 1], start=2):
        yield (f"after sweep {t}: {state['distortion']:.4f}", *arrays(state))


def animate(run: Json, path: Path) -> None:
    """Write all frames to a GIF file."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.animation import PillowWriter

    rows = np.array(run["rows"])
    figure, axis = plt.subplots(figsize=(5.2, 4), dpi=80)
    writer = PillowWriter(fps=FRAMES_PER_SECOND)
    with writer.saving(figure, str(path), dpi=80):
        for title, labels, centres, moved in frames(run):
            draw_state(axis, rows, labels, centres, moved)
            axis.set_title(title, fontsize=10)
            # Sweeps after the first change much at once, so they stay for a second.
            for _ in range(FRAMES_PER_SECOND if title.startswith("after") else 1):
                writer.grab_frame()
        for _ in range(FINAL_FRAMES):
            writer.grab_frame()
    plt.close(figure)
