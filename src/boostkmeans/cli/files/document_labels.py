"""Labels of documents, with the names of the documents as ids."""

import numpy as np
from numpy.typing import NDArray

from boostkmeans._runtime.untrusted_text import as_utf8, escape_untrusted
from boostkmeans.cli.files.label_output import check_pyarrow
from boostkmeans.cli.files.label_table import table_writer
from boostkmeans.cli.files.output import Output
from boostkmeans.cli.files.row_writer import row_writer

# Endings of tables with a header.
TABLE_ENDINGS = (".csv", ".parquet")
HELP = (
    "File for the cluster of each document: .csv or .parquet with the columns id and label, .npy with "
    "labels only, and any other ending for lines of name, tab and cluster; - prints these lines only."
)
"""Help text of options that name such a file."""


def check_label_file(option: str, output: Output | None) -> None:
    """Raise an error before the work begins if the labels cannot be written."""
    check_pyarrow(option, output)


def write_document_labels(output: Output, names: list[str], labels: NDArray[np.int32]) -> None:
    """Write or print the label of each document."""
    if output.ending == ".npy":
        with row_writer(output, labels.shape, np.int32) as write:
            write(labels)
    elif output.ending in TABLE_ENDINGS:
        ids = np.array([as_utf8(name) for name in names], dtype=object)
        with table_writer(output, ids.dtype) as write_table:
            write_table(labels, ids)
    else:
        lines = zip(names, labels.tolist(), strict=True)
        output.write("\n".join(f"{escape_untrusted(name)}\t{label}" for name, label in lines))
