"""`boostkmeans fit`: cluster vectors."""

import time
from contextlib import ExitStack
from functools import partial
from typing import Annotated, Any

import typer

from boostkmeans.cli.command import command
from boostkmeans.cli.commands.fit.checkpoint_file import CheckpointFile
from boostkmeans.cli.commands.fit.engine import EngineOptions, open_engine_input
from boostkmeans.cli.commands.fit.options import CheckpointOptions, FitSettings, OutputOptions
from boostkmeans.cli.commands.fit.request import Estimator, FitRequest, init_file
from boostkmeans.cli.commands.fit.results import FitOutputs, fit_listing, summarize_fit
from boostkmeans.cli.commands.fit.sweep_reporter import SweepReporter
from boostkmeans.cli.errors import message_of, print_message
from boostkmeans.cli.exit_codes import FAILURE, INTERRUPTED
from boostkmeans.cli.files.column_input import read_numbers
from boostkmeans.cli.files.input import check_side_files, input_files, open_input
from boostkmeans.cli.files.output import check_outputs, stdout_conflict
from boostkmeans.cli.files.page_output import typed_command
from boostkmeans.cli.option_groups import expand_option_groups
from boostkmeans.cli.options import (
    ClustersIfGiven,
    CommonOptions,
    InputOptions,
    RunOptions,
    VectorsPaths,
)

# Message at the beginning of a fit without output files.
NOTHING_SAVED = "no output is named, so nothing will be saved: use -o for the model, or --labels"


@expand_option_groups
def fit(
    context: typer.Context,
    paths: VectorsPaths,
    clusters: ClustersIfGiven = None,
    *,
    output_options: OutputOptions,
    settings: FitSettings,
    weights: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="File with one weight per row: .npy, or one per line."),
    ] = None,
    run_options: RunOptions,
    checkpoint_options: CheckpointOptions,
    engine_options: EngineOptions,
    input_options: InputOptions,
    common: CommonOptions,
) -> None:
    """\b
    Examples:
      boostkmeans fit vectors.fvecs -k 10000 -o model.st --labels labels.npy
      boostkmeans fit vectors.npy -k 256 --quality best --centers centers.fvecs
      boostkmeans fit table.parquet --key embedding -k 100 --metric cosine
      boostkmeans fit 'emb-*.parquet' -k 100 --key embedding --id id --labels out/
      boostkmeans fit huge.bvecs -k 1000 --checkpoint fit.ckpt --resume -o model.st
      boostkmeans fit vectors.npy --leaf-size 1000 -o model.st
      boostkmeans fit points.csv -k 10 --min-size 20 --weights weights.csv
      boostkmeans fit 'emb-*.parquet' -k 10000 --key embedding --engine dask
      zcat points.csv.gz | boostkmeans fit - -k 5

    Cluster vectors by boost k-means, and print a summary. Several files are one data set.

    Vectors that do not fit into memory are read from the file in each sweep. The first Ctrl-C stops the
    fit and writes the best partition so far (exit code 130); the second one quits immediately. SIGTERM
    and SIGHUP act like Ctrl-C. With --checkpoint, an interrupted fit continues when the same command is
    run with --resume, and gives the result of an uninterrupted fit.

    With --engine, the files are shards of a fit on Dask or Ray. The number of workers does not change
    the labels.
    """
    with command(common) as run:
        checkpoint = CheckpointFile.from_options(checkpoint_options, force=common.force)
        outputs = FitOutputs.from_options(
            output_options,
            input_options.id_column,
            command=typed_command(context),
            force=common.force or checkpoint.continues,
        )
        if common.as_json and outputs.prints_labels:
            raise stdout_conflict("--labels")
        check_side_files({"--weights": weights, "--init": settings.init})
        inputs = input_files(paths, input_options)
        check_outputs(
            {"PATH": inputs, "--weights": weights, "--init": init_file(settings.init)},
            {**outputs.by_option(inputs), "--checkpoint": checkpoint.as_output()},
        )
        if outputs.saves_nothing and not common.as_json:
            print_message(NOTHING_SAVED)
        row_weights = None if weights is None else read_numbers(weights)
        start = time.perf_counter()
        with ExitStack() as opened:
            engine = opened.enter_context(engine_options.connected())
            request = FitRequest(clusters, settings, run_options, checkpoint.path, engine)
            build_estimator = request.prepare()
            with run.progress() as display:
                rows: Any = None if engine is None else open_engine_input(inputs, input_options)
                vectors = opened.enter_context(open_input(paths, display, input_options))
                reporter = SweepReporter(
                    display, len(vectors), row_weights, request.max_sweeps, settings.max_time
                )
                model = build_estimator(verbose=display.verbose, callback=reporter)
                with checkpoint.prepared():
                    is_complete = _fit_model(model, vectors if rows is None else rows, row_weights)
            if not hasattr(model, "labels_"):
                print_message(
                    f"interrupted before the first partition: nothing was written{checkpoint.advice}"
                )
                raise typer.Exit(INTERRUPTED)
            model = model if engine is None else model.to_local()
            seconds = time.perf_counter() - start
            # The vectors are still open: label files may contain their ids.
            # The saved model should not contain parameters that only affect this run.
            model.set_params(callback=None, checkpoint=None, verbose=0)
            failures = outputs.write(model, vectors, partial(run.reporting, "rows"))
            files = {name: path for name, path in outputs.files.items() if name not in failures}
            _conclude(model, outputs, checkpoint, files, failures, is_complete=is_complete)
        if not outputs.prints_labels:
            result = summarize_fit(vectors, model, settings.method.value, seconds, files)
            run.print_result(result, fit_listing)
        if failures or not is_complete:
            raise typer.Exit(FAILURE if failures else INTERRUPTED)


def _fit_model(model: Estimator, vectors: Any, weights: Any) -> bool:
    """Fit the model. Return False if it was interrupted; it then has the best partition so far."""
    try:
        model.fit(vectors, sample_weight=weights)
    except KeyboardInterrupt:
        return False
    return True


def _conclude(
    model: Estimator,
    outputs: FitOutputs,
    checkpoint: CheckpointFile,
    files: dict[str, str],
    failures: dict[str, Exception],
    *,
    is_complete: bool,
) -> None:
    """Print messages about incomplete results, and remove the checkpoint if nothing is missing."""
    for error in failures.values():
        print_message(message_of(error))
    if not is_complete:
        _print_interrupted(files, outputs, checkpoint)
    elif failures:
        if checkpoint.exists:
            print_message(f"not all results were written{checkpoint.advice}")
    elif model.stop_reason_ != "max_time":
        checkpoint.remove()
    elif checkpoint.exists:
        print_message(f"stopped by --max-time{checkpoint.advice}")


def _print_interrupted(files: dict[str, str], outputs: FitOutputs, checkpoint: CheckpointFile) -> None:
    places = [*files.values(), *(["standard output"] if outputs.prints_labels else [])]
    if places:
        text = f"the best partition so far was written to {', '.join(places)}"
    elif outputs.files:
        text = "nothing could be written"
    else:
        text = "no output file was given; use -o or --labels"
    print_message(f"interrupted: {text}{checkpoint.advice}")
