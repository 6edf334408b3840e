"""`boostkmeans pq search`: the codes that are nearest to queries."""

import json
import time
from contextlib import ExitStack
from typing import Annotated, Any

import numpy as np
import typer

from boostkmeans.cli import options
from boostkmeans.cli.bar import shown_progress
from boostkmeans.cli.commands.pq import options as _pq_options
from boostkmeans.cli.commands.pq.files import opened_dense, read_codes
from boostkmeans.cli.commands.pq.lookup import check_queries, found_by_batches
from boostkmeans.cli.errors import exit_codes
from boostkmeans.cli.input import check_side_files
from boostkmeans.cli.listing import plain, two_columns
from boostkmeans.cli.model_input import read_quantizer
from boostkmeans.cli.output import STDOUT, Output, check_outputs, print_result
from boostkmeans.cli.table import check_table, table_writer
from boostkmeans.quantization import Neighbors

INDEX_ENDINGS = (".npy", ".ivecs", ".ibin", ".txt", ".csv")
DISTANCE_ENDINGS = (".npy", ".fvecs", ".fbin", ".txt", ".csv")


def search(
    quantizer_path: _pq_options.QuantizerPath,
    codes_path: Annotated[
        str, typer.Argument(metavar="CODES", help="Codes, as boostkmeans pq encode writes them.")
    ],
    path: _pq_options.QueriesPath,
    k: Annotated[
        int, typer.Option("--neighbors", "-k", min=1, metavar="K", help="Codes to find for a query.")
    ] = 10,
    symmetric: _pq_options.Symmetric = False,
    indices: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Where to write the numbers of the codes, nearest first: .npy, .ivecs, .ibin, or .txt "
            "or .csv with a line for each query. By default standard output, or into the JSON.",
        ),
    ] = None,
    distances: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Where to write the squared distances: .npy, .fvecs, .fbin, .txt, .csv.",
        ),
    ] = None,
    threads: options.Threads = None,
    input_format: Annotated[
        options.Format | None,
        typer.Option("--format", metavar="FORMAT", help="What QUERIES is, if its ending does not tell."),
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option("--key", metavar="NAME", help="Which array or column of QUERIES has the vectors."),
    ] = None,
    header: options.Header = None,
    as_json: options.AsJson = False,
    force: options.Force = False,
    verbose: options.Verbose = False,
    debug: options.Debug = False,
) -> None:
    """\b
    Examples:
      boostkmeans pq search quantizer.st codes.npy queries.fvecs -k 10
      boostkmeans pq search quantizer.st codes.npy new.fvecs --indices found.ivecs
      cat queries.csv | boostkmeans pq search quantizer.st codes.npy - -k 1

    Compares each query with all codes, and gives the numbers of those that are nearest, from 0 on.
    Distances are squared, and those between the query and what the code stands for.
    """
    with exit_codes(debug=debug):
        to_indices = Output(STDOUT, force) if indices is None and not as_json else None
        to_indices = to_indices if indices is None else Output(indices, force)
        to_distances = None if distances is None else Output(distances, force)
        _check_options(to_indices, to_distances, as_json)
        check_side_files({"QUANTIZER": quantizer_path, "CODES": codes_path})
        check_outputs(
            {"QUANTIZER": quantizer_path, "CODES": codes_path, "QUERIES": path},
            {"--indices": to_indices, "--distances": to_distances},
        )
        quantizer = read_quantizer(quantizer_path, threads)
        for_json: list[Neighbors] = []
        with shown_progress(verbose=verbose) as shown:
            codes = read_codes(codes_path, shown, quantizer)
            if k > len(codes):
                raise ValueError(f"-k {k} is more than the {len(codes):,} codes of {codes_path}.")
            with (
                opened_dense(
                    path,
                    shown,
                    input_format=input_format,
                    key=key,
                    header=header,
                    quantizer=quantizer_path,
                ) as queries,
                ExitStack() as files,
            ):
                check_queries(quantizer, queries)
                began, shape = time.perf_counter(), (len(queries), k)
                writers = [
                    (files.enter_context(table_writer(output, shape, np.dtype(dtype))), which)
                    for output, dtype, which in (
                        (to_distances, np.float32, 0), (to_indices, np.int64, 1),
                    )
                    if output is not None
                ]  # fmt: skip
                for found in found_by_batches(
                    quantizer, queries, codes, k, symmetric=symmetric, progress=shown.counting("queries")
                ):
                    # Who has gone away does not stop the others.
                    writers = [(write, which) for write, which in writers if write(found[which])]
                    if not writers and (to_indices or to_distances):
                        raise typer.Exit(0)
                    if as_json:
                        for_json.append(found)
            seconds = time.perf_counter() - began
        if to_indices is not None and to_indices.path == STDOUT:
            return
        written = {"indices": indices, "distances": distances}
        made = {
            "source": queries.name,
            "quantizer": quantizer_path,
            "codes": codes_path,
            "n_queries": shape[0],
            "n_codes": len(codes),
            "k": k,
            "symmetric": symmetric,
            "seconds": seconds,
            "files": {name: one for name, one in written.items() if one is not None},
        }
        if as_json:
            made |= {name: None if one else _joined(for_json, name) for name, one in written.items()}
            print_result(json.dumps(plain(made), allow_nan=False))
        else:
            print_result(_listing(made))


def _check_options(indices: Output | None, distances: Output | None, as_json: bool) -> None:
    check_table("--indices", indices, INDEX_ENDINGS)
    check_table("--distances", distances, DISTANCE_ENDINGS)
    if distances is not None and distances.path == STDOUT:
        raise ValueError("--distances must be a file: standard output is for indices.")
    if as_json and indices is not None and indices.path == STDOUT:
        raise ValueError("--json and --indices - both want standard output: write one to a file.")


def _joined(found: list[Neighbors], name: str) -> list[Any]:
    return [row for part in found for row in getattr(part, name).tolist()]


def _listing(made: dict[str, Any]) -> str:
    pairs = [
        ("queries", f"{made['n_queries']:,}"),
        ("codes", f"{made['n_codes']:,}"),
        ("neighbours", f"{made['k']:,} of each query"),
        ("seconds", f"{made['seconds']:.2f}"),
    ]
    return two_columns([*pairs, *made["files"].items()])
