"""`boostkmeans sample`: choose rows that represent the clusters of a model."""

from contextlib import ExitStack
from enum import StrEnum
from typing import Annotated, Any

import typer

from boostkmeans.cli.command import Result, command
from boostkmeans.cli.errors import print_message
from boostkmeans.cli.files.input import input_files
from boostkmeans.cli.files.model_input import read_model
from boostkmeans.cli.files.output import (
    STDOUT,
    Output,
    check_outputs,
    check_stdout_conflict,
)
from boostkmeans.cli.files.row_list import check_row_list, write_row_list
from boostkmeans.cli.listing import two_columns
from boostkmeans.cli.option_groups import expand_option_groups
from boostkmeans.cli.options import CommonOptions, InputOptions, ModelPath, RunOptions
from boostkmeans.curate import Coverage, coverage, fit_levels
from boostkmeans.curate import sample as sample_rows
from boostkmeans.curate._samples.clustered_rows import AssignedModel
from boostkmeans.io import Vectors

Method = StrEnum("Method", ["hierarchical", "uniform", "central", "diverse"])


@expand_option_groups
def sample(
    model_path: ModelPath,
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH...]",
            help="Files of vectors, one per row. Not needed if the model contains the labels of its "
            "rows, except for the methods central and diverse.",
        ),
    ] = None,
    n_rows: Annotated[
        int, typer.Option("--rows", "-n", min=1, metavar="N", help="Number of rows of the sample.")
    ] = 1000,
    method: Annotated[
        Method,
        typer.Option(
            help="hierarchical: evenly from the clusters of all levels, at random; central: the same, "
            "nearest to the centres; diverse: the same, far from each other; uniform: at random from "
            "all rows."
        ),
    ] = Method.hierarchical,
    levels: Annotated[
        str | None,
        typer.Option(
            metavar="K,K",
            help="Numbers of clusters of the levels above the model's clusters, e.g. 10,100 (default: a "
            "tenth of the clusters, a hundredth, and so on, at least 10; an empty text for one level).",
        ),
    ] = None,
    resample: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Cluster the vectors again, with as many clusters as the model and with N resamplings "
            "at each of the --levels. The sample then covers the space more evenly, but not always the "
            "topics.",
        ),
    ] = None,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File for the row numbers, which start at 0: .txt, .npy, .csv or .parquet (default: "
            "standard output; none with --json). With --id, a .txt file has ids, and tables have both.",
        ),
    ] = "",
    *,
    run_options: RunOptions,
    input_options: InputOptions,
    common: CommonOptions,
) -> None:
    """\b
    Examples:
      boostkmeans sample model.safetensors vectors.npy -n 1000 -o rows.txt
      boostkmeans sample model.safetensors vectors.npy -n 100 --method central
      boostkmeans sample model.safetensors 'emb-*.parquet' --id id -n 500 -o ids.txt

    Choose rows that represent the clusters of a model, and report how well they cover the clusters: on
    standard output or, if the rows are printed there, in one line on standard error. Small clusters
    contribute as many rows as large ones, as far as they have them.
    """
    with command(common) as run:
        target = _target(output, common)
        check_row_list("--output", target, has_ids=input_options.id_column is not None)
        check_stdout_conflict("--output", target, as_json=common.as_json)
        inputs = input_files(paths, input_options) if paths else []
        check_outputs({"MODEL": model_path, "PATH": inputs}, {"--output": target})
        wanted = None if levels is None else _parse_levels(levels)
        if input_options.id_column is not None and not paths:
            raise ValueError("--id needs the files of vectors: name them after the model.")
        if resample is not None and (wanted is None or not paths):
            raise ValueError("--resample needs --levels, and the files of vectors after the model.")
        model = read_model(model_path, run_options.threads, paths or [])
        with ExitStack() as opened:
            vectors: Vectors | None = None
            if paths:
                reading = run.reading(paths, input_options, model=model_path)
                vectors, display = opened.enter_context(reading)
                display.counter("rows")("assigning rows", 0, None)
            clusters: Any
            if resample is not None and wanted is not None:
                clusters = fit_levels(
                    vectors,
                    [len(model.cluster_centers_), *wanted],
                    n_resample=resample,
                    metric=model.metric,
                    random_state=run_options.seed,
                    n_threads=run_options.threads,
                )
                wanted = None  # they are part of the clusters
            else:
                clusters = AssignedModel.of(model, vectors)
            rows = sample_rows(
                clusters,
                n_rows,
                method=method.value,
                X=vectors,
                levels=wanted,
                random_state=run_options.seed,
                n_threads=run_options.threads,
            )
            has_ids = vectors is not None and input_options.id_column is not None
            ids = vectors.ids[rows] if has_ids and vectors is not None else None
        covered = coverage(clusters, rows)
        if target is not None:
            write_row_list(target, rows, ids)
        if target is not None and target.is_stdout:
            print_message(_summary(covered))
        else:
            run.print_result(_result(model_path, method.value, covered, target, rows, ids), _listing)


def _target(output: str, common: CommonOptions) -> Output | None:
    """Return the output of the rows. Without a file, they are printed, unless JSON is printed."""
    if output == "" and common.as_json:
        return None
    return Output(output or STDOUT, common.force)


def _parse_levels(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise ValueError(
            f"--levels must be numbers of clusters with commas, e.g. 10,100. Got {text!r}."
        ) from None


def _result(
    model_path: str, method: str, covered: Coverage, target: Output | None, rows: Any, ids: Any
) -> Result:
    chosen = {} if target is not None else {"rows": rows, **({} if ids is None else {"ids": ids})}
    spreads = {
        name: {
            "n_rows": spread.n_rows,
            "n_clusters": spread.n_clusters,
            "entropy": spread.entropy,
            "effective_clusters": spread.effective_clusters,
            "largest_share": spread.largest_share,
        }
        for name, spread in (("before", covered.before), ("after", covered.after))
    }
    files = {} if target is None else {"rows": target.path}
    return {"model": model_path, "method": method, **spreads, **chosen, "files": files}


def _summary(covered: Coverage) -> str:
    """Return the coverage in one line, for standard error."""
    before, after = covered.before, covered.after
    return (
        f"{after.n_rows:,} of {before.n_rows:,} rows, in {after.n_clusters:,} of {before.n_clusters:,} "
        f"clusters; entropy {before.entropy:.3f} -> {after.entropy:.3f} bits, largest share "
        f"{before.largest_share:.2%} -> {after.largest_share:.2%}"
    )


def _listing(result: Result) -> str:
    before, after = result["before"], result["after"]
    return two_columns(
        [
            ("", "all rows -> sample"),
            ("rows", f"{before['n_rows']:,} -> {after['n_rows']:,}"),
            ("clusters", f"{before['n_clusters']:,} -> {after['n_clusters']:,}"),
            ("entropy", f"{before['entropy']:.3f} -> {after['entropy']:.3f} bits"),
            (
                "effective clusters",
                f"{before['effective_clusters']:,.1f} -> {after['effective_clusters']:,.1f}",
            ),
            ("largest share", f"{before['largest_share']:.2%} -> {after['largest_share']:.2%}"),
            *result["files"].items(),
        ]
    )
