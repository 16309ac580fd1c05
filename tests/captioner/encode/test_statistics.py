"""Numbers about pixels, on pictures whose numbers are plain."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from captioner.rooms.encode.statistics import NAMES, pixel_statistics


def numbers(image: Image.Image) -> dict[str, float]:
    return dict(zip(NAMES, pixel_statistics(image).tolist(), strict=True))


def test_a_white_picture_is_flat_white_grey_and_without_edges():
    found = numbers(Image.new("RGB", (200, 100), "white"))
    assert (found["flat"], found["white"], found["grey"], found["top_colour"], found["border"]) == (1, 1, 1, 1, 1)
    assert (found["edges"], found["light_spread"], found["light_entropy"], found["saturation"]) == (0, 0, 0, 0)
    assert found["log_aspect"] == pytest.approx(np.log(2))


def test_noise_has_many_colours_and_no_flat_neighbours():
    noise = np.random.default_rng(0).integers(0, 256, (128, 128, 3), dtype=np.uint8)
    found = numbers(Image.fromarray(noise))
    assert found["flat"] < 0.01
    assert found["top_colour"] < 0.01
    assert found["log_colours"] > 9  # over 8,000 of 32,768
    assert found["light_entropy"] > 0.7


def test_half_black_half_white_has_one_ruled_row():
    image = Image.new("RGB", (64, 64), "white")
    image.paste("black", (0, 32, 64, 64))
    found = numbers(image)
    assert (found["white"], found["black"]) == (0.5, 0.5)
    assert found["ruled_rows"] == 1
    assert found["edges"] == pytest.approx(1 / 63)  # one of 63 steps
    assert found["one_colour_rows"] == 1


def test_size_beyond_the_training_pictures_changes_little():
    image = Image.linear_gradient("L").convert("RGB")
    large, small = numbers(image.resize((2000, 1000))), numbers(image.resize((336, 168)))
    assert large["light_entropy"] == pytest.approx(small["light_entropy"], abs=0.05)
    assert large["log_colours"] == pytest.approx(small["log_colours"], abs=0.2)


@pytest.mark.parametrize("size", [(1, 1), (1, 50), (50, 1)])
def test_thin_pictures_give_numbers(size):
    assert np.isfinite(pixel_statistics(Image.new("RGB", size))).all()
