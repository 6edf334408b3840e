"""Share of serial work of a fit, and the speed-up on more processors that follows from it."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from environment import Json
from measure import median
from page import table

# Numbers of processors in the table.
PROCESSORS = (8, 32, 128)
# Fits shorter than this many seconds need no more processors.
LONG_FIT = 1.0


def figures(model: Any) -> Json:
    """Return the serial share and the simulated speed-ups of a fitted estimator.

    Return {} if it does not report them, as 0.7.0.
    """
    share = getattr(model, "serial_share_", None)
    if share is None:
        return {}
    # The report is a private module, which 0.7.0 does not have.
    report = import_module("boostkmeans._engine.core_times").core_report(model)
    speed_ups = {str(n): float(value) for n, value in report["simulated"].items()}
    return {"serial_share": float(share), "simulated": speed_ups}


def amdahl(share: float, n: int) -> float:
    """Return the speed-up on n processors that Amdahl's law predicts from a serial share."""
    return 1 / (share + (1 - share) / n)


def median_of(runs: list[Json], figure: Callable[[Json], float | None]) -> float | None:
    """Return the median of a figure over the runs that report it, or None without any."""
    values = [figure(run) for run in runs if "serial_share" in run]
    known = [value for value in values if value is not None]
    return median(known) if known else None


def serial_share(runs: list[Json]) -> float | None:
    """Return the median of the serial share, or None if no run reports it."""
    return median_of(runs, lambda run: float(run["serial_share"]))


def predicted(runs: list[Json], n: int) -> float | None:
    """Return the median of the predicted speed-up, or None if no run reports the serial share."""
    return median_of(runs, lambda run: amdahl(run["serial_share"], n))


def simulated(runs: list[Json], n: int) -> float | None:
    """Return the median of the simulated speed-up, or None if no run reports it."""
    return median_of(runs, lambda run: run["simulated"].get(str(n)))


def cores_table(runs_by_problem: dict[str, list[Json]]) -> str:
    """Return the serial share and the speed-ups of the problems whose runs report them."""
    rows = []
    for name, runs in runs_by_problem.items():
        share = serial_share(runs)
        if share is None:
            continue
        seconds = f"{median([run['seconds'] for run in runs]):.3g} s"
        cells = [f"{shown(predicted(runs, n))}; {shown(simulated(runs, n))}" for n in PROCESSORS]
        rows.append([name, seconds, f"{share:.3f}", *cells])
    processors = [f"{n} processors: Amdahl; simulated" for n in PROCESSORS]
    return table(["", "time", "`serial_share_`", *processors], rows)


def shown(value: float | None) -> str:
    """Return a factor as text, or "-"."""
    return "-" if value is None else f"{value:.3g} x"
