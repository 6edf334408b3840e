"""`boostkmeans pq evaluate`: measure the recall and the distortion of a quantizer."""

from typing import Annotated

import typer

from boostkmeans import DataFormatError, ProductQuantizer
from boostkmeans.cli.command import Result, command
from boostkmeans.cli.commands.pq.files import read_codes, read_truth
from boostkmeans.cli.commands.pq.listing import compression_values, format_code
from boostkmeans.cli.commands.pq.options import QuantizerPath, QueriesPath, Symmetric
from boostkmeans.cli.files.input import check_side_files, is_stream, open_input
from boostkmeans.cli.files.model_input import read_quantizer
from boostkmeans.cli.files.result_output import TableFile
from boostkmeans.cli.listing import format_measure, two_columns
from boostkmeans.cli.option_groups import expand_option_groups
from boostkmeans.cli.options import CommonOptions, InputOptions, Threads, VectorsPath
from boostkmeans.cli.progress_display import ProgressDisplay
from boostkmeans.io import Vectors, check_memory
from boostkmeans.metrics import evaluate_search
from boostkmeans.quantization import Codes

# Default numbers of results for which the recall is measured.
DEPTHS = (1, 2, 5, 10, 20, 50, 100)
# Names of the steps in the listing.
STEPS = {"encoding": "encoding", "searching": "searching", "truth": "true neighbours"}


@expand_option_groups
def evaluate(
    quantizer_path: QuantizerPath,
    path: VectorsPath,
    queries_path: QueriesPath,
    codes_path: Annotated[
        str | None,
        typer.Option(
            "--codes", metavar="FILE", help="File of the codes of PATH (default: PATH is encoded)."
        ),
    ] = None,
    truth: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File of the true neighbours: row numbers, nearest first, e.g. .ivecs or .npy "
            "(default: found by comparing all queries with all rows).",
        ),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="R,R,...",
            help="Numbers of results for which to measure the recall (default: 1,2,5,10,20,50,100, up "
            "to the number of rows).",
        ),
    ] = None,
    symmetric: Symmetric = False,
    output: TableFile = None,
    threads: Threads = None,
    queries_key: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Like --key, for QUERIES.")
    ] = None,
    truth_key: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Like --key, for --truth.")
    ] = None,
    *,
    input_options: InputOptions,
    common: CommonOptions,
) -> None:
    """\b
    Examples:
      boostkmeans pq evaluate quantizer.st vectors.fvecs queries.fvecs
      boostkmeans pq evaluate quantizer.st vectors.npy new.fvecs --truth truth.ivecs
      boostkmeans pq evaluate quantizer.st sift.hdf5 sift.hdf5 --queries-key test

    Encode the vectors of PATH, search for the queries among the codes, and print recall@R: the share of
    queries whose true nearest neighbour is among the first R results. The distortion is the mean squared
    error of the codes.
    """
    with command(common) as run:
        depths = None if at is None else _parse_depths(at)
        report = run.result_output(output, lambda result: list(result["recall"]))
        report.check({"QUANTIZER": quantizer_path, "PATH": path, "QUERIES": queries_path})
        check_side_files({"QUANTIZER": quantizer_path, "--codes": codes_path, "--truth": truth})
        if is_stream(path) and is_stream(queries_path):
            raise ValueError("PATH and QUERIES cannot both be standard input: use a file for one.")
        quantizer = read_quantizer(quantizer_path, threads)
        query_options = InputOptions(key=queries_key)
        with (
            run.progress() as display,
            open_input(
                queries_path, display, query_options, model=quantizer_path, dense=True
            ) as queries,
        ):
            for _ in quantizer.encode_batches(queries):
                pass  # errors about the queries are raised here, with the name of their file
            with open_input(path, display, input_options, model=quantizer_path, dense=True) as vectors:
                check_memory(vectors, quantizer.n_centroids)
                depths = _limit_depths(depths, vectors)
                nearest, codes = None, None
                if truth is not None:
                    sizes = {"n_queries": len(queries), "n_rows": len(vectors)}
                    nearest = read_truth(truth, display, truth_key, **sizes)
                if codes_path is not None:
                    codes = _read_codes_of(codes_path, display, quantizer, vectors)
                measured = evaluate_search(
                    quantizer,
                    vectors,
                    queries,
                    depths,
                    codes=codes,
                    truth=nearest,
                    symmetric=symmetric,
                    progress=display.counter("rows"),
                )
                result = {
                    "source": vectors.name,
                    "queries": queries.name,
                    "quantizer": quantizer_path,
                    "n_rows": len(vectors),
                    "n_queries": len(queries),
                    **compression_values(quantizer, vectors),
                    "symmetric": symmetric,
                    "distortion": measured.distortion,
                    "distortion_of_training": quantizer.distortion_,
                    "recall": [{"at": r, "recall": one} for r, one in measured.recall.items()],
                    "seconds": measured.seconds,
                }
        run.print_result(result, _listing, report)


def _parse_depths(text: str) -> list[int]:
    words = [word.strip() for word in text.split(",")]
    if not all(word.isascii() and word.isdecimal() and int(word) > 0 for word in words):
        raise ValueError(f"--at must be integers of at least 1, e.g. 1,10,100. Got {text!r}.")
    return sorted({int(word) for word in words})


def _limit_depths(depths: list[int] | None, vectors: Vectors) -> list[int]:
    """Return the depths, by default those up to the number of rows."""
    n_rows = len(vectors)
    if depths is None:
        return [depth for depth in DEPTHS if depth <= n_rows] or [1]
    if depths[-1] > n_rows:
        raise ValueError(f"--at {depths[-1]} is more than the {n_rows:,} rows of {vectors.name}.")
    return depths


def _read_codes_of(
    path: str, display: ProgressDisplay, quantizer: ProductQuantizer, vectors: Vectors
) -> Codes:
    codes = read_codes(path, display, quantizer)
    if len(codes) != len(vectors):
        raise DataFormatError(
            f"{len(codes):,} codes for {len(vectors):,} rows of {vectors.name}. One code per row is "
            "needed.",
            file=path,
        )
    return codes


def _listing(result: Result) -> str:
    times = result["seconds"].items()
    return two_columns(
        [
            ("rows", f"{result['n_rows']:,}"),
            ("queries", f"{result['n_queries']:,}"),
            ("code", format_code(result)),
            ("distortion", format_measure(result["distortion"])),
            ("in training", format_measure(result["distortion_of_training"])),
            *((f"recall@{one['at']}", f"{one['recall']:.4f}") for one in result["recall"]),
            ("seconds", ", ".join(f"{STEPS[name]} {one:.2f}" for name, one in times if one is not None)),
        ]
    )
