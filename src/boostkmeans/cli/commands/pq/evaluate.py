"""`boostkmeans pq evaluate`: how often a search among codes finds what it should."""

import json
from typing import Annotated, Any

import typer

from boostkmeans import ProductQuantizer
from boostkmeans._runtime.errors import DataFormatError
from boostkmeans.cli import options
from boostkmeans.cli.bar import Shown, shown_progress
from boostkmeans.cli.commands.pq import options as _pq_options
from boostkmeans.cli.commands.pq.files import as_source, opened_dense, read_codes
from boostkmeans.cli.commands.pq.listing import shown_code, sizes_of_code
from boostkmeans.cli.commands.pq.lookup import check_queries
from boostkmeans.cli.commands.pq.measuring import Measuring
from boostkmeans.cli.commands.pq.truth import read_truth
from boostkmeans.cli.errors import exit_codes
from boostkmeans.cli.input import check_memory, check_side_files, is_stream
from boostkmeans.cli.listing import plain, shown_measure, two_columns
from boostkmeans.cli.model_input import read_quantizer
from boostkmeans.cli.output import print_result
from boostkmeans.io import Vectors
from boostkmeans.quantization._codes import Codes

DEPTHS = (1, 2, 5, 10, 20, 50, 100)


def evaluate(
    quantizer_path: _pq_options.QuantizerPath,
    path: options.VectorsPath,
    queries_path: _pq_options.QueriesPath,
    codes_path: Annotated[
        str | None,
        typer.Option("--codes", metavar="FILE", help="Codes of PATH, if they are there already."),
    ] = None,
    truth: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The true neighbours, numbers of rows with the nearest first: .ivecs or .npy, for "
            "example. By default they are found, which takes a comparison of all with all.",
        ),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="R,R,...",
            help="For which R to give the recall. By default 1,2,5,10,20,50,100, as far as there are "
            "rows.",
        ),
    ] = None,
    symmetric: _pq_options.Symmetric = False,
    threads: options.Threads = None,
    max_memory: options.MaxMemory = None,
    input_format: options.InputFormat = None,
    key: options.Key = None,
    queries_key: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="The same as --key, for QUERIES.")
    ] = None,
    truth_key: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="The same as --key, for --truth.")
    ] = None,
    header: options.Header = None,
    as_json: options.AsJson = False,
    verbose: options.Verbose = False,
    debug: options.Debug = False,
) -> None:
    """\b
    Examples:
      boostkmeans pq evaluate quantizer.st vectors.fvecs queries.fvecs
      boostkmeans pq evaluate quantizer.st vectors.npy new.fvecs --truth truth.ivecs
      boostkmeans pq evaluate quantizer.st sift.hdf5 sift.hdf5 --queries-key test

    Encodes the vectors of PATH, searches for the queries among the codes, and says how often the true
    nearest neighbour is among the first R that are found: recall@R. The distortion is the mean squared
    error of the codes.
    """
    with exit_codes(debug=debug):
        depths = None if at is None else _depths(at)
        check_side_files({"QUANTIZER": quantizer_path, "--codes": codes_path, "--truth": truth})
        if is_stream(path) and is_stream(queries_path):
            raise ValueError("PATH and QUERIES cannot both be standard input: name a file for one.")
        quantizer = read_quantizer(quantizer_path, threads)
        with shown_progress(verbose=verbose) as shown:
            queries = _queries(quantizer, queries_path, shown, queries_key, quantizer_path)
            with opened_dense(
                path,
                shown,
                input_format=input_format,
                key=key,
                header=header,
                max_memory=max_memory,
                quantizer=quantizer_path,
            ) as vectors:
                n_rows, n_queries = len(vectors), queries.shape[0]
                check_memory(vectors, n_rows, quantizer.n_centroids, at_once=1)
                wanted = _within(depths, n_rows, vectors.name)
                nearest = None
                if truth is not None:
                    nearest = read_truth(truth, shown, truth_key, n_queries=n_queries, n_rows=n_rows)
                given = None if codes_path is None else _codes_of(codes_path, shown, quantizer, vectors)
                made = {
                    "source": vectors.name,
                    "queries": queries.name,
                    "quantizer": quantizer_path,
                    "n_rows": n_rows,
                    "n_queries": n_queries,
                    **sizes_of_code(quantizer, vectors),
                    "symmetric": symmetric,
                    **Measuring(quantizer, vectors, queries, shown).run(
                        given, nearest, wanted, symmetric=symmetric
                    ),
                }
        made = plain(made)
        print_result(json.dumps(made, allow_nan=False) if as_json else _listing(made))


def _depths(given: str) -> list[int]:
    words = [word.strip() for word in given.split(",")]
    if not all(word.isascii() and word.isdecimal() and int(word) > 0 for word in words):
        raise ValueError(f"--at must be numbers from 1 on, as in 1,10,100. Got {given!r}.")
    return sorted({int(word) for word in words})


def _within(depths: list[int] | None, n_rows: int, source: str) -> list[int]:
    if depths is None:
        return [one for one in DEPTHS if one <= n_rows] or [1]
    if depths[-1] > n_rows:
        raise ValueError(f"--at {depths[-1]} is more than the {n_rows:,} rows of {source}.")
    return depths


def _queries(
    quantizer: ProductQuantizer, path: str, shown: Shown, key: list[str] | None, quantizer_path: str
) -> Any:
    """Checked, and in memory: they are searched for and compared with all rows."""
    with opened_dense(path, shown, key=key, quantizer=quantizer_path) as queries:
        check_queries(quantizer, queries)
        return as_source(queries.load(), queries)


def _codes_of(path: str, shown: Shown, quantizer: ProductQuantizer, vectors: Vectors) -> Codes:
    codes = read_codes(path, shown, quantizer)
    if len(codes) != len(vectors):
        raise DataFormatError(
            f"{path}: {len(codes):,} codes for {len(vectors):,} rows of {vectors.name}. One for each "
            "row is needed."
        )
    return codes


def _listing(made: dict[str, Any]) -> str:
    names = {"encoding": "encoding", "searching": "searching", "truth": "true neighbours"}
    times = [f"{names[name]} {one:.2f}" for name, one in made["seconds"].items() if one is not None]
    return two_columns(
        [
            ("rows", f"{made['n_rows']:,}"),
            ("queries", f"{made['n_queries']:,}"),
            ("code", shown_code(made)),
            ("distortion", shown_measure(made["distortion"])),
            ("in training", shown_measure(made["distortion_of_training"])),
            *((f"recall@{one['at']}", f"{one['recall']:.4f}") for one in made["recall"]),
            ("seconds", ", ".join(times)),
        ]
    )
