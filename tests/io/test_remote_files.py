"""Paths that fsspec reads, such as s3:// and memory://."""

import gzip
import pickle
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from scipy.sparse import csr_array, issparse, save_npz
from vector_samples import DENSE_FILES, SPARSE_FILES, X

from boostkmeans import BoostKMeans, DataFormatError
from boostkmeans.distributed import open_shards
from boostkmeans.io import inspect_files, list_files, open_vectors, read_matrix, write_vectors
from boostkmeans.io._access import remote_file
from boostkmeans.io._access.byte_source import ByteSource
from boostkmeans.io._access.remote_file import RemotePath
from boostkmeans.io._access.urls import is_url, local_path, public_name
from conftest import blobs


class CountingFileSystem(MemoryFileSystem):
    """A file system in memory that counts the bytes that are read, and fails on demand."""

    protocol = "counting"
    store: dict[str, Any] = {}  # noqa: RUF012
    pseudo_dirs = [""]  # noqa: RUF012
    n_read = 0
    failure: Exception | None = None
    lock = threading.Lock()

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return str(super()._strip_protocol(path.replace("counting://", "memory://")))

    def cat_file(self, path: str, start: Any = None, end: Any = None, **options: Any) -> bytes:
        if self.failure is not None:
            raise self.failure
        found: bytes = super().cat_file(path, start, end, **options)
        with self.lock:
            type(self).n_read += len(found)
        return found


@pytest.fixture(autouse=True)
def memory() -> Iterator[None]:
    fsspec.register_implementation("counting", CountingFileSystem, clobber=True)
    yield
    for one in (MemoryFileSystem, CountingFileSystem):
        one.store.clear()
        one.pseudo_dirs[:] = [""]
    CountingFileSystem.failure = None


def upload(local: Path, url: str) -> str:
    fsspec.filesystem(url.split("://")[0]).pipe_file(url.split("://")[1], local.read_bytes())
    return url


@pytest.mark.parametrize("name", [*DENSE_FILES, *SPARSE_FILES])
def test_every_format(tmp_path: Path, name: str) -> None:
    ({**DENSE_FILES, **SPARSE_FILES})[name](tmp_path / name)
    url = upload(tmp_path / name, f"memory://data/{name}")
    with open_vectors(tmp_path / name) as expected, open_vectors(url) as vectors:
        assert (vectors.name, vectors.format) == (url, expected.format)
        assert (vectors.shape, vectors.dtype) == (expected.shape, expected.dtype)
        assert vectors.feature_names == expected.feature_names
        rows, its = vectors.load(), expected.load()
        assert np.array_equal(
            rows.toarray() if issparse(rows) else rows, its.toarray() if issparse(its) else its
        )
        some = vectors.read(3, 20)
        assert np.array_equal(
            some.toarray() if issparse(some) else some,
            X[3:20] if not issparse(some) else its[3:20].toarray(),
        )
        if not vectors.is_sparse:
            assert np.array_equal(vectors[[40, 2]], expected[[40, 2]])


@pytest.mark.parametrize("suffix", [".npy", ".fvecs", ".fbin", ".parquet"])
def test_reads_are_ranged(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_file, "AHEAD_BYTES", 1 << 14)
    monkeypatch.setattr(remote_file, "REQUEST_BYTES", 1 << 14)
    rows = np.random.default_rng(0).random((200_000, 8)).astype(np.float32)
    write_vectors(tmp_path / f"a{suffix}", rows)
    url = upload(tmp_path / f"a{suffix}", f"counting://a{suffix}")
    CountingFileSystem.n_read = 0
    with open_vectors(url) as vectors:
        assert vectors.shape == rows.shape
        assert CountingFileSystem.n_read < 200_000
        assert np.array_equal(vectors.read(70_000, 70_100), rows[70_000:70_100])
        # A row group of a Parquet file has 65,536 rows.
        limit = 2_600_000 if suffix == ".parquet" else 300_000
        assert 3200 < CountingFileSystem.n_read < limit
        assert np.array_equal(vectors.load(), rows)  # in several requests at the same time
        assert not vectors.is_mapped


def test_file_urls_are_local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    path = tmp_path / "a b.npy"
    np.save(path, X)
    for url in (path.as_uri(), f"file://{path}", f"file://localhost{path}"):
        with open_vectors(url) as vectors:
            assert vectors.is_mapped
            assert (vectors.name, vectors.shape) == (str(path), X.shape)
    assert len(open_vectors(f"file://{tmp_path}/*.npy")) == len(X)
    with pytest.raises(ValueError, match="names the host 'elsewhere'"):
        local_path("file://elsewhere/x.npy")
    (tmp_path / "a.svm").write_text("1 1:2\n")
    assert read_matrix((tmp_path / "a.svm").as_uri(), "svmlight").matrix.shape == (1, 1)
    monkeypatch.chdir(tmp_path)
    Path("x:").mkdir()
    np.save("x:/a.npy", X)
    assert open_vectors("x://a.npy").is_mapped  # a strange name of a local file


def test_missing_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ImportError("Install s3fs to access S3")

    with monkeypatch.context() as patch:
        patch.setattr(fsspec.core, "url_to_fs", fail)
        with pytest.raises(
            ImportError, match=r"s3://b/x\.npy: fsspec needs another package.*Install s3fs"
        ):
            open_vectors("s3://key:secret@b/x.npy")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ImportError, match=r"memory://x\.npy.*pip install '\.\[remote\]'"):
        open_vectors("memory://x.npy")


def test_several_remote_files(tmp_path: Path) -> None:
    for i, rows in enumerate(np.array_split(X, 3)):
        np.save(tmp_path / f"{i}.npy", rows)
        upload(tmp_path / f"{i}.npy", f"memory://data/emb-{i}.npy")
    fsspec.filesystem("memory").pipe_file("/data/_SUCCESS", b"")
    urls = [f"memory://data/emb-{i}.npy" for i in range(3)]
    for given in ("memory://data/emb-*.npy", "memory://data", "memory://data/", urls):
        assert list_files(given) == urls
        with open_vectors(given) as vectors:
            assert np.array_equal(vectors.load(), X)
            assert [file.name for file in vectors.files] == urls
    with pytest.raises(FileNotFoundError, match=r"memory://data/\*\.parquet matches no file"):
        open_vectors("memory://data/*.parquet")
    with pytest.raises(FileNotFoundError, match=r"without files of vectors of format 'csv'"):
        open_vectors("memory://data", format="csv")
    np.save(tmp_path / "wrong.npy", X[:, :2])
    upload(tmp_path / "wrong.npy", "memory://data/emb-9.npy")
    with pytest.raises(DataFormatError, match=r"memory://data/emb-9\.npy: The rows have 2 values"):
        open_vectors("memory://data/*.npy")


def test_shards(tmp_path: Path) -> None:
    for i, rows in enumerate(np.array_split(X, 2)):
        write_vectors(tmp_path / f"{i}.parquet", rows)
        upload(tmp_path / f"{i}.parquet", f"memory://data/{i}.parquet")
    save_npz(tmp_path / "a.npz", csr_array(X))
    shards = open_shards("memory://data/*.parquet", max_shard_bytes=400)
    parts = pickle.loads(pickle.dumps(shards)).parts
    assert np.array_equal(np.concatenate([part.read() for part in parts]), X)
    assert shards.names[0] == "memory://data/0.parquet[0:12]"
    sparse = open_shards(upload(tmp_path / "a.npz", "memory://a.npz"))
    assert (sparse.shape, sparse.is_sparse) == (X.shape, True)
    fsspec.filesystem("memory").rm("/data/1.parquet")
    with pytest.raises(DataFormatError, match=r"memory://data/1\.parquet: The file is missing"):
        parts[-1].read()


def test_streamed_fit_of_remote_files(tmp_path: Path) -> None:
    rows = blobs(70_000, 64, 5)[0].astype(np.float32)
    for i, some in enumerate(np.array_split(rows, 3)):
        np.save(tmp_path / f"{i}.npy", some)
        upload(tmp_path / f"{i}.npy", f"memory://{i}.npy")
    model = BoostKMeans(5, random_state=0, quality="fast", max_iter=2)
    with open_vectors(f"{tmp_path}/*.npy", max_memory="272MiB") as vectors:
        expected = model.fit(vectors).labels_
    with open_vectors("memory://*.npy", max_memory="272MiB") as vectors:
        assert np.array_equal(model.fit(vectors).labels_, expected)


@pytest.mark.parametrize("suffix", [".npy", ".parquet", ".fvecs"])
def test_modified_files(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_file, "CHECK_SECONDS", 0.0)
    write_vectors(tmp_path / f"a{suffix}", X)
    url = upload(tmp_path / f"a{suffix}", f"memory://a{suffix}")
    with open_vectors(url) as vectors:
        write_vectors(tmp_path / f"b{suffix}", X[:40])
        fsspec.filesystem("memory").pipe_file(f"a{suffix}", (tmp_path / f"b{suffix}").read_bytes())
        with pytest.raises(DataFormatError, match=rf"a{suffix}: The file was modified"):
            vectors.read(0, 50)
    content = (tmp_path / f"a{suffix}").read_bytes()
    fsspec.filesystem("memory").pipe_file(f"a{suffix}", content[:-5])
    with pytest.raises(DataFormatError, match=rf"memory://a{suffix}"):
        open_vectors(url)


def test_truncated_during_a_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_file, "CHECK_SECONDS", 1e9)  # the server is never asked again
    np.save(tmp_path / "a.npy", X)
    url = upload(tmp_path / "a.npy", "memory://a.npy")
    with open_vectors(url) as vectors:
        fsspec.filesystem("memory").pipe_file("a.npy", (tmp_path / "a.npy").read_bytes()[:500])
        with pytest.raises(DataFormatError, match=r"memory://a\.npy: byte 500: The file ends here"):
            vectors.read(0, 50)


def test_missing_files() -> None:
    with pytest.raises(FileNotFoundError) as error:
        open_vectors("memory://me:secret@host/missing.npy")
    assert "secret" not in str(error.value)
    assert "missing.npy" in str(error.value)


@pytest.mark.parametrize("suffix", [".npy", ".parquet", ".csv", ".npy.gz"])
def test_failures_of_a_driver_show_no_password(tmp_path: Path, suffix: str) -> None:
    url = f"counting://me:s3cr3t@host/a{suffix}"
    if suffix == ".csv":
        np.savetxt(tmp_path / "a.csv", X, delimiter=",")
    else:
        write_vectors(tmp_path / f"a{suffix.removesuffix('.gz')}", X)
    content = (tmp_path / f"a{suffix.removesuffix('.gz')}").read_bytes()
    content = gzip.compress(content) if suffix.endswith(".gz") else content
    fsspec.filesystem("counting").pipe_file(f"/me:s3cr3t@host/a{suffix}", content)
    with open_vectors(url) as vectors, open_vectors(url) as not_read:
        assert vectors.name == f"counting://host/a{suffix}"
        shown = [
            repr(vectors),
            repr(vectors.files),
            repr(inspect_files(url)),
            repr(open_shards(url).parts),
        ]
        shown += open_shards(url, max_shard_bytes=99).names
        assert "s3cr3t" not in repr(ByteSource(url)) + repr(RemotePath(url))
        CountingFileSystem.failure = RuntimeError(f"403 Forbidden for url {url}?sig=abc, key s3cr3t")
        with pytest.raises(OSError, match=r"Reading failed \(RuntimeError: 403 Forbidden") as error:
            not_read.load()
        assert error.value.__suppress_context__
        assert not isinstance(error.value, DataFormatError)
        shown.append(str(error.value))
    for text in shown:
        assert f"counting://host/a{suffix}" in text
        assert not any(secret in text for secret in ("s3cr3t", "me:", "abc"))


ESCAPE = "\x1b[31m"


def first_row(url: str) -> Any:
    with open_vectors(url) as vectors:
        return vectors.read(0, 1)


@pytest.mark.parametrize(
    "url",
    [
        f"ftp://localhost:1/{ESCAPE}x.npy",
        f"zip://{ESCAPE}x.npy::no-such.zip",
        f"http://localhost:1/{ESCAPE}x.npy",
        f"s3://{ESCAPE}b/x.npy",
        f"foo://{ESCAPE}x.npy",
        f"memory://{ESCAPE}missing.npy",
        f"memory://{ESCAPE}*.npy",
        f"counting://{ESCAPE}short.npy",
        f"counting://{ESCAPE}failing.npy",
    ],
)
def test_messages_about_urls_escape_control_characters(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    """Names can come from the listing of a bucket, and texts of errors from a server."""
    for name in ("short", "failing"):
        fsspec.filesystem("counting").pipe_file(f"/{ESCAPE}{name}.npy", b"\x93NUMPY")
    if "failing" in url:
        CountingFileSystem.failure = RuntimeError(f"403 {ESCAPE}")
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises((OSError, ValueError, ImportError)) as error:
        first_row(url)
    assert str(error.value).isprintable()
    assert "\\x1b" in str(error.value)


def test_missing_fsspec_escapes_control_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ImportError) as error:
        open_vectors(f"memory://{ESCAPE}x.npy")
    assert str(error.value).isprintable()


def test_server_that_sends_the_whole_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "a.npy", X)
    url = upload(tmp_path / "a.npy", f"counting://{ESCAPE}a.npy")
    with open_vectors(url) as vectors:
        monkeypatch.setattr(
            CountingFileSystem, "cat_file", lambda self, path, start, end: self.store[path].getvalue()
        )
        with pytest.raises(OSError, match="does not support reading parts of a file") as error:
            vectors.read(0, 3)
    assert str(error.value).isprintable()


def test_unknown_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def info(self: Any, path: str, **options: Any) -> Any:
        return {**MemoryFileSystem.info(self, path, **options), "size": None}

    monkeypatch.setattr(CountingFileSystem, "info", info)
    write_vectors(tmp_path / "a.npy", X)
    np.savetxt(tmp_path / "a.csv", X, delimiter=",")
    for name in ("a.npy", "a.csv"):
        with open_vectors(upload(tmp_path / name, f"counting://{name}")) as vectors:
            assert np.array_equal(vectors.load(), X)


def test_names_of_urls() -> None:
    assert is_url("s3://bucket/x.npy")
    assert is_url("simplecache::s3://bucket/x.npy")
    assert not any(map(is_url, ("x.npy", "/a/b:c/x.npy", "file:///x.npy", "-", "C:/x.npy")))
    assert public_name("simplecache::sftp://me:pw@host/x.npy") == "simplecache::sftp://host/x.npy"
    assert public_name("https://host/x.npy?X-Amz-Signature=abc") == "https://host/x.npy"
    assert public_name("me:pw@host/x?.npy") == "me:pw@host/x?.npy"  # a local file
