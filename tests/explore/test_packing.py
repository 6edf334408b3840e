"""Packing of arrays, and JSON that is safe inside a script element."""

import base64
import json
import zlib

import numpy as np
import pytest

from boostkmeans.explore._packing import pack, pack_bytes, rounded, to_json, unpack


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "float32"])
def test_round_trip(dtype: str) -> None:
    values = np.arange(200).astype(dtype)
    packed = pack(values, dtype)
    assert (packed["dtype"], packed["length"]) == (dtype, 200)
    assert (unpack(packed) == values).all()
    assert json.loads(json.dumps(packed)) == packed


def test_bytes_are_little_endian_raw_deflate() -> None:
    packed = pack(np.array([1, 258]), "uint16")
    assert zlib.decompress(base64.b64decode(packed["data"]), -15) == b"\x01\x00\x02\x01"
    assert zlib.decompress(base64.b64decode(pack_bytes(b"abc")["data"]), -15) == b"abc"


def test_json_cannot_end_a_script() -> None:
    texts = ["</script><script>alert(1)</script>", "<!--", "]]>", "&lt;", "\u2028\u2029", "\ud800"]
    text = to_json({"texts": texts})
    assert not set("<>&\u2028\u2029\ud800") & set(text)
    assert json.loads(text)["texts"] == texts
    text.encode("utf-8")


def test_numbers_that_json_lacks_are_null() -> None:
    assert rounded(float("nan")) is rounded(float("inf")) is None
    assert rounded(1 / 3) == 0.333333
    with pytest.raises(ValueError, match="JSON"):
        to_json({"number": float("nan")})
