"""Effects of a fit on its process: signals, forks, threads, floating-point state, logging."""

import logging
import threading
from typing import Any

import numpy as np
import pytest

from boostkmeans import BoostKMeans
from boostkmeans._engine.run import Run
from boostkmeans._engine.schedule import Schedule
from boostkmeans._estimators import boost_kmeans, clusterer
from boostkmeans._runtime.threads import resolve_threads
from conftest import blobs, run_python
from processes import PATIENCE


@pytest.mark.process
@pytest.mark.slow
def test_interrupt_keeps_the_best_partition_so_far() -> None:
    result = run_python("""
import os, signal, threading, time
import numpy as np
from boostkmeans import BoostKMeans
X = np.random.default_rng(0).normal(size=(300_000, 64)).astype(np.float32)
model = BoostKMeans(1000, init="random-partition", tol=0, max_iter=10_000, random_state=0)
sent, swept = [], threading.Event()
model.set_params(callback=lambda record: swept.set())
def interrupt():
    swept.wait()
    time.sleep(0.2)  # into the second sweep
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    model.fit(X)
except KeyboardInterrupt:
    print("answered after", time.perf_counter() - sent[0])
assert model.stop_reason_ == "interrupted" and not model.converged_
assert (model.cluster_sizes_ > 0).all() and model.cluster_sizes_.sum() == len(X)
sums = np.zeros((1000, 64)); np.add.at(sums, model.labels_, X.astype(np.float64))
assert np.allclose(sums / model.cluster_sizes_[:, None], model.cluster_centers_)
gaps = X - model.cluster_centers_[model.labels_]
assert np.isclose(model.inertia_, (gaps**2).sum(), rtol=1e-9)
assert threading.active_count() <= 2
assert model.set_params(max_iter=2, callback=None).fit(X[:5000]).stop_reason_ == "max_iter"
""")
    assert result.returncode == 0, result.stderr
    assert "answered after" in result.stdout


@pytest.mark.process
@pytest.mark.slow
def test_interrupt_while_seeding_leaves_the_model_unfitted() -> None:
    result = run_python("""
import os, signal, threading
import numpy as np
from boostkmeans import BoostKMeans, _core
X = np.random.default_rng(0).normal(size=(100_000, 64)).astype(np.float32)
model = BoostKMeans(4000, init="k-means++")
seed = _core.plus_plus
def seed_and_interrupt(*given, **named):
    _core.plus_plus = seed
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    return seed(*given, **named)
_core.plus_plus = seed_and_interrupt
try:
    model.fit(X)
except KeyboardInterrupt:
    assert not hasattr(model, "labels_")
    print("interrupted")
""")
    assert result.returncode == 0, result.stderr
    assert result.stdout == "interrupted\n"


class TestInterruptedBetweenSweeps:
    """Ctrl-C while a fit is not in a sweep."""

    X = blobs(500, 4, 6, spread=1.0)[0]

    @staticmethod
    def interrupt(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    def test_during_the_final_assignment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        model = BoostKMeans(6, random_state=0, max_iter=1, tol=0)
        with monkeypatch.context() as patch:
            patch.setattr(clusterer, "assign_nearest", self.interrupt)
            with pytest.raises(KeyboardInterrupt):
                model.fit(self.X)
        assert model.stop_reason_ == "interrupted"
        assert (len(model.labels_), model.n_iter_, model.converged_) == (500, 1, False)
        assert model.predict(self.X).shape == (500,)
        means = [self.X[model.labels_ == c].mean(axis=0) for c in range(6)]
        np.testing.assert_allclose(model.cluster_centers_, means)

    def test_during_a_later_run(self) -> None:
        calls = []

        def init(X: Any, n_clusters: int, random_state: Any) -> Any:
            calls.append(1)
            return np.arange(500) % 6 if len(calls) == 1 else self.interrupt()

        model = BoostKMeans(6, init=init, n_init=3, random_state=0)
        with pytest.raises(KeyboardInterrupt):
            model.fit(self.X)
        assert (model.stop_reason_, len(calls)) == ("interrupted", 2)
        assert model.cluster_sizes_.sum() == 500

    def test_during_partial_fit_leaves_the_model_unchanged(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        model = BoostKMeans(6, random_state=0).fit(self.X)
        before = {name: repr(value) for name, value in vars(model).items()}
        for place, name in ((boost_kmeans, "nearest"), (Run, "start"), (Schedule, "execute")):
            with monkeypatch.context() as patch:
                patch.setattr(place, name, self.interrupt)
                with pytest.raises(KeyboardInterrupt):
                    model.partial_fit(self.X[:50])
        assert {name: repr(value) for name, value in vars(model).items()} == before


@pytest.mark.process
@pytest.mark.slow
def test_interpreter_exits_while_a_daemon_thread_fits() -> None:
    result = run_python("""
import threading
import numpy as np
from boostkmeans import BoostKMeans
X = np.random.default_rng(0).normal(size=(200_000, 32))
swept = threading.Event()
model = BoostKMeans(500, init="random-partition", tol=0, max_iter=10_000, callback=lambda _: swept.set())
threading.Thread(target=model.fit, args=(X,), daemon=True).start()
swept.wait()
""")
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.process
@pytest.mark.slow
def test_fits_columns_that_are_far_apart_in_memory() -> None:
    # Data frames have Fortran order. With n^2 prefetches, a former defect, this exceeds the time limit.
    result = run_python(
        """
import numpy as np
from boostkmeans import BoostKMeans
X = np.random.default_rng(0).normal(size=(60_000, 8))
a, b = (BoostKMeans(8, random_state=0, max_iter=5).fit(Y) for Y in (X, np.asfortranarray(X)))
assert (a.labels_ == b.labels_).all()
""",
        timeout=PATIENCE,
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.process
@pytest.mark.slow
def test_fits_after_fork() -> None:
    result = run_python("""
import os, warnings
import numpy as np
from boostkmeans import BoostKMeans
X = np.random.default_rng(0).normal(size=(20_000, 16))
fit = lambda: BoostKMeans(50, random_state=0, n_threads=4, max_iter=3).fit(X)
expected = fit().inertia_
warnings.simplefilter("ignore")  # Python warns about forks in a process with threads.
children = []
for _ in range(8):
    pid = os.fork()
    if pid == 0:
        os._exit(0 if fit().inertia_ == expected else 1)
    children.append(pid)
assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * 8
print("done")
""")
    assert result.returncode == 0, result.stderr
    assert result.stdout == "done\n"


def test_fits_in_several_python_threads() -> None:
    X, _ = blobs(5000, 8, 10, spread=1.0)
    expected = BoostKMeans(10, random_state=0, tol=0).fit(X).labels_
    results: list[bool] = []

    def fit() -> None:
        labels = BoostKMeans(10, random_state=0, tol=0, n_threads=2).fit(X).labels_
        results.append(bool((labels == expected).all()))

    threads = [threading.Thread(target=fit) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 16


@pytest.mark.process
@pytest.mark.slow
def test_leaves_the_floating_point_state_unchanged() -> None:
    # Denormals are kept, and rounding is to nearest. -ffast-math at link time would change this.
    result = run_python("""
import numpy as np
def state():
    tiny = np.float64(5e-324)
    return bool(tiny * 1.0 == tiny), bool(np.float32(1e-45) * np.float32(1) > 0), 1.0 + 2.0**-53 == 1.0
before = state()
import boostkmeans
assert state() == before == (True, True, True)
boostkmeans.BoostKMeans(5).fit(np.random.default_rng(0).normal(size=(1000, 3)) * 1e-310)
assert state() == before
""")
    assert result.returncode == 0, result.stderr


@pytest.mark.process
@pytest.mark.slow
def test_import_prints_nothing_and_loads_little() -> None:
    result = run_python(
        """
import sys
import sklearn.metrics, sklearn.preprocessing
before = set(sys.modules)  # scikit-learn may load rich.
import boostkmeans
heavy = {"matplotlib", "faiss", "typer", "rich"} & (set(sys.modules) - before)
assert not heavy, heavy
""",
        fresh=True,
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.process
def test_rejects_an_unknown_instruction_set() -> None:
    result = run_python("import boostkmeans; boostkmeans.instruction_set()", BOOSTKMEANS_ISA="mmx")
    assert "BOOSTKMEANS_ISA='mmx' is not an instruction set of this machine" in result.stderr


def test_environment_variable_sets_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    available = resolve_threads(None)
    assert available >= 1
    assert resolve_threads(5) == 5
    for value, expected in (("1", 1), ("1,2", 1), ("0", 1), ("999", available), ("x", available)):
        monkeypatch.setenv("OMP_NUM_THREADS", value)
        assert resolve_threads(None) == expected


def test_verbose_uses_logging(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    X, _ = blobs(500, 3, 4)
    with caplog.at_level(logging.INFO, logger="boostkmeans"):
        model = BoostKMeans(4, random_state=0, verbose=1).fit(X)
    lines = [r.getMessage() for r in caplog.records]
    assert sum(line.startswith("sweep ") for line in lines) == model.n_iter_
    assert logging.getLogger("boostkmeans").handlers == []
    caplog.clear()
    BoostKMeans(4, random_state=0).fit(X)
    assert caplog.records == []
    assert capfd.readouterr().out == ""


@pytest.mark.process
@pytest.mark.slow
def test_verbose_prints_without_configured_logging() -> None:
    result = run_python("""
import numpy as np
from boostkmeans import BoostKMeans
X = np.random.default_rng(0).normal(size=(500, 3))
BoostKMeans(4, random_state=0, verbose=1).fit(X)
""")
    assert result.stdout == ""
    assert "[boostkmeans] sweep 1 (annealing), " in result.stderr
