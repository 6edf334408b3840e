"""`boostkmeans demo`: ours beside k-means, on data that is there."""

import json
from pathlib import Path
from typing import Annotated

import typer

import boostkmeans
from boostkmeans._storage.atomic_file import check_target
from boostkmeans.baselines import summarize
from boostkmeans.baselines._demo_page import demo_data, demo_page, demo_table, run_demo
from boostkmeans.cli import options
from boostkmeans.cli.bar import shown_progress
from boostkmeans.cli.comparison_listing import comparison_values
from boostkmeans.cli.errors import exit_codes
from boostkmeans.cli.output import Output, check_matplotlib, print_result

# Beside the sources, where these are those of the repository.
SAMPLE = Path(boostkmeans.__file__).parents[2] / "examples" / "data" / "siftsmall.npz"
PAGE = "index.html"


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the page.")
    ] = Path("demo"),
    threads: options.Threads = None,
    as_json: options.AsJson = False,
    force: options.Force = False,
    verbose: options.Verbose = False,
    debug: options.Debug = False,
) -> None:
    """\b
    Examples:
      boostkmeans demo
      boostkmeans demo --output page --force

    Clusters 25,000 vectors into 256 clusters by k-means, k-means++ and boost k-means, prints what each
    reached and when, and writes a page with a picture. In the repository these are real SIFT
    descriptors, elsewhere made-up clusters.
    """
    with exit_codes(debug=debug):
        check_matplotlib("The page")
        page = Output(str(output / PAGE), force)
        if not output.is_dir():
            check_target(output, force=False)  # it may be a file, or in a folder that is not there
            output.mkdir()
        page.check()
        data = demo_data(SAMPLE)
        with shown_progress(verbose=verbose) as shown:
            runs = run_demo(data, n_threads=threads, progress=shown.progress)
        page.write(demo_page(data, runs))
        if as_json:
            methods = comparison_values(summarize(runs))
            made = {"title": data.title, "n_rows": data.X.shape[0], "n_features": data.X.shape[1],
                    "page": page.path, "methods": methods}  # fmt: skip
            print_result(json.dumps(made, allow_nan=False))
        else:
            print_result(f"{data.title}\n\n{demo_table(runs)}\n\nThe page to look at: {page.path}")
