"""`describe_file`: the kind and the metadata of a file that this package wrote."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from boostkmeans._engine.checkpoints import checkpoint
from boostkmeans._storage import format_names
from boostkmeans._storage.tensors import peek

# Kinds of files by the format name in their header.
KINDS = {
    format_names.MODEL: "model",
    format_names.QUANTIZER: "quantizer",
    format_names.IMAGE_PIPELINE: "image pipeline",
    format_names.DOCUMENT_MODEL: "document model",
    checkpoint.FORMAT: "checkpoint",
}
# Entries of a checkpoint's identity that describe the data, not the parameters.
DATA_ENTRIES = ("estimator", "shape", "data", "checksum of X", "parts", "sample_weight")


@dataclass(frozen=True)
class FileDescription:
    """Metadata of a model, a product quantizer, an image pipeline, a document model or a checkpoint."""

    kind: str
    """"model", "quantizer", "image pipeline", "document model" or "checkpoint"."""
    format_version: int
    """Version of the file format."""
    library_version: str
    """Version of boostkmeans that wrote the file."""
    estimator: str | None
    """Class of the estimator."""
    parameters: Mapping[str, Any]
    """Constructor parameters of the estimator. Arrays are left out."""
    n_rows: int | None = None
    """Number of rows of the fit; None for a quantizer or an image pipeline."""
    n_features: int | None = None
    """Number of features; only for a checkpoint."""
    feature_names: list[str] | None = None
    """Names of the features, if the data had names; None for a checkpoint."""
    has_labels: bool = False
    """True if a model file contains the labels of the rows."""
    n_runs_done: int | None = None
    """Number of completed runs of `n_init`; only for a checkpoint."""
    stage: str | None = None
    """Stage of the run that was stopped; only for a checkpoint. None if all runs are complete."""


def describe_file(path: str | os.PathLike[str]) -> FileDescription | None:
    """Return the metadata of a file that boostkmeans wrote.

    Only the header is read. Its values are not checked: `load_model` checks them.

    Parameters
    ----------
    path : path
        File name.

    Returns
    -------
    FileDescription or None
        None if the file is not a model, a product quantizer, an image pipeline, a document model or a
        checkpoint.

    Raises
    ------
    DataFormatError
        If the header is damaged.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from boostkmeans import BoostKMeans, describe_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.safetensors")
    ...     BoostKMeans(n_clusters=2, random_state=0).fit([[0.0], [1], [10], [11]]).save(path)
    ...     description = describe_file(path)
    >>> description.kind, description.estimator, description.n_rows
    ('model', 'BoostKMeans', 4)
    """
    found = peek(path)
    if found is None or found[0] not in KINDS:
        return None
    format_name, version, header = found
    kind = KINDS[format_name]
    common = (kind, version, str(header.get("library_version")))
    if kind == "document model":
        header = {**header, **_object(header.get("clusterer"))}
    if kind == "checkpoint":
        return _describe_checkpoint(common, header)
    return FileDescription(
        *common,
        estimator=header.get("estimator", "ProductQuantizer"),
        parameters=header.get("parameters", {}),
        n_rows=header.get("n_rows"),
        feature_names=header.get("feature_names"),
        has_labels=bool(header.get("has_labels")),
    )


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _describe_checkpoint(common: tuple[str, int, str], header: Mapping[str, Any]) -> FileDescription:
    identity = header.get("identity", {})
    n_rows, n_features = identity.get("shape", (0, 0))
    return FileDescription(
        *common,
        estimator=identity.get("estimator"),
        parameters={name: value for name, value in identity.items() if name not in DATA_ENTRIES},
        n_rows=n_rows,
        n_features=n_features,
        n_runs_done=header.get("n_done", 0),
        stage=header.get("stage"),
    )
