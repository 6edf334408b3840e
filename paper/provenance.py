"""Origin of stored runs: version, commit, date and processor.

A result file may contain runs of several versions. Each run therefore has its own stamp.
"""

import datetime
from collections.abc import Iterable
from typing import Any

from environment import Json, commit, environment

# Packages whose version is part of a stamp, because methods of the paper use them.
STAMPED_PACKAGES = ("numpy", "scikit-learn")
# Number of commits of one version that a page names.
SHOWN_COMMITS = 3


def version() -> str:
    """Return the version of boostkmeans."""
    import boostkmeans

    return str(boostkmeans.__version__)


def stamp() -> Json:
    """Return the stamp of a run that is measured now."""
    now = environment()
    return {
        "version": version(),
        "commit": commit(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "processor": now["processor"],
        "instruction_set": now["instruction_set"],
        "n_threads": now["n_threads"],
        "packages": packages_of(now),
    }


def stamp_of(environment: Json, date: str = "") -> Json:
    """Return the stamp of a run by the environment of its file. Older files have no other stamp."""
    return {
        "version": environment["packages"]["boostkmeans"],
        "commit": environment["commit"],
        "date": date,
        "processor": environment["processor"],
        "instruction_set": environment["instruction_set"],
        "n_threads": environment["n_threads"],
        "packages": packages_of(environment),
    }


def packages_of(environment: Json) -> Json:
    """Return the versions of Python and of the stamped packages that are known."""
    versions: Json = {"Python": environment["python"]}
    versions |= {name: environment["packages"].get(name) for name in STAMPED_PACKAGES}
    return {name: one for name, one in versions.items() if one and one[0].isdigit()}


def number_of(version: str) -> tuple[int, ...]:
    """Return a version as numbers, to compare it. Only the first one of several versions counts."""
    first = version.split(",", maxsplit=1)[0]
    return tuple(int(part) for part in first.split(".")[:3] if part.isdigit())


def joined(older: str, newer: str) -> str:
    """Return the versions (or commits) of a run that one version began and another continued."""
    return older if newer in older.split(", ") else f"{older}, {newer}"


def versions_text(runs: Iterable[Json]) -> str:
    """Return the versions of boostkmeans that measured some runs, and those of other packages."""
    some = list(runs)
    parts = []
    for one in sorted({run["version"] for run in some}, key=number_of):
        same = [run for run in some if run["version"] == one]
        about = [text for text in (commits_text(same), dates_text(same)) if text]
        number = f"{len(same)} runs" if len(same) > 1 else "1 run"
        parts.append(f"boostkmeans {one} ({'; '.join([number, *about])})")
    others: dict[str, set[str]] = {}
    for run in some:
        for name, number in run["packages"].items():
            others.setdefault(name, set()).add(number)
    parts += [f"{name} {' and '.join(sorted(numbers))}" for name, numbers in others.items()]
    return ", ".join(parts)


def commits_text(runs: list[Json]) -> str:
    """Return the commits of some runs."""
    commits = distinct(run["commit"] for run in runs)
    if not commits:
        return ""
    shown = ", ".join(commits[:SHOWN_COMMITS])
    more = " and others" if len(commits) > SHOWN_COMMITS else ""
    return f"commit{'s' if len(commits) > 1 else ''} {shown}{more}"


def dates_text(runs: list[Json]) -> str:
    """Return the first and the last date of some runs."""
    dates = sorted(distinct(run["date"] for run in runs))
    return " to ".join(distinct([dates[0], dates[-1]])) if dates else ""


def machines_text(runs: Iterable[Json]) -> str:
    """Return the processors of some runs."""
    return "; ".join(
        distinct(
            f"{run['processor']}, {run['instruction_set']}, {run['n_threads']} threads" for run in runs
        )
    )


def distinct(values: Iterable[Any]) -> list[Any]:
    """Return the distinct values that are not empty, in their order."""
    return [value for value in dict.fromkeys(values) if value]
