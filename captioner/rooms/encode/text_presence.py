"""The cheap look of the text router: one pass of the text detector over a small copy; nothing is read.

Knows no lane and no budget: those are policy, in `captioner.prepare.routing`. Why this look and no other stands in
docs/routing.md.
"""

from __future__ import annotations

from collections.abc import Iterable

from PIL import Image

from captioner.prepare.routing import TextSigns
from captioner.rooms.encode.ocr import Reader, Region

LETTERS_PER_HEIGHT = 2.0  # Latin letters with their share of the spaces are about half as wide as their line is high


def look(image: Image.Image, reader: Reader | None) -> TextSigns | None:
    """Signs of text in an RGB picture of any size; None where there is no reader. About 45 CPU-ms on one thread."""
    return None if reader is None else signs_of(reader.regions(image))


def signs_of(regions: Iterable[Region]) -> TextSigns:
    """How many letters the regions have room for: a long low one holds a sentence, a square one a letter or two.

    The number of regions or their area alone sorts worse: one caption is one region, and one large word is much area.
    """
    rooms = [LETTERS_PER_HEIGHT * region.slimness for region in regions]
    return TextSigns(len(rooms), round(sum(rooms), 1))
