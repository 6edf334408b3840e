"""What there is to say about a quantizer, for JSON and for people."""

from typing import Any

import numpy as np

from boostkmeans import ProductQuantizer
from boostkmeans.cli.listing import shown_measure
from boostkmeans.io import Vectors
from boostkmeans.quantization._codes import code_type

Pairs = list[tuple[str, str]]
# Subspaces whose distortions are shown, where there are many.
SUBSPACES_SHOWN = 16


def code_bytes(quantizer: ProductQuantizer) -> int:
    """Of the code of a row."""
    m, n_centroids, _ = quantizer.codebooks_.shape
    return int(m * np.dtype(code_type(n_centroids)).itemsize)


def sizes_of_code(quantizer: ProductQuantizer, vectors: Vectors) -> dict[str, float]:
    """Bytes of a code and of a row as its file has it, and how many times shorter the code is."""
    of_code, of_row = code_bytes(quantizer), vectors.shape[1] * vectors.dtype.itemsize
    return {"bytes_per_code": of_code, "bytes_per_row": of_row, "compression": of_row / of_code}


def quantizer_values(quantizer: ProductQuantizer) -> dict[str, Any]:
    """What it is, and how well it did in its training."""
    m, n_centroids, _ = quantizer.codebooks_.shape
    return {
        "n_subspaces": m,
        "n_centroids": n_centroids,
        "n_features": quantizer.n_features_in_,
        "rotated": quantizer.rotation_ is not None,
        "bytes_per_code": code_bytes(quantizer),
        "distortion": quantizer.distortion_,
        "distortions": quantizer.distortions_,
    }


def quantizer_pairs(made: dict[str, Any]) -> Pairs:
    """The same in lines."""
    shown = [shown_measure(one) for one in made["distortions"][:SUBSPACES_SHOWN]]
    more = len(made["distortions"]) - len(shown)
    width = made["n_features"] // made["n_subspaces"]
    return [
        ("features", f"{made['n_features']:,}" + (", rotated" if made["rotated"] else "")),
        ("subspaces", f"{made['n_subspaces']:,} of {width:,} features"),
        ("centroids", f"{made['n_centroids']:,} in each"),
        ("code", shown_code(made)),
        ("distortion", shown_measure(made["distortion"])),
        ("of subspaces", "  ".join(shown) + (f"  and {more} more" if more else "")),
    ]


def shown_code(made: dict[str, Any]) -> str:
    """How long a code is, and how much shorter than a row, where that is known."""
    ratio = made.get("compression")
    return f"{made['bytes_per_code']:,} bytes" + (f", {ratio:,.4g} times shorter" if ratio else "")
