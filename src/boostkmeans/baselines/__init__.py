"""Methods that boost k-means is compared with, all with the same interface.

`KMeans`, `MiniBatchKMeans` and `BisectingKMeans` wrap scikit-learn and add the attributes and the
history of `BoostKMeans`. `OnlineKMeans` is the paper's LVQ, and `RBK` is CLUTO's repeated bisecting.
`PAPER_METHODS` maps the names of the ten methods in the paper's table of document clustering to
estimators; three of them are the paper's own:

>>> import numpy as np
>>> from boostkmeans.baselines import PAPER_METHODS
>>> X = np.random.default_rng(0).normal(size=(200, 4))
>>> for name, method in PAPER_METHODS.items():
...     model = method(5, 0).fit(X)  # n_clusters, random_state
...     assert len(model.cluster_centers_) == 5, name

`compare` runs any of `METHODS` on the same rows, `summarize` combines the runs of each method, and
`draw_curves` plots distortion against time. `demo_data`, `run_demo`, `demo_table` and `demo_page`
implement the command `boostkmeans demo`.
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
