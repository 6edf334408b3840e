"""The methods that boost k-means is compared with, all with one interface.

`KMeans`, `MiniBatchKMeans` and `BisectingKMeans` are scikit-learn's, with the attributes and the
history of `BoostKMeans`; `OnlineKMeans` is the paper's LVQ, and `RBK` CLUTO's repeated bisecting.
`PAPER_METHODS` has the ten methods of the paper's table of documents by their names, its own three among
them:

>>> import numpy as np
>>> from boostkmeans.baselines import PAPER_METHODS
>>> X = np.random.default_rng(0).normal(size=(200, 4))
>>> for name, method in PAPER_METHODS.items():
...     model = method(5, 0).fit(X)  # n_clusters, random_state
...     assert len(model.cluster_centers_) == 5, name

`compare` runs methods side by side on the same rows, any of `METHODS`, and `summarize` puts their runs
together; `draw_curves` draws them. `demo_data`, `run_demo`, `demo_table` and `demo_page` make the demo.
"""

from boostkmeans.baselines._bisecting import BisectingKMeans
from boostkmeans.baselines._comparison import (
    DEFAULT,
    METHODS,
    MethodRun,
    MethodSummary,
    compare,
    summarize,
)
from boostkmeans.baselines._demo_page import DemoData, demo_data, demo_page, demo_table, run_demo
from boostkmeans.baselines._drawing import draw_curves
from boostkmeans.baselines._kmeans import KMeans
from boostkmeans.baselines._mini_batch import MiniBatchKMeans
from boostkmeans.baselines._online import OnlineKMeans
from boostkmeans.baselines._paper_methods import PAPER_METHODS
from boostkmeans.baselines._rbk import RBK

__all__ = [
    "DEFAULT",
    "METHODS",
    "PAPER_METHODS",
    "RBK",
    "BisectingKMeans",
    "DemoData",
    "KMeans",
    "MethodRun",
    "MethodSummary",
    "MiniBatchKMeans",
    "OnlineKMeans",
    "compare",
    "demo_data",
    "demo_page",
    "demo_table",
    "draw_curves",
    "run_demo",
    "summarize",
]
