"""The paper's scalability experiment: methods, limits and page."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from miniature_results import scalability_result
from numpy.typing import NDArray

import experiment
import fig5_scalability
import scalability_figures
import vlad
from isolated import Outcome
from scalability_methods import METHODS

Json = dict[str, Any]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No real vectors, no stored results, and images in a temporary folder."""
    monkeypatch.delenv(vlad.VARIABLE, raising=False)
    monkeypatch.setattr(fig5_scalability, "IMAGES", tmp_path)
    monkeypatch.setattr(experiment, "RESULTS", tmp_path)


@pytest.mark.parametrize("full", [False, True])
def test_larger_sizes_come_later(full: bool) -> None:
    sizes = [(run["n"], run["k"]) for run in fig5_scalability.plan(full)]
    for i, (n, k) in enumerate(sizes):
        assert not any(n >= m and k >= j and (n, k) != (m, j) for m, j in sizes[i + 1 :])


@pytest.fixture(scope="module")
def few_rows() -> NDArray[np.float32]:
    return np.asarray(vlad.synthetic(200))


@pytest.mark.parametrize("method", METHODS)
def test_methods_use_all_clusters(method: str, few_rows: NDArray[np.float32]) -> None:
    labels, seconds = METHODS[method](few_rows, 6, 0)
    assert sorted(set(labels.tolist())) == list(range(6))
    assert 0 < seconds < 60


@pytest.mark.process
@pytest.mark.slow
def test_method_is_stopped_at_its_limit() -> None:
    run: Json = {"n": 4000, "k": 1024, "method": "k-means", "seed": 0, "limit": 0.02}
    assert fig5_scalability.measure(run) == {"failure": "more than 0.02 s"}


def test_failed_method_is_not_tried_with_more_rows() -> None:
    run: Json = {"n": 4000, "k": 1024, "method": "k-means", "seed": 0, "limit": 40.0}
    stored = [{"run": run, "failure": "more than 40 s"}]
    skipped = fig5_scalability.skip_reason({**run, "n": 8000}, stored)
    assert skipped == {"failure": "not tried: it failed at n=4,000, k=1,024"}
    assert fig5_scalability.skip_reason({**run, "n": 2000}, stored) == {}
    assert fig5_scalability.skip_reason({**run, "n": 8000, "method": "RBK"}, stored) == {}


def test_outcomes_of_processes_become_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value, an error and a run over its limit, all without a process."""
    outcomes = iter([
        Outcome({"data": "some", "seconds": 130.0, "distortion": 1.0}, peak_megabytes=99.6),
        Outcome(failure="MemoryError"),
        Outcome({"data": "some", "seconds": 2000.0, "distortion": 1.0}),
    ])  # fmt: skip
    monkeypatch.setattr(fig5_scalability, "isolated", lambda *_, **__: next(outcomes))
    run: Json = {"n": 100, "k": 8, "method": "boostkmeans", "seed": 0, "limit": 1800.0}
    first = fig5_scalability.measure(run)
    assert (first["seconds"], first["peak_megabytes"]) == (130.0, 100)
    again = fig5_scalability.skip_reason({**run, "seed": 1}, [{"run": run, **first}])
    assert "one seed is enough" in again["skipped"]
    assert fig5_scalability.measure({**run, "method": "RBK"}) == {"failure": "MemoryError"}
    assert fig5_scalability.measure({**run, "method": "BsKM"}) == {"failure": "more than 1800 s"}


def test_exponents() -> None:
    runs = scalability_result()["runs"]
    assert scalability_figures.exponent(runs, "BKM(non)", "k") == pytest.approx(1)
    assert scalability_figures.exponent(runs, "BsBKM(non)", "k") == pytest.approx(0)
    assert scalability_figures.exponent(runs, "k-means++", "k") is None


def test_page_shows_failures_and_extrapolated_times() -> None:
    page = fig5_scalability.page(scalability_result())
    assert "more than 40 s" in page
    assert "extrapolated in proportion to n from n=100,000" in page
    assert "1.5 x (k=8,192)" in page
    assert fig5_scalability.page({"runs": []}) == "Not measured yet."


def test_page_tells_synthetic_vectors() -> None:
    result = scalability_result()
    assert "The vectors are synthetic" in fig5_scalability.page(result)
    real = json.loads(json.dumps(result).replace("synthetic, some", "Flickr10M"))
    assert "The vectors are synthetic" not in fig5_scalability.page(real)


@pytest.mark.slow
def test_pictures_are_drawn(tmp_path: Path) -> None:
    result = scalability_result()
    fig5_scalability.draw(result)
    for name in (fig5_scalability.TIMES, fig5_scalability.DISTORTIONS):
        assert (tmp_path / name).stat().st_size > 1000


def test_times_are_drawn_with_empty_panels(tmp_path: Path) -> None:
    fig5_scalability.draw_times(scalability_result()["runs"][:1])
    assert (tmp_path / fig5_scalability.TIMES).exists()
