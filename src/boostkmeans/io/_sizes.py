"""Amounts of memory with units, such as "2GB" or "512MiB"."""

import re

from boostkmeans._runtime.errors import ParameterError

# "MB" is decimal and "MiB" is binary. A single letter is binary, as in most command line tools.
UNITS = {
    "": 1, "b": 1,
    "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
    "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40,
    "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
}  # fmt: skip
AMOUNT = re.compile(r"\s*(\d{1,20}(?:\.\d{1,20})?)\s*([a-z]{0,3})\s*", re.IGNORECASE | re.ASCII)


def parse_bytes(amount: int | str) -> int:
    """Return a number of bytes for an amount of memory.

    Parameters
    ----------
    amount : int or str
        Number of bytes, or a number with a unit: "kB", "MB", "GB" and "TB" are powers of 1000, "KiB",
        "MiB", "GiB", "TiB", "K", "M", "G" and "T" are powers of 1024.

    Returns
    -------
    n_bytes : int
        Number of bytes, at least 1.

    Examples
    --------
    >>> parse_bytes("2GB"), parse_bytes("1.5 MiB"), parse_bytes(4096)
    (2000000000, 1572864, 4096)
    """
    return parse_memory("amount", amount)


def parse_memory(name: str, amount: int | str) -> int:
    """Return a number of bytes. The error names the parameter `name`."""
    n_bytes = _parse(amount)
    if n_bytes is None or n_bytes < 1:
        expected = "a positive number of bytes or a string such as '2GB' or '512MiB'"
        raise ParameterError(name, expected, amount)
    return n_bytes


def _parse(amount: object) -> int | None:
    if not isinstance(amount, str):
        return None if isinstance(amount, bool) or not isinstance(amount, int) else amount
    match = AMOUNT.fullmatch(amount)
    unit = UNITS.get(match[2].lower()) if match else None
    if match is None or unit is None:
        return None
    number = match[1]
    return int(float(number) * unit) if "." in number else int(number) * unit
