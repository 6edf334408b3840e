"""Methods that boost k-means is compared with, all with the same interface.

`KMeans`, `MiniBatchKMeans` and `BisectingKMeans` use the same compiled core as `BoostKMeans`, so that
run times compare algorithms. `ScikitLearnKMeans`, `ScikitLearnMiniBatchKMeans` and
`ScikitLearnBisectingKMeans` wrap scikit-learn and add the attributes and the history of `BoostKMeans`.
`OnlineKMeans` is the paper's LVQ, `RBK` is CLUTO's repeated bisecting, and `Refined` improves the
clusters of a tree. `METHODS` maps names to all methods, and `METHOD_GROUPS` contains the names by group.
`PAPER_METHODS` has the ten methods of the paper's table of document clustering; three of them are the
paper's own:

>>> import numpy as np
>>> from boostkmeans.baselines import PAPER_METHODS
>>> X = np.random.default_rng(0).normal(size=(200, 4))
>>> for name, method in PAPER_METHODS.items():
...     model = method(5, 0).fit(X)  # n_clusters, random_state
...     assert len(model.cluster_centers_) == 5, name

`compare` runs any of `METHODS` on the same rows, `summarize` combines the runs of each method,
`summarize_scores` combines their scores against known classes, and `draw_curves` plots distortion
against time. `demo_data`, `run_demo`, `demo_table` and `demo_page`
implement the command `boostkmeans demo`.
"""

from boostkmeans.baselines._bisecting import BisectingKMeans
from boostkmeans.baselines._comparison import MethodRun, MethodSummary, compare, summarize
from boostkmeans.baselines._comparison.scores import ScoreSummary, summarize_scores
from boostkmeans.baselines._demo_page import DemoData, demo_data, demo_page, demo_table, run_demo
from boostkmeans.baselines._drawing import draw_curves
from boostkmeans.baselines._kmeans import KMeans
from boostkmeans.baselines._methods import (
    DEFAULT,
    METHOD_GROUPS,
    METHODS,
    PAPER_METHODS,
    Method,
)
from boostkmeans.baselines._mini_batch import MiniBatchKMeans
from boostkmeans.baselines._online import OnlineKMeans
from boostkmeans.baselines._rbk import RBK
from boostkmeans.baselines._refined import Refined
from boostkmeans.baselines._scikit_learn.bisecting import ScikitLearnBisectingKMeans
from boostkmeans.baselines._scikit_learn.kmeans import ScikitLearnKMeans
from boostkmeans.baselines._scikit_learn.mini_batch import ScikitLearnMiniBatchKMeans

__all__ = [
    "DEFAULT",
    "METHODS",
    "METHOD_GROUPS",
    "PAPER_METHODS",
    "RBK",
    "BisectingKMeans",
    "DemoData",
    "KMeans",
    "Method",
    "MethodRun",
    "MethodSummary",
    "MiniBatchKMeans",
    "OnlineKMeans",
    "Refined",
    "ScikitLearnBisectingKMeans",
    "ScikitLearnKMeans",
    "ScikitLearnMiniBatchKMeans",
    "ScoreSummary",
    "compare",
    "demo_data",
    "demo_page",
    "demo_table",
    "draw_curves",
    "run_demo",
    "summarize",
    "summarize_scores",
]
