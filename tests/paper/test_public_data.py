"""Loaders of the paper's public data, and the substitutes for missing data."""

import hashlib
import io
import tarfile
from pathlib import Path

import numpy as np
import pytest

import command_line
import data
import public_data


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder for archives; the shared folder does not exist."""
    monkeypatch.setenv("BOOSTKMEANS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("BOOSTKMEANS_SHARED", str(tmp_path / "shared"))
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


@pytest.fixture
def photos(tmp_path: Path) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    """20 descriptors in two files of the shared folder, and training rows and queries."""
    rows = np.arange(20 * 128, dtype=np.uint8).reshape(20, 128)
    sift = tmp_path / "shared" / "sift"
    sift.mkdir(parents=True)
    for i in range(2):
        np.savez(sift / f"photosift_base_{i}of4.npz", X=rows[10 * i :][:10])
    np.savez(sift / "photosift_learn_query.npz", learn=rows[:9], query=rows[9:14])
    return rows


def test_documents_are_read_from_the_archive(folder: Path) -> None:
    names = public_data.CLUTO_SETS
    files = {f"datasets/{name}.mat": b"2 3 2\n1 1\n3 2\n" for name in names}
    files |= {f"datasets/{name}.mat.rclass": b"sport\nnews\n" for name in names}
    with tarfile.open(folder / "cluto.tar.gz", "w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    found = public_data.documents("la12")
    assert found is not None
    corpus, source = found
    assert source == "CLUTO's archive"
    assert corpus.classes == ["sport", "news"]
    assert corpus.matrix is not None
    assert corpus.matrix.shape == (2, 3)


def test_missing_documents_have_no_substitute() -> None:
    assert public_data.documents("la12") is None


def test_synthetic_substitutes_are_named() -> None:
    X, name = public_data.sift(20)
    assert X.shape == (20, 128)
    assert name == "synthetic, normal 20 x 128 (stands in for SIFT1M)"
    np.testing.assert_array_equal(X, data.sift(20)[1])
    found = public_data.sift_search(9, 5, 2)
    assert found.name == "synthetic, normal, 5 as base (stands in for SIFT1M)"
    assert (len(found.learn), len(found.base), len(found.query)) == (9, 5, 2)


def test_photosift_substitutes_are_named(
    photos: np.ndarray[tuple[int, int], np.dtype[np.uint8]],
) -> None:
    X, name = public_data.sift(15)
    assert name == "PhotoSIFT 15 x 128 (stands in for SIFT1M)"
    assert X.dtype == np.float32
    np.testing.assert_array_equal(X, photos[:15])
    found = public_data.sift_search(4, 12, 3)
    assert found.name == "PhotoSIFT, 12 of its base (stands in for SIFT1M)"
    np.testing.assert_array_equal(found.learn, photos[:4])
    np.testing.assert_array_equal(found.base, photos[:12])
    np.testing.assert_array_equal(found.query, photos[9:12])


def test_benchmarks_load_the_same_rows(
    photos: np.ndarray[tuple[int, int], np.dtype[np.uint8]],
) -> None:
    name, X = data.sift(15)
    assert name == "PhotoSIFT 15 x 128"
    np.testing.assert_array_equal(X, photos[:15])


@pytest.mark.usefixtures("photos")
def test_too_few_photosift_rows_are_not_used() -> None:
    assert data.photosift(21) is None
    assert public_data.sift(21)[1].startswith("synthetic")


def test_fingerprint_is_the_sha256_of_the_values() -> None:
    X = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert public_data.fingerprint(X) == hashlib.sha256(X.tobytes()).hexdigest()
    assert public_data.fingerprint(X.T) == hashlib.sha256(X.T.tobytes()).hexdigest()


def test_full_size_refuses_synthetic_rows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Hours of measurements must not replace descriptors by synthetic rows unasked."""
    assert not public_data.has_sift()
    monkeypatch.setattr("sys.argv", ["run_paper.py", "--full"])
    with pytest.raises(SystemExit, match="2"):
        command_line.main()
    assert "--synthetic" in capsys.readouterr().err
    monkeypatch.setattr("sys.argv", ["run_paper.py", "--full", "--synthetic"])
    assert command_line.main() == 0


@pytest.mark.usefixtures("photos")
def test_full_size_accepts_the_substitute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["run_paper.py", "--full"])
    assert command_line.main() == 0
