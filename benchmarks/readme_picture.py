"""Draw the picture of the README, docs/images/readme.svg, from results/peers.json."""

import statistics
from pathlib import Path
from typing import Any

from arena import RESULT
from comparison import curve, finished_runs
from environment import Json
from result_files import read_result

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "images" / "readme.svg"

# Two problems on real data. Most peers finish the first one; few finish the second one.
PROBLEMS = {
    "SIFT 100,000 x 128, k=1,024": "100,000 SIFT vectors, 1,024 clusters",
    "SIFT 1,000,000 x 128, k=10,000": "1,000,000 SIFT vectors, 10,000 clusters",
}

# Marker of each library. All settings of a library share it. An entry of the result file belongs to
# the library whose name it starts with; longer names come first.
MARKERS = {
    "scikit-learn-intelex": "s",
    "scikit-learn": "o",
    "faiss": "^",
    "superkmeans": "D",
    "fastkmeans": "P",
}

# The time axis continues to this multiple of the time limit, to make room for the names of the
# libraries that were stopped.
ROOM_BEYOND_LIMIT = 12.0


def library_of(entry: str) -> str | None:
    """Return the library of an entry of the result file, or None for boostkmeans and sparse methods."""
    return next((library for library in MARKERS if entry.startswith(library)), None)


def results(problem: Json) -> dict[str, list[tuple[float, float]]]:
    """Return the median seconds and inertia of each setting that finished, by library."""
    found: dict[str, list[tuple[float, float]]] = {}
    for entry in problem["runs"]:
        library, runs = library_of(entry), finished_runs(problem, entry)
        if library and runs:
            seconds = statistics.median(run["seconds"] for run in runs)
            inertia = statistics.median(run["inertia"] for run in runs)
            found.setdefault(library, []).append((seconds, inertia))
    return found


def stopped(problem: Json) -> dict[str, tuple[int, int]]:
    """Return the number of settings that hit the time limit and of all settings, by library.

    Libraries that finished with all settings are left out.
    """
    counts: dict[str, tuple[int, int]] = {}
    for entry, runs in problem["runs"].items():
        if library := library_of(entry):
            n_stopped, n_settings = counts.get(library, (0, 0))
            is_stopped = any(run.get("failure", "").startswith("more than") for run in runs)
            counts[library] = (n_stopped + is_stopped, n_settings + 1)
    return {library: pair for library, pair in counts.items() if pair[0]}


def own_curve(problem: Json) -> list[tuple[float, float]]:
    """Return seconds and inertia during the first run of boostkmeans with its defaults."""
    return curve(finished_runs(problem, "boostkmeans")[0])


def describe_stopped(problem: Json) -> str:
    """Return the text beyond the time limit: the libraries that were stopped there."""
    counts = stopped(problem)
    total = sum(n_stopped for n_stopped, _ in counts.values())
    noun = "setting" if total == 1 else "settings"
    lines = [f"{total} {noun} exceeded", f"the time limit of {problem['limit']:.0f} s:", ""]
    lines += [f"{library}: {n} of {n_settings}" for library, (n, n_settings) in sorted(counts.items())]
    return "\n".join(lines)


def draw_problem(axes: Any, problem: Json, title: str) -> None:
    """Draw one panel: inertia against time, and the libraries that were stopped."""
    own, peers, limit = own_curve(problem), results(problem), problem["limit"]
    lowest = min(inertia for points in [own, *peers.values()] for _, inertia in points)

    def above(inertia: float) -> float:
        return 100 * (inertia / lowest - 1)

    axes.plot([s for s, _ in own], [above(i) for _, i in own], color="C3", linewidth=2.2)
    axes.plot(own[-1][0], above(own[-1][1]), "*", color="C3", markersize=15, label="boostkmeans")
    for number, (library, marker) in enumerate(MARKERS.items()):
        points = peers.get(library, [])
        style = {"color": f"C{number + (number > 2)}", "markersize": 6.5, "linestyle": ""}
        axes.plot([s for s, _ in points], [above(i) for _, i in points], marker, label=library, **style)
    top = max(above(inertia) for points in peers.values() for _, inertia in points)
    first = min(seconds for points in [own, *peers.values()] for seconds, _ in points)
    axes.set(xscale="log", xlim=(0.7 * first, ROOM_BEYOND_LIMIT * limit), ylim=(-0.06 * top, 1.15 * top))
    axes.axvspan(limit, ROOM_BEYOND_LIMIT * limit, color="0.93", zorder=2)
    axes.axvline(limit, color="0.4", linestyle="--", linewidth=1)
    middle = limit * ROOM_BEYOND_LIMIT**0.5
    place = {"ha": "center", "va": "center", "fontsize": 9, "linespacing": 1.35, "zorder": 3}
    axes.text(middle, 0.57 * top, describe_stopped(problem), **place)
    ticks = [seconds for seconds in (0.5, 1, 2, 5, 10, 20, 30, 45) if first <= seconds <= limit]
    axes.set_xticks(ticks, [f"{seconds:g}" for seconds in ticks])
    axes.set_xticks([], minor=True)
    axes.set_title(title, fontsize=11)
    axes.set_xlabel("seconds until all rows have labels")
    axes.grid(alpha=0.3)


def draw(result: Path = RESULT, target: Path = TARGET) -> None:
    """Draw all panels and write the picture."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    problems = read_result(result)["problems"]
    mpl.rcParams["svg.hashsalt"] = "boostkmeans"  # the same input gives the same file
    figure, panels = plt.subplots(1, len(PROBLEMS), figsize=(11, 4.6))
    for axes, (name, title) in zip(panels, PROBLEMS.items(), strict=True):
        draw_problem(axes, problems[name], title)
    panels[0].set_ylabel("inertia above the lowest (%), lower is better")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=len(labels), frameon=False)
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    figure.savefig(target, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    draw()
