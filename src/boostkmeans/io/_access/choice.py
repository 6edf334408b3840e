"""Choice of one array, dataset or column of a file that has several."""

from boostkmeans._runtime.errors import ChoiceError, DataFormatError, Message, Parameter
from boostkmeans.io._access.location import Location

# Dataset of the vectors to index in the files of ann-benchmarks.
TRAIN = "train"
# Number of names that a message lists.
MAX_NAMES = 20
# Number of characters of each name that a message shows.
MAX_CHARACTERS = 40


def choose_name(where: Location, what: str, key: str | None, available: list[str]) -> str:
    """Return the key if it is given, else the only name, else "train".

    `what` is "array" or "dataset".
    """
    if key is not None:
        if key not in available:
            raise missing_name_error(where, what, key, available)
        return key
    if len(available) == 1:
        return available[0]
    if TRAIN in available:
        return TRAIN
    if not available:
        raise where.error(f"The file has no {what}.")
    raise ambiguous_name_error(where, f"The file has several {what}s", available)


def missing_name_error(
    where: Location, what: str, key: str, available: list[str], hint: str = ""
) -> ChoiceError:
    """Return the error for a name that the file does not have."""
    problem = f"The file has no {what} {key!r}. Available: {list_names(available)}."
    return ChoiceError(f"{problem} {hint}".rstrip(), file=where.file, place=where.place)


def ambiguous_name_error(where: Location, problem: str, available: list[str]) -> ChoiceError:
    """Return the error for a file with several candidates. The caller must name one of them."""
    return ChoiceError(
        f"{problem}: {list_names(available)}.",
        available,
        file=where.file,
        place=where.place,
        remedy=Message("Name one of them: {key}.", key=Parameter("key", available[0])),
    )


def no_rows_error(where: Location) -> DataFormatError:
    """Return the error for a file without rows, whose number of columns is therefore unknown."""
    return where.error("The file has no rows, so the number of columns is unknown.")


def list_names(names: list[str]) -> str:
    """Return a list of names for a message."""
    cut = [one if len(one) <= MAX_CHARACTERS else one[:MAX_CHARACTERS] + "..." for one in names]
    more = f" and {len(cut) - MAX_NAMES} more" if len(cut) > MAX_NAMES else ""
    return ", ".join(map(repr, cut[:MAX_NAMES])) + more if cut else "none"
