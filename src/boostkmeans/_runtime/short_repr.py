"""Short representations of records: arrays, long lists and long texts are described, not printed."""

from dataclasses import fields
from typing import Any

# Number of elements of a list, and of characters of a text, that are shown.
MAX_ITEMS = 6
MAX_CHARACTERS = 80


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
        return f"<{type(value).__name__} of shape {value.shape}, {value.dtype}>"
    if isinstance(value, str) and len(value) > MAX_CHARACTERS:
        return f"<str of {len(value):,} characters>"
    if isinstance(value, list | tuple | dict | set):
        text = repr(value) if len(value) <= MAX_ITEMS else ""
        return text if text and len(text) <= MAX_CHARACTERS else _counted(value)
    return repr(value)


def _counted(value: Any) -> str:
    return f"<{type(value).__name__} of {len(value):,}>"
