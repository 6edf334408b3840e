"""`boostkmeans info` and `boostkmeans convert`."""

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz

import boostkmeans
from boostkmeans import BisectingBoostKMeans, BoostKMeans, SweepRecord
from boostkmeans.io import open_vectors, write_vectors
from command import fail, succeed
from conftest import blobs

ROWS = blobs(200, 4, 3)[0].astype(np.float32)


@pytest.mark.parametrize("estimator", [BoostKMeans, BisectingBoostKMeans])
def test_info_of_a_model(tmp_path: Path, estimator: type[BoostKMeans]) -> None:
    model = estimator(3, random_state=0).fit(ROWS)
    path = tmp_path / "anything.npy"  # the file is recognized by its content
    model.save(path)
    result = json.loads(succeed("info", path, "--json"))
    assert (result["kind"], result["estimator"]) == ("model", estimator.__name__)
    assert result["written_by"] == boostkmeans.__version__
    assert (result["n_clusters"], result["n_features"], result["n_rows"]) == (3, 4, 200)
    assert result["inertia"] == model.inertia_
    assert result["cluster_sizes"] == model.cluster_sizes_.tolist()
    assert result["n_sweeps"] == len(result["history"]) == model.n_iter_
    assert result["parameters"]["n_clusters"] == 3
    out = succeed("info", path)
    for what in ("model, written by boostkmeans", f"{estimator.__name__}(", "3 of 4 features", "sizes",
                 "sweeps in"):  # fmt: skip
        assert what in out


def test_info_of_a_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "c"
    BoostKMeans(3, random_state=0, checkpoint=path).fit(ROWS)
    result = json.loads(succeed("info", path, "--json"))
    assert (result["kind"], result["estimator"]) == ("checkpoint", "BoostKMeans")
    assert (result["n_clusters"], result["n_features"], result["n_rows"]) == (3, 4, 200)
    assert (result["n_runs_done"], result["stage"]) == (1, None)
    assert result["parameters"]["random_state"] == 0
    out = succeed("info", path)
    assert "checkpoint, written by" in out
    assert "all runs are complete" in out
    path.unlink()
    seen: list[SweepRecord] = []

    def second(record: SweepRecord) -> bool:
        seen.append(record)
        return len(seen) > 1

    # The state after the first sweep is in the checkpoint.
    BoostKMeans(3, random_state=0, tol=0, checkpoint=path, callback=second).fit(ROWS)
    assert "of run 1" in succeed("info", path)


def test_info_of_vectors(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", ROWS)
    result = json.loads(succeed("info", tmp_path / "x.npy", "--json"))
    assert result == {
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


def test_info_of_other_files(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("hello")
    assert "Neither the suffix" in fail(2, "info", tmp_path / "a")
    assert "No such file" in fail(2, "info", tmp_path / "b")
    assert "folder" in fail(2, "info", tmp_path)
    BoostKMeans(3, random_state=0).fit(ROWS).save(tmp_path / "m")
    (tmp_path / "m").write_bytes((tmp_path / "m").read_bytes()[:-9])
    assert "save it again" in fail(3, "info", tmp_path / "m")


def test_info_escapes_names_of_arrays(tmp_path: Path) -> None:
    name = "\x1b[31mx\x07"
    arrays: dict[str, Any] = {name: ROWS, "r": ROWS}
    np.savez(tmp_path / "a.npz", **arrays)
    with h5py.File(tmp_path / "b.hdf5", "w") as file:
        file[name] = file["r"] = ROWS
    for path in (tmp_path / "a.npz", tmp_path / "b.hdf5"):
        out = succeed("info", path)
        assert "\\x1b[31mx\\x07" in out
        assert out.replace("\n", "").isprintable(), path.name
        values = {line.index("200 x 4") for line in out.splitlines() if "200 x 4" in line}
        assert len(values) == 1, "the escaped names determine the width"


# convert


@pytest.mark.parametrize("ending", ["npy", "fvecs", "fbin", "parquet"])
def test_convert_and_convert_back(tmp_path: Path, ending: str) -> None:
    np.save(tmp_path / "x.npy", ROWS)
    target = tmp_path / f"y.{ending}"
    out = succeed("convert", tmp_path / "x.npy", target)
    assert "200" in out
    assert str(target) in out
    succeed("convert", target, tmp_path / "z.npy")
    assert np.array_equal(np.load(tmp_path / "z.npy"), ROWS)
    assert len(list(tmp_path.iterdir())) == 3


def test_convert_rows_keys_and_formats(tmp_path: Path) -> None:
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
        with pytest.raises(IndexError, match="out of range"):
            vectors.between(50, 201)


def test_convert_errors(tmp_path: Path) -> None:
    x, y = tmp_path / "x.npy", tmp_path / "y.npy"
    np.save(x, ROWS)
    np.save(y, ROWS)
    save_npz(tmp_path / "x.npz", csr_array(ROWS))
    for code, arguments, what in (
        (2, [x, y], "--force"),
        (2, [x, x, "--force"], "cannot be both"),
        (2, [x, "-"], "must be a file"),
        (2, [x, tmp_path / "z.xyz"], "or pass --to"),
        (2, [x, tmp_path / "z.npy", "--rows", "5"], "0:1000"),
        (2, [x, tmp_path / "z.npy", "--rows", "5:201"], "within the 200 rows"),
        (2, [x, tmp_path / "z.npy", "--rows", "9:5"], "within the 200 rows"),
        (2, [tmp_path / "x.npz", tmp_path / "z.npy"], "sparse"),
        (3, [x, tmp_path / "z.bvecs"], "uint8"),
    ):  # fmt: skip
        assert what in fail(code, "convert", *arguments)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["x.npy", "x.npz", "y.npy"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_convert_to_a_full_device(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", ROWS)
    message = fail(1, "convert", tmp_path / "x.npy", "/dev/full", "--to", "npy", "--force")
    assert "No space left" in message


def test_info_of_columns_and_several_arrays(tmp_path: Path) -> None:
    np.save(tmp_path / "l.npy", np.arange(7, dtype=np.int32))
    result = json.loads(succeed("info", tmp_path / "l.npy", "--json"))
    assert (result["kind"], result["n_rows"], result["dtype"]) == ("column", 7, "int32")
    assert "column" in succeed("info", tmp_path / "l.npy", "-v")
    np.savez(tmp_path / "x.npz", a=np.eye(4), b=np.eye(3), c=np.arange(3))
    result = json.loads(succeed("info", tmp_path / "x.npz", "--json"))
    assert result["kind"] == "arrays"
    assert [one["shape"] for one in result["arrays"]] == [[4, 4], [3, 3], [3]]
    assert "4 x 4 of type float64" in succeed("info", tmp_path / "x.npz")


def test_convert_with_json(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.eye(3))
    result = json.loads(succeed("convert", tmp_path / "x.npy", tmp_path / "x.fvecs", "--json"))
    assert (result["n_rows"], result["n_features"], result["file"]) == (3, 3, str(tmp_path / "x.fvecs"))
