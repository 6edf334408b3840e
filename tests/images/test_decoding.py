"""Decoding of images: formats, orientation, and files that must not be read."""

import os
import struct
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawings import drawing

pytest.importorskip("PIL")
from PIL import Image, ImageOps

from boostkmeans.images import _decoding
from boostkmeans.images._decoding import UnreadableImageError, read_grey

GREY = drawing(0)


def reason_of(path: Path) -> str:
    with pytest.raises(UnreadableImageError) as raised:
        read_grey(path, 1024)
    return str(raised.value)


@pytest.mark.parametrize("ending", ["png", "bmp", "tiff", "ppm", "webp", "gif"])
def test_reads_formats_without_loss(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"image.{ending}"
    settings: dict[str, Any] = {"lossless": True} if ending == "webp" else {}
    Image.fromarray(GREY).convert("RGB").save(path, **settings)
    np.testing.assert_array_equal(read_grey(path, None), GREY)


@pytest.mark.parametrize("ending", ["jpg", "png", "tiff", "webp"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_respects_the_exif_orientation(ending: str, orientation: int, tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / f"image.{ending}"
    Image.fromarray(GREY).convert("RGB").save(path, exif=exif)
    with Image.open(path) as image:
        expected = np.asarray(ImageOps.exif_transpose(image).convert("L"))
    found = read_grey(path, None)
    assert found.shape == (GREY.shape if orientation <= 4 else GREY.shape[::-1])
    # JPEG decodes grey levels without the detour of RGB, which rounds.
    np.testing.assert_allclose(found.astype(int), expected, atol=3)


def test_ignores_damaged_metadata(tmp_path: Path) -> None:
    path = tmp_path / "image.jpg"
    Image.fromarray(GREY).save(path, exif=b"Exif\0\0II*\0\xff\xff\xff\x7f", quality=95)
    assert read_grey(path, None).shape == GREY.shape


def test_scales_large_images_down(tmp_path: Path) -> None:
    path = tmp_path / "image.png"
    Image.fromarray(GREY).save(path)
    assert read_grey(path, 48).shape == (36, 48)
    assert read_grey(GREY, 48).shape == (36, 48)
    assert read_grey(path, 96).shape == GREY.shape
    palette = Image.fromarray(np.stack([GREY, GREY // 2, 255 - GREY], axis=2)).quantize(16)
    palette.save(path)
    assert len(np.unique(read_grey(path, 48))) > 16  # colours are averaged, not indices


def test_reads_deep_images(tmp_path: Path) -> None:
    deep = GREY.astype(np.uint16) * 257
    Image.fromarray(deep).save(tmp_path / "deep.png")
    scaled = (GREY.astype(float) - GREY.min()) * 255 / (GREY.max() - GREY.min())
    np.testing.assert_allclose(read_grey(tmp_path / "deep.png", None), scaled, atol=0.6)
    Image.fromarray(GREY.astype(np.float32) / 3 - 5).save(tmp_path / "float.tiff")
    np.testing.assert_allclose(read_grey(tmp_path / "float.tiff", None), scaled, atol=0.6)
    Image.fromarray(np.full((4, 4), 9, dtype=np.float32)).save(tmp_path / "flat.tiff")
    np.testing.assert_array_equal(read_grey(tmp_path / "flat.tiff", None), 0)
    Image.fromarray(np.full((4, 4), np.nan, dtype=np.float32)).save(tmp_path / "nan.tiff")
    assert reason_of(tmp_path / "nan.tiff") == "has pixels that are NaN or infinite"


def test_transparent_pixels_are_white(tmp_path: Path) -> None:
    pixels = np.dstack([GREY, GREY, GREY, np.full_like(GREY, 255)])
    pixels[:10, :, 3] = 0
    Image.fromarray(pixels).save(tmp_path / "image.png")
    found = read_grey(tmp_path / "image.png", None)
    assert (found[:10] == 255).all()
    np.testing.assert_array_equal(found[10:], GREY[10:])
    np.testing.assert_array_equal(read_grey(pixels, None), found)


def png_header(width: int, height: int) -> bytes:
    """Return a PNG file that declares a size, without pixels."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        checksum = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b""))
        + chunk(b"IEND", b"")
    )  # fmt: skip


@pytest.mark.parametrize("side", [10_600, 12_000, 30_000, 2**31 - 1])
def test_refuses_decompression_bombs(side: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_decoding, "_convert", None)  # The pixels must not be decoded.
    path = tmp_path / "bomb.png"
    path.write_bytes(png_header(side, side))
    assert "refused: its header declares" in reason_of(path)
    assert "110,000,000" in reason_of(path)


def test_names_the_reason_for_damaged_files(tmp_path: Path) -> None:
    path = tmp_path / "image.jpg"
    Image.fromarray(GREY).save(path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    assert reason_of(path).startswith("cannot be decoded (")
    path.write_bytes(png_header(50, 50))
    assert reason_of(path).startswith("cannot be decoded (")
    for text in (b"", b"plain text", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\nquit\n"):
        path.write_bytes(text)
        assert reason_of(path).startswith("not an image in a known format")
    assert reason_of(tmp_path / "missing.jpg") == "no such file"
    assert reason_of(tmp_path) == "not a file"
    os.mkfifo(tmp_path / "pipe.jpg")
    assert reason_of(tmp_path / "pipe.jpg") == "not a file"


def test_survives_random_damage(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    path = tmp_path / "image"
    for format_name in ("JPEG", "PNG", "TIFF", "GIF", "WEBP"):
        Image.fromarray(GREY).convert("RGB").save(path, format=format_name)
        original = path.read_bytes()
        for _ in range(30):
            content = bytearray(original)
            for place in rng.integers(0, min(len(content), 400), size=4):
                content[place] = rng.integers(0, 256)
            path.write_bytes(content)
            with suppress(UnreadableImageError):
                assert read_grey(path, 1024).ndim == 2
