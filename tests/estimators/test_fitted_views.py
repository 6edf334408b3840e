"""Plots of fitted estimators, and their representation in notebooks."""

import builtins
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.exceptions import NotFittedError

from boostkmeans import BisectingBoostKMeans, BoostKMeans, SweepRecord, distributed, load_model
from boostkmeans.baselines import KMeans
from conftest import blobs

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

X, _ = blobs(600, 3, 5)


@pytest.fixture
def ax() -> Any:
    return Figure().subplots()


def legend_of(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


class TestHistory:
    def test_line_is_the_best_and_markers_are_the_current_values(self, ax: Any) -> None:
        model = BoostKMeans(12, annealing=(0.4, 6), random_state=0).fit(X)
        assert model.plot_history(ax) is ax
        line = ax.get_lines()[0]
        np.testing.assert_allclose(line.get_xdata(), [one.seconds for one in model.history_])
        best = [one.inertia / 600 for one in model.history_]
        np.testing.assert_allclose(line.get_ydata(), best)
        assert best[-1] == pytest.approx(model.distortion_)
        names = legend_of(ax)
        assert names[0] == "best so far"
        assert "annealing" in names
        for name, markers in zip(names[1:], ax.collections, strict=True):
            own = [one for one in model.history_ if one.phase == name]
            expected = [(one.seconds, one.current_inertia / 600) for one in own]
            np.testing.assert_allclose(markers.get_offsets(), expected)
        assert f"stop reason: {model.stop_reason_}" in ax.get_title()

    def test_distortion_is_that_of_weighted_rows(self, ax: Any) -> None:
        weights = np.random.default_rng(0).uniform(1, 5, size=600)
        model = BoostKMeans(5, random_state=0).fit(X, sample_weight=weights).plot_history(ax)
        fitted = BoostKMeans(5, random_state=0).fit(X, sample_weight=weights)
        assert model.get_lines()[0].get_ydata()[-1] == pytest.approx(fitted.distortion_)

    @pytest.mark.parametrize(
        "model", [BisectingBoostKMeans(5, random_state=0), KMeans(5, random_state=0)], ids=repr
    )
    def test_other_estimators(self, model: Any, ax: Any) -> None:
        assert model.fit(X).plot_history(ax) is ax
        assert len(legend_of(ax)) >= 2

    def test_loaded_model_without_labels(self, tmp_path: Path, ax: Any) -> None:
        BoostKMeans(5, random_state=0).fit(X).save(tmp_path / "m", labels=False)
        model = load_model(tmp_path / "m")
        assert model.plot_history(ax) is ax
        assert model.plot_sizes(Figure().subplots()).get_title() == "BoostKMeans, k = 5"

    def test_distributed_model(self, ax: Any) -> None:
        model = distributed.BoostKMeans(5, random_state=0).fit([X[:300], X[300:]])
        assert model.plot_history(ax) is ax
        assert model.to_local(labels=False).plot_history(Figure().subplots())
        assert model.to_local().plot_sizes(Figure().subplots())

    def test_model_must_be_fitted_and_have_records(self, ax: Any) -> None:
        with pytest.raises(NotFittedError):
            BoostKMeans(5).plot_history(ax)
        model = BoostKMeans(5, random_state=0).fit(X)
        model.history_ = []
        with pytest.raises(ValueError, match="no history to plot"):
            model.plot_history(ax)


class TestSizes:
    def test_bars_are_sorted_sizes_with_limits(self, ax: Any) -> None:
        model = BoostKMeans(6, min_size=80, max_size=150, random_state=0).fit(X)
        assert model.plot_sizes(ax) is ax
        heights = [bar.get_height() for bar in ax.patches]
        assert heights == sorted(model.cluster_sizes_.tolist(), reverse=True)
        assert legend_of(ax) == ["mean 100", "min_size = 80", "max_size = 150"]
        assert ax.get_ylabel() == "rows"
        assert ax.get_yscale() == "linear"

    def test_limits_apply_to_weights(self, ax: Any) -> None:
        weights = np.full(600, 2.0)
        model = BoostKMeans(6, max_size=300, random_state=0).fit(X, sample_weight=weights)
        model.plot_sizes(ax)
        assert sum(bar.get_height() for bar in ax.patches) == pytest.approx(1200)
        assert ax.get_ylabel() == "weight"

    @pytest.mark.parametrize(
        ("sizes", "scale"),
        [([1000, 3], "log"), ([1000, 3, 0], "symlog"), ([1000, 900], "linear"), ([0, 0], "linear")],
    )
    def test_scale(self, sizes: list[int], scale: str, ax: Any) -> None:
        model = BoostKMeans(2, random_state=0).fit(X)
        model.cluster_sizes_ = np.array(sizes)
        model.plot_sizes(ax)
        assert ax.get_yscale() == scale
        ax.figure.savefig("/dev/null", format="png")

    def test_many_clusters_are_an_area(self, ax: Any) -> None:
        BoostKMeans(300, random_state=0).fit(X).plot_sizes(ax)
        assert len(ax.patches) == 0
        assert len(ax.collections) == 1

    def test_model_must_be_fitted(self, ax: Any) -> None:
        with pytest.raises(NotFittedError):
            BoostKMeans(5).plot_sizes(ax)


def test_new_axes_belong_to_pyplot() -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    plt.close("all")
    try:
        ax = BoostKMeans(5, random_state=0).fit(X).plot_sizes()
        assert plt.figure(plt.get_fignums()[-1]) is ax.figure
    finally:
        plt.close("all")


@pytest.mark.parametrize("name", ["plot_history", "plot_sizes"])
def test_error_without_matplotlib_names_the_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(module: str, *rest: Any, **options: Any) -> Any:
        if module.startswith("matplotlib"):
            raise ImportError("No module named 'matplotlib'")
        return real(module, *rest, **options)

    model = BoostKMeans(5, random_state=0).fit(X)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=rf"{name} needs matplotlib: pip install '\.\[plot\]'"):
        getattr(model, name)()


class TestHTML:
    def test_unfitted_estimator_looks_as_in_scikit_learn(self) -> None:
        html = BoostKMeans(5)._repr_mimebundle_()["text/html"]
        assert "boostkmeans-summary" not in html
        assert html.count("sk-top-container") >= 1

    @pytest.mark.parametrize("form", ["_repr_html_", "_repr_mimebundle_"])
    def test_fitted_estimator_shows_its_result(self, form: str) -> None:
        model = BoostKMeans(5, tol=0, random_state=0).fit(X)
        found = getattr(model, form)()
        html = found if isinstance(found, str) else found["text/html"]
        assert html.count("boostkmeans-summary") == 1
        assert "sk-top-container" in html
        sizes = model.cluster_sizes_
        for text in (
            ">5<", f">{model.inertia_:.8g}<", f">{model.n_iter_}<", ">certified<", ">yes: ",
            f"smallest {sizes.min()}, median {np.median(sizes):g}, largest {sizes.max()}",
        ):  # fmt: skip
            assert text in html, text
        assert html.count("<rect") >= 5

    def test_certificate_is_not_claimed(self) -> None:
        html = BoostKMeans(5, max_iter=1, random_state=0).fit(X)._repr_html_()
        assert ">max_iter<" in html
        assert ">no<" in html

    @pytest.mark.parametrize(
        "model",
        [
            BisectingBoostKMeans(5, random_state=0),
            KMeans(5, random_state=0),
            distributed.BoostKMeans(5, random_state=0),
            BoostKMeans(300, random_state=0),
            BoostKMeans(1),
        ],
        ids=repr,
    )
    def test_other_estimators(self, model: Any) -> None:
        html = model.fit(X)._repr_html_()
        assert html.count("boostkmeans-summary") == 1
        assert html.count("<rect") <= 45

    def test_text_is_escaped(self) -> None:
        model = BoostKMeans(5, random_state=0).fit(X)
        model.stop_reason_ = "<script>alert(1)</script>"
        assert "<script>alert" not in model._repr_html_().split("boostkmeans-summary")[1]

    def test_text_display_has_no_html(self) -> None:
        model = BoostKMeans(5, random_state=0).fit(X)
        with sklearn.config_context(display="text"):
            assert list(model._repr_mimebundle_()) == ["text/plain"]
            assert not hasattr(model, "_repr_html_")


class TestRecords:
    def test_current_inertia_is_the_best_one_by_default(self) -> None:
        record = SweepRecord(0.1, 2, 3.0, 4)
        assert record.current_inertia == 3.0
        assert (record.phase, replace(record, temperature=0.1).phase) == ("sweep", "annealing")

    def test_pickles_of_earlier_versions_have_no_current_inertia(self) -> None:
        record = SweepRecord(0.1, 2, 3.0, 4, "repair", 0.0, 5, "note")
        assert pickle.loads(pickle.dumps(record)) == record
        old = object.__new__(SweepRecord)
        old.__setstate__([0.1, 2, 3.0, 4, "repair", 0.0, 5, "note"])
        assert old == record

    def test_current_inertia_is_saved(self, tmp_path: Path) -> None:
        model = BoostKMeans(12, annealing=(0.4, 6), random_state=0).fit(X)
        assert any(one.current_inertia > one.inertia for one in model.history_)
        model.save(tmp_path / "m")
        assert load_model(tmp_path / "m").history_ == model.history_
