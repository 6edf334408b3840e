"""Parameters of an estimator in a model file: plain values as JSON, arrays as tensors.

Other values (a callback, a RandomState, a callable `init`) are not stored, because storing them would
mean storing code. The file lists their names, and a loaded estimator has the defaults instead.
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
from boostkmeans._storage.fields import Fields
from boostkmeans._storage.tensors import can_be_stored

# Parameters that name files of this machine. An untrusted model file must not determine where files are
# written.
NAMES_OF_FILES = ("checkpoint",)
# Prefix of the names of tensors that hold parameters.
PREFIX = "parameters."


class EncodedParameters(NamedTuple):
    """Parameters as a file stores them."""

    plain: dict[str, Any]
    not_stored: dict[str, str]
    """Type names of the values that are not stored, by parameter."""
    tensors: dict[str, NDArray[Any]]


class DecodedParameters(NamedTuple):
    """Parameters as read from a file."""

    arguments: dict[str, Any]
    """Keyword arguments for the constructor of the estimator."""
    tensor_names: set[str]
    """Names of the tensors that hold parameters."""


def encode(parameters: Mapping[str, Any], estimators: tuple[str, ...] = ()) -> EncodedParameters:
    """Return the result of `get_params` in the form in which a file stores it.

    Parameters named in `estimators` hold other estimators, which are not stored.
    """
    encoded = EncodedParameters({}, {}, {})
    for name, value in parameters.items():
        if name in estimators:
            if value is not None:
                encoded.not_stored[name] = "estimator"
            continue
        try:
            if name in NAMES_OF_FILES and value is not None:
                raise TypeError
            if hasattr(value, "__array__") and not isinstance(value, np.generic):
                encoded.tensors[PREFIX + name] = _storable_array(value)
                encoded.plain[name] = {"tensor": PREFIX + name}
            else:
                encoded.plain[name] = _plain(value)
        except TypeError:
            encoded.plain[name] = None
            encoded.not_stored[name] = type(value).__name__
    return encoded


def decode(
    header: Fields,
    tensors: Mapping[str, NDArray[Any]],
    estimator: type[Any],
    estimators: tuple[str, ...] = (),
) -> DecodedParameters:
    """Return the parameters that `encode` stored. Their values are not checked."""
    parameters = header.child("parameters")
    skipped = {*header.child("not_stored").values, *NAMES_OF_FILES, *estimators}
    known = inspect.signature(estimator).parameters
    unknown = [escape_untrusted(name) for name in parameters.values if name not in known]
    if unknown:
        writer = escape_untrusted(header.string("library_version"))
        raise DataFormatError(
            f"Unknown parameters of {estimator.__name__}: {', '.join(unknown)}. The file was written "
            f"by boostkmeans {writer}.",
            file=header.path,
            place=parameters.place,
            remedy="Upgrade boostkmeans.",
        )
    used: set[str] = set()
    arguments = {
        name: _decoded(parameters, name, tensors, used)
        for name in parameters.values
        if name not in skipped
    }
    return DecodedParameters(arguments, used)


def _plain(value: Any) -> Any:
    """Return a value in a form that JSON supports. Raise TypeError if there is none."""
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


def _storable_array(value: Any) -> NDArray[Any]:
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
        parameters.fail(name, "a plain value, a tuple or a tensor", value)
    used.add(PREFIX + name)
    return tensors[PREFIX + name]
