"""`Location`: a file and a place in it, for error messages."""

from typing import NamedTuple

from boostkmeans._runtime.errors import DataFormatError, Message, Parameter, Text


class Location(NamedTuple):
    """A file, and optionally a place in it.

    >>> Location("a.npz").within("x.npy").within("byte 10").error("It is damaged.")
    DataFormatError('a.npz: x.npy, byte 10: It is damaged.')
    """

    file: str
    place: str = ""

    def within(self, place: str) -> "Location":
        """Return the location of a place inside this one."""
        return Location(self.file, f"{self.place}, {place}" if self.place else place)

    def error(self, problem: Text, remedy: Text = "") -> DataFormatError:
        """Return the error for a defect at this location."""
        return DataFormatError(problem, file=self.file, place=self.place, remedy=remedy)


def other_format_remedy(advice: str = "") -> Message:
    """Return the given advice, followed by the advice to specify the format."""
    return Message(
        "{advice}If the file has another format, pass it as {format}.",
        advice=f"{advice} " if advice else "",
        format=Parameter("format"),
    )


def modified_error(where: Location, change: str = "") -> DataFormatError:
    """Return the error for a file that was modified after it was opened."""
    detail = f": {change}" if change else ""
    return where.error(
        f"The file was modified while it was being read{detail}.", "Open it again once it is complete."
    )
