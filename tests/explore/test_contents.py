"""Contents of rows: texts, tables and thumbnails, within a budget."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from explored import blobs, payload_of
from PIL import Image

from boostkmeans import BoostKMeans, ParameterError
from boostkmeans._runtime.errors import ParameterConflictError
from boostkmeans._runtime.progress import ignore_progress
from boostkmeans.explore import page
from boostkmeans.explore._contents import search_text
from boostkmeans.explore._contents.search_text import pack_texts
from boostkmeans.explore._contents.table import Table
from boostkmeans.explore._contents.thumbnails import thumbnails
from boostkmeans.explore._packing import unpack

X = blobs(60, 3, 4)
MODEL = BoostKMeans(4, random_state=0).fit(X)
COLUMNS: dict[str, list[Any]] = {
    "price": [float(label) for label in MODEL.labels_],
    "colour": ["red" if label == 2 else "blue" for label in MODEL.labels_],
    "id": [f"row {i}" for i in range(60)],
    "missing": [None if i % 2 else i for i in range(60)],
}
COORDINATES = X[:, :2]


@pytest.mark.parametrize("convert", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_tables_of_all_libraries(convert: object) -> None:
    table = convert(COLUMNS)  # type: ignore[operator]
    shown = page(MODEL, X, table=table, coordinates=COORDINATES)
    found = payload_of(shown)
    assert (found["kind"], found["columns"]) == ("table", ["price", "colour", "id", "missing"])
    assert found["rows"]["values"][3][:3] == [f"{MODEL.labels_[3]:g}", COLUMNS["colour"][3], "row 3"]
    assert [cells[3] for cells in found["rows"]["values"][:3]] == ["0", "", "2"]
    names = dict(enumerate(shown.names))
    assert "colour red" in names[2]
    assert "high price" in names[3]
    summary = dict(found["clusters"][2]["columns"])
    size, share = MODEL.cluster_sizes_[2], MODEL.cluster_sizes_[2] / 60
    assert summary["colour"] == f"red: 100% (all rows: {share:.0%})"
    assert size > 0
    assert "id" not in summary


def test_ids_of_all_rows_within_the_budget() -> None:
    ids = [f"a\n{i}" for i in range(60)]
    few = page(MODEL, X, ids=ids, coordinates=COORDINATES, max_bytes=2000)
    found = payload_of(few)
    assert len(found["rows"]["id"]) < 60
    assert unpack(found["search"]["id"]).tobytes().decode() == "\n".join(f"a {i}" for i in range(60))
    none = page(MODEL, X, ids=ids, coordinates=COORDINATES, max_bytes=200)
    assert payload_of(none)["search"] is None
    assert any("only the ids" in sentence for sentence in none.omitted)
    everything = page(MODEL, X, ids=ids, coordinates=COORDINATES)
    assert payload_of(everything)["search"] is None


def test_cells_of_pandas() -> None:
    frame = pd.DataFrame(
        {
            "date": pd.to_datetime(["2020-01-31", None, "2021-02-03"]),
            "span": pd.to_timedelta(["5 days", None, "1 hour"]),
            "whole": pd.array([1234567, None, 3], dtype="Int64"),
            "text": pd.array(["a", None, "c"], dtype="string"),
            "number": [1234567.0, 0.5, float("inf")],
            "list": [np.array([1, 2]), None, [3]],
        }
    )
    table = Table(frame, 3)
    assert table.cells(0) == ["2020-01-31", "5 days 00:00:00", "1234567", "a", "1234567", "[1 2]"]
    assert table.cells(1) == ["", "", "", "", "0.5", ""]
    assert table.cells(2)[4:] == ["inf", "[3]"]
    assert table.summaries(np.array([0, 0, 1]), 2)[0]


def test_columns_with_equal_names_stay_apart() -> None:
    frame = pd.DataFrame([[1, "x", 3, 4], [5, "y", 7, 8]], columns=["a", "b", "a", 1])
    for table in (frame, pa.table([frame.iloc[:, i] for i in range(4)], names=["a", "b", "a", "1"])):
        found = Table(table, 2)
        assert found.names == ["a", "b", "a (2)", "1"]
        assert found.cells(1) == ["5", "y", "7", "8"]
    assert Table({1: [2], "1": [3], "1 (2)": [4]}, 1).names == ["1", "1 (2)", "1 (2) (2)"]


def test_table_of_other_types_is_refused() -> None:
    with pytest.raises(ParameterError, match="data frame"):
        Table([1, 2], 2)
    with pytest.raises(ParameterConflictError, match="no columns"):
        Table({}, 2)


def test_texts_within_the_budget() -> None:
    texts = [f"text {i} " + "é" * 100 for i in range(60)]
    small = page(MODEL, X, texts=texts, coordinates=COORDINATES, max_bytes=3000)
    found = payload_of(small)
    assert 0 < len(found["rows"]["row"]) < 15
    assert sum(len(text.encode()) for text in found["rows"]["text"]) < 3000
    assert "4 of 60" not in small.omitted[0]
    assert f"{len(found['rows']['row'])} of 60 rows" in small.omitted[0]
    assert "0.003 MB" in small.omitted[1]
    assert "search covers names" in small.omitted[2]
    assert found["search"] is None
    # All clusters have their most central row before any of them has a second one.
    assert all(len(cluster["central"]) >= 1 for cluster in found["clusters"])
    present = set(found["rows"]["row"])
    for cluster in found["clusters"]:
        for kind in ("central", "borderline", "outlying"):
            assert set(cluster[kind]) <= present


@pytest.mark.parametrize(
    "text",
    ["<" * 100, 'a "quote"\n' * 10, "\x01" * 60, "\u2028é" * 40],
    ids=["markup", "quotes", "control", "line separator"],
)
def test_budget_counts_the_bytes_of_the_file(text: str) -> None:
    """Escaped characters take up to six bytes."""
    sizes = {}
    for limit in (0, 4000, 8000):
        shown = page(MODEL, X, texts=[text] * 60, coordinates=COORDINATES, max_bytes=limit)
        sizes[limit] = len(shown.html.encode())
    for limit in (4000, 8000):
        assert 0.75 * limit < sizes[limit] - sizes[0] <= limit + 200


def test_everything_fits() -> None:
    texts = [f"text {i}\nsecond\tline" for i in range(60)]
    shown = page(MODEL, X, texts=texts, ids=range(60), coordinates=COORDINATES)
    found = payload_of(shown)
    assert shown.omitted == []
    assert found["rows"]["row"] == list(range(60))
    assert found["rows"]["text"] == texts
    assert found["rows"]["id"][7] == "7"
    lines = unpack(found["search"]["text"]).tobytes().decode().split("\n")
    assert lines == [f"text {i} second line" for i in range(60)]


def test_long_texts_are_cut() -> None:
    shown = page(MODEL, X, texts=["a" * 5000, *["b"] * 59], coordinates=COORDINATES)
    found = payload_of(shown)
    assert found["rows"]["text"][0] == "a" * 999 + "…"
    assert any("1 texts are cut" in one for one in shown.omitted) or "1,000 characters" in str(
        shown.omitted
    )


def test_search_text_shrinks_to_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_text, "SAMPLE_TEXTS", 100)
    rng = np.random.default_rng(0)
    texts = ["".join(map(chr, rng.integers(97, 123, size=300))) for _ in range(400)]
    sizes = {}
    for budget in (100_000, 50_000, 20_000, 5_000):
        packed, omitted = pack_texts(texts, budget)
        sizes[budget] = None if packed is None else packed["length"]
        assert packed is None or len(packed["data"]) <= budget
        assert len(omitted) == 1
    assert [None if one is None else (one + 1) // 400 - 1 for one in sizes.values()] == [
        202, 102, 52, None,
    ]  # fmt: skip


def draw(path: Path, size: tuple[int, int], **options: object) -> Path:
    image = Image.new("RGB", size, "red")
    image.paste((0, 0, 255), (0, 0, size[0] // 2, size[1]))
    image.save(path, **options)  # type: ignore[arg-type]
    return path


def test_thumbnails_are_upright_and_small(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by 90 degrees
    paths = [
        draw(tmp_path / "plain.png", (400, 200)),
        draw(tmp_path / "turned.jpg", (400, 200), exif=exif),
    ]
    Image.new("RGBA", (50, 50), (0, 0, 0, 0)).save(tmp_path / "clear.png")
    sizes = []
    for one in thumbnails([*paths, tmp_path / "clear.png"], 2, ignore_progress):
        assert one.fault == ""
        assert one.uri.startswith("data:image/jpeg;base64,")
        sizes.append(decoded(one.uri).size)
    assert sizes == [(96, 48), (48, 96), (50, 50)]


def decoded(uri: str) -> Image.Image:
    import base64
    import io

    return Image.open(io.BytesIO(base64.b64decode(uri.split(",")[1])))


def test_images_that_cannot_be_decoded_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = draw(tmp_path / "good.png", (20, 20))
    (tmp_path / "<b>bad.png").write_bytes(b"not an image")
    monkeypatch.setattr("boostkmeans.images._decoding.MAX_PIXELS", 10_000)
    bomb = draw(tmp_path / "bomb.png", (200, 200))
    paths = [good, tmp_path / "<b>bad.png", bomb, tmp_path / "none.png", *[good] * 56]
    shown = page(MODEL, X, images=paths, coordinates=COORDINATES)
    found = payload_of(shown)
    assert found["kind"] == "image"
    assert found["rows"]["id"][:3] == ["good.png", "<b>bad.png", "bomb.png"]
    images = found["rows"]["image"]
    assert images[0].startswith("data:image/jpeg;base64,")
    assert images[1] == images[2] == images[3] != images[0]
    assert images[1].startswith("data:image/png;base64,")
    (sentence,) = shown.omitted
    assert "3 images cannot be shown" in sentence
    for part in ("bad.png (not an image", "bomb.png (refused", "none.png (no such file)"):
        assert part in sentence
