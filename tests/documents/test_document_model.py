"""Models of documents: new documents, and files."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from sklearn.feature_extraction.text import TfidfVectorizer

import boostkmeans
from boostkmeans import DataFormatError, describe_file, load_model
from boostkmeans._storage import format_names
from boostkmeans._storage.tensors import write_tensors
from boostkmeans.documents import Corpus, DocumentClusters, DocumentModel, Weighting, cluster_documents

TEXTS = (Path(__file__).parents[2] / "examples" / "sentences.txt").read_text().splitlines()
COUNTS = np.random.default_rng(0).poisson(1.0, (30, 12)) * np.repeat(np.eye(3), 4, axis=1)[
    np.arange(30) % 3
].astype(int)
WEIGHTINGS = [
    Weighting(),
    Weighting(ngram_range=(1, 2), stop_words="english", sublinear_tf=True),
    Weighting(stop_words=["the", "é"], min_df=2, max_features=40, idf="plain"),
    Weighting(idf="none"),
]


def clusters(weighting: Weighting = WEIGHTINGS[0], method: str = "k-way") -> DocumentClusters:
    return cluster_documents(TEXTS, 3, method=method, weighting=weighting, random_state=0)


@pytest.mark.parametrize("method", ["k-way", "bisecting", "refined"])
@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_known_documents_get_the_same_rows(tmp_path: Path, weighting: Weighting, method: str) -> None:
    found = clusters(weighting, method)
    found.save(tmp_path / "m.st")
    model = load_model(tmp_path / "m.st")
    assert isinstance(model, DocumentModel)
    rows = model.transform(TEXTS)
    np.testing.assert_array_equal(rows.toarray(), found.documents.rows.toarray())
    np.testing.assert_array_equal(model.predict(TEXTS), found.model.predict(found.documents.rows))
    np.testing.assert_array_equal(model.predict(TEXTS[:7]), found.predict(TEXTS[:7]))
    assert model.cluster_names == [one.name for one in found.clusters]
    assert model.weights.weighting.idf in ("smooth", "plain", "none")


def test_criteria(tmp_path: Path) -> None:
    found = cluster_documents(TEXTS, 3, criterion="i2", random_state=0)
    found.save(tmp_path / "m.st")
    model = load_model(tmp_path / "m.st")
    np.testing.assert_array_equal(model.predict(TEXTS), found.predict(TEXTS))
    assert model.clusterer.criterion == "i2"


def test_weights_are_those_of_the_fit() -> None:
    """New documents do not change the inverse document frequencies, as in scikit-learn."""
    found = clusters()
    new = ["the oven and the oven again", "orbit of a planet", "nothing known xyzzy"]
    vectorizer = TfidfVectorizer(dtype=np.float64).fit(TEXTS)
    expected = vectorizer.transform(new)
    assert found.documents.terms == vectorizer.get_feature_names_out().tolist()
    np.testing.assert_allclose(found.to_model().transform(new).toarray(), expected.toarray(), rtol=1e-12)
    unknown = found.to_model().transform(["xyzzy plugh"])
    assert unknown.nnz == 0
    assert 0 <= found.predict(["xyzzy plugh"])[0] < 3


@pytest.mark.parametrize("terms", [None, [f"t{i}" for i in range(12)]])
def test_matrices(tmp_path: Path, terms: list[str] | None) -> None:
    found = cluster_documents(Corpus.from_matrix(COUNTS, terms=terms), 3, random_state=0)
    found.save(tmp_path / "m.st")
    model = DocumentModel.load(tmp_path / "m.st")
    new = Corpus.from_matrix(COUNTS[5:9], terms=terms)
    np.testing.assert_allclose(
        model.transform(new).toarray(), found.documents.rows[5:9].toarray(), rtol=1e-15
    )
    if terms is not None:  # columns are found by their names
        order = np.random.default_rng(1).permutation(12)
        shuffled = np.c_[np.ones(4), COUNTS[5:9][:, order]]
        names = ["unknown", *(terms[i] for i in order)]
        again = model.transform(Corpus.from_matrix(shuffled, terms=names))
        np.testing.assert_allclose(again.toarray(), model.transform(new).toarray(), rtol=1e-15)
    with pytest.raises(DataFormatError, match=r"was fitted to a matrix\. Got texts"):
        model.predict(TEXTS)


def test_repeated_terms_cannot_be_saved(tmp_path: Path) -> None:
    corpus = Corpus.from_matrix(COUNTS, terms=["same"] * 12)
    found = cluster_documents(corpus, 3, random_state=0)
    with pytest.raises(ValueError, match="Several columns have the same term"):
        found.save(tmp_path / "m.st")


def test_description_of_the_file(tmp_path: Path) -> None:
    clusters().save(tmp_path / "m.st")
    found = describe_file(tmp_path / "m.st")
    assert found is not None
    assert (found.kind, found.estimator, found.n_rows) == ("document model", "BoostKMeans", 30)
    with pytest.raises(DataFormatError, match="Expected the format"):
        boostkmeans.BoostKMeans.load(tmp_path / "m.st")


def test_any_term_can_be_stored(tmp_path: Path) -> None:
    terms = ["", " ", "\0", "\n", "é", "\ud800", "😀", "a b", "\x1b[31m", "名", "'", '"']
    found = cluster_documents(Corpus.from_matrix(COUNTS, terms=terms), 3, random_state=0)
    found.save(tmp_path / "m.st")
    assert DocumentModel.load(tmp_path / "m.st").weights.terms == found.documents.terms
    assert set(found.documents.terms) <= set(terms)


def content(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    with safe_open(path, framework="numpy") as file:
        header = json.loads(file.metadata()["header"])
        tensors = {name: file.get_tensor(name).copy() for name in file.keys()}  # noqa: SIM118
    return {name: one for name, one in header.items() if name != "checksums"}, tensors


def _set(mapping: Any, path: str, value: Any) -> None:
    *folders, last = path.split("/")
    for one in folders:
        mapping = mapping[one]
    mapping[last] = value


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("kind", "pickle", "one of 'text', 'matrix'"),
        ("cluster_names", ["a"], "1 names of 3 clusters"),
        ("cluster_names", [1, 2, 3], "a list of strings"),
        ("weighting/idf", "magic", "one of 'smooth'"),
        ("weighting/ngram_range", [2, 1], "ascending"),
        ("weighting/ngram_range", [[], {}], "ascending"),
        ("weighting/stop_words", [1], "a list of strings"),
        ("weighting/stop_words", "german", "stop_words"),
        ("weighting/sublinear_tf", 1, "true or false"),
        ("clusterer/estimator", "KMeans", "one of 'BoostKMeans'"),
        ("clusterer/estimator", "BisectingBoostKMeans", "."),
        ("clusterer/parameters", {"evil": 1}, "Unknown parameters"),
        ("clusterer", 3, "an object"),
    ],
)
def test_forged_headers(tmp_path: Path, place: str, value: Any, message: str) -> None:
    path = tmp_path / "m.st"
    clusters().save(path)
    header, tensors = content(path)
    _set(header, place, value)
    write_tensors(path, format_names.DOCUMENT_MODEL, 1, header, tensors)
    with pytest.raises(DataFormatError, match=message):
        load_model(path)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("terms", lambda one: one[:-1], "another length"),
        ("terms", lambda one: np.full_like(one, 0xFF), "not valid UTF-8"),
        ("terms", lambda one: np.full_like(one, 65), "repeated|valid"),
        ("terms", lambda one: one.astype(np.int32), "Expected uint8"),
        ("term_ends", lambda one: one[::-1], "do not ascend"),
        ("term_ends", lambda one: np.append(one[:-1], 2**62), "another length"),
        ("term_ends", lambda one: one * 0 - 1, "below 0"),
        ("factors", lambda one: one * np.nan, "NaN"),
        ("factors", lambda one: one[:-1], "shape"),
        ("clusterer.cluster_centers", lambda one: one[:, :-1], "shape|terms"),
        ("clusterer.labels", lambda one: np.zeros(3, dtype=np.int32), "Unexpected tensors"),
        ("more", lambda one: np.zeros(3), "Unexpected tensors"),
    ],
)
def test_forged_tensors(tmp_path: Path, name: str, change: Any, message: str) -> None:
    path = tmp_path / "m.st"
    clusters().save(path)
    header, tensors = content(path)
    tensors[name] = change(tensors.get(name))
    write_tensors(path, format_names.DOCUMENT_MODEL, 1, header, tensors)
    with pytest.raises(DataFormatError, match=message):
        load_model(path)


def test_damaged_files(tmp_path: Path) -> None:
    """A changed byte in the values, and a truncated file, are noticed."""
    path = tmp_path / "m.st"
    cluster_documents(TEXTS[:6], 2, random_state=0).save(path)
    whole = path.read_bytes()
    begin = 8 + int.from_bytes(whole[:8], "little")
    rng = np.random.default_rng(0)
    for at in rng.integers(begin, len(whole), 40).tolist():
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << int(rng.integers(8))]) + whole[at + 1 :])
        with pytest.raises(DataFormatError):
            load_model(path)
    for length in [*range(0, len(whole), 997), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(DataFormatError):
            load_model(path)
