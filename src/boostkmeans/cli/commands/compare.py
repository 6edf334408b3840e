"""`boostkmeans compare`: methods side by side on the same vectors."""

import json
from typing import Annotated, Any

import numpy as np
import typer

from boostkmeans.baselines import DEFAULT, METHODS, MethodRun, compare, draw_curves, summarize
from boostkmeans.cli import INTERRUPTED, options
from boostkmeans.cli.bar import shown_progress
from boostkmeans.cli.comparison_listing import comparison_table, comparison_values
from boostkmeans.cli.errors import code_of, exit_codes, say, warn_about
from boostkmeans.cli.input import check_memory, opened
from boostkmeans.cli.output import (
    STDOUT,
    Output,
    check_matplotlib,
    check_outputs,
    print_result,
    writing_to,
)
from boostkmeans.io import Vectors

# What --methods may have instead of methods.
LIST = "list"
PICTURES = (".png", ".svg", ".pdf")


def compare_methods(
    path: Annotated[
        str | None, typer.Argument(metavar="PATH", help="Vectors in any format; - is stdin.")
    ] = None,
    clusters: Annotated[
        int | None, typer.Option("--clusters", "-k", min=1, metavar="K", help="How many clusters.")
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Methods with commas between them; list prints all names."),
    ] = None,
    repeats: Annotated[
        int, typer.Option(min=1, metavar="N", help="Seeds that each method runs with.")
    ] = 1,
    max_rows: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Compare on so many rows, drawn at random, if there are more."
        ),
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draw distortion against seconds: .png, .svg or .pdf."),
    ] = None,
    seed: options.Seed = 0,
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
      boostkmeans compare vectors.fvecs -k 256
      boostkmeans compare vectors.npy -k 100 --max-rows 20000 --plot curves.png
      boostkmeans compare vectors.npy -k 20 --methods boost-best,k-means++,RBK
      boostkmeans compare --methods list

    Clusters the same vectors by boost k-means and by other methods, and says what each reached and how
    long it took. All rows have to fit into memory: k-means knows no other way. Ctrl-C prints what is
    there so far.
    """
    with exit_codes(debug=debug):
        if methods == LIST:
            print_result("\n".join(METHODS))
            return
        chosen = _chosen(methods)
        if path is None or clusters is None:
            raise ValueError("compare needs vectors and a number of clusters: compare PATH -k K.")
        picture = None if plot is None else Output(plot, force)
        _check_picture(picture)
        check_outputs({"PATH": path}, {"--plot": picture})
        runs: list[MethodRun] = []
        whole = True
        with (
            shown_progress(verbose=verbose) as shown,
            opened(
                path, shown, input_format=input_format, key=key, header=header, max_memory=max_memory
            ) as vectors,
        ):
            n_used = min(len(vectors), max_rows or len(vectors))
            check_memory(vectors, n_used, clusters, remedy=" Compare fewer rows: --max-rows.")
            X = _rows(vectors, max_rows, seed)
            seeds = range(seed, seed + repeats)

            def progress(what: str, done: int, total: int | None) -> None:
                warn_about(what)
                shown.progress(what, done, total)

            try:
                for run in compare(
                    X, clusters, chosen, seeds=seeds, n_threads=threads, progress=progress
                ):
                    runs.append(run)  # one by one, so that they stay if it is interrupted
            except KeyboardInterrupt:
                whole = False
            warn_about("")
            n_all = vectors.shape[0]
            errors = [run.error for run in runs if run.error is not None]
            if whole and len(errors) == len(runs):
                raise max(errors, key=code_of)
        if picture is not None and len(errors) < len(runs):
            with picture.opened() as file, writing_to(picture.path):
                draw_curves(runs, file, file_format=picture.ending[1:], title=vectors.name)
        made = {
            "source": vectors.name,
            "n_rows": X.shape[0],
            "n_rows_of_file": n_all,
            "n_features": X.shape[1],
            "n_clusters": clusters,
            "interrupted": not whole,
            "methods": comparison_values(summarize(runs)),
        }
        if not whole:
            say(f"interrupted: {len(runs)} of {len(chosen) * repeats} runs are done")
        if runs:
            print_result(json.dumps(made, allow_nan=False) if as_json else comparison_table(made))
        if not whole:
            raise typer.Exit(INTERRUPTED)


def _chosen(methods: str | None) -> dict[str, Any]:
    """Methods by their names, in whichever case."""
    known = {name.lower(): name for name in METHODS}
    names = list(DEFAULT) if methods is None else [name.strip() for name in methods.split(",")]
    for name in names:
        if name.lower() not in known:
            raise ValueError(
                f"There is no method {name!r}. Known are {', '.join(METHODS)}: see --methods list."
            )
    return {known[name.lower()]: METHODS[known[name.lower()]] for name in names}


def _check_picture(picture: Output | None) -> None:
    """Before the work, not after it."""
    if picture is None:
        return
    if picture.path == STDOUT or picture.ending not in PICTURES:
        raise ValueError(
            f"--plot must be a file that ends in {', '.join(PICTURES)}. Got {picture.path!r}."
        )
    check_matplotlib("--plot")


def _rows(vectors: Vectors, max_rows: int | None, seed: int) -> Any:
    """All rows, or a sample of them in the order of the file."""
    n_rows = vectors.shape[0]
    if max_rows is None or n_rows <= max_rows:
        return vectors.load()
    drawn = np.random.default_rng(seed).choice(n_rows, max_rows, replace=False)
    return vectors[np.sort(drawn)]
