"""`boostkmeans predict`: the clusters of new vectors."""

import json
from contextlib import ExitStack
from typing import Annotated, Any

import numpy as np
import typer

from boostkmeans.cli import options
from boostkmeans.cli.bar import shown_progress
from boostkmeans.cli.column import check_column, column_writer
from boostkmeans.cli.errors import exit_codes
from boostkmeans.cli.input import check_memory, opened
from boostkmeans.cli.listing import plain, shown_measure, shown_sizes, sizes_of, two_columns
from boostkmeans.cli.model_input import read_model
from boostkmeans.cli.output import STDOUT, Output, check_outputs, print_result


def predict(
    model_path: options.ModelPath,
    path: options.VectorsPath,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Where to write the cluster of each row: .npy, or .txt or .csv with one a line. By "
            "default standard output, or nowhere with --json.",
        ),
    ] = None,
    distances: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Where to write the distance of each row to its centre: .npy, .txt, .csv.",
        ),
    ] = None,
    n_candidates: Annotated[
        int | None,
        typer.Option(
            "--candidates",
            min=1,
            metavar="N",
            help="Look at about so many centres only: faster, nearly the same.",
        ),
    ] = None,
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
      boostkmeans predict model.safetensors new.fvecs --labels labels.npy
      boostkmeans predict model.safetensors new.fvecs --distances distances.npy
      cat new.csv | boostkmeans predict model.safetensors - | sort | uniq -c

    Gives each vector the number of its nearest centre, batch by batch: files may be larger than memory.
    """
    with exit_codes(debug=debug):
        to_labels = Output(STDOUT, force) if labels is None and not as_json else None
        to_labels = to_labels if labels is None else Output(labels, force)
        to_distances = None if distances is None else Output(distances, force)
        _check_options(to_labels, to_distances, as_json)
        check_outputs(
            {"MODEL": model_path, "PATH": path}, {"--labels": to_labels, "--distances": to_distances}
        )
        model = read_model(model_path, threads)
        sizes = np.zeros(len(model.cluster_centers_), dtype=np.int64)
        inertia = 0.0
        with (
            shown_progress(verbose=verbose) as shown,
            opened(
                path,
                shown,
                input_format=input_format,
                key=key,
                header=header,
                max_memory=max_memory,
                model=model_path,
            ) as vectors,
            ExitStack() as files,
        ):
            n_rows, done = vectors.shape[0], 0
            check_memory(vectors, n_rows, len(sizes), at_once=1)
            show = shown.counting("rows")
            show("predicting", 0, n_rows)
            writers = [
                (files.enter_context(column_writer(output, n_rows, dtype)), which)
                for output, dtype, which in (
                    (to_distances, np.float64, 1), (to_labels, np.int32, 0),
                )
                if output is not None
            ]  # fmt: skip
            for batch in model.predict_batches(vectors, n_candidates=n_candidates):
                sizes += np.bincount(batch[0], minlength=len(sizes))
                inertia += float(np.square(batch[1]).sum())
                # Who has gone away does not stop the others.
                writers = [(write, which) for write, which in writers if write(batch[which])]
                if not writers and (to_labels or to_distances):
                    raise typer.Exit(0)
                done += len(batch[0])
                show("predicting", done, n_rows)
        if to_labels is None or to_labels.path != STDOUT:
            made = _summary(vectors.name, model_path, sizes, inertia, labels, distances)
            print_result(json.dumps(made, allow_nan=False) if as_json else _listing(made))


def _check_options(labels: Output | None, distances: Output | None, as_json: bool) -> None:
    check_column("--labels", labels)
    check_column("--distances", distances)
    if distances is not None and distances.path == STDOUT:
        raise ValueError("--distances must be a file: standard output is for labels.")
    if as_json and labels is not None and labels.path == STDOUT:
        raise ValueError("--json and --labels - both want standard output: write one to a file.")


def _summary(
    source: str, model: str, sizes: Any, inertia: float, labels: str | None, distances: str | None
) -> dict[str, Any]:
    n_rows = int(sizes.sum())
    files = {"labels": labels, "distances": distances}
    made: dict[str, Any] = plain(
        {
            "source": source,
            "model": model,
            "n_rows": n_rows,
            "n_clusters": len(sizes),
            "distortion": inertia / max(1, n_rows),
            "inertia": inertia,
            "sizes": sizes_of(sizes),
            "counts": sizes,
            "files": {name: path for name, path in files.items() if path is not None},
        }
    )
    return made


def _listing(made: dict[str, Any]) -> str:
    pairs = [
        ("rows", f"{made['n_rows']:,}"),
        ("clusters", f"{made['n_clusters']:,}"),
        ("distortion", shown_measure(made["distortion"])),
        ("sizes", shown_sizes(made["sizes"])),
    ]
    return two_columns([*pairs, *made["files"].items()])
