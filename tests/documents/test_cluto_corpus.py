"""Corpora in CLUTO's .mat format, with the names of rows, columns and classes next to it."""

import gzip
from pathlib import Path

import pytest

from boostkmeans import DataFormatError
from boostkmeans.documents import read_corpus

SPARSE = b"3 5 4\n1 2.5 4 1\n\n2 3 5 10\n"
SPARSE_VALUES = [[2.5, 0, 0, 1, 0], [0, 0, 0, 0, 0], [0, 3, 0, 0, 10]]


def test_names_next_to_the_matrix(tmp_path: Path) -> None:
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


def test_compressed_matrix(tmp_path: Path) -> None:
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
