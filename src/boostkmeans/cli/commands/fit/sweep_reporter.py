"""A callback that shows the progress of a fit."""

import time
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from boostkmeans import SweepRecord
from boostkmeans.cli.progress_display import ProgressDisplay, format_count, join_within


class SweepReporter:
    """Callback of an estimator that describes each sweep.

    Parameters
    ----------
    display : ProgressDisplay
        Where the description is shown.
    n_rows : int
        Number of rows.
    weights : ndarray or None
        Weights of the rows. None stands for a weight of 1 for each row.
    max_sweeps : int
        Largest possible number of sweeps.
    max_time : float or None
        Time limit in seconds.
    """

    def __init__(
        self,
        display: ProgressDisplay,
        n_rows: int,
        weights: NDArray[np.float64] | None,
        max_sweeps: int,
        max_time: float | None,
    ) -> None:
        self._display = display
        self._n_rows = n_rows
        self._total_weight = float(n_rows if weights is None else weights.sum()) or 1.0
        self._max_sweeps = max_sweeps
        self._max_time = max_time
        self._start = time.monotonic()
        self._n_sweeps = 0
        self._last_seconds = 0.0

    def __call__(self, record: SweepRecord) -> None:
        """Describe a sweep, or the start before the first sweep."""
        rows_per_second = self._n_rows / max(record.seconds - self._last_seconds, 1e-9)
        self._last_seconds = record.seconds
        name, speed = "start", []
        if record.kind != "start":
            self._n_sweeps += 1
            of_max = f" of at most {self._max_sweeps:,}" if self._n_sweeps <= self._max_sweeps else ""
            name = f"sweep {self._n_sweeps:,}{of_max}"
            moves = f"{format_count(record.moves)} moves"
            speed = [moves, f"{format_count(rows_per_second)} rows/s"]
        distortion = f"distortion {record.inertia / self._total_weight:.6g}"
        if record.current_inertia > record.inertia:  # Annealing has raised it.
            distortion += f" (current {record.current_inertia / self._total_weight:.6g})"
        parts = [name, *self._time_left(), distortion, *speed]
        self._display.describe(join_within(parts, self._display.width))

    def _time_left(self) -> list[str]:
        if self._max_time is None:
            return []
        left = round(max(0.0, self._max_time - (time.monotonic() - self._start)))
        return [f"{left} s left" if left < 60 else f"{timedelta(seconds=left)} left"]
