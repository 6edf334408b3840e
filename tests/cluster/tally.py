"""Counts of the conformance suite, which its last line and its result file report."""

import json
import platform
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "cluster_conformance.json"


@dataclass
class Tally:
    """What the tests of this process have compared and killed."""

    equal: Counter[str] = field(default_factory=Counter)
    """Fits with the labels of a fit in one process, by engine and number of workers."""
    configurations: set[str] = field(default_factory=set)
    kills: Counter[str] = field(default_factory=Counter)
    """Number of SIGKILLs, by what was killed."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Durations that tests report."""
    began: float = field(default_factory=time.monotonic)

    def count_equal(self, configuration: str, where: str) -> None:
        """Count a fit whose labels are equal."""
        self.configurations.add(configuration)
        self.equal[where] += 1

    def line(self) -> str:
        """Return the last line of the suite."""
        return (
            f"Equal labels: {self.equal.total()} fits of {len(self.configurations)} configurations. "
            f"SIGKILLs: {self.kills.total()} "
            f"({', '.join(f'{n} of {what}' for what, n in sorted(self.kills.items()))})."
        )

    def write(self, passed: bool) -> None:
        """Write the result file."""
        RESULTS.write_text(json.dumps(self.values(passed), indent=1) + "\n")

    def values(self, passed: bool) -> dict[str, Any]:
        """Return the content of the result file."""
        packages = ("boostkmeans", "dask", "distributed", "ray", "numpy")
        return {
            "command": "make test-cluster RESULTS=1",
            "date": datetime.now(UTC).date().isoformat(),
            "python": platform.python_version(),
            "versions": {name: version(name) for name in packages},
            "passed": passed,
            "configurations": len(self.configurations),
            "equal_fits": self.equal.total(),
            "equal_fits_by_engine": dict(sorted(self.equal.items())),
            "sigkills": self.kills.total(),
            "sigkills_by_target": dict(sorted(self.kills.items())),
            "seconds_of_tests": {name: round(value, 1) for name, value in self.seconds.items()},
            "seconds": round(time.monotonic() - self.began, 1),
        }


TALLY = Tally()
