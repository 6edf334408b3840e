"""Write the quantizer files of a release, which every later version must be able to read.

    python tests/stored/make_quantizers.py

Run it once for each release, with this release installed. The expected results are written as JSON next
to each quantizer. Existing files are not changed.
"""

import json
from pathlib import Path

import numpy as np

import boostkmeans
from boostkmeans import ProductQuantizer

FOLDER = Path(__file__).parent / "quantizers"
ROWS = np.random.default_rng(21).integers(-40, 40, size=(60, 6)) / 4.0


def main() -> None:
    """Write the files that do not exist yet."""
    for name, rotation in (("plain", 0), ("rotated", 2)):
        target = FOLDER / f"{boostkmeans.__version__}-{name}.safetensors"
        if target.exists():
            continue
        quantizer = ProductQuantizer(3, 8, rotation=rotation, random_state=0).fit(ROWS)
        quantizer.save(target)
        codes = quantizer.encode(ROWS)
        expected = {
            "parameters": repr(quantizer),
            "rows": ROWS.tolist(),
            "codes": codes.tolist(),
            "decoded": [[value.hex() for value in row] for row in quantizer.decode(codes).tolist()],
            "distortion": quantizer.distortion_.hex(),
        }
        target.with_suffix(".json").write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main()
