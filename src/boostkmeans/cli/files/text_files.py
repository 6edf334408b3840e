"""The files of texts that --texts names: files, patterns and folders, as for vectors."""

from collections.abc import Sequence
from pathlib import Path

from boostkmeans import DataFormatError
from boostkmeans.cli.files.table_input import TABLE_ENDINGS, read_texts, table_ending
from boostkmeans.io import list_files
from boostkmeans.io._access.choice import list_names
from boostkmeans.io._access.urls import is_url

# Endings of the files of a folder that may have texts.
TEXT_ENDINGS = (*TABLE_ENDINGS, ".txt")
# First characters of names that are not data, as in folders of vectors.
HIDDEN = (".", "_")


def text_files(paths: Sequence[str]) -> list[str]:
    """Return the files, in the order of the paths. Patterns and folders are sorted, as for vectors."""
    return [file for path in paths for file in _files_of(path)]


def read_all_texts(files: Sequence[str], column: str | None) -> list[str]:
    """Read the texts of several files, one after the other."""
    return [text for file in files for text in read_texts(file, column)]


def _files_of(path: str) -> list[str]:
    if Path(path).is_dir():
        return _files_in(path)
    # The folder of a URL may have files of any kind, so that it needs a pattern.
    return [path] if is_url(path) and "*" not in path else list_files(path)


def _files_in(folder: str) -> list[str]:
    names = sorted(one.name for one in Path(folder).iterdir() if not one.is_dir())
    endings = {one: table_ending(one) for one in names if not one.startswith(HIDDEN)}
    known = {one: ending for one, ending in endings.items() if ending in TEXT_ENDINGS}
    if not known:
        raise FileNotFoundError(
            f"{folder} is a folder without files of texts ({', '.join(TEXT_ENDINGS)}). It has "
            f"{list_names(names)}."
        )
    if len(set(known.values())) > 1:
        raise DataFormatError(
            f"The folder has texts of several formats: {', '.join(sorted(set(known.values())))}.",
            file=folder,
            remedy="Choose one with a pattern such as '*.parquet'.",
        )
    return [str(Path(folder, one)) for one in known]
