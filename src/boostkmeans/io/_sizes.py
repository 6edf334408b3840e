"""Amounts of memory as people write them: "2GB", "512MiB"."""

import re

# Decimal as disks are sold, binary as memory is; a letter alone means what most tools mean by it.
UNITS = {
    "": 1, "b": 1,
    "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
    "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40,
    "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
}  # fmt: skip
AMOUNT = re.compile(r"\s*(\d{1,20}(?:\.\d{1,20})?)\s*([a-z]{0,3})\s*", re.IGNORECASE | re.ASCII)


def parse_bytes(amount: int | str) -> int:
    """The number of bytes that an amount stands for.

    >>> parse_bytes("2GB"), parse_bytes("1.5 MiB"), parse_bytes(4096)
    (2000000000, 1572864, 4096)
    """
    if isinstance(amount, str):
        match = AMOUNT.fullmatch(amount)
        unit = UNITS.get(match[2].lower()) if match else None
        n_bytes = None if match is None or unit is None else _times(match[1], unit)
    else:
        n_bytes = None if isinstance(amount, bool) or not isinstance(amount, int) else amount
    if n_bytes is None or n_bytes < 1:
        raise ValueError(
            "An amount of memory must be a positive number of bytes, or a string such as '2GB' or "
            f"'512MiB'. Got {amount!r}."
        )
    return n_bytes


def _times(number: str, unit: int) -> int:
    return int(float(number) * unit) if "." in number else int(number) * unit
