"""`boostkmeans scan`: try several numbers of clusters, and suggest one."""

import re
import time
from typing import Annotated

import typer

from boostkmeans.cli.command import Result, command
from boostkmeans.cli.errors import print_message
from boostkmeans.cli.files.input import input_files
from boostkmeans.cli.files.output import check_plot, output_to, writing_to
from boostkmeans.cli.files.result_output import TableFile
from boostkmeans.cli.files.row_sample import read_rows
from boostkmeans.cli.option_groups import expand_option_groups
from boostkmeans.cli.options import CommonOptions, InputOptions, Metric, RunOptions, VectorsPaths
from boostkmeans.select import Scan, scan

# A number of clusters, or a range of them.
NUMBERS = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)
# Largest number of numbers of clusters in one scan. Each takes a fit.
MAX_NUMBERS = 1000


@expand_option_groups
def scan_numbers(
    paths: VectorsPaths,
    clusters: Annotated[
        str,
        typer.Option(
            "--clusters",
            "-k",
            metavar="K[-K],...",
            help="Numbers of clusters to try: numbers and ranges, separated by commas, e.g. 2-10,20,50.",
        ),
    ] = "2-20",
    metric: Annotated[
        Metric, typer.Option(help="Distance; cosine compares directions only.")
    ] = Metric.euclidean,
    references: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Number of random data sets for the gap statistic; 0 omits it, which is faster.",
        ),
    ] = 5,
    max_rows: Annotated[
        int | None,
        typer.Option(
            min=3, metavar="N", help="Use a random sample of N rows of a larger file (default: all)."
        ),
    ] = None,
    output: TableFile = None,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="File for a plot of the measures over K: .png, .svg or .pdf."),
    ] = None,
    *,
    run_options: RunOptions,
    input_options: InputOptions,
    common: CommonOptions,
) -> None:
    """\b
    Examples:
      boostkmeans scan vectors.npy
      boostkmeans scan vectors.npy -k 2-10,20,50,100 --plot scan.png
      boostkmeans scan huge.fvecs -k 10-100 --max-rows 20000 --references 0
      boostkmeans scan table.csv --drop id -o scan.csv

    Cluster vectors with several numbers of clusters, and print for each number the inertia, the
    silhouette, the Calinski-Harabasz index and the gap statistic. Then suggest a number, and give the
    reason; with -o FILE.csv, they are printed on standard error.

    All numbers share one tree of clusters, so that a scan is faster than one fit per number. The rows
    must be dense and fit into memory; --max-rows takes a sample.
    """
    with command(common) as run:
        numbers = _parse_numbers(clusters)
        picture = check_plot(output_to(plot, force=common.force))
        report = run.result_output(output, lambda result: list(result["entries"]))
        report.check({"PATH": input_files(paths, input_options)}, plot=picture)
        with run.reading(paths, input_options) as (vectors, display):
            if vectors.is_sparse:
                raise ValueError(f"{vectors.name} has sparse vectors, but a scan needs dense vectors.")
            X = read_rows(vectors, numbers[-1], max_rows, run_options.seed)
            began = time.perf_counter()
            display.report("scanning", 0, None)
            found = scan(
                X,
                numbers,
                metric=str(metric.value),
                n_references=references,
                random_state=run_options.seed,
                n_threads=run_options.threads,
                verbose=display.verbose,
            )
            result = {
                "source": vectors.name,
                "n_rows": X.shape[0],
                "n_rows_of_file": len(vectors),
                "n_features": X.shape[1],
                **found.to_dict(),
                "seconds": time.perf_counter() - began,
                "files": {} if picture is None else {"plot": picture.path},
            }
        if picture is not None:
            with picture.open() as file, writing_to(picture.path):
                found.plot().savefig(file, format=picture.ending[1:])
        run.print_result(result, lambda values: _listing(values, found), report)
        if report.is_table:
            print_message(f"suggested: {found.suggestion} ({found.reason})")


def _parse_numbers(text: str) -> list[int]:
    """Return the numbers of clusters in ascending order.

    >>> _parse_numbers("2-4,10")
    [2, 3, 4, 10]
    """
    matches = [NUMBERS.fullmatch(part.strip()) for part in text.split(",")]
    ranges = [(int(one[1]), int(one[2] or one[1])) for one in matches if one is not None]
    is_good = len(ranges) == len(matches) and all(1 <= low <= high for low, high in ranges)
    if not is_good or sum(high - low + 1 for low, high in ranges) > MAX_NUMBERS:
        raise ValueError(
            f"-k must be numbers and ranges such as 2-10,20,50, at most {MAX_NUMBERS:,} numbers. Got "
            f"{text!r}."
        )
    return sorted({k for low, high in ranges for k in range(low, high + 1)})


def _listing(result: Result, found: Scan) -> str:
    n, n_all = result["n_rows"], result["n_rows_of_file"]
    of_all = "" if n == n_all else f" of {n_all:,}"
    return f"{n:,}{of_all} rows of {result['n_features']:,} features\n\n{found}"
