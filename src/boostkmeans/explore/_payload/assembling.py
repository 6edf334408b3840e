"""Assembling of the payload from the measures, the places, the names and the contents."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._data.frame import Floats
from boostkmeans.explore._contents.row_contents import RowContents
from boostkmeans.explore._contents.search_text import pack_texts
from boostkmeans.explore._contents.shown_rows import ShownRows, row_numbers
from boostkmeans.explore._measures.cluster_measures import ClusterMeasures
from boostkmeans.explore._measures.row_measures import RowMeasures
from boostkmeans.explore._names import Naming
from boostkmeans.explore._packing import pack, rounded
from boostkmeans.explore._payload.descriptions import columns_payload, terms_payload

FORMAT = 1
# Maximum number of points on the map. Of more rows, a sample is shown.
MAX_POINTS = 1_000_000
# Number of levels of the distances of points.
N_LEVELS = 256
# Number of labels that fit into 16 bits.
MAX_SHORT_LABELS = 2**16


@dataclass(frozen=True)
class Described:
    """Everything that is known about the rows and clusters."""

    rows: RowMeasures
    clusters: ClusterMeasures
    square: Floats
    """Place of each row in the square of the page."""
    cluster_places: Floats
    naming: Naming
    contents: RowContents


def points_payload(
    described: Described, shown: ShownRows, seed: int
) -> tuple[dict[str, Any], list[str]]:
    """Return the points of the map, and a sentence if they are a sample."""
    labels, square = described.rows.labels, described.square
    n, k = len(labels), len(described.clusters.sizes)
    levels = distance_levels(described.rows.distances)
    found: dict[str, Any] = {}
    omitted = []
    where: Any = slice(None)
    if n > MAX_POINTS:
        where = _sample(n, row_numbers(shown), seed)
        found["row"] = pack(where, "uint32")
        omitted.append(f"The map shows {len(where):,} of {n:,} rows, chosen at random.")
    found |= {
        "x": pack(square[where, 0], "uint16"),
        "y": pack(square[where, 1], "uint16"),
        "label": pack(labels[where], "uint16" if k <= MAX_SHORT_LABELS else "uint32"),
        "distance": pack(levels[where], "uint8"),
    }
    return found, omitted


def clusters_payload(described: Described, shown: ShownRows) -> list[dict[str, Any]]:
    """Return the clusters. They refer only to rows whose contents the page has."""
    clusters, naming, present = described.clusters, described.naming, set(shown.rows)
    found = []
    for number, size in enumerate(clusters.sizes.tolist()):
        one: dict[str, Any] = {
            "name": naming.names[number],
            "size": size,
            "tightness": rounded(clusters.tightness[number]),
            "separation": rounded(clusters.separation[number]),
            "neighbours": clusters.neighbours[number],
            "x": int(described.cluster_places[number, 0]),
            "y": int(described.cluster_places[number, 1]),
            "terms": _terms(naming.terms, number),
            "distinct": _terms(naming.distinct, number),
        }
        for kind in ("central", "borderline", "outlying"):
            rows: list[int] = getattr(clusters, kind)[number]
            one[kind] = [row for row in rows if row in present]
        if naming.columns:
            one["columns"] = columns_payload(naming.columns[number])
        found.append(one)
    return found


def rows_payload(described: Described, shown: ShownRows) -> dict[str, Any]:
    """Return the contents and measures of the shown rows."""
    where, measures, contents = row_numbers(shown), described.rows, described.contents
    return {
        "row": shown.rows,
        "label": measures.labels[where].tolist(),
        "distance": [rounded(one) for one in measures.distances[where].tolist()],
        "second": measures.second[where].tolist(),
        "margin": [rounded(one) for one in measures.margins[where].tolist()],
        "id": shown.ids if contents.has_ids else None,
        "text": None if contents.texts is None else shown.texts,
        "image": None if contents.images is None else shown.images,
        "values": None if contents.table is None else shown.values,
    }


def search_payload(
    contents: RowContents, ids: dict[str, Any] | None, max_bytes: int
) -> tuple[dict[str, Any] | None, list[str]]:
    """Return the packed ids and the texts of all rows, and a sentence about texts that are left out."""
    texts, omitted = (None, []) if contents.texts is None else pack_texts(contents.texts, max_bytes)
    found = {name: packed for name, packed in (("id", ids), ("text", texts)) if packed is not None}
    return found or None, omitted


def distance_levels(distances: Floats) -> NDArray[np.uint8]:
    """Return the rank of each distance among all rows, from 0 (nearest) to 255. Ties are equal."""
    order = np.sort(distances)
    ranks = np.searchsorted(order, distances, side="left")
    return (ranks * N_LEVELS // max(1, len(distances))).astype(np.uint8)


def _sample(n: int, needed: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Return row numbers, ascending, that include the needed ones."""
    others = np.setdiff1d(np.arange(n), needed)
    rng = np.random.default_rng(seed)
    chosen = rng.choice(others, max(0, MAX_POINTS - len(needed)), replace=False)
    return np.sort(np.concatenate([needed, chosen]))


def _terms(terms: list[list[tuple[str, float]]], number: int) -> list[list[Any]]:
    return terms_payload(terms[number]) if terms else []
