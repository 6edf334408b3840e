"""State of a run as plain data, as a checkpoint stores it."""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from boostkmeans._storage.fields import Fields

State = dict[str, Any]
"""A state: numbers, strings, lists of them, arrays, None or nested states, by name."""

START_OVER = "Remove the file to start over, or choose another file."


def split_arrays(state: State, prefix: str = "") -> tuple[State, dict[str, NDArray[Any]]]:
    """Split a state into a part for JSON and its arrays.

    The name of an array is its path in the state, with a dot between the levels.
    """
    plain: State = {}
    arrays: dict[str, NDArray[Any]] = {}
    for name, value in state.items():
        if isinstance(value, np.ndarray):
            arrays[prefix + name] = value
        elif isinstance(value, dict):
            plain[name], inner = split_arrays(value, f"{prefix}{name}.")
            arrays.update(inner)
        else:
            plain[name] = plain_value(value)
    return plain, arrays


def plain_value(value: Any) -> Any:
    """Return a value in a form that JSON supports: non-finite floats become strings."""
    if isinstance(value, list | tuple):
        return [plain_value(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def join_arrays(plain: State, arrays: dict[str, NDArray[Any]]) -> State:
    """Combine the two results of `split_arrays`. Raise ValueError if the parts do not match."""
    state = {name: join_arrays(v, {}) if isinstance(v, dict) else v for name, v in plain.items()}
    for path, array in arrays.items():
        *parts, name = path.split(".")
        inner = state
        for part in parts:
            inner = inner.setdefault(part, {})
            if not isinstance(inner, dict):
                raise ValueError(f"the array {path!r} is inside a field that is not an object")
        inner[name] = array
    return state


@dataclass(frozen=True)
class SavedState(Fields):
    """A state from an untrusted file. Every method checks a value before it returns it."""

    remedy: str = START_OVER

    @classmethod
    def of(cls, path: str, place: str, value: object, remedy: str = START_OVER) -> Self:
        """Return the fields of a parsed value. Raise DataFormatError if it is not a JSON object."""
        return super().of(path, place, value, remedy)

    def optional_child(self, name: str) -> "SavedState | None":
        """Return the state in this field, or None if the field is missing or null."""
        return None if self.values.get(name) is None else self.child(name)

    def non_negative(self, name: str) -> float:
        """Return a float of at least 0, possibly infinity."""
        value = self.number(name)
        if not value >= 0:
            self.fail(name, "a number of at least 0", value)
        return value

    def array(
        self,
        name: str,
        dtype: Any,
        shape: tuple[int | None, ...],
        low: int | None = None,
        high: int | None = None,
    ) -> NDArray[Any]:
        """Return an array of this type and shape with values from `low` to `high`.

        None in `shape` allows any length. Floats must be finite unless `low` is given.
        """
        value = self.values.get(name)
        if (
            not isinstance(value, np.ndarray)
            or value.dtype != dtype
            or value.ndim != len(shape)
            or any(b is not None and a != b for a, b in zip(value.shape, shape, strict=True))
        ):
            wanted = " x ".join("any" if n is None else str(n) for n in shape)
            self.fail(name, f"an array of {np.dtype(dtype)}, {wanted}", value)
        if value.size and low is not None and not value.min() >= low:
            self.fail(name, f"values of at least {low}", value.min())
        if value.size and high is not None and value.max() > high:
            self.fail(name, f"values of at most {high}", value.max())
        if value.dtype.kind == "f" and low is None and not np.isfinite(value).all():
            self.fail(name, "finite values", value[~np.isfinite(value)].flat[0])
        return value
