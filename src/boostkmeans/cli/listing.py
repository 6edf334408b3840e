"""Formatting of results as text and as JSON types."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.untrusted_text import escape_untrusted


def two_columns(pairs: Iterable[tuple[str, str]]) -> str:
    """Return one line per pair of a name and a value, with the values aligned.

    Names may come from a file, too, such as those of arrays.
    """
    shown = [(escape_untrusted(name), escape_untrusted(value)) for name, value in pairs]
    width = max(len(name) for name, _ in shown) + 2
    return "\n".join(f"{name:{width}}{value}" for name, value in shown)


def summarize_sizes(sizes: NDArray[Any]) -> dict[str, Any]:
    """Return the smallest, median and largest cluster size, and the number of empty clusters."""
    return {
        "smallest": int(sizes.min()),
        "median": float(np.median(sizes)),
        "largest": int(sizes.max()),
        "empty": int(np.count_nonzero(sizes == 0)),
    }


def format_sizes(sizes: dict[str, Any]) -> str:
    """Return the result of `summarize_sizes` as text."""
    text = f"smallest {sizes['smallest']:,}, median {sizes['median']:,g}, largest {sizes['largest']:,}"
    return text + (f", {sizes['empty']:,} empty" if sizes["empty"] else "")


def format_measure(value: float | None) -> str:
    """Return a distortion or inertia as text. None stands for an overflow."""
    return "too large" if value is None else f"{value:,.8g}"


def to_json_types(value: Any) -> Any:
    """Convert NumPy types to Python types, and infinity and NaN, which JSON lacks, to None."""
    if isinstance(value, dict):
        return {str(name): to_json_types(one) for name, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [to_json_types(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
