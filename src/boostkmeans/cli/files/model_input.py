"""Models and quantizers that a command reads."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from boostkmeans import DataFormatError, ProductQuantizer, describe_file, load_model
from boostkmeans.documents import DocumentModel

# Names of the kinds of files, with an article.
KINDS = {
    "model": "a model of clusters",
    "quantizer": "a product quantizer",
    "image pipeline": "an image pipeline",
    "document model": "a model of documents",
    "checkpoint": "a checkpoint",
}
# Commands that write files of these kinds.
WRITERS = {
    "model": "boostkmeans fit",
    "quantizer": "boostkmeans pq train",
    "document model": "boostkmeans docs -o MODEL",
}
# Advice for files that another command reads.
READERS = {"document model": " `boostkmeans predict-docs` applies it to new documents."}


def read_model(path: str, n_threads: int | None, others: Sequence[str] = ()) -> Any:
    """Load a clustering model, and set its number of threads.

    If the file is not a model, but one of the `others` is, the error explains the right order.
    """
    _check_order(path, others, "model")
    _check_kind(path, "model")
    return load_model(path).set_params(n_threads=n_threads)


def read_document_model(path: str, n_threads: int | None, documents: str) -> DocumentModel:
    """Load a model of documents, and set its number of threads."""
    _check_order(path, [documents], "document model")
    _check_kind(path, "document model")
    model = DocumentModel.load(path)
    model.clusterer.set_params(n_threads=n_threads)
    return model


def read_quantizer(path: str, n_threads: int | None) -> ProductQuantizer:
    """Load a product quantizer, and set its number of threads."""
    _check_kind(path, "quantizer")
    quantizer = ProductQuantizer.load(path)
    quantizer.set_params(n_threads=n_threads)
    return quantizer


def _check_order(path: str, others: Sequence[str], expected: str) -> None:
    """Raise an error if the user seems to have swapped the model and the data."""
    if _kind(path) is not None:
        return
    models = [one for one in others if _kind(one) == expected]
    if models:
        rest = [path, *(one for one in others if one != models[0])]
        raise ValueError(
            f"{models[0]} is the model, and {path} is not one: the model comes first. Use the order "
            f"{shlex.join([models[0], *rest])}."
        )


def _kind(path: str) -> str | None:
    """Return the kind of a file that boostkmeans wrote, or None for other files."""
    try:
        found = describe_file(path) if Path(path).is_file() else None
    except (DataFormatError, OSError):
        return None
    return None if found is None else found.kind


def _check_kind(path: str, expected: str) -> None:
    """Raise an error if the file is of another kind. Other files are rejected by the loader."""
    found = describe_file(path)
    if found is not None and found.kind != expected:
        raise DataFormatError(
            f"{path} contains {KINDS[found.kind]}, but {KINDS[expected]} is needed: "
            f"{WRITERS[expected]} writes one.{READERS.get(found.kind, '')}"
        )
