"""The state of a run as plain data: what a checkpoint keeps, and how it is read back."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans._storage.fields import Fields

State = dict[str, Any]
"""Names of values: numbers, strings, lists of them, arrays, None, or states in turn."""


def split_arrays(state: State, prefix: str = "") -> tuple[State, dict[str, NDArray[Any]]]:
    """A state as what JSON can hold, and its arrays by their names, with a dot for each level."""
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
    """As JSON can hold it, which has no infinity."""
    if isinstance(value, list | tuple):
        return [plain_value(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def join_arrays(plain: State, arrays: dict[str, NDArray[Any]]) -> State:
    """What `split_arrays` took apart."""
    state = {name: join_arrays(v, {}) if isinstance(v, dict) else v for name, v in plain.items()}
    for path, array in arrays.items():
        *parts, name = path.split(".")
        inner = state
        for part in parts:
            inner = inner.setdefault(part, {})
            if not isinstance(inner, dict):
                raise ValueError(f"{path!r} is within a value")
        inner[name] = array
    return state


class SavedState(Fields):
    """A state from a file, which may hold anything: what is taken from it is what it should be."""

    def optional_child(self, name: str) -> "SavedState | None":
        """A state within this one, if there is one."""
        return None if self.values.get(name) is None else self.child(name)

    def non_negative(self, name: str) -> float:
        """A number that is not below 0; infinity is one."""
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
        """An array of that type and shape (None: any length), with values from `low` to `high`.

        Without limits, numbers with a fraction must be finite.
        """
        value = self.values.get(name)
        if (
            not isinstance(value, np.ndarray)
            or value.dtype != dtype
            or value.ndim != len(shape)
            or any(b is not None and a != b for a, b in zip(value.shape, shape, strict=True))
        ):
            wanted = " x ".join("any" if n is None else str(n) for n in shape)
            self.fail(name, f"an array of {np.dtype(dtype)}, {wanted}", _described(value))
        if value.size and low is not None and not value.min() >= low:
            self.fail(name, f"values of at least {low}", value.min())
        if value.size and high is not None and value.max() > high:
            self.fail(name, f"values of at most {high}", value.max())
        if value.dtype.kind == "f" and low is None and not np.isfinite(value).all():
            self.fail(name, "finite values", "others among them")
        return value


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype}, {' x '.join(map(str, value.shape))}"
    return "nothing" if value is None else type(value).__name__
