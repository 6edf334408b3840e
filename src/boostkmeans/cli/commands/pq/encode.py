"""`boostkmeans pq encode`: the codes of vectors."""

import json
import time
from typing import Annotated, Any

import numpy as np
import typer

from boostkmeans import ProductQuantizer
from boostkmeans.cli import options
from boostkmeans.cli.bar import shown_progress
from boostkmeans.cli.commands.pq import options as _pq_options
from boostkmeans.cli.commands.pq.files import as_source, opened_dense
from boostkmeans.cli.commands.pq.listing import shown_code, sizes_of_code
from boostkmeans.cli.errors import exit_codes
from boostkmeans.cli.input import check_memory
from boostkmeans.cli.listing import plain, shown_measure, two_columns
from boostkmeans.cli.model_input import read_quantizer
from boostkmeans.cli.output import Output, check_outputs, print_result
from boostkmeans.cli.table import check_table, table_writer
from boostkmeans.quantization._codes import code_type

# Files of codes; the second kind are of bytes alone.
ENDINGS, OF_BYTES = (".npy", ".bvecs", ".u8bin"), (".bvecs", ".u8bin")


def encode(
    quantizer_path: _pq_options.QuantizerPath,
    path: options.VectorsPath,
    target: Annotated[
        str, typer.Argument(metavar="CODES", help="Where to write the codes: .npy, .bvecs, .u8bin.")
    ],
    with_distortion: Annotated[
        bool, typer.Option("--distortion", help="Measure the mean squared error of the codes, too.")
    ] = False,
    threads: options.Threads = None,
    max_memory: options.MaxMemory = None,
    input_format: options.InputFormat = None,
    key: options.Key = None,
    header: options.Header = None,
    as_json: options.AsJson = False,
    force: options.Force = False,
    verbose: options.Verbose = False,
    debug: options.Debug = False,
) -> None:
    """\b
    Examples:
      boostkmeans pq encode quantizer.st vectors.fvecs codes.npy
      boostkmeans pq encode quantizer.st vectors.fvecs codes.bvecs --distortion

    Writes the code of each vector, batch by batch: files may be larger than memory. A .npy is of uint8,
    or of uint16 for more than 256 centroids; the others hold bytes alone.
    """
    with exit_codes(debug=debug):
        output = Output(target, force)
        check_table("CODES", output, ENDINGS)
        check_outputs({"QUANTIZER": quantizer_path, "PATH": path}, {"CODES": output})
        quantizer = read_quantizer(quantizer_path, threads)
        m, n_centroids, _ = quantizer.codebooks_.shape
        dtype = np.dtype(code_type(n_centroids))
        if output.ending in OF_BYTES and dtype != np.uint8:
            raise ValueError(
                f"Codes of {n_centroids:,} centroids do not fit into bytes: CODES must be a .npy file. "
                f"Got {target!r}."
            )
        total = 0.0
        with (
            shown_progress(verbose=verbose) as shown,
            opened_dense(
                path,
                shown,
                input_format=input_format,
                key=key,
                header=header,
                max_memory=max_memory,
                quantizer=quantizer_path,
            ) as vectors,
        ):
            began, done, n_rows = time.perf_counter(), 0, len(vectors)
            check_memory(vectors, n_rows, n_centroids, at_once=1)
            show = shown.counting("rows")
            show("encoding", 0, n_rows)
            with table_writer(output, (n_rows, m), dtype) as write:
                for codes in quantizer.encode_batches(vectors):
                    write(codes)
                    if with_distortion:
                        total += _squares(quantizer, vectors, done, codes)
                    done += len(codes)
                    show("encoding", done, n_rows)
            made = plain(
                {
                    "source": vectors.name,
                    "quantizer": quantizer_path,
                    "n_rows": n_rows,
                    "n_subspaces": m,
                    "dtype": str(dtype),
                    **sizes_of_code(quantizer, vectors),
                    "bytes": n_rows * m * dtype.itemsize,
                    "distortion": total / n_rows if with_distortion else None,
                    "distortion_of_training": quantizer.distortion_,
                    "seconds": time.perf_counter() - began,
                    "file": target,
                }
            )
        print_result(json.dumps(made, allow_nan=False) if as_json else _listing(made, with_distortion))


def _squares(quantizer: ProductQuantizer, vectors: Any, begin: int, codes: Any) -> float:
    """Of the errors of these codes. The rows are read again, which were read a moment ago."""
    rows = vectors.read(begin, begin + len(codes))
    return float(quantizer.errors(as_source(rows, vectors), codes).sum())


def _listing(made: dict[str, Any], with_distortion: bool) -> str:
    pairs = [
        ("rows", f"{made['n_rows']:,}"),
        ("code", shown_code(made)),
        ("bytes", f"{made['bytes']:,}"),
    ]
    if with_distortion:
        pairs.append(("distortion", shown_measure(made["distortion"])))
        pairs.append(("in training", shown_measure(made["distortion_of_training"])))
    return two_columns([*pairs, ("seconds", f"{made['seconds']:.2f}"), ("written to", made["file"])])
