"""Model files: what is saved comes back, and what is no model file is refused."""

import ast
import json
import os
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from numpy.typing import NDArray
from safetensors import safe_open
from scipy import sparse
from sklearn.exceptions import NotFittedError

import boostkmeans
from boostkmeans import BisectingBoostKMeans, BoostKMeans, DataFormatError, baselines, load_model
from conftest import blobs, run_python

X = blobs(200, 4, 6, spread=1.0)[0]
WEIGHTS = 1.0 + np.arange(len(X)) % 3
STORED = Path(__file__).parents[1] / "stored" / "models"
CRASH = Path(__file__).parents[1] / "crash.py"

NUMPY_NUMBERS: dict[str, Any] = {"n_clusters": np.int64(6), "tol": np.float32(0.25)}

FITS: dict[str, Callable[[], Any]] = {
    "boost": lambda: BoostKMeans(6, random_state=0).fit(X),
    "certified": lambda: BoostKMeans(6, random_state=0, tol=0, annealing=(0.1, 4)).fit(X),
    "float32": lambda: BoostKMeans(6, random_state=0).fit(X.astype(np.float32)),
    "far away": lambda: BoostKMeans(6, random_state=0).fit(1e-9 * X + 1e3),
    "one cluster": lambda: BoostKMeans(1, random_state=0).fit(X),
    "weights": lambda: BoostKMeans(6, random_state=0).fit(X, sample_weight=WEIGHTS),
    "no weight": lambda: BoostKMeans(6, random_state=0).fit(X, sample_weight=np.arange(200) % 3),
    "cosine": lambda: BoostKMeans(6, metric="cosine", random_state=0).fit(X, sample_weight=WEIGHTS),
    "limits": lambda: BoostKMeans(6, min_size=30, max_size=35.5, random_state=0).fit(X),
    "centres": lambda: BoostKMeans(6, init=X[:6].astype(">f4"), random_state=0).fit(X),
    "labels": lambda: BoostKMeans(6, init=np.arange(200) % 6, random_state=0).fit(X),
    "a list": lambda: BoostKMeans(2, init=X[:2].tolist(), random_state=0).fit(X),
    "sparse": lambda: BoostKMeans(6, random_state=0).fit(sparse.csr_array(np.maximum(X, 0))),
    "stays sparse": lambda: BoostKMeans(6, random_state=0).fit(very_sparse()),
    "batches": lambda: BoostKMeans(6, random_state=0).fit(X).partial_fit(X[:50] + 1).partial_fit(X[:3]),
    "numpy's numbers": lambda: BoostKMeans(random_state=0, **NUMPY_NUMBERS).fit(X),
    "bisecting": lambda: BisectingBoostKMeans(6, random_state=0).fit(X),
    "one leaf": lambda: BisectingBoostKMeans(1, random_state=0).fit(X),
    "refined": lambda: BisectingBoostKMeans(6, refine=True, random_state=0).fit(X),
    "in three": lambda: BisectingBoostKMeans(8, n_sections=3, random_state=0).fit(X, None, WEIGHTS),
    "tree, no weight": lambda: BisectingBoostKMeans(6, random_state=0).fit(X, None, np.arange(200) % 3),
    "KMeans": lambda: baselines.KMeans(6, init=X[:6], random_state=0).fit(X),
    "MiniBatchKMeans": lambda: baselines.MiniBatchKMeans(6, random_state=0, max_iter=5).fit(X),
    "BisectingKMeans": lambda: baselines.BisectingKMeans(6, random_state=0).fit(X, None, WEIGHTS),
    "RBK": lambda: baselines.RBK(6, random_state=0).fit(X),
    "OnlineKMeans": lambda: baselines.OnlineKMeans(6, random_state=0, max_iter=3).fit(X),
}  # fmt: skip


def very_sparse() -> Any:
    return sparse.random_array((3000, 1500), density=0.004, format="csr", random_state=0)


def bits(value: Any) -> Any:
    """Something that is equal only for values that are equal to the last bit."""
    if is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__, bits(asdict(value))
    if isinstance(value, np.ndarray) and value.dtype != object:
        return (
            value.dtype.newbyteorder("="),
            value.shape,
            value.astype(value.dtype.newbyteorder("=")).tobytes(),
        )
    if isinstance(value, np.ndarray | list):
        return [bits(one) for one in value]
    if isinstance(value, dict):
        return {name: bits(one) for name, one in value.items()}
    return float(value).hex() if isinstance(value, float | np.floating) else value


def assert_same(loaded: Any, model: Any, rows: Any) -> None:
    assert type(loaded) is type(model)
    assert bits(loaded.get_params()) == bits(model.get_params())
    assert bits(vars(loaded)) == bits(vars(model))
    for method in ("predict", "transform", "score"):
        assert bits(getattr(loaded, method)(rows)) == bits(getattr(model, method)(rows)), method


@pytest.mark.parametrize("name", FITS)
def test_what_is_saved_comes_back(name: str, tmp_path: Path) -> None:
    model, path = FITS[name](), tmp_path / "model.safetensors"
    rows = very_sparse() if name == "stays sparse" else X
    model.save(path)
    assert_same(type(model).load(path), model, rows)
    assert_same(load_model(str(path)), model, rows)
    if name in ("boost", "cosine", "stays sparse", "batches"):
        loaded, batch = load_model(path), rows[:60] + rows[60:120]
        loaded.partial_fit(batch)
        model.partial_fit(batch)
        model.history_ = loaded.history_  # which has times
        assert_same(loaded, model, rows)
    if hasattr(model, "tree_"):
        loaded = load_model(path)
        assert bits(loaded.predict(rows, tree=True)) == bits(model.predict(rows, tree=True))
        cut = len(model.tree_.children[0]) if model.n_clusters > 1 else 1
        assert bits(loaded.cut(cut)) == bits(model.cut(cut))
        assert bits(loaded.tree_.to_linkage()) == bits(model.tree_.to_linkage())


@pytest.mark.parametrize("name", ["boost", "bisecting", "refined", "RBK", "KMeans"])
def test_without_labels(name: str, tmp_path: Path) -> None:
    model, path = FITS[name](), tmp_path / "model"
    model.save(path, labels=False)
    loaded = load_model(path)
    assert not hasattr(loaded, "labels_")
    assert set(vars(model)) - set(vars(loaded)) == {"labels_"}
    assert bits(loaded.predict(X)) == bits(model.predict(X))
    assert not hasattr(loaded.to_sklearn(), "labels_")
    if hasattr(model, "tree_"):
        assert bits(loaded.tree_.cut_nodes(3)) == bits(model.tree_.cut_nodes(3))
        with pytest.raises(ValueError, match=r"saved without labels\. Use cut_nodes"):
            loaded.cut(3)
    loaded.save(path)  # again, it has no more than before
    assert bits(load_model(path).cluster_centers_) == bits(model.cluster_centers_)


def test_feature_names(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=["a", "Länge", 'quo"te\n', "\x00"])
    model = BoostKMeans(3, random_state=0).fit(table)
    model.save(tmp_path / "model")
    loaded = BoostKMeans.load(tmp_path / "model")
    assert loaded.feature_names_in_.dtype == object
    assert_same(loaded, model, table)
    model.feature_names_in_[0] = "\ud800"  # no text of Unicode, but Python has such strings
    model.save(tmp_path / "surrogate")
    assert load_model(tmp_path / "surrogate").feature_names_in_[0] == "\ud800"
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(table.rename(columns={"a": "b"}))


def test_infinite_inertia(tmp_path: Path) -> None:
    with pytest.warns(RuntimeWarning, match="too large for float64"):
        model = BoostKMeans(3, random_state=0).fit(X * 1e200)
    model.save(tmp_path / "model")
    loaded = BoostKMeans.load(tmp_path / "model")
    assert loaded.inertia_ == loaded.distortion_ == np.inf
    assert_same(loaded, model, X * 1e200)


def test_what_is_code_is_not_stored(tmp_path: Path) -> None:
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


def test_errors_of_saving(tmp_path: Path) -> None:
    class Mine(BoostKMeans):
        pass

    path = tmp_path / "model"
    for estimator in (BoostKMeans(), BisectingBoostKMeans(), baselines.RBK(), baselines.OnlineKMeans()):
        with pytest.raises(NotFittedError):
            estimator.save(path)
        with pytest.raises(NotFittedError):
            estimator.to_sklearn()
    with pytest.raises(TypeError, match="Mine is no estimator of boostkmeans itself"):
        Mine(3).fit(X).save(path)
    model = BoostKMeans(3, random_state=0).fit(X)
    with pytest.raises(ValueError, match="'max_iter' parameter"):
        model.set_params(max_iter=0).save(path)
    model.set_params(max_iter=10)
    with pytest.raises(FileNotFoundError):
        model.save(tmp_path / "none" / "model")
    with pytest.raises(IsADirectoryError):
        model.save(tmp_path)
    model.cluster_centers_[0, 0] = np.nan
    with pytest.raises(ValueError, match="The model: tensor 'cluster_centers' has NaN"):
        model.save(path)
    assert list(tmp_path.iterdir()) == []


def test_errors_of_loading(tmp_path: Path) -> None:
    path = tmp_path / "model"
    with pytest.raises(FileNotFoundError):
        load_model(path)
    with pytest.raises(IsADirectoryError):
        load_model(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataFormatError, match="no regular file"):
        load_model(tmp_path / "pipe")
    FITS["RBK"]().save(path)
    for estimator in (BoostKMeans, BisectingBoostKMeans, baselines.KMeans):
        with pytest.raises(ValueError, match=r"class RBK, not .*boostkmeans\.load_model"):
            estimator.load(path)
    for text in (b"", b"x", b"1,2,3\n" * 100):
        path.write_bytes(text)
        with pytest.raises(DataFormatError, match="cut short, or no safetensors file"):
            load_model(path)


def test_saving_replaces(tmp_path: Path) -> None:
    path = tmp_path / "model"
    for k in (3, 5):
        BoostKMeans(k, random_state=0).fit(X).save(path)
        assert len(BoostKMeans.load(path).cluster_centers_) == k
    assert list(tmp_path.iterdir()) == [path]


class TestFilesOfReleases:
    @pytest.mark.parametrize("path", sorted(STORED.glob("*.safetensors")), ids=lambda path: path.stem)
    def test_they_are_read(self, path: Path) -> None:
        expected = json.loads(path.with_suffix(".json").read_text())
        model = load_model(path)
        assert header_of(path)["library_version"] == path.name.split("-")[0]
        assert (type(model).__name__, repr(model)) == (expected["class"], expected["parameters"])
        assert model.predict(expected["rows"]).tolist() == expected["predictions"]
        assert model.labels_.tolist() == expected["labels"]
        centres = [[value.hex() for value in centre] for centre in model.cluster_centers_.tolist()]
        assert centres == expected["centres"]
        assert float(model.inertia_).hex() == expected["inertia"]
        assert (model.n_iter_, [one.kind for one in model.history_]) == (
            expected["n_iter"],
            expected["kinds"],
        )
        if expected["cut"]:
            assert model.cut(3).tolist() == expected["cut"]

    def test_there_are_some(self) -> None:
        assert len(list(STORED.glob("0.5.0-*.safetensors"))) == 4


def header_of(path: Path) -> dict[str, Any]:
    with safe_open(path, framework="numpy") as file:
        found = json.loads(file.metadata()["header"])
    assert isinstance(found, dict)
    return found


class Forged:
    """A file as somebody else might write it, with the library's own writer."""

    def __init__(self, path: Path, model: Any) -> None:
        self.path = path
        model.save(path)
        self.header = header_of(path)
        self.tensors = safetensors.numpy.load_file(path)
        self.metadata = {"format": "boostkmeans-model", "format_version": "1"}

    def refused(self, match: str) -> None:
        self.write()
        with pytest.raises(DataFormatError, match=match) as error:
            load_model(self.path)
        assert str(error.value).startswith(str(self.path))
        assert str(error.value).isprintable()

    def write(self, header: str | None = None) -> None:
        sums = {name: zlib.crc32(tensor.tobytes()) for name, tensor in self.tensors.items()}
        text = json.dumps({**self.header, "checksums": sums}) if header is None else header
        safetensors.numpy.save_file(self.tensors, self.path, {**self.metadata, "header": text})


@pytest.fixture
def forged(tmp_path: Path) -> Forged:
    forged = Forged(tmp_path / "model", BisectingBoostKMeans(5, n_sections=3, random_state=0).fit(X))
    forged.write()
    load_model(forged.path)  # another writer is as good
    return forged


def test_a_bit_that_changed_on_the_way_is_noticed(forged: Forged) -> None:
    whole = bytearray(forged.path.read_bytes())
    for at in (-1, -100, -1000):
        changed = whole.copy()
        changed[at] ^= 1
        forged.path.write_bytes(changed)
        with pytest.raises(DataFormatError, match="are not those that were written"):
            load_model(forged.path)


class TestTampered:
    TENSORS: tuple[tuple[str, Any, float, str], ...] = (
        ("cluster_centers", (0, 0), np.nan, "'cluster_centers' has NaN or infinity"),
        ("cluster_centers", (4, 3), -np.inf, "'cluster_centers' has NaN or infinity"),
        ("frame.shift", 0, np.inf, "'frame.shift' has NaN"),
        ("cluster_sizes", 0, 0, "cluster_sizes add up to"),
        ("cluster_sizes", 0, -1, "'cluster_sizes' has a value below 0"),
        ("cluster_sizes", 0, 2**63 - 1, "cluster_sizes add up to 92233"),
        ("cluster_weights", 0, -1.0, "'cluster_weights' has a value below 0"),
        ("cluster_weights", 0, np.nan, "'cluster_weights' has NaN"),
        ("labels", 0, 5, "'labels' has a value above 4"),
        ("labels", 0, -1, "'labels' has a value below 0"),
        ("labels", slice(None), 0, "labels are not as many of each cluster"),
        ("tree.children", (0, 0), 0, "not numbered by its splits"),
        ("tree.children", (0, 0), 2, "not numbered by its splits"),
        ("tree.children", (0, 0), -1, "a gap between its parts"),
        ("tree.children", (0, 0), 99, "'tree.children' has a value above"),
        ("tree.children", (0, 0), -2, "'tree.children' has a value below -1"),
        ("tree.children", (0, slice(1, 3)), -1, "has one part"),
        ("tree.children", 0, -1, "tree.splits are not the nodes with parts"),
        ("tree.splits", 0, 1, "tree.splits are not the nodes with parts"),
        ("tree.parents", 0, 1, "tree.parents do not agree"),
        ("tree.parents", 3, 3, "tree.parents do not agree"),
        ("tree.clusters", 0, 0, "number the leaves from left to right"),
        ("tree.clusters", -1, 0, "number the leaves from left to right"),
        ("tree.sizes", 0, 199, "tree.sizes of parts do not add up"),
        ("tree.sizes", 0, 201, "has more than 200 rows"),
        ("tree.labels", slice(None), 0, "fewer rows in a leaf"),
        ("tree.labels", 0, 5, "'tree.labels' has a value above"),
        ("tree.inertia", 0, np.nan, "'tree.inertia' has NaN"),
        ("tree.centers", 0, np.nan, "'tree.centers' has NaN"),
    )  # fmt: skip

    @pytest.mark.parametrize(("name", "at", "value", "match"), TENSORS)
    def test_values(self, forged: Forged, name: str, at: Any, value: float, match: str) -> None:
        forged.tensors[name][at] = value
        forged.refused(match)

    def test_a_cycle_in_the_tree(self, forged: Forged) -> None:
        children = forged.tensors["tree.children"]
        inner = int(forged.tensors["tree.splits"][1])
        children[inner, 0], children[0, inner - 1] = inner, children[inner, 0]
        forged.refused("not numbered by its splits")

    @pytest.mark.parametrize("name", ["cluster_centers", "labels", "tree.parents", "frame.shift"])
    def test_types_shapes_and_names(self, forged: Forged, name: str) -> None:
        good = forged.tensors[name]
        forged.tensors[name] = good.astype(np.float32)
        forged.refused(f"tensor '{name}' should be of .* and is of float32")
        forged.tensors[name] = good[:-1].copy()
        forged.refused("should be of shape|more than|'tree.children' has a value above")
        forged.tensors[name] = good[None].copy()
        forged.refused(f"tensor '{name}' should be of shape")
        del forged.tensors[name]
        forged.refused(f"without tensor '{name}'")
        forged.tensors[name] = good
        forged.tensors["\x1b[2Jmore"] = good
        forged.refused(r"unexpected tensor .*x1b\[2Jmore")

    def test_no_clusters(self, forged: Forged) -> None:
        for name in ("cluster_centers", "cluster_sizes", "cluster_weights"):
            forged.tensors[name] = forged.tensors[name][:0]
        forged.refused("above -1|0 centres")

    def test_a_cluster_that_is_no_leaf(self, forged: Forged) -> None:
        for name in ("cluster_centers", "cluster_sizes", "cluster_weights"):
            good = forged.tensors[name]
            forged.tensors[name] = np.concatenate([good, np.zeros_like(good[:1])])
        forged.refused("a tree of 5 leaves for 6 clusters")

    def test_no_features(self, tmp_path: Path) -> None:
        forged = Forged(tmp_path / "model", FITS["boost"]())
        forged.tensors["cluster_centers"] = np.zeros((6, 0))
        forged.tensors["frame.shift"] = np.zeros(0)
        forged.refused("6 centres of 0 features")

    @pytest.mark.parametrize("shape", [(1, 0), (1, 1)])
    def test_a_tree_without_parts(self, tmp_path: Path, shape: tuple[int, int]) -> None:
        forged = Forged(tmp_path / "model", FITS["one leaf"]())
        forged.tensors["tree.children"] = np.full(shape, -1, dtype=np.int32)
        forged.refused("a tree of 1 nodes with up to . parts")

    HEADERS: tuple[tuple[str, Any, str], ...] = (
        ("estimator", "os.system", "header.estimator should be one of"),
        ("estimator", "\x1b[2J", "header.estimator should be one of"),
        ("estimator", None, "header.estimator should be one of"),
        ("estimator", "BoostKMeans", "parameters that BoostKMeans does not have: n_sections"),
        ("estimator", "baselines.RBK", "parameters that RBK does not have"),
        ("parameters", [], "header.parameters should be an object"),
        ("parameters.n_clusters", 0, "'n_clusters' parameter"),
        ("parameters.n_clusters", True, "'n_clusters' parameter"),
        ("parameters.tol", 10**400, "header.parameters"),
        ("parameters.metric", "\x1b[2J", "'metric' parameter"),
        ("parameters.annealing", {"tuple": 3}, "tuple should be a list"),
        ("parameters.annealing", {"tuple": ["a", {}]}, "'annealing' parameter"),
        ("parameters.init", {"tensor": "labels"}, "parameters.init should be a plain value"),
        ("parameters.init", {"tensor": "parameters.init"}, "parameters.init should be a plain value"),
        ("parameters.init", {"code": "x"}, "parameters.init should be a plain value"),
        ("parameters.\x1bnew", 1, r"does not have: \\x1bnew.* boostkmeans .*: upgrade"),
        ("not_stored", 1, "header.not_stored should be an object"),
        ("library_version", 5, "a JSON object with a 'library_version'"),
        ("n_rows", 199, "should be of shape"),
        ("n_rows", -1, "header.n_rows should be an integer from 1"),
        ("n_rows", 200.0, "header.n_rows should be an integer"),
        ("n_rows", 2**63, "header.n_rows should be an integer"),
        ("has_labels", 1, "header.has_labels should be true or false"),
        ("has_labels", False, "unexpected tensor 'labels'"),
        ("frame.exponent", 5000, "header.frame.exponent should be an integer from -1024 to 1074"),
        ("frame.exponent", None, "header.frame.exponent"),
        ("frame.metric", "manhattan", "header.frame.metric should be one of 'euclidean', 'cosine'"),
        ("feature_names", ["a"], "header.feature_names should be 4 texts"),
        ("feature_names", ["a", "b", "c", 4], "header.feature_names should be 4 texts"),
        ("feature_names", "abcd", "header.feature_names should be a list"),
        ("fitted.inertia_", "many", "header.fitted.inertia_ should be a number"),
        ("fitted.inertia_", 10**400, "header.fitted.inertia_ should be a number"),
        ("fitted.n_iter_", -1, "header.fitted.n_iter_ should be an integer"),
        ("fitted.n_samples_seen_", 199, "n_samples_seen_ should be an integer from 200"),
        ("fitted.stop_reason_", 1, "header.fitted.stop_reason_ should be a text"),
        ("fitted.converged_", "yes", "header.fitted.converged_ should be true or false"),
        ("history", {}, "header.history should be a list"),
        ("history", [3], r"header.history\[0\] should be an object"),
        ("history", [{}], r"header.history\[0\] has no 'seconds'"),
        ("history", [{"seconds": 1, "moves": 1.5}], r"header.history\[0\].moves should be an integer"),
    )  # fmt: skip

    @pytest.mark.parametrize(("place", "value", "match"), HEADERS, ids=range(len(HEADERS)))
    def test_headers(self, forged: Forged, place: str, value: Any, match: str) -> None:
        *outer, name = place.split(".", 1)
        (forged.header[outer[0]] if outer else forged.header)[name] = value
        forged.refused(match)

    def test_every_header_field_is_needed(self, forged: Forged) -> None:
        for name in list(forged.header):
            if name not in ("feature_names", "checksums"):  # the latter: see test_json
                value = forged.header.pop(name)
                forged.refused(name)
                forged.header[name] = value

    @pytest.mark.parametrize(
        "text",
        ["", "[]", "null", "{", '{"a":NaN}', '{"a":Infinity}', '{"a":1e999}', '{"a":1,"a":2}',
         "[" * 100_000, '{"library_version":"1","a":' + "9" * 5000 + "}", '{"library_version":"1"}'],
        ids=range(11),
    )  # fmt: skip
    def test_json(self, forged: Forged, text: str) -> None:
        forged.write(text)
        with pytest.raises(DataFormatError, match="header"):
            load_model(forged.path)

    def test_formats(self, forged: Forged) -> None:
        forged.metadata["format"] = "pt"
        forged.refused("should say format 'boostkmeans-model', and say 'pt'")
        forged.metadata["format"] = "boostkmeans-model"
        for version in ("", "0", "-1", "1.0", "x", "9" * 50, "\u0661"):
            forged.metadata["format_version"] = version
            forged.refused("format_version should be a number")
        forged.metadata["format_version"] = "2"
        forged.header["library_version"] = "7.1.0\x1b"
        forged.refused(r"written by boostkmeans 7.1.0\\x1b in version 2 .*Upgrade boostkmeans")
        del forged.metadata["format"]
        forged.refused("and say none")

    def test_later_files_of_this_version(self, forged: Forged) -> None:
        """What they have more is not needed; what they have less has defaults."""
        forged.header["since"] = "0.9"
        forged.header["history"][0]["colour"] = 3
        del forged.header["parameters"]["quality"], forged.header["history"][0]["note"]
        forged.write()
        model = load_model(forged.path)
        assert (model.quality, model.history_[0].note) == ("balanced", "")

    def test_a_file_does_not_say_where_to_write(self, forged: Forged) -> None:
        if "checkpoint" in BisectingBoostKMeans().get_params():
            forged.header["parameters"]["checkpoint"] = "/tmp/elsewhere"
            forged.write()
            assert load_model(forged.path).checkpoint is None


def small_file(path: Path) -> bytes:
    model = BoostKMeans(2, random_state=0, max_iter=1, n_threads=1).fit(X[:4, :2])
    model.save(path)
    return path.read_bytes()


def loads(path: Path, content: bytes) -> bool:
    """Whether there is a model in it that predicts; if not, the error is the one for such files."""
    path.write_bytes(content)
    try:
        model = load_model(path)
    except DataFormatError:
        return False
    model.n_threads = 1
    assert model.predict(np.zeros((1, model.n_features_in_))).shape == (1,)
    return True


class TestDamaged:
    def test_every_truncation(self, tmp_path: Path) -> None:
        whole = small_file(tmp_path / "model")
        for length in range(len(whole)):
            assert not loads(tmp_path / "model", whole[:length]), length
        assert not loads(tmp_path / "model", whole + b"\0")

    def test_every_byte_of_the_header(self, tmp_path: Path) -> None:
        whole = bytearray(small_file(tmp_path / "model"))
        head = 8 + int.from_bytes(whole[:8], "little")
        good = 0
        for at in range(head):
            before = whole[at]
            for value in (0, before ^ 1, before ^ 2, before ^ 4, before ^ 16, before ^ 128, 0x22, 0xFF):
                whole[at] = value
                good += loads(tmp_path / "model", bytes(whole))
            whole[at] = before
        assert good < 3 * head  # digits of a history, say: another file, but a good one

    def test_hostile_lengths_allocate_nothing(self, tmp_path: Path) -> None:
        whole = small_file(tmp_path / "good")
        n_head = int.from_bytes(whole[:8], "little")
        head, rest = json.loads(whole[8 : 8 + n_head]), whole[8 + n_head :]
        files = [length.to_bytes(8, "little") + whole[8:] for length in (0, 1, 2**31, 2**63, 2**64 - 1)]
        for name in [name for name in head if name != "__metadata__"]:
            good = head[name]
            begin = good["data_offsets"][0]
            for shape, offsets in (
                ([2**40, 0], [begin, begin]), ([0, 2**40], [begin, begin]), ([2**62], [begin, 2**62]),
                ([2**63, 2], good["data_offsets"]), ([2**32, 2**32], [begin, begin]),
                ([-1], [begin, begin]), (good["shape"], [2**63, 2**63 + 8]), (good["shape"], [8, 0]),
                ([10**30], [0, 8]),
            ):  # fmt: skip
                text = json.dumps(
                    {**head, name: {**good, "shape": shape, "data_offsets": offsets}}
                ).encode()
                files.append(len(text).to_bytes(8, "little") + text + rest)
        for number, content in enumerate(files):
            (tmp_path / f"{number}.bad").write_bytes(content)
        result = run_python(f"""
import resource
from pathlib import Path
import boostkmeans
boostkmeans.load_model({str(tmp_path / "good")!r})
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**25, resource.RLIM_INFINITY))
for path in sorted(Path({str(tmp_path)!r}).glob("*.bad")):
    try:
        boostkmeans.load_model(path)
    except boostkmeans.DataFormatError:
        print("refused")
""")
        assert result.returncode == 0, result.stderr
        assert result.stdout == "refused\n" * len(files)


# Of Python's audit while files are read: no import, compile, exec, process or pickle. The last two are
# of the `inspect` that asks our own classes for their parameters.
ALLOWED_EVENTS = {"open", "builtins.id", "object.__getattr__"}


def test_nothing_in_a_file_is_executed(tmp_path: Path) -> None:
    for name in ("boost", "bisecting", "centres", "KMeans"):
        FITS[name]().save(tmp_path / f"{name}.model")
    Forged(tmp_path / "forged.model", FITS["boost"]()).write('{"estimator":"os.system"}')
    result = run_python(f"""
import sys
from pathlib import Path
import boostkmeans
boostkmeans.load_model, boostkmeans.DataFormatError  # which are imported now
paths = sorted(Path({str(tmp_path)!r}).glob("*.model"))
seen = []
def note(event, arguments):
    seen.append((event, str(arguments[1]) if event == "open" else ""))
sys.addaudithook(note)
for path in paths:
    try:
        boostkmeans.load_model(path)
    except boostkmeans.DataFormatError:
        print("refused")
print(sorted(set(seen)))
""")
    assert result.returncode == 0, result.stderr
    events = set(ast.literal_eval(result.stdout.removeprefix("refused\n")))
    assert ("open", "r") in events
    assert {name for name, _ in events} <= ALLOWED_EVENTS
    assert {mode for name, mode in events if name == "open"} <= {"r", "rb", "None"}


class TestWriting:
    def test_kills(self) -> None:
        command = [sys.executable, str(CRASH), "--saves", "20", "--fits", "0"]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
        assert result.stdout.startswith("20 kills of saves")

    def test_a_full_disk(self, tmp_path: Path) -> None:
        result = run_python(f"""
import resource
from pathlib import Path
import numpy as np
from boostkmeans import BoostKMeans
folder = Path({str(tmp_path)!r})
X = np.random.default_rng(0).normal(size=(20_000, 2))
BoostKMeans(2, random_state=0).fit(X[:9]).save(folder / "model")
model = BoostKMeans(3, random_state=0).fit(X)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
for name in ("model", "new"):
    try:
        model.save(folder / name)
    except OSError as error:
        print(error.strerror, [one.name for one in folder.iterdir()])
print(len(BoostKMeans.load(folder / "model").cluster_centers_))
""")
        assert result.returncode == 0, result.stderr
        assert result.stdout == "File too large ['model']\n" * 2 + "2\n"

    def test_a_read_only_folder(self) -> None:
        # Root may write anywhere: then as nobody.
        result = run_python("""
import os, tempfile
import numpy as np
from boostkmeans import BoostKMeans
model = BoostKMeans(2, random_state=0).fit(np.arange(6.0).reshape(-1, 1))
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "model")
    model.save(path)
    os.chmod(folder, 0o555)
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setuid(65534)
            for name in ("model", "new"):
                try:
                    model.save(os.path.join(folder, name))
                except PermissionError:
                    loaded = BoostKMeans.load(path)
                    print("refused", loaded.n_clusters, os.listdir(folder), flush=True)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.chmod(folder, 0o755)
""")
        assert result.stdout == "refused 2 ['model']\n" * 2, result.stderr


class TestToScikitLearn:
    @pytest.mark.parametrize("name", FITS)
    def test_it_predicts_the_same(self, name: str) -> None:
        model = FITS[name]()
        rows = very_sparse() if name == "stays sparse" else X
        if name == "far away":
            rows = 1e-9 * X + 1e3
        theirs = model.to_sklearn()
        distances = np.sort(model.transform(rows), axis=1)
        clear = np.ones(len(distances), dtype=bool)
        if distances.shape[1] > 1 and name != "far away":
            clear = distances[:, 1] > (1 + 1e-6) * distances[:, 0]
            assert clear.mean() > 0.95
        elif name == "far away":  # which scikit-learn cannot tell apart
            clear[:] = False
        np.testing.assert_array_equal(theirs.predict(rows)[clear], model.predict(rows)[clear])
        if clear.any():
            np.testing.assert_allclose(
                theirs.transform(rows), model.transform(rows), rtol=1e-6, atol=1e-6
            )
            np.testing.assert_allclose(theirs.score(rows), model.score(rows), rtol=1e-9)
        assert list(theirs.get_feature_names_out())[-1].startswith("kmeans")

    def test_attributes(self) -> None:
        pandas = pytest.importorskip("pandas")
        table = pandas.DataFrame(X, columns=list("abcd"))
        for metric in ("euclidean", "cosine"):
            model = BoostKMeans(5, metric=metric, random_state=0).fit(table)
            theirs = model.to_sklearn()
            assert theirs.n_features_in_ == 4
            assert list(theirs.feature_names_in_) == list("abcd")
            np.testing.assert_array_equal(theirs.predict(table), model.predict(table))  # no warning
            kmeans = theirs if metric == "euclidean" else theirs[-1]
            assert (kmeans.n_clusters, kmeans.n_iter_) == (5, model.n_iter_)
            assert kmeans.inertia_ == model.inertia_
            np.testing.assert_array_equal(kmeans.labels_, model.labels_)
            kmeans.cluster_centers_[:] = 0
            assert model.cluster_centers_.any()
            theirs.fit(X)  # from new

    def test_float32(self) -> None:
        rows = X.astype(np.float32)
        model = BoostKMeans(5, random_state=0).fit(rows)
        theirs = model.to_sklearn(dtype=np.float32)
        np.testing.assert_array_equal(theirs.predict(rows), model.predict(rows))
        with pytest.raises(ValueError, match="float64 or float32"):
            model.to_sklearn(dtype=np.int32)

    @pytest.mark.parametrize("metric", ["euclidean", "cosine"])
    @pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
    def test_onnx(self, metric: str) -> None:
        skl2onnx = pytest.importorskip("skl2onnx")
        onnxruntime = pytest.importorskip("onnxruntime")
        rows = X.astype(np.float32)
        model = BoostKMeans(5, metric=metric, random_state=0).fit(rows)
        onnx = skl2onnx.to_onnx(model.to_sklearn(dtype=np.float32), rows[:1])
        session = onnxruntime.InferenceSession(
            onnx.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        labels: NDArray[Any] = session.run(None, {session.get_inputs()[0].name: rows})[0]
        np.testing.assert_array_equal(labels, model.predict(rows))


def test_the_version_is_that_of_the_package(tmp_path: Path) -> None:
    small_file(tmp_path / "model")
    assert header_of(tmp_path / "model")["library_version"] == boostkmeans.__version__


class TestWholeFiles:
    """How files are put in their place."""

    def test_a_link_that_lies_in_wait_is_not_followed(self, tmp_path: Path) -> None:
        victim = tmp_path / "victim"
        victim.write_text("mine")
        model = FITS["boost"]()
        for name in (f".m.{os.getpid()}.part", f".m.{os.getpid()}-{threading.get_ident()}.part"):
            (tmp_path / name).symlink_to(victim)
        model.save(tmp_path / "m")
        assert victim.read_text() == "mine"
        assert not (tmp_path / "m").is_symlink()

    def test_rights_are_those_of_the_old_file(self, tmp_path: Path) -> None:
        model = FITS["boost"]()
        model.save(tmp_path / "m")
        (tmp_path / "other").touch()
        assert (tmp_path / "m").stat().st_mode == (tmp_path / "other").stat().st_mode
        (tmp_path / "m").chmod(0o600)
        model.save(tmp_path / "m")
        assert (tmp_path / "m").stat().st_mode & 0o777 == 0o600

    def test_long_names_and_what_was_left_behind(self, tmp_path: Path) -> None:
        name = "m" * 240
        dead = tmp_path / f".{name[:40]}.999999999-abc.part"
        for left, age in ((dead, 1000), (tmp_path / f".{name[:40]}.{os.getpid()}-abc.part", 1000)):
            left.touch()
            os.utime(left, (time.time() - age,) * 2)
        FITS["boost"]().save(tmp_path / name)
        assert not dead.exists()  # and that of a process that is alive stays
        assert len(list(tmp_path.iterdir())) == 2


def test_describe_file(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(100, 4))
    model = BoostKMeans(3, random_state=0, checkpoint=tmp_path / "c").fit(X)
    model.set_params(checkpoint=None).save(tmp_path / "m", labels=False)
    boostkmeans.ProductQuantizer(2, 4, random_state=0).fit(X).save(tmp_path / "q")
    found = {name: boostkmeans.describe_file(tmp_path / name) for name in "mqc"}
    kinds = {name: None if one is None else (one.kind, one.estimator) for name, one in found.items()}
    assert kinds == {
        "m": ("model", "BoostKMeans"),
        "q": ("quantizer", "ProductQuantizer"),
        "c": ("checkpoint", "BoostKMeans"),
    }
    for one in found.values():
        assert one is not None
        assert one.library_version == boostkmeans.__version__
        assert one.parameters["random_state"] == 0
    assert (found["m"].n_rows, found["m"].has_labels) == (100, False)  # type: ignore[union-attr]
    checkpoint = found["c"]
    assert checkpoint is not None
    assert (checkpoint.n_rows, checkpoint.n_features, checkpoint.n_runs_done) == (100, 4, 1)
    assert "shape" not in checkpoint.parameters


def test_describe_file_of_other_content(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.eye(3))
    assert boostkmeans.describe_file(tmp_path / "x.npy") is None
    BoostKMeans(2, random_state=0).fit(np.eye(3)).save(tmp_path / "m")
    (tmp_path / "m").write_bytes((tmp_path / "m").read_bytes()[:20])
    with pytest.raises(DataFormatError):
        boostkmeans.describe_file(tmp_path / "m")
