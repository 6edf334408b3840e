"""Fits with bounds, which save time at the paper's size, have the results of plain fits."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import bounded_fits
import contenders
import trace_runs
from all_contenders import CONTENDERS, may_use_bounds
from boostkmeans._data.projection import Projection
from boostkmeans._engine.checkpoints import checkpoint
from contenders import FitState, Task, Trace, TracePoint

K = 64


class KilledError(BaseException):
    """Stands for the end of a process."""


@pytest.fixture(autouse=True)
def projections(monkeypatch: pytest.MonkeyPatch) -> list[Projection | None]:
    """Let bounds pay for few clusters. Return the projections that fits have made."""
    monkeypatch.setattr(bounded_fits, "MIN_CLUSTERS", K)
    made: list[Projection | None] = []
    original = bounded_fits.projection_of

    def projection_of(*arguments: Any) -> Projection | None:
        made.append(original(*arguments))
        return made[-1]

    monkeypatch.setattr(bounded_fits, "projection_of", projection_of)
    return made


@pytest.fixture
def task(sift: NDArray[np.uint8]) -> Task:
    """Return a plain task."""
    return Task(sift[:4000].astype(np.float32), K, seed=3, iterations=12)


def curve(trace: Trace) -> list[tuple[int, float, int]]:
    """Return the points of a trace without their seconds."""
    return [(one.iteration, one.distortion, one.moves) for one in trace.points]


def distortions(trace: Trace) -> list[float]:
    """Return the distortion after each iteration."""
    return [one.distortion for one in trace.points]


@pytest.mark.parametrize("method", ["k-means", "k-means++"])
def test_kmeans_is_the_same(method: str, task: Task, projections: list[Projection | None]) -> None:
    plain = CONTENDERS[method](task)
    assert not projections
    bounded = CONTENDERS[method](replace(task, bounded=True))
    assert projections[0] is not None
    assert projections[0].n_axes == 48
    assert curve(bounded) == curve(plain)
    np.testing.assert_array_equal(bounded.labels, plain.labels)


@pytest.mark.parametrize("method", ["BKM(non)", "BKM(rnd)", "BKM(kpp)", "BKM(rnd)+Fast", "RBK, refined"])
@pytest.mark.parametrize("seed", range(3))
def test_boost_kmeans_is_nearly_the_same(
    method: str, seed: int, task: Task, projections: list[Projection | None]
) -> None:
    """Proposals are rounded differently, so that a few moves may differ."""
    task = replace(task, seed=seed)
    plain = CONTENDERS[method](task)
    assert not projections
    bounded = CONTENDERS[method](replace(task, bounded=True))
    assert projections[0] is not None
    assert [one.iteration for one in bounded.points] == [one.iteration for one in plain.points]
    # The first sweep uses no bounds, and the random numbers are the same.
    assert curve(bounded)[0] == curve(plain)[0]
    np.testing.assert_allclose(distortions(bounded), distortions(plain), rtol=2e-3)
    assert bounded.distortion == pytest.approx(plain.distortion, rel=2e-3)
    assert np.mean(bounded.labels == plain.labels) > 0.9


@pytest.mark.parametrize("method", ["k-means", "BKM(non)", "RBK, refined"])
@pytest.mark.parametrize("began_with_bounds", [True, False])
def test_killed_fit_continues(
    method: str, began_with_bounds: bool, task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fit continues with bounds, also if a plain fit has begun it."""
    monkeypatch.setattr(contenders, "ITERATIONS_PER_CALL", 2)
    monkeypatch.setattr(checkpoint, "MAX_PAUSE", 0.0)
    whole = CONTENDERS[method](replace(task, bounded=True))
    kept: list[TracePoint] = []

    def keep(points: list[TracePoint]) -> None:
        kept[:] = points
        if len(points) == 5:
            raise KilledError

    with pytest.raises(KilledError):
        CONTENDERS[method](replace(task, state=FitState(tmp_path, [], keep), bounded=began_with_bounds))
    numbers: list[int] = []
    state = FitState(tmp_path, kept, lambda points: numbers.append(points[-1].iteration))
    again = CONTENDERS[method](replace(task, state=state, bounded=True))
    assert min(numbers) >= 3, "the first iterations are not repeated"
    if began_with_bounds or method == "k-means":
        assert curve(again) == curve(whole)
    else:
        np.testing.assert_allclose(distortions(again), distortions(whole), rtol=2e-3)


def test_few_clusters_and_flat_spectra_have_no_bounds(task: Task) -> None:
    assert bounded_fits.number_of_components(task.X, K) == 48
    assert bounded_fits.number_of_components(task.X, K - 1) == 0
    assert bounded_fits.number_of_components(task.X[:, :63], K) == 0
    normal = np.random.default_rng(0).normal(size=(3000, 128)).astype(np.float32)
    assert bounded_fits.number_of_components(normal, K) == 0


def test_own_settings_have_no_bounds(task: Task, projections: list[Projection | None]) -> None:
    """The library decides about its own fits."""
    plain = CONTENDERS["boostkmeans"](task)
    assert curve(CONTENDERS["boostkmeans"](replace(task, bounded=True))) == curve(plain)
    assert not projections
    assert not may_use_bounds("boostkmeans")


def test_trace_says_if_it_used_bounds(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_runs, "sift", lambda n: (task.X[:n], "SIFT"))
    run = {"method": "BKM(non)", "n": 4000, "k": K, "seed": 0}
    assert trace_runs.begin(run, None, tmp_path)[0]["bounds"] == "48 principal components"
    for change in ({"method": "LVQ"}, {"k": K - 1}):
        assert "bounds" not in trace_runs.begin({**run, **change}, None, tmp_path)[0]
