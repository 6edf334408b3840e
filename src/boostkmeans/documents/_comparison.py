"""`compare_documents`: methods on the same documents, scored against known classes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from boostkmeans._runtime.errors import (
    DataFormatError,
    Message,
    Parameter,
    ParameterConflictError,
)
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans.baselines import PAPER_METHODS, Method, MethodRun, compare
from boostkmeans.documents._corpus import Corpus
from boostkmeans.documents._weighting import tfidf
from boostkmeans.documents._weighting_options import Weighting


def compare_documents(
    corpus: Corpus,
    n_clusters: int | Sequence[int],
    methods: Mapping[str, Method] | None = None,
    *,
    classes: Sequence[Any] | None = None,
    seeds: Sequence[int] = range(10),
    weighting: Weighting | None = None,
    n_threads: int | None = None,
    progress: ProgressCallback | None = None,
) -> Iterator[MethodRun]:
    """Cluster labelled documents by several methods, and return the runs one by one.

    This is the experiment of the paper's Table 3. The rows are TF-IDF vectors of unit length.
    `boostkmeans.baselines.summarize_scores` combines the runs.

    Parameters
    ----------
    corpus : Corpus
        Documents from `read_corpus`.
    n_clusters : int or sequence of int
        Numbers of clusters.
    methods : mapping of str to callable, default=None
        Methods by name, e.g. some of `boostkmeans.baselines.METHODS`. None compares those of the paper's
        Table 3, `boostkmeans.baselines.PAPER_METHODS`.
    classes : sequence, default=None
        Class of each document, or None for a document of unknown class. By default, the classes of the
        corpus are used.
    seeds : sequence of int, default=range(10)
        Random seeds. Each method runs once per seed.
    weighting : Weighting, default=None
        Selection and weights of the terms. None means ``Weighting()``.
    n_threads : int, default=None
        Number of threads of each method. None uses the default of the method.
    progress : callable, default=None
        Function called as ``progress(what, done, total)`` while terms are counted and before each run.

    Returns
    -------
    iterator of MethodRun
        Results of one method with one number of clusters and one seed each. They are computed one by
        one, while you iterate.

    Raises
    ------
    DataFormatError
        If the classes of the documents are unknown.

    Examples
    --------
    >>> from boostkmeans.baselines import summarize_scores
    >>> from boostkmeans.documents import Corpus, compare_documents
    >>> texts = ["red rose", "a rose is red", "blue sea", "the deep blue sea"]
    >>> corpus = Corpus.from_texts(texts, classes=["rose", "rose", "sea", "sea"])
    >>> summaries = summarize_scores(compare_documents(corpus, 2, seeds=range(3)))
    >>> {summary.method: summary.by_objective["entropy"] for summary in summaries}["BKM(non)"]
    0.0
    """
    numbers = [n_clusters] if isinstance(n_clusters, int) else list(n_clusters)
    labelled = with_classes(corpus, classes)
    for number in numbers:
        _check_n_clusters(labelled, number)
    return _runs(labelled, numbers, methods, seeds, weighting, n_threads, progress or ignore_progress)


def with_classes(corpus: Corpus, classes: Sequence[Any] | None) -> Corpus:
    """Return the corpus with these classes, or with its own. Raise an error if there are none."""
    if classes is not None:
        if len(classes) != len(corpus):
            skipped = f" ({len(corpus.skipped)} were skipped)" if corpus.skipped else ""
            raise DataFormatError(
                f"{len(classes):,} classes for {len(corpus):,} documents{skipped}. One class per "
                "document is needed.",
                file=corpus.source,
            )
        corpus = replace(corpus, classes=[None if one is None else str(one) for one in classes])
    if corpus.classes is None or all(one is None for one in corpus.classes):
        raise DataFormatError(
            "The classes of the documents are unknown, so that clusters cannot be scored.",
            file=corpus.source,
            remedy=Message(
                "Pass {classes}, or documents with classes: a folder per class, a column 'class', or a "
                "file .rclass.",
                classes=Parameter("classes"),
            ),
        )
    return corpus


def _runs(
    corpus: Corpus,
    numbers: list[int],
    methods: Mapping[str, Method] | None,
    seeds: Sequence[int],
    weighting: Weighting | None,
    n_threads: int | None,
    progress: ProgressCallback,
) -> Iterator[MethodRun]:
    rows = tfidf(corpus, weighting, progress=progress).rows
    chosen = PAPER_METHODS if methods is None else methods
    n_runs = len(chosen) * len(seeds)
    for i, number in enumerate(numbers):

        def report(what: str, done: int, total: int | None, i: int = i, number: int = number) -> None:
            progress(f"k={number}: {what}", i * n_runs + done, len(numbers) * n_runs)

        yield from compare(
            rows, number, chosen, seeds=seeds, n_threads=n_threads, classes=corpus.classes,
            progress=report,
        )  # fmt: skip


def _check_n_clusters(corpus: Corpus, n_clusters: int) -> None:
    if not 1 <= n_clusters <= len(corpus):
        raise ParameterConflictError(
            Message(
                "{n_clusters} is not in the range from 1 to {n}, the number of documents of {source}.",
                n_clusters=Parameter("n_clusters", n_clusters),
                n=len(corpus),
                source=corpus.source,
            )
        )
