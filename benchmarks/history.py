"""Measure versions of boostkmeans from the git history, and append one record per commit.

    python benchmarks/history.py [REVISION ...] [--versions] [--installed] [--report-only]

Each revision is installed in an environment of its own, with the NumPy, SciPy and scikit-learn of this
one. `--versions` measures the last commit of every version, except for commits that have a record.
`--installed` measures the version of this environment instead. The records are in
results/history.json, and docs/benchmarks.md shows them. Nothing else should run on the machine.
"""

import argparse
import datetime
import json
import platform
import subprocess
import sys
from pathlib import Path

from environment import N_THREADS, Json, processor, version_of
from history_report import RESULT
from problems import CACHE
from report import write_report
from result_files import RESULTS, write_json
from revisions import (
    SAME_PACKAGES,
    environment_of,
    git,
    install,
    interpreter_in,
    last_commits,
    version_at,
)

FITS = Path(__file__).with_name("history_fits.py")
RECORDS = RESULTS / f"{RESULT}.json"
COMMAND = "make bench-history"


def main() -> None:
    """Measure the revisions that the command line names, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("revisions", nargs="*", metavar="REVISION", help="commit, branch or tag")
    parser.add_argument("--versions", action="store_true", help="the last commit of every version")
    parser.add_argument("--installed", action="store_true", help="the installed version, at HEAD")
    parser.add_argument("--report-only", action="store_true", help="write the page, measure nothing")
    parser.add_argument("--repeats", type=int, default=7, help="number of seeds (default: 7)")
    parser.add_argument("--share", type=float, default=1.0, help="share of the rows, for tests")
    parser.add_argument("--records", type=Path, default=RECORDS, help="file of the records")
    given = parser.parse_args()
    if given.share != 1 and given.records == RECORDS:
        parser.error("--share needs --records: other sizes must not be mixed with the stored records.")
    options = ["--repeats", str(given.repeats), "--share", str(given.share)]
    if given.installed:
        append(given.records, measured(Path(sys.executable), git("rev-parse", "HEAD"), options))
    for commit in [] if given.report_only else chosen_commits(given):
        print(f"Version {version_at(commit)}, commit {commit[:7]}", flush=True)
        python = prepared(commit)
        if python is not None:
            append(given.records, measured(python, commit, options))
    if given.records == RECORDS:
        write_report()


def chosen_commits(given: argparse.Namespace) -> list[str]:
    """Return the commits to measure."""
    named = [git("rev-parse", f"{one}^{{commit}}") for one in given.revisions]
    known = {record["commit"] for record in read_records(given.records)}
    of_versions = [one for one in last_commits() if one not in known] if given.versions else []
    return [*named, *of_versions]


def prepared(commit: str) -> Path | None:
    """Return the interpreter of an environment with this commit, or None if it cannot be installed."""
    folder = CACHE / f"boostkmeans-{commit[:7]}"
    ready = folder / "installed"
    if not ready.exists():
        print("  installing it (1-2 minutes)", flush=True)
        failure = install(commit, folder)
        if failure:
            print(f"  it cannot be installed:\n{failure}", flush=True)
            return None
        ready.touch()
    return interpreter_in(folder)


def measured(python: Path, commit: str, options: list[str]) -> Json | None:
    """Return the record of the version in an environment, or None if it cannot be imported."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(N_THREADS))
    command = [str(python), "-P", str(FITS), *options]
    variables = {**environment_of(python), **threads}
    done = subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        print("  it cannot be measured: see above", flush=True)
        return None
    found: Json = json.loads(done.stdout)
    return {
        "version": found["version"],
        "commit": commit,
        "commit_date": git("show", "-s", "--format=%cs", commit),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": {
            "processor": processor(),
            "n_threads": N_THREADS,
            "python": platform.python_version(),
            "packages": {package: version_of(package) for package in SAME_PACKAGES},
        },
        "fits": found["fits"],
    }


def read_records(path: Path) -> list[Json]:
    """Return all records, the earliest first."""
    if not path.exists():
        return []
    records: list[Json] = json.loads(path.read_text())["records"]
    return records


def append(path: Path, record: Json | None) -> None:
    """Add a record to the file, if there is one."""
    if record is None:
        return
    content = {"name": RESULT, "command": COMMAND, "records": [*read_records(path), record]}
    write_json(path, content, indent=1)
    for name, figures in record["fits"].items():
        shown = figures.get("error") or (
            f"{figures['time_ratio']:.2f} of the time of scikit-learn, "
            f"{figures['inertia_ratio']:.4f} of its inertia"
        )
        print(f"  {name}: {shown}", flush=True)


if __name__ == "__main__":
    main()
