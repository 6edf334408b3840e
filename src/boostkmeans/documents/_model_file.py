"""Files of document models: the vocabulary, the weights of its terms, and the clusterer."""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._estimators.bisecting import BisectingBoostKMeans
from boostkmeans._estimators.boost_kmeans import BoostKMeans
from boostkmeans._estimators.centre_model import CentreModel
from boostkmeans._estimators.criterion_kmeans import CriterionKMeans
from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans._storage import format_names
from boostkmeans._storage.fields import SAVE_AGAIN, Fields
from boostkmeans._storage.model_format import StoredModel, model_content, restore_model
from boostkmeans._storage.tensor_checks import Checker, TensorSpec
from boostkmeans._storage.tensors import read_tensors, write_tensors
from boostkmeans.documents._term_weights import TermWeights
from boostkmeans.documents._weighting_options import IDFS, Weighting

VERSION = 1
# Prefix of the names of the tensors of the clusterer.
PREFIX = "clusterer."
# Clusterers that a file may name.
CLUSTERERS: dict[str, type[CentreModel]] = {
    one._model_name: one for one in (BoostKMeans, BisectingBoostKMeans, CriterionKMeans)
}
KINDS = ("text", "matrix")
# All terms, one after the other, as UTF-8, and the end of each term. A header would be much larger.
TENSORS = {
    "terms": TensorSpec(np.uint8, ("bytes",)),
    "term_ends": TensorSpec(np.int64, ("terms",), 0),
    "factors": TensorSpec(np.float64, ("terms",), 0),
}


def write_document_model(
    path: str | os.PathLike[str], weights: TermWeights, clusterer: Any, names: list[str]
) -> None:
    """Write a model atomically, replacing an existing file."""
    content = model_content(clusterer, labels=False)
    if len(set(weights.terms)) < len(weights.terms):
        raise ValueError(
            "Several columns have the same term, so the model cannot be applied to new documents. Give "
            "them different names."
        )
    options = weights.weighting
    words = options.stop_words
    header = {
        "kind": weights.kind,
        "weighting": {
            "ngram_range": [int(n) for n in options.ngram_range],
            "stop_words": words if isinstance(words, str | None) else [str(one) for one in words],
            "sublinear_tf": bool(options.sublinear_tf),
            "idf": options.idf,
        },
        "cluster_names": names,
        "clusterer": content.header,
    }
    encoded = [term.encode("utf-8", "surrogatepass") for term in weights.terms]
    tensors: dict[str, NDArray[Any]] = {
        "terms": np.frombuffer(b"".join(encoded), dtype=np.uint8),
        "term_ends": np.cumsum([len(one) for one in encoded], dtype=np.int64),
        "factors": np.asarray(weights.factors, dtype=np.float64),
        **{PREFIX + name: tensor for name, tensor in content.tensors.items()},
    }
    write_tensors(path, format_names.DOCUMENT_MODEL, VERSION, header, tensors)


def read_document_model(path: str | os.PathLike[str]) -> tuple[TermWeights, Any, list[str]]:
    """Return the weights, the clusterer and the names of a file. Everything in it is checked."""
    _, values, tensors = read_tensors(path, format_names.DOCUMENT_MODEL, VERSION)
    shown = escape_untrusted(os.fspath(path))
    header = Fields.of(shown, "header", values)
    check = Checker(SAVE_AGAIN, file=shown)
    own = {name: one for name, one in tensors.items() if not name.startswith(PREFIX)}
    check.tensors(own, TENSORS)
    terms = _terms(check, own["terms"], own["term_ends"])
    kind = header.string("kind", KINDS)
    weights = TermWeights(kind, terms, own["factors"], _weighting(header.child("weighting")))
    clusterer = _clusterer(header, tensors)
    n_clusters, n_terms = clusterer.cluster_centers_.shape
    check.require(
        n_terms == len(terms), f"The centres have {n_terms} terms, but the vocabulary has {len(terms)}."
    )
    names = _strings(header, "cluster_names")
    check.require(len(names) == n_clusters, f"There are {len(names)} names of {n_clusters} clusters.")
    return weights, clusterer, names


def _terms(check: Checker, text: NDArray[np.uint8], ends: NDArray[np.int64]) -> list[str]:
    """Return the terms of a vocabulary, which must be valid text and different from each other."""
    lengths = np.diff(ends, prepend=0)
    check.require(bool((lengths >= 0).all()), "The ends do not ascend.", place="tensor 'term_ends'")
    last = int(ends[-1]) if len(ends) else 0
    check.require(last == len(text), "The terms have another length.", place="tensor 'terms'")
    content, begin, terms = text.tobytes(), 0, []
    try:
        for end in ends.tolist():
            terms.append(content[begin:end].decode("utf-8", "surrogatepass"))
            begin = end
    except UnicodeDecodeError:
        check.require(False, "A term is not valid UTF-8.", place="tensor 'terms'")
    check.require(len(set(terms)) == len(terms), "A term is repeated.", place="tensor 'terms'")
    return terms


def _weighting(fields: Fields) -> Weighting:
    words = fields.values.get("stop_words")
    try:
        return Weighting(
            ngram_range=tuple(fields.items("ngram_range")),
            stop_words=words if isinstance(words, str | None) else _strings(fields, "stop_words"),
            sublinear_tf=fields.boolean("sublinear_tf"),
            idf=fields.string("idf", IDFS),
        )
    except DataFormatError:
        raise
    except ValueError as error:
        problem = escape_untrusted(str(error))
        raise DataFormatError(problem, file=fields.path, place=fields.place, remedy=SAVE_AGAIN) from None


def _clusterer(header: Fields, tensors: dict[str, NDArray[Any]]) -> Any:
    stored = header.child("clusterer")
    # Messages about parameters of later versions name the version that wrote the file.
    fields = Fields.of(
        stored.path, stored.place, {**stored.values, "library_version": header.string("library_version")}
    )
    own = {name.removeprefix(PREFIX): one for name, one in tensors.items() if name.startswith(PREFIX)}
    estimator = CLUSTERERS[fields.string("estimator", tuple(CLUSTERERS))]
    return restore_model(estimator, StoredModel(fields, own))


def _strings(fields: Fields, name: str) -> list[str]:
    found = fields.items(name)
    if not all(isinstance(one, str) for one in found):
        fields.fail(name, "a list of strings", found)
    return found
