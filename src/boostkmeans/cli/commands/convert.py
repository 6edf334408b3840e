"""`boostkmeans convert`: write vectors in another format."""

import re
from typing import Annotated

import typer

from boostkmeans.cli.command import Result, command
from boostkmeans.cli.errors import rename_options
from boostkmeans.cli.files.input import input_files
from boostkmeans.cli.files.output import check_outputs, main_output, require_file, writing_to
from boostkmeans.cli.listing import two_columns
from boostkmeans.cli.option_groups import expand_option_groups
from boostkmeans.cli.options import CommonOptions, InputOptions, WritableFormat, value_of
from boostkmeans.io import write_vectors

ROW_RANGE = re.compile(r"(\d*):(\d*)", re.ASCII)


@expand_option_groups
def convert(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="IN... [OUT]",
            help="File of vectors in any format; - is standard input. Several files, a folder, or a "
            "quoted pattern such as 'emb-*.parquet', are joined. Without -o, the last one is the file "
            "to write.",
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="File to write: .npy, .fvecs, .ivecs, .bvecs, .fbin, .ibin, .u8bin, .i8bin, .parquet.",
        ),
    ] = None,
    to: Annotated[
        WritableFormat | None,
        typer.Option(metavar="FORMAT", help="Format of OUT (default: by the file name)."),
    ] = None,
    rows: Annotated[
        str | None,
        typer.Option(metavar="BEGIN:END", help="Row range, 0-based, END excluded; both are optional."),
    ] = None,
    *,
    input_options: InputOptions,
    common: CommonOptions,
) -> None:
    """\b
    Examples:
      boostkmeans convert vectors.fvecs vectors.npy
      boostkmeans convert a.npy b.npy -o both.npy
      boostkmeans convert sift.hdf5 sample.fvecs --key train --rows 0:100000
      boostkmeans convert 'emb-*.parquet' --key embedding all.npy
      boostkmeans convert 'emb-*.parquet' --id id all.parquet
      zcat points.csv.gz | boostkmeans convert - points.parquet

    Write dense vectors in another format, in batches: the file may be larger than memory. A value that
    the new format cannot store exactly is an error, except that float64 becomes float32 in .fvecs
    and .fbin. With --id, OUT is a .parquet file that has this column, too.
    """
    with command(common) as run:
        inputs, last = (paths, None) if output is not None or len(paths) < 2 else (paths[:-1], paths[-1])
        to_file = main_output(last, output, "OUT", force=common.force)
        target = to_file.path
        require_file("OUT", to_file)
        check_outputs({"IN": input_files(inputs, input_options)}, {"OUT": to_file})
        with run.reading(inputs, input_options) as (vectors, display):
            chosen = vectors
            if rows is not None:
                chosen = vectors.between(*_parse_range(rows, len(vectors)))
            with writing_to(target), rename_options(format="--to"):
                write_vectors(
                    target,
                    chosen,
                    format=value_of(to),
                    id_column=input_options.id_column,
                    force=common.force,
                    progress=display.counter("rows"),
                )
            result = {
                "source": vectors.name,
                "format": vectors.format,
                "n_rows": chosen.shape[0],
                "n_features": chosen.shape[1],
                "file": target,
            }
        run.print_result(result, _listing)


def _parse_range(text: str, n_rows: int) -> tuple[int, int]:
    match = ROW_RANGE.fullmatch(text)
    if match is None:
        raise ValueError(f"--rows must be two integers with a colon, e.g. 0:1000. Got {text!r}.")
    begin, end = int(match[1] or 0), int(match[2] or n_rows)
    if not begin <= end <= n_rows:
        raise ValueError(f"--rows must lie within the {n_rows:,} rows of the file. Got {text!r}.")
    return begin, end


def _listing(result: Result) -> str:
    return two_columns(
        [
            ("rows", f"{result['n_rows']:,}"),
            ("features", f"{result['n_features']:,}"),
            ("written to", result["file"]),
        ]
    )
