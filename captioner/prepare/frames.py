"""How many frames or pages a file holds, counted without decoding one, and without believing more than needed.

Walks the bytes of GIF and TIFF itself: asking Pillow builds objects for each frame, which takes 10 s and more for
a small file made of a million empty ones.
"""

from __future__ import annotations

import struct

from PIL import Image

ANIMATED = ("GIF", "PNG", "WEBP", "AVIF")


def count(image: Image.Image, data: bytes, *, most: int) -> int:
    """Frames of an opened image, at least 1; counting stops above `most`."""
    if image.format == "GIF":
        return max(1, _gif(data, most))
    if image.format == "TIFF":
        return max(1, _tiff(data, most))
    if image.format in ANIMATED:
        return max(1, int(getattr(image, "n_frames", 1)))
    return 1  # a camera's MPO: further frames are previews and other views


def _gif(data: bytes, most: int) -> int:
    found, at = 0, 13 + _table(data[10] if len(data) > 10 else 0)
    while at < len(data) and found <= most:
        block = data[at]
        if block == 0x2C and at + 9 < len(data):  # an image: descriptor, own palette, one byte of code size
            found += 1
            at += 10 + _table(data[at + 9]) + 1
        elif block == 0x21:
            at += 2
        elif block == 0x3B:
            break
        else:
            at += 1  # stray bytes between blocks: Pillow skips them, so do we
            continue
        while at < len(data) and data[at]:
            at += data[at] + 1
        at += 1
    return found


def _table(flags: int) -> int:
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _tiff(data: bytes, most: int) -> int:
    order = "<" if data[:2] == b"II" else ">"
    big = 43 in data[2:4]
    start, numbers, entry, offset = (8, "Q", 20, "Q") if big else (4, "H", 12, "I")
    found, seen = 0, set()
    try:
        (at,) = struct.unpack_from(order + offset, data, start)
        while at and at not in seen and found <= most:
            seen.add(at)
            (entries,) = struct.unpack_from(order + numbers, data, at)
            found += 1
            (at,) = struct.unpack_from(order + offset, data, at + struct.calcsize("<" + numbers) + entries * entry)
    except struct.error:  # the chain points outside the file; the pages before it count
        pass
    return found
