"""CLUTO's .mat format: valid files, and malformed files with errors that name the place."""

import re
import tracemalloc

import numpy as np
import pytest
from scipy.sparse import random_array

from boostkmeans import DataFormatError
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
def test_white_space_and_signs_are_optional(changed: bytes) -> None:
    assert read_cluto("a.mat", changed).toarray().tolist() == SPARSE_VALUES


@pytest.mark.parametrize("block", [1, 7, 64, 1 << 22])
def test_block_size_does_not_matter(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(number_lines, "BLOCK_BYTES", block)
    for seed in range(5):
        matrix = random_array((30, 20), density=0.1, random_state=np.random.default_rng(seed)).toarray()
        assert np.array_equal(read_cluto("a.mat", as_cluto(matrix)).toarray(), matrix), seed
    assert read_cluto("a.mat", DENSE).toarray().tolist() == DENSE_VALUES
    with pytest.raises(DataFormatError, match="line 4: 'x' is not a number"):
        read_cluto("a.mat", SPARSE.replace(b"5 10", b"5 x"))


@pytest.mark.parametrize(
    ("content", "place", "problem"),
    [
        (b"3 5 4\n1 2 6 1\n\n2 3 5 10\n", "line 2", "Expected a column from 1 to 5. Got 6."),
        (b"3 5 4\n1 2 4 1\n\n0 3 5 10\n", "line 4", "Got 0."),
        (b"3 5 4\n1 2 4 1\n\n-2 3 5 10\n", "line 4", "Got -2."),
        (b"3 5 4\n1 2 4.5 1\n\n2 3 5 10\n", "line 2", "Got 4.5."),
        (b"3 5 4\n1 2.25 4 1\n\n2 3 5\n", "line 4", "pairs of column and value"),
        (b"3 5 4\n1 2 4 one\n\n2 3 5 10\n", "line 2", "'one' is not a number"),
        (b"3 5 4\n1 2 4 1_0\n\n2 3 5 10\n", "line 2", "'1_0' is not a number"),
        (b"3 5 4\n1 2 4 0x1\n\n2 3 5 10\n", "line 2", "'0x1' is not a number"),
        (b"3 5 4\n1 2 4 1,5\n\n2 3 5 10\n", "line 2", "'1,5' is not a number"),
        (b"3 5 4\n1 2 4 \x00\n\n2 3 5 10\n", "line 2", "not a number"),
        (b"3 5 4\n1 2 4 1\n\n2 nan 5 10\n", "line 4", "not a finite number"),
        (b"3 5 4\n1 2 4 1\n\n2 1e999 5 10\n", "line 4", "not a finite number"),
        (b"4 5 4\n1 2 4 1\n\n2 3 5 10\n", "line 1", "declares 4 rows, but only 3 follow"),
        (b"3 5 3\n1 2 4 1\n\n2 3 5 10\n", "line 1", "declares 3 non-zeros, but the rows have 4"),
        (
            b"3 5 5\n1 2 4 1\n\n2 3 5 10\n",
            "line 1",
            "5 non-zeros, which need at least 20 bytes",
        ),
        (b"2 5 4\n1 2 4 1\n\n\n2 3 5 10\n", "line 5", "more rows than the 2"),
        (b"2 3\n1 0 2.5\n0 -4\n", "line 3", "Expected 3 values"),
        (b"2 3\n1 0 2.5\n0 -4 1 1\n", "line 3", "Got 4."),
        (b"2 3\n1 0 2.5\n0 -4 1\n1 1 1\n", "line 4", "more rows"),
        (SPARSE[:-1], "", "add a line break"),
        (b"", "line 1", "rows columns non-zeros"),
        (b"\n", "line 1", "rows columns non-zeros"),
        (b"3\n", "line 1", "rows columns non-zeros"),
        (b"3 5 4 1\n", "line 1", "rows columns non-zeros"),
        (b"\xff\xfe\x00\n", "line 1", "rows columns non-zeros"),
        (b"MATLAB 5.0 MAT-file, Platform\n", "line 1", "MATLAB"),
    ],
)
def test_errors_name_the_line(content: bytes, place: str, problem: str) -> None:
    with pytest.raises(DataFormatError, match=re.escape(problem)) as raised:
        read_cluto("some.mat", content)
    assert (raised.value.file, raised.value.place) == ("some.mat", place)


@pytest.mark.parametrize("content", [SPARSE, DENSE])
@pytest.mark.parametrize(
    "number", ["0", "-1", str(2**31), str(2**63), str(10**60), "9" * 5000, "x", "1e3", "1.0"]
)
def test_forged_header_allocates_no_memory(content: bytes, number: str) -> None:
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
def test_rejects_every_truncation(content: bytes, values: list[list[float]]) -> None:
    for length in range(len(content)):
        with pytest.raises(DataFormatError, match=r"a\.mat"):
            read_cluto("a.mat", content[:length])
    assert read_cluto("a.mat", content).toarray().tolist() == values


def test_every_changed_byte_is_rejected_or_harmless() -> None:
    """Changed content raises an error, or gives a small matrix of finite numbers."""
    for at in range(len(SPARSE)):
        for byte in b"\x00\n 09.-e#\xff":
            changed = SPARSE[:at] + bytes([byte]) + SPARSE[at + 1 :]
            try:
                matrix = read_cluto("a.mat", changed)
            except DataFormatError:
                continue
            assert matrix.shape[0] * matrix.shape[1] < 1000
            assert np.isfinite(matrix.data).all()
