"""`read_matrix`: a sparse matrix in memory, with the labels that its file stores."""

import os

from boostkmeans._runtime.errors import ParameterError
from boostkmeans._runtime.parameter_checks import one_of
from boostkmeans.io._access.byte_source import ByteSource
from boostkmeans.io._access.urls import local_path
from boostkmeans.io._readers.sparse_store import READERS, LabelledMatrix, read_labelled


def read_matrix(path: str | os.PathLike[str], format: str) -> LabelledMatrix:  # noqa: A002
    r"""Read a sparse matrix into memory, with the labels that its file stores.

    Use `open_vectors` for rows without labels, and for all other formats.

    Parameters
    ----------
    path : path
        File name, or "-" for standard input. The file may be compressed with gzip.
    format : {"cluto", "matrix-market", "svmlight", "npz"}
        Format of the file.

    Returns
    -------
    LabelledMatrix
        The matrix, with the labels of the rows (svmlight) or the other arrays of the file (npz).

    Raises
    ------
    DataFormatError
        If the file is not valid. The error names the file, the place and a remedy.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from boostkmeans.io import read_matrix
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "some.svm")
    ...     _ = path.write_text("1 1:2 3:1\n2 2:4\n")
    ...     found = read_matrix(path, "svmlight")
    >>> found.matrix.shape, found.row_labels.tolist()
    ((2, 3), [1.0, 2.0])
    """
    if format not in READERS:
        raise ParameterError("format", one_of(tuple(READERS)), format, owner="read_matrix")
    source = ByteSource(local_path(os.fspath(path)))
    return read_labelled(source.name, format, source.read())
