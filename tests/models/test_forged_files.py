"""Model files that are damaged or forged."""

import ast
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_files import FITS, Forged, X

from boostkmeans import BisectingBoostKMeans, BoostKMeans, DataFormatError, load_model
from conftest import run_python

# Audit events of Python that loading may raise: no import, compile, exec, process or pickle. The last
# two come from `inspect`, which lists the parameters of our own classes.
ALLOWED_EVENTS = {"open", "builtins.id", "object.__getattr__"}


@pytest.fixture
def forged(tmp_path: Path) -> Forged:
    """Return a valid file with a tree, which a test can change."""
    forged = Forged(tmp_path / "model", BisectingBoostKMeans(5, n_sections=3, random_state=0).fit(X))
    forged.write()
    load_model(forged.path)  # files of another writer can be loaded
    return forged


@pytest.mark.parametrize("at", [-1, -100, -1000])
def test_rejects_changed_bits(forged: Forged, at: int) -> None:
    content = bytearray(forged.path.read_bytes())
    content[at] ^= 1
    forged.path.write_bytes(content)
    with pytest.raises(DataFormatError, match="do not match their checksum"):
        load_model(forged.path)


TENSORS: tuple[tuple[str, Any, float, str], ...] = (
    ("cluster_centers", (0, 0), np.nan, "'cluster_centers': .* contains NaN or infinity"),
    ("cluster_centers", (4, 3), -np.inf, "'cluster_centers': .* contains NaN or infinity"),
    ("frame.shift", 0, np.inf, "'frame.shift': .* contains NaN"),
    ("cluster_sizes", 0, 0, "The sum of cluster_sizes is"),
    ("cluster_sizes", 0, -1, "'cluster_sizes': A value is below 0"),
    ("cluster_sizes", 0, 2**63 - 1, "The sum of cluster_sizes is 92233"),
    ("cluster_weights", 0, -1.0, "'cluster_weights': A value is below 0"),
    ("cluster_weights", 0, np.nan, "'cluster_weights': .* contains NaN"),
    ("labels", 0, 5, "'labels': A value is above 4"),
    ("labels", 0, -1, "'labels': A value is below 0"),
    ("labels", slice(None), 0, "labels do not match cluster_sizes"),
    ("tree.children", (0, 0), 0, "not numbered in the order of its splits"),
    ("tree.children", (0, 0), 2, "not numbered in the order of its splits"),
    ("tree.children", (0, 0), -1, "a gap between its children"),
    ("tree.children", (0, 0), 99, "'tree.children': A value is above"),
    ("tree.children", (0, 0), -2, "'tree.children': A value is below -1"),
    ("tree.children", (0, slice(1, 3)), -1, "has a single child"),
    ("tree.children", 0, -1, "tree.splits does not list"),
    ("tree.splits", 0, 1, "tree.splits does not list"),
    ("tree.parents", 0, 1, "tree.parents does not match"),
    ("tree.parents", 3, 3, "tree.parents does not match"),
    ("tree.clusters", 0, 0, "number the leaves from left to right"),
    ("tree.clusters", -1, 0, "number the leaves from left to right"),
    ("tree.sizes", 0, 199, "tree.sizes of children do not add up"),
    ("tree.sizes", 0, 201, "has more than 200 rows"),
    ("tree.labels", slice(None), 0, "A leaf has fewer rows"),
    ("tree.labels", 0, 5, "'tree.labels': A value is above"),
    ("tree.inertia", 0, np.nan, "'tree.inertia': .* contains NaN"),
    ("tree.centers", 0, np.nan, "'tree.centers': .* contains NaN"),
)  # fmt: skip


@pytest.mark.parametrize(("name", "at", "value", "match"), TENSORS)
def test_rejects_invalid_values(forged: Forged, name: str, at: Any, value: float, match: str) -> None:
    forged.tensors[name][at] = value
    forged.assert_rejected(match)


def test_rejects_cycle_in_tree(forged: Forged) -> None:
    children = forged.tensors["tree.children"]
    inner = int(forged.tensors["tree.splits"][1])
    children[inner, 0], children[0, inner - 1] = inner, children[inner, 0]
    forged.assert_rejected("not numbered in the order of its splits")


@pytest.mark.parametrize("name", ["cluster_centers", "labels", "tree.parents", "frame.shift"])
def test_rejects_other_types_shapes_and_names(forged: Forged, name: str) -> None:
    good = forged.tensors[name]
    forged.tensors[name] = good.astype(np.float32)
    forged.assert_rejected(rf"tensor '{name}': Expected .*\. Got float32")
    forged.tensors[name] = good[:-1].copy()
    forged.assert_rejected("Expected the shape|'tree.children': A value is above")
    forged.tensors[name] = good[None].copy()
    forged.assert_rejected(f"tensor '{name}': Expected the shape")
    del forged.tensors[name]
    forged.assert_rejected(f"Missing tensors: '{name}'")
    forged.tensors[name] = good
    forged.tensors["\x1b[2Jmore"] = good
    forged.assert_rejected(r"Unexpected tensors: .*x1b\[2Jmore")


def test_rejects_model_without_clusters(forged: Forged) -> None:
    for name in ("cluster_centers", "cluster_sizes", "cluster_spread", "cluster_weights"):
        forged.tensors[name] = forged.tensors[name][:0]
    forged.assert_rejected("A value is above -1")


def test_rejects_cluster_without_leaf(forged: Forged) -> None:
    for name in ("cluster_centers", "cluster_sizes", "cluster_spread", "cluster_weights"):
        good = forged.tensors[name]
        forged.tensors[name] = np.concatenate([good, np.zeros_like(good[:1])])
    forged.assert_rejected("The tree has 5 leaves. Expected 6")


def test_rejects_model_without_features(tmp_path: Path) -> None:
    forged = Forged(tmp_path / "model", FITS["boost"]())
    forged.tensors["cluster_centers"] = np.zeros((6, 0))
    forged.tensors["frame.shift"] = np.zeros(0)
    forged.assert_rejected("6 centres of 0 features")


@pytest.mark.parametrize("n_sections", [0, 1])
def test_rejects_tree_that_splits_into_fewer_than_two(tmp_path: Path, n_sections: int) -> None:
    forged = Forged(tmp_path / "model", FITS["one leaf"]())
    forged.tensors["tree.children"] = np.full((1, n_sections), -1, dtype=np.int32)
    forged.assert_rejected(f"The tree has 1 nodes with up to {n_sections} children")


HEADERS: tuple[tuple[str, Any, str], ...] = (
    ("estimator", "os.system", "header.estimator: Expected one of"),
    ("estimator", "\x1b[2J", "header.estimator: Expected one of"),
    ("estimator", None, "header.estimator: Expected one of"),
    ("estimator", "BoostKMeans", "Unknown parameters of BoostKMeans: max_passes, n_sections"),
    ("estimator", "baselines.RBK", "Unknown parameters of RBK"),
    ("parameters", [], "header.parameters: Expected an object"),
    ("parameters.n_clusters", 0, "'n_clusters' parameter"),
    ("parameters.n_clusters", True, "'n_clusters' parameter"),
    ("parameters.tol", 10**400, "header.parameters"),
    ("parameters.metric", "\x1b[2J", "'metric' parameter"),
    ("parameters.annealing", {"tuple": 3}, "tuple: Expected a list"),
    ("parameters.annealing", {"tuple": ["a", {}]}, "'annealing' parameter"),
    ("parameters.init", {"tensor": "labels"}, "parameters.init: Expected a plain value"),
    ("parameters.init", {"tensor": "parameters.init"}, "parameters.init: Expected a plain value"),
    ("parameters.init", {"code": "x"}, "parameters.init: Expected a plain value"),
    ("parameters.\x1bnew", 1, r"Unknown parameters of \w+: \\x1bnew.* Upgrade boostkmeans"),
    ("not_stored", 1, "header.not_stored: Expected an object"),
    ("library_version", 5, "not a JSON object with a 'library_version'"),
    ("n_rows", 199, "Expected the shape"),
    ("n_rows", -1, "header.n_rows: Expected an integer from 1"),
    ("n_rows", 200.0, "header.n_rows: Expected an integer"),
    ("n_rows", 2**63, "header.n_rows: Expected an integer"),
    ("has_labels", 1, "header.has_labels: Expected true or false"),
    ("has_labels", False, "Unexpected tensors: 'labels'"),
    ("frame.exponent", 5000, "header.frame.exponent: Expected an integer from -1024 to 1074"),
    ("frame.exponent", None, "header.frame.exponent"),
    ("frame.metric", "manhattan", "header.frame.metric: Expected one of 'euclidean', 'cosine'"),
    ("feature_names", ["a"], "header.feature_names: Expected 4 strings"),
    ("feature_names", ["a", "b", "c", 4], "header.feature_names: Expected 4 strings"),
    ("feature_names", "abcd", "header.feature_names: Expected a list"),
    ("fitted.inertia_", "many", "header.fitted.inertia_: Expected a number"),
    ("fitted.inertia_", 10**400, "header.fitted.inertia_: Expected a number"),
    ("fitted.n_iter_", -1, "header.fitted.n_iter_: Expected an integer"),
    ("fitted.n_samples_seen_", 199, "n_samples_seen_: Expected an integer from 200"),
    ("fitted.stop_reason_", 1, "header.fitted.stop_reason_: Expected a string"),
    ("fitted.converged_", "yes", "header.fitted.converged_: Expected true or false"),
    ("history", {}, "header.history: Expected a list"),
    ("history", [3], r"header.history\[0\]: Expected an object"),
    ("history", [{}], r"header.history\[0\]: The field 'seconds' is missing"),
    ("history", [{"seconds": 1, "moves": 1.5}], r"header.history\[0\].moves: Expected an integer"),
)  # fmt: skip


@pytest.mark.parametrize(("place", "value", "match"), HEADERS, ids=range(len(HEADERS)))
def test_rejects_invalid_header_fields(forged: Forged, place: str, value: Any, match: str) -> None:
    *outer, name = place.split(".", 1)
    (forged.header[outer[0]] if outer else forged.header)[name] = value
    forged.assert_rejected(match)


def test_rejects_missing_header_fields(forged: Forged) -> None:
    for name in list(forged.header):
        # `feature_names` is optional. Forged writes checksums itself: see test_rejects_invalid_json.
        if name not in ("feature_names", "checksums"):
            value = forged.header.pop(name)
            forged.assert_rejected(name)
            forged.header[name] = value


@pytest.mark.parametrize(
    "text",
    ["", "[]", "null", "{", '{"a":NaN}', '{"a":Infinity}', '{"a":1e999}', '{"a":1,"a":2}',
     "[" * 100_000, '{"library_version":"1","a":' + "9" * 5000 + "}", '{"library_version":"1"}'],
    ids=range(11),
)  # fmt: skip
def test_rejects_invalid_json(forged: Forged, text: str) -> None:
    forged.write(text)
    with pytest.raises(DataFormatError, match="header"):
        load_model(forged.path)


def test_rejects_other_formats_and_versions(forged: Forged) -> None:
    forged.metadata["format"] = "pt"
    forged.assert_rejected("Expected the format 'boostkmeans-model'. Got 'pt'")
    forged.metadata["format"] = "boostkmeans-model"
    for version in ("", "0", "-1", "1.0", "x", "9" * 50, "\u0661"):
        forged.metadata["format_version"] = version
        forged.assert_rejected("Expected a format_version of at least 1")
    forged.metadata["format_version"] = "2"
    forged.header["library_version"] = "7.1.0\x1b"
    forged.assert_rejected(r"written by boostkmeans 7.1.0\\x1b in version 2 .*Upgrade boostkmeans")
    del forged.metadata["format"]
    forged.assert_rejected("Got no format")


def test_ignores_fields_of_later_releases(forged: Forged) -> None:
    """Unknown fields are ignored, and missing parameters have their defaults."""
    forged.header["since"] = "0.9"
    forged.header["history"][0]["colour"] = 3
    del forged.header["parameters"]["quality"], forged.header["history"][0]["note"]
    forged.write()
    model = load_model(forged.path)
    assert (model.quality, model.history_[0].note) == ("balanced", "")


def test_file_cannot_set_checkpoint(forged: Forged) -> None:
    assert "checkpoint" in BisectingBoostKMeans().get_params()
    forged.header["parameters"]["checkpoint"] = "/tmp/elsewhere"
    forged.write()
    assert load_model(forged.path).checkpoint is None


def small_file(path: Path) -> bytes:
    """Save a small model and return the content of the file."""
    BoostKMeans(2, random_state=0, max_iter=1, n_threads=1).fit(X[:4, :2]).save(path)
    return path.read_bytes()


def loads(path: Path, content: bytes) -> bool:
    """Return True if the content is a model that predicts. Loading may only raise DataFormatError."""
    path.write_bytes(content)
    try:
        model = load_model(path)
    except DataFormatError:
        return False
    model.n_threads = 1
    assert model.predict(np.zeros((1, model.n_features_in_))).shape == (1,)
    return True


def test_rejects_every_truncation(tmp_path: Path) -> None:
    content = small_file(tmp_path / "model")
    for length in range(len(content)):
        assert not loads(tmp_path / "model", content[:length]), length
    assert not loads(tmp_path / "model", content + b"\0")


@pytest.mark.slow
def test_every_changed_byte_of_header_is_rejected_or_harmless(tmp_path: Path) -> None:
    content = bytearray(small_file(tmp_path / "model"))
    head = 8 + int.from_bytes(content[:8], "little")
    n_loaded = 0
    for at in range(head):
        before = content[at]
        values = (0, before ^ 1, before ^ 2, before ^ 4, before ^ 16, before ^ 128, 0x22, 0xFF)
        # Each byte gets three of these values in turn. `make fuzz` changes more.
        for value in (values[(3 * at + i) % len(values)] for i in range(3)):
            content[at] = value
            n_loaded += loads(tmp_path / "model", bytes(content))
        content[at] = before
    # Some changes give another valid file, e.g. those of digits in the history.
    assert n_loaded < 3 * 3 / 8 * head


@pytest.mark.process
@pytest.mark.slow
def test_forged_lengths_allocate_no_memory(tmp_path: Path) -> None:
    content = small_file(tmp_path / "good")
    n_head = int.from_bytes(content[:8], "little")
    head, rest = json.loads(content[8 : 8 + n_head]), content[8 + n_head :]
    files = [length.to_bytes(8, "little") + content[8:] for length in (0, 1, 2**31, 2**63, 2**64 - 1)]
    for name in [name for name in head if name != "__metadata__"]:
        good = head[name]
        begin = good["data_offsets"][0]
        for shape, offsets in (
            ([2**40, 0], [begin, begin]), ([0, 2**40], [begin, begin]), ([2**62], [begin, 2**62]),
            ([2**63, 2], good["data_offsets"]), ([2**32, 2**32], [begin, begin]),
            ([-1], [begin, begin]), (good["shape"], [2**63, 2**63 + 8]), (good["shape"], [8, 0]),
            ([10**30], [0, 8]),
        ):  # fmt: skip
            text = json.dumps({**head, name: {**good, "shape": shape, "data_offsets": offsets}})
            files.append(len(text).to_bytes(8, "little") + text.encode() + rest)
    for number, file in enumerate(files):
        (tmp_path / f"{number}.bad").write_bytes(file)
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
        print("rejected")
""")
    assert result.returncode == 0, result.stderr
    assert result.stdout == "rejected\n" * len(files)


@pytest.mark.process
@pytest.mark.slow
def test_loading_executes_nothing(tmp_path: Path) -> None:
    for name in ("boost", "bisecting", "centres", "KMeans"):
        FITS[name]().save(tmp_path / f"{name}.model")
    Forged(tmp_path / "forged.model", FITS["boost"]()).write('{"estimator":"os.system"}')
    result = run_python(f"""
import sys
from pathlib import Path
import boostkmeans
boostkmeans.load_model, boostkmeans.DataFormatError  # import them before events are recorded
paths = sorted(Path({str(tmp_path)!r}).glob("*.model"))
seen = []
def note(event, arguments):
    seen.append((event, str(arguments[1]) if event == "open" else ""))
sys.addaudithook(note)
for path in paths:
    try:
        boostkmeans.load_model(path)
    except boostkmeans.DataFormatError:
        print("rejected")
print(sorted(set(seen)))
""")
    assert result.returncode == 0, result.stderr
    events = set(ast.literal_eval(result.stdout.removeprefix("rejected\n")))
    assert ("open", "r") in events
    assert {name for name, _ in events} <= ALLOWED_EVENTS
    assert {mode for name, mode in events if name == "open"} <= {"r", "rb", "None"}
