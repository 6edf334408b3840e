"""Parameters of an estimator in a model file: plain values as JSON, arrays as tensors.

What is neither (a callback, a RandomState, a callable `init`) is not stored: it could only be kept as
code. The file notes it, and a loaded estimator has the default instead.
"""

import inspect
import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans._storage.fields import Fields, fail
from boostkmeans._storage.tensors import can_be_stored

# Files of the machine that fitted. A model file of a stranger must not say where to write.
OF_THE_MACHINE = ("checkpoint",)
PREFIX = "parameters."


class Stored(NamedTuple):
    """What a file gets."""

    plain: dict[str, Any]
    not_stored: dict[str, str]
    """Names, and the kinds of their values."""
    tensors: dict[str, NDArray[Any]]


def encode(parameters: Mapping[str, Any]) -> Stored:
    """Parameters as `get_params` gives them."""
    stored = Stored({}, {}, {})
    for name, value in parameters.items():
        try:
            if name in OF_THE_MACHINE and value is not None:
                raise TypeError
            if hasattr(value, "__array__") and not isinstance(value, np.generic):
                stored.plain[name] = {"tensor": PREFIX + name}
                stored.tensors[PREFIX + name] = _array(value)
            else:
                stored.plain[name] = _plain(value)
        except TypeError:
            stored.plain[name] = None
            stored.not_stored[name] = type(value).__name__
    return stored


def decode(
    header: Fields, tensors: Mapping[str, NDArray[Any]], estimator: type[Any]
) -> tuple[dict[str, Any], set[str]]:
    """Arguments for the estimator, and the names of the tensors among them."""
    parameters = header.child("parameters")
    without = set(header.child("not_stored").values) | set(OF_THE_MACHINE)
    known = inspect.signature(estimator).parameters
    unknown = [escape_untrusted(name) for name in parameters.values if name not in known]
    if unknown:
        raise DataFormatError(
            f"{header.path}: parameters that {estimator.__name__} does not have: {', '.join(unknown)}. "
            f"The file was written by boostkmeans {escape_untrusted(header.string('library_version'))}: upgrade "
            "boostkmeans."
        )
    used: set[str] = set()
    arguments = {
        name: _decoded(parameters, name, tensors, used)
        for name in parameters.values
        if name not in without
    }
    return arguments, used


def _plain(value: Any) -> Any:
    """Raises TypeError for what JSON does not have."""
    if value is None or isinstance(value, bool | str):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and math.isfinite(value):
        return float(value)
    if isinstance(value, tuple):
        return {"tuple": [_plain(one) for one in value]}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    raise TypeError


def _array(value: Any) -> NDArray[Any]:
    array = np.asarray(value)
    if not can_be_stored(array.dtype):
        raise TypeError
    return array


def _decoded(parameters: Fields, name: str, tensors: Mapping[str, NDArray[Any]], used: set[str]) -> Any:
    value = parameters.values[name]
    if not isinstance(value, dict):
        return value
    if set(value) == {"tuple"}:
        return tuple(parameters.child(name).items("tuple"))
    if value != {"tensor": PREFIX + name} or PREFIX + name not in tensors:
        fail(parameters.path, f"{parameters.place}.{name}", "a plain value, a tuple or a tensor", value)
    used.add(PREFIX + name)
    return tensors[PREFIX + name]
