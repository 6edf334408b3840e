"""`boostkmeans compare-docs`: methods on labelled documents, as in the paper's Table 3."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from boostkmeans.baselines import MethodRun, summarize_scores
from boostkmeans.cli.command import command
from boostkmeans.cli.commands.score_listing import (
    run_lines,
    score_rows,
    score_tables,
    score_values,
)
from boostkmeans.cli.corpus_options import CorpusOptions, TermOptions, read_documents, weighting_of
from boostkmeans.cli.errors import exit_code_of, print_message, set_warning_subject
from boostkmeans.cli.exit_codes import INTERRUPTED
from boostkmeans.cli.files.column_input import read_column
from boostkmeans.cli.files.input import check_side_files
from boostkmeans.cli.files.output import check_stdout_conflict, output_to
from boostkmeans.cli.files.result_output import TableFile
from boostkmeans.cli.method_names import LIST, chosen_methods, methods_in_help, methods_listing
from boostkmeans.cli.option_groups import expand_option_groups
from boostkmeans.cli.options import CommonOptions, RunOptions
from boostkmeans.cli.progress_display import ProgressDisplay
from boostkmeans.cli.stdout import print_result
from boostkmeans.documents import Corpus, compare_documents

Measure = StrEnum("Measure", ["entropy", "purity", "nmi", "ari"])


@methods_in_help
@expand_option_groups
def compare_docs(
    path: Annotated[
        str | None,
        typer.Argument(metavar="PATH", help="Folder or file of documents; - is standard input."),
    ] = None,
    clusters: Annotated[
        str,
        typer.Option(
            "--clusters", "-k", metavar="K[,K]", help="Numbers of clusters, separated by commas."
        ),
    ] = "5,10,15,20",
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File with the class of each document: .npy, or one per line (default: the classes "
            "that are part of the documents).",
        ),
    ] = None,
    methods: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Methods or groups of methods, separated by commas. 'list' prints all names.",
        ),
    ] = "paper",
    repeats: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of runs per method, each with another seed.")
    ] = 10,
    measure: Annotated[
        Measure, typer.Option(help="Measure that the tables show; --json and --runs contain all.")
    ] = Measure.entropy,
    output: TableFile = None,
    runs: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="CSV file for the scores of all runs; - prints them only."),
    ] = None,
    *,
    corpus_options: CorpusOptions,
    term_options: TermOptions,
    run_options: RunOptions,
    common: CommonOptions,
) -> None:
    """\b
    Examples:
      boostkmeans compare-docs sports.mat -k 5,10,15,20
      boostkmeans compare-docs corpus/ -k 7 --methods trees,k-means --repeats 3
      boostkmeans compare-docs news.csv --class-column topic --runs runs.csv
      boostkmeans compare-docs posts.txt.gz --classes topics.txt --json
      boostkmeans compare-docs --methods list

    Cluster labelled documents by several methods, and print how well clusters and classes agree: the
    experiment of the paper's Table 3. The run of each method is chosen in three ways: by the best
    objective, as a user would; by the lowest entropy, as in the paper; and the mean of all runs. The
    default methods are those of the table.

    PATH is read as by `boostkmeans docs`. Documents of unknown class are clustered, but not scored.
    Ctrl-C prints the results so far.
    """
    with command(common) as run:
        if methods == LIST:
            print_result(methods_listing())
            return
        chosen = chosen_methods(methods)
        if path is None:
            raise ValueError("PATH is required: boostkmeans compare-docs PATH -k K.")
        numbers = _parse_numbers(clusters)
        runs_to = output_to(runs, force=common.force)
        report = run.result_output(output, score_rows)
        report.check({"PATH": path, "--classes": classes}, runs=runs_to)
        check_stdout_conflict("--runs", runs_to, as_json=common.as_json)
        check_side_files({"--classes": classes})
        given = None if classes is None else [str(one) or None for one in read_column(classes)]
        weighting = weighting_of(term_options)
        seeds = range(run_options.seed, run_options.seed + repeats)
        with run.progress() as display:
            corpus = read_documents(path, corpus_options, display.report)
            found = compare_documents(
                corpus,
                numbers,
                chosen,
                classes=given,
                seeds=seeds,
                weighting=weighting,
                n_threads=run_options.threads,
                progress=_subject_of_warnings(display),
            )
            done, is_complete = _collect(found)
        if not is_complete:
            n_runs = len(chosen) * len(numbers) * repeats
            print_message(f"interrupted: {len(done)} of {n_runs} runs are complete")
        if done:
            if runs_to is not None:
                runs_to.write(run_lines(done))
            if runs_to is None or not runs_to.is_stdout or output is not None:
                result = _result(corpus, given, done, seeds, measure.value, is_complete)
                run.print_result(result, score_tables, report)
        if not is_complete:
            raise typer.Exit(INTERRUPTED)


def _parse_numbers(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise ValueError(f"-k must be numbers of clusters, separated by commas. Got {text!r}.")
    return list(dict.fromkeys(int(part) for part in parts))


def _subject_of_warnings(display: ProgressDisplay) -> Any:
    def progress(what: str, done: int, total: int | None) -> None:
        set_warning_subject(what)
        display.report(what, done, total)

    return progress


def _collect(found: Any) -> tuple[list[MethodRun], bool]:
    """Return the runs, and False if the user interrupted them. Raise an error if all runs fail."""
    done: list[MethodRun] = []
    try:
        # Store the runs one by one, so that an interrupt does not lose them.
        for one in found:
            done.append(one)
    except KeyboardInterrupt:
        return done, False
    finally:
        set_warning_subject("")
    errors = [one.error for one in done if one.error is not None]
    if len(errors) == len(done):
        raise max(errors, key=exit_code_of)
    return done, True


def _result(
    corpus: Corpus,
    given: list[str | None] | None,
    runs: list[MethodRun],
    seeds: range,
    measure: str,
    is_complete: bool,
) -> dict[str, Any]:
    classes = corpus.classes if given is None else given
    known = [one for one in classes or () if one is not None]
    return {
        "source": corpus.source,
        "skipped": [{"name": one.name, "reason": one.reason} for one in corpus.skipped],
        "n_documents": len(corpus),
        "n_of_known_class": len(known),
        "n_classes": len(set(known)),
        "seeds": list(seeds),
        "measure": measure,
        "interrupted": not is_complete,
        "methods": score_values(summarize_scores(runs)),
    }
