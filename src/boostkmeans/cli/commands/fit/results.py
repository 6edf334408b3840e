"""Results of `fit`: files and a summary."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from functools import partial
from importlib.util import find_spec

import numpy as np

import boostkmeans
from boostkmeans._runtime.installation import install_hint
from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans.cli.command import Result
from boostkmeans.cli.commands.fit.options import OutputOptions
from boostkmeans.cli.commands.fit.request import Estimator
from boostkmeans.cli.files.label_output import LabelOutput
from boostkmeans.cli.files.output import (
    Output,
    check_ending,
    check_model_ending,
    output_to,
    require_file,
    writing_to,
)
from boostkmeans.cli.files.page_output import check_page
from boostkmeans.cli.listing import format_measure, format_sizes, summarize_sizes, two_columns
from boostkmeans.io import Vectors, write_vectors

# Endings of formats that store floats.
CENTRE_ENDINGS = (".npy", ".fvecs", ".fbin", ".parquet")
# Parameters that have no meaning after the fit.
RUN_PARAMETERS = ("callback", "verbose", "checkpoint")

Reporting = Callable[[], AbstractContextManager[ProgressCallback]]
"""Function that shows progress inside a `with` block."""


@dataclass(frozen=True)
class FitOutputs:
    """Destinations of the results."""

    model: Output | None
    labels: LabelOutput | None
    centers: Output | None
    page: Output | None
    has_ids: bool = False
    command: str = ""
    """Command that the page shows."""

    @classmethod
    def from_options(
        cls, options: OutputOptions, id_column: str | None, *, command: str, force: bool
    ) -> "FitOutputs":
        """Return the outputs, and raise an error if a file name does not determine its format."""
        outputs = cls(
            output_to(options.output, force=force),
            LabelOutput.from_options(options.labels, options.labels_format, id_column, force=force),
            output_to(options.centers, force=force),
            output_to(options.page, force=force),
            has_ids=id_column is not None,
            command=command,
        )
        check_page("--page", outputs.page)
        require_file("--output", outputs.model)
        check_model_ending(outputs.model)
        require_file("--centers", outputs.centers)
        check_ending("--centers", outputs.centers, CENTRE_ENDINGS, stdout=False)
        is_parquet = outputs.centers is not None and outputs.centers.ending == ".parquet"
        if is_parquet and find_spec("pyarrow") is None:
            raise ImportError(f"--centers as .parquet needs pyarrow: {install_hint('parquet')}")
        return outputs

    def by_option(self, inputs: list[str]) -> dict[str, Output | list[Output] | None]:
        """Return the outputs for these input files, by option."""
        labels = None if self.labels is None else self.labels.outputs(inputs)
        return {
            "--output": self.model,
            "--labels": labels,
            "--centers": self.centers,
            "--page": self.page,
        }

    @property
    def files(self) -> dict[str, str]:
        """Paths of the files by the names of the JSON output."""
        found = {
            "model": self.model,
            "labels": self.labels,
            "centers": self.centers,
            "page": self.page,
        }
        return {name: one.path for name, one in found.items() if one is not None and not one.is_stdout}

    @property
    def saves_nothing(self) -> bool:
        """True if the command only prints a summary."""
        return not self.files and self.labels is None

    @property
    def prints_labels(self) -> bool:
        """True if standard output is used for the labels."""
        return self.labels is not None and self.labels.is_stdout

    def write(self, model: Estimator, vectors: Vectors, reporting: Reporting) -> dict[str, Exception]:
        """Write all results of a fit of these vectors, and return the errors by result.

        An error does not prevent the other results from being written. Labels are written last, because
        they may be printed to a closed pipe. The page takes longest: `reporting` shows its progress.
        """
        writers: dict[str, Callable[[], None]] = {
            "model": partial(self._write_model, model),
            "centers": partial(self._write_centers, model),
            "page": partial(self._write_page, model, vectors, reporting),
            "labels": partial(self._write_labels, model, vectors),
        }
        failures: dict[str, Exception] = {}
        for name, write in writers.items():
            try:
                write()
            except Exception as error:  # of any type, because the fit may have taken hours
                failures[name] = error
        return failures

    def _write_model(self, model: Estimator) -> None:
        if self.model is not None:
            self.model.check()  # again, as `save` overwrites existing files
            with writing_to(self.model.path):
                model.save(self.model.path, labels=False)

    def _write_centers(self, model: Estimator) -> None:
        if self.centers is not None:
            with writing_to(self.centers.path):
                write_vectors(self.centers.path, model.cluster_centers_, force=self.centers.force)

    def _write_page(self, model: Estimator, vectors: Vectors, reporting: Reporting) -> None:
        if self.page is None:
            return
        from boostkmeans.explore import page  # slow to import, and not always needed

        with reporting() as progress:
            shown = page(
                model,
                vectors,
                ids=vectors.ids if self.has_ids else None,
                n_threads=model.n_threads,
                progress=progress,
                command=self.command,
            )
        with writing_to(self.page.path):
            shown.save(self.page.path, force=self.page.force)

    def _write_labels(self, model: Estimator, vectors: Vectors) -> None:
        if self.labels is not None:
            with self.labels.writing(vectors) as write:
                write(model.labels_)


def summarize_fit(
    vectors: Vectors, model: Estimator, method: str, seconds: float, files: dict[str, str]
) -> Result:
    """Return the result for the JSON output."""
    parameters = {
        name: value
        for name, value in model.get_params(deep=False).items()
        if name not in RUN_PARAMETERS and not isinstance(value, np.ndarray)
    }
    return {
        "boostkmeans": boostkmeans.__version__,
        "source": vectors.name,
        "format": vectors.format,
        "n_rows": len(model.labels_),
        "n_features": model.n_features_in_,
        "n_clusters": len(model.cluster_centers_),
        "method": method,
        "parameters": parameters,
        "distortion": model.distortion_,
        "inertia": model.inertia_,
        "sizes": summarize_sizes(model.cluster_sizes_),
        "cluster_sizes": model.cluster_sizes_,
        "n_sweeps": model.n_iter_,
        "stop_reason": model.stop_reason_,
        "converged": model.converged_,
        "interrupted": model.stop_reason_ == "interrupted",
        "seconds": seconds,
        "files": files,
        "history": [asdict(record) for record in model.history_],
    }


def fit_listing(result: Result) -> str:
    """Return the result as text."""
    pairs = [
        ("rows", f"{result['n_rows']:,}"),
        ("features", f"{result['n_features']:,}"),
        ("clusters", f"{result['n_clusters']:,}"),
        ("distortion", format_measure(result["distortion"])),
        ("inertia", format_measure(result["inertia"])),
        ("sizes", format_sizes(result["sizes"])),
        ("sweeps", f"{result['n_sweeps']:,}"),
        ("stopped by", result["stop_reason"]),
        ("seconds", f"{result['seconds']:.2f}"),
    ]
    return two_columns([*pairs, *result["files"].items()])
