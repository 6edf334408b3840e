"""`boostkmeans predict`: assign new vectors to clusters."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer

from boostkmeans.cli.command import Result, command
from boostkmeans.cli.files.batch_outputs import DISTANCES, WriteBatch, writing_both
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
from boostkmeans.cli.listing import format_measure, format_sizes, summarize_sizes, two_columns
from boostkmeans.cli.option_groups import expand_option_groups
from boostkmeans.cli.options import CommonOptions, InputOptions, ModelPath, Threads, VectorsPaths
from boostkmeans.io import Vectors, check_memory

# Name of the column of the distances in a table.
DISTANCE = "distance"


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
            "With --id, tables contain the ids.",
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
      boostkmeans predict model.safetensors 'emb-*.parquet' --id id -o out/
      cat new.csv | boostkmeans predict model.safetensors - | sort | uniq -c

    Assign each vector to its nearest centre, in batches: the file may be larger than memory.
    """
    with command(common) as run:
        outputs = PredictOutputs.from_options(
            labels, labels_format, input_options.id_column, distances, common
        )
        outputs.check(model_path, input_files(paths, input_options))
        model = read_model(model_path, threads, paths)
        sizes = np.zeros(len(model.cluster_centers_), dtype=np.int64)
        inertia = 0.0
        with run.reading(paths, input_options, model=model_path) as (vectors, display):
            n_rows, progress = len(vectors), display.counter("rows")
            check_memory(vectors, len(sizes))
            progress("predicting", 0, n_rows)
            with outputs.writing(vectors) as write:
                for batch in model.predict_batches(vectors, n_candidates=n_candidates):
                    sizes += np.bincount(batch[0], minlength=len(sizes))
                    inertia += float(np.square(batch[1]).sum())
                    write(*batch)
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


@dataclass(frozen=True)
class PredictOutputs:
    """Destinations of the labels and of the distances."""

    labels: LabelOutput | None
    distances: Output | None
    has_ids: bool

    @classmethod
    def from_options(
        cls,
        labels: str | None,
        labels_format: LabelFormat | None,
        id_column: str | None,
        distances: str | None,
        common: CommonOptions,
    ) -> "PredictOutputs":
        """Return the outputs. Without a file, the labels are printed, unless JSON is printed."""
        if labels is None and not common.as_json:
            labels = STDOUT
        to = LabelOutput.from_options(labels, labels_format, id_column, force=common.force)
        if common.as_json and to is not None and to.is_stdout:
            raise stdout_conflict("--labels")
        return cls(to, output_to(distances, force=common.force), has_ids=id_column is not None)

    def check(self, model: str, inputs: list[str]) -> None:
        """Raise an error if a file cannot be written, or if its name does not determine the format."""
        if self.distances is not None and self.distances.is_stdout:
            raise ValueError("--distances must be a file: standard output is used for labels.")
        check_ending("--distances", self.distances, LABEL_ENDINGS, stdout=False)
        check_pyarrow("--distances", self.distances)
        check_outputs(
            {"MODEL": model, "PATH": inputs},
            {
                "--labels": None if self.labels is None else self.labels.outputs(inputs),
                "--distances": self.distances,
            },
        )

    @contextmanager
    def writing(self, vectors: Vectors) -> Iterator[WriteBatch]:
        """Open the outputs, and return a function that writes a batch of labels and distances."""
        distances = None
        if self.distances is not None:
            distances = value_writer(self.distances, vectors, np.float64, DISTANCE, has_ids=self.has_ids)
        labels = None if self.labels is None else self.labels.writing(vectors)
        with writing_both(labels, distances) as write:
            yield write

    @property
    def prints_labels(self) -> bool:
        """True if standard output is used for the labels."""
        return self.labels is not None and self.labels.is_stdout

    @property
    def files(self) -> dict[str, str]:
        """Paths of the files by the names of the JSON output."""
        found = {"labels": self.labels, DISTANCES: self.distances}
        return {name: one.path for name, one in found.items() if one is not None and not one.is_stdout}


def _listing(result: Result) -> str:
    pairs = [
        ("rows", f"{result['n_rows']:,}"),
        ("clusters", f"{result['n_clusters']:,}"),
        ("distortion", format_measure(result["distortion"])),
        ("sizes", format_sizes(result["sizes"])),
    ]
    return two_columns([*pairs, *result["files"].items()])
