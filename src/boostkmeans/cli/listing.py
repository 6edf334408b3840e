"""Results for people: names and values in two columns."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.untrusted_text import escape_untrusted


def two_columns(pairs: Iterable[tuple[str, str]]) -> str:
    """A line for each pair, with the values below each other."""
    shown = [(name, escape_untrusted(value)) for name, value in pairs]
    width = max(len(name) for name, _ in shown) + 2
    return "\n".join(f"{name:{width}}{value}" for name, value in shown)


def sizes_of(sizes: NDArray[Any]) -> dict[str, Any]:
    """What sizes of clusters come to, for JSON."""
    return {
        "smallest": int(sizes.min()),
        "median": float(np.median(sizes)),
        "largest": int(sizes.max()),
        "empty": int(np.count_nonzero(sizes == 0)),
    }


def shown_sizes(sizes: dict[str, Any]) -> str:
    """The same for people."""
    text = f"smallest {sizes['smallest']:,}, median {sizes['median']:,g}, largest {sizes['largest']:,}"
    return text + (f", {sizes['empty']:,} empty" if sizes["empty"] else "")


def shown_measure(value: float | None) -> str:
    """A sum of squares, with as many digits as anybody wants to see; None is beyond numbers."""
    return "too large" if value is None else f"{value:,.8g}"


def plain(value: Any) -> Any:
    """In types that JSON knows; infinity and NaN, which it has not, as None."""
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
