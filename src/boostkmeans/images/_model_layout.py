"""Content of the files of image pipelines."""

from typing import Any, ClassVar

import numpy as np

from boostkmeans._storage import format_names
from boostkmeans._storage.fields import Fields
from boostkmeans._storage.model_format import Content, ModelLayout, Tensors
from boostkmeans._storage.tensor_checks import Checker, TensorSpec

WORDS = TensorSpec(np.float32, ("k", "w"))
# Tensors of a pipeline with PCA.
PROJECTION = {
    "mean": TensorSpec(np.float32, ("d",)),
    "components": TensorSpec(np.float32, ("c", "d")),
    "variance_ratios": TensorSpec(np.float64, ("c",), 0),
}
KINDS = ("sift", "hessian-affine", "callable", "descriptors")


class PipelineLayout(ModelLayout):
    """Content of the files of `VLADPipeline`: the vocabulary and the principal components."""

    format_name: ClassVar[str] = format_names.IMAGE_PIPELINE
    version: ClassVar[int] = 1
    subject: ClassVar[str] = "The pipeline"
    fitted_attribute: ClassVar[str] = "words_"
    stores_class: ClassVar[bool] = True

    def content(self, model: Any, *, labels: bool) -> Content:
        """Return the content of the file of a fitted pipeline. It has no values per row."""
        tensors = {"words": np.asarray(model.words_, dtype=np.float32)}
        if model.components_ is not None:
            tensors["mean"] = np.asarray(model.mean_, dtype=np.float32)
            tensors["components"] = np.asarray(model.components_, dtype=np.float32)
            tensors["variance_ratios"] = np.asarray(model.explained_variance_ratio_, dtype=np.float64)
        return Content({"n_images": int(model.n_images_), "keypoints": model.keypoints_}, tensors)

    def check(self, check: Checker, model: Any, header: Fields, tensors: Tensors) -> None:
        """Raise DataFormatError unless the tensors describe a valid pipeline."""
        header.integer("n_images", 2)
        header.string("keypoints", KINDS)
        table = {"words": WORDS} | (PROJECTION if model.n_components is not None else {})
        lengths = check.tensors(tensors, table)
        k, width = lengths["k"], lengths["w"]
        check.require(
            k == model.n_words and width > 0,
            f"The parameter is n_words={model.n_words}, but there are {k} words of {width} features.",
        )
        if model.n_components is not None:
            c, d = lengths["c"], lengths["d"]
            check.require(
                d == k * width and 1 <= c <= min(model.n_components, d),
                f"There are {c} components of {d} features. Expected at most {model.n_components} of "
                f"{k * width} features.",
            )

    def attributes(self, header: Fields, tensors: Tensors) -> dict[str, Any]:
        """Return the fitted attributes that checked content describes."""
        words, components = tensors["words"], tensors.get("components")
        return {
            "words_": words,
            "mean_": tensors.get("mean"),
            "components_": components,
            "explained_variance_ratio_": tensors.get("variance_ratios"),
            "n_components_": words.size if components is None else len(components),
            "n_images_": header.integer("n_images"),
            "keypoints_": header.string("keypoints"),
        }
