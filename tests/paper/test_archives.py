"""Download, verification and extraction of untrusted archives."""

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

import archives
import public_data
from archives import Archive, DataError
from boostkmeans.io import write_vectors

ROWS = {"base": 30, "learn": 20, "query": 10}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder for archives; the shared folder does not exist."""
    monkeypatch.setenv("BOOSTKMEANS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("BOOSTKMEANS_SHARED", str(tmp_path / "shared"))
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


@pytest.fixture
def rows() -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.random.default_rng(0).integers(0, 255, (30, 4)).astype(np.float32)


@pytest.fixture
def content(tmp_path: Path, rows: Any) -> dict[str, bytes]:
    """Files of a vector set, by their names in the archive."""
    files = {}
    for part, n in ROWS.items():
        write_vectors(tmp_path / "some.fvecs", rows[:n])
        files[f"tiny/tiny_{part}.fvecs"] = (tmp_path / "some.fvecs").read_bytes()
        (tmp_path / "some.fvecs").unlink()
    write_vectors(tmp_path / "some.ivecs", np.zeros((10, 100), dtype=np.int32))
    files["tiny/tiny_groundtruth.ivecs"] = (tmp_path / "some.ivecs").read_bytes()
    return files


def packed(files: dict[str, bytes]) -> bytes:
    """Return a .tar.gz archive of the files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def tiny(url: str, data: bytes | None = None) -> Archive:
    """Return an archive at a URL, with the checksum of `data` if given."""
    archive = archives.texmex("tiny", 4, (30, 20, 10))
    known = {} if data is None else {"md5": hashlib.md5(data).hexdigest(), "size": len(data)}
    return replace(archive, urls=(url,), **known)  # type: ignore[arg-type]


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """URL of the folder `served`."""
    (tmp_path / "served").mkdir()
    handler = partial(QuietHandler, directory=str(tmp_path / "served"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


def test_archive_is_downloaded_and_loaded(
    tmp_path: Path, folder: Path, server: str, content: dict[str, bytes], rows: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    data = packed(content)
    (tmp_path / "served" / "tiny.tar.gz").write_bytes(data)
    archive = tiny(f"{server}/tiny.tar.gz", data)
    monkeypatch.setitem(archives.ARCHIVES, "tiny", archive)
    assert public_data.vectors("tiny", "base", None) is None  # Loading downloads nothing.
    assert public_data.main(["tiny"]) == 0
    assert not list(folder.rglob("*.part"))
    assert (public_data.vectors("tiny", "base", 7) == rows[:7]).all()
    truth = public_data.vectors("tiny", "groundtruth", None)
    assert truth is not None
    assert truth.shape == (10, 100)


def test_first_working_url_is_used(tmp_path: Path, server: str, content: dict[str, bytes]) -> None:
    data = packed(content)
    (tmp_path / "served" / "b.tar.gz").write_bytes(data)
    archive = replace(tiny("", data), urls=(f"{server}/a.tar.gz", f"{server}/b.tar.gz"))
    assert archives.fetch(archive).read_bytes() == data
    with pytest.raises(DataError, match=r"tiny2 cannot be downloaded.*/c\.tar\.gz.*404"):
        archives.fetch(replace(archive, name="tiny2", urls=(f"{server}/c.tar.gz",)))


def test_existing_archive_is_not_downloaded(folder: Path, content: dict[str, bytes]) -> None:
    data = packed(content)
    (folder / "tiny.tar.gz").write_bytes(data)
    archive = tiny("file:///nowhere", data)
    assert archives.fetch(archive) == folder / "tiny.tar.gz"
    path = archives.file_of(archive, "tiny_base.fvecs")
    assert path is not None
    assert path.read_bytes() == content["tiny/tiny_base.fvecs"]


def test_rejects_wrong_checksum(tmp_path: Path, folder: Path, content: dict[str, bytes]) -> None:
    data = packed(content)
    served = tmp_path / "tiny.tar.gz"
    served.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    archive = tiny(served.as_uri(), data)
    with pytest.raises(DataError, match=r"has the MD5 sum .* Remove the file"):
        archives.fetch(archive)
    assert list(folder.iterdir()) == []
    (folder / "tiny.tar.gz").write_bytes(served.read_bytes())
    with pytest.raises(DataError, match="MD5"):
        archives.file_of(archive, "tiny_base.fvecs")
    assert list(folder.iterdir()) == [folder / "tiny.tar.gz"], "a file copied by hand is never removed"


def test_rejects_html_instead_of_an_archive(
    tmp_path: Path, server: str, content: dict[str, bytes]
) -> None:
    (tmp_path / "served" / "a.tar.gz").write_bytes(b"<html>moved</html>")
    (tmp_path / "served" / "b.tar.gz").write_bytes(packed(content))
    archive = replace(tiny(""), urls=(f"{server}/a.tar.gz", f"{server}/b.tar.gz"))
    assert archives.fetch(archive).read_bytes() == packed(content)
    damaged = bytearray(packed(content))
    damaged[40:60] = bytes(20)
    (tmp_path / "served" / "a.tar.gz").write_bytes(damaged)
    with pytest.raises(DataError, match="cannot be downloaded"):
        archives.fetch(replace(archive, name="tiny2", urls=(f"{server}/a.tar.gz",)))


@pytest.mark.parametrize("change", [lambda data: data[:-100], lambda data: data + b"more"])
def test_rejects_wrong_archive_size(
    tmp_path: Path, folder: Path, content: dict[str, bytes], change: Any
) -> None:
    data = packed(content)
    served = tmp_path / "tiny.tar.gz"
    served.write_bytes(change(data))
    with pytest.raises(DataError, match="bytes"):
        archives.fetch(tiny(served.as_uri(), data))
    assert list(folder.iterdir()) == []


def test_rejects_truncated_archive_without_checksum(folder: Path, content: dict[str, bytes]) -> None:
    (folder / "tiny.tar.gz").write_bytes(packed(content)[:-200])
    with pytest.raises(DataError, match="cannot be read"):
        archives.extract(tiny(""))


def test_rejects_files_that_changed_since_first_use(folder: Path, content: dict[str, bytes]) -> None:
    archive = tiny("")
    for change in (b"", b"\0" * 16):
        name = "tiny/tiny_base.fvecs"
        (folder / "tiny").mkdir(exist_ok=True)
        (folder / name).write_bytes(content[name][: len(content[name]) - len(change)] + change)
        if not change:
            assert archives.file_of(archive, "tiny_base.fvecs") is not None
    with pytest.raises(DataError, match=r"sha256\.json has .* from its first use"):
        archives.file_of(archive, "tiny_base.fvecs")


def test_members_cannot_escape_the_folder(
    tmp_path: Path, folder: Path, content: dict[str, bytes]
) -> None:
    evil = {"../evil.fvecs": b"x", "../../tiny_other.fvecs": b"x", str(tmp_path / "abs"): b"x"}
    moved = {f"../../{name}": data for name, data in content.items()}
    (folder / "tiny.tar.gz").write_bytes(packed({**evil, **moved}))
    archives.extract(tiny(""))
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    names = {Path(name).name for name in content}
    assert files - {"some.ivecs"} == {"data/tiny.tar.gz", *[f"data/tiny/{name}" for name in names]}


def test_links_are_not_extracted(folder: Path, content: dict[str, bytes]) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        link = tarfile.TarInfo("tiny/tiny_base.fvecs")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    (folder / "tiny.tar.gz").write_bytes(buffer.getvalue())
    with pytest.raises(DataError, match=r"lacks tiny_base\.fvecs"):
        archives.extract(tiny(""))
    assert list((folder / "tiny").iterdir()) == []


def test_rejects_members_of_wrong_size(folder: Path, content: dict[str, bytes]) -> None:
    (folder / "tiny.tar.gz").write_bytes(packed({**content, "tiny/tiny_base.fvecs": b"short"}))
    with pytest.raises(DataError, match="has 5 bytes, expected 600"):
        archives.extract(tiny(""))
