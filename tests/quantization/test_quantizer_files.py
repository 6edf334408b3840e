"""Product quantizers on files: training rows within memory, batch search, evaluation."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from boostkmeans import ProductQuantizer, metrics
from boostkmeans._data import memory
from boostkmeans._runtime.errors import EmptyDataError, NotFiniteError
from boostkmeans.io import Vectors, open_vectors, write_vectors
from boostkmeans.quantization import search_batches, training_rows

X = np.random.default_rng(0).normal(size=(1_000, 8)).astype(np.float32)


@pytest.fixture
def vectors(tmp_path: Path) -> Iterator[Vectors]:
    write_vectors(tmp_path / "x.fvecs", X)
    with open_vectors(tmp_path / "x.fvecs") as opened:
        yield opened


@pytest.fixture(scope="module")
def quantizer() -> ProductQuantizer:
    return ProductQuantizer(2, 16, random_state=0).fit(X)


def test_training_rows_are_all_rows_by_default(vectors: Vectors) -> None:
    assert training_rows(ProductQuantizer(2, 16), vectors) is vectors


def test_training_rows_are_drawn_from_equal_ranges(vectors: Vectors) -> None:
    unfitted = ProductQuantizer(2, 16, random_state=3)
    rows = training_rows(unfitted, vectors, 100)
    numbers = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in rows.load()]
    assert [number // 10 for number in numbers] == list(range(100))
    np.testing.assert_array_equal(training_rows(unfitted, vectors, 100).load(), rows.load())
    other = training_rows(ProductQuantizer(2, 16, random_state=4), vectors, 100)
    assert not np.array_equal(other.load(), rows.load())
    assert training_rows(unfitted, vectors, 5_000) is vectors


def test_training_rows_respect_the_memory_limit(
    vectors: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "PROCESS", 0)
    vectors.max_memory = 100_000
    rows = training_rows(ProductQuantizer(2, 16, random_state=0), vectors)
    assert 16 <= rows.shape[0] < 1_000
    rotated = training_rows(ProductQuantizer(2, 16, rotation=1, random_state=0), vectors)
    assert rotated.shape[0] < rows.shape[0]
    with pytest.raises(MemoryError, match=r"Training on 900 rows of 8 features .* allows \d+ rows"):
        training_rows(ProductQuantizer(2, 16), vectors, 900)
    with pytest.raises(MemoryError, match="Train on fewer rows"):
        training_rows(ProductQuantizer(2, 990), vectors)


def test_training_rows_name_the_row_of_the_file(tmp_path: Path) -> None:
    bad = X.copy()
    bad[500:600, 3] = np.nan
    np.save(tmp_path / "bad.npy", bad)
    with open_vectors(tmp_path / "bad.npy") as vectors, pytest.raises(NotFiniteError) as raised:
        training_rows(ProductQuantizer(2, 16), vectors, 100)
    assert 500 <= raised.value.row < 510
    assert raised.value.column == 3


@pytest.mark.parametrize("symmetric", [False, True])
def test_search_batches(vectors: Vectors, quantizer: ProductQuantizer, symmetric: bool) -> None:
    codes = quantizer.encode(X)
    expected = quantizer.search(X, codes, 3, symmetric=symmetric)
    steps: list[tuple[str, int, int | None]] = []
    batches = list(
        search_batches(
            quantizer, vectors, codes, 3, symmetric=symmetric, progress=lambda *one: steps.append(one)
        )
    )
    assert [len(batch.indices) for batch in batches] == [256, 256, 256, 232]
    np.testing.assert_array_equal(np.concatenate([one.indices for one in batches]), expected.indices)
    np.testing.assert_array_equal(np.concatenate([one.distances for one in batches]), expected.distances)
    assert steps[0] == ("searching", 0, 1_000)
    assert steps[-1] == ("searching", 1_000, 1_000)


def test_search_batches_check_all_queries_first(tmp_path: Path, quantizer: ProductQuantizer) -> None:
    bad = X.copy()
    bad[990, 1] = np.inf
    np.save(tmp_path / "bad.npy", bad)
    np.save(tmp_path / "empty.npy", X[:0])
    with open_vectors(tmp_path / "bad.npy") as vectors, pytest.raises(NotFiniteError, match="row 990"):
        next(search_batches(quantizer, vectors, quantizer.encode(X)))
    with open_vectors(tmp_path / "empty.npy") as vectors, pytest.raises(EmptyDataError):
        next(search_batches(quantizer, vectors, quantizer.encode(X)))


def test_evaluate_search(vectors: Vectors, quantizer: ProductQuantizer) -> None:
    codes = quantizer.encode(X)
    truth: NDArray[np.int64] = metrics.exact_neighbors(X, X[:50], 1).indices
    found = quantizer.search(X[:50], codes, 10).indices
    expected = metrics.recall_at([1, 10], found, truth).tolist()
    queries = vectors.between(0, 50)
    measured = metrics.evaluate_search(quantizer, vectors, queries, [1, 10])
    assert measured.recall == dict(zip([1, 10], expected, strict=True))
    assert measured.distortion == pytest.approx(-quantizer.score(X))
    assert None not in measured.seconds.values()
    given = metrics.evaluate_search(quantizer, vectors, queries, [1, 10], codes=codes, truth=truth)
    assert given.recall == measured.recall
    assert given.seconds["encoding"] is given.seconds["truth"] is None
