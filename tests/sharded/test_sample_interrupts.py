"""Ctrl-C while the sample of a fit in one process is fitted: the driver does not wait for its end."""

import os
import signal
import time
from typing import Any

import numpy as np
import pytest

from boostkmeans._sharded import fit
from boostkmeans.distributed import BisectingBoostKMeans, BoostKMeans

# Seconds for which the fit of a sample would go on.
LONG = 3.0


class LongTask:
    """A task that sends Ctrl-C to this process, and goes on."""

    def __init__(self) -> None:
        self.has_ended = False

    def __call__(self, *arguments: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        end = time.monotonic() + LONG
        while time.monotonic() < end:
            time.sleep(0.01)
        self.has_ended = True


@pytest.mark.parametrize(
    ("estimator", "name"), [(BoostKMeans, "fit_sample"), (BisectingBoostKMeans, "grow_tree")]
)
def test_ctrl_c_interrupts_the_sample(
    estimator: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = LongTask()
    task.__name__ = name  # type: ignore[attr-defined]
    monkeypatch.setattr(fit, name, task)
    X = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.raises(KeyboardInterrupt):
        estimator(3, engine="local").fit([X[:30], X[30:]])
    assert not task.has_ended
