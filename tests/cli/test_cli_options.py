"""Option groups: shared options that are declared once."""

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from boostkmeans._data.frame import METRICS
from boostkmeans._engine.plan import QUALITIES
from boostkmeans.baselines._comparison.scores import SCORES
from boostkmeans.cli import corpus_options, options
from boostkmeans.cli.commands import compare_docs, docs
from boostkmeans.cli.option_groups import Without, expand_option_groups
from boostkmeans.documents import _clusters, _reading, _weighting_options
from boostkmeans.io import FORMATS, WRITABLE


@dataclass(frozen=True)
class SizeOptions:
    width: Annotated[int, typer.Option("--width", "-w", help="Width.")] = 3
    height: Annotated[int | None, typer.Option(help="Height.")] = None


def test_option_groups_become_options() -> None:
    app = typer.Typer()

    @app.command()
    @expand_option_groups
    def draw(
        name: Annotated[str, typer.Argument()],
        *,
        size: SizeOptions,
    ) -> None:
        """Draw a box."""
        typer.echo(f"{name} {size}")

    runner = CliRunner()
    assert runner.invoke(app, ["box"]).stdout == "box SizeOptions(width=3, height=None)\n"
    wide = runner.invoke(app, ["box", "-w", "5", "--height", "2"])
    assert wide.stdout == "box SizeOptions(width=5, height=2)\n"


def test_without_leaves_options_out() -> None:
    app = typer.Typer()

    @app.command()
    @expand_option_groups
    def draw(*, size: Annotated[SizeOptions, Without("width")]) -> None:
        """Draw a box."""
        typer.echo(f"{size}")

    runner = CliRunner()
    assert runner.invoke(app, ["--height", "2"]).stdout == "SizeOptions(width=3, height=2)\n"
    assert runner.invoke(app, ["--width", "2"]).exit_code == 2


def test_choices_are_those_of_the_library() -> None:
    assert tuple(options.Format) == FORMATS
    assert tuple(options.WritableFormat) == WRITABLE
    assert tuple(options.Quality) == tuple(QUALITIES)
    assert tuple(options.Metric) == tuple(METRICS)
    assert tuple(docs.Method) == _clusters.METHODS
    assert tuple(corpus_options.Format) == _reading.FORMATS
    assert tuple(corpus_options.Idf) == _weighting_options.IDFS
    assert tuple(compare_docs.Measure) == SCORES
