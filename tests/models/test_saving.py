"""Saving and loading of fitted models."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from model_files import FITS, X, assert_same, bits, header_of, stored, very_sparse
from sklearn.exceptions import NotFittedError

import boostkmeans
from boostkmeans import BisectingBoostKMeans, BoostKMeans, DataFormatError, baselines, load_model

STORED = Path(__file__).parents[1] / "stored" / "models"


@pytest.mark.parametrize("name", FITS)
def test_loaded_model_equals_saved_model(name: str, tmp_path: Path) -> None:
    model, path = FITS[name](), tmp_path / "model.safetensors"
    rows = very_sparse() if name == "stays sparse" else X
    model.save(path)
    assert_same(type(model).load(path), model, rows)
    assert_same(load_model(str(path)), model, rows)
    if isinstance(model, BisectingBoostKMeans):
        loaded = load_model(path)
        assert bits(loaded.predict(rows, tree=True)) == bits(model.predict(rows, tree=True))
        cut = len(model.tree_.children[0]) if model.n_clusters_ > 1 else 1
        assert bits(loaded.cut(cut)) == bits(model.cut(cut))
        assert bits(loaded.tree_.to_linkage()) == bits(model.tree_.to_linkage())


@pytest.mark.parametrize("name", ["boost", "cosine", "stays sparse", "batches"])
def test_loaded_model_continues_partial_fit(name: str, tmp_path: Path) -> None:
    model, path = FITS[name](), tmp_path / "model"
    rows = very_sparse() if name == "stays sparse" else X
    model.save(path)
    loaded, batch = load_model(path), rows[:60] + rows[60:120]
    loaded.partial_fit(batch)
    model.partial_fit(batch)
    model.history_ = loaded.history_  # it contains times
    assert_same(loaded, model, rows)


@pytest.mark.parametrize("name", ["boost", "bisecting", "refined", "RBK", "KMeans"])
def test_save_without_labels(name: str, tmp_path: Path) -> None:
    model, path = FITS[name](), tmp_path / "model"
    model.save(path, labels=False)
    loaded = load_model(path)
    assert not hasattr(loaded, "labels_")
    assert set(stored(model)) - set(stored(loaded)) == {"labels_"}
    assert bits(loaded.predict(X)) == bits(model.predict(X))
    assert not hasattr(loaded.to_sklearn(), "labels_")
    if hasattr(model, "tree_"):
        assert bits(loaded.tree_.cut_nodes(3)) == bits(model.tree_.cut_nodes(3))
        with pytest.raises(ValueError, match="Use cut_nodes, or save the model with labels=True"):
            loaded.cut(3)
    loaded.save(path)  # a model without labels can be saved again
    assert bits(load_model(path).cluster_centers_) == bits(model.cluster_centers_)


def test_feature_names_are_stored(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=["a", "Länge", 'quo"te\n', "\x00"])
    model = BoostKMeans(3, random_state=0).fit(table)
    model.save(tmp_path / "model")
    loaded = BoostKMeans.load(tmp_path / "model")
    assert loaded.feature_names_in_.dtype == object
    assert_same(loaded, model, table)
    model.feature_names_in_[0] = "\ud800"  # not valid Unicode, but a valid Python string
    model.save(tmp_path / "surrogate")
    assert load_model(tmp_path / "surrogate").feature_names_in_[0] == "\ud800"
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(table.rename(columns={"a": "b"}))


def test_names_of_a_file_are_escaped_and_shortened(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    names = [f"a\x1b[31m{i}" for i in range(X.shape[1] - 1)] + ["b" * 10**6]
    table = pd.DataFrame(X, columns=names)
    BoostKMeans(3, random_state=0).fit(table).save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    loaded.predict(table)
    others = [f"x{i}" for i in range(len(names))]
    for wrong in (
        table.set_axis(others, axis=1),
        table.set_axis([*names[:-1], "c" * 10**6], axis=1),
        table.iloc[:, :-1],
        table[names[::-1]],
    ):
        with pytest.raises(ValueError, match="feature names should match") as caught:
            loaded.predict(wrong)
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 600


def test_infinite_inertia_is_stored(tmp_path: Path) -> None:
    with pytest.warns(RuntimeWarning, match="too large for float64"):
        model = BoostKMeans(3, random_state=0).fit(X * 1e200)
    model.save(tmp_path / "model")
    loaded = BoostKMeans.load(tmp_path / "model")
    assert loaded.inertia_ == loaded.distortion_ == np.inf
    assert_same(loaded, model, X * 1e200)


def test_code_is_not_stored(tmp_path: Path) -> None:
    model = BoostKMeans(
        3,
        init=lambda X, k, rng: X[:k],
        callback=print,
        random_state=np.random.RandomState(0),
        max_iter=1,
    )
    model.set_params(callback=lambda record: None).fit(X).save(tmp_path / "model")
    loaded = BoostKMeans.load(tmp_path / "model")
    assert (loaded.init, loaded.callback, loaded.random_state) == ("auto", None, None)
    assert bits(loaded.predict(X)) == bits(model.predict(X))
    header = header_of(tmp_path / "model")
    assert header["not_stored"] == {
        "init": "function", "callback": "function", "random_state": "RandomState"
    }  # fmt: skip


def test_array_that_cannot_be_stored_is_omitted(tmp_path: Path) -> None:
    model = BoostKMeans(3, init=X[:3].astype(np.longdouble), random_state=0).fit(X)
    model.save(tmp_path / "model")
    header = header_of(tmp_path / "model")
    assert header["not_stored"] == {"init": "ndarray"}
    assert header["parameters"]["init"] is None
    assert bits(load_model(tmp_path / "model").cluster_centers_) == bits(model.cluster_centers_)


def test_save_rejects_invalid_models(tmp_path: Path) -> None:
    class Subclass(BoostKMeans):
        pass

    path = tmp_path / "model"
    for estimator in (BoostKMeans(), BisectingBoostKMeans(), baselines.RBK(), baselines.OnlineKMeans()):
        with pytest.raises(NotFittedError):
            estimator.save(path)
        with pytest.raises(NotFittedError):
            estimator.to_sklearn()
    with pytest.raises(TypeError, match=r"Cannot save Subclass: .* Use joblib"):
        Subclass(3).fit(X).save(path)
    model = BoostKMeans(3, random_state=0).fit(X)
    with pytest.raises(ValueError, match="'max_iter' parameter"):
        model.set_params(max_iter=0).save(path)
    model.set_params(max_iter=10)
    with pytest.raises(FileNotFoundError):
        model.save(tmp_path / "none" / "model")
    with pytest.raises(IsADirectoryError):
        model.save(tmp_path)
    model.cluster_centers_[0, 0] = np.nan
    with pytest.raises(DataFormatError, match="contains NaN or infinity") as error:
        model.save(path)
    assert error.value.place == "The model: tensor 'cluster_centers'"
    assert error.value.remedy == "Fit it again."
    assert list(tmp_path.iterdir()) == []


def test_load_rejects_other_files(tmp_path: Path) -> None:
    path = tmp_path / "model"
    with pytest.raises(FileNotFoundError):
        load_model(path)
    with pytest.raises(IsADirectoryError):
        load_model(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataFormatError, match="not a regular file"):
        load_model(tmp_path / "pipe")
    for text in (b"", b"x", b"1,2,3\n" * 100):
        path.write_bytes(text)
        with pytest.raises(DataFormatError, match="truncated or not a safetensors file"):
            load_model(path)


@pytest.mark.parametrize("estimator", [BoostKMeans, BisectingBoostKMeans, baselines.KMeans])
def test_load_rejects_models_of_other_classes(
    estimator: type[boostkmeans.BoostKMeans], tmp_path: Path
) -> None:
    FITS["RBK"]().save(tmp_path / "model")
    expected = rf"Expected a model of class {estimator.__name__}\. Got baselines\.RBK\."
    with pytest.raises(DataFormatError, match=rf"{expected} Use boostkmeans\.load_model"):
        estimator.load(tmp_path / "model")


def test_load_rejects_subclasses(tmp_path: Path) -> None:
    class Subclass(BoostKMeans):
        pass

    FITS["boost"]().save(tmp_path / "model")
    with pytest.raises(DataFormatError, match=r"Expected a model of class Subclass\. Got BoostKMeans"):
        Subclass.load(tmp_path / "model")


def test_saving_replaces_a_file(tmp_path: Path) -> None:
    path = tmp_path / "model"
    for k in (3, 5):
        BoostKMeans(k, random_state=0).fit(X).save(path)
        assert len(BoostKMeans.load(path).cluster_centers_) == k
    assert list(tmp_path.iterdir()) == [path]


def test_file_stores_version_of_package(tmp_path: Path) -> None:
    FITS["boost"]().save(tmp_path / "model")
    assert header_of(tmp_path / "model")["library_version"] == boostkmeans.__version__


@pytest.mark.parametrize("path", sorted(STORED.glob("*.safetensors")), ids=lambda path: path.stem)
def test_reads_files_of_earlier_releases(path: Path) -> None:
    expected = json.loads(path.with_suffix(".json").read_text())
    model = load_model(path)
    assert header_of(path)["library_version"] == path.name.split("-")[0]
    assert (type(model).__name__, repr(model)) == (expected["class"], expected["parameters"])
    assert model.predict(expected["rows"]).tolist() == expected["predictions"]
    assert model.labels_.tolist() == expected["labels"]
    centres = [[value.hex() for value in centre] for centre in model.cluster_centers_.tolist()]
    assert centres == expected["centres"]
    assert float(model.inertia_).hex() == expected["inertia"]
    assert model.n_iter_ == expected["n_iter"]
    assert [one.kind for one in model.history_] == expected["kinds"]
    if expected["cut"]:
        assert model.cut(3).tolist() == expected["cut"]


def test_files_of_earlier_releases_exist() -> None:
    for release in ("0.5.0", "0.7.0"):
        assert len(list(STORED.glob(f"{release}-*.safetensors"))) == 4
