"""Writing of vectors."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from vector_samples import DENSE_FILES, X, check_all_accesses

from boostkmeans import DataFormatError, ParameterError
from boostkmeans.io import WRITABLE, open_vectors, write_vectors


@pytest.mark.parametrize("format_name", WRITABLE)
def test_arrays_are_read_back(tmp_path: Path, format_name: str) -> None:
    for array in (X, np.asfortranarray(X), X.astype(">f8"), X.astype(np.uint8), X.tolist()):
        write_vectors(tmp_path / f"a.{format_name}", array, force=True)
        with open_vectors(tmp_path / f"a.{format_name}") as vectors:
            check_all_accesses(vectors, X)


@pytest.mark.parametrize("format_name", WRITABLE)
@pytest.mark.parametrize("name", ["a.fvecs", "a.csv", "lists.parquet", "fortran.npy"])
def test_files_are_converted(tmp_path: Path, name: str, format_name: str) -> None:
    DENSE_FILES[name](tmp_path / name)
    with open_vectors(tmp_path / name) as vectors:
        write_vectors(tmp_path / "converted", vectors, format=format_name)
    with open_vectors(tmp_path / "converted", format=format_name) as vectors:
        check_all_accesses(vectors, X)


def test_ids_of_an_array_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="the vectors have no ids"):
        write_vectors(tmp_path / "a.parquet", X, id_column="id")


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u2", "i8", "?"])
@pytest.mark.parametrize("format_name", ["npy", "parquet"])
def test_types_are_preserved(tmp_path: Path, dtype: str, format_name: str) -> None:
    write_vectors(tmp_path / "a", (X > 50).astype(dtype), format=format_name)
    assert open_vectors(tmp_path / "a", format=format_name).dtype == np.dtype(dtype)


@pytest.mark.parametrize(
    ("value", "dtype", "format_name"),
    [
        (0.5, "f8", "bvecs"),
        (-1, "i4", "bvecs"),
        (256, "i4", "u8bin"),
        (128, "u1", "i8bin"),
        (2**31, "i8", "ivecs"),
        (2**32 - 1, "u4", "ibin"),
        (np.nan, "f4", "ivecs"),
        (np.inf, "f4", "ibin"),
        (2**24 + 1, "i4", "fvecs"),
        (2**63, "u8", "ivecs"),
        (1e300, "f8", "fbin"),
    ],
)
def test_rejects_values_that_would_change(
    tmp_path: Path, value: float, dtype: str, format_name: str
) -> None:
    array = np.zeros((5, 3), dtype=dtype)
    array[3, 1] = value
    with pytest.raises(DataFormatError, match=r"is not a valid .* Choose another format") as error:
        write_vectors(tmp_path / f"a.{format_name}", array)
    assert error.value.place == "row 3, column 1"
    assert list(tmp_path.iterdir()) == []


def test_float64_is_rounded_to_float32(tmp_path: Path) -> None:
    write_vectors(tmp_path / "a.fvecs", np.array([[0.1, np.inf, np.nan]]))
    found = open_vectors(tmp_path / "a.fvecs").load()
    assert np.array_equal(found, np.array([[0.1, np.inf, np.nan]], dtype=np.float32), equal_nan=True)


@pytest.mark.parametrize(
    ("vectors", "match"),
    [
        (csr_array(X), "these are sparse"),
        (X[0], "2 dimensions"),
        (X[:, :0], "2 dimensions"),
        (X.astype(complex), "real numbers"),
        ([["a"]], "real numbers"),
    ],
    ids=["sparse", "1-d", "no columns", "complex", "strings"],
)
def test_rejects_other_arrays(tmp_path: Path, vectors: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        write_vectors(tmp_path / "a.npy", vectors)
    assert list(tmp_path.iterdir()) == []


def test_rejects_other_formats(tmp_path: Path) -> None:
    for name in ("a.csv", "a", "a.npy.gz", "a.npz"):
        with pytest.raises(ValueError, match=r"cannot be written\. Use the suffix .* or pass format"):
            write_vectors(tmp_path / name, X)
    with pytest.raises(ValueError, match="format must be one of"):
        write_vectors(tmp_path / "a.npy", X, format="csv")
    with pytest.raises(ValueError, match="needs at least one row"):
        write_vectors(tmp_path / "a.fvecs", X[:0])
    assert list(tmp_path.iterdir()) == []


def test_existing_file_is_kept(tmp_path: Path) -> None:
    write_vectors(tmp_path / "a.npy", X)
    with pytest.raises(FileExistsError):
        write_vectors(tmp_path / "a.npy", 1 - X)
    assert np.array_equal(open_vectors(tmp_path / "a.npy").load(), X)


def test_progress_is_reported(tmp_path: Path) -> None:
    seen: list[tuple[str, int, int | None]] = []
    write_vectors(tmp_path / "a.npy", X, progress=lambda *report: seen.append(report))
    assert seen[-1] == ("writing", 50, 50)
    DENSE_FILES["a.csv"](tmp_path / "a.csv")
    seen.clear()
    open_vectors(tmp_path / "a.csv", progress=lambda *report: seen.append(report)).load()
    assert {what for what, _, _ in seen} == {"reading"}
