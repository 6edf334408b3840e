"""
The history of a fit
====================

``verbose=1`` shows the progress of a fit on one line, in terminals and notebooks. ``plot_history`` draws
the history after the fit.
"""

# %%
# The data are ten thousand points of a spiral. With ``verbose=1``, a terminal or notebook would show the
# current sweep while the fit runs, and the result at its end.

import matplotlib.pyplot as plt
import numpy as np

from boostkmeans import BisectingBoostKMeans, BoostKMeans

rng = np.random.default_rng(0)
turns = np.sqrt(rng.uniform(1, 36, size=10_000))
spiral = turns[:, None] * np.column_stack([np.cos(3 * turns), np.sin(3 * turns)])
X = spiral + rng.normal(scale=0.15, size=spiral.shape)

model = BoostKMeans(64, annealing=(0.3, 20), random_state=0).fit(X)

# %%
# The line is the distortion of the best partition so far. The markers are the distortions after each
# sweep. Annealing accepts moves that raise the inertia a little, so that its markers may be above the
# line. It leaves poor local optima this way. Ordinary sweeps follow at temperature 0.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained", sharey=True)
model.plot_history(left)
BisectingBoostKMeans(64, refine=True, random_state=0).fit(X).plot_history(right)
plt.show()

# %%
# The records are also available as numbers. ``inertia`` belongs to the line, and ``current_inertia`` to
# the markers.

for record in model.history_[:5]:
    print(f"{record.phase:10} best {record.inertia:9.2f}, current {record.current_inertia:9.2f}")
print(f"{model.n_iter_} sweeps, stop reason {model.stop_reason_}")
