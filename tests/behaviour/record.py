"""Record the labels of all settings with the installed version of boostkmeans.

    python tests/behaviour/record.py --since 0.7.0   write labels_<version>.json
    python tests/behaviour/record.py --check         compare with all files instead
    python tests/behaviour/record.py --times         print how long each setting takes

The file contains the settings whose outcome differs from that of earlier releases, or all settings
without `--since`. Run this once for each release that changes labels. Every instruction set of the
machine is recorded, each with one and with two threads, which must agree.
"""

import argparse
import json
import os
import platform
import re
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from settings import SETTINGS, Outcome, Place

import boostkmeans

FOLDER = Path(__file__).parent
PACKAGES = ("boostkmeans", "numpy", "scipy", "scikit-learn")


def environment() -> dict[str, str]:
    """Return what results may depend on beside the code."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return {
        **{package: version(package) for package in PACKAGES},
        "python": platform.python_version(),
        "processor": names[0] if names else platform.processor(),
    }


def outcome(name: str, n_threads: int) -> Outcome:
    """Return the outcome of a setting, for the instruction set of the environment."""
    with tempfile.TemporaryDirectory() as folder:
        return SETTINGS[name].run(Place(Path(folder), n_threads))


def record() -> dict[str, Any]:
    """Return the outcomes for all instruction sets, once they are known not to depend on threads."""
    by_isa: dict[str, dict[str, Any]] = {}
    notes: dict[str, str] = {}
    for isa in boostkmeans.instruction_sets():
        os.environ["BOOSTKMEANS_ISA"] = isa
        one = {name: outcome(name, 1) for name in SETTINGS}
        by_isa[isa] = {name: found.summary() for name, found in one.items()}
        differing = differences(by_isa[isa], {name: outcome(name, 2).summary() for name in SETTINGS})
        print(f"{isa}: {len(by_isa[isa])} settings; on two threads, differing: {differing or 'none'}")
        if differing:
            sys.exit(1)
        notes = {name: found.note for name, found in one.items() if found.note}
    return {"environment": environment(), "outcomes": by_isa, "notes": notes}


def numbers(release: str) -> tuple[int, ...]:
    """Return the numbers of a version."""
    return tuple(int(number) for number in re.findall(r"\d+", release))


def recorded(last: str | None = None) -> dict[str, dict[str, Any]]:
    """Return the outcomes by instruction set, as recorded by the last release that changed each.

    Releases after `last` are left out.
    """
    found: dict[str, dict[str, Any]] = {}
    by_version = {numbers(path.stem): path for path in FOLDER.glob("labels_*.json")}
    for release, path in sorted(by_version.items()):
        if last is None or release <= numbers(last):
            for isa, outcomes in json.loads(path.read_text())["outcomes"].items():
                found.setdefault(isa, {}).update(outcomes)
    return found


def only_changes(found: dict[str, Any], last: str) -> dict[str, Any]:
    """Return a record without the settings that are as before, with all instruction sets."""
    before, outcomes = recorded(last), found["outcomes"]
    changed = {name for isa in outcomes for name in differences(outcomes[isa], before[isa])}
    kept = {
        isa: {name: one[name] for name in SETTINGS if name in changed} for isa, one in outcomes.items()
    }
    notes = {name: note for name, note in found["notes"].items() if name in changed}
    return {**found, "outcomes": kept, "notes": notes}


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return the names of settings that differ."""
    return [name for name in before if before[name] != after.get(name)]


def one_line_each(found: dict[str, Any]) -> str:
    """Return JSON with one line for each setting, so that differences are easy to read."""
    text = json.dumps(found, indent=1, sort_keys=True)
    return re.sub(r"\{\n\s+(\"inertia\"[^}]*?)\n\s+\}", _joined, text) + "\n"


def _joined(match: re.Match[str]) -> str:
    return "{" + re.sub(r"\n\s+", " ", match[1]) + "}"


def print_times() -> None:
    """Print how long each setting takes on one thread, the slowest last."""
    times = {}
    for name in SETTINGS:
        began = time.perf_counter()
        found = outcome(name, 1)
        times[name] = (time.perf_counter() - began, found.stop_reason, found.note)
    for name, (seconds, reason, note) in sorted(times.items(), key=lambda item: item[1][0]):
        print(f"{seconds:7.3f} s  {name:36} {reason:10} {note}")
    total = sum(seconds for seconds, _, _ in times.values())
    print(f"{total:7.3f} s  all {len(times)} settings")


def main() -> None:
    """Write the file, or compare with it."""
    parser = argparse.ArgumentParser(description="Record the labels of all settings.")
    parser.add_argument("--check", action="store_true", help="compare with all files, write nothing")
    parser.add_argument("--since", metavar="VERSION", help="leave out settings that are as in VERSION")
    parser.add_argument("--times", action="store_true", help="print how long each setting takes")
    given = parser.parse_args()
    if given.times:
        print_times()
        return
    path = FOLDER / f"labels_{boostkmeans.__version__}.json"
    found = record()
    if given.check:
        stored = recorded()
        for isa, found_now in found["outcomes"].items():
            print(f"{isa}: differing: {differences(stored[isa], found_now) or 'none'}")
        return
    if given.since is not None:
        found = only_changes(found, given.since)
    path.write_text(one_line_each(found))


if __name__ == "__main__":
    main()
