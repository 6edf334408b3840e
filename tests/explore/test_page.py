"""Pages: payload, escaping, errors, files and notebooks."""

import base64
import hashlib
import html
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from explored import blobs, payload_of

from boostkmeans import BisectingBoostKMeans, BoostKMeans, ParameterError, load_model
from boostkmeans._runtime.errors import StructuredError
from boostkmeans.baselines import KMeans
from boostkmeans.explore import page
from boostkmeans.explore._packing import unpack
from boostkmeans.explore._payload import assembling

X = blobs(120, 4, 6)
MODEL = BoostKMeans(6, random_state=0).fit(X)
COORDINATES = X[:, :2]
EVIL = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "{{ 7 * 7 }} {% raw %}",
    "\u2028 & \" ' \x00 \ud800",
]


def test_points_are_those_of_the_rows() -> None:
    found = payload_of(page(MODEL, X, coordinates=COORDINATES))
    points = {name: unpack(packed) for name, packed in found["points"].items()}
    assert points["label"].tolist() == MODEL.labels_.tolist()
    extent = np.ptp(COORDINATES, axis=0).max()
    moved = np.column_stack([points["x"], points["y"]]).astype(float) * extent / 65535
    np.testing.assert_allclose(
        moved - moved.mean(axis=0), COORDINATES - COORDINATES.mean(axis=0), atol=extent / 60_000
    )
    gaps = np.linalg.norm(X - MODEL.cluster_centers_[MODEL.labels_], axis=1)
    order = np.argsort(gaps)
    assert (np.diff(points["distance"][order].astype(int)) >= 0).all()
    assert points["distance"].min() == 0
    assert points["distance"].max() >= 253
    assert (found["n_rows"], found["n_clusters"], found["n_features"]) == (120, 6, 4)


def test_rows_have_their_measures() -> None:
    found = payload_of(page(MODEL, X, coordinates=COORDINATES))
    rows = found["rows"]
    assert rows["row"] == list(range(120))
    assert rows["label"] == MODEL.labels_.tolist()
    distances = np.linalg.norm(X[:, None] - MODEL.cluster_centers_, axis=2)
    assert rows["second"] == np.argsort(distances, axis=1)[:, 1].tolist()
    np.testing.assert_allclose(rows["distance"], distances.min(axis=1), rtol=1e-5)
    assert rows["text"] is rows["image"] is rows["values"] is rows["id"] is None


def test_many_points_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembling, "MAX_POINTS", 100)
    monkeypatch.setattr("boostkmeans.explore._contents.shown_rows.MAX_ROWS_FOR_ALL", 10)
    shown = page(MODEL, blobs(500, 4, 6), coordinates=blobs(500, 2, 3), max_bytes=1000)
    points = payload_of(shown)["points"]
    chosen = unpack(points["row"])
    assert len(chosen) == points["x"]["length"] == 100
    assert (np.diff(chosen.astype(int)) > 0).all()
    assert set(payload_of(shown)["rows"]["row"]) <= set(chosen.tolist())
    assert "The map shows 100 of 500 rows, chosen at random." in shown.omitted


def test_untrusted_texts_stay_text() -> None:
    texts = [EVIL[i % 4] for i in range(120)]
    shown = page(
        MODEL,
        X,
        texts=texts,
        ids=texts,
        names=[*EVIL, "a", "b"],
        title=EVIL[0],
        command=EVIL[1],
        coordinates=COORDINATES,
    )
    found = payload_of(shown)
    assert found["rows"]["text"][:3] == EVIL[:3]
    assert found["clusters"][1]["name"] == EVIL[1]
    assert "alert(1)</script>" not in shown.html.replace(html.escape(EVIL[0]), "")
    assert shown.html.count("</script>") == 2
    assert "<img" not in shown.html
    shown.html.encode("utf-8")


def test_policy_allows_only_the_script_of_the_page() -> None:
    text = page(MODEL, X, coordinates=COORDINATES).html
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    rules = dict(rule.strip().split(" ", 1) for rule in html.unescape(policy).split(";"))
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert rules == {
        "default-src": "'none'",
        "script-src": f"'sha256-{digest}'",
        "style-src": "'unsafe-inline'",
        "img-src": "data: blob:",
    }


def test_tree_and_history() -> None:
    model = BisectingBoostKMeans(5, random_state=0).fit(X)
    found = payload_of(page(model, X, coordinates=COORDINATES))
    tree, nodes = found["tree"], found["tree"]["nodes"]
    assert tree["split"] == model.tree_.splits.tolist()
    assert tree["children"] == [model.tree_.children[node].tolist() for node in model.tree_.splits]
    assert [node["size"] for node in nodes] == model.tree_.sizes.tolist()
    expected = model.tree_.inertia / model.tree_.weights
    np.testing.assert_allclose([node["tightness"] for node in nodes], expected, rtol=1e-5)
    assert nodes[0]["name"] == "all rows"
    assert sorted(one for one in tree["cluster"] if one >= 0) == list(range(5))
    places = {(cluster["x"], cluster["y"]) for cluster in found["clusters"]}
    assert {(node["x"], node["y"]) for node in nodes} == places
    assert found["history"]["kind"] == [record.kind for record in model.history_]


def test_nodes_have_terms_that_match_their_names() -> None:
    words = ["pet cat", "pet dog", "bank bond", "bank stock"]
    labels = np.arange(40) % 4
    rows = np.array([[0.0, 0], [0, 1], [9, 0], [9, 1]])[labels]
    texts = [words[label] for label in labels]
    model = BisectingBoostKMeans(4, random_state=0).fit(rows)
    table = {"price": 10.0 * labels, "kind": ["animal" if one < 2 else "money" for one in labels]}
    found = payload_of(page(model, rows, texts=texts, table=table, coordinates=rows))
    for child in found["tree"]["children"][0]:
        node = found["tree"]["nodes"][child]
        first = node["name"].split(", ")[0]
        assert first in ("pet", "bank")
        assert node["terms"][0] == node["distinct"][0] == [first, 1.0]
        kind = "animal" if first == "pet" else "money"
        assert ["kind", f"{kind}: 100% (all rows: 50%)"] in node["columns"]
        assert node["separation"][0] == [2, 9.0]


def test_separation_depends_on_the_cut() -> None:
    rows = np.repeat([[0.0], [1], [10], [13]], 5, axis=0)
    model = BisectingBoostKMeans(4, random_state=0).fit(rows)
    found = payload_of(page(model, rows, coordinates=np.hstack([rows, rows])))
    tree = found["tree"]
    steps = [node["separation"] for node in tree["nodes"][1:]]
    # First 0.5 and 11.5, then 0 and 1 and 11.5, then all four.
    assert sorted(one[0] for one in steps) == [[2, 11], [2, 11], [3, 1], [3, 1], [4, 3], [4, 3]]
    assert [[2, 11], [3, 10.5]] in steps


def test_terms_of_nodes_stay_within_the_budget() -> None:
    texts = [f"word{i % 7} thing{i % 5} part{i % 11}" for i in range(120)]
    model = BisectingBoostKMeans(12, random_state=0).fit(X)
    options: dict[str, Any] = {"texts": texts, "coordinates": COORDINATES}
    shown = page(model, X, max_bytes=10_000, **options)
    nodes = payload_of(shown)["tree"]["nodes"]
    described = [number for number, node in enumerate(nodes) if "terms" in node]
    inner = [number for number, one in enumerate(payload_of(shown)["tree"]["cluster"]) if one < 0][1:]
    assert described == inner[: len(described)], "coarse cuts come first"
    assert 0 < len(described) < len(inner)
    sentence = f"The page has the terms of {len(described)} of {len(inner)} merged clusters"
    assert any(sentence in one for one in shown.omitted)
    assert not any("merged clusters" in one for one in page(model, X, **options).omitted)


def test_history_explains_annealing() -> None:
    model = BoostKMeans(6, annealing=(0.5, 5), random_state=0).fit(X)
    found = payload_of(page(model, X, coordinates=COORDINATES))
    assert "annealing" in found["history"]["kind"]
    assert "accept moves that raise the distortion" in found["history_note"]
    assert found["history"]["distortion"][-1] == pytest.approx(model.distortion_, rel=1e-4)
    assert found["tree"] is None
    facts = dict(map(tuple, found["facts"]))
    assert facts["model"] == "BoostKMeans"
    assert facts["n_clusters"] == "6"
    assert facts["stop reason"] == model.stop_reason_


@pytest.mark.parametrize("has_labels", [True, False])
def test_loaded_models(tmp_path: Path, has_labels: bool) -> None:
    model = BisectingBoostKMeans(4, random_state=0).fit(X)
    model.save(tmp_path / "model.st", labels=has_labels)
    shown = page(load_model(tmp_path / "model.st"), X, coordinates=COORDINATES)
    found = payload_of(shown)
    assert unpack(found["points"]["label"]).tolist() == model.predict(X).tolist()
    assert len(found["tree"]["nodes"]) == 7


def test_baselines_and_names() -> None:
    model = KMeans(3, random_state=0).fit(X)
    shown = page(model, X, names=["one", " ", "three"], coordinates=COORDINATES)
    assert shown.names == ["one", "cluster 1", "three"]
    assert shown.title == "120 vectors in 3 clusters"


def test_names_from_texts_and_a_namer() -> None:
    words = ["apple pie", "red car", "deep sea", "old king", "cold snow", "green tea"]
    texts = [f"{words[label]} number {i}" for i, label in enumerate(MODEL.labels_)]
    shown = page(MODEL, X, texts=texts, coordinates=COORDINATES)
    for name, word in zip(shown.names, words, strict=True):
        assert word.split()[1] in name
    named = page(
        MODEL,
        X,
        texts=texts,
        namer=lambda some, terms: some[0].split()[0].upper(),
        coordinates=COORDINATES,
    )
    assert named.names == [word.split()[0].upper() for word in words]
    clusters = payload_of(shown)["clusters"]
    assert all(0 <= weight <= 1 for one in clusters for _, weight in one["terms"] + one["distinct"])
    assert all(one["terms"] for one in clusters)


def test_the_page_is_reproducible_for_any_number_of_threads() -> None:
    pages = [page(MODEL, X, n_threads=n).html for n in (1, 2, 3)]
    assert pages[0] == pages[1] == pages[2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"texts": ["a"] * 3}, "texts has 3 entries, and there are 120 rows"),
        ({"texts": "a text"}, "'texts' parameter of page must be a sequence"),
        ({"images": "folder"}, "'images' parameter of page must be a sequence of paths"),
        ({"images": [1] * 120}, "sequence of paths"),
        ({"table": {"a": [1]}}, "table has 1 entries"),
        ({"ids": range(5)}, "ids has 5 entries"),
        ({"coordinates": np.zeros((120, 3))}, "two columns"),
        ({"coordinates": np.zeros((5, 2))}, "coordinates has 5 entries"),
        ({"coordinates": np.full((120, 2), np.nan)}, "coordinates must be finite. Row 0"),
        ({"names": ["a"]}, "names has 1 entries, and there are 6 clusters"),
        ({"namer": len}, "namer needs texts"),
        ({"texts": ["a"] * 120, "namer": len, "names": ["a"] * 6}, "cannot both be given"),
        ({"images": ["a"] * 120, "table": {"a": range(120)}}, "images and table cannot both be shown"),
        ({"max_bytes": -1}, "max_bytes"),
        ({"random_state": "a"}, "random_state"),
        ({"random_state": 2**32}, "[0, 4294967295]"),
    ],
)
def test_errors(options: dict[str, Any], message: str) -> None:
    with pytest.raises(StructuredError, match=re.escape(message)):
        page(MODEL, X, **options)


def test_errors_about_models_and_rows() -> None:
    with pytest.raises(ParameterError, match="a fitted estimator of this package"):
        page("model", X)  # type: ignore[arg-type]
    with pytest.raises(Exception, match="not fitted"):
        page(BoostKMeans(2), X)
    with pytest.raises(ValueError, match="expecting 4 features"):
        page(MODEL, X[:, :2])


def test_missing_jinja2_is_reported_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match="extra 'explore'"):
        page(MODEL, X)


def test_save_and_notebook(tmp_path: Path) -> None:
    shown = page(MODEL, X, title='a "title"', coordinates=COORDINATES)
    shown.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == shown.html
    with pytest.raises(FileExistsError):
        shown.save(tmp_path / "page.html", force=False)
    frame = shown._repr_html_()
    (source,) = re.findall(r'srcdoc="([^"]*)"', frame)
    assert html.unescape(source) == shown.html
    assert 'sandbox="allow-scripts allow-downloads"' in frame
    assert frame.count("<") == 2
    assert repr(shown).startswith("Page('a \"title\"', n_rows=120, n_clusters=6")


@pytest.mark.process
def test_import_is_lazy() -> None:
    """Importing the module loads neither jinja2 nor Pillow."""
    code = "import sys, boostkmeans.explore; print({'jinja2', 'PIL'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"
