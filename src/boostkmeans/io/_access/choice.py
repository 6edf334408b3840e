"""Which one of several arrays, datasets or columns is meant."""

from boostkmeans._runtime.errors import ChoiceError, DataFormatError

# The vectors to build from, in the layout of ann-benchmarks.
TRAIN = "train"
# Names that a message shows at most, and characters of each.
SHOWN_NAMES, SHOWN_CHARACTERS = 20, 40


def chosen(name: str, what: str, key: str | None, available: list[str]) -> str:
    """The key, the only name that there is, or "train"."""
    if key is not None:
        if key not in available:
            raise ChoiceError(f"{name}: there is no {what} {key!r}; there is {shown(available)}.")
        return key
    if len(available) == 1:
        return available[0]
    if TRAIN in available:
        return TRAIN
    if not available:
        raise DataFormatError(f"{name}: there is no {what} in it.")
    raise ChoiceError(
        f"{name}: which {what} is meant? There are {shown(available)}. Name one: key={available[0]!r}.",
        available,
    )


def no_rows(name: str) -> DataFormatError:
    """The error for what has no rows, and so nothing that tells how long they would be."""
    return DataFormatError(f"{name}: there are no rows in it, so that nothing tells their length.")


def shown(names: list[str]) -> str:
    """Names in a message."""
    cut = [one if len(one) <= SHOWN_CHARACTERS else one[:SHOWN_CHARACTERS] + "..." for one in names]
    more = f" and {len(cut) - SHOWN_NAMES} more" if len(cut) > SHOWN_NAMES else ""
    return ", ".join(map(repr, cut[:SHOWN_NAMES])) + more if cut else "none"
