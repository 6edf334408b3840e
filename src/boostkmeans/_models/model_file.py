"""Model files: what a fitted estimator is, in a file that any later version reads."""

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from boostkmeans import baselines
from boostkmeans._data.rows import Frame
from boostkmeans._engine.history import SweepRecord
from boostkmeans._estimators.bisecting import BisectingBoostKMeans
from boostkmeans._estimators.boost_kmeans import BoostKMeans
from boostkmeans._estimators.centre_model import CentreModel
from boostkmeans._estimators.clusterer import METRICS
from boostkmeans._models import parameters as stored_parameters
from boostkmeans._models import quantizer_file
from boostkmeans._models.checks import Checker, names_of_features
from boostkmeans._models.layout import (
    ARRAYS,
    ATTRIBUTES,
    FORMAT,
    LARGEST_EXPONENT,
    LEAST_EXPONENT,
    MOST_ROWS,
    SHIFT,
    SHIFT_TENSOR,
    TREE,
    TREE_PREFIX,
    VERSION,
    Tensor,
)
from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans._steps.cluster_tree import ClusterTree
from boostkmeans._storage.fields import Fields, encode_number
from boostkmeans._storage.tensors import peek, read_tensors, write_tensors
from boostkmeans.quantization._product_quantizer import ProductQuantizer

# A file names one of these, and nothing else is ever made from it.
ESTIMATORS: dict[str, type[CentreModel]] = {
    "BoostKMeans": BoostKMeans,
    "BisectingBoostKMeans": BisectingBoostKMeans,
    "baselines.KMeans": baselines.KMeans,
    "baselines.MiniBatchKMeans": baselines.MiniBatchKMeans,
    "baselines.BisectingKMeans": baselines.BisectingKMeans,
    "baselines.RBK": baselines.RBK,
    "baselines.OnlineKMeans": baselines.OnlineKMeans,
}

REMEDY = "It is damaged, or no file of boostkmeans: fetch it again, or save the model anew."

TO_JSON: dict[str, Callable[[Any], Any]] = {
    "number": encode_number,
    "integer": int,
    "string": str,
    "boolean": bool,
}


def save_model(model: CentreModel, path: str | os.PathLike[str], *, labels: bool) -> None:
    """Writes a fitted estimator to a file: see `CentreModel.save`."""
    names = [name for name, estimator in ESTIMATORS.items() if type(model) is estimator]
    if not names:
        raise TypeError(
            f"{type(model).__name__} is no estimator of boostkmeans itself, and a file could not say "
            "how to make one. Save an instance of its base, or use joblib."
        )
    check_is_fitted(model, "_frame")
    model._check_parameters()
    labels = labels and hasattr(model, "labels_")
    parameters = stored_parameters.encode(model.get_params(deep=False))
    n_rows = int(model.cluster_sizes_.sum())
    header = {
        "estimator": names[0],
        "parameters": parameters.plain,
        "not_stored": parameters.not_stored,
        "n_rows": n_rows,
        "has_labels": labels,
        "frame": {"exponent": int(model._frame.exponent), "metric": model._frame.metric},
        "feature_names": _feature_names(model),
        "fitted": {
            name: TO_JSON[kind](getattr(model, name))
            for name, kind, owner in ATTRIBUTES
            if isinstance(model, owner)
        },
        "history": [record.state() for record in model.history_],
    }
    tensors = _tensors_of(model, labels)
    # So that no file is written that cannot be read again, whatever was done to the attributes.
    _check_arrays(Checker("The model", "Fit it again."), type(model), tensors, n_rows, labels)
    write_tensors(path, FORMAT, VERSION, header, {**tensors, **parameters.tensors})


def load_model(path: str | os.PathLike[str]) -> Any:
    """The estimator that `save` wrote to a file, of whichever class it is: a `ProductQuantizer`, too.

    Nothing in the file is executed, and everything in it is checked: raises `DataFormatError` if it is
    damaged, or not what it says.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from boostkmeans import BoostKMeans, load_model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.safetensors")
    ...     BoostKMeans(n_clusters=2, random_state=0).fit([[0.0], [1], [10], [11]]).save(path)
    ...     load_model(path)
    BoostKMeans(n_clusters=2, random_state=0)
    """
    shown = escape_untrusted(os.fspath(path))
    found = peek(path)
    if found is not None and found[0] == quantizer_file.FORMAT:
        return quantizer_file.load_quantizer(ProductQuantizer, path)
    _, values, tensors = read_tensors(path, FORMAT, VERSION)
    header = Fields.of(shown, "header", values)
    estimator = ESTIMATORS[header.string("estimator", tuple(ESTIMATORS))]
    model, used = _unfitted(header, tensors, estimator)
    arrays = {name: tensor for name, tensor in tensors.items() if name not in used}
    n_rows, has_labels = header.integer("n_rows", 1, MOST_ROWS), header.boolean("has_labels")
    _check_arrays(Checker(shown, REMEDY), estimator, arrays, n_rows, has_labels)
    # All attributes at once, as after a fit.
    model.__dict__.update(_fitted(header, arrays, estimator))
    return model


def load_as(estimator: type[CentreModel], path: str | os.PathLike[str]) -> Any:
    """The same, if the file has one of that class."""
    model = load_model(path)
    if type(model) is not estimator:
        raise ValueError(
            f"{escape_untrusted(os.fspath(path))} has a model of class {type(model).__name__}, not "
            f"{estimator.__name__}. Use {type(model).__name__}.load, or boostkmeans.load_model, which "
            "takes any."
        )
    return model


def _unfitted(
    header: Fields, tensors: Mapping[str, NDArray[Any]], estimator: type[CentreModel]
) -> tuple[CentreModel, set[str]]:
    """An estimator with the parameters of the file, and the names of the tensors among them."""
    arguments, used = stored_parameters.decode(header, tensors, estimator)
    try:
        model = estimator(**arguments)
        model._check_parameters()
    except (ValueError, TypeError, OverflowError) as error:
        raise DataFormatError(
            f"{header.path}: header.parameters: {escape_untrusted(str(error))} Fetch the file again, or save "
            "it anew."
        ) from None
    return model, used


def _fitted(
    header: Fields, arrays: Mapping[str, NDArray[Any]], estimator: type[CentreModel]
) -> dict[str, Any]:
    """The attributes of a fitted estimator. The arrays have been checked."""
    n_features = arrays["cluster_centers"].shape[1]
    frame, fitted = header.child("frame"), header.child("fitted")
    exponent = frame.integer("exponent", LEAST_EXPONENT, LARGEST_EXPONENT)
    found = {
        "_frame": Frame(arrays[SHIFT], exponent, frame.string("metric", METRICS)),
        "n_features_in_": n_features,
        **names_of_features(header, n_features),
        **{ARRAYS[name][0]: array for name, array in arrays.items() if name in ARRAYS},
        **{
            name: getattr(fitted, kind)(name)
            for name, kind, owner in ATTRIBUTES
            if issubclass(estimator, owner)
        },
        "history_": [SweepRecord.restored(record) for record in header.children("history")],
    }
    if "n_samples_seen_" in found:
        fitted.integer("n_samples_seen_", header.integer("n_rows"))
    if issubclass(estimator, BisectingBoostKMeans):
        found["tree_"] = _tree_from(arrays)
    return found


def _table(estimator: type[CentreModel], labels: bool) -> dict[str, Tensor]:
    """The arrays that a file of such an estimator has."""
    table = {name: tensor for name, (_, owner, tensor) in ARRAYS.items() if issubclass(estimator, owner)}
    table[SHIFT] = SHIFT_TENSOR
    if issubclass(estimator, BisectingBoostKMeans):
        table |= {TREE_PREFIX + name: tensor for name, tensor in TREE.items()}
    return {name: tensor for name, tensor in table.items() if labels or not tensor.of_rows}


def _tensors_of(model: CentreModel, labels: bool) -> dict[str, NDArray[Any]]:
    values = {name: getattr(model, attribute, None) for name, (attribute, _, _) in ARRAYS.items()}
    values[SHIFT] = model._frame.shift
    if isinstance(model, BisectingBoostKMeans):
        values |= {TREE_PREFIX + name: getattr(model.tree_, name) for name in TREE}
    return {
        name: np.asarray(values[name], dtype=tensor.dtype)
        for name, tensor in _table(type(model), labels).items()
    }


def _check_arrays(
    check: Checker,
    estimator: type[CentreModel],
    arrays: Mapping[str, NDArray[Any]],
    n_rows: int,
    labels: bool,
) -> None:
    table = _table(estimator, labels)
    check.names(set(arrays), set(table))
    lengths = {"n": n_rows}
    check.layout(arrays, table, lengths)
    check.clusters(arrays, n_rows)
    if issubclass(estimator, BisectingBoostKMeans):
        check.tree(_tree_from(arrays), lengths["k"], n_rows)


def _tree_from(arrays: Mapping[str, NDArray[Any]]) -> ClusterTree:
    without = np.zeros(0, dtype=np.int32)  # where rows were not stored
    return ClusterTree(**{name: arrays.get(TREE_PREFIX + name, without) for name in TREE})


def _feature_names(model: CentreModel) -> list[str] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]
