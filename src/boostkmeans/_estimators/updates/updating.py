"""Updating: from the arguments of `BoostKMeans.update` to fitted attributes."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from boostkmeans._data.frame import Floats
from boostkmeans._data.weights import RowWeights
from boostkmeans._engine.history import START
from boostkmeans._engine.plan import Plan, RequestedSettings, make_plan
from boostkmeans._engine.run import Run
from boostkmeans._engine.stopping import StoppingCriteria
from boostkmeans._engine.updates.update import Placement, Update
from boostkmeans._estimators.cluster_count import cluster_count
from boostkmeans._estimators.spread import root_means
from boostkmeans._estimators.updates.update_report import report_of
from boostkmeans._estimators.updates.updated_rows import (
    Changes,
    UpdatedRows,
    frame_of_model,
    has_all_labels,
    inertia_of_all_rows,
    rows_of_update,
)
from boostkmeans._runtime.errors import Message, Parameter, ParameterConflictError
from boostkmeans._runtime.threads import resolve_threads
from boostkmeans._steps.neighbours import assign_by_candidates
from boostkmeans._steps.problem import Problem
from boostkmeans._steps.size_limits.limits import ROUNDING, Limits


def updated_attributes(
    model: Any,
    changes: Changes,
    requested: RequestedSettings,
    criteria: StoppingCriteria,
    began: float,
) -> dict[str, Any]:
    """Return the fitted attributes of a model after an update. The model itself does not change.

    A value of None stands for an attribute that the updated model does not have.
    """
    updated = rows_of_update(model, changes)
    weights = updated.weights
    target = target_count(model, weights)
    limits = None
    if model.min_size is not None or model.max_size is not None:
        _check_represented(model, updated)
        limits = Limits.from_sizes(model.min_size, model.max_size, weights, target, is_numbered=True)
    problem = Problem(
        updated.rows, weights, target, resolve_threads(model.n_threads), limits, updated.n_pinned
    )
    plan = _plan(requested, problem)
    rng = check_random_state(model.random_state)
    update = Update.of(_placement(updated, problem, plan), plan, criteria, rng, began)
    run = update.perform(target)
    found = _row_attributes(model, updated, run, update)
    assert run.outcome is not None
    return {
        **found,
        "_frame": frame_of_model(updated.rows, model.metric),
        "_cluster_weights": run.partition.weights * weights.unit,
        "cluster_spread_": _spread(updated, run),
        "cluster_centers_": updated.rows.frame.leave(run.take_centres()),
        "distortion_": found["inertia_"] / weights.total,
        "history_": run.history,
        "n_iter_": sum(record.kind != START for record in run.history),
        "n_samples_seen_": int(found["cluster_sizes_"].sum()),
        "stop_reason_": str(run.outcome.reason),
        "converged_": False,
    }


def target_count(model: Any, weights: RowWeights) -> int:
    """Return the number of clusters after an update.

    It is that of the parameters, or the nearest number that the limits on sizes and the number of rows
    allow.
    """
    total, n_positive = weights.total, weights.n_positive
    target = cluster_count(model.n_clusters, model.leaf_size, total)
    # One limit per cluster implies their number.
    if model.max_size is not None and np.ndim(model.max_size) == 0:
        target = max(target, math.ceil(total / model.max_size * (1 - ROUNDING)))
    if np.ndim(model.min_size) == 0 and model.min_size:
        target = min(target, max(1, math.floor(total / model.min_size * (1 + ROUNDING))))
    has_own_limits = np.ndim(model.min_size) > 0 or np.ndim(model.max_size) > 0
    if has_own_limits and n_positive < target:
        raise ParameterConflictError(
            Message(
                "Only {n} of {target} clusters would have rows, but {min_size} or {max_size} has one "
                "limit per cluster. Pass the old rows ({rows}), so that clusters can be split.",
                n=n_positive,
                target=target,
                min_size=Parameter("min_size"),
                max_size=Parameter("max_size"),
                rows=Parameter("X"),
            )
        )
    return min(target, n_positive)


def _check_represented(model: Any, updated: UpdatedRows) -> None:
    """Raise an error if old rows that stay together exceed the limit on sizes."""
    whole = updated.represented
    if whole is None or model.max_size is None:
        return
    most = np.asarray(model.max_size, dtype=np.float64)
    if most.ndim == 0:
        most = np.full(len(whole.weights), float(most))
    heaviest = int(np.argmax(whole.weights - most[: len(whole.weights)]))
    if whole.weights[heaviest] > most[heaviest] * (1 + ROUNDING):
        raise ParameterConflictError(
            Message(
                "Cluster {cluster} has a size of {size:g}, which is more than {max_size}. Its rows can "
                "only be separated if they are given ({rows}).",
                cluster=heaviest,
                size=float(whole.weights[heaviest]),
                max_size=Parameter("max_size", float(most[heaviest])),
                rows=Parameter("X"),
            )
        )


def _plan(requested: RequestedSettings, problem: Problem) -> Plan:
    """Return the plan of an update, which neither anneals nor tries swaps."""
    plan = make_plan(requested, problem, log=False)
    reasons = [f"update of {problem.n_clusters} clusters"]
    return replace(plan, annealing=None, early_sweeps=0, trial_swaps=0, reasons=reasons)


def _placement(updated: UpdatedRows, problem: Problem, plan: Plan) -> Placement:
    """Place the new rows at their nearest centres."""
    rows, labels, touched = updated.rows, updated.old_labels, updated.touched.copy()
    centres = rows.frame.enter(updated.centres)
    if updated.n_new:
        new = rows.after(updated.n_old)
        places = assign_by_candidates(new, centres, plan.n_candidates, problem.n_threads)
        labels = np.concatenate([labels, places])
        touched[places] = True
    return Placement(problem, labels, updated.n_old, centres, touched)


def _spread(updated: UpdatedRows, run: Run) -> Floats | None:
    """Return the root mean squared distance of the rows of each cluster; None if it is not known."""
    frame, unit, whole = updated.rows.frame, updated.weights.unit, updated.represented
    inertias = run.inertias
    if inertias is None:
        run.recompute()
        inertias = run.inertias
    assert inertias is not None
    with np.errstate(over="ignore"):
        inertias = np.ldexp(inertias * unit, -2 * frame.exponent)
    if whole is not None:  # Add the distances of the old rows to the centres that represent them.
        if whole.inertias is None:
            return None
        np.add.at(inertias, run.partition.labels[: updated.n_old], whole.inertias)
    return root_means(inertias, run.partition.weights * unit)


def _row_attributes(model: Any, updated: UpdatedRows, run: Run, update: Update) -> dict[str, Any]:
    """Return labels, sizes, inertia and the report."""
    labels, ledger, n_old = run.partition.labels, update.ledger, updated.n_old
    k, whole, all_labels = run.n_clusters, updated.represented, None
    has_moved = labels[:n_old] != ledger.numbers[updated.old_labels]
    sizes = np.bincount(labels[updated.n_pinned :], minlength=k)
    inertia = run.inertia_in_user_units
    if whole is None:
        all_labels = labels
        n_kept, n_moved = n_old, int(np.count_nonzero(has_moved))
    else:
        np.add.at(sizes, labels[:n_old], whole.sizes)
        inertia += whole.inertia
        n_kept, n_moved = int(whole.sizes.sum()), int(whole.sizes[has_moved].sum())
        if has_all_labels(model) and updated.n_removed == 0:
            all_labels = np.concatenate([labels[:n_old][model.labels_], labels[n_old:]])
    report = report_of(
        ledger,
        n_added=updated.n_new,
        n_removed=updated.n_removed,
        n_kept=n_kept,
        n_moved=n_moved,
        inertia_before=inertia_of_all_rows(model),
        inertia_after=float(inertia),
        labels=labels[n_old:].copy(),
        removed_rows=updated.removed_rows,
    )
    return {
        "labels_": all_labels,
        "cluster_sizes_": sizes,
        "inertia_": inertia,
        "update_report_": report,
    }
