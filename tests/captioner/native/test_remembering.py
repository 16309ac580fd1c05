"""Eyes that remember: each picture is looked at once, and comes back from disk unchanged."""

from __future__ import annotations

from dataclasses import replace

from captioner.rooms.encode.remembering import RememberingEyes
from captioner.types import Box, Detection, Sight, Tag, TextLine

from . import tiny

SIGHT = Sight(
    8,
    8,
    kinds={"photo": 0.75, "art": 0.25},
    detections=(Detection("dog", 0.5, Box(0.1, 0.2, 0.3, 0.4)),),
    tags=(Tag("tabby", 0.5, "n02123045", True),),
    lines=(TextLine("EXIT", 0.875, Box(0, 0, 1, 0.5)),),
    text_share=0.5,
    missing=("ocr",),
)


class Eyes:
    tower = None

    def __init__(self, **versions: str) -> None:
        self.versions, self.looked = versions, 0

    def look(self, image, *, text=None):
        self.looked += 1
        return replace(SIGHT, width_px=self.looked)


def test_a_picture_is_looked_at_once_and_comes_back_unchanged(tmp_path):
    eyes = Eyes(tags="1")
    first = RememberingEyes(eyes, tmp_path).look(tiny.picture(1))
    assert RememberingEyes(eyes, tmp_path).look(tiny.picture(1)) == first == replace(SIGHT, width_px=1)
    assert eyes.looked == 1


def test_another_picture_another_question_and_another_version_are_looked_at(tmp_path):
    eyes, newer = Eyes(tags="1"), Eyes(tags="2")
    remembering = RememberingEyes(eyes, tmp_path)
    remembering.look(tiny.picture(1))
    remembering.look(tiny.picture(2))
    remembering.look(tiny.picture(1), text=True)
    RememberingEyes(newer, tmp_path).look(tiny.picture(1))
    assert (eyes.looked, newer.looked) == (3, 1)
