"""Measures all figures (or those named on the command line) and writes docs/benchmarks.md from them."""

import sys

import figures
import files
import large_k
import limits
import measure  # noqa: F401  (sets the number of threads: before all others)
import optima
import quantization
import text
from report import write_report

FIGURES = [
    *figures.FIGURES, *large_k.FIGURES, *optima.FIGURES, *limits.FIGURES, *text.FIGURES, *files.FIGURES,
    *quantization.FIGURES,
]  # fmt: skip


def main() -> None:
    wanted = sys.argv[1:] or [figure.__name__ for figure in FIGURES]
    unknown = set(wanted) - {figure.__name__ for figure in FIGURES}
    if unknown:
        sys.exit(f"no such figure: {', '.join(sorted(unknown))}")
    for figure in FIGURES:
        if figure.__name__ in wanted:
            print(f"{figure.__name__}: {figure.__doc__}", flush=True)
            figure()
    write_report()


if __name__ == "__main__":
    main()
