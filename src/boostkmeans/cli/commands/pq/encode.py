"""`boostkmeans pq encode`: write the codes of vectors."""

import time
from typing import Annotated

import numpy as np
import typer

from boostkmeans.cli.command import Result, command
from boostkmeans.cli.commands.pq.listing import compression_values, format_code
from boostkmeans.cli.commands.pq.options import QuantizerPath
from boostkmeans.cli.files.model_input import read_quantizer
from boostkmeans.cli.files.output import (
    Output,
    check_ending,
    check_outputs,
    main_output,
    require_file,
)
from boostkmeans.cli.files.row_writer import row_writer
from boostkmeans.cli.listing import format_measure, two_columns
from boostkmeans.cli.option_groups import expand_option_groups
from boostkmeans.cli.options import CommonOptions, InputOptions, Threads, VectorsPath
from boostkmeans.io import check_memory
from boostkmeans.quantization import code_type

# Endings of files that store bytes only.
BYTE_ENDINGS = (".bvecs", ".u8bin")


@expand_option_groups
def encode(
    quantizer_path: QuantizerPath,
    path: VectorsPath,
    target: Annotated[
        str | None, typer.Argument(metavar="CODES", help="File for the codes, or -o FILE.")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="File for the codes: .npy, .bvecs or .u8bin."
        ),
    ] = None,
    with_distortion: Annotated[
        bool, typer.Option("--distortion", help="Also measure the mean squared error of the codes.")
    ] = False,
    threads: Threads = None,
    *,
    input_options: InputOptions,
    common: CommonOptions,
) -> None:
    """\b
    Examples:
      boostkmeans pq encode quantizer.st vectors.fvecs -o codes.npy
      boostkmeans pq encode quantizer.st vectors.fvecs -o codes.bvecs --distortion

    Write the code of each vector, in batches: the file may be larger than memory. A .npy file has the
    type uint8, or uint16 for more than 256 centroids; the other formats store bytes only.
    """
    with command(common) as run:
        to_file = main_output(target, output, "CODES", force=common.force)
        require_file("CODES", to_file)
        check_ending("CODES", to_file, (".npy", *BYTE_ENDINGS), stdout=False)
        check_outputs({"QUANTIZER": quantizer_path, "PATH": path}, {"CODES": to_file})
        quantizer = read_quantizer(quantizer_path, threads)
        n_subspaces, n_centroids, _ = quantizer.codebooks_.shape
        dtype = np.dtype(code_type(n_centroids))
        _check_type(to_file, n_centroids, dtype)
        with run.reading(path, input_options, model=quantizer_path, dense=True) as (vectors, display):
            check_memory(vectors, n_centroids)
            start, n_rows, n_done, inertia = time.perf_counter(), len(vectors), 0, 0.0
            progress = display.counter("rows")
            progress("encoding", 0, n_rows)
            with row_writer(to_file, (n_rows, n_subspaces), dtype) as write:
                for codes in quantizer.encode_batches(vectors):
                    write(codes)
                    if with_distortion:
                        batch = vectors.between(n_done, n_done + len(codes))
                        inertia += float(quantizer.errors(batch, codes).sum())
                    n_done += len(codes)
                    progress("encoding", n_done, n_rows)
            result = {
                "source": vectors.name,
                "quantizer": quantizer_path,
                "n_rows": n_rows,
                "n_subspaces": n_subspaces,
                "dtype": str(dtype),
                **compression_values(quantizer, vectors),
                "bytes": n_rows * n_subspaces * dtype.itemsize,
                "distortion": inertia / n_rows if with_distortion else None,
                "distortion_of_training": quantizer.distortion_,
                "seconds": time.perf_counter() - start,
                "file": to_file.path,
            }
        run.print_result(result, lambda values: _listing(values, with_distortion))


def _check_type(output: Output, n_centroids: int, dtype: np.dtype[np.unsignedinteger]) -> None:
    if output.ending in BYTE_ENDINGS and dtype != np.uint8:
        raise ValueError(
            f"Codes of {n_centroids:,} centroids do not fit into bytes: CODES must be a .npy file. "
            f"Got {output.path!r}."
        )


def _listing(result: Result, with_distortion: bool) -> str:
    pairs = [
        ("rows", f"{result['n_rows']:,}"),
        ("code", format_code(result)),
        ("bytes", f"{result['bytes']:,}"),
    ]
    if with_distortion:
        pairs.append(("distortion", format_measure(result["distortion"])))
        pairs.append(("in training", format_measure(result["distortion_of_training"])))
    pairs += [("seconds", f"{result['seconds']:.2f}"), ("written to", result["file"])]
    return two_columns(pairs)
