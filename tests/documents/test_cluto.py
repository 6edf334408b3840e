"""Reading of CLUTO's `.mat` files: values, and errors that name the place in malformed files."""

import gzip
import re
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import random_array

from boostkmeans import DataFormatError
from boostkmeans.documents import read_corpus
from boostkmeans.io._readers import number_lines
from boostkmeans.io._readers.cluto import read_cluto

SPARSE = b"3 5 4\n1 2.5 4 1\n\n2 3 5 10\n"
SPARSE_VALUES = [[2.5, 0, 0, 1, 0], [0, 0, 0, 0, 0], [0, 3, 0, 0, 10]]
DENSE = b"2 3\n1 0 2.5\n0 -4e1 0\n"
DENSE_VALUES = [[1, 0, 2.5], [0, -40, 0]]


def as_cluto(matrix: np.ndarray) -> bytes:
    lines = [" ".join(f"{j + 1} {row[j]:.17g}" for j in np.flatnonzero(row)) for row in matrix]
    header = f"{matrix.shape[0]} {matrix.shape[1]} {np.count_nonzero(matrix)}"
    return ("\n".join([header, *lines]) + "\n").encode()


def test_reads_sparse_and_dense_matrices() -> None:
    assert read_cluto("a.mat", SPARSE).toarray().tolist() == SPARSE_VALUES
    assert read_cluto("a.mat", DENSE).toarray().tolist() == DENSE_VALUES


@pytest.mark.parametrize(
    "changed",
    [
        SPARSE.replace(b"\n", b"\r\n"),
        SPARSE.replace(b" ", b"  \t"),
        SPARSE + b"\n \n\n",  # blank lines at the end
        SPARSE.replace(b"1 2.5", b" +1 25e-1 "),
        b"3 5 4\n1 2.5 4 1\n\n2 3 5 10 \n",
    ],
)
def test_accepts_other_white_space_and_number_formats(changed: bytes) -> None:
    assert read_cluto("a.mat", changed).toarray().tolist() == SPARSE_VALUES


@pytest.mark.parametrize("block", [1, 7, 64, 1 << 22])
def test_result_does_not_depend_on_block_length(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(number_lines, "BLOCK_BYTES", block)
    for seed in range(5):
        matrix = random_array((30, 20), density=0.1, rng=np.random.default_rng(seed)).toarray()
        assert np.array_equal(read_cluto("a.mat", as_cluto(matrix)).toarray(), matrix), seed
    assert read_cluto("a.mat", DENSE).toarray().tolist() == DENSE_VALUES
    with pytest.raises(DataFormatError, match="line 4: 'x' is not a number"):
        read_cluto("a.mat", SPARSE.replace(b"5 10", b"5 x"))


@pytest.mark.parametrize(
    ("content", "place", "what"),
    [
        (b"3 5 4\n1 2 6 1\n\n2 3 5 10\n", "line 2", "Expected a column from 1 to 5. Got 6"),
        (b"3 5 4\n1 2 4 1\n\n0 3 5 10\n", "line 4", "from 1 to 5. Got 0"),
        (b"3 5 4\n1 2 4 1\n\n-2 3 5 10\n", "line 4", "from 1 to 5. Got -2"),
        (b"3 5 4\n1 2 4.5 1\n\n2 3 5 10\n", "line 2", "from 1 to 5. Got 4.5"),
        (b"3 5 4\n1 2.25 4 1\n\n2 3 5\n", "line 4", "pairs of column and value"),
        (b"3 5 4\n1 2 4 one\n\n2 3 5 10\n", "line 2", "'one' is not a number"),
        (b"3 5 4\n1 2 4 1_0\n\n2 3 5 10\n", "line 2", "'1_0' is not a number"),
        (b"3 5 4\n1 2 4 0x1\n\n2 3 5 10\n", "line 2", "'0x1' is not a number"),
        (b"3 5 4\n1 2 4 1,5\n\n2 3 5 10\n", "line 2", "'1,5' is not a number"),
        (b"3 5 4\n1 2 4 \x00\n\n2 3 5 10\n", "line 2", "not a number"),
        (b"3 5 4\n1 2 4 1\n\n2 nan 5 10\n", "line 4", "not a finite number"),
        (b"3 5 4\n1 2 4 1\n\n2 1e999 5 10\n", "line 4", "not a finite number"),
        (b"4 5 4\n1 2 4 1\n\n2 3 5 10\n", "4 rows", "only 3 follow"),
        (b"3 5 3\n1 2 4 1\n\n2 3 5 10\n", "3 non-zeros", "have 4"),
        (b"3 5 5\n1 2 4 1\n\n2 3 5 10\n", "5 non-zeros", "at least 20 bytes"),
        (b"2 5 4\n1 2 4 1\n\n\n2 3 5 10\n", "line 5", "more rows than the 2"),
        (b"2 3\n1 0 2.5\n0 -4\n", "line 3", "Expected 3 values"),
        (b"2 3\n1 0 2.5\n0 -4 1 1\n", "line 3", "Got 4"),
        (b"2 3\n1 0 2.5\n0 -4 1\n1 1 1\n", "line 4", "more rows"),
        (SPARSE[:-1], "truncated", "add a line break"),
        (b"", "line 1", "rows columns non-zeros"),
        (b"\n", "line 1", "rows columns non-zeros"),
        (b"3\n", "line 1", "rows columns non-zeros"),
        (b"3 5 4 1\n", "line 1", "rows columns non-zeros"),
        (b"\xff\xfe\x00\n", "line 1", "rows columns non-zeros"),
        (b"MATLAB 5.0 MAT-file, Platform\n", "line 1", "MATLAB"),
    ],
)
def test_error_names_the_place(content: bytes, place: str, what: str) -> None:
    with pytest.raises(DataFormatError, match=re.escape(what)) as raised:
        read_cluto("some.mat", content)
    assert "some.mat" in str(raised.value)
    assert place in str(raised.value)


@pytest.mark.parametrize("content", [SPARSE, DENSE])
@pytest.mark.parametrize(
    "number", ["0", "-1", str(2**31), str(2**63), str(10**60), "9" * 5000, "x", "1e3", "1.0"]
)
def test_rejects_invalid_header_without_allocating_memory(content: bytes, number: str) -> None:
    header, _, rest = content.partition(b"\n")
    for i, original in enumerate(header.split()):
        tokens = header.split()
        tokens[i] = number.encode()
        changed = b" ".join(tokens) + b"\n" + rest
        tracemalloc.start()
        with pytest.raises(DataFormatError, match=r"a\.mat"):
            read_cluto("a.mat", changed)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1_000_000, (original, number)


@pytest.mark.parametrize(("content", "values"), [(SPARSE, SPARSE_VALUES), (DENSE, DENSE_VALUES)])
def test_rejects_truncated_file(content: bytes, values: list[list[float]]) -> None:
    for length in range(len(content)):
        with pytest.raises(DataFormatError, match=r"a\.mat"):
            read_cluto("a.mat", content[:length])
    assert read_cluto("a.mat", content).toarray().tolist() == values


def test_changed_byte_gives_error_or_finite_matrix() -> None:
    for at in range(len(SPARSE)):
        for byte in b"\x00\n 09.-e#\xff":
            changed = SPARSE[:at] + bytes([byte]) + SPARSE[at + 1 :]
            try:
                matrix = read_cluto("a.mat", changed)
            except DataFormatError:
                continue
            assert matrix.shape[0] * matrix.shape[1] < 1000
            assert np.isfinite(matrix.data).all()


def test_reads_names_and_classes_from_side_files(tmp_path: Path) -> None:
    (tmp_path / "a.mat").write_bytes(SPARSE)
    plain = read_corpus(tmp_path / "a.mat")
    assert (plain.kind, plain.terms, plain.classes) == ("matrix", None, None)
    assert plain.names == ["row 1", "row 2", "row 3"]
    (tmp_path / "a.mat.clabel").write_text("ant\nbee\ncat\ndog\nemu\n")
    (tmp_path / "a.rclass").write_text("x\ny\nx\n\n")
    (tmp_path / "a.mat.rlabel").write_bytes(b"one\ntwo\nthr\xe9\xe9")
    corpus = read_corpus(tmp_path / "a.mat")
    assert corpus.terms == ["ant", "bee", "cat", "dog", "emu"]
    assert corpus.classes == ["x", "y", "x"]
    assert corpus.names == ["one", "two", r"thr\xe9\xe9"]
    (tmp_path / "a.rclass").write_text("x\ny\n")
    with pytest.raises(
        DataFormatError, match=r"a\.rclass: The file has 2 lines, but .*a\.mat has 3 rows"
    ):
        read_corpus(tmp_path / "a.mat")


def test_reads_compressed_file(tmp_path: Path) -> None:
    path = tmp_path / "a.mat.gz"
    path.write_bytes(gzip.compress(SPARSE))
    (tmp_path / "a.mat.clabel").write_text("ant\nbee\ncat\ndog\nemu\n")
    corpus = read_corpus(path)
    assert corpus.matrix is not None
    assert corpus.matrix.toarray().tolist() == SPARSE_VALUES
    assert corpus.terms == ["ant", "bee", "cat", "dog", "emu"]
    path.write_bytes(gzip.compress(SPARSE)[:-9])
    with pytest.raises(DataFormatError, match=r"a\.mat\.gz: The compressed file is damaged"):
        read_corpus(path)
