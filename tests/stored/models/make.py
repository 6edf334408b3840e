"""Makes the model files of a release, which every later version must read: once, and never again.

    python tests/data/models/make.py 0.5.0

Beside each lies what it must give, as JSON. Files that are there stay as they are.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import boostkmeans
from boostkmeans import BisectingBoostKMeans, BoostKMeans, baselines

FOLDER = Path(__file__).parent
ROWS = np.random.default_rng(20).integers(-40, 40, size=(40, 3)) / 4.0 + [10.0, 0.0, -5.0]
WEIGHTS = 1.0 + np.arange(len(ROWS)) % 4


def models() -> dict[str, Any]:
    """One of each kind."""
    boost = BoostKMeans(4, init=ROWS[:4], annealing=(0.2, 3), max_iter=20, tol=0, random_state=0)
    cosine = BoostKMeans(3, metric="cosine", random_state=np.random.RandomState(0))
    return {
        "boost": boost.fit(ROWS),
        "cosine-weights": cosine.fit(ROWS, sample_weight=WEIGHTS),
        "bisecting": BisectingBoostKMeans(6, n_sections=3, random_state=0).fit(ROWS),
        "baseline-kmeans": baselines.KMeans(3, init="k-means++", random_state=0).fit(ROWS),
    }


def expected(model: Any) -> dict[str, Any]:
    """What a loaded model must give; floats as hexadecimal ones, to the last bit."""
    return {
        "class": type(model).__name__,
        "parameters": repr(model),
        "rows": ROWS.tolist(),
        "predictions": model.predict(ROWS).tolist(),
        "labels": model.labels_.tolist(),
        "centres": [[value.hex() for value in centre] for centre in model.cluster_centers_.tolist()],
        "inertia": float(model.inertia_).hex(),
        "n_iter": model.n_iter_,
        "kinds": [record.kind for record in model.history_],
        "cut": model.cut(3).tolist() if hasattr(model, "tree_") else None,
    }


def main(version: str) -> None:
    """Writes the files that are not there yet."""
    boostkmeans.__version__ = version
    for name, model in models().items():
        target = FOLDER / f"{version}-{name}.safetensors"
        if not target.exists():
            model.save(target)
            # What is not stored is not expected.
            restored = boostkmeans.load_model(target)
            text = json.dumps(expected(model) | {"parameters": repr(restored)}, indent=1)
            target.with_suffix(".json").write_text(text + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
