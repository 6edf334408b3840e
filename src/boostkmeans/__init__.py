"""Boost k-means: clustering by moving single rows to improve an explicit objective.

>>> import numpy as np
>>> from boostkmeans import BoostKMeans
>>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
>>> sorted(BoostKMeans(n_clusters=2, random_state=0).fit(X).cluster_centers_.tolist())
[[1.0, 2.0], [10.0, 2.0]]
"""

import importlib
from typing import TYPE_CHECKING, Any

from boostkmeans._runtime.version import VERSION

if TYPE_CHECKING:
    from boostkmeans import (
        baselines,
        curate,
        distributed,
        documents,
        explore,
        images,
        interop,
        io,
        metrics,
        quantization,
        select,
    )
    from boostkmeans._engine.history import SweepRecord
    from boostkmeans._estimators.bisecting import BisectingBoostKMeans
    from boostkmeans._estimators.boost_kmeans import BoostKMeans
    from boostkmeans._estimators.updates.update_report import UpdateReport
    from boostkmeans._models.file_description import FileDescription, describe_file
    from boostkmeans._models.loading import load_model
    from boostkmeans._runtime.errors import DataFormatError, ParameterError
    from boostkmeans._runtime.instruction_set import instruction_set, instruction_sets
    from boostkmeans._steps.cluster_tree import ClusterTree
    from boostkmeans.quantization._product_quantizer import ProductQuantizer
    from boostkmeans.quantization._record import QuantizerRecord

# Modules of the public names. Each is imported on first access, because importing scikit-learn takes
# more than a second, which would delay the command line's help.
_HOMES = {
    "BisectingBoostKMeans": "_estimators.bisecting",
    "BoostKMeans": "_estimators.boost_kmeans",
    "ClusterTree": "_steps.cluster_tree",
    "DataFormatError": "_runtime.errors",
    "FileDescription": "_models.file_description",
    "ParameterError": "_runtime.errors",
    "ProductQuantizer": "quantization._product_quantizer",
    "QuantizerRecord": "quantization._record",
    "SweepRecord": "_engine.history",
    "UpdateReport": "_estimators.updates.update_report",
    "baselines": "",
    "curate": "",
    "describe_file": "_models.file_description",
    "distributed": "",
    "documents": "",
    "explore": "",
    "images": "",
    "instruction_set": "_runtime.instruction_set",
    "instruction_sets": "_runtime.instruction_set",
    "interop": "",
    "io": "",
    "load_model": "_models.loading",
    "metrics": "",
    "quantization": "",
    "select": "",
}

__all__ = [
    "BisectingBoostKMeans",
    "BoostKMeans",
    "ClusterTree",
    "DataFormatError",
    "FileDescription",
    "ParameterError",
    "ProductQuantizer",
    "QuantizerRecord",
    "SweepRecord",
    "UpdateReport",
    "baselines",
    "curate",
    "describe_file",
    "distributed",
    "documents",
    "explore",
    "images",
    "instruction_set",
    "instruction_sets",
    "interop",
    "io",
    "load_model",
    "metrics",
    "quantization",
    "select",
]
__version__ = VERSION


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = importlib.import_module(f"{__name__}.{_HOMES[name] or name}")
    found = getattr(home, name) if _HOMES[name] else home
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
