"""Describe the objects that version 0.7.0 saved and pickled, and what they must do once they are read.

Only the public interface of the package is used here.
"""

import dataclasses
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import synthetic
from settings import digest
from synthetic import blobs, cloud, pixels, topics

from boostkmeans import (
    BisectingBoostKMeans,
    BoostKMeans,
    ClusterTree,
    DataFormatError,
    ProductQuantizer,
    QuantizerRecord,
    SweepRecord,
    load_model,
)
from boostkmeans.baselines import (
    METHODS,
    RBK,
    BisectingKMeans,
    KMeans,
    MethodRun,
    MiniBatchKMeans,
    OnlineKMeans,
    compare,
    summarize,
)
from boostkmeans.documents import Corpus, DocumentClusters, Weighting, cluster_documents
from boostkmeans.select import Scan, scan

Make = Callable[[], Any]
ROWS = blobs(120, 4, 8)
NEW_ROWS = cloud(150, 4)
WEIGHTS = synthetic.weights(120)
NAMES = ["a", "b", "c", "d"]
# Parameters that 0.7.0 did not have. The objects that it stored get these values.
ADDED = {
    "dimensions": "auto",
    "sample": "auto",
    "max_passes": "auto",
    "leaf_size": None,
}
# Types of parameters that are compared. Other parameters are objects.
PLAIN = (bool, int, float, str, type(None))
# The same for single classes.
ADDED_TO_CLASSES: dict[str, dict[str, Any]] = {
    "BisectingBoostKMeans": {"min_size": None, "max_size": None},
    "RBK": {"split": "largest"},
    "KMeans": {"max_time": None, "callback": None},
    "MiniBatchKMeans": {
        "share_of": "batch",
        "record_every": 1,
        "max_time": None,
        "callback": None,
    },
}


def _in_batches() -> BoostKMeans:
    model = BoostKMeans(5, random_state=0)
    for begin in (0, 40, 80):
        model.partial_fit(ROWS[begin : begin + 40])
    return model


def _sparse_model() -> BoostKMeans:
    return BoostKMeans(5, metric="cosine", random_state=0).fit(topics(120, 60, 6))


MODELS: dict[str, Make] = {
    "boost": lambda: BoostKMeans(6, random_state=0).fit(ROWS),
    "boost-weights-cosine": lambda: BoostKMeans(6, metric="cosine", tol=0, random_state=0).fit(
        ROWS, sample_weight=WEIGHTS
    ),
    "boost-limits": lambda: BoostKMeans(6, min_size=15, max_size=25, random_state=0).fit(ROWS),
    "boost-candidates": lambda: BoostKMeans(20, n_candidates=5, annealing=(0.2, 3), random_state=0).fit(
        ROWS
    ),
    "boost-centres": lambda: BoostKMeans(6, init=ROWS[:6], n_init=2, max_iter=9).fit(ROWS),
    "boost-labels": lambda: BoostKMeans(6, init=np.arange(120) % 6, repair=3, quality="best").fit(ROWS),
    "boost-batches": _in_batches,
    "boost-uint8": lambda: BoostKMeans(6, random_state=0).fit(pixels(120, 4, 8)),
    "boost-sparse": _sparse_model,
    "boost-generator": lambda: BoostKMeans(6, random_state=np.random.RandomState(3)).fit(ROWS),
    "boost-names": lambda: BoostKMeans(6, random_state=0).fit(pd.DataFrame(ROWS, columns=NAMES)),
    "bisecting": lambda: BisectingBoostKMeans(9, random_state=0).fit(ROWS),
    "bisecting-sections": lambda: BisectingBoostKMeans(
        10, n_sections=4, split="inertia", init="k-means++", random_state=0
    ).fit(ROWS, sample_weight=WEIGHTS),
    "bisecting-refined": lambda: BisectingBoostKMeans(9, refine=True, random_state=0).fit(ROWS),
    "rbk": lambda: RBK(6, random_state=0).fit(ROWS),
    "k-means": lambda: KMeans(6, init="k-means++", random_state=0).fit(ROWS),
    "k-means-centres": lambda: KMeans(6, init=ROWS[:6]).fit(ROWS, sample_weight=WEIGHTS + 1),
    "mini-batch": lambda: MiniBatchKMeans(6, random_state=0).fit(ROWS),
    "bisecting-k-means": lambda: BisectingKMeans(6, random_state=0).fit(ROWS),
    "online": lambda: OnlineKMeans(6, random_state=0).fit(ROWS),
}
# Those that another batch is given to.
MODELS_TO_GO_ON_WITH = (
    "boost", "boost-batches", "boost-candidates", "boost-uint8", "boost-weights-cosine"
)  # fmt: skip


def _vectors() -> Any:
    return blobs(150, 4, 12).astype(np.float32)


QUANTIZERS: dict[str, Make] = {
    "quantizer": lambda: ProductQuantizer(2, 16, random_state=0).fit(_vectors()),
    "quantizer-rotated": lambda: ProductQuantizer(2, 8, rotation=2, random_state=0).fit(_vectors()),
    "quantizer-wide": lambda: ProductQuantizer(1, 300, random_state=0).fit(
        blobs(400, 4, 12).astype(np.float32)
    ),
    "quantizer-clusterer": lambda: ProductQuantizer(
        4, 8, clusterer=BisectingBoostKMeans(refine=2), random_state=0
    ).fit(_vectors()),
    "quantizer-baseline": lambda: ProductQuantizer(2, 8, clusterer=KMeans(), random_state=0).fit(
        _vectors()
    ),
}


def _unfitted() -> BoostKMeans:
    return BoostKMeans(7, init="random", annealing=(0.1, 5), max_size=30, n_threads=1)


def _documents() -> DocumentClusters:
    return cluster_documents(synthetic.texts(40, 4), 4, method="refined", random_state=0)


def _quantizer_records() -> list[QuantizerRecord]:
    records: list[QuantizerRecord] = []
    ProductQuantizer(2, 8, callback=records.append, random_state=0, n_threads=1).fit(_vectors())
    return records


def _comparison() -> Any:
    methods = {name: METHODS[name] for name in ("boost-fast", "RBK")}
    return summarize(list(compare(ROWS, 4, methods, n_threads=1)))


OBJECTS: dict[str, Make] = {
    "unfitted": _unfitted,
    "unfitted-bisecting": lambda: BisectingBoostKMeans(7, refine=3, split="inertia"),
    "unfitted-quantizer": lambda: ProductQuantizer(2, 8, clusterer=BoostKMeans(quality="best")),
    "sweep-records": lambda: BoostKMeans(20, n_candidates=5, random_state=0).fit(ROWS).history_,
    "tree": lambda: BisectingBoostKMeans(9, random_state=0).fit(ROWS).tree_,
    "scan": lambda: scan(ROWS, range(2, 6), n_references=0, random_state=0),
    "quantizer-records": _quantizer_records,
    "method-summaries": _comparison,
    "documents": _documents,
    "corpus": lambda: Corpus.from_texts(synthetic.texts(12, 3)),
    "weighting": lambda: Weighting(ngram_range=(1, 2), stop_words=["baba"], sublinear_tf=True),
    "error": lambda: DataFormatError("a message"),
}


def load(path: Path) -> Any:
    """Return what a model file or a quantizer file holds, by the public functions that read it."""
    return ProductQuantizer.load(path) if path.stem.startswith("quantizer") else load_model(path)


def unpickled(path: Path) -> Any:
    """Return what a pickle holds."""
    return joblib.load(path) if path.suffix == ".joblib" else pickle.loads(path.read_bytes())


def expected_of(item: Any) -> dict[str, Any]:
    """Return what an object must give once it is read."""
    if isinstance(item, list):
        return {"items": [expected_of(one) for one in item]}
    found: dict[str, Any] = {"class": type(item).__name__}
    if isinstance(item, Exception):
        found |= {"text": str(item), "is_value_error": isinstance(item, ValueError)}
    elif isinstance(item, ProductQuantizer):
        found |= {"parameters": _parameters(item), **_of_quantizer(item)}
    elif hasattr(item, "get_params"):
        found |= {"parameters": _parameters(item), **_of_model(item)}
    elif isinstance(item, ClusterTree):
        found |= _of_tree(item)
    elif isinstance(item, Scan):
        found |= {"suggestion": item.suggestion, "entries": [_fields(entry) for entry in item.entries]}
    elif isinstance(item, DocumentClusters):
        found |= _of_documents(item)
    else:
        found |= _fields(item)
    return found


def _parameters(item: Any) -> dict[str, Any]:
    found = item.get_params(deep=False)
    for name, default in {**ADDED, **ADDED_TO_CLASSES.get(type(item).__name__, {})}.items():
        assert found.pop(name, default) == default
    plain = {name: value for name, value in found.items() if isinstance(value, PLAIN)}
    others = {name: _shown(value) for name, value in found.items() if name not in plain}
    return {**plain, **others}


def _shown(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return digest(value)
    if hasattr(value, "get_params"):
        return {"class": type(value).__name__, **_parameters(value)}
    return list(value) if isinstance(value, tuple) else type(value).__name__


def _of_model(model: Any) -> dict[str, Any]:
    if not hasattr(model, "cluster_centers_"):
        return {}
    d = model.n_features_in_
    rows: Any = NEW_ROWS if d == 4 else topics(150, d, 6, 8, 40)
    if hasattr(model, "feature_names_in_"):
        rows = pd.DataFrame(rows, columns=model.feature_names_in_)
    found = {
        "predictions": digest(model.predict(rows)),
        "nearest": digest(model.transform(rows).argmin(axis=1)),
        "score": f"{model.score(rows):.10g}",
        "labels": digest(model.labels_) if hasattr(model, "labels_") else None,
        "centres": digest(model.cluster_centers_),
        "sizes": model.cluster_sizes_.tolist(),
        "inertia": float(model.inertia_).hex(),
        "n_iter": model.n_iter_,
        "stop_reason": getattr(model, "stop_reason_", None),
        "history": digest(np.array([str(_fields(record)) for record in model.history_])),
    }
    if hasattr(model, "tree_"):
        found |= {"tree": _of_tree(model.tree_), "down": digest(model.predict(rows, tree=True))}
    return found


def after_another_batch(model: BoostKMeans) -> dict[str, Any]:
    """Return what becomes of a model with one more batch of rows, which depends on hidden state too."""
    model.partial_fit(NEW_ROWS)
    return {
        "labels": digest(model.labels_),
        "inertia": f"{model.inertia_:.10g}",
        "n_samples_seen": model.n_samples_seen_,
        "predictions": digest(model.predict(ROWS)),
    }


def _of_quantizer(model: ProductQuantizer) -> dict[str, Any]:
    if not hasattr(model, "codebooks_"):
        return {}
    codes = model.encode(_vectors())
    return {
        "codes": digest(codes),
        "decoded": digest(model.decode(codes)) if model.rotation_ is None else None,  # else by BLAS
        "found": digest(model.search(_vectors()[:9], codes, k=4)[1]),
        "codebooks": digest(model.codebooks_),
        "rotation": None if model.rotation_ is None else digest(model.rotation_),
        "distortion": float(model.distortion_).hex(),
    }


def _of_tree(tree: ClusterTree) -> dict[str, Any]:
    numbers = (1, 4) if tree.children.shape[1] == 2 else ()
    cuts = [digest(tree.cut(k)) for k in numbers]
    fields = _fields(tree)
    assert fields.pop("n_passes", None) is None  # Version 0.9 did not record them.
    return {"n_leaves": tree.n_leaves, "cuts": cuts, "tree": fields}


def _of_documents(found: DocumentClusters) -> dict[str, Any]:
    terms = [[term.term for term in cluster.descriptive] for cluster in found.clusters]
    return {
        "labels": digest(found.labels),
        "terms": terms,
        "n_empty": len(found.empty),
        "method": found.method,
        "nnz": int(found.documents.rows.nnz),
        "predictions": digest(found.model.predict(found.documents.rows)),
    }


def _fields(item: Any) -> dict[str, Any]:
    found = {field.name: _plain(getattr(item, field.name)) for field in dataclasses.fields(item)}
    if isinstance(item, MethodRun):  # Versions 0.10 and 0.13 added fields.
        assert found.pop("cost", None) is None
        assert (found.pop("n_clusters"), found.pop("scores")) == (0, None)
    if isinstance(item, SweepRecord):  # Version 0.12 added a field, which older records do not have.
        assert found.pop("current_inertia") == found["inertia"]
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return digest(value)
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _fields(value)
    return value if isinstance(value, PLAIN) else type(value).__name__
