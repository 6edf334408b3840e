"""JSON of strangers: no NaN, no infinity, no name twice, and no other error than ValueError."""

import json
import math
from typing import Any


def parse(text: str) -> Any:
    """Raises ValueError for whatever is not strict JSON, or is nested too deeply to be read."""
    try:
        return json.loads(
            text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_without_repeats
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None


def write(value: Any) -> str:
    """ASCII alone, and floats so that they come back to the last bit. Raises ValueError for NaN."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large for float64")
    return number


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice")
    return found
