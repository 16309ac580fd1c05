"""The cheap look: how many letters the regions have room for. The detector itself runs in one test, on drawn words."""

from __future__ import annotations

import pytest
from PIL import Image, ImageDraw, ImageFont

from captioner.prepare import routing
from captioner.prepare.routing import TextSigns
from captioner.rooms.encode import ocr, text_presence
from captioner.rooms.encode.ocr import Region
from captioner.types import Box, Lane

ANYWHERE = Box(0.1, 0.1, 0.5, 0.2)


def test_a_region_has_room_for_two_letters_a_height():
    """Lines 10 and 1.5 times as long as high: 2 x 10 + 2 x 1.5 = 23 letters."""
    signs = text_presence.signs_of([Region(ANYWHERE, 10.0), Region(ANYWHERE, 1.5)])
    assert signs == TextSigns(regions=2, letters=23.0)


def test_no_region_promises_nothing():
    assert text_presence.signs_of([]) == TextSigns(0, 0.0)


def test_without_a_reader_nothing_is_known():
    assert text_presence.look(Image.new("RGB", (10, 10)), None) is None


@pytest.fixture(scope="module")
def reader():
    found = ocr.Reader.load(threads=1)
    if found is None:
        pytest.skip("rapidocr or its models are not installed")
    return found


def _page(*lines: str) -> Image.Image:
    page = Image.new("RGB", (480, 320), "white")
    pen, font = ImageDraw.Draw(page), ImageFont.load_default(size=22)
    for place, text in enumerate(lines):
        pen.text((20, 20 + 40 * place), text, fill="black", font=font)
    return page


def test_a_drawn_sentence_goes_to_the_text_lane_and_a_blank_page_does_not(reader):
    """34 letters and 6 spaces were drawn: the estimate is of their order, and above the limit of 20."""
    written = text_presence.look(_page("The quick brown fox", "jumps over the lazy dog"), reader)
    assert written is not None
    assert written.regions == 2
    assert 25 <= written.letters <= 60
    assert routing.lane_of(480, 320, written).lane is Lane.TEXT
    assert text_presence.look(_page(), reader) == TextSigns(0, 0.0)


def test_one_short_word_stays_in_the_plain_lane(reader):
    written = text_presence.look(_page("STOP"), reader)
    assert written is not None
    assert written.regions == 1
    assert routing.lane_of(480, 320, written).lane is Lane.PLAIN


def test_a_sentence_that_runs_upwards_counts_as_much(reader):
    page = _page("The quick brown fox jumps")
    upright, turned = (text_presence.look(one, reader) for one in (page, page.rotate(90, expand=True)))
    assert upright is not None
    assert turned is not None
    assert turned.letters == pytest.approx(upright.letters, rel=0.3)
