"""Fitted views: plots of a fitted estimator, and its representation in notebooks."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from boostkmeans._estimators.html_summary import with_summary
from boostkmeans._estimators.plots import Limit, draw_history, draw_sizes, new_axes

HTML = "text/html"


class FittedViews(BaseEstimator):
    """Base class of the estimators: `plot_history`, `plot_sizes`, and a summary in notebooks."""

    def plot_history(self, ax: Any = None) -> Any:
        """Plot the distortion over the time of the fit. Needs Matplotlib.

        The line is the best distortion so far, which `history_` reports as `inertia`. The markers are
        the current values after each sweep, by phase. While annealing accepts moves that raise the
        inertia, they may be above the line.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on. None creates a new figure with `matplotlib.pyplot`.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        check_is_fitted(self, "_frame")
        model: Any = self
        if not model.history_:
            raise ValueError("The model has no history to plot: its fit recorded no sweep.")
        if ax is None:
            ax = new_axes("plot_history")
        weights = getattr(model, "_cluster_weights", model.cluster_sizes_)
        draw_history(ax, model.history_, float(weights.sum()))
        ax.set_title(f"{type(self).__name__}, k = {len(model.cluster_centers_):,}{self._reason()}")
        return ax

    def plot_sizes(self, ax: Any = None) -> Any:
        """Plot the sizes of the clusters in descending order, with their limits. Needs Matplotlib.

        The scale is logarithmic if the sizes differ much. If there are limits and sample weights, the
        weights of the clusters are shown, because the limits apply to them.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on. None creates a new figure with `matplotlib.pyplot`.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        check_is_fitted(self, "_frame")
        model: Any = self
        if ax is None:
            ax = new_axes("plot_sizes")
        given = [(name, getattr(self, name, None)) for name in ("min_size", "max_size")]
        limits = [Limit(name, np.asarray(value)) for name, value in given if value is not None]
        sizes, unit = model.cluster_sizes_, "rows"
        if limits and not np.allclose(model._cluster_weights, sizes):
            sizes, unit = model._cluster_weights, "weight"
        draw_sizes(ax, sizes, limits, unit)
        ax.set_title(f"{type(self).__name__}, k = {len(sizes):,}")
        return ax

    def _reason(self) -> str:
        reason = getattr(self, "stop_reason_", "")
        return f", stop reason: {reason}" if reason else ""

    def _repr_html_inner(self) -> str:
        """Return the HTML representation. scikit-learn calls it unless its display is "text"."""
        return self._with_summary(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """Return the representations for notebooks."""
        found: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
        if HTML in found:
            found[HTML] = self._with_summary(found[HTML])
        return found

    def _with_summary(self, box: str) -> str:
        return with_summary(box, self) if hasattr(self, "_frame") else box
