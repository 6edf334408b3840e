"""Files and streams of Arrow's IPC format, which includes Feather."""

from collections.abc import Iterator
from typing import Any

from boostkmeans.io._access.binary_file import BinaryFile
from boostkmeans.io._access.spool import Room
from boostkmeans.io._access.store import LazyStore, Store
from boostkmeans.io._access.table_columns import TableColumns
from boostkmeans.io._readers.arrow.batch_spool import spool_batches
from boostkmeans.io._readers.arrow.columns import choose_columns, import_pyarrow
from boostkmeans.io._readers.arrow.file_access import arrow_faults, as_arrow_file
from boostkmeans.io._readers.arrow.ids import choose_ids

# First bytes of an Arrow file. Streams do not have them.
FILE_MAGIC = b"ARROW1"
# First bytes of version 1 of Feather, which is not Arrow's IPC format.
OLD_FEATHER_MAGIC = b"FEA1"
# Last bytes of a stream.
END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"
# Last bytes of a stream that was written before Arrow 0.15.
OLD_END_OF_STREAM = b"\0\0\0\0"


def open_ipc(file: BinaryFile, wanted: TableColumns, room: Room) -> Store:
    """Return the rows of an Arrow file or stream.

    They are spooled, because the position of a row cannot be computed from the batches.
    """
    magic = file.head(len(FILE_MAGIC))
    if magic.startswith(OLD_FEATHER_MAGIC):
        raise file.location.error(
            "Version 1 of Feather is not supported.",
            "Write the file again with pyarrow.feather.write_feather(table, path).",
        )
    with arrow_faults(file), as_arrow_file(file) as arrow_file:
        schema = _ipc_reader(arrow_file, magic).schema
        ids = choose_ids(file.location, schema, wanted.id_column)
        columns = choose_columns(file.location, schema, wanted)

    def read() -> Store:
        with arrow_faults(file), file.file, as_arrow_file(file) as arrow_file:
            reader = _ipc_reader(arrow_file, magic)
            is_file = magic == FILE_MAGIC
            batches = _file_batches(reader) if is_file else _stream_batches(file, arrow_file, reader)
            names = [*columns.names, *([ids.name] if ids else [])]
            chosen = (_validated(batch.select(names)) for batch in batches)
            return spool_batches(columns, chosen, columns.length, room, None, ids)

    return LazyStore(file.name, read, file=file, dtype=columns.dtype, is_sparse=False)


def _ipc_reader(arrow_file: Any, magic: bytes) -> Any:
    ipc = import_pyarrow().ipc
    return ipc.open_file(arrow_file) if magic == FILE_MAGIC else ipc.open_stream(arrow_file)


def _file_batches(reader: Any) -> Iterator[Any]:
    return (reader.get_batch(i) for i in range(reader.num_record_batches))


def _stream_batches(file: BinaryFile, arrow_file: Any, reader: Any) -> Iterator[Any]:
    """Iterate over the batches of a stream, and check that it ends with its end mark.

    Without this check, a stream that is truncated between two batches would look complete.
    """
    end = arrow_file.tell()
    for batch in reader:
        end = arrow_file.tell()
        yield batch
    mark = file.head(len(END_OF_STREAM), end)
    if mark != END_OF_STREAM and mark[: len(OLD_END_OF_STREAM)] != OLD_END_OF_STREAM:
        raise file.location.within(f"byte {end}").error(
            "The stream has no end mark: it was truncated, or its writer did not close it.",
            "Write it again.",
        )


def _validated(batch: Any) -> Any:
    batch.validate(full=True)
    return batch
