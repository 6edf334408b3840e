"""Benchmark of cluster names: how many name the majority class of their cluster.

`python benchmarks/run.py cluster_names` measures it. A name counts if one of its
words is a term of the majority class of the cluster. The terms of a class are the 50 words with the
largest c-TF-IDF, computed by scikit-learn from the texts and the classes alone: tf * log(1 + 1 / f),
where tf is the share of the word among the words of the class, and f is the sum of these shares over the
classes. Only words that are at least twice as frequent in the class as in the mean of all classes
qualify, so that "said" or "new" are terms of no class. For WordNet, the words in the names of the
lexicographer files are added. Plurals count as their singulars. The chance level replaces each name by
those of the clusters with another majority class. The share is also computed for the clusters in which
the majority class has at least half of the rows.
"""

import gzip
import re
import time
from collections.abc import Callable, Sequence

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from boostkmeans import BoostKMeans
from boostkmeans.documents import Weighting, cluster_documents, name_clusters
from data import Array, shared_folder, wordnet
from environment import N_THREADS, Json
from result_files import save_result

SEEDS = (0, 1, 2)
N_CLASS_TERMS = 50
MIN_RATIO = 2
N_EXAMPLES = 10
# Parts of the names of lexicographer files that say nothing about a topic.
NO_TOPICS = frozenset({"adj", "adv", "noun", "verb", "all", "tops", "pert", "ppl"})
Found = tuple[list[str], Array]


def cluster_names() -> None:
    """Measure the share of names with a term of the majority class, for AG news and WordNet."""
    figures = [measure(*data) for data in (ag_news(), wordnet_glosses()) if data is not None]
    save_result(
        "cluster_names", {"n_class_terms": N_CLASS_TERMS, "min_ratio": MIN_RATIO, "data": figures}
    )


def ag_news() -> tuple[str, list[str], Array, list[str], Callable[[int], Found]] | None:
    """Return AG news, its classes, and a function that clusters the articles and names the clusters."""
    path = shared_folder() / "text" / "ag_news_test.tsv.gz"
    if not path.exists():
        return None
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    texts = [f"{title}. {text}" for _, title, text in rows]
    names, classes = np.unique([row[0] for row in rows], return_inverse=True)
    weighting = Weighting(stop_words="english", min_df=3)

    def found(seed: int) -> Found:
        result = cluster_documents(
            texts, 20, method="refined", weighting=weighting, random_state=seed, n_threads=N_THREADS
        )
        return [cluster.name for cluster in result.clusters], result.labels

    return f"AG news, {len(texts)} articles, k = 20", texts, classes, names.tolist(), found


def wordnet_glosses() -> tuple[str, list[str], Array, list[str], Callable[[int], Found]] | None:
    """Return WordNet's glosses, their files, and a function that clusters and names the embeddings."""
    folder, embeddings = shared_folder() / "embeddings", wordnet()
    if embeddings is None:
        return None
    with np.load(folder / "wordnet_use512.npz") as arrays:
        classes, names = arrays["labels"], arrays["label_names"].tolist()
    with gzip.open(folder / "wordnet_glosses.txt.gz", "rt", encoding="utf-8") as file:
        texts = [line.rstrip("\n") for line in file]

    def found(seed: int) -> Found:
        model = BoostKMeans(100, metric="cosine", random_state=seed, n_threads=N_THREADS)
        labels = model.fit(embeddings[1]).labels_
        start = time.perf_counter()
        made = name_clusters(texts, labels)
        print(f"  names: {time.perf_counter() - start:.1f} s", flush=True)
        return made.names, labels

    return f"WordNet, {len(texts)} glosses, k = 100", texts, classes, names, found


def measure(
    title: str,
    texts: list[str],
    classes: Array,
    class_names: list[str],
    cluster: Callable[[int], Found],
) -> Json:
    """Return the share of names with a term of the majority class, by seed, and examples."""
    terms = class_terms(texts, classes, class_names)
    runs: list[Json] = []
    examples: list[Json] = []
    for seed in SEEDS:
        names, labels = cluster(seed)
        clusters = describe(names, labels, classes)
        pure = [one for one in clusters if one["majority_share"] >= 0.5]
        run = {"seed": seed, "share": hits(clusters, terms), "chance": chance(clusters, terms)}
        runs.append({**run, "n_pure": len(pure), "share_of_pure": hits(pure, terms)})
        print(f"  {title}: {runs[-1]}", flush=True)
        if seed == SEEDS[0]:
            chosen = np.linspace(0, len(names) - 1, N_EXAMPLES).round().astype(int)
            examples = [
                {
                    "name": clusters[i]["name"],
                    "size": clusters[i]["size"],
                    "majority_class": class_names[clusters[i]["majority"]],
                    "majority_share": clusters[i]["majority_share"],
                    "has_class_term": hit(clusters[i]["name"], terms[clusters[i]["majority"]]),
                }
                for i in chosen
            ]
            all_names = names
    return {
        "title": title,
        "share": float(np.mean([run["share"] for run in runs])),
        "chance": float(np.mean([run["chance"] for run in runs])),
        "share_of_pure": float(np.mean([run["share_of_pure"] for run in runs])),
        "runs": runs,
        "examples": examples,
        "names": all_names,
        "class_terms": {name: sorted(some) for name, some in zip(class_names, terms, strict=True)},
    }


def class_terms(texts: list[str], classes: Array, class_names: Sequence[str]) -> list[set[str]]:
    """Return the words with the largest c-TF-IDF of each class, and topics in the name of the class."""
    vectorizer = CountVectorizer(stop_words="english", min_df=5, token_pattern=r"(?u)\b[^\W\d_]{2,}\b")
    counts = vectorizer.fit_transform(texts)
    words = [stem(word) for word in vectorizer.get_feature_names_out()]
    members = (np.asarray(classes)[None, :] == np.arange(len(class_names))[:, None]).astype(np.float64)
    totals = members @ counts
    shares = totals / np.maximum(totals.sum(axis=1, keepdims=True), 1)
    weights = shares * np.log(1 + 1 / np.maximum(shares.sum(axis=0), 1e-12))
    weights[shares < MIN_RATIO * shares.mean(axis=0)] = 0
    found = []
    for name, line in zip(class_names, weights, strict=True):
        order = np.argsort(-line, kind="stable")[:N_CLASS_TERMS]
        best = {words[i] for i in order if line[i] > 0}
        found.append(best | {stem(word) for word in words_of(name)} - NO_TOPICS)
    return found


def describe(names: list[str], labels: Array, classes: Array) -> list[Json]:
    """Return the name, size and majority class of each cluster that has rows."""
    found: list[Json] = []
    for number, name in enumerate(names):
        counts = np.bincount(classes[labels == number])
        if counts.sum():
            majority = int(counts.argmax())
            share = float(counts[majority] / counts.sum())
            size = int(counts.sum())
            found.append({"name": name, "size": size, "majority": majority, "majority_share": share})
    return found


def hits(clusters: list[Json], terms: list[set[str]]) -> float:
    """Return the share of clusters whose name has a term of their majority class."""
    found = [hit(one["name"], terms[one["majority"]]) for one in clusters]
    return float(np.mean(found)) if found else 0.0


def chance(clusters: list[Json], terms: list[set[str]]) -> float:
    """Return the share of names with a term of the majority class of another cluster."""
    return float(
        np.mean([
            hit(other["name"], terms[one["majority"]])
            for one in clusters
            for other in clusters
            if other["majority"] != one["majority"]
        ])
    )  # fmt: skip


def hit(name: str, terms: set[str]) -> bool:
    """Return True if a word of the name is one of the terms."""
    return not terms.isdisjoint(stem(word) for word in words_of(name))


def words_of(name: str) -> list[str]:
    """Return the words of a name in lower case."""
    return re.findall(r"[^\W\d_]+", name.lower())


def stem(word: str) -> str:
    """Return the word without the ending of a plural."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


BENCHMARKS = [cluster_names]
