"""Run the benchmarks of single parts, and write `docs/benchmarks.md` from their results."""

import argparse

# environment sets the number of threads, which NumPy and others read when they are imported.
import environment  # noqa: F401

# isort: split
import assignment
import cluster_names
import cluster_simulation
import curation
import distributed_fits
import distributed_memory
import distributed_peers
import explorer
import explorer_browser
import few_clusters
import figures
import files
import image_duplicates
import kernels
import large_k
import limits
import optima
import projected
import quantization
import small
import text
import updates
from report import write_report

BENCHMARKS = [
    *figures.BENCHMARKS, *large_k.BENCHMARKS, *projected.BENCHMARKS, *optima.BENCHMARKS,
    *few_clusters.BENCHMARKS, *updates.BENCHMARKS, *small.BENCHMARKS, *assignment.BENCHMARKS,
    *limits.BENCHMARKS, *text.BENCHMARKS, *files.BENCHMARKS, *quantization.BENCHMARKS,
    *cluster_names.BENCHMARKS, *explorer.BENCHMARKS, *explorer_browser.BENCHMARKS,
    *image_duplicates.BENCHMARKS, *curation.BENCHMARKS,
    *distributed_fits.BENCHMARKS, *distributed_peers.BENCHMARKS, *distributed_memory.BENCHMARKS,
    *cluster_simulation.BENCHMARKS,
    *kernels.BENCHMARKS,
]  # fmt: skip


def main() -> None:
    """Run the benchmarks that the command line names, then write the page."""
    by_name = {benchmark.__name__: benchmark for benchmark in BENCHMARKS}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help=f"benchmarks to run (default: all): {', '.join(by_name)}")  # fmt: skip
    parser.add_argument("--report-only", action="store_true",
                        help="write the page from existing results, without measuring")  # fmt: skip
    given = parser.parse_args()
    unknown = sorted(set(given.names) - set(by_name))
    if unknown:
        parser.error(f"unknown benchmark: {', '.join(unknown)}")
    for name, benchmark in by_name.items():
        if not given.report_only and (not given.names or name in given.names):
            print(f"{name}: {benchmark.__doc__}", flush=True)
            benchmark()
    write_report()


if __name__ == "__main__":
    main()
