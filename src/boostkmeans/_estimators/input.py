"""Input: validation of the rows that users pass to estimators."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _get_feature_names, validate_data

from boostkmeans._data.frame import Array
from boostkmeans._data.row_source import RowSource
from boostkmeans._data.rows import DTYPES, SPARSE_DTYPES, canonical
from boostkmeans._data.user_input import converting
from boostkmeans._estimators.vector_columns import user_rows
from boostkmeans._runtime.errors import MAX_SHOWN, EmptyDataError, FeatureCountError, shorten
from boostkmeans._runtime.untrusted_text import escape_untrusted

# Largest number of characters of an error that repeats a value of X. Those of scikit-learn are shorter.
MAX_MESSAGE = 2000
# Attributes that scikit-learn's validation sets.
INPUT_ATTRIBUTES = ("n_features_in_", "feature_names_in_")


class RowInput(BaseEstimator):
    """Base class of the estimators: conversion of X to arrays that the core can read."""

    _takes_sparse = True
    _made_by_fit: str
    """Name of an attribute that every fit replaces."""

    @contextmanager
    def _restore_input_on_failure(self) -> Iterator[None]:
        """Restore the attributes about features if a fit fails before it sets any result."""
        attributes = self.__dict__
        before = {name: attributes[name] for name in INPUT_ATTRIBUTES if name in attributes}
        made = attributes.get(self._made_by_fit)
        try:
            yield
        except BaseException:
            if attributes.get(self._made_by_fit) is made:
                for name in INPUT_ATTRIBUTES:
                    attributes.pop(name, None)
                attributes.update(before)
            raise

    def _validate(self, X: ArrayLike, *, reset: bool) -> Array:
        """Return X as an array or CSR matrix that the core can read, without a copy if possible.

        The core checks later that all values are finite.
        """
        if isinstance(X, RowSource):
            return self._validate_source(X, reset=reset, whole=True)
        X = user_rows(X)
        if isinstance(X, np.ndarray) and X.dtype == np.bool_:
            X = X.view(np.uint8)
        self._check_shape_of_input(X, reset=reset)
        if not reset:
            self._check_readable_names(X)
        dtypes = list(SPARSE_DTYPES if sparse.issparse(X) else DTYPES)
        with _short_errors(), converting("X"):
            array = validate_data(
                self,
                X,
                reset=reset,
                dtype=dtypes,
                accept_sparse="csr" if self._takes_sparse else False,
                ensure_all_finite=False,
            )
        return canonical(array) if sparse.issparse(array) else np.asarray(array)

    def _check_shape_of_input(self, X: Any, *, reset: bool) -> None:
        """Raise a structured error if X is empty or its number of features differs from that in `fit`.

        scikit-learn raises the same messages as plain ValueErrors. The command line needs their fields.
        Data frames and lists are left to scikit-learn, which checks their column names first.
        """
        if not (isinstance(X, np.ndarray) or sparse.issparse(X)) or X.ndim != 2:
            return
        owner, n_features = type(self).__name__, X.shape[1]
        if 0 in X.shape:
            raise EmptyDataError(X.shape, owner)
        n_expected = n_features if reset else getattr(self, "n_features_in_", n_features)
        if n_features != n_expected:
            raise FeatureCountError(n_features, n_expected, owner)

    def _check_readable_names(self, X: Any) -> None:
        """Raise an error for other feature names than in `fit`, if they are not fit for a message.

        scikit-learn raises an error for other names, too, and repeats them as they are. Those of a model
        file may be very long, or contain escape sequences that a terminal would obey.
        """
        known: Any = getattr(self, "feature_names_in_", None)
        names = None if known is None else _get_feature_names(X)
        if names is None or all(map(_is_readable, (*names, *known))):
            return
        check_feature_names(names, known, "X")

    def _validate_source(self, source: RowSource, *, reset: bool, whole: bool) -> Array:
        """Validate a file, using all of its rows or the first one, and its feature names."""
        names = source.feature_names
        with warnings.catch_warnings():
            # scikit-learn cannot read the feature names of a file.
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
            array = self._validate(source.load() if whole else source.read(0, 1), reset=reset)
        known = getattr(self, "feature_names_in_", None)
        if reset and names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif not reset and names is not None and known is not None:
            check_feature_names(names, known, source.name)
        return array

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        return tags


def check_feature_names(names: Sequence[str], known: Sequence[str], source: str) -> None:
    """Raise ValueError unless the columns of `source` have the names that `fit` has seen."""
    for i, (name, before) in enumerate(zip_longest(names, known), 1):
        if name != before:
            raise _other_names(i, source, name, before)


@contextmanager
def _short_errors() -> Iterator[None]:
    """Shorten errors of conversions, which repeat the value that cannot be converted."""
    try:
        yield
    except (TypeError, ValueError) as error:
        text = str(error)
        if len(text) <= MAX_MESSAGE:
            raise
        raise ValueError(shorten(text, MAX_MESSAGE)) from None


def _is_readable(name: str) -> bool:
    """Return True if a name is short and has no characters that a terminal would obey."""
    return len(name) <= MAX_SHOWN and name.isprintable()


def _other_names(column: int, owner: str, name: str | None, before: str | None) -> ValueError:
    return ValueError(
        f"The feature names should match those that were passed during fit: column {column} of "
        f"{escape_untrusted(owner)} is {_quoted(name)}, and was {_quoted(before)}."
    )


def _quoted(name: str | None) -> str:
    return "missing" if name is None else shorten(repr(name[:MAX_SHOWN]))
