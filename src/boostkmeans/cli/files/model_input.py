"""Models and quantizers that a command reads."""

from typing import Any

from boostkmeans import DataFormatError, ProductQuantizer, describe_file, load_model

# Names of the kinds of files, with an article.
KINDS = {
    "model": "a model of clusters",
    "quantizer": "a product quantizer",
    "checkpoint": "a checkpoint",
}
# Commands that write files of these kinds.
WRITERS = {"model": "boostkmeans fit", "quantizer": "boostkmeans pq train"}


def read_model(path: str, n_threads: int | None) -> Any:
    """Load a clustering model, and set its number of threads."""
    _check_kind(path, "model")
    return load_model(path).set_params(n_threads=n_threads)


def read_quantizer(path: str, n_threads: int | None) -> ProductQuantizer:
    """Load a product quantizer, and set its number of threads."""
    _check_kind(path, "quantizer")
    quantizer = ProductQuantizer.load(path)
    quantizer.set_params(n_threads=n_threads)
    return quantizer


def _check_kind(path: str, expected: str) -> None:
    """Raise an error if the file is of another kind. Other files are rejected by the loader."""
    found = describe_file(path)
    if found is not None and found.kind != expected:
        raise DataFormatError(
            f"{path} contains {KINDS[found.kind]}, but {KINDS[expected]} is needed: "
            f"{WRITERS[expected]} writes one."
        )
