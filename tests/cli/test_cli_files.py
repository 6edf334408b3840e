"""`boostkmeans info` and `convert`: what files are, and what becomes of them."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz

import boostkmeans
from boostkmeans import BisectingBoostKMeans, BoostKMeans, SweepRecord
from boostkmeans.cli import errors, options
from boostkmeans.cli.listing import plain
from boostkmeans.io import FORMATS, WRITABLE, open_vectors, write_vectors
from command import fail, succeed
from conftest import blobs

ROWS = blobs(200, 4, 3)[0].astype(np.float32)


def test_formats_are_those_of_the_library() -> None:
    assert tuple(one.value for one in options.Format) == FORMATS
    assert tuple(one.value for one in options.WritableFormat) == WRITABLE


@pytest.mark.parametrize("estimator", [BoostKMeans, BisectingBoostKMeans])
def test_a_model(tmp_path: Path, estimator: type[BoostKMeans]) -> None:
    model = estimator(3, random_state=0).fit(ROWS)
    path = tmp_path / "anything.npy"  # names do not matter
    model.save(path)
    made = json.loads(succeed("info", path, "--json"))
    assert (made["kind"], made["estimator"]) == ("model", estimator.__name__)
    assert made["written_by"] == boostkmeans.__version__
    assert (made["n_clusters"], made["n_features"], made["n_rows"]) == (3, 4, 200)
    assert made["inertia"] == model.inertia_
    assert made["cluster_sizes"] == model.cluster_sizes_.tolist()
    assert made["n_sweeps"] == len(made["history"]) == model.n_iter_
    assert made["parameters"]["n_clusters"] == 3
    out = succeed("info", path)
    for what in ("model, written by boostkmeans", f"{estimator.__name__}(", "3 of 4 features", "sizes",
                 "sweeps in"):  # fmt: skip
        assert what in out


def test_a_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "c"
    BoostKMeans(3, random_state=0, checkpoint=path).fit(ROWS)
    made = json.loads(succeed("info", path, "--json"))
    assert (made["kind"], made["estimator"]) == ("checkpoint", "BoostKMeans")
    assert (made["n_clusters"], made["n_features"], made["n_rows"]) == (3, 4, 200)
    assert (made["n_runs_done"], made["stage"]) == (1, None)
    assert made["parameters"]["random_state"] == 0
    out = succeed("info", path)
    assert "checkpoint, written by" in out
    assert "all runs are done" in out
    path.unlink()
    seen: list[SweepRecord] = []

    def second(record: SweepRecord) -> bool:
        seen.append(record)
        return len(seen) > 1

    # After the first sweep, a state was kept.
    BoostKMeans(3, random_state=0, tol=0, checkpoint=path, callback=second).fit(ROWS)
    assert "of run 1" in succeed("info", path)


def test_vectors(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", ROWS)
    made = json.loads(succeed("info", tmp_path / "x.npy", "--json"))
    assert made == {
        "file": str(tmp_path / "x.npy"), "kind": "vectors", "format": "npy", "n_rows": 200,
        "n_features": 4, "dtype": "float32", "is_sparse": False, "bytes_if_dense": 3200,
        "feature_names": None,
    }  # fmt: skip
    save_npz(tmp_path / "x.npz", csr_array(ROWS))
    assert "vectors, sparse, format npz" in succeed("info", tmp_path / "x.npz")
    names = ",".join(f"c{i}" for i in range(20))
    (tmp_path / "x.csv").write_text(f"{names}\n{','.join(map(str, range(20)))}\n")
    assert "c7, and 12 more" in succeed("info", tmp_path / "x.csv")
    assert "format csv" in succeed("info", "-", stdin=b"1,2\n3,4\n")


def test_what_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("hello")
    assert "neither the ending" in fail(2, "info", tmp_path / "a")
    assert "No such file" in fail(2, "info", tmp_path / "b")
    assert "folder" in fail(2, "info", tmp_path)
    BoostKMeans(3, random_state=0).fit(ROWS).save(tmp_path / "m")
    (tmp_path / "m").write_bytes((tmp_path / "m").read_bytes()[:-9])
    assert "Fetch it again" in fail(3, "info", tmp_path / "m")


# convert


@pytest.mark.parametrize("ending", ["npy", "fvecs", "fbin", "parquet"])
def test_there_and_back(tmp_path: Path, ending: str) -> None:
    np.save(tmp_path / "x.npy", ROWS)
    target = tmp_path / f"y.{ending}"
    out = succeed("convert", tmp_path / "x.npy", target)
    assert "200" in out
    assert str(target) in out
    succeed("convert", target, tmp_path / "z.npy")
    assert np.array_equal(np.load(tmp_path / "z.npy"), ROWS)
    assert len(list(tmp_path.iterdir())) == 3


def test_rows_keys_and_formats(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=ROWS, b=ROWS + 1)
    for rows, expected in (("10:20", ROWS[10:20]), (":3", ROWS[:3]), ("190:", ROWS[190:])):
        succeed("convert", tmp_path / "x.npz", tmp_path / "y", "--to", "fvecs", "--key", "b", "--force",
                "--rows", rows)  # fmt: skip
        assert np.array_equal(np.asarray(open_vectors(tmp_path / "y", format="fvecs")), expected + 1)
    succeed("convert", "-", tmp_path / "z.npy", stdin=b"1,2\n3,4\n")
    assert np.load(tmp_path / "z.npy").tolist() == [[1, 2], [3, 4]]
    succeed("convert", tmp_path / "y", tmp_path / "w.npy", "--format", "fvecs", "--max-memory", "1MB")


def test_between_is_a_view(tmp_path: Path) -> None:
    write_vectors(tmp_path / "x.fvecs", ROWS)
    with open_vectors(tmp_path / "x.fvecs") as vectors:
        some = vectors.between(50, 60)
        assert some.shape == (10, 4)
        assert np.array_equal(some[2:4], ROWS[52:54])
        assert np.array_equal(some.load(), ROWS[50:60])
        out = np.empty((3, 4), dtype=np.float32)
        assert np.array_equal(some.read(5, 8, out), ROWS[55:58])
        assert np.array_equal(some.between(1, 3)[:], ROWS[51:53])
        with pytest.raises(IndexError, match="not within"):
            vectors.between(50, 201)


def test_wrong_use(tmp_path: Path) -> None:
    x, y = tmp_path / "x.npy", tmp_path / "y.npy"
    np.save(x, ROWS)
    np.save(y, ROWS)
    save_npz(tmp_path / "x.npz", csr_array(ROWS))
    for code, arguments, what in (
        (2, [x, y], "--force"),
        (2, [x, x, "--force"], "cannot be both"),
        (2, [x, "-"], "must be a file"),
        (2, [x, tmp_path / "z.xyz"], "not written"),
        (2, [x, tmp_path / "z.npy", "--rows", "5"], "0:1000"),
        (2, [x, tmp_path / "z.npy", "--rows", "5:201"], "within the 200 rows"),
        (2, [x, tmp_path / "z.npy", "--rows", "9:5"], "within the 200 rows"),
        (2, [tmp_path / "x.npz", tmp_path / "z.npy"], "sparse"),
        (3, [x, tmp_path / "z.bvecs"], "is no uint8"),
    ):  # fmt: skip
        assert what in fail(code, "convert", *arguments)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["x.npy", "x.npz", "y.npy"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_device(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", ROWS)
    message = fail(1, "convert", tmp_path / "x.npy", "/dev/full", "--to", "npy", "--force")
    assert "No space left" in message


def test_info_on_columns_and_several_arrays(tmp_path: Path) -> None:
    np.save(tmp_path / "l.npy", np.arange(7, dtype=np.int32))
    made = json.loads(succeed("info", tmp_path / "l.npy", "--json"))
    assert (made["kind"], made["n_rows"], made["dtype"]) == ("column", 7, "int32")
    assert "column" in succeed("info", tmp_path / "l.npy", "-v")
    np.savez(tmp_path / "x.npz", a=np.eye(4), b=np.eye(3), c=np.arange(3))
    made = json.loads(succeed("info", tmp_path / "x.npz", "--json"))
    assert made["kind"] == "arrays"
    assert [one["shape"] for one in made["arrays"]] == [[4, 4], [3, 3], None]
    assert "4 x 4 of type float64" in succeed("info", tmp_path / "x.npz")


def test_convert_as_json(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.eye(3))
    made = json.loads(succeed("convert", tmp_path / "x.npy", tmp_path / "x.fvecs", "--json"))
    assert (made["n_rows"], made["n_features"], made["file"]) == (3, 3, str(tmp_path / "x.fvecs"))


def test_warnings_once(capsys: pytest.CaptureFixture[str]) -> None:
    with errors.exit_codes(debug=False):
        warnings.simplefilter("always")
        errors.warn_about("k-means")
        for _ in range(3):
            warnings.warn("it did not converge", RuntimeWarning, stacklevel=1)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "boostkmeans: warning: k-means: it did not converge"
    assert lines[1].endswith("(3 times)")
    assert len(lines) == 2


def test_numbers_that_json_has_not() -> None:
    assert plain({"a": np.inf, "b": [np.float64("nan"), 1.5]}) == {"a": None, "b": [None, 1.5]}
