"""Tests of the gallery: every example runs and draws a figure."""

import runpy
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[2] / "examples" / "gallery"
SCRIPTS = sorted(GALLERY.glob("plot_*.py"))


def test_gallery_has_examples() -> None:
    assert len(SCRIPTS) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_example_runs_and_draws_a_figure(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    monkeypatch.chdir(GALLERY)  # as sphinx-gallery does
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # tests may run in parallel
    try:
        runpy.run_path(str(script), run_name="__main__")
        assert plt.get_fignums()
    finally:
        plt.close("all")
