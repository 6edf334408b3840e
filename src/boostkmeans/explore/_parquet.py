"""Export of the map to a Parquet file, for other tools."""

import os
from typing import Any

from boostkmeans._storage.atomic_file import atomic_write
from boostkmeans.explore._packages import import_pyarrow

# Rows of a row group of the file.
ROWS_PER_GROUP = 1 << 17


def write_parquet(path: str | os.PathLike[str], columns: dict[str, Any], *, force: bool = False) -> None:
    """Write columns of equal length to a Parquet file, atomically."""
    pa = import_pyarrow()
    arrays = {}
    for name, values in columns.items():
        array = pa.array(values)
        # Names repeat, so that a dictionary of them is small.
        arrays[name] = array.dictionary_encode() if name == "name" else array
    table = pa.table(arrays)
    with atomic_write(path, force=force) as file:
        pa.parquet.write_table(table, file, row_group_size=ROWS_PER_GROUP)
