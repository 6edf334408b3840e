"""`boostkmeans convert`: vectors from one format to another."""

import json
import re
from typing import Annotated

import typer

from boostkmeans.cli import options
from boostkmeans.cli.bar import shown_progress
from boostkmeans.cli.errors import exit_codes
from boostkmeans.cli.input import opened
from boostkmeans.cli.listing import two_columns
from boostkmeans.cli.output import STDOUT, Output, check_outputs, print_result, writing_to
from boostkmeans.io import write_vectors

ROWS = re.compile(r"(\d*):(\d*)", re.ASCII)


def convert(
    path: Annotated[str, typer.Argument(metavar="IN", help="Vectors in any format; - is stdin.")],
    target: Annotated[
        str,
        typer.Argument(
            metavar="OUT",
            help="Where to: .npy, .fvecs, .ivecs, .bvecs, .fbin, .ibin, .u8bin, .i8bin, .parquet.",
        ),
    ],
    input_format: Annotated[
        options.Format | None,
        typer.Option("--format", metavar="FORMAT", help="What IN is, if its ending does not tell."),
    ] = None,
    to: Annotated[
        options.WritableFormat | None,
        typer.Option(metavar="FORMAT", help="What OUT is, if its ending does not tell."),
    ] = None,
    key: options.Key = None,
    header: options.Header = None,
    rows: Annotated[
        str | None,
        typer.Option(
            metavar="BEGIN:END", help="Only these rows, from 0 on, without END; either may miss."
        ),
    ] = None,
    max_memory: options.MaxMemory = None,
    as_json: options.AsJson = False,
    force: options.Force = False,
    verbose: options.Verbose = False,
    debug: options.Debug = False,
) -> None:
    """\b
    Examples:
      boostkmeans convert vectors.fvecs vectors.npy
      boostkmeans convert sift.hdf5 sample.fvecs --key train --rows 0:100000
      zcat points.csv.gz | boostkmeans convert - points.parquet

    Writes dense vectors in another format, batch by batch: they may be larger than memory. Values stay
    what they are, or an error names the one that would not; only float64 becomes float32 in .fvecs and
    .fbin.
    """
    with exit_codes(debug=debug):
        if target == STDOUT:
            raise ValueError("OUT must be a file: it is binary, and not for standard output.")
        check_outputs({"IN": path}, {"OUT": Output(target, force)})
        with (
            shown_progress(verbose=verbose) as shown,
            opened(
                path, shown, input_format=input_format, key=key, header=header, max_memory=max_memory
            ) as vectors,
        ):
            chosen = vectors if rows is None else vectors.between(*_range(rows, vectors.shape[0]))
            with writing_to(target):
                write_vectors(
                    target,
                    chosen,
                    format=None if to is None else to.value,
                    force=force,
                    progress=shown.counting("rows"),
                )
            n_rows, n_features = chosen.shape
            made = {
                "source": vectors.name,
                "format": vectors.format,
                "n_rows": n_rows,
                "n_features": n_features,
                "file": target,
            }
        pairs = [("rows", f"{n_rows:,}"), ("features", f"{n_features:,}"), ("written to", target)]
        print_result(json.dumps(made) if as_json else two_columns(pairs))


def _range(given: str, n_rows: int) -> tuple[int, int]:
    match = ROWS.fullmatch(given)
    if match is None:
        raise ValueError(f"--rows must be two numbers with a colon, as in 0:1000. Got {given!r}.")
    begin, end = int(match[1] or 0), int(match[2] or n_rows)
    if not begin <= end <= n_rows:
        raise ValueError(f"--rows must lie within the {n_rows:,} rows that there are. Got {given!r}.")
    return begin, end
