"""Names of clusters of texts."""

import math
import os
import subprocess
import sys
import warnings
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boostkmeans import BisectingBoostKMeans
from boostkmeans.documents import ClusterNames, Corpus, Weighting, cluster_documents, name_clusters

ROOT = Path(__file__).parents[2]
OIL = [
    "Oil prices rose on Monday.",
    "The price of oil, and oil again: oil prices fell.",
    "Traders say oil prices rise.",
    "oil prices and crude",
]
SPACE = [
    "Yesterday NASA launched a probe in New York.",
    "The NASA probe left New York.",
    "Probes of NASA orbit Mars, says New York.",
    "a NASA probe",
]
TEXTS, LABELS = OIL + SPACE, [0] * 4 + [1] * 4


def words(name: str) -> list[str]:
    return name.lower().replace(",", "").split()


# Phrases


def test_name_has_complete_phrases_in_their_usual_spelling() -> None:
    oil, space = name_clusters(TEXTS, LABELS).names
    assert oil.split(", ")[0] == "oil prices"
    assert set(space.split(", ")) == {"NASA", "probe", "New York"}


def test_word_is_not_repeated_in_a_name() -> None:
    found = name_clusters([*OIL, "oil price", "China and Chinese oil of China"] * 3, [0] * 18)
    (name,) = found.names
    assert len(words(name)) == len(set(words(name)))
    assert words(name).count("oil") == 1
    assert not {"price", "prices"} <= set(words(name)), "singular and plural are one word"
    assert not {"China", "Chinese"} <= {term for term, _ in found.terms[0]}


def test_phrase_does_not_cross_punctuation_or_end_with_a_stop_word() -> None:
    texts = ["big cats, dogs of the house; cats (dogs) house of cards"] * 5
    terms = {term for term, _ in name_clusters(texts, [0] * 5, n_terms=50).terms[0]}
    assert "house of cards" in terms
    assert not any(term.startswith(("of", "the")) or term.endswith(("of", "the")) for term in terms)
    assert not any("cats dogs" in term for term in terms)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["Visit https://example.com/oil now &amp; then", "visit &lt;b&gt;Paris&lt;/b&gt;"], "visit"),
        (["the U.S. army", "a U.S. army base"], "U.S. army"),
        (["John #39;s boat", "John's boat"], "John"),
        (["OIL PRICES FALL AGAIN", "we saw oil prices fall again"], "oil prices fall"),
        (["in Old Delhi", "Old Delhi is old", "now Old Delhi"], "Old Delhi"),
    ],
)
def test_markup_initials_and_case(texts: list[str], expected: str) -> None:
    name = name_clusters(texts, [0] * len(texts)).names[0]
    assert name.split(", ")[0].casefold() == expected.casefold()
    assert expected in name or expected == "visit"
    assert "example" not in name
    assert "amp" not in words(name)


def test_plural_is_merged_only_with_an_existing_singular() -> None:
    texts = ["two cities", "a city", "glass news", "glass news"]
    found = name_clusters(texts, [0, 0, 1, 1], n_terms=5)
    assert {term for term, _ in found.terms[0]} & {"cities", "city"}
    assert len({term for term, _ in found.terms[0]} & {"cities", "city"}) == 1
    assert found.names[1] == "glass news"


# Terms and neighbours


def test_weight_by_hand() -> None:
    """Shares are 1 and 0.5 in the cluster, and 0 and 0.5 in the other one."""
    found = name_clusters(["apple pie", "apple", "banana pie", "banana"], [0, 0, 1, 1])
    # "pie" is as frequent in both clusters, and has no weight.
    assert found.names == ["apple", "banana"]
    assert found.terms[0][0] == ("apple", 1.0)
    texts = ["apple kiwi"] + ["apple"] * 3 + ["plum"] * 4
    (_, first), (term, second) = name_clusters(texts, [0] * 4 + [1] * 4).distinct[0]
    assert first == 1.0
    assert term == "kiwi"
    s = 0.004
    assert second == pytest.approx(0.25 * math.log((0.25 + s) / s) / math.log((1 + s) / s))


def test_distinct_terms_are_those_that_neighbours_lack() -> None:
    texts = ["cat, purrs", "cat; purrs", "cat. hot"] + ["cat, hisses"] * 3 + ["bond, yields"] * 3
    labels = [0] * 3 + [1] * 3 + [2] * 3
    found = name_clusters(texts, labels, neighbours=[[1], [0], [1]])
    assert [term for term, _ in found.distinct[0]] == ["purrs", "hot"]
    far = name_clusters(texts, labels, neighbours=[[2], [2], [0]])
    assert [term for term, _ in far.distinct[0]] == ["cat", "purrs", "hot"]


def test_names_are_different() -> None:
    texts = ["red rose"] * 4 + ["blue sea"] * 2 + [""] * 2
    names = name_clusters(texts, [0, 1, 2, 3, 4, 5, 6, 7]).names
    assert len({name.casefold() for name in names}) == 8
    assert names[6:] == ["no text", "no text (2)"]


def test_terms_have_descending_weights() -> None:
    found = name_clusters(TEXTS, LABELS, n_terms=4)
    for terms in (*found.terms, *found.distinct):
        weights = [weight for _, weight in terms]
        assert 0 < len(terms) <= 4
        assert weights == sorted(weights, reverse=True)
        assert weights[0] == 1.0
        assert min(weights) > 0
    none = name_clusters(TEXTS, LABELS, n_terms=0)
    assert none.terms == none.distinct == [[], []]
    assert none.names == found.names


# Texts without usable words, and other languages


def test_clusters_without_words_have_names() -> None:
    names = name_clusters(["", " \n", "the of", "12 34", "!\x1b!"], [0, 0, 1, 2, 3], n_clusters=5).names
    assert names == ["no text", "the of", "12 34", "! !", "empty cluster"]
    assert name_clusters([], []) == ClusterNames([], [], [])


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (["北京天气预报晴", "上海天气预报雨"], ["股票市场上涨", "股票市场"], ["天气预报", "股票市场"]),
        (["ราคาน้ำมันเพิ่มขึ้น", "ราคาน้ำมันลดลง"], ["ฟุตบอลโลก", "ทีมฟุตบอล"], ["ราคาน้ำมัน", "ฟุตบอล"]),
        (["दिल्ली में बारिश", "दिल्ली की सड़क"], ["क्रिकेट टीम", "क्रिकेट मैच"], ["दिल्ली", "क्रिकेट"]),
        (["die Katze schläft", "eine Katze"], ["der Hund bellt", "ein Hund"], ["Katze", "Hund"]),
        (["цена нефти", "вот цена нефти"], ["матч Спартака", "матч"], ["цена нефти", "матч"]),
    ],
)
def test_other_languages(first: list[str], second: list[str], expected: list[str]) -> None:
    names = name_clusters(first + second, [0, 0, 1, 1], stop_words=None).names
    assert [name.split(", ")[0] for name in names] == expected


def test_own_stop_words() -> None:
    texts = ["Katze und Hund", "Katze mit Hund"]
    assert "und" in " ".join(name_clusters(["und"] * 2, [0, 0], stop_words=None).names)
    terms = [term for term, _ in name_clusters(texts, [0, 0], stop_words=["und", "MIT"]).terms[0]]
    assert set(terms) == {"Katze", "Hund"}


# Trees


def test_nodes_are_named_by_what_distinguishes_them_from_siblings() -> None:
    texts = ["pet cat", "pet dog", "bank bond", "bank stock"] * 3
    labels = np.tile(np.arange(4), 3)
    X = np.array([[0.0, 0], [0, 1], [9, 0], [9, 1]])[labels]
    model = BisectingBoostKMeans(4, random_state=0).fit(X)
    tree = model.tree_
    found = name_clusters(texts, model.labels_, tree=tree)
    assert found.node_names is not None
    assert found.node_names[0] == "all texts"
    inner = [found.node_names[node].split(", ")[0] for node in tree.children[0]]
    assert sorted(inner) == ["bank", "pet"]
    assert found.node_terms is not None
    assert found.node_distinct is not None
    for node, name in zip(tree.children[0], inner, strict=True):
        assert found.node_terms[node][0] == found.node_distinct[node][0] == (name, 1.0)
    assert found.node_terms[0] == found.node_distinct[0] == []
    for cluster, node in enumerate(np.flatnonzero(tree.clusters >= 0)):
        assert found.node_names[node] == found.names[tree.clusters[node]], cluster
        assert found.node_terms[node] == found.terms[tree.clusters[node]]
    assert len(set(found.node_names)) == len(found.node_names)
    assert all(set(words(found.names[i])) & {"cat", "dog", "bond", "stock"} for i in range(4))


def test_siblings_share_no_phrase() -> None:
    with np.load(ROOT / "examples" / "data" / "wordnet.npz") as data:
        X, texts = data["X"].astype(np.float32), data["texts"].tolist()
    model = BisectingBoostKMeans(16, metric="cosine", random_state=0).fit(X)
    found = name_clusters(texts, model.labels_, tree=model.tree_)
    assert found.node_names is not None
    for children in model.tree_.children[model.tree_.children[:, 0] >= 0]:
        for one, other in combinations([found.node_names[child] for child in children], 2):
            assert not set(one.lower().split(", ")) & set(other.lower().split(", "))
    assert len({name.casefold() for name in found.node_names}) == len(found.node_names)
    assert all(1 <= name.count(",") + 1 <= 3 and len(name) <= 48 for name in found.names)


# Namers


def test_namer_receives_central_texts_and_terms() -> None:
    seen: list[tuple[list[str], list[str]]] = []

    def namer(texts: list[str], terms: list[str]) -> str:
        seen.append((texts, terms))
        return f" Topic\t{len(seen)}\x1b\u202e\n"

    steps: list[str] = []
    found = name_clusters(TEXTS, LABELS, namer=namer, progress=lambda what, *_: steps.append(what))
    assert found.names == ["Topic 1", "Topic 2"]
    assert found.failures == {}
    assert set(seen[0][0]) == set(OIL)
    assert seen[0][1][0] == "oil prices"
    assert {"naming clusters", "calling the namer"} == set(steps)


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        (None, "returned NoneType, not a string"),
        (b"bytes", "returned bytes"),
        ("", "empty name"),
        (" \n\x07", "empty name"),
        ("two\nlines", "several lines"),
        ("x" * 121, "121 characters"),
        (ConnectionError("refused"), "ConnectionError: refused"),
    ],
)
def test_failed_namer_leaves_generated_names(result: Any, problem: str) -> None:
    def namer(texts: list[str], terms: list[str]) -> str:
        if texts[0] in SPACE:
            return "Space"
        if isinstance(result, Exception):
            raise result
        return result  # type: ignore[no-any-return]

    with pytest.warns(RuntimeWarning, match=r"The namer failed for 1 of 2 clusters") as caught:
        found = name_clusters(TEXTS, LABELS, namer=namer)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert found.names == [name_clusters(TEXTS, LABELS).names[0], "Space"]
    assert list(found.failures) == [0]
    assert problem in found.failures[0]


def test_namer_that_repeats_itself_gets_different_names() -> None:
    names = name_clusters(TEXTS, LABELS, namer=lambda texts, terms: "Topic").names
    assert names[0] == "Topic"
    assert names[1].startswith("Topic (")


def test_keyboard_interrupt_passes_through() -> None:
    def namer(texts: list[str], terms: list[str]) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        name_clusters(TEXTS, LABELS, namer=namer)


# Arguments


@pytest.mark.parametrize(
    ("texts", "labels", "options", "what"),
    [
        ("ab", [0, 1], {}, "Got a single string"),
        ([1, 2], [0, 1], {}, "texts must be strings. Got int at position"),
        (["a"], [0, 1], {}, "There are 1 texts, but 2 labels"),
        (["a"], [0.5], {}, "'labels' parameter of name_clusters"),
        (["a"], [-1], {}, "'labels' parameter of name_clusters must be ints of at least 0"),
        (["a"], [3], {"n_clusters": 2}, "n_clusters=2 is too small: the largest label is 3"),
        (["a"], [0], {"n_clusters": 0}, "'n_clusters' parameter"),
        (["a"], [0], {"n_terms": -1}, "'n_terms' parameter"),
        (["a"], [0], {"namer": "gpt"}, "'namer' parameter of name_clusters must be a function"),
        (["a"], [0], {"stop_words": "klingon"}, "'stop_words' parameter"),
        (["a"], [0], {"stop_words": [1]}, "'stop_words' parameter"),
        (["a"], [0], {"neighbours": [[0], [0]]}, "neighbours has 2 rows for 1 clusters"),
        (["a"], [0], {"neighbours": [[1]]}, "'neighbours' parameter"),
    ],
)
def test_rejects_invalid_arguments(texts: Any, labels: Any, options: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        name_clusters(texts, labels, **options)


def test_rejects_tree_of_other_clusters() -> None:
    tree = BisectingBoostKMeans(3, random_state=0).fit(np.arange(8.0)[:, None]).tree_
    with pytest.raises(ValueError, match="tree has 3 leaves for 2 clusters"):
        name_clusters(TEXTS, LABELS, tree=tree)


def test_accepts_arrays_and_series() -> None:
    expected = name_clusters(TEXTS, LABELS)
    assert name_clusters(np.array(TEXTS), np.array(LABELS, dtype=np.uint8)) == expected  # type: ignore[arg-type]
    pandas = pytest.importorskip("pandas")
    assert name_clusters(pandas.Series(TEXTS, index=range(8, 0, -1)), LABELS) == expected


@pytest.mark.slow
def test_names_do_not_depend_on_the_hash_seed() -> None:
    code = (
        "from pathlib import Path; from boostkmeans.documents import name_clusters\n"
        "texts = Path('examples/sentences.txt').read_text().splitlines()\n"
        "print(name_clusters(texts, [i % 3 for i in range(30)]))"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert outputs[0] == outputs[1]


def test_large_clusters_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    from boostkmeans.documents._names import sample

    monkeypatch.setattr(sample, "MAX_CHARACTERS", 100)
    monkeypatch.setattr(sample, "MIN_PER_CLUSTER", 20)

    class Texts(list[str]):
        n_read = 0

        def __getitem__(self, i: Any) -> Any:
            Texts.n_read += 1
            return super().__getitem__(i)

    texts = Texts([f"oil prices {i}" for i in range(50_000)] + ["moon orbit"] * 50_000)
    names = name_clusters(texts, np.repeat([0, 1], 50_000)).names
    assert names == ["oil prices", "moon orbit"]
    assert Texts.n_read < 2000


# Documents


def test_documents_have_names() -> None:
    found = cluster_documents(TEXTS, 2, weighting=Weighting(stop_words="english"), random_state=0)
    names = {cluster.name for cluster in found.clusters}
    assert any("oil prices" in name for name in names)
    assert found.cluster_names.names == [cluster.name for cluster in found.clusters]
    assert found.cluster_names.node_names is not None
    assert len(found.cluster_names.node_names) == 3
    assert [one["name"] for one in found.to_dict()["clusters"]] == [one.name for one in found.clusters]
    for cluster in found.clusters:
        assert f"cluster {cluster.number}: {cluster.name} ({cluster.size} documents" in found.table()
    found = cluster_documents(TEXTS, 2, namer=lambda texts, terms: "\x1b[1mBold", random_state=0)
    assert found.clusters[0].name == "[1mBold"
    with pytest.warns(RuntimeWarning, match="failed for 2 of 2 clusters") as caught:
        cluster_documents(TEXTS, 2, namer=lambda texts, terms: "", random_state=0)
    assert caught[0].filename == __file__
    with pytest.raises(ValueError, match="'namer' parameter of cluster_documents"):
        cluster_documents(TEXTS, 2, namer="x", random_state=0)  # type: ignore[arg-type]


def test_names_of_matrices() -> None:
    counts = np.array([[3.0, 4, 0, 1], [4, 3, 0, 1], [0, 0, 5, 1], [0, 0, 2, 1]])
    corpus = Corpus.from_matrix(counts, terms=["Rose", "red", "sea", "the"])
    found = cluster_documents(corpus, 2, random_state=0)
    assert {frozenset(one.name.split(", ")) for one in found.clusters} == {
        frozenset({"Rose", "red"}),
        frozenset({"sea"}),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unnamed = cluster_documents(Corpus.from_matrix(counts), 2, random_state=0)
    assert all(one.name.startswith("column ") for one in unnamed.clusters)
