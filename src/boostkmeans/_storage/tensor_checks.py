"""Checks of the tensors of an untrusted file against a table of expected types and shapes."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.untrusted_text import escape_untrusted

Tensors = Mapping[str, NDArray[Any]]


class TensorSpec(NamedTuple):
    """Expected type, shape and range of a tensor."""

    dtype: type[np.generic]
    dimensions: tuple[str, ...]
    """Names of the dimensions. Dimensions of the same name have the same length in all tensors."""
    low: float = -np.inf
    """Smallest value."""
    below: str | None = None
    """Dimension whose length is an exclusive upper limit of the values."""
    may_be_infinite: bool = False
    per_row: bool = False
    """True if the tensor has one value per row of the data. Files without labels omit such tensors."""


class Checker:
    """Checks of a file, or of a fitted estimator that is about to be saved.

    Parameters
    ----------
    remedy : str
        Advice for the user, as a full sentence.
    file : str, default=""
        Name of the file, escaped for messages.
    subject : str, default=""
        Name of the checked object in messages, if it is not a file.
    """

    def __init__(self, remedy: str, *, file: str = "", subject: str = "") -> None:
        self._remedy = remedy
        self._file = file
        self._subject = subject

    def require(self, condition: bool | np.bool_, problem: str, *, place: str = "") -> None:
        """Raise DataFormatError unless the condition holds. `problem` is a full sentence."""
        if not condition:
            where = ": ".join(one for one in (self._subject, place) if one)
            raise DataFormatError(problem, file=self._file, place=where, remedy=self._remedy)

    def tensors(
        self, tensors: Tensors, table: Mapping[str, TensorSpec], lengths: dict[str, int] | None = None
    ) -> dict[str, int]:
        """Check names, types, shapes and ranges of all tensors.

        `lengths` gives the lengths of dimensions that are known already. Returns the lengths of all
        dimensions.
        """
        lengths = dict(lengths or {})
        self._names(set(tensors), set(table))
        for name, spec in table.items():
            self._shape(name, tensors[name], spec, lengths)
        for name, spec in table.items():
            self._range(name, tensors[name], spec, lengths)
        return lengths

    def _names(self, found: set[str], expected: set[str]) -> None:
        missing, others = sorted(expected - found), sorted(found - expected)
        self.require(not missing, f"Missing tensors: {', '.join(map(repr, missing))}.")
        self.require(
            not others, f"Unexpected tensors: {escape_untrusted(', '.join(map(repr, others)))}."
        )

    def _shape(self, name: str, tensor: NDArray[Any], spec: TensorSpec, lengths: dict[str, int]) -> None:
        dtype = np.dtype(spec.dtype)
        place = f"tensor {name!r}"
        self.require(tensor.dtype == dtype, f"Expected {dtype}. Got {tensor.dtype}.", place=place)
        good = tensor.ndim == len(spec.dimensions) and all(
            lengths.setdefault(dimension, length) == length
            for dimension, length in zip(spec.dimensions, tensor.shape, strict=True)
        )
        expected = ", ".join(f"{one}={lengths.get(one, '?')}" for one in spec.dimensions)
        self.require(good, f"Expected the shape ({expected}). Got {tensor.shape}.", place=place)

    def _range(
        self, name: str, tensor: NDArray[Any], spec: TensorSpec, lengths: Mapping[str, int]
    ) -> None:
        place = f"tensor {name!r}"
        if tensor.dtype.kind == "f":
            good = not np.isnan(tensor).any() if spec.may_be_infinite else np.isfinite(tensor).all()
            self.require(good, "The tensor contains NaN or infinity.", place=place)
        if tensor.size:
            self.require(tensor.min() >= spec.low, f"A value is below {spec.low}.", place=place)
            if spec.below is not None:
                largest = lengths[spec.below] - 1
                self.require(tensor.max() <= largest, f"A value is above {largest}.", place=place)
