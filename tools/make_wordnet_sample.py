"""Make `examples/data/wordnet.npz`: 2,000 glosses of WordNet with embeddings, and its licence.

`python tools/make_wordnet_sample.py FOLDER` reads `wordnet_use512.npz` and `wordnet_glosses.txt.gz` in
FOLDER. Their rows are in random order, so that the first rows are a random sample.
"""

import gzip
import sys
from pathlib import Path

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

DATA = Path(__file__).parents[1] / "examples" / "data"
LICENCE_TITLE = "## Licence of WordNet\n"
N_ROWS = 2000
N_DIMENSIONS = 96
# Longer glosses are left out, because all texts of the array take the space of the longest one.
MAX_LENGTH = 240


def main(folder: Path) -> None:
    """Write the sample."""
    with np.load(folder / "wordnet_use512.npz") as arrays:
        rows, labels, label_names = arrays["X"], arrays["labels"], arrays["label_names"]
    with gzip.open(folder / "wordnet_glosses.txt.gz", "rt", encoding="utf-8") as file:
        texts = [line.rstrip("\n") for line in file]
    chosen = np.array([i for i, text in enumerate(texts) if len(text) <= MAX_LENGTH][:N_ROWS])
    reduction = TruncatedSVD(N_DIMENSIONS, n_iter=10, random_state=0).fit(rows.astype(np.float32))
    reduced = normalize(reduction.transform(rows[chosen].astype(np.float32)))
    path = DATA / "wordnet.npz"
    np.savez_compressed(
        path,
        X=reduced.astype(np.float16),
        labels=labels[chosen],
        label_names=label_names,
        texts=np.array([texts[i] for i in chosen]),
        notice=np.array((DATA / "README.md").read_text().partition(LICENCE_TITLE)[2].strip()),
    )
    print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
