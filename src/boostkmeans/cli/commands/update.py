"""`boostkmeans update`: add vectors to a model, and remove vectors from it."""

import json
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from boostkmeans import BoostKMeans, UpdateReport
from boostkmeans.cli.command import Result, command
from boostkmeans.cli.commands.fit.sweep_reporter import SweepReporter
from boostkmeans.cli.files.column_input import read_column, read_numbers
from boostkmeans.cli.files.input import check_side_files, input_files, open_input
from boostkmeans.cli.files.label_output import LabelOutput
from boostkmeans.cli.files.model_input import read_model
from boostkmeans.cli.files.output import (
    Output,
    check_ending,
    check_model_ending,
    check_outputs,
    output_to,
    require_file,
    stdout_conflict,
    writing_to,
)
from boostkmeans.cli.listing import format_measure, format_sizes, summarize_sizes, two_columns
from boostkmeans.cli.option_groups import expand_option_groups
from boostkmeans.cli.options import CommonOptions, InputOptions, ModelPath, Threads
from boostkmeans.cli.progress_display import ProgressDisplay
from boostkmeans.io import Vectors

# Options for results other than the model.
OTHER_RESULTS = {"labels": "--labels", "the report": "--report"}
# Lists of clusters in the report that the summary mentions, and the number of clusters that it names.
CLUSTER_CHANGES = ("split", "merged", "created", "removed")
MAX_SHOWN = 8


@dataclass(frozen=True)
class ChangeOptions:
    """Vectors of the model, and vectors to remove."""

    removed: Annotated[
        str | None, typer.Option(metavar="FILE", help="Vectors to remove from the model.")
    ] = None
    removed_ids: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Ids of the vectors to remove, one per line or as .npy. Needs --rows and --id.",
        ),
    ] = None
    rows: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="All vectors of the model. With them, old vectors can change their cluster, and the "
            "result is better.",
        ),
    ] = None
    weights: Annotated[
        str | None, typer.Option(metavar="FILE", help="Weights of the new vectors (default: 1).")
    ] = None
    removed_weights: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Weights of the removed vectors, without --rows (default: 1)."
        ),
    ] = None
    row_weights: Annotated[
        str | None, typer.Option(metavar="FILE", help="Weights of the vectors of --rows (default: 1).")
    ] = None

    def check(self, id_column: str | None) -> None:
        """Raise an error if the options contradict each other."""
        if self.removed is not None and self.removed_ids is not None:
            raise ValueError("--removed and --removed-ids both name the vectors to remove. Use one.")
        if self.removed_ids is not None and (self.rows is None or id_column is None):
            raise ValueError(
                "--removed-ids needs the vectors of the model with their ids: --rows, --id."
            )
        check_side_files({f"--{name.replace('_', '-')}": path for name, path in vars(self).items()})


@dataclass(frozen=True)
class UpdateOutputs:
    """Destinations of the results."""

    model: Output
    labels: LabelOutput | None
    report: Output | None

    @classmethod
    def from_options(
        cls,
        model_path: str,
        output: str,
        labels: str | None,
        report: str | None,
        id_column: str | None,
        common: CommonOptions,
    ) -> "UpdateOutputs":
        """Return the outputs. The model itself may be replaced without --force."""
        same = Path(output).exists() and Path(model_path).exists() and Path(output).samefile(model_path)
        found = cls(
            Output(output, common.force or same),
            LabelOutput.from_options(labels, None, id_column, force=common.force),
            output_to(report, force=common.force),
        )
        require_file("--output", found.model)
        check_model_ending(found.model, OTHER_RESULTS)
        require_file("--report", found.report)
        check_ending("--report", found.report, (".json", ".jsonl"), stdout=False)
        if found.labels is not None and found.labels.is_folder:
            raise ValueError("--labels must be one file: the labels of all vectors are one table.")
        if common.as_json and found.labels is not None and found.labels.is_stdout:
            raise stdout_conflict("--labels")
        return found

    def check(self, model_path: str, inputs: list[str], options: ChangeOptions) -> None:
        """Raise an error if a file cannot be written, or would replace an input."""
        used = {f"--{name.replace('_', '-')}": path for name, path in vars(options).items()}
        labels = None if self.labels is None else self.labels.outputs(inputs)
        check_outputs({"PATH": inputs, **used}, {"--output": self.model})
        check_outputs(
            {"MODEL": model_path, "PATH": inputs, **used, "--output": self.model.path},
            {"--labels": labels, "--report": self.report},
        )

    @property
    def prints_labels(self) -> bool:
        """True if standard output is used for the labels."""
        return self.labels is not None and self.labels.is_stdout

    def write(self, model: BoostKMeans, sources: "Sources") -> dict[str, str]:
        """Write all results. Return the files by the names of the JSON output."""
        report = model.update_report_
        files = {"model": self.model.path}
        with writing_to(self.model.path):
            model.save(self.model.path, labels=False)
        if self.report is not None:
            files["report"] = self.report.path
            self.report.write(json.dumps(report.to_dict()))
        if self.labels is not None:
            labels = report.labels if sources.old is None else model.labels_
            described: Any = sources.described(report)
            with self.labels.writing(described) as write:
                write(labels)
            if not self.prints_labels:
                files["labels"] = self.labels.path
        return files


@dataclass(frozen=True)
class DescribedRows:
    """Rows of several files, as the writer of labels sees them."""

    n_rows: int
    ids: NDArray[Any] | None

    def __len__(self) -> int:
        return self.n_rows

    def read_ids(self, begin: int, end: int) -> NDArray[Any]:
        """Return the ids of some rows."""
        assert self.ids is not None
        return self.ids[begin:end]


@dataclass(frozen=True)
class Sources:
    """The opened vectors."""

    new: Vectors | None
    old: Vectors | None
    removed: Vectors | None
    has_ids: bool

    def numbers_of(self, ids: NDArray[Any]) -> NDArray[np.int64]:
        """Return the rows of the model with these ids. Raise an error unless there is one of each."""
        assert self.old is not None
        known = [str(one) for one in self.old.read_ids(0, len(self.old)).tolist()]
        places, amounts = {one: row for row, one in enumerate(known)}, Counter(known)
        wanted = [str(one) for one in ids.tolist()]
        for one, n_listed in Counter(wanted).items():
            if amounts[one] == 0:
                raise ValueError(f"--removed-ids: {self.old.name} has no vector with the id {one!r}.")
            if amounts[one] > 1:
                raise ValueError(
                    f"--removed-ids: {self.old.name} has {amounts[one]} vectors with the id {one!r}. "
                    "Ids of removed vectors must be unique."
                )
            if n_listed > 1:
                raise ValueError(f"--removed-ids lists the id {one!r} {n_listed} times.")
        return np.array([places[one] for one in wanted], dtype=np.int64)

    def described(self, report: UpdateReport) -> DescribedRows:
        """Return the number and the ids of the labelled rows: kept old rows, then new rows."""
        parts = []
        n_rows = report.n_added
        if self.old is not None and report.removed_rows is not None:
            n_rows += report.n_kept
            if self.has_ids:
                parts.append(np.delete(self.old.read_ids(0, len(self.old)), report.removed_rows))
        if self.new is not None and self.has_ids:
            parts.append(self.new.read_ids(0, len(self.new)))
        return DescribedRows(n_rows, np.concatenate(parts) if parts else None)


@expand_option_groups
def update(
    model_path: ModelPath,
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NEW]...", help="Files of new vectors, one per row, as in fit."),
    ] = None,
    *,
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="MODEL", help="File for the updated model; it may be MODEL."
        ),
    ],
    changes: ChangeOptions,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File for the clusters of the new vectors or, with --rows, of the old vectors that "
            "remain and then of the new ones: .npy, .parquet, .txt or .csv. With --id, .parquet or .csv "
            "with the columns id and label.",
        ),
    ] = None,
    report: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File for the report as JSON: clusters that were split, merged, created and removed.",
        ),
    ] = None,
    threads: Threads = None,
    input_options: InputOptions,
    common: CommonOptions,
) -> None:
    """\b
    Examples:
      boostkmeans update model.st new.npy -o model.st
      boostkmeans update m.st new.npy --rows old.npy -o m2.st --report report.json
      boostkmeans update model.st --removed gone.npy -o model.st
      boostkmeans update m.st new.parquet --id id --labels labels.csv -o m.st

    Add vectors to the clusters of a model, remove vectors, and optimise only the clusters that changed.

    Clusters that survive keep their numbers. The options of the fit are part of the model: limits on
    sizes hold, and a model of `fit --leaf-size` gets more or fewer clusters. Without --rows, the old
    vectors of a cluster stay together.
    """
    with command(common) as run:
        changes.check(input_options.id_column)
        outputs = UpdateOutputs.from_options(
            model_path, output, labels, report, input_options.id_column, common
        )
        inputs = input_files(paths, input_options) if paths else []
        outputs.check(model_path, inputs, changes)
        model = _read_updatable(model_path, threads, paths or [])
        start = time.perf_counter()
        with ExitStack() as opened:
            with run.progress() as display:
                sources = _open_sources(opened, display, paths or None, changes, input_options)
                _perform(model, sources, changes, display)
            files = outputs.write(model, sources)
        if not outputs.prints_labels:
            seconds = time.perf_counter() - start
            run.print_result(_summary(model, model_path, seconds, files), _listing)


def _read_updatable(path: str, threads: int | None, others: list[str]) -> BoostKMeans:
    model = read_model(path, threads, others)
    if not isinstance(model, BoostKMeans):
        raise ValueError(
            f"{path} contains a {type(model).__name__}, but only k-way models can be updated."
        )
    return model


def _open_sources(
    opened: ExitStack,
    display: ProgressDisplay,
    paths: list[str] | None,
    changes: ChangeOptions,
    options: InputOptions,
) -> Sources:
    """Open all vectors. New vectors are opened last, so that errors about rows name them."""
    found = [
        None if path is None else opened.enter_context(open_input(path, display, options))
        for path in (changes.rows, changes.removed, paths)
    ]
    return Sources(found[2], found[0], found[1], options.id_column is not None)


def _perform(
    model: BoostKMeans, sources: Sources, changes: ChangeOptions, display: ProgressDisplay
) -> None:
    """Update the model."""
    removed: Any = sources.removed
    if changes.removed_ids is not None:
        removed = sources.numbers_of(read_column(changes.removed_ids))
    n_rows = model.n_samples_seen_ + (0 if sources.new is None else len(sources.new))
    reporter = SweepReporter(display, n_rows, None, model.max_iter, model.max_time)
    model.set_params(verbose=display.verbose, callback=reporter)
    new: Any = sources.new
    old: Any = sources.old
    model.update(
        new,
        X_removed=removed,
        X=old,
        sample_weight=_numbers(changes.weights),
        removed_weight=_numbers(changes.removed_weights),
        X_weight=_numbers(changes.row_weights),
    )
    model.set_params(verbose=0, callback=None)


def _numbers(path: str | None) -> NDArray[np.float64] | None:
    return None if path is None else read_numbers(path)


def _summary(model: BoostKMeans, path: str, seconds: float, files: dict[str, str]) -> Result:
    return {
        "model": path,
        "n_rows": model.n_samples_seen_,
        "n_clusters": model.n_clusters_,
        "distortion": model.distortion_,
        "inertia": model.inertia_,
        "sizes": summarize_sizes(model.cluster_sizes_),
        "report": model.update_report_.to_dict(),
        "seconds": seconds,
        "files": files,
    }


def _numbered(clusters: list[int]) -> str:
    """Return the number of clusters, and which they are.

    >>> _numbered([]), _numbered([3, 5])
    ('0', '2 [3, 5]')
    """
    shown = clusters[:MAX_SHOWN]
    rest = ", ..." if len(clusters) > len(shown) else ""
    return f"{len(clusters):,} [{', '.join(map(str, shown))}{rest}]" if clusters else "0"


def _listing(result: Result) -> str:
    report = result["report"]
    pairs = [
        ("rows", f"{result['n_rows']:,}"),
        ("added", f"{report['n_added']:,}"),
        ("removed", f"{report['n_removed']:,}"),
        ("moved", f"{report['n_moved']:,}"),
        ("clusters", f"{result['n_clusters']:,}"),
        *((f"clusters {name}", _numbered(report[name])) for name in CLUSTER_CHANGES),
        ("distortion", format_measure(result["distortion"])),
        ("sizes", format_sizes(result["sizes"])),
        ("seconds", f"{result['seconds']:.2f}"),
    ]
    return two_columns([*pairs, *result["files"].items()])
