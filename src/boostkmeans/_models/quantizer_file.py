"""Files of product quantizers: codebooks and rotation, and nothing that could be executed."""

import os
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from boostkmeans._models.checks import Checker, names_of_features
from boostkmeans._models.layout import Tensor
from boostkmeans._models.parameters import decode, encode
from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans._storage.fields import Fields, encode_number, fail
from boostkmeans._storage.tensors import read_tensors, write_tensors
from boostkmeans.quantization._codes import MOST_CENTROIDS
from boostkmeans.quantization._product_quantizer import ProductQuantizer

FORMAT = "boostkmeans-product-quantizer"
VERSION = 1

CODEBOOKS = Tensor(np.float32, ("m", "k", "w"))
DISTORTIONS = Tensor(np.float64, ("m",), 0, may_be_infinite=True)
ROTATION = Tensor(np.float64, ("d", "d"))
# How far R'R may be from 1: a rotation that float64 made is much nearer.
MOST_SKEWED = 1e-6

AnyQuantizer = TypeVar("AnyQuantizer", bound=ProductQuantizer)


def save_quantizer(quantizer: ProductQuantizer, path: str | os.PathLike[str]) -> None:
    """See `ProductQuantizer.save`."""
    if type(quantizer) is not ProductQuantizer:
        raise TypeError(
            f"{type(quantizer).__name__} is no estimator of boostkmeans itself, and a file could not "
            "say how to make one. Save an instance of its base, or use joblib."
        )
    check_is_fitted(quantizer, "codebooks_")
    quantizer._check_parameters()
    shape = (quantizer.n_subspaces, quantizer.n_centroids)
    if quantizer.codebooks_.shape[:2] != shape:
        raise ValueError(
            f"n_subspaces and n_centroids are {shape[0]} and {shape[1]} now, and were "
            f"{quantizer.codebooks_.shape[0]} and {quantizer.codebooks_.shape[1]} when the quantizer "
            "was fitted: fit it again, or set them back."
        )
    parameters = quantizer.get_params(deep=False)
    has_clusterer = parameters.pop("clusterer") is not None
    stored = encode(parameters)
    names = getattr(quantizer, "feature_names_in_", None)
    header = {
        "parameters": stored.plain,
        "not_stored": stored.not_stored | ({"clusterer": "estimator"} if has_clusterer else {}),
        "feature_names": None if names is None else [str(name) for name in names],
        "distortion": encode_number(quantizer.distortion_),
    }
    tensors: dict[str, NDArray[Any]] = {
        "codebooks": np.asarray(quantizer.codebooks_, dtype=np.float32),
    }
    if not np.isnan(quantizer.distortions_).any():  # as they are if faiss trained it
        tensors["distortions"] = np.asarray(quantizer.distortions_, dtype=np.float64)
    if quantizer.rotation_ is not None:
        tensors["rotation"] = np.asarray(quantizer.rotation_, dtype=np.float64)
    # So that no file is written that cannot be read again, whatever was done to the attributes.
    _check_tensors(Checker("The quantizer", "Fit it again."), tensors)
    write_tensors(path, FORMAT, VERSION, header, tensors)


def load_quantizer(kind: type[AnyQuantizer], path: str | os.PathLike[str]) -> AnyQuantizer:
    """See `ProductQuantizer.load`."""
    shown = escape_untrusted(os.fspath(path))
    _, values, tensors = read_tensors(path, FORMAT, VERSION)
    header = Fields.of(shown, "header", values)
    arguments, _ = decode(header, {}, ProductQuantizer)
    arguments.pop("clusterer", None)
    quantizer = kind(**arguments)
    try:
        quantizer._check_parameters()
    except (ValueError, TypeError, OverflowError) as error:
        raise DataFormatError(
            f"{shown}: header.parameters: {escape_untrusted(str(error))} Fetch the file again, or save it anew."
        ) from None
    _check_tensors(Checker(shown, "Fetch it again, or save it anew."), tensors)
    m, n_centroids, width = tensors["codebooks"].shape
    if (m, n_centroids) != (quantizer.n_subspaces, quantizer.n_centroids):
        fail(
            shown, "codebooks", f"of {quantizer.n_subspaces} x {quantizer.n_centroids}", (m, n_centroids)
        )
    quantizer.__dict__.update(
        n_features_in_=m * width,
        codebooks_=tensors["codebooks"],
        rotation_=tensors.get("rotation"),
        distortions_=tensors.get("distortions", np.full(m, np.nan)),
        distortion_=header.number("distortion"),
        **names_of_features(header, m * width),
    )
    return quantizer


def _check_tensors(check: Checker, tensors: dict[str, NDArray[Any]]) -> None:
    optional = {"distortions": DISTORTIONS, "rotation": ROTATION}
    table = {"codebooks": CODEBOOKS} | {name: optional[name] for name in optional if name in tensors}
    check.names(set(tensors), set(table))
    lengths: dict[str, int] = {}
    check.layout(tensors, table, lengths)
    d = lengths["m"] * lengths["w"]
    check.require(
        d > 0 and 1 <= lengths["k"] <= MOST_CENTROIDS,
        f"codebooks of {lengths['k']} centroids for {lengths['m']} subspaces of {lengths['w']} features",
    )
    rotation = tensors.get("rotation")
    if rotation is not None:
        check.require(
            len(rotation) == d, f"a rotation of {len(rotation)} features, and codebooks of {d}"
        )
        with np.errstate(over="ignore", invalid="ignore"):
            skewed = np.abs(rotation.T @ rotation - np.eye(d)).max()
        check.require(skewed <= MOST_SKEWED, "the matrix 'rotation' is not orthogonal")
