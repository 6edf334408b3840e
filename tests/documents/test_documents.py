"""Documents: weighting of terms, clustering, and description of clusters."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfVectorizer

from boostkmeans import BisectingBoostKMeans, BoostKMeans, DataFormatError
from boostkmeans._runtime.errors import ParameterError
from boostkmeans.documents import (
    CentralDocument,
    Corpus,
    CriterionKMeans,
    DocumentClusters,
    Skipped,
    Weighting,
    cluster_documents,
    read_corpus,
    tfidf,
)
from boostkmeans.documents._description import describe
from boostkmeans.documents._weighting import WeightedDocuments
from conftest import SHARED, same_partition

ROOT = Path(__file__).parents[2]
SENTENCES = ROOT / "examples" / "sentences.txt"
TEXTS = ["red rose", "a rose is red", "blue sea", "the deep blue sea"]
COUNTS = np.array([[3.0, 4, 0], [4, 3, 0], [0, 0, 5], [0, 0, 2]])


@pytest.mark.parametrize("method", ["bisecting", "refined", "k-way"])
def test_criterion_of_documents(method: str) -> None:
    found = cluster_documents(TEXTS, 2, method=method, criterion="i2", random_state=0)
    assert same_partition(found.labels, np.array([0, 0, 1, 1]))
    assert isinstance(found.model, CriterionKMeans)
    assert (found.model.criterion, found.model.method) == ("i2", method)
    assert found.to_dict()["objective"] == found.model.objective_
    with pytest.raises(ParameterError, match="criterion"):
        cluster_documents(TEXTS, 2, criterion="i3")
    with pytest.raises(ValueError, match="quality has no effect with criterion"):
        cluster_documents(TEXTS, 2, method="k-way", criterion="i1", quality="fast")


# Corpora from Python


def test_rejects_inconsistent_corpora() -> None:
    with pytest.raises(ValueError, match="2 documents, but 1 names"):
        Corpus.from_texts(["a", "b"], names=["x"])
    with pytest.raises(ValueError, match="2 documents, but 3 classes"):
        Corpus.from_texts(["a", "b"], classes=[1, 2, 3])
    with pytest.raises(ValueError, match="3 columns, but 2 terms"):
        Corpus.from_matrix(COUNTS, terms=["a", "b"])
    with pytest.raises(ValueError, match="either texts or a matrix"):
        Corpus(names=[])
    with pytest.raises(ValueError, match="Got a single string"):
        Corpus.from_texts("a text")
    with pytest.raises(ValueError, match="Got int at position 1"):
        Corpus.from_texts(["a", 2])  # type: ignore[list-item]
    with pytest.raises(DataFormatError, match="2 dimensions"):
        Corpus.from_matrix([1, 2])
    with pytest.raises(DataFormatError, match=r"row 2: The values must be finite\. Got inf"):
        Corpus.from_matrix([[1.0, 0], [0, np.inf]])


# Weighting


def test_weights_of_texts_equal_scikit_learn() -> None:
    texts = [*TEXTS, "red sea and red sky", "roses"]
    for options in (
        {},
        {"ngram_range": (1, 2), "min_df": 2},
        {"stop_words": "english", "max_df": 0.4, "sublinear_tf": True},
        {"max_features": 3, "stop_words": ["the", "is"]},
    ):
        documents = tfidf(Corpus.from_texts(texts), Weighting(**options))  # type: ignore[arg-type]
        peer = TfidfVectorizer(**options)
        expected = peer.fit_transform(texts).toarray()
        assert documents.terms == peer.get_feature_names_out().tolist()
        np.testing.assert_allclose(documents.rows.toarray(), expected, atol=1e-15)


def test_plain_idf_by_hand() -> None:
    counts = np.array([[2.0, 1, 0, 0], [0, 1, 3, 0], [0, 1, 1, 0]])
    documents = tfidf(Corpus.from_matrix(counts, terms=["a", "b", "c", "never"]))
    assert documents.terms == ["a", "b", "c"]
    # The weight of b, which is in all documents, is log(3 / 3) = 0. One term is left per document.
    assert documents.rows.toarray().tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 1]]
    counts = np.array([[2.0, 3, 0], [0, 1, 1], [0, 0, 1], [0, 0, 1]])
    weights = counts[0, :2] * [math.log(4), math.log(2)]
    found = tfidf(Corpus.from_matrix(counts)).rows.toarray()
    np.testing.assert_allclose(found[0, :2], weights / np.linalg.norm(weights))


def test_selection_of_columns_equals_vectorizer() -> None:
    rng = np.random.default_rng(0)
    words = np.array(["ant", "bee", "cat", "dog", "emu", "fox", "gnu"])
    texts = [
        " ".join(rng.choice(words, size=4, p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.05, 0.05])) for _ in range(30)
    ]
    vectorizer = TfidfVectorizer(use_idf=False, norm=None)
    counts = vectorizer.fit_transform(texts)
    corpus = Corpus.from_matrix(counts, terms=vectorizer.get_feature_names_out())
    for options in ({"min_df": 8}, {"max_df": 0.5}, {"min_df": 0.2, "max_df": 20}, {"max_features": 4}):
        from_texts = tfidf(Corpus.from_texts(texts), Weighting(**options))
        from_counts = tfidf(corpus, Weighting(**options, idf="smooth"))
        assert 0 < len(from_counts.terms) < 7
        assert from_counts.terms == from_texts.terms
        np.testing.assert_allclose(from_counts.rows.toarray(), from_texts.rows.toarray(), atol=1e-15)


def test_unit_length_of_extreme_values() -> None:
    rows = np.array([[3e200, -4e200, 0], [3e-200, 4e-200, 0], [0, 0, 5e-320], [0, 0, 0]])
    documents = tfidf(Corpus.from_matrix(rows), Weighting(idf="none"))
    expected = np.array([[0.6, -0.8, 0], [0.6, 0.8, 0], [0, 0, 1], [0, 0, 0]])
    np.testing.assert_allclose(documents.rows.toarray(), expected)
    assert documents.empty == [3]
    for options in ({}, {"idf": "none", "sublinear_tf": True}):
        with pytest.raises(ValueError, match=r"negative values.*idf='none'"):
            tfidf(Corpus.from_matrix(rows), Weighting(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize("idf", ["smooth", "plain", "none"])
def test_sublinear_tf_rejects_values_below_one(idf: str) -> None:
    weighting = Weighting(sublinear_tf=True, idf=idf)
    with pytest.raises(ValueError, match=r"sublinear_tf requires counts.*the smallest is 0\.2"):
        tfidf(Corpus.from_matrix(COUNTS / 10), weighting)
    assert (tfidf(Corpus.from_matrix(COUNTS), weighting).rows.data > 0).all()


def test_error_if_no_terms_are_left() -> None:
    with pytest.raises(DataFormatError, match="no words of two or more letters"):
        tfidf(Corpus.from_texts(["!", "?", "a b c"]))
    with pytest.raises(DataFormatError, match="except stop words"):
        tfidf(Corpus.from_texts(["the", "and of"]), Weighting(stop_words="english"))
    with pytest.raises(ValueError, match=r"No terms are left.*min_df") as raised:
        tfidf(Corpus.from_texts(TEXTS), Weighting(min_df=4))
    assert not isinstance(raised.value, DataFormatError)
    with pytest.raises(ValueError, match=r"No terms are left.*min_df"):
        tfidf(Corpus.from_matrix(COUNTS), Weighting(min_df=4))
    with pytest.raises(
        DataFormatError, match=r"No document has a term with a positive weight.*idf='plain'"
    ):
        tfidf(Corpus.from_matrix([[1.0], [2.0]]))


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"ngram_range": (2, 1)}, "ngram_range"),
        ({"ngram_range": (0, 1)}, "ngram_range"),
        ({"ngram_range": 2}, "ngram_range"),
        ({"stop_words": "klingon"}, "stop_words"),
        ({"min_df": 0}, "min_df"),
        ({"min_df": -0.1}, "min_df"),
        ({"max_df": 1.5}, "max_df"),
        ({"max_df": math.nan}, "max_df"),
        ({"max_df": "1"}, "max_df"),
        ({"max_features": 0}, "max_features"),
        ({"idf": "idf"}, "idf"),
    ],
)
def test_rejects_invalid_weighting(options: dict[str, Any], name: str) -> None:
    with pytest.raises(ValueError, match=f"'{name}' parameter of Weighting must be"):
        Weighting(**options)


def test_rejects_text_options_for_matrix() -> None:
    for options in ({"ngram_range": (1, 2)}, {"stop_words": "english"}):
        with pytest.raises(ValueError, match="require texts"):
            tfidf(Corpus.from_matrix(COUNTS), Weighting(**options))


# Describing


def described(
    rows: NDArray[np.float64], labels: list[int], corpus: Corpus, n_terms: int = 10, n_central: int = 5
) -> Any:
    terms = [chr(ord("a") + i) for i in range(rows.shape[1])]
    return describe(
        WeightedDocuments(csr_array(rows), terms, []), np.array(labels, dtype=np.int32), corpus,
        n_clusters=max(labels) + 1, n_terms=n_terms, n_central=n_central,
    )  # fmt: skip


def test_description_by_hand() -> None:
    unit = COUNTS / np.linalg.norm(COUNTS, axis=1, keepdims=True)
    corpus = Corpus.from_matrix(COUNTS, classes=["x", "y", "y", None])
    first, second = described(unit, [0, 0, 1, 1], corpus)
    # The centres are (.7, .7, 0) and (0, 0, 1). The squares of their difference are .49, .49 and 1.
    assert (first.number, first.size, second.number, second.size) == (0, 2, 1, 2)
    assert [(one.term, one.share) for one in first.descriptive] == [
        ("a", pytest.approx(0.5)), ("b", pytest.approx(0.5)),
    ]  # fmt: skip
    assert [(one.term, one.share) for one in first.discriminating] == [
        ("a", pytest.approx(0.49 / 1.98)), ("b", pytest.approx(0.49 / 1.98)),
    ]  # fmt: skip
    assert [(one.term, one.share) for one in second.descriptive] == [("c", 1.0)]
    assert [(one.term, one.share) for one in second.discriminating] == [("c", pytest.approx(1 / 1.98))]
    assert first.similarity == pytest.approx(1.4 / math.sqrt(2))
    assert second.similarity == pytest.approx(1.0)
    assert [one.name for one in second.central] == ["3", "4"]
    assert (first.classes, second.classes) == ({"x": 1, "y": 1}, {"y": 1})


def test_central_documents_are_nearest_to_the_centre() -> None:
    rows = np.array([[0.8, 0.6], [1, 0], [0.6, 0.8], [0, 0], [0.6, 0.8]])
    corpus = Corpus.from_texts([f"text \n {i} " + "word " * 50 for i in range(5)])
    (cluster,) = described(rows, [0] * 5, corpus, n_central=3)
    centre = rows.sum(axis=0) / np.linalg.norm(rows.sum(axis=0))
    assert [one.name for one in cluster.central] == ["1", "3", "5"]
    assert [one.similarity for one in cluster.central] == pytest.approx(
        (rows @ centre)[[0, 2, 4]].tolist()
    )
    snippet = cluster.central[0].snippet
    assert snippet.startswith("text 0 word word")
    assert snippet.endswith("...")
    assert len(snippet) <= 80
    assert cluster.discriminating == [], "there are no other documents"
    (cluster,) = described(rows, [0] * 5, corpus, n_terms=1, n_central=9)
    assert len(cluster.descriptive) == 1
    assert [one.name for one in cluster.central] == ["1", "3", "5", "2"], (
        "a row of zeros must not be listed"
    )


def test_describes_empty_cluster() -> None:
    empty, full = described(np.array([[1.0], [1.0]]), [1, 1], Corpus.from_texts(["a", "b"]))
    assert (empty.size, empty.similarity, empty.descriptive, empty.central) == (0, 0.0, [], [])
    assert full.size == 2


# Clustering


@pytest.mark.parametrize("method", ["bisecting", "refined", "k-way"])
def test_finds_themes_of_sentences(method: str) -> None:
    corpus = read_corpus(SENTENCES)
    found = cluster_documents(
        corpus, 3, method=method, weighting=Weighting(stop_words="english"), n_init=4, random_state=0
    )
    themes = np.array([0, 1, 2] * 10)
    assert len(found.labels) == 30
    assert same_partition(found.labels, themes)
    of_theme = [found.clusters[found.labels[i]] for i in range(3)]
    for cluster, terms in zip(
        of_theme, ({"team", "match"}, {"butter", "sauce"}, {"star", "planet"}), strict=True
    ):
        assert terms <= {one.term for one in cluster.descriptive}
        assert terms <= {one.term for one in cluster.discriminating}
        assert cluster.size == 10
        assert len(cluster.central) == 5
        assert all(found.labels[int(one.name[5:]) - 1] == cluster.number for one in cluster.central)
    assert isinstance(found.model, BoostKMeans if method == "k-way" else BisectingBoostKMeans)
    assert found.model.metric == "cosine"
    assert found.model.callback is None
    assert (found.model.stop_reason_ == "tree") == (method == "bisecting")
    assert found.scores is None


def test_scores_use_known_classes() -> None:
    corpus = Corpus.from_texts(
        ["red roses are red", *TEXTS], classes=[None, "land", "land", "sea", "sea"]
    )
    found = cluster_documents(corpus, 2, random_state=0)
    assert found.scores == {"entropy": 0.0, "purity": 1.0, "nmi": pytest.approx(1.0)}
    corpus = Corpus.from_texts(TEXTS, classes=["land", "sea", "land", "sea"])
    found = cluster_documents(corpus, 2, random_state=0)
    assert found.scores == {
        "entropy": pytest.approx(1.0), "purity": 0.5, "nmi": pytest.approx(0.0, abs=1e-12),
    }  # fmt: skip
    assert cluster_documents(Corpus.from_texts(TEXTS, classes=[None] * 4), 2).scores is None


def test_dict_and_table_of_result() -> None:
    corpus = Corpus(
        names=["a", "b", "\x1b[31mc", "d", "e"],
        texts=[*TEXTS, "?"],
        classes=["x", "x", "y", "y", "y"],
        skipped=[Skipped(f"bad{i}", "binary") for i in range(7)],
        source="corpus.txt",
        n_blank=3,
    )
    found = cluster_documents(corpus, 2, n_terms=2, n_central=2, random_state=0)
    made = found.to_dict()
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert made["labels"] == found.labels.tolist()
    assert made["empty"] == found.empty == ["e"]
    assert (made["n_documents"], made["n_terms"]) == (5, len(found.documents.terms))
    assert [one["size"] for one in made["clusters"]] == np.bincount(found.labels).tolist()
    table = found.table()
    assert table == str(found)
    assert "corpus.txt: 5 documents, 7 terms, 11 non-zeros" in table
    assert "7 skipped: bad0 (binary), bad1 (binary)" in table
    assert "and 2 more" in table
    assert "1 without terms: e" in table
    assert "3 blank lines" in table
    assert "purity 1.0000" in table
    assert "\x1b" not in table
    assert "\\x1b[31mc" in table


def test_table_uses_singular_for_one() -> None:
    corpus = Corpus(names=["a"], texts=["rose"], n_blank=1, source="corpus.txt")
    table = cluster_documents(corpus, 1, random_state=0).table()
    assert "corpus.txt: 1 document, 1 term, 1 non-zero\n1 cluster (bisecting)" in table
    assert "1 blank line\n" in table


def test_result_does_not_depend_on_threads() -> None:
    corpus = read_corpus(SENTENCES)
    first, second = (cluster_documents(corpus, 5, random_state=3, n_threads=n) for n in (1, 2))
    assert first.to_dict() == second.to_dict()


def test_warns_about_fewer_distinct_documents_than_clusters() -> None:
    with pytest.warns(match="distinct clusters"):
        found = cluster_documents(["red rose"] * 4 + ["blue sea"] * 2, 4, random_state=0)
    assert sum(one.size for one in found.clusters) == 6
    assert "cluster 0" in found.table()


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"n_clusters": 5}, "n_clusters=5 is more than the 4 documents of the documents"),
        ({"n_clusters": 0}, "'n_clusters' parameter of cluster_documents must be an int"),
        ({"n_clusters": 2.0}, "'n_clusters' parameter of cluster_documents must be an int"),
        (
            {"n_clusters": 2, "method": "agglomerative"},
            r"'method' parameter of .* must be a str among \{'bisecting'",
        ),
        ({"n_clusters": 2, "n_terms": -1}, "'n_terms' parameter"),
        ({"n_clusters": 2, "n_central": True}, "'n_central' parameter"),
        ({"n_clusters": 2, "n_init": 0}, "n_init"),
        ({"n_clusters": 2, "method": "k-way", "quality": "superb"}, "'quality' parameter"),
        (
            {"n_clusters": 2, "quality": "best"},
            "quality has no effect with the method 'bisecting'.*'refined' or 'k-way'",
        ),
    ],
)
def test_rejects_invalid_arguments(options: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        cluster_documents(TEXTS, **options)


@pytest.mark.parametrize("method", ["refined", "k-way"])
def test_quality_is_passed_to_the_model(method: str) -> None:
    for quality, expected in ((None, "balanced"), ("fast", "fast")):
        found = cluster_documents(TEXTS, 2, method=method, quality=quality, random_state=0)
        assert found.model.quality == expected


def test_reports_progress_of_clustering() -> None:
    steps: list[str] = []
    cluster_documents(
        TEXTS, 2, method="k-way", progress=lambda what, *_: steps.append(what), random_state=0
    )
    assert steps[0] == "counting terms"
    assert "clustering: sweep 1" in steps
    assert steps[-1] == "describing clusters"


# Real collections


def shared(name: str) -> Path:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{name} is not available")
    return path


@pytest.mark.slow
def test_scores_of_reuters() -> None:
    corpus = read_corpus(shared("text/reuters-r8.tsv.gz"), text_column=3, class_column=2)
    assert len(corpus) == 7674
    found = cluster_documents(
        corpus, 8, weighting=Weighting(stop_words="english", min_df=3), random_state=0
    )
    check_scores(found, entropy=0.45, purity=0.7)


@pytest.mark.parametrize("method", ["bisecting", "refined", "k-way"])
def test_scores_of_cluto_data_set(method: str) -> None:
    corpus = read_corpus(shared("cluto/tr31.npz"))
    found = cluster_documents(corpus, 7, method=method, random_state=0)
    check_scores(found, entropy=0.5, purity=0.6)
    assert found.clusters[0].descriptive[0].term in (corpus.terms or [])
    assert found.clusters[0].central[0] == CentralDocument(
        found.clusters[0].central[0].name, found.clusters[0].central[0].similarity, None
    )


def check_scores(found: DocumentClusters, *, entropy: float, purity: float) -> None:
    assert found.scores is not None
    assert 0 < found.scores["entropy"] < entropy
    assert purity < found.scores["purity"] < 1
    assert 0.2 < found.scores["nmi"] < 1
