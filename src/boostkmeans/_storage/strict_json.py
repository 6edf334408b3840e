"""Strict JSON for untrusted files: no NaN, no infinity, no duplicate names."""

import json
import math
from typing import Any


def parse(text: str) -> Any:
    """Parse JSON. Raise ValueError if the text is not strict JSON or is nested too deeply."""
    try:
        return json.loads(
            text, parse_constant=_reject_constant, parse_float=_finite_float, object_pairs_hook=_object
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None


def write(value: Any) -> str:
    """Return a value as ASCII JSON. Floats keep all bits; NaN and infinity raise ValueError."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def _reject_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not allowed in JSON")


def _finite_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large for float64")
    return number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has two fields of the same name")
    return found
