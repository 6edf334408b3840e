"""What `fit` leaves behind: files, and a summary."""

import json
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

import boostkmeans
from boostkmeans import BisectingBoostKMeans, BoostKMeans
from boostkmeans.cli.column import check_column, column_writer
from boostkmeans.cli.listing import plain, shown_measure, shown_sizes, sizes_of, two_columns
from boostkmeans.cli.output import STDOUT, Output, print_result, writing_to
from boostkmeans.io import Vectors, write_vectors

# Formats of float values, which is what centres are.
CENTRE_ENDINGS = (".npy", ".fvecs", ".fbin", ".parquet")


@dataclass(frozen=True)
class FitOutputs:
    """Where results go."""

    model: Output | None
    labels: Output | None
    centers: Output | None

    def check(self) -> None:
        """That names of files tell how to write them, and that nothing is missing for it."""
        check_column("--labels", self.labels)
        for option, output in (("--output", self.model), ("--centers", self.centers)):
            if output is not None and output.path == STDOUT:
                raise ValueError(f"{option} must be a file: it is binary, and not for standard output.")
        if self.centers is None:
            return
        ending = self.centers.ending
        if ending not in CENTRE_ENDINGS:
            raise ValueError(
                f"--centers must be a file that ends in {', '.join(CENTRE_ENDINGS)}. "
                f"Got {self.centers.path!r}."
            )
        if ending == ".parquet" and find_spec("pyarrow") is None:
            raise ImportError("--centers as .parquet needs pyarrow: pip install boostkmeans[parquet]")

    def named(self) -> dict[str, Output | None]:
        """By the names that the user knows them by."""
        return {"--output": self.model, "--labels": self.labels, "--centers": self.centers}

    @property
    def files(self) -> dict[str, str]:
        """What is written, by what it is."""
        found = {"model": self.model, "labels": self.labels, "centers": self.centers}
        return {name: one.path for name, one in found.items() if one is not None and one.path != STDOUT}

    @property
    def prints_labels(self) -> bool:
        """Whether standard output belongs to the labels."""
        return self.labels is not None and self.labels.path == STDOUT

    def write(self, model: BoostKMeans | BisectingBoostKMeans) -> dict[str, Exception]:
        """What could not be written, and why. It does not keep the others from being written.

        Files first: they do not depend on who reads standard output.
        """
        writers = {"model": self._write_model, "centers": self._write_centers,
                   "labels": self._write_labels}  # fmt: skip
        failures: dict[str, Exception] = {}
        for name, write in writers.items():
            try:
                write(model)
            except Exception as error:  # of whatever kind: hours of work are to be kept
                failures[name] = error
        return failures

    def _write_model(self, model: BoostKMeans | BisectingBoostKMeans) -> None:
        if self.model is not None:
            self.model.check()  # again, as `save` overwrites
            with writing_to(self.model.path):
                model.save(self.model.path, labels=False)

    def _write_centers(self, model: BoostKMeans | BisectingBoostKMeans) -> None:
        if self.centers is not None:
            with writing_to(self.centers.path):
                write_vectors(self.centers.path, model.cluster_centers_, force=self.centers.force)

    def _write_labels(self, model: BoostKMeans | BisectingBoostKMeans) -> None:
        if self.labels is not None:
            with column_writer(self.labels, len(model.labels_), np.int32) as write:
                write(model.labels_)


def summary(
    vectors: Vectors,
    model: BoostKMeans | BisectingBoostKMeans,
    method: str,
    seconds: float,
    files: dict[str, str],
) -> dict[str, Any]:
    """All that there is to say, for JSON."""
    parameters = {
        name: value
        for name, value in model.get_params(deep=False).items()
        if name not in ("callback", "verbose", "checkpoint") and not isinstance(value, np.ndarray)
    }
    found = {
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
        "sizes": sizes_of(model.cluster_sizes_),
        "cluster_sizes": model.cluster_sizes_,
        "n_sweeps": model.n_iter_,
        "stop_reason": model.stop_reason_,
        "converged": model.converged_,
        "interrupted": model.stop_reason_ == "interrupted",
        "seconds": seconds,
        "files": files,
        "history": [asdict(record) for record in model.history_],
    }
    made: dict[str, Any] = plain(found)
    return made


def print_summary(made: dict[str, Any], *, as_json: bool) -> None:
    """To standard output."""
    print_result(json.dumps(made, allow_nan=False) if as_json else _listing(made))


def _listing(made: dict[str, Any]) -> str:
    pairs = [
        ("rows", f"{made['n_rows']:,}"),
        ("features", f"{made['n_features']:,}"),
        ("clusters", f"{made['n_clusters']:,}"),
        ("distortion", shown_measure(made["distortion"])),
        ("inertia", shown_measure(made["inertia"])),
        ("sizes", shown_sizes(made["sizes"])),
        ("sweeps", f"{made['n_sweeps']:,}"),
        ("stopped by", made["stop_reason"]),
        ("seconds", f"{made['seconds']:.2f}"),
    ]
    return two_columns([*pairs, *made["files"].items()])
