"""Makes the quantizer files of a release, which every later version must read: once, and never again.

    python tests/data/quantizers/make_quantizers.py 0.6.0

Beside each lies what it must give, as JSON. Files that are there stay as they are.
"""

import json
import sys
from pathlib import Path

import numpy as np

import boostkmeans
from boostkmeans import ProductQuantizer

FOLDER = Path(__file__).parent
ROWS = np.random.default_rng(21).integers(-40, 40, size=(60, 6)) / 4.0


def main(version: str) -> None:
    """Writes the files that are not there yet."""
    boostkmeans.__version__ = version
    for name, rotation in (("plain", 0), ("rotated", 2)):
        target = FOLDER / f"{version}-{name}.safetensors"
        if target.exists():
            continue
        made = ProductQuantizer(3, 8, rotation=rotation, random_state=0).fit(ROWS)
        made.save(target)
        codes = made.encode(ROWS)
        expected = {
            "parameters": repr(made),
            "rows": ROWS.tolist(),
            "codes": codes.tolist(),
            "decoded": [[value.hex() for value in row] for row in made.decode(codes).tolist()],
            "distortion": made.distortion_.hex(),
        }
        target.with_suffix(".json").write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
