"""Descriptions of a quantizer, as JSON values and as text."""

import numpy as np

from boostkmeans import ProductQuantizer
from boostkmeans.cli.command import Result
from boostkmeans.cli.listing import format_measure
from boostkmeans.io import Vectors
from boostkmeans.quantization import code_type

Pairs = list[tuple[str, str]]
"""Lines of a listing: names and values."""

# Maximum number of subspaces whose distortions are listed.
MAX_SUBSPACES_SHOWN = 16


def bytes_per_code(quantizer: ProductQuantizer) -> int:
    """Return the size of the code of a row."""
    n_subspaces, n_centroids, _ = quantizer.codebooks_.shape
    return int(n_subspaces * np.dtype(code_type(n_centroids)).itemsize)


def compression_values(quantizer: ProductQuantizer, vectors: Vectors) -> Result:
    """Return the sizes of a code and of a row of the file, and their ratio."""
    of_code, of_row = bytes_per_code(quantizer), vectors.shape[1] * vectors.dtype.itemsize
    return {"bytes_per_code": of_code, "bytes_per_row": of_row, "compression": of_row / of_code}


def quantizer_values(quantizer: ProductQuantizer) -> Result:
    """Return the shape of the quantizer and its distortion in training."""
    n_subspaces, n_centroids, _ = quantizer.codebooks_.shape
    return {
        "n_subspaces": n_subspaces,
        "n_centroids": n_centroids,
        "n_features": quantizer.n_features_in_,
        "rotated": quantizer.rotation_ is not None,
        "bytes_per_code": bytes_per_code(quantizer),
        "distortion": quantizer.distortion_,
        "distortions": quantizer.distortions_,
    }


def quantizer_pairs(values: Result) -> Pairs:
    """Return the lines that describe a quantizer, from `quantizer_values`."""
    shown = [format_measure(one) for one in values["distortions"][:MAX_SUBSPACES_SHOWN]]
    n_more = len(values["distortions"]) - len(shown)
    width = values["n_features"] // values["n_subspaces"]
    return [
        ("features", f"{values['n_features']:,}" + (", rotated" if values["rotated"] else "")),
        ("subspaces", f"{values['n_subspaces']:,} of {width:,} features"),
        ("centroids", f"{values['n_centroids']:,} in each"),
        ("code", format_code(values)),
        ("distortion", format_measure(values["distortion"])),
        ("of subspaces", "  ".join(shown) + (f"  and {n_more} more" if n_more else "")),
    ]


def format_code(values: Result) -> str:
    """Return the size of a code, and the compression ratio if it is known."""
    ratio = values.get("compression")
    return f"{values['bytes_per_code']:,} bytes" + (f", {ratio:,.4g} times smaller" if ratio else "")
