"""`boostkmeans predict`: assign new vectors to clusters."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray

from boostkmeans._estimators.spread import relative_distances, spreads_for
from boostkmeans.cli.command import Result, command
from boostkmeans.cli.files.batch_outputs import DISTANCES, WriteBatch, writing_together
from boostkmeans.cli.files.input import input_files
from boostkmeans.cli.files.label_output import (
    LABEL_ENDINGS,
    LabelFormat,
    LabelOutput,
    LabelsFormat,
    check_pyarrow,
    value_writer,
)
from boostkmeans.cli.files.model_input import read_model
from boostkmeans.cli.files.output import (
    STDOUT,
    Output,
    check_ending,
    check_outputs,
    output_to,
    stdout_conflict,
)
from boostkmeans.cli.files.row_writer import WriteRows
from boostkmeans.cli.listing import format_measure, format_sizes, summarize_sizes, two_columns
from boostkmeans.cli.option_groups import expand_option_groups
from boostkmeans.cli.options import CommonOptions, InputOptions, ModelPath, Threads, VectorsPaths
from boostkmeans.io import Vectors, check_memory

# Names of the columns of distances and of outlier scores in a table.
DISTANCE, SCORE = "distance", "score"


@expand_option_groups
def predict(
    model_path: ModelPath,
    paths: VectorsPaths,
    labels: Annotated[
        str | None,
        typer.Option(
            "--labels",
            "--output",
            "-o",
            metavar="FILE|DIR/",
            help="File for the cluster of each row: .npy, .parquet, or .txt, .csv or .tsv with one per "
            "line (default: standard output; none with --json). With --id, .parquet, .csv or .tsv with "
            "the columns id and label. A folder, or a path that ends in /, gets one file per input "
            "file.",
        ),
    ] = None,
    labels_format: LabelsFormat = None,
    distances: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File for the distance of each row to its centre: .npy, .txt, .csv, .tsv or .parquet. "
            "With --id, tables contain the ids. With --nearest M, there are M columns.",
        ),
    ] = None,
    nearest: Annotated[
        int,
        typer.Option(
            "--nearest",
            min=1,
            metavar="M",
            help="Write the M nearest clusters of each row, nearest first (default: 1). Labels and "
            "distances then have M columns.",
        ),
    ] = 1,
    outliers: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File for the outlier score of each row: its distance to its centre, divided by the "
            "root mean squared distance of the cluster in the fit. Formats as for --distances.",
        ),
    ] = None,
    n_candidates: Annotated[
        int | None,
        typer.Option(
            "--candidates",
            min=1,
            metavar="N",
            help="Compare each row with about N centres only: faster, with nearly the same result "
            "(default: all centres).",
        ),
    ] = None,
    threads: Threads = None,
    *,
    input_options: InputOptions,
    common: CommonOptions,
) -> None:
    """\b
    Examples:
      boostkmeans predict model.safetensors new.fvecs -o labels.npy
      boostkmeans predict model.safetensors new.fvecs --distances distances.npy
      boostkmeans predict model.safetensors new.fvecs --nearest 3 -o three.npy
      boostkmeans predict model.safetensors new.fvecs --outliers scores.csv
      boostkmeans predict model.safetensors 'emb-*.parquet' --id id -o out/
      cat new.csv | boostkmeans predict model.safetensors - | sort | uniq -c

    Assign each vector to its nearest centre, or to several, in batches: the file may be larger than
    memory.
    """
    with command(common) as run:
        to_labels = label_output(labels, labels_format, input_options.id_column, nearest, common)
        outputs = PredictOutputs(
            to_labels,
            output_to(distances, force=common.force),
            output_to(outliers, force=common.force),
            nearest,
            has_ids=input_options.id_column is not None,
        )
        outputs.check(model_path, input_files(paths, input_options))
        model = read_model(model_path, threads, paths)
        _check_nearest(nearest, len(model.cluster_centers_), n_candidates)
        sizes = np.zeros(len(model.cluster_centers_), dtype=np.int64)
        inertia = 0.0
        with run.reading(paths, input_options, model=model_path) as (vectors, display):
            n_rows, progress = len(vectors), display.counter("rows")
            check_memory(vectors, len(sizes))
            progress("predicting", 0, n_rows)
            spreads = None if outliers is None else spreads_for(model, vectors)
            with outputs.writing(vectors) as write:
                for batch in _batches(model, vectors, nearest, n_candidates):
                    own, gaps = batch.labels, batch.distances
                    if nearest > 1:
                        own, gaps = own[:, 0], gaps[:, 0]
                    sizes += np.bincount(own, minlength=len(sizes))
                    inertia += float(np.square(gaps).sum())
                    scores = None if spreads is None else relative_distances(gaps, own, spreads)
                    write(*batch, scores)
                    progress("predicting", int(sizes.sum()), n_rows)
        if not outputs.prints_labels:
            result = {
                "source": vectors.name,
                "model": model_path,
                "n_rows": n_rows,
                "n_clusters": len(sizes),
                "distortion": inertia / max(1, n_rows),
                "inertia": inertia,
                "sizes": summarize_sizes(sizes),
                "counts": sizes,
                "files": outputs.files,
            }
            run.print_result(result, _listing)


class Batch(NamedTuple):
    """Labels and distances of some rows: one of each per row, or one column per nearest cluster."""

    labels: NDArray[np.int32]
    distances: NDArray[np.float64]


def _batches(model: Any, vectors: Vectors, nearest: int, n_candidates: int | None) -> Iterator[Batch]:
    if nearest == 1:
        yield from (Batch(*one) for one in model.predict_batches(vectors, n_candidates=n_candidates))
        return
    for distances, labels in model.predict_many_batches(vectors, nearest, n_candidates=n_candidates):
        yield Batch(labels, distances.astype(np.float64, copy=False))


def _check_nearest(nearest: int, n_clusters: int, n_candidates: int | None) -> None:
    if nearest > n_clusters:
        raise ValueError(f"--nearest {nearest} is more than the {n_clusters} clusters of the model.")
    if n_candidates is not None and n_candidates < nearest:
        raise ValueError(f"--candidates {n_candidates} is less than --nearest {nearest}.")


def label_output(
    labels: str | None,
    labels_format: LabelFormat | None,
    id_column: str | None,
    n_columns: int,
    common: CommonOptions,
) -> LabelOutput | None:
    """Return the output of the labels. Without a file, they are printed, unless JSON is printed."""
    if labels is None and not common.as_json:
        labels = STDOUT
    to = LabelOutput.from_options(
        labels, labels_format, id_column, force=common.force, n_columns=n_columns
    )
    if common.as_json and to is not None and to.is_stdout:
        raise stdout_conflict("--labels")
    return to


@dataclass(frozen=True)
class PredictOutputs:
    """Destinations of the labels, of the distances and of the outlier scores."""

    labels: LabelOutput | None
    distances: Output | None
    outliers: Output | None
    n_columns: int
    """Number of labels and distances per row."""
    has_ids: bool

    def check(self, model: str, inputs: list[str]) -> None:
        """Raise an error if a file cannot be written, or if its name does not determine the format."""
        for name, output in (("--distances", self.distances), ("--outliers", self.outliers)):
            if output is not None and output.is_stdout:
                raise ValueError(f"{name} must be a file: standard output is used for labels.")
            check_ending(name, output, LABEL_ENDINGS, stdout=False)
            check_pyarrow(name, output)
        check_outputs(
            {"MODEL": model, "PATH": inputs},
            {
                "--labels": None if self.labels is None else self.labels.outputs(inputs),
                "--distances": self.distances,
                "--outliers": self.outliers,
            },
        )

    @contextmanager
    def writing(self, vectors: Vectors) -> Iterator[WriteBatch]:
        """Open the outputs, and return a function that writes labels, distances and scores."""
        labels = None if self.labels is None else self.labels.writing(vectors)
        distances = self._values(self.distances, vectors, DISTANCE, self.n_columns)
        scores = self._values(self.outliers, vectors, SCORE, 1)
        with writing_together(labels, distances, scores) as write:
            yield write

    def _values(
        self, output: Output | None, vectors: Vectors, column: str, n_columns: int
    ) -> AbstractContextManager[WriteRows] | None:
        """Return the writer of numbers, or None without an output."""
        if output is None:
            return None
        return value_writer(
            output, vectors, np.float64, column, has_ids=self.has_ids, n_columns=n_columns
        )

    @property
    def prints_labels(self) -> bool:
        """True if standard output is used for the labels."""
        return self.labels is not None and self.labels.is_stdout

    @property
    def files(self) -> dict[str, str]:
        """Paths of the files by the names of the JSON output."""
        found = {"labels": self.labels, DISTANCES: self.distances, "outliers": self.outliers}
        return {name: one.path for name, one in found.items() if one is not None and not one.is_stdout}


def _listing(result: Result) -> str:
    pairs = [
        ("rows", f"{result['n_rows']:,}"),
        ("clusters", f"{result['n_clusters']:,}"),
        ("distortion", format_measure(result["distortion"])),
        ("sizes", format_sizes(result["sizes"])),
    ]
    return two_columns([*pairs, *result["files"].items()])
