"""`boostkmeans compare`: boost k-means and other methods on the same vectors."""

from typing import Annotated, Any

import typer

from boostkmeans.baselines import (
    DEFAULT,
    MethodRun,
    compare,
    draw_curves,
    summarize,
)
from boostkmeans.cli.command import Result, command
from boostkmeans.cli.commands.comparison_listing import comparison_table, comparison_values
from boostkmeans.cli.errors import exit_code_of, print_message, set_warning_subject
from boostkmeans.cli.exit_codes import INTERRUPTED
from boostkmeans.cli.files.output import check_plot, output_to, writing_to
from boostkmeans.cli.files.result_output import TableFile
from boostkmeans.cli.files.row_sample import read_rows
from boostkmeans.cli.method_names import LIST, chosen_methods, methods_in_help, methods_listing
from boostkmeans.cli.option_groups import expand_option_groups
from boostkmeans.cli.options import CommonOptions, InputOptions, RunOptions
from boostkmeans.cli.progress_display import ProgressDisplay
from boostkmeans.cli.stdout import print_result


@methods_in_help
@expand_option_groups
def compare_methods(
    path: Annotated[
        str | None,
        typer.Argument(metavar="PATH", help="File of vectors in any format; - is standard input."),
    ] = None,
    clusters: Annotated[
        int | None, typer.Option("--clusters", "-k", min=1, metavar="K", help="Number of clusters.")
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help=f"Methods or groups of methods, separated by commas (default: {','.join(DEFAULT)}). "
            "'list' prints all names.",
        ),
    ] = None,
    repeats: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of runs per method, each with another seed.")
    ] = 1,
    max_rows: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Use a random sample of N rows of a larger file (default: all)."
        ),
    ] = None,
    output: TableFile = None,
    plot: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="File for a plot of distortion over time: .png, .svg or .pdf."
        ),
    ] = None,
    *,
    run_options: RunOptions,
    input_options: InputOptions,
    common: CommonOptions,
) -> None:
    """\b
    Examples:
      boostkmeans compare vectors.fvecs -k 256
      boostkmeans compare vectors.npy -k 100 --max-rows 20000 --plot curves.png
      boostkmeans compare vectors.npy -k 20 --methods boost-best,k-means++,RBK
      boostkmeans compare vectors.npy -k 20 --methods trees,scikit-learn
      boostkmeans compare vectors.npy -k 20 --methods "BsKM, refined"
      boostkmeans compare --methods list

    Cluster the same vectors by boost k-means and by other methods, and print distortion and run time of
    each. All rows must fit into memory (or into --max-memory), because the other methods cannot read
    them in parts. Ctrl-C prints the results so far.
    """
    with command(common) as run:
        if methods == LIST:
            print_result(methods_listing())
            return
        chosen = chosen_methods("default" if methods is None else methods)
        if path is None or clusters is None:
            raise ValueError("PATH and -k are required: boostkmeans compare PATH -k K.")
        picture = check_plot(output_to(plot, force=common.force))
        report = run.result_output(output, _methods)
        report.check({"PATH": path}, plot=picture)
        seeds = range(run_options.seed, run_options.seed + repeats)
        with run.reading(path, input_options) as (vectors, display):
            X = read_rows(vectors, clusters, max_rows, run_options.seed)
            runs, is_complete = _run_methods(X, clusters, chosen, seeds, run_options.threads, display)
            n_all = len(vectors)
        if picture is not None and any(one.error is None for one in runs):
            with picture.open() as file, writing_to(picture.path):
                draw_curves(runs, file, file_format=picture.ending[1:], title=vectors.name)
        if not is_complete:
            print_message(f"interrupted: {len(runs)} of {len(chosen) * repeats} runs are complete")
        if runs:
            result = {
                "source": vectors.name,
                "n_rows": X.shape[0],
                "n_rows_of_file": n_all,
                "n_features": X.shape[1],
                "n_clusters": clusters,
                "interrupted": not is_complete,
                "methods": comparison_values(summarize(runs)),
            }
            run.print_result(result, comparison_table, report)
        if not is_complete:
            raise typer.Exit(INTERRUPTED)


def _methods(result: Result) -> list[Result]:
    """Return the table of methods, without the single runs."""
    return [{name: one for name, one in row.items() if name != "runs"} for row in result["methods"]]


def _run_methods(
    X: Any,
    n_clusters: int,
    methods: dict[str, Any],
    seeds: range,
    n_threads: int | None,
    display: ProgressDisplay,
) -> tuple[list[MethodRun], bool]:
    """Run the methods. Return the runs, and False if the user interrupted them.

    If all runs fail, the error with the highest exit code is raised.
    """
    runs: list[MethodRun] = []

    def progress(what: str, done: int, total: int | None) -> None:
        set_warning_subject(what)
        display.report(what, done, total)

    try:
        # Store the runs one by one, so that an interrupt does not lose them.
        for run in compare(X, n_clusters, methods, seeds=seeds, n_threads=n_threads, progress=progress):
            runs.append(run)
    except KeyboardInterrupt:
        return runs, False
    finally:
        set_warning_subject("")
    errors = [run.error for run in runs if run.error is not None]
    if len(errors) == len(runs):
        raise max(errors, key=exit_code_of)
    return runs, True
