"""Rows that change during a fit crash nothing, and their result is never certified with NaN."""

import logging
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from attacks import changing_rows
from boostkmeans import BisectingBoostKMeans, BoostKMeans
from boostkmeans.documents import CriterionKMeans
from boostkmeans.select import scan
from conftest import run_python

SCRIPT = Path(changing_rows.__file__)
# Number of fits. Each combination of rows and changed arrays occurs, with all settings for most.
N_FITS = 45


@pytest.mark.slow
@pytest.mark.process
def test_fits_of_changing_rows_end() -> None:
    arguments = [str(SCRIPT), "0", str(N_FITS)]
    result = run_python(f"""
import runpy, sys
sys.argv = {arguments}
runpy.run_path({str(SCRIPT)!r}, run_name="__main__")
""")
    assert result.returncode == 0, result.stdout[-500:] + result.stderr
    lines = result.stdout.splitlines()
    assert len(lines) == 2 * N_FITS  # a fit and a tree for each seed
    assert not [line for line in lines if "FAULT" in line]


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("settings", [{}, {"max_size": 90}, {"n_candidates": 4}])
def test_nan_is_an_error(kind: str, settings: dict[str, Any]) -> None:
    X = np.random.default_rng(0).normal(size=(300, 4))
    rows: Any = X if kind == "dense" else sparse.csr_array(X)
    values = X if kind == "dense" else rows.data

    def spoil(_: object) -> None:
        values[:10] = np.nan

    model = BoostKMeans(5, random_state=0, tol=0, callback=spoil, **settings)
    with pytest.raises(ValueError, match="NaN or infinity, which it did not contain when the fit began"):
        model.fit(rows)
    assert not hasattr(model, "labels_")


class SpoilingHandler(logging.Handler):
    """Changes rows while a tree grows, in which no callback is called, and stops an endless loop."""

    def __init__(self, X: Any) -> None:
        super().__init__()
        self._X, self._n_rounds = X, 0

    def emit(self, record: logging.LogRecord) -> None:
        """Write NaN into the rows of a growing tree. Raise an error if the tree does not notice."""
        if "leaves are final" in record.getMessage():
            self._X[::3, 0] = np.nan
            self._n_rounds += 1
            assert self._n_rounds < 1000, "the tree does not end"


@pytest.mark.parametrize("split", ["largest", "inertia", "average", "scan"])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_nan_in_a_growing_tree_is_an_error(
    split: str, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    X = np.random.default_rng(0).normal(size=(400, 8))
    rows: Any = X if kind == "dense" or split == "scan" else sparse.csr_array(X)
    handler = SpoilingHandler(X if rows is X else rows.data.reshape(X.shape))
    caplog.set_level(logging.DEBUG, logger="boostkmeans")
    logger = logging.getLogger("boostkmeans")
    grow: Any = BisectingBoostKMeans(5, split=split, random_state=0).fit
    if split == "scan":
        grow = partial(scan, ks=[5], random_state=0)
    logger.addHandler(handler)
    try:
        with pytest.raises(ValueError, match="NaN or infinity, which it did not contain"):
            grow(rows)
    finally:
        logger.removeHandler(handler)


def test_other_values_are_not_certified() -> None:
    X = np.random.default_rng(0).normal(size=(300, 4))
    seen = []

    def spoil(record: object) -> None:
        seen.append(record)
        if len(seen) == len(plain.history_):  # after the last sweep
            X[:] = X[::-1].copy()

    plain = BoostKMeans(5, random_state=0, tol=0).fit(X)
    assert plain.converged_
    model = BoostKMeans(5, random_state=0, tol=0, callback=spoil).fit(X)
    assert len(seen) == len(plain.history_)
    assert not model.converged_


@pytest.mark.parametrize("what", ["values", "indices", "wrong indices"])
def test_sparse_rows_that_a_callback_changes_are_not_certified(what: str) -> None:
    """Small sparse matrices are expanded when the fit begins, which would hide later changes."""
    X = sparse.random_array((300, 30), density=0.2, format="csr", random_state=np.random.default_rng(0))
    assert BoostKMeans(5, random_state=0, tol=0).fit(X).converged_

    def spoil(_: object) -> None:
        if what == "values":
            X.data[3] = 0.5
        else:
            X.indices[:] = (29 - X.indices) if what == "indices" else 30

    model = BoostKMeans(5, random_state=0, tol=0, callback=spoil).fit(X)
    assert not model.converged_
    assert model.stop_reason_ == "tol"


def test_one_changed_value_is_not_certified() -> None:
    """The change is too small to move a row or to change the digits of the inertia."""
    X = np.random.default_rng(0).normal(size=(300, 4))

    def spoil(_: object) -> None:
        X[0, 0] = np.nextafter(X[0, 0], np.inf)

    assert BoostKMeans(5, random_state=0, tol=0, callback=lambda _: None).fit(X).converged_
    assert not BoostKMeans(5, random_state=0, tol=0, callback=spoil).fit(X).converged_


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_other_lengths_are_not_certified(kind: str) -> None:
    """The lengths of rows are computed once, when a fit with cosine distances begins."""
    X = np.random.default_rng(0).normal(size=(300, 4))
    rows: Any = X if kind == "dense" else sparse.csr_array(X)
    values = X if kind == "dense" else rows.data

    def spoil(_: object) -> None:
        values[:20] = 3

    model = BoostKMeans(5, random_state=0, tol=0, metric="cosine", callback=spoil).fit(rows)
    assert not model.converged_


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_criteria_refuse_nan(value: float) -> None:
    X = np.random.default_rng(0).random((200, 8))

    def spoil(_: object) -> None:
        X[:10] = value

    with pytest.raises(ValueError, match="NaN or infinity, which it did not contain when the fit began"):
        CriterionKMeans(5, random_state=0, callback=spoil).fit(X)


def test_criteria_do_not_certify_other_lengths() -> None:
    X = np.random.default_rng(0).random((200, 8))
    assert CriterionKMeans(5, random_state=0).fit(X).converged_

    def spoil(_: object) -> None:
        X[:10] = 3

    assert not CriterionKMeans(5, random_state=0, callback=spoil).fit(X).converged_


def test_criteria_do_not_certify_other_directions() -> None:
    X = np.random.default_rng(0).random((200, 8))

    def spoil(_: object) -> None:
        X[0] = X[0, ::-1].copy()

    assert not CriterionKMeans(5, random_state=0, callback=spoil).fit(X).converged_


def test_core_has_its_own_row_starts() -> None:
    rng = np.random.default_rng(0)
    X = sparse.random_array((200, 30), density=0.2, format="csr", random_state=rng)
    expected = BoostKMeans(4, random_state=0).fit(X).labels_
    starts = X.indptr

    def spoil(_: object) -> None:
        starts[:] = rng.integers(-(10**6), 10**6, size=len(starts))

    found = BoostKMeans(4, random_state=0, callback=spoil).fit(X).labels_
    assert np.array_equal(found, expected)
