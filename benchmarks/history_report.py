"""Section and plot of `docs/benchmarks.md` about earlier versions, from the records of `history.py`."""

from collections.abc import Callable
from pathlib import Path

from environment import Json
from page import table

RESULT = "history"
"""Name of the result file."""
PLOT = "benchmark_history.png"


def latest_records(result: Json) -> list[Json]:
    """Return the last record of each commit, in the order of the commits."""
    by_commit = {record["commit"]: record for record in result["records"]}
    return sorted(by_commit.values(), key=_age)


def _age(record: Json) -> tuple[list[int], str]:
    """Return a key that sorts versions, and commits of a version by date."""
    numbers = [int(part) for part in record["version"].split(".") if part.isdigit()]
    return numbers, record["commit_date"]


def names_of_fits(records: list[Json]) -> list[str]:
    """Return the names of all fits, in order of appearance."""
    return list(dict.fromkeys(name for record in records for name in record["fits"]))


def history_section(result: Json) -> str:
    """Return the ratios of all versions: times and inertia relative to scikit-learn."""
    records = latest_records(result)
    times = _table(records, "time_ratio", lambda ratio: f"{ratio:.2f}")
    inertia = _table(records, "inertia_ratio", lambda ratio: f"{ratio - 1:+.2%}")
    return (
        f"## Versions and commits\n\n`{result['command']}` fits the same rows with every version, in "
        "turn with scikit-learn's `KMeans` (one start). Ratios depend less on the machine than seconds. "
        f"{_machines(records)}\n\n![Time and inertia by version](images/{PLOT})\n\n"
        "Time of a fit, as a multiple of the time of scikit-learn (median of the seeds):\n\n"
        f"{times}\nInertia, relative to that of scikit-learn (mean of the seeds):\n\n{inertia}"
    )


def _table(records: list[Json], figure: str, shown: Callable[[float], str]) -> str:
    """Return a table with one row per commit and one column per fit."""
    names = names_of_fits(records)
    rows = [
        [
            record["version"],
            f"`{record['commit'][:7]}`",
            *(
                shown(record["fits"][name][figure]) if _has(record, name) else "not possible"
                for name in names
            ),
        ]
        for record in records
    ]
    return table(["version", "commit", *names], rows)


def _has(record: Json, name: str) -> bool:
    """Return True if a version could make this fit."""
    return name in record["fits"] and "error" not in record["fits"][name]


def _machines(records: list[Json]) -> str:
    """Return the machines and the packages of all records."""
    texts = {
        f"{machine['processor']}, {machine['n_threads']} threads, Python {machine['python']}, "
        + ", ".join(f"{name} {number}" for name, number in machine["packages"].items())
        for machine in (record["machine"] for record in records)
    }
    return f"Measured on {'; '.join(sorted(texts))}."


def draw_history(result: Json, path: Path) -> None:
    """Draw times and inertia by commit, one line per fit."""
    from matplotlib.figure import Figure

    records = latest_records(result)
    labels = [f"{record['version']}\n{record['commit'][:7]}" for record in records]
    figure = Figure(figsize=(9, 6), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    for name in names_of_fits(records):
        places = [i for i, record in enumerate(records) if _has(record, name)]
        fits = [records[i]["fits"][name] for i in places]
        upper.plot(places, [one["time_ratio"] for one in fits], marker="o", label=name)
        lower.plot(places, [100 * (one["inertia_ratio"] - 1) for one in fits], marker="o")
    upper.set(yscale="log", ylabel="time / scikit-learn's time")
    lower.set(ylabel="inertia, % relative to scikit-learn")
    lower.set_xticks(range(len(labels)), labels, fontsize=8)
    for axes in (upper, lower):
        axes.grid(alpha=0.3)
    figure.legend(loc="outside upper center", ncols=3, fontsize=8)
    figure.savefig(path, dpi=120)


SECTIONS = {RESULT: history_section}
