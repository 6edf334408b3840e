"""Boost k-means: clustering by single moves that raise an explicit objective.

>>> import numpy as np
>>> from boostkmeans import BoostKMeans
>>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
>>> sorted(BoostKMeans(n_clusters=2, random_state=0).fit(X).cluster_centers_.tolist())
[[1.0, 2.0], [10.0, 2.0]]
"""

import importlib
from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from boostkmeans import baselines, documents, interop, io, metrics, select
    from boostkmeans._bisecting import BisectingBoostKMeans
    from boostkmeans._boost_kmeans import BoostKMeans
    from boostkmeans._errors import DataFormatError
    from boostkmeans._history import SweepRecord
    from boostkmeans._instruction_set import instruction_set, instruction_sets
    from boostkmeans._model_file import load_model
    from boostkmeans._product_quantizer import ProductQuantizer
    from boostkmeans._quantizer_record import QuantizerRecord
    from boostkmeans._tree import ClusterTree

# Where the public names are. They are imported when they are first wanted: scikit-learn takes more than
# a second, which a command line's help should not.
_HOMES = {
    "BisectingBoostKMeans": "_bisecting",
    "BoostKMeans": "_boost_kmeans",
    "ClusterTree": "_tree",
    "DataFormatError": "_errors",
    "ProductQuantizer": "_product_quantizer",
    "QuantizerRecord": "_quantizer_record",
    "SweepRecord": "_history",
    "baselines": "",
    "documents": "",
    "instruction_set": "_instruction_set",
    "instruction_sets": "_instruction_set",
    "interop": "",
    "io": "",
    "load_model": "_model_file",
    "metrics": "",
    "select": "",
}

__all__ = [
    "BisectingBoostKMeans",
    "BoostKMeans",
    "ClusterTree",
    "DataFormatError",
    "ProductQuantizer",
    "QuantizerRecord",
    "SweepRecord",
    "baselines",
    "documents",
    "instruction_set",
    "instruction_sets",
    "interop",
    "io",
    "load_model",
    "metrics",
    "select",
]
__version__ = _version("boostkmeans")


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = importlib.import_module(f"{__name__}.{_HOMES[name] or name}")
    found = getattr(home, name) if _HOMES[name] else home
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
