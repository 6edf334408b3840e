"""Write the model files of a release, which every later version must be able to read.

    python tests/stored/make_models.py

Run it once for each release, with this release installed. The expected results are written as JSON next
to each model. Existing files are not changed.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

import boostkmeans
from boostkmeans import BisectingBoostKMeans, BoostKMeans, baselines

FOLDER = Path(__file__).parent / "models"
ROWS = np.random.default_rng(20).integers(-40, 40, size=(40, 3)) / 4.0 + [10.0, 0.0, -5.0]
WEIGHTS = 1.0 + np.arange(len(ROWS)) % 4


def models() -> dict[str, Any]:
    """Return fitted models by name, one of each kind."""
    boost = BoostKMeans(4, init=ROWS[:4], annealing=(0.2, 3), max_iter=20, tol=0, random_state=0)
    cosine = BoostKMeans(3, metric="cosine", random_state=np.random.RandomState(0))
    return {
        "boost": boost.fit(ROWS),
        "cosine-weights": cosine.fit(ROWS, sample_weight=WEIGHTS),
        "bisecting": BisectingBoostKMeans(6, n_sections=3, random_state=0).fit(ROWS),
        "baseline-kmeans": baselines.KMeans(3, init="k-means++", random_state=0).fit(ROWS),
    }


def expected(model: Any) -> dict[str, Any]:
    """Return the results that a loaded model must give. Floats are hexadecimal, to store every bit."""
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


def main() -> None:
    """Write the files that do not exist yet."""
    for name, model in models().items():
        target = FOLDER / f"{boostkmeans.__version__}-{name}.safetensors"
        if not target.exists():
            model.save(target)
            # Parameters that a file cannot hold, such as a RandomState, have their defaults.
            restored = boostkmeans.load_model(target)
            text = json.dumps(expected(model) | {"parameters": repr(restored)}, indent=1)
            target.with_suffix(".json").write_text(text + "\n")


if __name__ == "__main__":
    main()
