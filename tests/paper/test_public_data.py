"""`paper/public_data.py`: what strangers send is doubted; what stands in for data says so."""

import hashlib
import io
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import public_data
from boostkmeans.io import write_vectors
from public_data import Archive, DataError

ROWS = {"base": 30, "learn": 20, "query": 10}


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Empty ones for data of both kinds; the first is returned."""
    monkeypatch.setenv("BOOSTKMEANS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("BOOSTKMEANS_SHARED", str(tmp_path / "shared"))
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


@pytest.fixture
def rows() -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.random.default_rng(0).integers(0, 255, (30, 4)).astype(np.float32)


@pytest.fixture
def content(tmp_path: Path, rows: Any) -> dict[str, bytes]:
    """The files of a set of vectors, by their names in the archive."""
    files = {}
    for part, n in ROWS.items():
        write_vectors(tmp_path / "some.fvecs", rows[:n])
        files[f"tiny/tiny_{part}.fvecs"] = (tmp_path / "some.fvecs").read_bytes()
        (tmp_path / "some.fvecs").unlink()
    write_vectors(tmp_path / "some.ivecs", np.zeros((10, 100), dtype=np.int32))
    files["tiny/tiny_groundtruth.ivecs"] = (tmp_path / "some.ivecs").read_bytes()
    return files


def packed(files: dict[str, bytes]) -> bytes:
    """A tar.gz."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def tiny(url: str, data: bytes | None = None) -> Archive:
    """An archive at an address; with the checksum of what it should be."""
    archive = public_data.texmex("tiny", 4, (30, 20, 10))
    known = {} if data is None else {"md5": hashlib.md5(data).hexdigest(), "size": len(data)}
    return replace(archive, urls=(url,), **known)  # type: ignore[arg-type]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """The address of a folder."""
    (tmp_path / "served").mkdir()
    handler = partial(Quiet, directory=str(tmp_path / "served"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


def test_download_and_load(
    tmp_path: Path, folders: Path, server: str, content: dict[str, bytes], rows: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    data = packed(content)
    (tmp_path / "served" / "tiny.tar.gz").write_bytes(data)
    archive = tiny(f"{server}/tiny.tar.gz", data)
    monkeypatch.setitem(public_data.ARCHIVES, "tiny", archive)
    assert public_data.vectors("tiny", "base", None) is None  # nothing is downloaded by the way
    assert public_data.main(["tiny"]) == 0
    assert not list(folders.rglob("*.part"))
    assert (public_data.vectors("tiny", "base", 7) == rows[:7]).all()
    truth = public_data.vectors("tiny", "groundtruth", None)
    assert truth is not None
    assert truth.shape == (10, 100)


def test_of_several_addresses_the_first_that_works(
    tmp_path: Path, server: str, content: dict[str, bytes]
) -> None:
    data = packed(content)
    (tmp_path / "served" / "b.tar.gz").write_bytes(data)
    archive = replace(tiny("", data), urls=(f"{server}/a.tar.gz", f"{server}/b.tar.gz"))
    assert public_data.fetch(archive).read_bytes() == data
    with pytest.raises(DataError, match=r"tiny2 cannot be had.*/c\.tar\.gz.*404"):
        public_data.fetch(replace(archive, name="tiny2", urls=(f"{server}/c.tar.gz",)))


def test_an_archive_that_is_there_is_not_downloaded(folders: Path, content: dict[str, bytes]) -> None:
    data = packed(content)
    (folders / "tiny.tar.gz").write_bytes(data)
    archive = tiny("file:///nowhere", data)
    assert public_data.fetch(archive) == folders / "tiny.tar.gz"
    path = public_data.file_of(archive, "tiny_base.fvecs")
    assert path is not None
    assert path.read_bytes() == content["tiny/tiny_base.fvecs"]


def test_wrong_checksum(tmp_path: Path, folders: Path, content: dict[str, bytes]) -> None:
    data = packed(content)
    served = tmp_path / "tiny.tar.gz"
    served.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    archive = tiny(served.as_uri(), data)
    with pytest.raises(DataError, match=r"has the MD5 sum .*: remove it"):
        public_data.fetch(archive)
    assert list(folders.iterdir()) == []
    (folders / "tiny.tar.gz").write_bytes(served.read_bytes())
    with pytest.raises(DataError, match="MD5"):
        public_data.file_of(archive, "tiny_base.fvecs")
    assert list(folders.iterdir()) == [folders / "tiny.tar.gz"]  # which somebody put there


def test_a_page_instead_of_an_archive_is_not_trusted(
    tmp_path: Path, server: str, content: dict[str, bytes]
) -> None:
    (tmp_path / "served" / "a.tar.gz").write_bytes(b"<html>moved</html>")
    (tmp_path / "served" / "b.tar.gz").write_bytes(packed(content))
    archive = replace(tiny(""), urls=(f"{server}/a.tar.gz", f"{server}/b.tar.gz"))
    assert public_data.fetch(archive).read_bytes() == packed(content)
    damaged = bytearray(packed(content))
    damaged[40:60] = bytes(20)
    (tmp_path / "served" / "a.tar.gz").write_bytes(damaged)
    with pytest.raises(DataError, match="cannot be had"):
        public_data.fetch(replace(archive, name="tiny2", urls=(f"{server}/a.tar.gz",)))


@pytest.mark.parametrize("change", [lambda data: data[:-100], lambda data: data + b"more"])
def test_wrong_size(tmp_path: Path, folders: Path, content: dict[str, bytes], change: Any) -> None:
    data = packed(content)
    served = tmp_path / "tiny.tar.gz"
    served.write_bytes(change(data))
    with pytest.raises(DataError, match="bytes"):
        public_data.fetch(tiny(served.as_uri(), data))
    assert list(folders.iterdir()) == []


def test_a_truncated_archive_without_a_checksum(folders: Path, content: dict[str, bytes]) -> None:
    (folders / "tiny.tar.gz").write_bytes(packed(content)[:-200])
    with pytest.raises(DataError, match="cannot be read"):
        public_data.extract(tiny(""))


def test_trust_on_first_use(folders: Path, content: dict[str, bytes]) -> None:
    archive = tiny("")
    for change in (b"", b"\0" * 16):
        name = "tiny/tiny_base.fvecs"
        (folders / "tiny").mkdir(exist_ok=True)
        (folders / name).write_bytes(content[name][: len(content[name]) - len(change)] + change)
        if not change:
            assert public_data.file_of(archive, "tiny_base.fvecs") is not None
    with pytest.raises(DataError, match=r"sha256\.json has .* from the first time"):
        public_data.file_of(archive, "tiny_base.fvecs")


def test_members_cannot_lead_elsewhere(tmp_path: Path, folders: Path, content: dict[str, bytes]) -> None:
    evil = {"../evil.fvecs": b"x", "../../tiny_other.fvecs": b"x", str(tmp_path / "abs"): b"x"}
    moved = {f"../../{name}": data for name, data in content.items()}
    (folders / "tiny.tar.gz").write_bytes(packed({**evil, **moved}))
    public_data.extract(tiny(""))
    there = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    names = {Path(name).name for name in content}
    assert there - {"some.ivecs"} == {"data/tiny.tar.gz", *[f"data/tiny/{name}" for name in names]}


def test_links_and_folders_are_no_files(folders: Path, content: dict[str, bytes]) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        link = tarfile.TarInfo("tiny/tiny_base.fvecs")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    (folders / "tiny.tar.gz").write_bytes(buffer.getvalue())
    with pytest.raises(DataError, match=r"lacks tiny_base\.fvecs"):
        public_data.extract(tiny(""))
    assert list((folders / "tiny").iterdir()) == []


def test_members_of_the_wrong_size(folders: Path, content: dict[str, bytes]) -> None:
    (folders / "tiny.tar.gz").write_bytes(packed({**content, "tiny/tiny_base.fvecs": b"short"}))
    with pytest.raises(DataError, match="has 5 bytes, expected: 600"):
        public_data.extract(tiny(""))


def test_documents(folders: Path) -> None:
    names = public_data.CLUTO_SETS
    files = {f"datasets/{name}.mat": b"2 3 2\n1 1\n3 2\n" for name in names}
    files |= {f"datasets/{name}.mat.rclass": b"sport\nnews\n" for name in names}
    (folders / "cluto.tar.gz").write_bytes(packed(files))
    found = public_data.documents("la12")
    assert found is not None
    corpus, source = found
    assert source == "CLUTO's archive"
    assert corpus.classes == ["sport", "news"]
    assert corpus.matrix is not None
    assert corpus.matrix.shape == (2, 3)


def test_what_stands_in_says_so(tmp_path: Path, rows: Any) -> None:
    X, name = public_data.sift(20)
    assert X.shape == (20, 128)
    assert name == "made: normal 20 x 128 (stands in for SIFT1M)"
    assert "made" in public_data.gist(3)[1]
    assert "made" in public_data.sift_search(9, 5, 2).name
    assert public_data.documents("la12") is None
    (tmp_path / "shared" / "sift").mkdir(parents=True)
    photos = np.arange(20 * 128, dtype=np.uint8).reshape(20, 128)
    for i in range(2):
        np.savez(tmp_path / "shared" / "sift" / f"photosift_base_{i}of4.npz", X=photos[10 * i :][:10])
    X, name = public_data.sift(15)
    assert name == "PhotoSIFT 15 x 128 (stands in for SIFT1M)"
    assert X.dtype == np.float32
    assert (photos[:15] == X).all()
    assert public_data.fingerprint(X) == hashlib.sha256(X.tobytes()).hexdigest()
