"""Models and quantizers that a command reads: what is neither, or the other, is bad data."""

from typing import Any

from boostkmeans import ProductQuantizer, load_model
from boostkmeans._engine import checkpoint
from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._storage import format_names
from boostkmeans._storage.tensors import peek

# By their formats, with an article.
KINDS = {
    format_names.MODEL: "a model of clusters",
    format_names.QUANTIZER: "a product quantizer",
    checkpoint.FORMAT: "a checkpoint",
}


def read_model(path: str, threads: int | None) -> Any:
    """The clustering of a file, which works with so many threads."""
    _check_kind(path, format_names.MODEL, "boostkmeans fit")
    model = load_model(path)
    model.set_params(n_threads=threads)
    return model


def read_quantizer(path: str, threads: int | None) -> ProductQuantizer:
    """The quantizer of a file, which works with so many threads."""
    _check_kind(path, format_names.QUANTIZER, "boostkmeans pq train")
    quantizer = ProductQuantizer.load(path)
    quantizer.set_params(n_threads=threads)
    return quantizer


def _check_kind(path: str, wanted: str, maker: str) -> None:
    """Raises an error if a file is another one of ours. What is none of ours, the reader says better."""
    found = peek(path)
    if found is not None and found[0] in KINDS and found[0] != wanted:
        raise DataFormatError(
            f"{path} has {KINDS[found[0]]}, where {KINDS[wanted]} is needed: {maker} writes one."
        )
