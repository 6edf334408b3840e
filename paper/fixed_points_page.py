"""Tables and pictures of the page about fixed points of Lloyd's algorithm, from stored runs."""

from typing import Any

from experiment import Json, table

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import numpy as np

import fixed_points_text as texts
from fixed_point_methods import METHODS

# Methods by colour in the picture; the rule has a dash pattern of its own.
STYLES = {
    "Lloyd, random labels": ("tab:red", "--"),
    "faiss": ("tab:orange", "--"),
    "scikit-learn": ("tab:purple", "--"),
    "scikit-learn after PCA": ("tab:gray", "--"),
    "single moves, random labels": ("tab:green", "-"),
    "boostkmeans": ("tab:blue", "-"),
}
COLOURS = ("tab:blue", "tab:orange", "tab:green")
# Numbers of dimensions in the table of random partitions.
POWERS_OF_TEN = [10**i for i in range(1, 6)]
# Settings that distinguish the problems with many small clusters.
KEYS = ("n", "d", "k", "noise")
OURS = ("single moves, random labels", "single moves, k-means++", "boostkmeans")
# A partition counts as recovered from this agreement on.
RECOVERED = 0.99


def text(runs: list[Json], picture: str) -> str:
    """Return the page. Parts that are not measured are left out."""
    parts = [texts.INTRODUCTION, texts.THEORY, texts.PICTURE.format(picture=picture)]
    for make, part in ((partitions_text, "partitions"), (recovery_text, "recovery"),
                       (scale_text, "scale"), (real_text, "real")):  # fmt: skip
        chosen = [run for run in runs if run["run"]["part"] == part and not run.get("missing")]
        if chosen:
            parts.append(make(chosen))
    return "\n".join([*parts, texts.REFERENCES])


def mean(runs: list[Json], *names: str) -> float:
    """Return the mean of a figure over runs; several names lead to a nested figure."""
    values: list[Any] = list(runs)
    for name in names:
        values = [value[name] for value in values]
    return float(np.mean(values))


def grouped(runs: list[Json], *keys: str) -> dict[Any, list[Json]]:
    """Return the runs by the values of some of their settings, in the order of the runs."""
    found: dict[Any, list[Json]] = {}
    for run in runs:
        if "failure" not in run:
            values = tuple(run["run"][key] for key in keys)
            found.setdefault(values if len(keys) > 1 else values[0], []).append(run)
    return found


def chosen(runs: list[Json], **settings: Any) -> list[Json]:
    """Return the runs with given settings."""
    return [
        run for run in runs if all(run["run"].get(name) == value for name, value in settings.items())
    ]


def percent(share: float, digits: int = 1) -> str:
    """Return a share in percent."""
    return f"{100 * share:.{digits}f} %"


# --- Random partitions ---------------------------------------------------------------------------------


def threshold(n: int, k: int) -> float:
    """Return the number of dimensions from which most random partitions are fixed points of noise."""
    return float(4 * n / k * np.log(n * k))


def partitions_text(runs: list[Json]) -> str:
    """Return the section about random partitions."""
    lines = []
    shown = [run for run in runs if run["run"]["d"] in POWERS_OF_TEN]
    for (n, k, noise, d), some in grouped(shown, "n", "k", "noise", "d").items():
        lines.append(
            [n // k, noise, f"{d:,}", percent(mean(some, "lloyd", "moving")),
             percent(mean(some, "lloyd", "predicted_moving")), percent(mean(some, "lloyd", "fixed"), 0),
             percent(mean(some, "lloyd", "predicted_fixed"), 0),
             percent(mean(some, "single", "moving")), percent(mean(some, "single", "predicted_moving")),
             percent(mean(some, "lloyd", "corrected"), 0), percent(mean(some, "single", "corrected"), 0)]
        )  # fmt: skip
    header = ["rows per cluster", "noise", "d", "Lloyd moves", "predicted", "fixed points", "predicted",
              "single moves", "predicted", "corrected, Lloyd", "corrected, single moves"]  # fmt: skip
    errors = [abs(run["lloyd"]["moving"] - run["lloyd"]["predicted_moving"]) for run in runs]
    highest = max(run["run"]["noise"] for run in runs)
    last = [run for run in chosen(runs, noise=highest) if run["run"]["d"] >= 10_000]
    sizes = sorted({(run["run"]["n"], run["run"]["k"]) for run in chosen(runs, noise=highest)})
    bounds = ", ".join(f"{threshold(n, k):,.0f} dimensions for {n // k} rows" for n, k in sizes)
    limits = ", ".join(f"{(n // k - 1) ** 2 / (n // k):.1f} for {n // k} rows" for n, k in sizes)
    return texts.PARTITIONS.format(
        n_partitions=runs[0]["run"]["n_partitions"], n_seeds=len({run["run"]["seed"] for run in runs}),
        k=runs[0]["run"]["k"], table=table(header, lines), error=f"{100 * max(errors):.1f}",
        mean_error=f"{100 * float(np.mean(errors)):.1f}", bounds=bounds, highest=highest,
        fixed=percent(mean(last, "lloyd", "fixed"), 0) if last else "-", limits=limits,
        single=percent(min(run["single"]["moving"] for run in runs), 0),
    )  # fmt: skip


def draw_moving(axis: Any, runs: list[Json]) -> None:
    """Draw the share of rows that each rule would move, by dimension and noise."""
    some = [run for run in chosen(runs, part="partitions") if run["run"]["n"] == 400]
    for (noise, by_noise), colour in zip(grouped(some, "noise").items(), COLOURS, strict=False):
        by_d = grouped(by_noise, "d")
        for rule, marker in (("lloyd", "o"), ("single", "s")):
            axis.plot(list(by_d), [mean(one, rule, "predicted_moving") for one in by_d.values()],
                      color=colour, linewidth=1, linestyle="--" if rule == "lloyd" else "-")  # fmt: skip
            name = "Lloyd" if rule == "lloyd" else "single moves"
            axis.plot(list(by_d), [mean(one, rule, "moving") for one in by_d.values()], marker,
                      color=colour, markersize=4, label=f"{name}, noise {noise}")  # fmt: skip
    axis.set(xscale="log", xlabel="dimensions", ylabel="share of rows", ylim=(-0.03, 1.03),
             title="rows of a random partition that would move")  # fmt: skip
    finish(axis)


def draw_fixed(axis: Any, runs: list[Json]) -> None:
    """Draw the share of random partitions that are fixed points, by dimension and size of clusters."""
    some = chosen(runs, part="partitions")
    highest = max((run["run"]["noise"] for run in some), default=0)
    by_size = grouped(chosen(some, noise=highest), "n", "k")
    for ((n, k), of_size), colour in zip(sorted(by_size.items()), COLOURS, strict=False):
        by_d = grouped(of_size, "d")
        axis.plot(list(by_d), [mean(one, "lloyd", "predicted_fixed") for one in by_d.values()], "--",
                  color=colour, linewidth=1)  # fmt: skip
        axis.plot(list(by_d), [mean(one, "lloyd", "fixed") for one in by_d.values()], "o", markersize=4,
                  color=colour, label=f"Lloyd, {n // k} rows per cluster")  # fmt: skip
        axis.axvline(threshold(n, k), color=colour, linewidth=0.6, linestyle=":")
    axis.set(xscale="log", xlabel="dimensions", ylabel="share of partitions", ylim=(-0.03, 1.03),
             title=f"random partitions that are fixed points (noise {highest})")  # fmt: skip
    finish(axis)


def finish(axis: Any) -> None:
    """Add a grid and, if something is drawn, a legend."""
    axis.grid(alpha=0.3)
    if axis.get_legend_handles_labels()[1]:
        axis.legend(fontsize=7)


# --- Recovery ------------------------------------------------------------------------------------------


def agreement(runs: list[Json]) -> str:
    """Return the mean agreement with the planted clusters and the mean excess of the inertia."""
    if not runs:
        return "-"
    ari, excess = round(mean(runs, "ari"), 2), round(100 * mean(runs, "excess"), 1)
    return f"{ari + 0.0:.2f} ({excess + 0.0:+.1f} %)"  # Adding 0 removes the sign of -0.


def methods_of(runs: list[Json]) -> list[str]:
    """Return the methods of runs, in the order of the tables."""
    found = {run["run"]["method"] for run in runs}
    return [method for method in METHODS if method in found]


def by_method(runs: list[Json], *keys: str) -> tuple[list[Any], list[list[str]]]:
    """Return the values of the settings `keys`, and a line of the table for each method."""
    columns = list(grouped(runs, *keys))
    cells = grouped(runs, "method", *keys)
    lines = []
    for method in methods_of(runs):
        where = [(method, *column) if len(keys) > 1 else (method, column) for column in columns]
        lines.append([method, *[agreement(cells.get(one, [])) for one in where]])
    return columns, lines


def recovered(runs: list[Json], method: str) -> str:
    """Return how many runs of a method recover the planted clusters, as "a of b"."""
    some = [run for run in chosen(runs, method=method) if "failure" not in run]
    return f"{sum(run['ari'] >= RECOVERED for run in some)} of {len(some)}"


def recovery_text(runs: list[Json]) -> str:
    """Return the section about the recovery of few clusters."""
    parts = []
    for noise, some in grouped(runs, "noise").items():
        columns, lines = by_method(some, "d")
        parts.append(f"Noise {noise}:\n\n" + table(["method", *[f"d = {d:,}" for d in columns]], lines))
    far = [run for run in runs if run["run"]["d"] >= 1_000]
    stuck = [run for run in chosen(far, method="Lloyd, random labels") if run.get("n_moved") == 0]
    counts = "\n".join(f"- {method}: {recovered(far, method)}" for method in methods_of(runs))
    setting = runs[0]["run"]
    return texts.RECOVERY.format(
        n=f"{setting['n']:,}", k=setting["k"], size=setting["n"] // setting["k"],
        n_seeds=len({run["run"]["seed"] for run in runs}), tables="\n".join(parts), counts=counts,
        stuck=len(stuck), of=len(chosen(far, method="Lloyd, random labels")), limit=RECOVERED,
    )  # fmt: skip


def draw_recovery(axis: Any, runs: list[Json], noise: float) -> None:
    """Draw the agreement with the planted clusters, by dimension and method."""
    some = chosen(runs, part="recovery", noise=noise)
    for method, (colour, style) in STYLES.items():
        by_d = grouped(chosen(some, method=method), "d")
        if by_d:
            axis.plot(list(by_d), [mean(one, "ari") for one in by_d.values()], style, marker="o",
                      markersize=3, color=colour, label=method)  # fmt: skip
    axis.set(xscale="log", xlabel="dimensions", ylabel="adjusted Rand index", ylim=(-0.03, 1.03),
             title=f"agreement with the planted clusters (noise {noise})")  # fmt: skip
    finish(axis)


def scale_text(runs: list[Json]) -> str:
    """Return the section about many small clusters."""
    columns, lines = by_method(runs, *KEYS)
    header = [f"{n:,} x {d:,}, k = {k:,}, noise {noise}" for n, d, k, noise in columns]
    seeds = len({run["run"]["seed"] for run in runs})
    parts = []
    for column in columns:
        some = [run for run in runs if tuple(run["run"][key] for key in KEYS) == column]
        cells = {method: mean(one, "ari") for method, one in grouped(some, "method").items()}
        others = [value for method, value in cells.items() if method not in OURS]
        if others and "boostkmeans" in cells:
            parts.append(f"{max(others):.2f} and {cells['boostkmeans']:.2f} for {column[0]:,} rows")
    summary = "The best method without single moves and the defaults of boostkmeans reach "
    setting = runs[0]["run"]
    return texts.SCALE.format(
        table=table(["method", *header], lines), seeds=f"{seeds} seeds" if seeds > 1 else "one seed",
        size=setting["n"] // setting["k"], summary=summary + "; ".join(parts) + "." if parts else "",
    )  # fmt: skip


# --- Real data -----------------------------------------------------------------------------------------


def real_text(runs: list[Json]) -> str:
    """Return the section about real data."""
    lines = []
    for (_, n, k), some in grouped(runs, "set", "n", "k").items():
        effective = mean(some, "effective_d")
        lines.append(
            [f"{some[0]['data']}, d = {some[0]['d']}", f"{effective:.0f}", n // k,
             percent(mean(some, "random_lloyd"), 0), percent(mean(some, "after_lloyd"), 0),
             percent(mean(some, "after_single")), percent(mean(some, "moved"), 0),
             f"{100 * mean(some, 'continued'):+.1f} %", f"{100 * mean(some, 'defaults'):+.1f} %"]
        )  # fmt: skip
    header = ["data", "effective d", "rows per cluster", "Lloyd moves, random labels",
              "Lloyd moves, converged", "single moves, converged", "labels changed",
              "inertia, single moves", "inertia, boostkmeans"]  # fmt: skip
    groups = grouped(runs, "set", "k").values()
    gains = [mean(some, "continued") for some in groups]
    rows = [mean(some, "after_single") for some in groups]
    return texts.REAL.format(
        n=f"{runs[0]['run']['n']:,}", n_seeds=len({run["run"]["seed"] for run in runs}),
        table=table(header, lines), least=f"{-100 * max(gains):.1f}",
        most=f"{-100 * min(gains):.1f}", least_rows=percent(min(rows), 0),
        most_rows=percent(max(rows), 0),
    )  # fmt: skip
