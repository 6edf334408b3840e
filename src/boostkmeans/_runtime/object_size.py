"""Size of objects in memory, for the schedulers of clusters."""

import sys
from typing import Any

import numpy as np

# Arrays of a matrix in CSR form.
CSR_ARRAYS = ("data", "indices", "indptr")


class SizedByFields:
    """Base class of objects whose size in memory is that of their attributes.

    A scheduler decides by the sizes of results where to run tasks and what to write to disk. By default,
    `sys.getsizeof`, and with it Dask, takes an object with arrays for 56 bytes.

    >>> import sys
    >>> from boostkmeans._data.frame import Frame
    >>> sys.getsizeof(Frame(np.zeros(1000), 0)) > 8000
    True
    """

    def __sizeof__(self) -> int:
        """Return the size of the object and of its attributes in bytes."""
        return object.__sizeof__(self) + sum(map(object_size, vars(self).values()))


def object_size(value: Any) -> int:
    """Return the size of a value in bytes, with all arrays that it contains.

    Arrays that share the memory of others count in full: this is what travels over a network.
    """
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, tuple | list):
        return sys.getsizeof(value) + sum(map(object_size, value))
    if isinstance(value, dict):
        return sys.getsizeof(value) + sum(map(object_size, value.values()))
    if all(isinstance(getattr(value, name, None), np.ndarray) for name in CSR_ARRAYS):
        return sum(int(getattr(value, name).nbytes) for name in CSR_ARRAYS)
    return sys.getsizeof(value)
