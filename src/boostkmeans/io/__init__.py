"""Reading and writing of vectors in many file formats, including files larger than memory.

>>> import numpy as np
>>> from boostkmeans.io import open_vectors, write_vectors
>>> import tempfile, pathlib
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder, "some.fvecs")
...     write_vectors(path, np.eye(3))
...     open_vectors(path).shape
(3, 3)
"""

from boostkmeans._storage.atomic_file import atomic_write, check_target
from boostkmeans.io._access.array_description import ArrayDescription
from boostkmeans.io._array_listing import list_arrays
from boostkmeans.io._file_sets import list_files
from boostkmeans.io._formats import FORMATS
from boostkmeans.io._inspection import InspectedFile, InspectedFiles, inspect_files
from boostkmeans.io._label_tables import write_labels
from boostkmeans.io._matrices import read_matrix
from boostkmeans.io._memory_check import check_memory
from boostkmeans.io._opening import open_vectors
from boostkmeans.io._readers.sparse_store import LabelledMatrix
from boostkmeans.io._sizes import parse_bytes
from boostkmeans.io._vectors import FileRows, Vectors
from boostkmeans.io._writing import WRITABLE, batch_writer, write_vectors

__all__ = [
    "FORMATS",
    "WRITABLE",
    "ArrayDescription",
    "FileRows",
    "InspectedFile",
    "InspectedFiles",
    "LabelledMatrix",
    "Vectors",
    "atomic_write",
    "batch_writer",
    "check_memory",
    "check_target",
    "inspect_files",
    "list_arrays",
    "list_files",
    "open_vectors",
    "parse_bytes",
    "read_matrix",
    "write_labels",
    "write_vectors",
]
