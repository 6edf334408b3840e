"""`boostkmeans fit`: clusters of vectors."""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, Any

import typer

from boostkmeans import BisectingBoostKMeans, BoostKMeans, SweepRecord
from boostkmeans.cli import INTERRUPTED, options
from boostkmeans.cli.bar import Shown, joined, short_count, shown_progress
from boostkmeans.cli.checkpoint_file import CheckpointFile
from boostkmeans.cli.column import read_numbers
from boostkmeans.cli.errors import FAILURE, exit_codes, message_of, say
from boostkmeans.cli.estimator import Method, Wanted, candidates, file_of
from boostkmeans.cli.fit_results import FitOutputs, print_summary, summary
from boostkmeans.cli.input import check_side_files, opened
from boostkmeans.cli.output import Output, check_outputs
from boostkmeans.io import Vectors


def fit(
    path: options.VectorsPath,
    clusters: options.Clusters,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="MODEL", help="Where to write the model.")
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Where to write the cluster of each row: .npy, or .txt or .csv with one a line; "
            "- prints only these.",
        ),
    ] = None,
    centers: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Where to write the centres: .npy, .fvecs, .fbin, .parquet."),
    ] = None,
    method: Annotated[
        Method,
        typer.Option(help="k-way is best; bisecting is fastest; refined is a tree, then sweeps."),
    ] = Method.K_WAY,
    quality: Annotated[
        options.Quality | None, typer.Option(help="How much effort. By default balanced.")
    ] = None,
    init: Annotated[
        str | None,
        typer.Option(
            metavar="START",
            help="auto, random-partition, random, k-means++, sampled-k-means++, bisecting, or a file of "
            "centres.",
        ),
    ] = None,
    metric: Annotated[
        options.Metric | None, typer.Option(help="By default euclidean; cosine is by direction.")
    ] = None,
    n_candidates: Annotated[
        str | None,
        typer.Option(
            "--candidates", metavar="N", help="Clusters that a row looks at: a number, auto or all."
        ),
    ] = None,
    n_init: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Runs, of which the best is kept.")
    ] = None,
    max_iter: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Sweeps at most. By default 100.")
    ] = None,
    tol: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            metavar="SHARE",
            help="Stop when a sweep gains less than this share. By default 1e-4; 0 goes on to a "
            "certified optimum.",
        ),
    ] = None,
    max_time: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Seconds after which to stop.")
    ] = None,
    min_size: Annotated[
        float | None, typer.Option(metavar="ROWS", help="Rows of a cluster at least.")
    ] = None,
    max_size: Annotated[
        float | None, typer.Option(metavar="ROWS", help="Rows of a cluster at most.")
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A weight for each row: a vector in .npy, or one a line."),
    ] = None,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    max_memory: options.MaxMemory = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Keep the state of the fit in this file. It is removed once all results are written, "
            "unless --max-time stopped the fit.",
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on from the checkpoint, if it is there; results that are there are replaced.",
        ),
    ] = False,
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
      boostkmeans fit vectors.fvecs -k 10000 -o model.st --labels labels.npy
      boostkmeans fit vectors.npy -k 256 --quality best --centers centers.fvecs
      boostkmeans fit table.parquet --key embedding -k 100 --metric cosine
      boostkmeans fit huge.bvecs -k 1000 --checkpoint fit.ckpt --resume -o model.st
      boostkmeans fit points.csv -k 10 --min-size 20 --weights weights.csv
      zcat points.csv.gz | boostkmeans fit - -k 5

    Clusters vectors by boost k-means, and prints how well that went.

    Vectors that do not fit into memory are read from their file in each sweep. The first Ctrl-C ends the
    fit and writes the best partition so far (exit code 130), the second one ends at once; SIGTERM and
    SIGHUP do the same. With --checkpoint, a fit that was stopped in whatever way goes on by the same
    command with --resume, and ends as if it had never been stopped.
    """
    with exit_codes(debug=debug):
        kept = CheckpointFile(checkpoint, resume, force)
        kept.check()
        outputs = FitOutputs(*(None if to is None else Output(to, force or kept.goes_on)
                               for to in (output, labels, centers)))  # fmt: skip
        outputs.check()
        check_side_files({"--weights": weights, "--init": init})
        inputs = {"PATH": path, "--weights": weights, "--init": file_of(init)}
        to_checkpoint = None if checkpoint is None else Output(checkpoint, force=True)
        check_outputs(inputs, {**outputs.named(), "--checkpoint": to_checkpoint})
        if as_json and outputs.prints_labels:
            raise ValueError("--json and --labels - both want standard output: write one to a file.")
        model = Wanted(
            method,
            clusters,
            {
                "init": init, "quality": None if quality is None else quality.value,
                "metric": None if metric is None else metric.value,
                "n_candidates": candidates(n_candidates), "n_init": n_init, "max_iter": max_iter,
                "tol": tol, "max_time": max_time, "min_size": min_size, "max_size": max_size,
                "random_state": seed, "n_threads": threads, "checkpoint": checkpoint,
            },
        ).estimator()  # fmt: skip
        row_weights = None if weights is None else read_numbers(weights)
        began = time.perf_counter()
        with (
            shown_progress(verbose=verbose) as shown,
            opened(
                path, shown, input_format=input_format, key=key, header=header, max_memory=max_memory
            ) as vectors,
        ):
            tell = _telling(shown, model, vectors.shape[0], row_weights)
            model.set_params(verbose=shown.verbose, callback=tell)
            with kept.prepared():
                whole = _fitted(model, vectors, row_weights)
            if not hasattr(model, "labels_"):
                _say_nothing_written(kept)
                raise typer.Exit(INTERRUPTED)
        # What was of use to the fit alone is not for whoever loads the model.
        model.set_params(callback=None, checkpoint=None, verbose=0)
        seconds = time.perf_counter() - began
        failures = outputs.write(model)
        for error in failures.values():
            say(message_of(error))
        files = {name: one for name, one in outputs.files.items() if name not in failures}
        if not whole:
            _say_interrupted(files, outputs, kept)
        elif failures:
            if kept.is_there:
                say("not all results are written" + _how_to_go_on(kept))
        elif model.stop_reason_ != "max_time":
            kept.remove()
        elif kept.is_there:
            say("stopped by --max-time" + _how_to_go_on(kept))
        if not outputs.prints_labels:
            print_summary(summary(vectors, model, method.value, seconds, files), as_json=as_json)
        if failures:
            raise typer.Exit(FAILURE)
        if not whole:
            raise typer.Exit(INTERRUPTED)


def _fitted(model: BoostKMeans | BisectingBoostKMeans, vectors: Vectors, weights: Any) -> bool:
    """Fits the model. False if that was interrupted: then it has the best so far, if there is any."""
    try:
        model.fit(vectors, sample_weight=weights)
    except KeyboardInterrupt:
        return False
    return True


def _telling(shown: Shown, model: Any, n_rows: int, weights: Any) -> Callable[[SweepRecord], None]:
    """A callback that shows each sweep."""
    total = float(n_rows if weights is None else weights.sum()) or 1.0
    most = getattr(model, "max_iter", 0) * model.n_init
    max_time = getattr(model, "max_time", None)
    began = time.monotonic()
    n_sweeps, last = 0, 0.0

    def tell(record: SweepRecord) -> None:
        nonlocal n_sweeps, last
        n_sweeps += 1
        rate = short_count(n_rows / max(record.seconds - last, 1e-9))
        last = record.seconds
        parts = [
            f"sweep {n_sweeps:,}" + (f" of at most {most:,}" if n_sweeps <= most else ""),
            f"distortion {record.inertia / total:.6g}",
            f"{short_count(record.moves)} moves",
            f"{rate} rows/s",
        ]
        if max_time is not None:
            left = round(max(0.0, max_time - (time.monotonic() - began)))
            parts.insert(1, f"{left} s left" if left < 60 else f"{timedelta(seconds=left)} left")
        shown.describe(joined(parts, shown.width))

    return tell


def _say_nothing_written(kept: CheckpointFile) -> None:
    say("interrupted before there was a partition: nothing is written" + _how_to_go_on(kept))


def _say_interrupted(files: dict[str, str], outputs: FitOutputs, kept: CheckpointFile) -> None:
    places = [*files.values(), *(["standard output"] if outputs.prints_labels else [])]
    if places:
        text = f"the best partition so far is written to {', '.join(places)}"
    elif outputs.files:
        text = "nothing could be written"
    else:
        text = "nothing was to be written: give -o or --labels"
    say(f"interrupted: {text}{_how_to_go_on(kept)}")


def _how_to_go_on(kept: CheckpointFile) -> str:
    return "; the same command with --resume goes on" if kept.is_there else ""
