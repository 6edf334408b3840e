"""`boostkmeans pq`: the results in files are those of the Python functions."""

import json
import signal
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array, save_npz

from boostkmeans import BisectingBoostKMeans, BoostKMeans, ProductQuantizer, load_model, metrics
from boostkmeans._data import memory, row_source
from boostkmeans._steps.problem import stratified_indices
from boostkmeans._storage.tensors import peek
from boostkmeans.io import open_vectors, write_vectors
from boostkmeans.quantization import _batch_search, _product_quantizer
from command import fail, read_until, run, start, succeed
from conftest import blobs
from processes import PATIENCE

N, D, M, K = 2_000, 16, 4, 32
N_QUERIES = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with vectors, queries, a quantizer, codes, and a model of clusters."""
    folder = tmp_path_factory.mktemp("pq")
    rows, _ = blobs(N + N_QUERIES, D, 20, spread=2.0)
    X, queries = np.split(rows.astype(np.float32), [N])
    np.save(folder / "x.npy", X)
    write_vectors(folder / "queries.fvecs", queries)
    quantizer = ProductQuantizer(M, K, random_state=0).fit(X)
    quantizer.save(folder / "q")
    np.save(folder / "codes.npy", quantizer.encode(X))
    BoostKMeans(3, random_state=0).fit(X).save(folder / "model")
    return folder


@pytest.fixture(scope="module", name="X")
def made_rows(folder: Path) -> NDArray[np.float32]:
    return np.asarray(np.load(folder / "x.npy"))


@pytest.fixture(scope="module")
def queries(folder: Path) -> NDArray[np.float32]:
    with open_vectors(folder / "queries.fvecs") as vectors:
        return np.array(vectors[:])


@pytest.fixture(scope="module")
def quantizer(folder: Path) -> ProductQuantizer:
    return ProductQuantizer.load(folder / "q")


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_source, "BATCH_BYTES", 20_000)
    monkeypatch.setattr(_product_quantizer, "BATCH_BYTES", 20_000)
    monkeypatch.setattr(_batch_search, "QUERIES_PER_BATCH", 7)


def train(path: Path, target: Path, *options: object) -> dict[str, Any]:
    """Train a small quantizer, and return the JSON result."""
    size = ("--subspaces", M, "--centroids", K)
    result: dict[str, Any] = json.loads(succeed("pq", "train", path, target, "--json", *size, *options))
    return result


# train


def test_train_result(folder: Path, tmp_path: Path, quantizer: ProductQuantizer) -> None:
    result = train(folder / "x.npy", tmp_path / "q")
    found = load_model(tmp_path / "q")
    assert np.array_equal(found.codebooks_, quantizer.codebooks_)
    assert found.get_params() == quantizer.get_params()
    header = peek(tmp_path / "q")
    assert header is not None
    assert header[2]["not_stored"] == {}, "the callback is not part of the saved quantizer"
    assert result["distortion"] == quantizer.distortion_
    assert result["distortions"] == quantizer.distortions_.tolist()
    assert (result["bytes_per_code"], result["bytes_per_row"], result["compression"]) == (M, 4 * D, 16)
    assert (result["n_rows"], result["n_rows_of_file"], result["file"]) == (N, N, str(tmp_path / "q"))
    out = succeed("pq", "train", folder / "x.npy", tmp_path / "p", "--subspaces", M, "--centroids", K)
    for what in ("4 of 4 features", "32 in each", "4 bytes, 16 times smaller", "of subspaces"):
        assert what in out


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        (["--quality", "fast"], {}),
        (["--quality", "balanced"], {"clusterer": BoostKMeans(quality="balanced")}),
        (["--bisecting"], {"clusterer": BisectingBoostKMeans()}),
        (["--rotation", 3, "--seed", 5], {"rotation": 3, "random_state": 5}),
        (["--centroids", 300, "--threads", 1], {"n_centroids": 300}),
    ],
)
def test_training_options(
    folder: Path, tmp_path: Path, X: NDArray[np.float32], options: list[object], parameters: Any
) -> None:
    expected = ProductQuantizer(**{"n_subspaces": M, "n_centroids": K, "random_state": 0} | parameters)
    expected.fit(X)
    result = train(folder / "x.npy", tmp_path / "q", *options)
    assert np.array_equal(ProductQuantizer.load(tmp_path / "q").codebooks_, expected.codebooks_)
    assert result["clusterer"] == repr(expected.subspace_clusterer)
    assert result["rotated"] == (expected.rotation_ is not None)


def test_sample_option(folder: Path, tmp_path: Path, X: NDArray[np.float32]) -> None:
    result = train(folder / "x.npy", tmp_path / "q", "--sample", 500, "--seed", 3)
    assert (result["n_rows"], result["n_rows_of_file"]) == (500, N)
    some = X[stratified_indices(N, 500, np.random.RandomState(3))]
    expected = ProductQuantizer(M, K, random_state=3).fit(some)
    assert np.array_equal(ProductQuantizer.load(tmp_path / "q").codebooks_, expected.codebooks_)
    assert train(folder / "x.npy", tmp_path / "all", "--sample", 10_000)["n_rows"] == N


def test_trains_on_a_sample_if_memory_is_short(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "PROCESS", 0)
    arguments = ("pq", "train", folder / "x.npy", tmp_path / "q", "--json", "--max-memory")
    size = ("--subspaces", M, "--centroids", K)
    result = run(*arguments, "200kB", *size)
    assert result.exit_code == 0, result.output
    n_rows = json.loads(result.stdout)["n_rows"]
    assert f"training on a sample of {n_rows:,} rows" in result.stderr
    assert K < n_rows < N
    assert "Train on fewer rows" in fail(1, *arguments, "200kB", *size, "--sample", N, "--force")
    assert "which allows" in fail(1, *arguments, "1kB", *size, "--force")


def test_feature_names_are_stored(tmp_path: Path, X: NDArray[np.float32]) -> None:
    names = [f"f{i}" for i in range(D)]
    lines = [",".join(names), *(",".join(map(str, row)) for row in X[:400].tolist())]
    (tmp_path / "x.csv").write_text("\n".join(lines))
    train(tmp_path / "x.csv", tmp_path / "q", "--sample", 300)
    assert ProductQuantizer.load(tmp_path / "q").feature_names_in_.tolist() == names
    codes = tmp_path / "c.npy"
    succeed("pq", "encode", tmp_path / "q", tmp_path / "x.csv", codes, "--distortion")
    succeed("pq", "search", tmp_path / "q", codes, tmp_path / "x.csv", "-k", 1)
    succeed("pq", "evaluate", tmp_path / "q", tmp_path / "x.csv", tmp_path / "x.csv")


def test_train_errors(folder: Path, tmp_path: Path, X: NDArray[np.float32]) -> None:
    x, q = folder / "x.npy", tmp_path / "q"
    for options, what in (
        (
            [x, q, "--subspaces", 7],
            "--subspaces must be a divisor of the number of features (16). Got 7.",
        ),
        ([x, q, "--centroids", 5_000], "--centroids 5000 is more than the 2,000 rows of"),
        ([x, q, "--centroids", 70_000], "--centroids"),
        ([x, q, "--bisecting", "--quality", "best"], "--quality has no effect on --bisecting"),
        ([x, "-"], "OUT must be a file"),
        ([x, x, "--force"], "cannot be both"),
        ([x, folder / "q"], "--force"),
        ([tmp_path / "none", q], "none"),
    ):
        assert what in fail(2, "pq", "train", *options)
    save_npz(tmp_path / "sparse.npz", csr_array(X))
    assert "dense" in fail(2, "pq", "train", tmp_path / "sparse.npz", q)
    bad = X.copy()
    bad[1_900:1_902, 3] = np.nan
    np.save(tmp_path / "bad.npy", bad)
    for options in ([], ["--sample", 1_000]):  # the sample contains one of the two rows
        assert "row 190" in fail(3, "pq", "train", tmp_path / "bad.npy", q, *options)
    assert not q.exists()


@pytest.mark.process
@pytest.mark.slow
def test_interrupted_training_leaves_no_file(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(60_000, 64)).astype(np.float32))
    process = start("pq", "train", tmp_path / "x.npy", tmp_path / "q", "--quality", "best",
                    "--rotation", 50, "-v")  # fmt: skip
    assert process.stderr is not None
    read_until(process.stderr.fileno(), b"sweep 1")
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (130, b"")
    assert error.endswith(b"boostkmeans: interrupted\n")
    assert [one.name for one in tmp_path.iterdir()] == ["x.npy"]


# encode


@pytest.mark.usefixtures("small_batches")
def test_encode_in_each_format(
    folder: Path, tmp_path: Path, X: NDArray[np.float32], quantizer: ProductQuantizer
) -> None:
    expected = quantizer.encode(X)
    for name in ("c.npy", "c.bvecs", "c.u8bin"):
        out = succeed("pq", "encode", folder / "q", folder / "x.npy", tmp_path / name)
        assert str(tmp_path / name) in out
        with open_vectors(tmp_path / name) as codes:
            assert codes.dtype == np.uint8
            assert np.array_equal(codes[:], expected)
    out = succeed("pq", "encode", folder / "q", folder / "x.npy", tmp_path / "c.npy", "--json",
                  "--force", "--distortion")  # fmt: skip
    result = json.loads(out)
    assert result["distortion"] == pytest.approx(-quantizer.score(X))
    assert (result["n_rows"], result["bytes"], result["dtype"]) == (N, N * M, "uint8")


@pytest.mark.usefixtures("small_batches")
def test_encode_two_bytes_with_a_rotation(folder: Path, tmp_path: Path, X: NDArray[np.float32]) -> None:
    quantizer = ProductQuantizer(2, 300, rotation=2, random_state=0).fit(X)
    quantizer.save(tmp_path / "q")
    out = succeed("pq", "encode", tmp_path / "q", folder / "x.npy", tmp_path / "c.npy", "--distortion")
    codes = np.load(tmp_path / "c.npy")
    assert codes.dtype == np.uint16
    assert np.array_equal(codes, quantizer.encode(X))
    assert "in training" in out
    message = fail(2, "pq", "encode", tmp_path / "q", folder / "x.npy", tmp_path / "c.bvecs")
    assert "do not fit into bytes" in message


def test_encode_reads_standard_input(folder: Path, tmp_path: Path, X: NDArray[np.float32]) -> None:
    text = "".join(",".join(map(str, row)) + "\n" for row in X[:50].tolist()).encode()
    succeed("pq", "encode", folder / "q", "-", tmp_path / "c.npy", stdin=text)
    assert np.array_equal(np.load(tmp_path / "c.npy"), np.load(folder / "codes.npy")[:50])


@pytest.mark.usefixtures("small_batches")
def test_invalid_rows_leave_no_file(folder: Path, tmp_path: Path, X: NDArray[np.float32]) -> None:
    bad = X.copy()
    bad[1_900, 3] = np.inf
    np.save(tmp_path / "x.npy", bad)
    message = fail(3, "pq", "encode", folder / "q", tmp_path / "x.npy", tmp_path / "c.npy")
    assert "row 1900, column 3" in message
    assert [one.name for one in tmp_path.iterdir()] == ["x.npy"]
    np.save(tmp_path / "t.npy", np.zeros(N_QUERIES, dtype=int))
    message = fail(3, "pq", "evaluate", folder / "q", tmp_path / "x.npy", folder / "queries.fvecs",
                   "--codes", folder / "codes.npy", "--truth", tmp_path / "t.npy")  # fmt: skip
    assert "row 1900, column 3" in message


@pytest.mark.process
@pytest.mark.slow
def test_sigterm_leaves_no_file(folder: Path, tmp_path: Path) -> None:
    process = start("pq", "encode", folder / "q", "-", tmp_path / "c.npy", "-v", stdin=-1)
    assert process.stdin is not None
    process.stdin.write((b",".join([b"1"] * D) + b"\n") * 100_000)  # waits until most of it is read
    process.send_signal(signal.SIGTERM)
    _, error = process.communicate(timeout=PATIENCE)
    assert (process.returncode, error) == (130, b"boostkmeans: interrupted\n")
    assert list(tmp_path.iterdir()) == []


def test_encode_errors(folder: Path, tmp_path: Path) -> None:
    q, x, c = folder / "q", folder / "x.npy", tmp_path / "c.npy"
    np.save(tmp_path / "wide.npy", np.zeros((3, 7)))
    for options, what in (
        ([q, x, folder / "codes.npy"], "--force"),
        ([q, x, tmp_path / "c.fvecs"], ".npy, .bvecs or .u8bin"),
        ([q, x, "-"], "CODES must be a file"),
        ([q, x, x, "--force"], "cannot be both"),
        ([tmp_path / "none", x, c], "none"),
    ):
        assert what in fail(2, "pq", "encode", *options)
    for options, what in (
        ([folder / "model", x, c], "contains a model of clusters, but a product quantizer is needed"),
        ([x, x, c], "safetensors"),
        ([q, tmp_path / "wide.npy", c], f"wide.npy has 7 features, and {q} has 16"),
    ):
        assert what in fail(3, "pq", "encode", *options)
    assert "need at least" in fail(1, "pq", "encode", q, x, c, "--max-memory", "10kB")
    assert not c.exists()


# search


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.usefixtures("small_batches")
def test_search_results(
    folder: Path,
    tmp_path: Path,
    queries: NDArray[np.float32],
    quantizer: ProductQuantizer,
    symmetric: bool,
) -> None:
    codes = np.load(folder / "codes.npy")
    expected = quantizer.search(queries, codes, 5, symmetric=symmetric)
    arguments = ["pq", "search", folder / "q", folder / "codes.npy", folder / "queries.fvecs", "-k", 5]
    arguments += ["--symmetric"] * symmetric
    lines = succeed(*arguments)
    assert [[int(one) for one in line.split(",")] for line in lines.splitlines()] == (
        expected.indices.tolist()
    )
    for indices, distances in (("i.npy", "d.npy"), ("i.ivecs", "d.fvecs"), ("i.csv", "d.csv")):
        out = succeed(*arguments, "--indices", tmp_path / indices, "--distances", tmp_path / distances)
        assert str(tmp_path / indices) in out
        with open_vectors(tmp_path / indices) as found:
            assert np.array_equal(found[:], expected.indices)
        with open_vectors(tmp_path / distances) as found:
            assert np.array_equal(found[:].astype(np.float32), expected.distances)
    assert (tmp_path / "i.csv").read_text() == lines
    result = json.loads(succeed(*arguments, "--json"))
    assert result["indices"] == expected.indices.tolist()
    assert result["distances"] == expected.distances.tolist()
    assert (result["n_queries"], result["n_codes"], result["k"]) == (N_QUERIES, N, 5)
    result = json.loads(succeed(*arguments, "--json", "--indices", tmp_path / "other.npy"))
    assert result["indices"] is None, "the indices are in the file"
    assert result["files"] == {"indices": str(tmp_path / "other.npy")}


def test_search_errors(folder: Path, tmp_path: Path, queries: NDArray[np.float32]) -> None:
    q, c, x = folder / "q", folder / "codes.npy", folder / "queries.fvecs"
    for options, what in (
        ([q, c, x, "-k", N + 1], f"-k {N + 1} is more than the 2,000 codes"),
        ([q, c, x, "--indices", c], "--force"),
        ([q, c, x, "--indices", c, "--force"], "cannot be both"),
        ([q, c, x, "--indices", tmp_path / "i.fvecs"], ".ivecs"),
        ([q, c, x, "--distances", "-"], "must be a file"),
        ([q, c, x, "--json", "--indices", "-"], "both use standard output"),
        ([q, "-", x], "CODES must be a file"),
    ):
        assert what in fail(2, "pq", "search", *options)
    bad = queries.copy()
    bad[50, 2] = np.nan
    np.save(tmp_path / "bad.npy", bad)
    assert "row 50, column 2" in fail(3, "pq", "search", q, c, tmp_path / "bad.npy")
    np.save(tmp_path / "wide.npy", np.zeros((3, 7)))
    assert "has 7 features" in fail(3, "pq", "search", q, c, tmp_path / "wide.npy")
    np.save(tmp_path / "empty.npy", np.zeros((0, D)))
    assert "there are no rows" in fail(3, "pq", "search", q, c, tmp_path / "empty.npy")


@pytest.mark.parametrize(
    ("codes", "what"),
    [
        (np.zeros((9, M + 1), dtype=np.uint8), "integers of shape (n, 4)"),
        (np.zeros((9, M), dtype=np.float32), "Got float32"),
        (np.full((9, M), K, dtype=np.uint8), "must lie in [0, 32)"),
        (np.full((9, M), -1), "must lie in [0, 32)"),
        (np.zeros(9, dtype=np.uint8), "2 dimensions"),
    ],
)
def test_rejects_invalid_codes(
    folder: Path, tmp_path: Path, codes: NDArray[np.generic], what: str
) -> None:
    np.save(tmp_path / "c.npy", codes)
    message = fail(3, "pq", "search", folder / "q", tmp_path / "c.npy", folder / "queries.fvecs")
    assert what in message
    assert "c.npy" in message


def test_rejects_truncated_codes(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "c.npy").write_bytes((folder / "codes.npy").read_bytes()[:-3])
    message = fail(3, "pq", "search", folder / "q", tmp_path / "c.npy", folder / "queries.fvecs")
    assert "c.npy" in message


# evaluate


@pytest.mark.usefixtures("small_batches")
def test_evaluate_results(
    folder: Path,
    tmp_path: Path,
    X: NDArray[np.float32],
    queries: NDArray[np.float32],
    quantizer: ProductQuantizer,
) -> None:
    codes = np.load(folder / "codes.npy")
    truth = metrics.exact_neighbors(X, queries, 3).indices
    write_vectors(tmp_path / "t.ivecs", truth)
    np.save(tmp_path / "t.npy", truth[:, 0])
    np.savetxt(tmp_path / "t.csv", truth, fmt="%d", delimiter=",")
    arguments = ["pq", "evaluate", folder / "q", folder / "x.npy", folder / "queries.fvecs", "--json"]
    for symmetric in (False, True):
        depths = [1, 2, 5, 10, 20, 50, 100]
        found = quantizer.search(queries, codes, 100, symmetric=symmetric).indices
        expected = metrics.recall_at(depths, found, truth)
        for options in (
            [],
            ["--truth", tmp_path / "t.ivecs", "--codes", folder / "codes.npy"],
            ["--truth", tmp_path / "t.npy"],
            ["--truth", tmp_path / "t.csv"],
        ):
            result = json.loads(succeed(*arguments, *options, *["--symmetric"] * symmetric))
            assert [one["at"] for one in result["recall"]] == depths
            assert [one["recall"] for one in result["recall"]] == expected.tolist()
            assert result["distortion"] == pytest.approx(-quantizer.score(X))
            assert (result["seconds"]["encoding"] is None) == ("--codes" in options)
            assert (result["seconds"]["truth"] is None) == ("--truth" in options)
    assert (result["n_rows"], result["n_queries"], result["bytes_per_code"]) == (N, N_QUERIES, M)


def test_evaluate_listing(folder: Path) -> None:
    arguments = ["pq", "evaluate", folder / "q", folder / "x.npy", folder / "queries.fvecs"]
    out = succeed(*arguments)
    for what in ("recall@1 ", "recall@100", "distortion", "4 bytes, 16 times smaller", "searching"):
        assert what in out
    out = succeed(*arguments, "--at", "30, 3")
    assert [line.split()[0] for line in out.splitlines() if "recall" in line] == [
        "recall@3",
        "recall@30",
    ]


def test_evaluate_arrays_of_one_file(folder: Path, tmp_path: Path, X: NDArray[np.float32]) -> None:
    with h5py.File(tmp_path / "x.hdf5", "w") as file:
        file["train"], file["test"] = X[:40], X[:9]
        file["neighbors"] = np.arange(9)[:, None]
    x = tmp_path / "x.hdf5"
    out = succeed("pq", "evaluate", folder / "q", x, x, "--key", "train", "--queries-key", "test",
                  "--truth", x, "--truth-key", "neighbors", "--json")  # fmt: skip
    result = json.loads(out)
    assert [one["at"] for one in result["recall"]] == [1, 2, 5, 10, 20], "there are only 40 rows"
    assert result["n_queries"] == 9
    message = fail(2, "pq", "evaluate", folder / "q", x, x, "--queries-key", "test", "--at", "1,50")
    assert "--at 50 is more than the 40 rows" in message


def test_evaluate_errors(folder: Path, tmp_path: Path) -> None:
    q, x, queries = folder / "q", folder / "x.npy", folder / "queries.fvecs"
    for options, what in (
        ([q, x, queries, "--at", "1,0"], "--at must be integers"),
        ([q, x, queries, "--at", "best"], "--at must be integers"),
        ([q, "-", "-"], "cannot both be standard input"),
        ([q, x, queries, "--truth", tmp_path / "none"], "none"),
        ([q, x, queries, "--truth", "-"], "--truth must be a file"),
    ):
        assert what in fail(2, "pq", "evaluate", *options)
    np.save(tmp_path / "few.npy", np.zeros((3, M), dtype=np.uint8))
    message = fail(3, "pq", "evaluate", q, x, queries, "--codes", tmp_path / "few.npy")
    assert "3 codes for 2,000 rows" in message
    for values, what in (
        (np.zeros(3, dtype=int), "3 rows for 60 queries"),
        (np.full(N_QUERIES, N), "2000 is not a row number from 0 to 1,999"),
        (np.full(N_QUERIES, -1), "-1 is not a row number"),
        (np.full(N_QUERIES, np.nan), "nan is not a row number"),
        (np.full(N_QUERIES, "a"), "Expected row numbers"),
    ):
        np.save(tmp_path / "t.npy", values)
        assert what in fail(3, "pq", "evaluate", q, x, queries, "--truth", tmp_path / "t.npy")
    assert "a model of clusters" in fail(3, "pq", "evaluate", folder / "model", x, queries)


# other commands


def test_info_of_a_quantizer(folder: Path, tmp_path: Path, quantizer: ProductQuantizer) -> None:
    result = json.loads(succeed("info", folder / "q", "--json"))
    assert (result["kind"], result["n_subspaces"], result["n_centroids"]) == ("quantizer", M, K)
    assert (result["n_features"], result["rotated"]) == (D, False)
    assert result["distortions"] == quantizer.distortions_.tolist()
    out = succeed("info", folder / "q")
    for what in ("product quantizer", "4 of 4 features", "32 in each", "4 bytes", "distortion"):
        assert what in out


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_rejects_a_quantizer_as_a_model(folder: Path, command: str) -> None:
    message = fail(3, command, folder / "q", folder / "x.npy")
    assert "contains a product quantizer, but a model of clusters is needed" in message
