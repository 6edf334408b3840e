"""Short representations of records: large arrays, long lists and long texts are described."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

# Number of elements of a list, and of characters of a text, that are shown.
MAX_ITEMS = 6
MAX_CHARACTERS = 80
# Number of elements of an array that are shown: all of a short array, and the first of a long one.
MAX_ELEMENTS = 8
FIRST_ELEMENTS = 3


def short_repr(record: Any) -> str:
    """Return the representation of a dataclass, e.g. as its `__repr__`. It has a bounded length.

    Fields that are declared with `repr=False` are left out.
    """
    shown = [
        f"{field.name}={_shown(getattr(record, field.name))}" for field in fields(record) if field.repr
    ]
    return f"{type(record).__name__}({', '.join(shown)})"


def _shown(value: Any) -> str:
    """Return the representation of a value, or its type and size if it is large.

    >>> _shown(3), _shown([1, 2]), _shown(list(range(1000))), _shown("x" * 200)
    ('3', '[1, 2]', '<list of 1,000>', '<str of 200 characters>')
    """
    if hasattr(value, "shape") and hasattr(value, "dtype") and value.shape:
        if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "biuf":
            return short_numbers(value.tolist())
        return f"<{type(value).__name__} of shape {value.shape}, {value.dtype}>"
    if isinstance(value, str) and len(value) > MAX_CHARACTERS:
        return f"<str of {len(value):,} characters>"
    if isinstance(value, list | tuple | dict | set):
        text = repr(value) if len(value) <= MAX_ITEMS else ""
        return text if text and len(text) <= MAX_CHARACTERS else _counted(value)
    return repr(value)


def short_numbers(values: Sequence[float]) -> str:
    """Return all of a few numbers, or the first of them and their number.

    >>> short_numbers([4, 7]), short_numbers([]), short_numbers(range(1000))
    ('[4, 7]', '[]', '[0, 1, 2, ...: 1,000 numbers]')
    """
    if len(values) <= MAX_ELEMENTS:
        return str(list(values))
    first = ", ".join(str(one) for one in values[:FIRST_ELEMENTS])
    return f"[{first}, ...: {len(values):,} numbers]"


def _counted(value: Any) -> str:
    return f"<{type(value).__name__} of {len(value):,}>"
