"""What a checkpoint keeps alive, and which states it never contains."""

import gc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from boostkmeans import BoostKMeans
from boostkmeans._engine import fit
from boostkmeans._engine.checkpoints import checkpoint
from boostkmeans._engine.checkpoints.checkpoint import Checkpoint


def rows(n: int = 3000) -> NDArray[np.float64]:
    return np.random.default_rng(0).normal(size=(n, 4))


def test_a_checkpointed_fit_releases_the_rows(tmp_path: Path) -> None:
    X = rows()
    alive = weakref.ref(X)
    gc.disable()
    try:
        BoostKMeans(5, random_state=0, checkpoint=tmp_path / "fit").fit(X)
        del X
        assert alive() is None
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "parameters", [{}, {"quality": "fast"}, {"min_size": 599, "annealing": 0, "repair": False}]
)
def test_a_fit_without_time_resumes_as_if_uninterrupted(
    parameters: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The deadline changes the sample's fit or the balancing: such states must not be stored."""
    monkeypatch.setattr(checkpoint, "MAX_TIME_SHARE", np.inf)  # Write after every step.
    X = rows()
    expected = BoostKMeans(5, random_state=0, **parameters).fit(X)
    model = BoostKMeans(5, random_state=0, checkpoint=tmp_path / "fit", **parameters)
    model.set_params(max_time=1e-9).fit(X)
    assert model.stop_reason_ == "max_time"
    model.set_params(max_time=None).fit(X)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    assert model.inertia_ == expected.inertia_


def test_a_stored_stage_that_is_not_reached_does_not_affect_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the sample is accepted this time, the stored tree of all rows is never asked for."""
    monkeypatch.setattr(checkpoint, "MAX_TIME_SHARE", np.inf)
    X = rows(5000)
    model = BoostKMeans(17, quality="fast", random_state=0, n_init=2, checkpoint=tmp_path / "fit")
    write = Checkpoint.write

    def write_until_tree(self: Checkpoint, stage: str, *args: Any, **options: Any) -> None:
        write(self, stage, *args, **options)
        if stage == "tree":
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(fit, "MAX_SAMPLE_RATIO", 0.0)  # Reject the sample.
        patch.setattr(Checkpoint, "write", write_until_tree)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X)
    positions = []
    begin_run = Checkpoint.begin_run

    def watch(self: Checkpoint, rng: np.random.RandomState, best: Any) -> None:
        begin_run(self, rng, best)
        positions.append(rng.get_state(legacy=False)["state"]["pos"])

    monkeypatch.setattr(Checkpoint, "begin_run", watch)
    model.fit(X)
    assert len(positions) == 2
    assert positions[0] != positions[1]
