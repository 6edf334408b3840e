"""`ArrayDescription`: the name, the shape and the type of an array in a file."""

from typing import NamedTuple


class ArrayDescription(NamedTuple):
    """An array of a file that holds several arrays.

    Parameters
    ----------
    name : str
        Name to pass to `open_vectors` as `key`.
    shape : tuple of int
        Shape of the array. Arrays with other than two dimensions cannot be read as vectors.
    dtype : str
        Type of the values, as the file states it.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
