"""Fit: the convergence curve and the facts about a fitted model."""

import platform
from typing import Any

import numpy as np

from boostkmeans._estimators.centre_model import CentreModel
from boostkmeans._runtime.errors import shorten
from boostkmeans._runtime.version import VERSION
from boostkmeans.explore._packing import rounded

# Parameters that say nothing about the result.
HIDDEN_PARAMETERS = ("callback", "checkpoint", "verbose")
# Kind of a sweep that accepted moves that raise the inertia.
ANNEALING = "annealing"

NOTE = (
    "Distortion is the mean squared distance of a row to the centre of its cluster. The curve shows the "
    "best partition so far, so that it never rises."
)
ANNEALING_NOTE = (
    "Its flat part is annealing: these sweeps also accept moves that raise the distortion a little, so "
    "that the partition can leave a poor local optimum. The best partition is kept, and the following "
    "sweeps lower the distortion below it."
)
REPAIR_NOTE = "A repair merges two clusters and splits a third one where this lowers the distortion."


def history_payload(model: CentreModel) -> tuple[dict[str, Any] | None, str]:
    """Return the convergence curve, or None, and a note that explains it."""
    history = getattr(model, "history_", None) or []
    if hasattr(model, "objective_"):  # Its records have the value of a criterion, not the inertia.
        return None, ""
    total = _total_weight(model)
    points = [
        (
            rounded(one.seconds),
            rounded(one.inertia / total),
            ANNEALING if one.temperature > 0 else one.kind,
        )
        for one in history
        if total > 0
    ]
    known = [point for point in points if point[0] is not None and point[1] is not None]
    if not known:
        return None, ""
    seconds, distortion, kinds = (list(column) for column in zip(*known, strict=True))
    notes = [NOTE]
    notes += [ANNEALING_NOTE] if ANNEALING in kinds else []
    notes += [REPAIR_NOTE] if "repair" in kinds else []
    return {"seconds": seconds, "distortion": distortion, "kind": kinds}, " ".join(notes)


def facts_of(model: CentreModel, n_rows: int, distortion: float) -> list[list[str]]:
    """Return names and values of everything that is known about the model and the rows."""
    facts = [
        ["model", type(model).__name__],
        ["rows", f"{n_rows:,}"],
        ["clusters", f"{len(model.cluster_centers_):,}"],
        ["features", f"{model.cluster_centers_.shape[1]:,}"],
        ["distortion of these rows", f"{distortion:.6g}"],
    ]
    for name, attribute in (
        ("value of the criterion", "objective_"),
        ("distortion of the fit", "distortion_"),
        ("rows of the fit", "n_samples_seen_"),
        ("iterations", "n_iter_"),
        ("stop reason", "stop_reason_"),
    ):
        value = getattr(model, attribute, None)
        if value is not None:
            facts.append([name, f"{value:.6g}" if isinstance(value, float) else str(value)])
    for name, value in sorted(model.get_params(deep=False).items()):
        if name not in HIDDEN_PARAMETERS and value is not None:
            shown = f"array of shape {value.shape}" if isinstance(value, np.ndarray) else str(value)
            facts.append([name, shorten(shown)])
    versions = (("boostkmeans", VERSION), ("NumPy", np.__version__))
    return [*facts, *([name, value] for name, value in versions), ["Python", platform.python_version()]]


def _total_weight(model: CentreModel) -> float:
    """Return the sum of the weights of the fit, by which the inertia is divided."""
    inertia, distortion = getattr(model, "inertia_", 0.0), getattr(model, "distortion_", 0.0)
    if distortion > 0 and np.isfinite(inertia):
        return float(inertia / distortion)
    return float(getattr(model, "n_samples_seen_", 0) or 0)
