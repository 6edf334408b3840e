"""Documents as plain text: a folder with one file per document, or a file with one line per document."""

import os
from pathlib import Path

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans.documents._corpus import Corpus
from boostkmeans.documents._skipped import SkippedDocuments
from boostkmeans.io._access.byte_source import (
    ByteSource,
    TextFault,
    find_text_fault,
    utf_16_mark,
    without_mark,
)
from boostkmeans.io._access.folder import files_below

EXPECTED_FILES = "Expected text files, one per document, in the folder or its sub-folders."
EXPECTED_LINES = "Expected a text with one document per line."
EXPECTED_TEXT = "Expected plain text."


def read_folder(folder: Path, encoding: str, progress: ProgressCallback) -> Corpus:
    """Read all files below a folder, in the order of their paths.

    If all files are in sub-folders, these are the classes. Files and folders whose names begin with a
    dot are ignored.
    """
    names: list[str] = []
    texts: list[str] = []
    skipped = SkippedDocuments()
    files = sorted(files_below(folder, skipped.add))
    for i, name in enumerate(files):
        progress(f"reading file {i + 1} of {len(files)}", i, len(files))
        text = _read_document(folder / name, encoding)
        if isinstance(text, TextFault):
            skipped.add(name, text)
        else:
            names.append(name)
            texts.append(text)
    if not names and not skipped.documents:
        raise DataFormatError("The folder has no files.", file=str(folder), remedy=EXPECTED_FILES)
    if not names:
        raise skipped.nothing_left_error(str(folder), "files", EXPECTED_TEXT)
    classes: list[str | None] = [os.path.dirname(name) or None for name in names]  # noqa: PTH120
    return Corpus(
        names=names,
        texts=texts,
        classes=classes if all(classes) and len(set(classes)) > 1 else None,
        skipped=skipped.documents,
        source=str(folder),
    )


def read_lines(source: ByteSource, encoding: str, progress: ProgressCallback) -> Corpus:
    """Read one document per line. Blank lines are ignored. The name of a document is its line number."""
    names: list[str] = []
    texts: list[str] = []
    skipped = SkippedDocuments()
    n_blank = 0
    for number, line in enumerate(source.lines(encoding, "\n", progress), start=1):
        text = line.strip()
        fault = find_text_fault(text, encoding)
        if fault:
            skipped.add(f"line {number}", fault)
        elif text:
            names.append(f"line {number}")
            texts.append(text)
        else:
            n_blank += 1
    if not names and not skipped.documents:
        raise DataFormatError("The file is empty.", file=source.name, remedy=EXPECTED_LINES)
    if not names:
        raise skipped.nothing_left_error(source.name, "documents", EXPECTED_TEXT)
    return Corpus(
        names=names, texts=texts, skipped=skipped.documents, n_blank=n_blank, source=source.name
    )


def _read_document(path: Path, encoding: str) -> str | TextFault:
    """Return the text of a file, or the reason why it cannot be used."""
    if not path.is_file():  # opening a pipe would block
        return TextFault("not a file" if path.exists() else "a broken link")
    try:
        content = ByteSource(str(path)).read()
    except DataFormatError:
        return TextFault("the compressed file is damaged")
    except OSError as error:
        return TextFault(error.strerror or str(error))
    try:
        text = content.decode(without_mark(encoding))
    except UnicodeError as error:
        return _decoding_fault(content, encoding, error)
    if "\0" in text:
        return TextFault(f"binary: a NUL at character {text.index(chr(0)) + 1}")
    return text if text.strip() else TextFault("empty")


def _decoding_fault(content: bytes, encoding: str, error: UnicodeError) -> TextFault:
    mark = utf_16_mark(content)
    if mark:
        reason = f"not {encoding}: the first bytes are the mark of {mark}"
        return TextFault(reason, wrong_encoding=True)
    if b"\0" in content:
        return TextFault(f"binary: a NUL at byte {content.index(0)}")
    place = str(error)
    if isinstance(error, UnicodeDecodeError):
        place = f"0x{content[error.start]:02x} at byte {error.start}"
    return TextFault(f"not {encoding}: {place}", wrong_encoding=True)
