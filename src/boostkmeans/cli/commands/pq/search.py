"""`boostkmeans pq search`: find the nearest codes of queries."""

import time
from typing import Annotated, Any

import numpy as np
import typer

from boostkmeans.cli.command import Result, command
from boostkmeans.cli.commands.pq.files import read_codes
from boostkmeans.cli.commands.pq.options import QuantizerPath, QueriesPath, Symmetric
from boostkmeans.cli.files.batch_outputs import BatchOutputs
from boostkmeans.cli.files.input import check_side_files, open_input
from boostkmeans.cli.files.model_input import read_quantizer
from boostkmeans.cli.listing import two_columns
from boostkmeans.cli.option_groups import Without, expand_option_groups
from boostkmeans.cli.options import CommonOptions, InputOptions, Threads
from boostkmeans.quantization import Neighbors, search_batches

INDEX_ENDINGS = (".npy", ".ivecs", ".ibin", ".txt", ".csv")
DISTANCE_ENDINGS = (".npy", ".fvecs", ".fbin", ".txt", ".csv")


@expand_option_groups
def search(
    quantizer_path: QuantizerPath,
    codes_path: Annotated[
        str,
        typer.Argument(metavar="CODES", help="File of codes, written by boostkmeans pq encode."),
    ],
    path: QueriesPath,
    k: Annotated[
        int,
        typer.Option(
            "--neighbors", "-k", min=1, metavar="K", help="Number of codes to find for each query."
        ),
    ] = 10,
    symmetric: Symmetric = False,
    indices: Annotated[
        str | None,
        typer.Option(
            "--indices",
            "--output",
            "-o",
            metavar="FILE",
            help="File for the row numbers of the codes, nearest first: .npy, .ivecs, .ibin, or .txt or "
            ".csv with one line per query (default: standard output, or part of the JSON).",
        ),
    ] = None,
    distances: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File for the squared distances: .npy, .fvecs, .fbin, .txt or .csv.",
        ),
    ] = None,
    threads: Threads = None,
    *,
    input_options: Annotated[InputOptions, Without("max_memory")],
    common: CommonOptions,
) -> None:
    """\b
    Examples:
      boostkmeans pq search quantizer.st codes.npy queries.fvecs -k 10
      boostkmeans pq search quantizer.st codes.npy new.fvecs -o found.ivecs
      cat queries.csv | boostkmeans pq search quantizer.st codes.npy - -k 1

    Compare each query with all codes, and print the row numbers of the nearest codes, counted from 0.
    Distances are squared, and are measured to the vectors that the codes represent.
    """
    with command(common) as run:
        outputs = BatchOutputs.from_options("indices", indices, distances, common)
        check_side_files({"QUANTIZER": quantizer_path, "CODES": codes_path})
        inputs = {"QUANTIZER": quantizer_path, "CODES": codes_path, "QUERIES": path}
        outputs.check(inputs, INDEX_ENDINGS, DISTANCE_ENDINGS)
        quantizer = read_quantizer(quantizer_path, threads)
        batches: list[Neighbors] = []
        with run.progress() as display:
            codes = read_codes(codes_path, display, quantizer)
            if k > len(codes):
                raise ValueError(f"-k {k} is more than the {len(codes):,} codes of {codes_path}.")
            with open_input(path, display, input_options, model=quantizer_path, dense=True) as queries:
                start, n_queries = time.perf_counter(), len(queries)
                found = search_batches(
                    quantizer,
                    queries,
                    codes,
                    k,
                    symmetric=symmetric,
                    progress=display.counter("queries"),
                )
                with outputs.writing((n_queries, k), np.int64, np.float32) as write:
                    for batch in found:
                        write(batch.indices, batch.distances)
                        if common.as_json:
                            batches.append(batch)
            seconds = time.perf_counter() - start
        if outputs.prints_main:
            return
        result = {
            "source": queries.name,
            "quantizer": quantizer_path,
            "codes": codes_path,
            "n_queries": n_queries,
            "n_codes": len(codes),
            "k": k,
            "symmetric": symmetric,
            "seconds": seconds,
            "files": outputs.files,
        }
        for name in ("indices", "distances"):
            result[name] = None if name in outputs.files else _join(batches, name)
        run.print_result(result, _listing)


def _join(batches: list[Neighbors], name: str) -> list[Any]:
    return [row for batch in batches for row in getattr(batch, name).tolist()]


def _listing(result: Result) -> str:
    pairs = [
        ("queries", f"{result['n_queries']:,}"),
        ("codes", f"{result['n_codes']:,}"),
        ("neighbours", f"{result['k']:,} of each query"),
        ("seconds", f"{result['seconds']:.2f}"),
    ]
    return two_columns([*pairs, *result["files"].items()])
