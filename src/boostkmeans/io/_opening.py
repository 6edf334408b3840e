"""`open_vectors`: open files of vectors of any format."""

from collections.abc import Iterable, Sequence

from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans.io import _formats
from boostkmeans.io._file_opening import open_file
from boostkmeans.io._file_options import FileOptions
from boostkmeans.io._file_sets import AnyPath, find_files
from boostkmeans.io._joining import open_joined
from boostkmeans.io._sizes import parse_memory
from boostkmeans.io._vectors import Vectors


def open_vectors(
    path: AnyPath | Iterable[AnyPath],
    *,
    format: str | None = None,  # noqa: A002
    key: str | Sequence[str] | None = None,
    drop: str | Sequence[str] | None = None,
    header: bool | None = None,
    id_column: str | None = None,
    max_memory: int | str | None = None,
    max_disk: int | str | None = None,
    progress: ProgressCallback | None = None,
) -> Vectors:
    """Open a file of vectors, one per row, or several files as one data set.

    The beginning of each file is checked at once. Rows are read when they are needed.

    Parameters
    ----------
    path : path or sequence of paths
        Name of the file, a pattern such as "emb-*.parquet", a folder, or a sequence of these. The files
        of a pattern or a folder are in the lexicographic order of their paths. In a folder, files with
        unknown suffixes and hidden files are ignored, and the others must have the same format. All
        files must have the same number of columns; values of different types are converted to a type
        that holds them exactly. The format follows from the suffix: `.npy`, `.npz` (arrays, or a sparse
        matrix saved by SciPy), `.fvecs`, `.ivecs`, `.bvecs`, `.fbin`, `.f16bin`, `.ibin`, `.u8bin`,
        `.i8bin`, `.parquet`, `.arrow`, `.feather`, `.hdf5`, `.csv`, `.txt`, `.dat`, `.tsv`, `.jsonl`
        (JSON Lines), `.safetensors`, `.mtx` (Matrix Market), `.svm` (svmlight) or `.mat` (CLUTO). "-" is
        standard input. Every file may be compressed with gzip.
    format : str, default=None
        Format of the file, if its suffix does not identify it: "npy", "npz", "fvecs", "ivecs", "bvecs",
        "fbin", "ibin", "u8bin", "i8bin", "parquet", "arrow", "hdf5", "csv", "tsv", "jsonl",
        "safetensors", "matrix-market", "svmlight" or "cluto". By default, the format is detected from
        the first bytes; standard input is CSV if they do not identify a format.
    key : str or sequence of str, default=None
        Array of an `.npz` or safetensors file or dataset of an HDF5 file; by default the only one, or
        "train". For tables and JSON Lines, the column of lists or the columns of numbers; by default the
        only column of lists, or all columns. Columns may be selected by wildcards, such as "x*", and by
        ranges in the order of the file, such as "x0:x9", which include both ends. A name that exists is
        never a pattern.
    drop : str or sequence of str, default=None
        Columns of a table that are not read: names, wildcards or ranges, as in `key`.
    header : bool, default=None
        Whether the first line of a CSV or TSV file holds column names. By default, it does if none of
        its cells is a number.
    id_column : str, default=None
        Column of a Parquet, Arrow, CSV, TSV or JSON Lines file with the ids of the rows, which are
        strings or integers. `Vectors.ids` returns them. This column is not one of the default columns of
        `key`.
    max_memory : int or str, default=None
        Memory limit, in bytes or as a string such as "2GB"; by default half of the machine's memory.
        Content that can be read only once is stored in memory up to a quarter of the limit and at most
        1 GiB. Larger content goes to an unnamed temporary file in the folder that the environment
        variable TMPDIR names.
    max_disk : int or str, default=None
        Limit for temporary files, in bytes or as a string such as "2GB"; by default half of the free
        space in their folder. With `max_memory`, the default is also at most the largest of twice
        `max_memory`, 64 times the size of the file, and 256 MiB. Content that needs more is refused,
        before anything is written if its size is known.
    progress : callable, default=None
        Function called as `progress(what, done, total)` while a file must be read as a whole.

    Returns
    -------
    vectors : Vectors
        The rows of all files, in order.

    Raises
    ------
    DataFormatError
        If the file does not have the expected content. The message names the file, the place and a
        remedy.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from boostkmeans.io import open_vectors
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "some.npy")
    ...     np.save(path, np.arange(6.0).reshape(3, 2))
    ...     with open_vectors(path) as vectors:
    ...         vectors.shape, vectors[-1].tolist(), [len(batch) for batch in vectors.batches(2)]
    ((3, 2), [4.0, 5.0], [2, 1])
    """
    _formats.check_format(format)
    limit = None if max_memory is None else parse_memory("max_memory", max_memory)
    disk = None if max_disk is None else parse_memory("max_disk", max_disk)
    options = FileOptions(format, key, header, id_column, limit, progress or ignore_progress, drop, disk)
    files = find_files(path, format)
    if len(files.paths) > 1:
        return open_joined(files, options)
    file = open_file(files.paths[0], options)
    return Vectors(file.name, file.format, file.store, limit, files.paths)
