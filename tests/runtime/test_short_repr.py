"""Short representations of the records that hold arrays, texts or long lists."""

import importlib
import inspect
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import boostkmeans
from boostkmeans import BisectingBoostKMeans
from boostkmeans._runtime.short_repr import short_repr
from boostkmeans.baselines import DemoData
from boostkmeans.documents import Corpus, cluster_documents
from boostkmeans.images import ImageVectors
from boostkmeans.io import LabelledMatrix
from boostkmeans.select import scan

MODULES = ("baselines", "distributed", "documents", "images", "io", "metrics", "quantization", "select")
# Characters of a representation that fits into a few lines.
MAX_LENGTH = 1000
X = np.random.default_rng(0).normal(size=(400, 30))
TEXTS = [f"word{i % 7} word{i % 11} another word {i % 13} " * 30 for i in range(400)]


def documents() -> Any:
    return cluster_documents(TEXTS, 5, random_state=0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: BisectingBoostKMeans(50, random_state=0).fit(X).tree_,
        lambda: scan(X, range(2, 30), random_state=0, n_references=0),
        lambda: scan(X, [2], random_state=0, n_references=0).entries[0],
        documents,
        lambda: documents().documents,
        lambda: documents().clusters[0],
        lambda: Corpus.from_texts(TEXTS),
        lambda: ImageVectors([str(i) for i in range(400)], X.astype(np.float32)),
        lambda: DemoData(X, "title"),
        lambda: LabelledMatrix(sparse.csr_array(X), np.arange(400), 1, {"data": X}),
    ],
)
def test_representations_are_short(make: Any) -> None:
    made = make()
    assert len(repr(made)) < MAX_LENGTH
    assert repr(made).startswith(f"{type(made).__name__}(")
    assert "array([" not in repr(made)


def test_arrays_are_described() -> None:
    assert repr(DemoData(X, "t")) == "DemoData(X=<ndarray of shape (400, 30), float64>, title='t')"


@dataclass(frozen=True, repr=False)
class Numbers:
    """A record of an array."""

    values: Any
    __repr__ = short_repr


def test_short_arrays_are_shown() -> None:
    assert repr(Numbers(np.array([4, 7]))) == "Numbers(values=[4, 7])"
    assert repr(Numbers(np.array([], dtype=np.int64))) == "Numbers(values=[])"
    assert repr(Numbers(np.arange(8))) == "Numbers(values=[0, 1, 2, 3, 4, 5, 6, 7])"
    assert repr(Numbers(np.arange(1000))) == "Numbers(values=[0, 1, 2, ...: 1,000 numbers])"
    assert repr(Numbers(np.zeros((1, 2)))) == "Numbers(values=<ndarray of shape (1, 2), float64>)"


def public_dataclasses() -> list[type[Any]]:
    homes = [boostkmeans, *(importlib.import_module(f"boostkmeans.{name}") for name in MODULES)]
    values = [getattr(home, name) for home in homes for name in home.__all__]
    classes = {one for one in values if inspect.isclass(one) and is_dataclass(one)}
    return sorted(classes, key=lambda one: one.__name__)


@pytest.mark.parametrize("kind", public_dataclasses(), ids=lambda kind: kind.__name__)
def test_public_records_do_not_print_arrays(kind: type[Any]) -> None:
    """The representation that dataclasses generate, which they wrap, prints whole arrays."""
    words = ("NDArray", "Floats", "csr", "ndarray")
    printed = [one for one in fields(kind) if one.repr and any(word in str(one.type) for word in words)]
    assert not (printed and hasattr(kind.__repr__, "__wrapped__")), printed
