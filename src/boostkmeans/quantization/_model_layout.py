"""Content of the files of product quantizers."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from boostkmeans._storage import format_names
from boostkmeans._storage.fields import Fields, encode_number
from boostkmeans._storage.model_format import Content, ModelLayout, Tensors
from boostkmeans._storage.tensor_checks import Checker, TensorSpec
from boostkmeans.quantization._codes import MAX_CENTROIDS

CODEBOOKS = TensorSpec(np.float32, ("m", "k", "w"))
# Tensors that a file may have.
OPTIONAL = {
    "distortions": TensorSpec(np.float64, ("m",), 0, may_be_infinite=True),
    "rotation": TensorSpec(np.float64, ("d", "d")),
}
# Largest element of R'R - I of a stored rotation R. Rounding errors of float64 are much smaller.
MAX_SKEW = 1e-6


class QuantizerLayout(ModelLayout):
    """Content of the files of `ProductQuantizer`: codebooks, rotation and distortions."""

    format_name: ClassVar[str] = format_names.QUANTIZER
    version: ClassVar[int] = 1
    subject: ClassVar[str] = "The quantizer"
    fitted_attribute: ClassVar[str] = "codebooks_"
    estimator_parameters: ClassVar[tuple[str, ...]] = ("clusterer",)

    def content(self, model: Any, *, labels: bool) -> Content:
        """Return the content of the file of a fitted quantizer. It has no values per row."""
        tensors: dict[str, NDArray[Any]] = {"codebooks": np.asarray(model.codebooks_, dtype=np.float32)}
        if not np.isnan(model.distortions_).any():  # they are NaN if faiss trained the quantizer
            tensors["distortions"] = np.asarray(model.distortions_, dtype=np.float64)
        if model.rotation_ is not None:
            tensors["rotation"] = np.asarray(model.rotation_, dtype=np.float64)
        return Content({"distortion": encode_number(model.distortion_)}, tensors)

    def check(self, check: Checker, model: Any, header: Fields, tensors: Tensors) -> None:
        """Raise DataFormatError unless the tensors describe a valid quantizer."""
        table = {"codebooks": CODEBOOKS} | {name: OPTIONAL[name] for name in OPTIONAL if name in tensors}
        lengths = check.tensors(tensors, table)
        m, k, width = lengths["m"], lengths["k"], lengths["w"]
        check.require(
            m * width > 0 and 1 <= k <= MAX_CENTROIDS,
            f"The codebooks have {k} centroids for {m} subspaces of {width} features.",
        )
        check.require(
            (m, k) == (model.n_subspaces, model.n_centroids),
            f"The parameters are n_subspaces={model.n_subspaces} and n_centroids={model.n_centroids}, "
            f"but the codebooks have {m} subspaces of {k} centroids.",
        )
        if "rotation" in tensors:
            check_rotation(check, tensors["rotation"], m * width)

    def attributes(self, header: Fields, tensors: Tensors) -> dict[str, Any]:
        """Return the fitted attributes that checked content describes."""
        m, _, width = tensors["codebooks"].shape
        return {
            "n_features_in_": m * width,
            "codebooks_": tensors["codebooks"],
            "rotation_": tensors.get("rotation"),
            "distortions_": tensors.get("distortions", np.full(m, np.nan)),
            "distortion_": header.number("distortion"),
        }


def check_rotation(check: Checker, rotation: NDArray[Any], n_features: int) -> None:
    """Raise DataFormatError unless the matrix is a rotation of the features."""
    check.require(
        len(rotation) == n_features,
        f"The rotation has {len(rotation)} features, but the codebooks have {n_features}.",
    )
    with np.errstate(over="ignore", invalid="ignore"):
        skew = np.abs(rotation.T @ rotation - np.eye(n_features)).max()
    check.require(skew <= MAX_SKEW, "The matrix is not orthogonal.", place="tensor 'rotation'")
