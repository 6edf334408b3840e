"""Projection: rows in the directions of their largest variance, the leading principal components."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from threadpoolctl import threadpool_limits

from boostkmeans import _core
from boostkmeans._data.frame import Array, Floats, Frame
from boostkmeans._data.rows import Rows
from boostkmeans._runtime.instruction_set import instruction_set

# Minimum number of sampled rows from which principal components are computed.
MIN_SPECTRUM_ROWS = 2048
# Minimum number of sampled rows per feature. With fewer rows, the sample would overstate the variance of
# the leading components.
SPECTRUM_ROWS_PER_FEATURE = 2
# Axes are rounded to multiples of this, so that they do not depend on the rounding errors of a linear
# algebra library.
AXIS_UNIT = 2.0**-16


@dataclass(frozen=True)
class Spectrum:
    """Principal components of a sample of rows, in descending order of their variance."""

    axes: Floats
    """Orthonormal columns, one per component."""
    shares: Floats
    """Share of the total variance in the first component, in the first two, and so on."""

    @classmethod
    def of(cls, points: Floats, weights: Floats | None = None) -> "Spectrum":
        """Return the principal components of points with these weights."""
        centred = points - np.average(points, axis=0, weights=weights)
        if weights is not None:
            centred *= np.sqrt(weights)[:, None]
        with threadpool_limits(1):  # Otherwise the result would depend on the number of threads.
            variances, axes = np.linalg.eigh(centred.T @ centred)
        variances = np.maximum(variances[::-1], 0.0)
        total = variances.sum()
        n_features = len(variances)
        shares = np.cumsum(variances) / total if total > 0 else np.ones(n_features)
        return cls(np.ascontiguousarray(axes[:, ::-1]), shares)

    def components_for(self, share: float) -> int:
        """Return the smallest number of components that hold this share of the variance."""
        return components_for(self.shares, share)


def components_for(shares: Floats, share: float) -> int:
    """Return the smallest number of components that hold this share of the variance."""
    return min(int(np.searchsorted(shares, share)) + 1, len(shares))


def spectrum_rows(n_features: int) -> int:
    """Return the number of rows to sample for a spectrum."""
    return max(MIN_SPECTRUM_ROWS, SPECTRUM_ROWS_PER_FEATURE * n_features)


@dataclass(frozen=True)
class Projection:
    """Rows in the coordinates of a few axes, and the length of the rest of each row.

    The squared distance between two rows is at least that of their coordinates plus the squared
    difference between the lengths of their rests (see "Projected fits" in docs/mathematics.md). This
    requires only that the axes do not lengthen any vector.
    """

    axes: Floats
    """Axes, one per column, in the frame of the rows."""
    scale: float
    """Power of two by which coordinates and lengths are multiplied, so that they stay within [-1, 1]."""
    values: Array
    """Coordinates of each row, and in the last column the length of its rest, in float32."""

    @classmethod
    def of(cls, rows: Rows, spectrum: Spectrum, n_axes: int, n_threads: int) -> "Projection":
        """Project rows onto the first components of their spectrum."""
        return cls.onto(rows, contraction(spectrum.axes[:, :n_axes]), n_threads)

    @classmethod
    def onto(cls, rows: Rows, axes: Floats, n_threads: int) -> "Projection":
        """Project rows onto axes that lengthen no vector."""
        scale = projection_scale(rows.n_features)
        values = np.empty((rows.n_rows, axes.shape[1] + 1), dtype=np.float32)
        _core.project(rows.core, axes, scale, values, n_threads)
        return cls(axes, scale, values)

    @property
    def n_axes(self) -> int:
        """Number of axes."""
        return int(self.axes.shape[1])

    @cached_property
    def core(self) -> _core.Projection:
        """The projection as the core reads it."""
        return _core.Projection(
            values=self.values, axes=self.axes, scale=self.scale, isa=instruction_set()
        )

    @property
    def rows(self) -> Rows:
        """The rows in the coordinates of the axes, without the lengths of the rests."""
        return Rows(self.values[:, : self.n_axes], Frame(np.zeros(self.n_axes), 0), None)


def projection_scale(n_features: int) -> float:
    """Return the power of two that keeps coordinates and lengths of rows within [-1, 1]."""
    return float(2.0 ** -math.ceil(math.log2(n_features) / 2))


def contraction(axes: Floats) -> Floats:
    """Return nearly orthonormal axes, rounded and shortened so that they lengthen no vector."""
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    rounded = np.rint(axes * signs / AXIS_UNIT) * AXIS_UNIT
    with threadpool_limits(1):
        excess = np.abs(rounded.T @ rounded - np.eye(axes.shape[1])).sum(axis=0).max()
    # The largest column sum bounds the largest eigenvalue. The power of two keeps the values short.
    shortening = AXIS_UNIT * math.ceil((1 - 1 / math.sqrt(1 + excess)) / AXIS_UNIT + 1)
    return np.ascontiguousarray(rounded * (1 - shortening))
