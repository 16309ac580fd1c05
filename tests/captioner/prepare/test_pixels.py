"""Strips against the whole: what is reduced piece by piece has to equal what is reduced at once."""

from __future__ import annotations

import random

import pytest
from PIL import Image

from captioner.prepare import pixels


@pytest.mark.parametrize(("width", "height"), [(100, 4700), (101, 7001), (4700, 100), (170, 16_200)])
@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
def test_a_picture_reduced_in_strips_equals_one_reduced_at_once(mode, width, height):
    whole = _noise(width, height).convert(mode)
    factor = int(max(width, height) / (1.5 * 1536))  # 2, 3, 2 and 7: strips of 256, 255, 256 and 252 rows
    flat = pixels.flatten(whole)
    assert flat.image.size == whole.reduce(factor).size
    assert flat.image.tobytes() == whole.reduce(factor).tobytes()


def test_a_palette_picture_in_strips_equals_its_colours_reduced_at_once():
    whole = _noise(100, 5000).quantize(16)
    assert pixels.flatten(whole).image.tobytes() == whole.convert("RGB").reduce(2).tobytes()


def test_half_transparent_edges_take_no_colour_from_what_is_invisible():
    """Black beside fully transparent red, reduced by 2: the mixed column is half black, half ground, not reddish."""
    picture = Image.new("RGBA", (301, 4800), (255, 0, 0, 0))
    picture.paste((0, 0, 0, 255), (0, 0, 151, 4800))
    red, green, blue = pixels.flatten(picture).image.getpixel((75, 1200))
    assert red == green == blue == pytest.approx(127, abs=2)


@pytest.mark.parametrize(
    ("low", "high", "span"), [(100, 100, 0), (100, 108, 8), (0, 255, 255)], ids=["flat", "noise", "full"]
)
def test_the_span_is_the_largest_difference_in_one_channel(low, high, span):
    picture = Image.new("RGB", (20, 20), (low, low, low))
    picture.putpixel((3, 3), (low, high, low))
    assert pixels.flatten(picture).span == span


def test_fitting_never_enlarges_and_never_loses_a_side():
    assert pixels.fit(Image.new("L", (100, 50)), 512).size == (100, 50)
    assert pixels.fit(Image.new("L", (20_000, 10)), 512).size == (512, 1)


def test_a_jpeg_may_shrink_while_decoding_but_not_below_what_is_needed():
    assert pixels.draft_size((1000, 500)) == (1000, 500)
    width, height = pixels.draft_size((9000, 6000))
    assert (width, height) == (2304, 1536)


def _noise(width: int, height: int) -> Image.Image:
    return Image.frombytes("RGB", (width, height), random.Random(width).randbytes(width * height * 3))
