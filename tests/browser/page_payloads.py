"""Payloads of the explorer's page, made without the code that makes them for users."""

import base64
import json
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

Payload = dict[str, Any]

TOPICS = [
    "football transfers", "interest rates", "space telescopes", "vaccine trials", "film festivals",
    "chip makers", "climate policy", "tennis finals", "oil prices", "museum openings",
    "labour strikes", "deep-sea species", "bicycle lanes", "school exams", "wine harvest",
    "court rulings", "volcanic eruptions", "jazz concerts", "housing rents", "rail timetables",
]  # fmt: skip
PHRASES = [
    "report from the weekend",
    "what changed this year",
    "an overview",
    "questions and answers",
    "in numbers",
]
COMMON = [
    "season",
    "people",
    "review",
    "market",
    "study",
    "record",
    "city",
    "summer",
    "growth",
    "debate",
    "winner",
]
# A JPEG of one grey pixel.
JPEG = (
    "data:image/jpeg;base64,/9j/4AAQSkZJRgABAQEAYABgAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAx"
    "NDQ0Hyc5PTgyPC4zNDL/wAALCAABAAEBAREA/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEG"
    "E1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZ"
    "mqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/9oACAEBAAA/APn+v//Z"
)  # fmt: skip


def packed(values: NDArray[Any]) -> dict[str, Any]:
    """Return an array as the page reads it."""
    compressor = zlib.compressobj(6, zlib.DEFLATED, -15)
    data = compressor.compress(np.ascontiguousarray(values).tobytes()) + compressor.flush()
    return {"dtype": str(values.dtype), "length": len(values), "data": base64.b64encode(data).decode()}


def unpacked(array: dict[str, Any]) -> NDArray[Any]:
    """Return the values of a packed array."""
    return np.frombuffer(zlib.decompress(base64.b64decode(array["data"]), -15), array["dtype"])


def as_json(payload: Payload) -> str:
    """Return JSON that cannot end a script element."""
    text = json.dumps(payload, ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def name_of(cluster: int) -> str:
    """Return a name that differs from those of all other clusters."""
    round_, topic = divmod(cluster, len(TOPICS))
    return TOPICS[topic] + (f" {round_ + 1}" if round_ else "")


def text_of(row: int, cluster: int) -> str:
    """Return the text of a row, which contains its topic and its number."""
    return f"{TOPICS[cluster % len(TOPICS)].capitalize()}: {PHRASES[row % len(PHRASES)]}, item {row}."


def make_payload(
    n: int, k: int = 20, *, kind: str = "text", seed: int = 0, tree: bool = True
) -> Payload:
    """Return a payload of n rows in k blobs. The rows around a centre and at the rim have content."""
    rng = np.random.default_rng(seed)
    centres = spread_centres(k, rng)
    label = np.sort(rng.choice(k, n, p=rng.dirichlet(np.full(k, 4.0))))
    rng.shuffle(label)
    radius = 0.32 / np.sqrt(k)
    offset = rng.normal(size=(n, 2)) * radius * rng.uniform(0.5, 1.2, (k, 1))[label]
    places = centres[label] + offset
    places = np.clip((places - places.min(0)) / np.ptp(places, axis=0).max(), 0, 1)
    distance = np.linalg.norm(offset, axis=1)
    rank = np.argsort(np.argsort(distance)) * 256 // n
    xy = np.round(places * 65535).astype(np.uint16)
    clusters = describe_clusters(xy, label, distance, k)
    shown = sorted(
        {
            row
            for cluster in clusters
            for key in ("central", "borderline", "outlying")
            for row in cluster[key]
        }
    )
    second = [clusters[label[row]]["neighbours"][0] if k > 1 else -1 for row in shown]
    payload: Payload = {
        "format": 1, "title": f"News of {n:,} rows", "kind": kind,
        "n_rows": n, "n_clusters": k, "n_features": 384,
        "points": {
            "x": packed(xy[:, 0]), "y": packed(xy[:, 1]),
            "label": packed(label.astype(np.uint16)), "distance": packed(rank.astype(np.uint8)),
        },
        "clusters": clusters,
        "rows": {
            "row": shown, "label": [int(label[row]) for row in shown],
            "distance": [round(float(distance[row]), 5) for row in shown], "second": second,
            "margin": [0.1] * len(shown), "id": [f"doc-{row}" for row in shown],
            "text": [text_of(row, int(label[row])) for row in shown] if kind == "text" else None,
            "image": [JPEG] * len(shown) if kind == "image" else None,
            "values": [[str(row), "7.5", "Bordeaux"] for row in shown] if kind == "table" else None,
        },
        "columns": ["number", "score", "place"] if kind == "table" else None,
        "tree": describe_tree(clusters) if tree and k > 2 else None,
        "history": make_history(),
        "history_note": "The curve is flat where the fit anneals: it accepts worse moves for a while.",
        "facts": [["Method", "BoostKMeans"], ["Stopped", "no move improved the result"]],
        "command": "boostkmeans explore model.safetensors vectors.npy --texts texts.txt -o page.html",
        "omitted": [f"The page contains the texts of {len(shown):,} of {n:,} rows."],
    }  # fmt: skip
    return payload


def spread_centres(k: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return k places of the unit square that keep away from each other."""
    side = int(np.ceil(np.sqrt(k)))
    cells = np.stack(np.divmod(np.arange(side * side), side), axis=1)[rng.permutation(side * side)[:k]]
    return np.asarray((cells + rng.uniform(0.2, 0.8, (k, 2))) / side)


def describe_clusters(
    xy: NDArray[np.uint16], label: NDArray[np.int64], distance: NDArray[np.float64], k: int
) -> list[dict[str, Any]]:
    """Return the descriptions of all clusters."""
    order = np.argsort(label, kind="stable")
    members = np.split(order, np.searchsorted(label[order], np.arange(1, k)))
    centres = np.array([xy[rows].mean(0) if len(rows) else (0, 0) for rows in members])
    gaps, nearest = (
        array.reshape(k, -1) for array in cKDTree(centres / 65535).query(centres / 65535, k=min(9, k))
    )
    clusters = []
    for cluster, rows in enumerate(members):
        nearest_first = rows[np.argsort(distance[rows])].tolist()
        neighbours = [int(other) for other in nearest[cluster] if other != cluster][:8]
        words = [
            *TOPICS[cluster % len(TOPICS)].split(),
            *(COMMON[(cluster * 3 + i) % len(COMMON)] for i in range(4)),
        ]
        terms = [[word, round(1 / (i + 1), 2)] for i, word in enumerate(words)]
        clusters.append({
            "name": name_of(cluster), "size": len(rows),
            "tightness": float(np.mean(distance[rows] ** 2)) if len(rows) else None,
            "separation": float(gaps[cluster, 1]) if neighbours else None, "neighbours": neighbours,
            "x": int(centres[cluster][0]), "y": int(centres[cluster][1]),
            "terms": terms, "distinct": terms[:4], "central": nearest_first[:8],
            "borderline": nearest_first[-12:-6], "outlying": nearest_first[-6:][::-1],
        })  # fmt: skip
    return clusters


def describe_tree(clusters: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a tree that always splits the node with the most clusters."""
    sets = [list(range(len(clusters)))]
    split: list[int] = []
    children: list[list[int]] = []
    leaves = {0}
    while max(len(sets[node]) for node in leaves) > 1:
        node = max(leaves, key=lambda each: (len(sets[each]), -each))
        children.append([len(sets), len(sets) + 1])
        sets += halves(sets[node], clusters)
        leaves = leaves - {node} | set(children[-1])
        split.append(node)
    return {
        "children": children, "split": split,
        "cluster": [part[0] if len(part) == 1 else -1 for part in sets],
        "separation_sets": 1024,
        "nodes": [node_of([clusters[i] for i in part]) for part in sets],
    }  # fmt: skip


def halves(numbers: list[int], clusters: list[dict[str, Any]]) -> list[list[int]]:
    """Split clusters into two sets of about equal size, across the longer side."""

    def extent(axis: str) -> int:
        places = [clusters[number][axis] for number in numbers]
        return int(max(places) - min(places))

    axis = max("xy", key=extent)
    ordered = sorted(numbers, key=lambda number: clusters[number][axis])
    return [ordered[: len(ordered) // 2], ordered[len(ordered) // 2 :]]


def node_of(members: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the description of a node: the mean of its clusters, with the name of the largest one."""
    largest = max(members, key=lambda cluster: cluster["size"])
    size = sum(cluster["size"] for cluster in members)
    node = {
        key: sum(each[key] * each["size"] for each in members) / max(size, 1)
        for key in ("tightness", "x", "y")
    }
    more = f" and {len(members) - 1} more" if len(members) > 1 else ""
    terms = [[f"{term} group", weight] for term, weight in largest["terms"]]
    # The separation changes in the cut into 5 sets.
    separation = [[2, 0.5 + len(members) / 100], [5, 0.25 + len(members) / 100]]
    return {
        **node, "name": largest["name"] + more, "size": size, "separation": separation,
        "terms": terms, "distinct": terms[:4],
    }  # fmt: skip


def make_history() -> dict[str, Any]:
    """Return a fit that anneals, descends and repairs."""
    steps = np.arange(40)
    distortion = 0.62 + 0.4 * np.exp(-steps / 5) + 0.02 * (steps < 12)
    kinds = ["anneal"] * 12 + ["sweep"] * 24 + ["repair"] * 4
    return {"seconds": (steps * 0.15).tolist(), "distortion": distortion.tolist(), "kind": kinds}
