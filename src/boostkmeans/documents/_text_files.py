"""Documents as plain text: a folder with a file for each, or a file with a line for each."""

import os
from collections.abc import Iterator
from pathlib import Path

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans.documents._corpus import Corpus, Skipped
from boostkmeans.io._access.byte_source import (
    ByteSource,
    invalid_text_reason,
    is_of_encoding,
    utf_16_mark,
    without_mark,
)

PLAIN_TEXT = "Expected is plain text."


def read_folder(folder: Path, encoding: str, progress: ProgressCallback) -> Corpus:
    """All files below a folder, in the order of their paths.

    If all of them lie in sub-folders, these are the classes. Names that begin with a dot are
    passed over.
    """
    names, texts = [], []
    skipped: list[Skipped] = []
    files = sorted(_files_below(folder, skipped))
    for i, name in enumerate(files):
        progress(f"reading file {i + 1} of {len(files)}", i, len(files))
        text, reason = _read_document(folder / name, encoding)
        if reason:
            skipped.append(Skipped(name, reason))
        else:
            names.append(name)
            texts.append(text)
    if not names:
        raise DataFormatError(_nothing_in_folder(folder, skipped, encoding))
    classes: list[str | None] = [os.path.dirname(name) or None for name in names]  # noqa: PTH120
    return Corpus(
        names=names,
        texts=texts,
        classes=classes if all(classes) and len(set(classes)) > 1 else None,
        skipped=skipped,
        source=str(folder),
    )


def read_lines(source: ByteSource, encoding: str, progress: ProgressCallback) -> Corpus:
    """A document for each line that is not blank. Its name is the number of the line."""
    names, texts, skipped = [], [], []
    n_blank = 0
    for number, line in enumerate(source.lines(encoding, "\n", progress), start=1):
        text = line.strip()
        reason = invalid_text_reason(text, encoding)
        if reason:
            skipped.append(Skipped(f"line {number}", reason))
        elif text:
            names.append(f"line {number}")
            texts.append(text)
        else:
            n_blank += 1
    if not names:
        raise DataFormatError(nothing_in_file(source.name, skipped, encoding))
    return Corpus(names=names, texts=texts, skipped=skipped, n_blank=n_blank, source=source.name)


def nothing_in_file(name: str, skipped: list[Skipped], encoding: str, expected: str = PLAIN_TEXT) -> str:
    """The message for a file in which no document is left. What is `expected` is a sentence."""
    if not skipped and expected != PLAIN_TEXT:
        return f"{name}: empty. {expected}"
    if not skipped:
        return f"{name}: empty. Expected is a text with a document on each line."
    return (
        f"{name}: none of its {len(skipped)} documents can be used. {skipped[0].name}: "
        f"{skipped[0].reason}. {_remedy(skipped, encoding, expected)}"
    )


def _files_below(folder: Path, skipped: list[Skipped]) -> Iterator[str]:
    """Paths relative to the folder. Links to folders are not followed: they may go round in circles.

    Sub-folders that cannot be read are added to `skipped`.
    """

    def skip(error: OSError) -> None:
        where = Path(error.filename)
        if where == folder:  # then there is nothing to go on with
            raise error
        reason = error.strerror or str(error)
        skipped.append(Skipped(f"{where.relative_to(folder)}{os.sep}", f"folder: {reason}"))

    for where, folders, files in os.walk(folder, onerror=skip):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if not name.startswith("."):
                yield str((Path(where) / name).relative_to(folder))


def _read_document(path: Path, encoding: str) -> tuple[str, str]:
    """The text and "", or the reason why there is none."""
    if not path.is_file():  # a pipe would be waited for, forever
        return "", "not a file" if path.exists() else "a link to nothing"
    try:
        content = ByteSource(str(path)).read()
    except DataFormatError:
        return "", "the compressed file is damaged"
    except OSError as error:
        return "", error.strerror or str(error)
    try:
        text = content.decode(without_mark(encoding))
    except UnicodeError as error:
        return "", _why_not(content, encoding, error)
    if "\0" in text:
        return "", f"binary: a NUL at character {text.index(chr(0)) + 1}"
    return text, "" if text.strip() else "empty"


def _why_not(content: bytes, encoding: str, error: UnicodeError) -> str:
    mark = utf_16_mark(content)
    if mark:
        return f"not {encoding}, but by its first bytes {mark}"
    if b"\0" in content:
        return f"binary: a NUL at byte {content.index(0)}"
    if isinstance(error, UnicodeDecodeError):
        return f"not {encoding}: 0x{content[error.start]:02x} at byte {error.start}"
    return f"not {encoding}: {error}"


def _nothing_in_folder(folder: Path, skipped: list[Skipped], encoding: str) -> str:
    if not skipped:
        return (
            f"{folder}: no files in this folder. Expected are text files, one for each document, in it "
            "or in its sub-folders."
        )
    return (
        f"{folder}: none of its {len(skipped)} files can be used. {skipped[0].name}: "
        f"{skipped[0].reason}. {_remedy(skipped, encoding, PLAIN_TEXT)}"
    )


def _remedy(skipped: list[Skipped], encoding: str, expected: str) -> str:
    if any(is_of_encoding(document.reason, encoding) for document in skipped):
        return "If these are texts in another encoding, give it: 'latin-1', for example."
    return expected
