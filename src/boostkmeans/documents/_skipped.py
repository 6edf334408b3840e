"""Documents that a reader could not use, and the error if none are left."""

from dataclasses import dataclass, field

from boostkmeans._runtime.errors import DataFormatError, Message, Parameter, Text
from boostkmeans.documents._corpus import Skipped
from boostkmeans.io._access.byte_source import TextFault

WRONG_ENCODING_REMEDY = Message(
    "If the texts have another encoding, pass it, e.g. {encoding}.",
    encoding=Parameter("encoding", "latin-1"),
)


@dataclass
class SkippedDocuments:
    """Documents that a reader could not use, in the order in which they were found."""

    documents: list[Skipped] = field(default_factory=list)
    wrong_encoding: bool = False
    """True if a document is probably in another encoding."""

    def add(self, name: str, reason: str | TextFault) -> None:
        """Add a document."""
        if isinstance(reason, TextFault):
            self.wrong_encoding |= reason.wrong_encoding
            reason = reason.reason
        self.documents.append(Skipped(name, reason))

    def nothing_left_error(self, source: str, what: str, expected: str) -> DataFormatError:
        """Return the error for a file or folder whose documents were all skipped.

        `what` is "documents" or "files", and `expected` is the advice if the encoding is not the cause.
        """
        first = self.documents[0]
        problem = f"None of its {len(self.documents)} {what} can be used. {first.name}: {first.reason}."
        remedy: Text = WRONG_ENCODING_REMEDY if self.wrong_encoding else expected
        return DataFormatError(problem, file=source, remedy=remedy)
