"""`boostkmeans demo`: compare boost k-means with k-means on sample data."""

from pathlib import Path
from typing import Annotated

import typer

import boostkmeans
from boostkmeans.baselines import _demo_page, demo_data, demo_page, demo_table, run_demo, summarize
from boostkmeans.cli.command import command
from boostkmeans.cli.commands.comparison_listing import comparison_values
from boostkmeans.cli.files.output import Output, check_matplotlib, writing_to
from boostkmeans.cli.files.page_output import check_page, typed_command
from boostkmeans.cli.option_groups import expand_option_groups
from boostkmeans.cli.options import CommonOptions, Threads
from boostkmeans.explore._demo import demo_explorer
from boostkmeans.io import check_target

# Sample data of the repository. Installed packages do not have it.
SAMPLE = Path(boostkmeans.__file__).parents[2] / "examples" / "data" / "siftsmall.npz"
PAGE = "index.html"
EXPLORER = "explorer.html"


@expand_option_groups
def demo(
    context: typer.Context,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the page.")
    ] = Path("demo"),
    threads: Threads = None,
    *,
    common: CommonOptions,
) -> None:
    """\b
    Examples:
      boostkmeans demo
      boostkmeans demo --output page --force

    Cluster 25,000 vectors into 256 clusters by k-means, k-means++ and boost k-means, print distortion
    and run time of each, and write a page with a plot and a page that shows the clusters. The vectors
    are SIFT descriptors in the repository, and synthetic clusters elsewhere.
    """
    with command(common) as run:
        check_matplotlib("The page")
        explorer = Output(str(output / EXPLORER), common.force)
        check_page("The explorer page", explorer)
        page = _prepare_page(output, force=common.force)
        explorer.check()
        data = demo_data(SAMPLE)
        with run.progress() as display:
            runs = run_demo(data, n_threads=threads, progress=display.report)
            clusters = demo_explorer(
                data.X,
                _demo_page.N_CLUSTERS,
                title=data.title,
                command=typed_command(context),
                n_threads=threads,
                progress=display.report,
            )
        page.write(demo_page(data, runs, explorer=EXPLORER))
        with writing_to(explorer.path):
            clusters.save(explorer.path, force=explorer.force)
        result = {
            "title": data.title,
            "n_rows": data.X.shape[0],
            "n_features": data.X.shape[1],
            "page": page.path,
            "explorer": explorer.path,
            "methods": comparison_values(summarize(runs)),
        }
        listing = f"{data.title}\n\n{demo_table(runs)}\n\nPage: {page.path}\nExplorer: {explorer.path}"
        run.print_result(result, lambda _: listing)


def _prepare_page(folder: Path, *, force: bool) -> Output:
    """Create the folder, and check that the page can be written."""
    page = Output(str(folder / PAGE), force)
    if not folder.is_dir():
        check_target(folder, force=False)  # it may be a file, or its parent may not exist
        folder.mkdir()
    page.check()
    return page
