"""Checksum of the head of a file: the length field and the JSON text, up to the first tensor.

The JSON text holds the CRC-32 of each tensor, and the format leaves no gaps between tensors. The
checksum of the head therefore covers every byte of the file, at no additional cost for large tensors. It
is the first entry of the file, at a fixed position, and is computed with zeros in its own place, without
a JSON parser. Version 0.13 and earlier do not write it, and ignore it.
"""

import hashlib
import hmac

# Name of the entry of `__metadata__`.
ENTRY = "checksum"
# Beginning of the JSON text of a file with a checksum, up to the digits.
PREFIX = b'{"__metadata__":{"checksum":"'
DIGEST_BYTES = 16
# Digits of a checksum that is not computed yet.
BLANK = "0" * (2 * DIGEST_BYTES)


def sealed(length: bytes, text: bytes) -> bytes:
    """Return the JSON text of a file, whose checksum is `BLANK`, with its checksum."""
    assert text.startswith(PREFIX + BLANK.encode())
    return PREFIX + _digest(length, text) + text[len(PREFIX) + len(BLANK) :]


def stored_checksum(text: bytes) -> str | None:
    """Return the checksum in a JSON text, or None if the text does not begin with one."""
    if not text.startswith(PREFIX):
        return None
    return text[len(PREFIX) : len(PREFIX) + len(BLANK)].decode("ascii", errors="replace")


def is_intact(length: bytes, text: bytes) -> bool:
    """Return True if the checksum in a JSON text is that of the head."""
    stored = text[len(PREFIX) : len(PREFIX) + len(BLANK)]
    return text.startswith(PREFIX) and hmac.compare_digest(stored, _digest(length, text))


def _digest(length: bytes, text: bytes) -> bytes:
    """Return the checksum of the head as hexadecimal digits."""
    digest = hashlib.blake2b(length, digest_size=DIGEST_BYTES)
    digest.update(PREFIX)
    digest.update(BLANK.encode())
    digest.update(memoryview(text)[len(PREFIX) + len(BLANK) :])
    return digest.hexdigest().encode("ascii")
