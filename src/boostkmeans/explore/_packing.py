"""Packing: arrays as base64 text, and JSON that is safe inside a script element."""

import base64
import json
import math
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

# zlib's default.
COMPRESSION_LEVEL = 6
# The page decompresses raw deflate data, without the header of zlib.
RAW_DEFLATE = -zlib.MAX_WBITS
DTYPES = ("uint8", "uint16", "uint32", "float32")
# Characters that could end a script element, start a comment in it, or end a line of JavaScript.
UNSAFE = {ord(one): f"\\u{ord(one):04x}" for one in "<>&\u2028\u2029"}


def pack(values: NDArray[Any], dtype: str) -> dict[str, Any]:
    """Return an array as compressed little-endian bytes in base64.

    >>> pack(np.array([1, 2]), "uint16")["length"]
    2
    """
    assert dtype in DTYPES
    array = np.ascontiguousarray(values, dtype=np.dtype(dtype).newbyteorder("<"))
    return {"dtype": dtype, "length": int(array.size), "data": _compress(array.tobytes())}


def pack_bytes(content: bytes) -> dict[str, Any]:
    """Return bytes in the form of a packed array of type uint8."""
    return {"dtype": "uint8", "length": len(content), "data": _compress(content)}


def unpack(packed: dict[str, Any]) -> NDArray[Any]:
    """Return the array of a packed value.

    >>> unpack(pack(np.array([3, 4]), "uint8")).tolist()
    [3, 4]
    """
    content = zlib.decompress(base64.b64decode(packed["data"]), RAW_DEFLATE)
    return np.frombuffer(content, dtype=np.dtype(packed["dtype"]).newbyteorder("<"))


def to_json(payload: Any) -> str:
    r"""Return JSON that can be placed inside a script element.

    >>> print(to_json({"text": "</script>"}))
    {"text":"\u003c/script\u003e"}
    """
    # A lone surrogate, which is not valid in a file, is written as an escape.
    text = json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _escape_surrogates(text.translate(UNSAFE))


def json_size(value: Any) -> int:
    r"""Return the number of bytes of a value in the page, with quotes and escapes.

    >>> json_size("<b>"), len(to_json("<b>"))
    (15, 15)
    """
    return len(to_json(value).encode("utf-8"))


def rounded(value: float) -> float | None:
    """Return a number with six significant digits, or None if it is not finite."""
    return float(f"{value:.6g}") if math.isfinite(value) else None


def _compress(content: bytes) -> str:
    packer = zlib.compressobj(COMPRESSION_LEVEL, zlib.DEFLATED, RAW_DEFLATE)
    return base64.b64encode(packer.compress(content) + packer.flush()).decode("ascii")


def _escape_surrogates(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text)
    return text
