"""Reading and writing of result files."""

import json
import re
from pathlib import Path
from typing import Any

from environment import Json, environment

RESULTS = Path(__file__).parent / "results"

# Older result files use other labels than the code does today. They are translated when a file is read,
# so that a file stays as it was measured.
_RENAMED_LABELS = (
    (re.compile(r"^ours\b"), "boostkmeans"),
    (re.compile(r"^made: "), "synthetic, "),
    (re.compile(r"like embeddings"), "embedding-like"),
    (re.compile(r"topics by Zipf's law"), "topics with Zipf-distributed sizes"),
    (re.compile(r"\(by the planted inertia\)"), "(inertia relative to the planted partition)"),
    (re.compile(r"^birch1, real benchmark set$"), "birch1 (benchmark data set)"),
    (re.compile(r"^its README, "), "README example of k-means-constrained, "),
    (re.compile(r"to learn from"), "for training"),
    (re.compile(r"^blobs 100,000 x 32, 30 of them$"), "30 blobs, 100,000 x 32"),
    (re.compile(r", three times with noise: "), ", repeated three times with noise: "),
    (re.compile(r"^numpy matmul, out given$"), "numpy.matmul with `out`"),
    # Measured with init="auto", which is a tree for these numbers of clusters, not k-means++.
    (re.compile(r"^k-means\+\+ on a sample, all clusters$"), '`init="auto"`, all clusters'),
    # Measured with 1,000,000 rows; the label was taken from a call for a single row.
    (re.compile(r"^PhotoSIFT 1 x 128$"), "PhotoSIFT 1000000 x 128"),
    (
        re.compile(
            r"^on which the gap and the silhouette and the Calinski-Harabasz index agree, but they are "
            r"not clearly apart"
        ),
        "gap, silhouette and Calinski-Harabasz index agree, but the clusters are not well separated",
    ),
)


def read_result(path: Path) -> Json:
    """Return the content of a result file, with the labels that the code uses today."""
    content = _translate(json.loads(path.read_text()))
    assert isinstance(content, dict)
    return content


def save_result(name: str, figures: Json) -> None:
    """Write `results/name.json`: the figures and the environment they were measured in."""
    RESULTS.mkdir(exist_ok=True)
    content = {"name": name, **figures, "environment": environment()}
    write_json(RESULTS / f"{name}.json", content, indent=1)


def write_json(path: Path, content: Json, indent: int | None = None) -> None:
    """Write a JSON file in one step, so that an interruption leaves the previous file intact."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(content, indent=indent, default=float) + "\n")
    part.replace(path)


def _translate(value: Any) -> Any:
    if isinstance(value, str):
        for pattern, replacement in _RENAMED_LABELS:
            value = pattern.sub(replacement, value)
        return value
    if isinstance(value, dict):
        return {_translate(key): _translate(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_translate(entry) for entry in value]
    return value
