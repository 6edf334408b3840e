"""JSON Lines with vectors."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boostkmeans import DataFormatError
from boostkmeans.io import open_vectors
from boostkmeans.io._readers import json_lines, text_lines

ROWS = np.random.default_rng(0).normal(size=(30, 3))


def write(path: Path, records: list[Any]) -> Path:
    text = "\n\n".join(json.dumps(one) for one in records)
    content = text.encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize("name", ["x.jsonl", "x.ndjson", "x.jsonl.gz"])
def test_fields_of_lists(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "PIECE_BYTES", 100)  # several pieces
    records = [{"id": f"é {i}", "text": "a", "v": row} for i, row in enumerate(ROWS.tolist())]
    path = write(tmp_path / name, records)
    with open_vectors(path, key="v", id_column="id") as vectors:
        np.testing.assert_array_equal(vectors.load(), ROWS)
        assert vectors.ids.tolist() == [one["id"] for one in records]
        assert vectors.feature_names is None
        np.testing.assert_array_equal(vectors.read(7, 11), ROWS[7:11])
    with open_vectors(path) as vectors:  # the only field of a list
        np.testing.assert_array_equal(vectors.load(), ROWS)


def test_fields_of_numbers_and_plain_lists(tmp_path: Path) -> None:
    records = [dict(zip("abc", row, strict=True)) for row in ROWS.tolist()]
    with open_vectors(write(tmp_path / "n.jsonl", records)) as vectors:
        np.testing.assert_array_equal(vectors.load(), ROWS)
        assert vectors.feature_names == ["a", "b", "c"]
    with open_vectors(write(tmp_path / "l.jsonl", ROWS.tolist())) as vectors:
        np.testing.assert_array_equal(vectors.load(), ROWS)
    records = [{"id": 10**15 + i, **one} for i, one in enumerate(records)]
    with open_vectors(write(tmp_path / "i.jsonl", records), id_column="id") as vectors:
        assert vectors.ids.dtype == np.int64
        assert vectors.ids.tolist() == [one["id"] for one in records]


V = {"id": "a", "v": [1, 2]}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("", "no rows"),
        ("{", "line 1: The line is not JSON"),
        ("3", "line 1: Expected an object or a list. Got 3"),
        ('{"v": []}', "line 1: The list is empty"),
        ('{"v": [1], "w": [2]}', "line 1: Several fields hold lists: 'v', 'w'"),
        ('{"v": [1, 2]}\n{"v": [1]}', "line 2: Expected 2 numbers, as in the first line. Got 1 values"),
        ('{"v": [1, 2]}\n{"w": [1, 2]}', "line 2: The file has no field 'v'. Available: 'w'"),
        ('{"v": [1, 2]}\n[1, 2]', "line 2: Expected an object"),
        ('{"v": [1, 2]}\n{"v": null}', "line 2: Expected 2 numbers.* Got None"),
        ('{"v": [1, 2]}\n{"v": [1, "2"]}', "line 2: Value 2 is '2', not a number"),
        ('{"v": [1, true]}', "line 1: Value 2 is True, not a number"),
        ('{"v": [1, NaN]}', "line 1: The line is not JSON"),
        ('{"v": [1, 1e999]}', "line 1: The line is not JSON"),
        ('{"v": [1, 1' + "0" * 400 + "]}", "line 1: A number is too large"),
        ('{"a": 1, "b": "x"}', "line 1: Value 2 of 'b' is 'x', not a number.*key"),
        ("[1, 2]\n[1]", "line 2: Expected 2 numbers"),
        ("[" * 100_000, "line 1: The line is not JSON"),
        ('{"v": [1], "v": [2]}', "two fields of the same name"),
    ],
)
def test_malformed_lines(tmp_path: Path, lines: str, message: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(lines)
    with pytest.raises(DataFormatError, match=message) as caught:
        open_vectors(path).load()
    assert len(str(caught.value)) < 600 + len(str(path))


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"v": [1, 2]}, "line 3: Expected an id in 'id'.* Got None"),
        ({"v": [1, 2], "id": 3}, "line 3: Expected an id.* Got 3"),
        ({"v": [1, 2], "id": ""}, "line 3: Expected an id.* Got ''"),
        ({"v": [1, 2], "id": "\ud800"}, "line 3: The id is not valid text"),
    ],
)
def test_malformed_ids(tmp_path: Path, second: Any, message: str) -> None:
    path = write(tmp_path / "x.jsonl", [V, second])
    with pytest.raises(DataFormatError, match=message):
        open_vectors(path, id_column="id").load()
    with pytest.raises(DataFormatError, match="no field 'key'"):
        open_vectors(path, id_column="key")


def test_blank_lines_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_lines, "MAX_BLANK_LINES", 100)
    for name, row in (("x.jsonl", "[1, 2]"), ("x.csv", "1,2")):
        (tmp_path / name).write_text("\n" * 99 + row + "\n\n")
        assert open_vectors(tmp_path / name).shape == (1, 2)
        (tmp_path / name).write_text("\n" * 101 + row)
        with pytest.raises(DataFormatError, match="line 101: The file has more than 100 blank lines"):
            open_vectors(tmp_path / name)


def test_standard_input_and_folders(tmp_path: Path) -> None:
    write(tmp_path / "b.jsonl", ROWS[15:].tolist())
    write(tmp_path / "a.jsonl", ROWS[:15].tolist())
    with open_vectors(tmp_path) as vectors:
        np.testing.assert_array_equal(vectors.load(), ROWS)
    np.save(tmp_path / "c.npy", ROWS)  # documents beside vectors are ignored
    with open_vectors(tmp_path) as vectors:
        assert vectors.format == "npy"
    with open_vectors(tmp_path, format="jsonl") as vectors:
        assert vectors.shape == (30, 3)
