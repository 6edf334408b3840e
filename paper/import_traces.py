"""Import of traces that were computed elsewhere: `python paper/import_traces.py FILE ...`.

The rows must be those of this checkout, which is verified by their fingerprint. An incomplete trace can
be imported again when it is longer.
"""

import argparse
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import experiment

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
from public_data import fingerprint, sift
from traces import import_trace


@cache
def name_of(n: int) -> tuple[str, str]:
    """Return the name and the fingerprint of the first n rows."""
    rows, name = sift(n)
    return name, fingerprint(rows)


def main(arguments: Iterable[str] | None = None) -> int:
    """Import traces, and return the exit code: 1 if one of them could not be imported."""
    parser = argparse.ArgumentParser(description="Import traces that were computed elsewhere.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    given = parser.parse_args(None if arguments is None else list(arguments))
    failed = False
    for path in given.files:
        try:
            print(import_trace(path, experiment.traces_folder(), name_of))
        except (ValueError, KeyError, OSError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
