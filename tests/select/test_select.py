"""Choosing the number of clusters."""

import json
import math
import pickle
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import calinski_harabasz_score, silhouette_score

from boostkmeans import BoostKMeans
from boostkmeans.select import Scan, ScanEntry, scan
from boostkmeans.select._suggestion import suggest
from conftest import blobs


@pytest.mark.slow
@pytest.mark.parametrize(("k", "seed"), [(3, 0), (8, 1), (15, 2)])
def test_suggests_number_of_well_separated_blobs(k: int, seed: int) -> None:
    X, _ = blobs(1500, 4, k, seed=seed, spread=10.0)
    found = scan(X, range(2, 25), random_state=0)
    assert found.suggestion == k
    assert "agree" in found.reason
    assert "not clear" not in found.reason


def test_measures_equal_those_of_scikit_learn() -> None:
    X, _ = blobs(1200, 3, 6)
    entry = scan(X, [6], random_state=0).entries[0]
    labels = BoostKMeans(6, init=entry.centers).fit_predict(X)
    assert entry.inertia == pytest.approx(BoostKMeans(6, random_state=0).fit(X).inertia_)
    assert entry.distortion == pytest.approx(entry.inertia / 1200)
    assert entry.calinski_harabasz == pytest.approx(calinski_harabasz_score(X, labels))
    assert entry.silhouette == pytest.approx(silhouette_score(X, labels))  # the sample has all rows


def test_gap_by_hand() -> None:
    """Rows near two points: the log distortion drops sharply at k = 2."""
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0], [1.0]], 200, axis=0) + rng.normal(size=(400, 1)) * 1e-3
    one, two = scan(X, [1, 2], random_state=0).entries
    # Distortion with one and two clusters: 1/12 and 1/48 for uniform rows on [0, 1], 1/4 and 1e-6 for X.
    assert one.gap == pytest.approx(math.log(1 / 12) - math.log(1 / 4), abs=0.15)
    assert two.gap == pytest.approx(math.log(1 / 48) - math.log(1e-6), abs=0.3)
    assert 0 < two.gap_error < 0.2


@pytest.mark.parametrize("seed", [0, 1])
def test_reason_expresses_doubt_for_uniform_rows(seed: int) -> None:
    X = np.random.default_rng(seed).uniform(size=(1000, 3))
    found = scan(X, range(1, 9), random_state=0)
    assert "not clear" in found.reason
    assert math.isnan(found.entries[0].silhouette)
    assert math.isnan(found.entries[0].calinski_harabasz)


def test_inertia_decreases_with_k() -> None:
    X, _ = blobs(1000, 3, 10, spread=3.0)
    inertias = [e.inertia for e in scan(X, range(1, 40, 3), random_state=0, n_references=0).entries]
    assert inertias == sorted(inertias, reverse=True)


def test_table_dict_and_centres() -> None:
    X, _ = blobs(500, 3, 5)
    found = scan(X, [7, 5, 5, 3], random_state=0, n_references=0)
    assert [e.n_clusters for e in found.entries] == [3, 5, 7]
    lines = str(found).splitlines()
    assert len(lines) == 5
    assert lines[2].endswith("<")
    assert lines[-1].startswith("suggested: 5 (")
    content = json.loads(json.dumps(found.to_dict()))
    assert content["suggestion"] == 5
    assert content["entries"][0]["gap"] is None
    assert found.centers(7).shape == (7, 3)
    assert [row["n_clusters"] for row in found.table] == [3, 5, 7]
    assert "centers" not in found.table[0]
    with pytest.raises(ValueError, match=r"n_clusters=4 is not among the scanned numbers \[3, 5, 7\]"):
        found.centers(4)


def test_plot_shows_measures_and_suggestion() -> None:
    pytest.importorskip("matplotlib")
    X, _ = blobs(300, 2, 4)
    figure = scan(X, range(1, 8), random_state=0, n_references=2).plot()
    assert len(figure.axes) == 4
    assert any("k = 4" in text.get_text() for text in figure.texts)


def test_notebook_shows_plot_and_table() -> None:
    formatters = pytest.importorskip("IPython.core.formatters")
    pytest.importorskip("matplotlib")
    X, _ = blobs(300, 2, 4)
    found = scan(X, range(1, 8), random_state=0, n_references=2)
    formatter = formatters.DisplayFormatter()
    formatter.active_types = list(formatter.formatters)
    image = formatter.format(found.plot())[0]["image/png"]
    assert image.startswith(b"\x89PNG")
    shown = formatter.format(found)[0]
    assert shown["text/plain"] == repr(found)
    table = shown["text/html"]
    assert table.count("<tr") == 8
    assert table.count("font-weight:bold") == 1
    assert "<td>-</td>" in table  # the silhouette of one cluster
    assert "nan" not in table


def test_reason_is_escaped_in_tables() -> None:
    X, _ = blobs(100, 2, 4)
    found = replace(scan(X, [2, 3], random_state=0, n_references=0), reason="<b>&")
    assert "(&lt;b&gt;&amp;)" in found._repr_html_()


def test_representation_lists_few_numbers() -> None:
    X, _ = blobs(100, 2, 4)
    few = scan(X, [2, 4], random_state=0, n_references=0)
    assert repr(few).startswith("Scan(n_clusters=[2, 4], suggestion=")
    many = scan(X, range(2, 20), random_state=0, n_references=0)
    assert repr(many).startswith("Scan(n_clusters=18 numbers from 2 to 19, suggestion=")
    assert "centers" not in repr(few.entries[0])


def test_suggests_number_of_directions_for_cosine() -> None:
    X, _ = blobs(600, 8, 6)
    X *= np.random.default_rng(0).uniform(0.1, 10, size=(600, 1))
    assert scan(X, range(2, 12), metric="cosine", random_state=0).suggestion == 6


def test_fewer_distinct_rows_than_clusters() -> None:
    X = np.repeat(np.eye(4), 50, axis=0)
    found = scan(X, [2, 4, 6], random_state=0)
    assert found.suggestion == 4
    assert found.entries[-1].inertia == pytest.approx(0, abs=1e-20)


def test_result_does_not_depend_on_threads() -> None:
    X, _ = blobs(800, 3, 9, spread=4.0)
    one, two = (scan(X, [3, 9, 20], random_state=5, n_threads=t).to_dict() for t in (1, 3))
    for a, b in zip(one["entries"], two["entries"], strict=True):
        assert {**a, "seconds": 0} == {**b, "seconds": 0}


@pytest.mark.parametrize("change", [lambda X: X * 1e120, lambda X: X * 1e-120, lambda X: X + 1e7])
def test_result_does_not_depend_on_unit_and_offset(change: Any) -> None:
    X, _ = blobs(600, 3, 6)
    plain, changed = (scan(Y, [3, 6, 9], random_state=0) for Y in (X, change(X)))
    assert plain.suggestion == changed.suggestion == 6
    for a, b in zip(plain.entries, changed.entries, strict=True):
        assert b.silhouette == pytest.approx(a.silhouette, abs=1e-6)
        assert b.gap == pytest.approx(a.gap, abs=1e-3)


@pytest.mark.parametrize(
    ("ks", "parameters", "message"),
    [
        ([2.5], {}, "ks"), ("23", {}, "ks"), (5, {}, "ks"), ([2], {"n_references": 1.5}, "n_references"),
        ([], {}, "ks"), ([0, 2], {}, "ks"), ([2, 100], {}, "ks"),
        ([2], {"metric": "manhattan"}, "metric"), ([2], {"n_references": -1}, "n_references"),
    ],
)  # fmt: skip
def test_rejects_invalid_parameters(ks: Any, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        scan(np.random.default_rng(0).normal(size=(100, 2)), ks, **parameters)


def test_rejects_nan() -> None:
    with pytest.raises(ValueError, match="NaN"):
        scan(np.full((10, 2), np.nan), [2])


def entry(k: int, *, silhouette: float, index: float, gap: float = math.nan) -> ScanEntry:
    """Return an entry with these measures."""
    return ScanEntry(k, 1.0, 1.0, silhouette, index, gap, 0.01, 0.0, np.zeros((k, 1)))


@pytest.mark.parametrize(
    ("entries", "suggestion", "reason"),
    [
        ([entry(2, silhouette=0.1, index=1)], 2, "only number"),
        (
            [entry(2, silhouette=0.9, index=1, gap=0.1), entry(3, silhouette=0.6, index=9, gap=0.5)],
            3,
            "^gap and Calinski-Harabasz index agree$",
        ),
        (
            [entry(2, silhouette=0.1, index=1), entry(3, silhouette=0.2, index=9)],
            3,
            "^silhouette and Calinski-Harabasz index agree, but .* not clearly separated.* 0.20$",
        ),
        (
            [
                entry(2, silhouette=0.9, index=1, gap=0.1),
                entry(3, silhouette=0.6, index=9, gap=0.1),
                entry(4, silhouette=0.6, index=1, gap=0.5),
            ],
            2,
            "the silhouette is highest: 0.90",
        ),
        (
            [
                entry(2, silhouette=0.3, index=1, gap=0.1),
                entry(3, silhouette=0.2, index=9, gap=0.1),
                entry(4, silhouette=0.2, index=1, gap=0.5),
            ],
            4,
            "near its maximum, but the result is not clear; gap: 4, silhouette: 2, Calinski.*: 3",
        ),
        (
            [entry(2, silhouette=0.3, index=1), entry(3, silhouette=0.2, index=9)],
            2,
            "^the result is not clear; silhouette: 2, Calinski-Harabasz index: 3",
        ),
        (
            [entry(2, silhouette=math.nan, index=math.nan)] * 2,
            2,
            "no criterion is defined",
        ),
    ],
)
def test_suggestion_by_criteria(entries: list[ScanEntry], suggestion: int, reason: str) -> None:
    k, text = suggest(entries)
    assert k == suggestion
    assert re.search(reason, text), text


def test_unpickles_scans_of_0_7() -> None:
    """Version 0.7 defined `Scan` in the module `boostkmeans.select`, which is a package now."""
    found = Scan([entry(2, silhouette=0.5, index=1)], 2, "a reason")
    pickled = pickle.dumps(found, protocol=0)
    old = pickled.replace(b"boostkmeans.select._result", b"boostkmeans.select")
    assert old != pickled
    restored = pickle.loads(old)
    assert isinstance(restored, Scan)
    assert str(restored) == str(found)
