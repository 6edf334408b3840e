"""Content of the model files of estimators with cluster centres."""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.frame import METRICS, Frame
from boostkmeans._engine.checkpoints.tree_checks import check_tree
from boostkmeans._engine.criterion_history import CriterionRecord
from boostkmeans._engine.history import SweepRecord
from boostkmeans._steps.cluster_tree import ClusterTree
from boostkmeans._steps.tree_builder import UNKNOWN_PASSES
from boostkmeans._storage import format_names
from boostkmeans._storage.fields import Fields, encode_number
from boostkmeans._storage.model_format import Content, ModelLayout, Tensors
from boostkmeans._storage.tensor_checks import Checker, TensorSpec

# Range of the binary exponent of a frame: the exponents of the largest and the smallest float64,
# negated.
MIN_EXPONENT = -1024
MAX_EXPONENT = 1074
# float64 represents all integers up to this number.
MAX_ROWS = 2**53

# Name of the tensor that holds the shift of the frame.
SHIFT = "frame.shift"
SHIFT_SPEC = TensorSpec(np.float64, ("d",))

# Prefix of the fields of a ClusterTree in a file.
TREE_PREFIX = "tree."
TREE: dict[str, TensorSpec] = {
    "children": TensorSpec(np.int32, ("nodes", "sections"), -1, "nodes"),
    "parents": TensorSpec(np.int32, ("nodes",), -1, "nodes"),
    "splits": TensorSpec(np.int32, ("splits",), 0, "nodes"),
    "sizes": TensorSpec(np.int64, ("nodes",), 0),
    "weights": TensorSpec(np.float64, ("nodes",), 0, may_be_infinite=True),
    "inertia": TensorSpec(np.float64, ("nodes",), 0, may_be_infinite=True),
    "centers": TensorSpec(np.float64, ("nodes", "d")),
    "clusters": TensorSpec(np.int32, ("nodes",), -1, "k"),
    "labels": TensorSpec(np.int32, ("n",), 0, "k", per_row=True),
    "n_passes": TensorSpec(np.int64, ("nodes",), UNKNOWN_PASSES),
}
# Tensors that older files do not have: those of version 0.9 and 0.12, and of earlier ones. A model whose
# fit was interrupted may have no spread, either.
PASSES = TREE_PREFIX + "n_passes"
SPREAD = "cluster_spread"
OPTIONAL = (PASSES, SPREAD)

# Conversions of attributes to JSON, by the method of `Fields` that reads them.
TO_JSON: dict[str, Callable[[Any], Any]] = {
    "number": encode_number,
    "integer": int,
    "string": str,
    "boolean": bool,
}


class StoredArray(NamedTuple):
    """An attribute that is stored as a tensor."""

    attribute: str
    spec: TensorSpec


@dataclass(frozen=True)
class CentreModelLayout(ModelLayout):
    """Content of the files of an estimator with cluster centres."""

    format_name: ClassVar[str] = format_names.MODEL
    version: ClassVar[int] = 1
    subject: ClassVar[str] = "The model"
    fitted_attribute: ClassVar[str] = "_frame"
    stores_class: ClassVar[bool] = True

    arrays: Mapping[str, StoredArray]
    """Attributes that are stored as tensors, by their names in the file."""
    values: Mapping[str, str]
    """Attributes that are stored in the header, with the methods of `Fields` that read them."""
    has_tree: bool = False
    """True if the estimator has a `tree_`."""
    record: type[SweepRecord] | type[CriterionRecord] = SweepRecord
    """Class of the records in `history_`."""

    def content(self, model: Any, *, labels: bool) -> Content:
        """Return the content of the file of a fitted model, with or without values per row."""
        labels = labels and hasattr(model, "labels_")
        header = {
            "n_rows": int(model.cluster_sizes_.sum()),
            "has_labels": labels,
            "frame": {"exponent": int(model._frame.exponent), "metric": model._frame.metric},
            "fitted": {name: TO_JSON[kind](getattr(model, name)) for name, kind in self.values.items()},
            "history": [record.state() for record in model.history_],
        }
        found = {name: getattr(model, one.attribute, None) for name, one in self.arrays.items()}
        found[SHIFT] = model._frame.shift
        if self.has_tree:
            found |= {TREE_PREFIX + name: getattr(model.tree_, name) for name in TREE}
        table = self._table(labels, {name for name in OPTIONAL if found.get(name) is not None})
        tensors = {name: np.asarray(found[name], dtype=spec.dtype) for name, spec in table.items()}
        return Content(header, tensors)

    def check(self, check: Checker, model: Any, header: Fields, tensors: Tensors) -> None:
        """Raise DataFormatError unless the tensors describe a valid model."""
        n_rows = header.integer("n_rows", 1, MAX_ROWS)
        table = self._table(header.boolean("has_labels"), set(tensors))
        lengths = check.tensors(tensors, table, {"n": n_rows})
        check_clusters(check, tensors, n_rows)
        if self.has_tree:
            check_tree(check, _tree(tensors), lengths["k"], n_rows)

    def attributes(self, header: Fields, tensors: Tensors) -> dict[str, Any]:
        """Return the fitted attributes that checked content describes."""
        frame, fitted = header.child("frame"), header.child("fitted")
        exponent = frame.integer("exponent", MIN_EXPONENT, MAX_EXPONENT)
        found = {
            "_frame": Frame(tensors[SHIFT], exponent, frame.string("metric", METRICS)),
            "n_features_in_": tensors["cluster_centers"].shape[1],
            **{one.attribute: tensors[name] for name, one in self.arrays.items() if name in tensors},
            **{name: getattr(fitted, kind)(name) for name, kind in self.values.items()},
            "history_": [self.record.restored(record) for record in header.children("history")],
        }
        if "n_samples_seen_" in found:
            fitted.integer("n_samples_seen_", header.integer("n_rows"))
        if self.has_tree:
            found["tree_"] = _tree(tensors)
        return found

    def _table(self, labels: bool, present: Container[str]) -> dict[str, TensorSpec]:
        """Return the tensors that a file has, with or without labels, with the optional ones present."""
        table = {name: one.spec for name, one in self.arrays.items()}
        table[SHIFT] = SHIFT_SPEC
        if self.has_tree:
            table |= {TREE_PREFIX + name: spec for name, spec in TREE.items()}
        return {
            name: spec
            for name, spec in table.items()
            if (labels or not spec.per_row) and (name not in OPTIONAL or name in present)
        }


def check_clusters(check: Checker, tensors: Tensors, n_rows: int) -> None:
    """Raise DataFormatError unless there are clusters and each row is in one of them."""
    k, d = tensors["cluster_centers"].shape
    check.require(k > 0 and d > 0, f"The model has {k} centres of {d} features.")
    sizes = tensors["cluster_sizes"]
    total = _exact_sum(sizes)
    check.require(
        total == n_rows, f"The sum of cluster_sizes is {total}. Expected n_rows, which is {n_rows}."
    )
    if "labels" in tensors:
        counts = np.bincount(tensors["labels"], minlength=k)
        check.require((counts == sizes).all(), "The labels do not match cluster_sizes.")


def _exact_sum(sizes: NDArray[np.int64]) -> int:
    """Return the sum of integers. A sum in int64 could overflow for a malicious file."""
    half = 32
    return (int((sizes >> half).sum()) << half) + int((sizes & (2**half - 1)).sum())


def _tree(tensors: Tensors) -> ClusterTree:
    found = {name: tensors.get(TREE_PREFIX + name) for name in TREE}
    if found["labels"] is None:
        found["labels"] = np.zeros(0, dtype=np.int32)
    return ClusterTree(**found)  # type: ignore[arg-type]


CENTRE_MODEL = CentreModelLayout(
    arrays={
        "cluster_centers": StoredArray("cluster_centers_", TensorSpec(np.float64, ("k", "d"))),
        "cluster_sizes": StoredArray("cluster_sizes_", TensorSpec(np.int64, ("k",), 0)),
        "labels": StoredArray("labels_", TensorSpec(np.int32, ("n",), 0, "k", per_row=True)),
        SPREAD: StoredArray("cluster_spread_", TensorSpec(np.float64, ("k",), 0, may_be_infinite=True)),
    },
    values={"inertia_": "number", "distortion_": "number", "n_iter_": "integer"},
)
"""Layout of all estimators with centres, e.g. those of `boostkmeans.baselines`."""

CLUSTERER = replace(
    CENTRE_MODEL,
    arrays={
        **CENTRE_MODEL.arrays,
        "cluster_weights": StoredArray(
            "_cluster_weights", TensorSpec(np.float64, ("k",), 0, may_be_infinite=True)
        ),
    },
    values={
        **CENTRE_MODEL.values,
        "n_samples_seen_": "integer",
        "stop_reason_": "string",
        "converged_": "boolean",
    },
)
"""Layout of the estimators that run boost k-means."""

TREE_CLUSTERER = replace(CLUSTERER, has_tree=True)
"""Layout of the estimators that build a tree of clusters."""

CRITERION_MODEL = replace(
    CENTRE_MODEL,
    values={
        **CENTRE_MODEL.values,
        "objective_": "number",
        "stop_reason_": "string",
        "converged_": "boolean",
    },
    record=CriterionRecord,
)
"""Layout of the estimator that optimises one of CLUTO's criteria."""
