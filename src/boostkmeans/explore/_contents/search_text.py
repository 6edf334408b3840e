"""Search text: the beginnings of all texts, and the ids of all rows, in which the page searches."""

from typing import Any

from boostkmeans.explore._contents.row_contents import RowContents
from boostkmeans.explore._contents.shown_rows import MAX_ID_LENGTH, cut
from boostkmeans.explore._packing import pack_bytes

# Lengths of the beginnings, by preference. The first one that fits into the budget is used.
LENGTHS = (200, 100, 50)
# Number of texts whose compression predicts that of all texts.
SAMPLE_TEXTS = 5000
# Bytes of base64 per byte.
BASE64 = 4 / 3


def pack_texts(texts: list[str], max_bytes: int) -> tuple[dict[str, Any] | None, list[str]]:
    """Return the beginnings of all texts within the budget, and a sentence if some are incomplete."""
    for length in LENGTHS:
        if _estimated_bytes(texts, length) > max_bytes:
            continue
        packed = pack_bytes(_joined(texts, length))
        if len(packed["data"]) > max_bytes:
            continue
        if all(len(text) <= length for text in texts):
            return packed, []
        return packed, [f"The search covers the first {length} characters of each text."]
    return None, [
        "The search covers names of clusters and the rows whose contents the page has: the texts of all "
        "rows do not fit into it."
    ]


def pack_ids(
    contents: RowContents, n_rows: int, max_bytes: int
) -> tuple[dict[str, Any] | None, list[str]]:
    """Return the ids of all rows, one per line, or a sentence if they exceed the budget."""
    if not contents.has_ids:
        return None, []
    ids = (contents.id_of(row) or "" for row in range(n_rows))
    lines = "\n".join(cut(one, MAX_ID_LENGTH).replace("\n", " ") for one in ids)
    packed = pack_bytes(lines.encode("utf-8", "replace"))
    if len(packed["data"]) <= max_bytes:
        return packed, []
    return None, [
        "Search and downloads have only the ids of the rows whose contents the page has: the ids of all "
        "rows do not fit into it."
    ]


def _joined(texts: list[str], length: int) -> bytes:
    lines = (" ".join(cut(text[: 4 * length], 4 * length).split()) for text in texts)
    return "\n".join(cut(line, length) for line in lines).encode("utf-8", "replace")


def _estimated_bytes(texts: list[str], length: int) -> float:
    """Estimate the packed size from some texts, because all may take long to compress."""
    if len(texts) <= SAMPLE_TEXTS:
        return 0.0
    step = len(texts) / SAMPLE_TEXTS
    some = [texts[int(i * step)] for i in range(SAMPLE_TEXTS)]
    return len(pack_bytes(_joined(some, length))["data"]) * step * 0.9
