"""Serial and parallel time of fits."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from boostkmeans import BisectingBoostKMeans, BoostKMeans, _core, load_model
from boostkmeans._engine.core_times import SIMULATED_CORES, CoreClock, CoreTimes, core_report


def test_speed_ups_follow_from_the_times() -> None:
    times = CoreTimes(serial=1.0, parallel=9.0, simulated=(2.0, 1.0, 0.5))
    assert times.serial_share == pytest.approx(0.1)
    assert times.predicted_speed_up(1) == pytest.approx(1)
    assert times.predicted_speed_up(9) == pytest.approx(5)  # 10 / (1 + 9 / 9)
    assert [times.simulated_speed_up(n) for n in SIMULATED_CORES] == pytest.approx([10 / 3, 5, 10 / 1.5])


def test_no_time_at_all_is_serial() -> None:
    times = CoreTimes(0.0, 0.0, (0.0, 0.0, 0.0))
    assert times.serial_share == 1
    assert times.simulated_speed_up(8) == 1


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("estimator", [BoostKMeans, BisectingBoostKMeans])
def test_fits_report_their_serial_share(estimator: type, n_threads: int) -> None:
    X = np.random.default_rng(0).normal(size=(20_000, 32))
    model = estimator(50, random_state=0, n_threads=n_threads).fit(X)
    assert 0 < model.serial_share_ < 1
    report = core_report(model)
    assert report["serial_share"] == model.serial_share_
    for n, predicted in report["predicted"].items():
        # The simulation considers the longest items, which Amdahl's law ignores.
        assert 1 <= report["simulated"][n] <= predicted * (1 + 1e-9) <= n * (1 + 1e-9)


def test_later_batches_report_their_own_share() -> None:
    X = np.random.default_rng(0).normal(size=(4000, 8))
    model = BoostKMeans(5, random_state=0).fit(X)
    first = model._core_times
    model.partial_fit(X)
    assert model._core_times is not first
    assert 0 <= model.serial_share_ <= 1


def test_calls_that_are_too_small_for_threads_are_serial() -> None:
    clock = CoreClock()
    rows = _core.Rows(np.ones((100, 2)), shift=np.zeros(2))
    _core.row_norms(rows, 2)
    assert clock.read().parallel == 0
    assert clock.read().serial_share == 1


def test_parallel_sections_count_the_time_of_all_threads() -> None:
    X = np.random.default_rng(0).normal(size=(40_000, 64))
    rows = _core.Rows(X, shift=np.zeros(64))
    clock = CoreClock()
    _core.nearest(rows, X[:200], np.zeros(len(X), dtype=np.int32), None, None, 1)
    times = clock.read()
    assert times.parallel > 0
    # Many items of about the same length: more processors need less time, but never less than an item.
    assert times.parallel > times.simulated[0] > times.simulated[1] > times.simulated[2] > 0


def test_stored_models_do_not_depend_on_times(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(500, 3))
    model = BoostKMeans(4, random_state=0).fit(X)
    model.save(tmp_path / "model")
    assert not hasattr(load_model(tmp_path / "model"), "serial_share_")
    assert pickle.loads(pickle.dumps(model)).serial_share_ == model.serial_share_
