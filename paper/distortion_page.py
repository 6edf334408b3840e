"""The page and the pictures of the paper's Fig. 3 a to c; see `fig3_distortion.py`."""

from typing import Any

from experiment import IMAGES, Json, table

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
from contenders import STARTS
from drawing import new_figure, save
from greedy_starts import greedy_note

BOOST = [f"BKM({start}){end}" for end in ("", "+Fast") for start in STARTS]
OWN = ("boostkmeans, fast", "boostkmeans", "boostkmeans, best")
MINI_BATCH = ("Mini-Batch", "Mini-Batch, 10 % in total")
AS_LONG = "Mini-Batch, as long as BKM(non)"
SCIKIT_LEARN = ("k-means (scikit-learn)", "k-means++ (scikit-learn)")
TREES = ("BsBKM(non)", "BsBKM(non), refined", "sampled tree", "sampled tree, refined")
METHODS = ("k-means", "k-means++", *SCIKIT_LEARN, *MINI_BATCH, AS_LONG, "LVQ", *BOOST, *OWN, *TREES)

# Iterations whose distortion is in the table.
SHOWN_ITERATIONS = (1, 7, 20, 130)
# Statements of the paper.
PAPER = {
    "k-means": "40,450 after 130 iterations",
    "BKM(non)": "that of k-means after 7 iterations",
    "BKM(rnd)": "no better than BKM(non) after 15 iterations",
    "BKM(kpp)": "no better than BKM(non) after 15 iterations",
    "BKM(rnd)+Fast": "below BKM(non) after 20 iterations",
    "Mini-Batch": "far above all others",
    "LVQ": "considerably worse than BKM",
}
PICTURES = {
    "starts": ("k-means", *[f"BKM({start})" for start in STARTS], "boostkmeans"),
    "fast": ("k-means", *[f"BKM({start}){end}" for start in STARTS for end in ("", "+Fast")]),
    "baselines": ("k-means", "k-means++", *MINI_BATCH, "LVQ", "BKM(non)", *OWN, *TREES),
}


def value_after(curve: list[list[float]], iteration: int) -> float | None:
    """Return the distortion after a number of iterations, by the last point up to it."""
    known = [value for number, _, value in curve if number <= iteration]
    return known[-1] if known else None


def first_below(curve: list[list[Any]], target: float) -> list[Any] | None:
    """Return the first point of a curve at a distortion or below it, or None."""
    almost = (1 + 1e-6) * target  # The points of a curve are rounded.
    return next((point for point in curve if point[2] <= almost), None)


def finished_runs(result: Json) -> dict[str, Json]:
    """Return the runs without failures that have ended, by method."""
    return {run["run"]["method"]: run for run in result["runs"] if not {"failure", "so_far"} & set(run)}


def kmeans_end(finished: dict[str, Json]) -> float | None:
    """Return the final distortion of k-means, or None if it has not ended."""
    found = [finished[one] for one in ("k-means", "k-means (scikit-learn)") if one in finished]
    return float(found[0]["distortion"]) if found else None


def page(result: Json) -> str:
    """Return the page: a table, three pictures, and the statements of the paper."""
    finished = finished_runs(result)
    target = kmeans_end(finished)
    known = [run for run in result["runs"] if "data" in run]
    statements = [*start_claims(finished, target), *fast_claims(finished), *final_gaps(finished, target)]
    full = result["size"] == "full"
    return TEXT.format(
        data=known[0]["data"], k=known[0]["run"]["k"], sizes=FULL_SIZE if full else SMALL_SIZE,
        target="K-means has not ended yet." if target is None else
        f"The final distortion of k-means is {target:,.0f}, the dotted line in the pictures.",
        curves=methods_table([*result["runs"], *timed_only(result)], target),
        claims="\n".join(statements) or "Not measured yet.", note=greedy_note([result]),
        pictures="\n".join(f"![{name}](../images/{picture(name, result)})\n" for name in PICTURES),
    )  # fmt: skip


def timed_only(result: Json) -> list[Json]:
    """Return scikit-learn's k-means at the paper's size, which has seconds but no curve."""
    sizes = [(run["run"]["n"], run["run"]["k"]) for run in result["runs"]]
    return [
        one for one in result.get("seconds", [])
        if one["run"]["method"] in SCIKIT_LEARN and (one["run"]["n"], one["run"]["k"]) in sizes
    ]  # fmt: skip


def methods_table(runs: list[Json], target: float | None) -> str:
    """Return a table with one row per method."""
    header = ["", *[f"after {iteration}" for iteration in SHOWN_ITERATIONS], "at the end", "iterations",
              "iterations to the end of k-means", "seconds per iteration", "seconds",
              "the paper"]  # fmt: skip
    return table(header, [method_row(run, target) for run in runs])


def method_row(run: Json, target: float | None) -> list[str]:
    """Return the row of a method."""
    method = run["run"]["method"]
    statement = PAPER.get(method, "")
    missing = ["-"] * len(SHOWN_ITERATIONS)
    if "failure" in run:
        return [method, *missing, "-", run["failure"], "-", "-", "-", statement]
    times = [number_text(run.get("seconds_of_iteration"), 2), number_text(run.get("seconds"), 1)]
    if "curve" not in run:
        return [method, *missing, "-", "only timed", "-", *times, statement]
    values = [shown_value(run, iteration) for iteration in SHOWN_ITERATIONS]
    reached = None if target is None else first_below(run["curve"], target)
    return [
        method,
        *[number_text(value, 0) for value in values],
        number_text(None if "so_far" in run else run["distortion"], 0),
        f"{run['iterations']} ({run['ended']})",
        "-" if reached is None else f"{reached[0]:.0f}",
        *times,
        statement,
    ]


def shown_value(run: Json, iteration: int) -> float | None:
    """Return the distortion after an iteration, which a method that is running may not have reached."""
    if run.get("so_far", iteration) < iteration:
        return None
    return value_after(run["curve"], iteration)


def number_text(value: float | None, digits: int) -> str:
    """Return a number, or "-" without it."""
    return "-" if value is None else f"{value:,.{digits}f}"


def start_claims(finished: dict[str, Json], target: float | None) -> list[str]:
    """Return the statements about BKM(non) and better starts."""
    if "BKM(non)" not in finished:
        return []
    curve = finished["BKM(non)"]["curve"]
    lines = []
    if target is not None:
        reached = first_below(curve, target)
        measured = "never" if reached is None else f"after {reached[0]:.0f} iterations"
        lines.append(
            "- Paper: BKM(non) reaches the final distortion of k-means after 7 iterations. Measured: "
            f"{measured}."
        )
    for start in ("rnd", "kpp"):
        if f"BKM({start})" in finished:
            other = finished[f"BKM({start})"]["curve"]
            gaps = [
                f"{100 * (after / (value_after(curve, i) or after) - 1):+.2f} % after {i}"
                for i in (1, 7, 15)
                if (after := value_after(other, i)) is not None
            ]
            lines.append(
                f"- Paper: the advantage of BKM({start}) over BKM(non) fades away after 15 iterations. "
                f"Measured: {', '.join(gaps)}."
            )
    return lines


def fast_claims(finished: dict[str, Json]) -> list[str]:
    """Return the statements about moves to the first better cluster."""
    lines = []
    for start in STARTS:
        best, fast = finished.get(f"BKM({start})"), finished.get(f"BKM({start})+Fast")
        if best and fast:
            gap = 100 * (fast["distortion"] / best["distortion"] - 1)
            text = (
                f"- Paper: +Fast ends lower, and is 5 % faster. Measured for BKM({start})+Fast: final "
                f"distortion {gap:+.2f} % relative to BKM({start})"
            )
            if best.get("seconds_of_iteration") and "seconds_of_iteration" in fast:
                each = 100 * (fast["seconds_of_iteration"] / best["seconds_of_iteration"] - 1)
                text += f", time per iteration {each:+.0f} %"
            lines.append(f"{text}.")
    return lines


def final_gaps(finished: dict[str, Json], target: float | None) -> list[str]:
    """Return the final distortions relative to k-means."""
    methods = ("k-means++", *MINI_BATCH, AS_LONG, "LVQ", *OWN)
    return [
        f"- {method}: final distortion "
        f"{100 * (finished[method]['distortion'] / target - 1):+.2f} % relative to k-means."
        for method in methods
        if method in finished and target is not None
    ]


# --- Pictures ------------------------------------------------------------------------------------------


def picture(name: str, result: Json) -> str:
    """Return the name of the file of a picture."""
    return f"paper_distortion_{name}{'' if result['size'] == 'full' else '_small'}.svg"


def draw(result: Json) -> None:
    """Draw three pictures."""
    runs = {run["run"]["method"]: run for run in result["runs"] if "curve" in run}
    for name, methods in PICTURES.items():
        curves = {method: runs[method]["curve"] for method in methods if method in runs}
        draw_curves(picture(name, result), curves, kmeans_end(finished_runs(result)))


def line_style(method: str) -> str:
    """Return the line style of a method; there are more methods than distinct colours."""
    if method in ("BsBKM(non)", "sampled tree"):
        return "o"
    if method in TREES:
        return ":"
    return "--" if method in OWN or method.endswith("+Fast") else "-"


def draw_curves(name: str, curves: dict[str, list[list[Any]]], target: float | None) -> None:
    """Draw one picture: distortion against iterations, and against seconds where they are known."""
    timed = {method: curve for method, curve in curves.items() if curve[-1][1] is not None}
    panels = [("iterations", 0, curves), *([("seconds", 1, timed)] if timed else [])]
    figure, axes = new_figure(1, len(panels), (5 * len(panels), 4))
    lowest = min((curve[-1][2] for curve in curves.values()), default=1.0)
    for axis, (title, column, shown) in zip(axes[0], panels, strict=True):
        for number, (method, curve) in enumerate(curves.items()):
            if method in shown:
                points = [point for point in curve if point[column]]
                axis.plot([p[column] for p in points], [p[2] for p in points], line_style(method),
                          color=f"C{number}", label=method, linewidth=1, markersize=4)  # fmt: skip
        if target is not None:
            axis.axhline(target, color="grey", linewidth=0.5, linestyle=":")
        # The first iterations of a random partition are far above everything else.
        axis.set(xscale="log", xlabel=title, ylabel="distortion", ylim=(0.995 * lowest, 1.15 * lowest))
        axis.grid(alpha=0.3)
    axes[0, 0].legend(fontsize=7)
    save(figure, IMAGES / name)


SMALL_SIZE = """The seconds are those of the fits themselves."""
FULL_SIZE = """The curves were computed in the background, for hours, so their own times are not shown.
Seconds were measured separately, on a quiet machine: those of the start and of a few iterations. The
seconds of a whole run are those of its start and of its iterations, each as long as the median of the
measured ones. Trees and boostkmeans were timed as a whole. Runs that have not ended are marked "so
far". scikit-learn's k-means is only timed, because its curve is that of k-means. The start of its
k-means++ would take hours."""

TEXT = """Data: {data}; {k:,} clusters, one run per method.

The distortion after an iteration is computed with the centres of the method. The final distortion is
computed from the labels alone, in the same way for all methods. {target} Methods:

- K-means and k-means++ use the same core as the other methods, with at most 130 iterations and no
  tolerance. Those of scikit-learn are separate rows.
- Mini-Batch has 130 batches of a tenth of the rows, or 130 batches that have a tenth of the rows in
  total. Both are readings of the paper's "10 %".
- LVQ ends when its learning rate is 0.
- BKM runs until no move is left, or for 130 iterations. BKM(kpp) starts from k-means++ as published.
  {note}
- "boostkmeans" is `BoostKMeans` with its defaults, with `quality="fast"` and with `quality="best"`. Its
  iterations are all records of `history_`, including repairs.
- BsBKM(non) is the paper's tree, and "sampled tree" is `BisectingBoostKMeans` with its defaults. They
  are refined by BKM, until a sweep gains less than 1e-4.

{sizes}

{curves}

{pictures}

## Statements of the paper

{claims}
"""
