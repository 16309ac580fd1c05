"""Encoded pictures made in memory, whole and broken, and what to look for in a derivative."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

from PIL import Image, ImageDraw, ImageStat

CORNERS = ("top-left", "top-right", "bottom-right", "bottom-left")


def encoded(image: Image.Image, format_name: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, format_name, **options)
    return buffer.getvalue()


def scene(width: int = 320, height: int = 200) -> Image.Image:
    """A red rectangle in the top left corner, a green ellipse at the bottom right, on blue."""
    image = Image.new("RGB", (width, height), (30, 120, 200))
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, width // 4, height // 4), fill=(255, 0, 0))
    draw.ellipse((width // 2, height // 2, width - 10, height - 10), fill=(0, 200, 0))
    return image


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, *, bits: int = 8, colour: int = 2, pixels: bytes = b"", extra: bytes = b"") -> bytes:
    """A PNG put together by hand; `pixels` are the rows before compression."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + extra + chunk(b"IDAT", zlib.compress(pixels, 9)) + chunk(b"IEND", b"")


def with_orientation(value: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = value
    return exif


def opened(derivative: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(derivative))
    image.load()
    return image


def red_corners(image: Image.Image) -> list[str]:
    """The corners where the picture is red, a twentieth of each side in."""
    right, bottom = image.width - 1, image.height - 1
    inset_x, inset_y = image.width // 20, image.height // 20
    points = (
        (inset_x, inset_y),
        (right - inset_x, inset_y),
        (right - inset_x, bottom - inset_y),
        (inset_x, bottom - inset_y),
    )
    found = []
    for name, point in zip(CORNERS, points, strict=True):
        red, green, blue = image.convert("RGB").getpixel(point)
        if red > 180 and green < 80 and blue < 80:
            found.append(name)
    return found


def mean(image: Image.Image) -> float:
    return sum(ImageStat.Stat(image.convert("RGB")).mean) / 3


def spread(image: Image.Image) -> float:
    """Standard deviation of the brightness."""
    return ImageStat.Stat(image.convert("L")).stddev[0]
