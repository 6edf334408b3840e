"""`load_model`, which maps the class names in files to all estimator classes."""

import os
from typing import Any

from boostkmeans import baselines
from boostkmeans._estimators.bisecting import BisectingBoostKMeans
from boostkmeans._estimators.boost_kmeans import BoostKMeans
from boostkmeans._estimators.centre_model import CentreModel
from boostkmeans._estimators.criterion_kmeans import CriterionKMeans
from boostkmeans._storage import format_names
from boostkmeans._storage.model_format import open_model, read_model, restore_model
from boostkmeans._storage.tensors import peek
from boostkmeans.documents._model import DocumentModel
from boostkmeans.images._pipeline import VLADPipeline
from boostkmeans.quantization._product_quantizer import ProductQuantizer

CLASSES: tuple[type[CentreModel], ...] = (
    BoostKMeans,
    BisectingBoostKMeans,
    CriterionKMeans,
    baselines.KMeans,
    baselines.MiniBatchKMeans,
    baselines.BisectingKMeans,
    baselines.RBK,
    baselines.OnlineKMeans,
    baselines.ScikitLearnKMeans,
    baselines.ScikitLearnMiniBatchKMeans,
    baselines.ScikitLearnBisectingKMeans,
)
# Classes that a file may name. Instances of other classes are never created from a file.
ESTIMATORS = {estimator._model_name: estimator for estimator in CLASSES}


def load_model(path: str | os.PathLike[str]) -> Any:
    """Load an estimator that `save` wrote to a file.

    Nothing in the file is executed, and everything in it is checked.

    Parameters
    ----------
    path : path
        Name of the file.

    Returns
    -------
    model : estimator
        The fitted estimator, of the class that was saved: `BoostKMeans`, `BisectingBoostKMeans`,
        `ProductQuantizer`, `boostkmeans.images.VLADPipeline`, `boostkmeans.documents.CriterionKMeans`,
        `boostkmeans.documents.DocumentModel` or a class of `boostkmeans.baselines`.

    Raises
    ------
    DataFormatError
        If the file is damaged, or not a model file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from boostkmeans import BoostKMeans, load_model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.safetensors")
    ...     BoostKMeans(n_clusters=2, random_state=0).fit([[0.0], [1], [10], [11]]).save(path)
    ...     load_model(path)
    BoostKMeans(n_clusters=2, random_state=0)
    """
    found = peek(path)
    if found is not None and found.format_name == format_names.QUANTIZER:
        return read_model(ProductQuantizer, path)
    if found is not None and found.format_name == format_names.IMAGE_PIPELINE:
        return read_model(VLADPipeline, path)
    if found is not None and found.format_name == format_names.DOCUMENT_MODEL:
        return DocumentModel.load(path)
    stored = open_model(CentreModel._layout, path)
    name = stored.header.string("estimator", tuple(ESTIMATORS))
    return restore_model(ESTIMATORS[name], stored)
