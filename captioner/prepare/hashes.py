"""Two names for a picture: by its bytes, and by what it looks like. Knows Pillow, no limits and no files.

A perceptual hash is a hint, never a verdict: two pictures with near hashes are "the same" only after their embeddings
have been compared (see `duplicates`), and for charts, screenshots, text and flat fields it does not count at all: two
different charts on the same axes differ in a handful of bits.
"""

from __future__ import annotations

import hashlib

from PIL import Image

SIDE = 8  # 8 x 8 differences = 64 bits
FLAT = 8  # levels; below this range the bits would be rounding noise


def content_hash(data: bytes) -> str:
    """sha256 of the bytes, 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def perceptual_hash(image: Image.Image) -> str:
    """16 hex digits: is each of 8 x 8 cells brighter than its left neighbour (dHash, N. Krawetz 2013).

    "" for a picture whose 9 x 8 thumbnail spans no more than 8 grey levels.
    """
    grey = image.convert("L").resize((SIDE + 1, SIDE), Image.Resampling.BOX)
    low, high = grey.getextrema()
    if high - low <= FLAT:  # type: ignore[operator]  # one band: two numbers
        return ""
    levels = grey.tobytes()
    bits = 0
    for row in range(SIDE):
        for column in range(SIDE):
            at = row * (SIDE + 1) + column
            bits = bits << 1 | (levels[at + 1] > levels[at])
    return f"{bits:016x}"


def hamming(first: str, second: str) -> int | None:
    """Bits in which two perceptual hashes differ, 0..64; None where either picture has none."""
    if not first or not second:
        return None
    return (int(first, 16) ^ int(second, 16)).bit_count()
