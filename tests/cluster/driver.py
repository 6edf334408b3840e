"""A driver in a process of its own, which tests kill or interrupt.

    python driver.py ENGINE ADDRESS CONFIGURATION CHECKPOINT

It prints one line per round, and the hash of the labels at its end. The address "private" stands for a
cluster that the fit starts itself.
"""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from conformance import ALL, outcome_of


def main() -> None:
    """Fit a configuration on a cluster."""
    engine, address, name, checkpoint = sys.argv[1:]
    chosen = next(one for one in ALL if one.name == name)
    model = chosen.fit(connect(engine, address), checkpoint=checkpoint, callback=announce, n_threads=1)
    print("labels", outcome_of(model).labels, flush=True)


def connect(engine: str, address: str) -> Any:
    """Return the argument `engine` of the estimator for a cluster."""
    if address == "private":
        return engine
    if engine == "dask":
        import distributed

        return distributed.Client(address, set_as_default=False, timeout=300)
    if engine == "ray":
        import ray

        ray.init(address=address, log_to_driver=False, logging_level="error")
        return "ray"
    return None


def announce(record: Any) -> None:
    """Print a line after each round."""
    print("round", record.kind, flush=True)


if __name__ == "__main__":
    main()
