"""Files that `boostkmeans images` writes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

import numpy as np

from boostkmeans import explore
from boostkmeans._runtime.installation import install_hint
from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans._runtime.untrusted_text import as_utf8, escape_untrusted
from boostkmeans.cli.commands.images.options import ImageOutputOptions
from boostkmeans.cli.files.label_table import table_writer
from boostkmeans.cli.files.output import (
    Output,
    check_ending,
    check_model_ending,
    output_to,
    require_file,
    writing_to,
)
from boostkmeans.cli.files.page_output import check_page
from boostkmeans.images import ImageClusters
from boostkmeans.io import write_vectors

LABEL_ENDINGS = (".csv", ".tsv", ".parquet")
VECTOR_ENDINGS = (".npy", ".fvecs", ".fbin", ".parquet")
# Name of the column of the labels.
CLUSTER = "cluster"


@dataclass(frozen=True)
class ImageOutputs:
    """Destinations of the results."""

    model: Output | None
    labels: Output | None
    vectors: Output | None
    page: Output | None
    pipeline: Output | None

    @classmethod
    def from_options(
        cls, options: ImageOutputOptions, *, computes_vlad: bool, force: bool
    ) -> "ImageOutputs":
        """Return the outputs, and raise an error if a result cannot be written."""
        outputs = cls(
            *(
                output_to(path, force=force)
                for path in (
                    options.output, options.labels, options.vectors, options.page, options.save_pipeline
                )
            )
        )  # fmt: skip
        for name, one in outputs.by_option().items():
            if name != "--labels":
                require_file(name, one)
        check_model_ending(outputs.model)
        check_ending("--labels", outputs.labels, LABEL_ENDINGS, stdout=True)
        check_ending("--vectors", outputs.vectors, VECTOR_ENDINGS, stdout=False)
        for name in ("labels", "vectors"):
            one = getattr(outputs, name)
            if one is not None and one.ending == ".parquet" and find_spec("pyarrow") is None:
                raise ImportError(f"--{name} as .parquet needs pyarrow: {install_hint('parquet')}")
        check_page("--page", outputs.page)
        if outputs.pipeline is not None and not computes_vlad:
            raise ValueError("--save-pipeline is for --features vlad: other features have no pipeline.")
        return outputs

    def by_option(self) -> dict[str, Output | None]:
        """Return the outputs by option."""
        return {
            "--output": self.model,
            "--labels": self.labels,
            "--vectors": self.vectors,
            "--page": self.page,
            "--save-pipeline": self.pipeline,
        }

    @property
    def prints_labels(self) -> bool:
        """True if standard output is used for the labels."""
        return self.labels is not None and self.labels.is_stdout

    @property
    def files(self) -> dict[str, str]:
        """Paths of the files by the names of the JSON output."""
        found = {
            "model": self.model,
            "pipeline": self.pipeline,
            "vectors": self.vectors,
            "page": self.page,
            "labels": self.labels,
        }
        return {name: one.path for name, one in found.items() if one is not None and not one.is_stdout}

    def write(
        self, found: ImageClusters, command: str, n_threads: int | None, progress: ProgressCallback
    ) -> dict[str, Exception]:
        """Write all results, and return the errors by result.

        The page shows `command`. An error does not prevent the other results from being written. Labels
        are written last, because they may be printed to a closed pipe.
        """
        writers: dict[str, Callable[[], None]] = {
            "model": partial(self._save, self.model, partial(found.model.save, labels=False)),
            "vectors": partial(self._write_vectors, found),
            "page": partial(self._write_page, found, command, n_threads, progress),
            "labels": partial(self._write_labels, found),
        }
        if found.pipeline is not None:
            writers = {"pipeline": partial(self._save, self.pipeline, found.pipeline.save)} | writers
        failures: dict[str, Exception] = {}
        for name, write in writers.items():
            try:
                write()
            except Exception as error:  # of any type, because the vectors may have taken hours
                failures[name] = error
        return failures

    @staticmethod
    def _save(output: Output | None, save: Callable[[str], None]) -> None:
        if output is not None:
            output.check()  # again, as `save` overwrites existing files
            with writing_to(output.path):
                save(output.path)

    def _write_vectors(self, found: ImageClusters) -> None:
        if self.vectors is not None:
            with writing_to(self.vectors.path):
                write_vectors(self.vectors.path, found.vectors, force=self.vectors.force)

    def _write_page(
        self, found: ImageClusters, command: str, n_threads: int | None, progress: ProgressCallback
    ) -> None:
        if self.page is None:
            return
        page = explore.page(
            found.model,
            found.vectors,
            images=found.paths,
            ids=found.names,
            title=f"Images of {found.source}",
            n_threads=n_threads,
            progress=progress,
            command=command,
        )
        self._save(self.page, page.save)

    def _write_labels(self, found: ImageClusters) -> None:
        if self.labels is None:
            return
        # A terminal would obey escape sequences. Files keep the names as they are, except for bytes that
        # are not UTF-8.
        clean = escape_untrusted if self.labels.is_stdout else as_utf8
        ids = np.array([clean(name) for name in found.names], dtype=object)
        with table_writer(self.labels, ids.dtype, (CLUSTER,)) as write:
            write(found.labels, ids)
