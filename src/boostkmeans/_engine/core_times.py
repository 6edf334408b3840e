"""Serial and parallel time of a fit, and the speed-up on more processors that follows from it."""

import time
from dataclasses import dataclass, field
from typing import Any, TypedDict

from boostkmeans import _core

SIMULATED_CORES: tuple[int, ...] = tuple(_core.simulated_cores())
"""Numbers of processors for which the core estimates the time of parallel sections."""


@dataclass(frozen=True)
class CoreTimes:
    """Seconds that a fit spent in serial and in parallel sections.

    Python code between native calls is serial, and so are parallel sections with a single item.
    """

    serial: float
    """Time in which at most one thread worked."""
    parallel: float
    """Time of all parallel sections on a single thread: the sum over their items."""
    simulated: tuple[float, ...]
    """Upper bounds of the time of all parallel sections on `SIMULATED_CORES` processors."""

    @property
    def serial_share(self) -> float:
        """Serial share of the single-threaded time, between 0 and 1."""
        whole = self.serial + self.parallel
        return self.serial / whole if whole > 0 else 1.0

    def predicted_speed_up(self, n_cores: int) -> float:
        """Return the speed-up that Amdahl's law predicts, relative to a single thread."""
        return 1 / (self.serial_share + (1 - self.serial_share) / n_cores)

    def simulated_speed_up(self, n_cores: int) -> float:
        """Return the speed-up of a simulation, relative to a single thread.

        In contrast to Amdahl's law, it considers that a section takes at least as long as its longest
        item. `n_cores` must be one of `SIMULATED_CORES`.
        """
        section_time = self.simulated[SIMULATED_CORES.index(n_cores)]
        whole = self.serial + section_time
        return (self.serial + self.parallel) / whole if whole > 0 else 1.0


class CoreReport(TypedDict):
    """Figures of a fit for reports. The dictionaries have a value for each of `SIMULATED_CORES`."""

    serial_share: float
    predicted: dict[int, float]
    """Speed-ups by Amdahl's law."""
    simulated: dict[int, float]
    """Speed-ups of a simulation with the measured times of all items."""


def core_report(estimator: Any) -> CoreReport:
    """Return the serial share of a fitted estimator, and the speed-up on more processors."""
    times: CoreTimes = estimator._core_times
    return {
        "serial_share": times.serial_share,
        "predicted": {n: times.predicted_speed_up(n) for n in SIMULATED_CORES},
        "simulated": {n: times.simulated_speed_up(n) for n in SIMULATED_CORES},
    }


@dataclass(frozen=True)
class CoreClock:
    """Measurement of serial and parallel time in the current thread, from its creation on."""

    began: float = field(default_factory=time.perf_counter)
    sections: tuple[float, float, list[float]] = field(default_factory=_core.section_times)

    def read(self) -> CoreTimes:
        """Return the times since the creation of the clock."""
        wall, busy, simulated = _core.section_times()
        old_wall, old_busy, old_simulated = self.sections
        return CoreTimes(
            serial=max(0.0, time.perf_counter() - self.began - (wall - old_wall)),
            parallel=busy - old_busy,
            simulated=tuple(new - old for new, old in zip(simulated, old_simulated, strict=True)),
        )

    def attributes(self) -> dict[str, Any]:
        """Return the fitted attributes that report the times."""
        times = self.read()
        return {"serial_share_": times.serial_share, "_core_times": times}
