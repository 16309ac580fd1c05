"""The tiles of the text lane: no pixel is left out, nothing is enlarged, and the budget holds for any picture."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from captioner.prepare import tiles
from captioner.prepare.tiles import PixelBox

SIDES = st.integers(1, 3000)


def test_a_small_picture_is_one_look():
    """300 x 200 fits into 336 x 336: 1 x 576 tokens, nothing scaled."""
    tiling = tiles.tile(300, 200)
    assert tiling.boxes == (PixelBox(0, 0, 300, 200),)
    assert (tiling.tokens, tiling.scale) == (576, 1.0)


def test_a_page_gets_four_tiles_and_an_overview():
    """672 x 672 = 2 x 2 squares of 336 without any shrinking; 5 x 576 = 2,880; the overview at 336/672 = .5."""
    tiling = tiles.tile(672, 672)
    assert (tiling.columns, tiling.rows, tiling.tokens, tiling.scale, tiling.overview_scale) == (2, 2, 2880, 1.0, 0.5)
    assert tiling.boxes[1:] == (
        PixelBox(0, 0, 336, 336),
        PixelBox(336, 0, 672, 336),
        PixelBox(0, 336, 336, 672),
        PixelBox(336, 336, 672, 672),
    )


@pytest.mark.parametrize(
    ("size", "grid"),
    [
        ((1344, 336), (4, 1)),  # a banner
        ((336, 1000), (1, 3)),  # a receipt
        ((1000, 600), (2, 2)),  # .672 in a 2 x 2; .56 in a 3 x 1, .336 in a 1 x 1
        ((400, 300), (2, 1)),  # .84 in one square; two keep every pixel, and four would not add any
    ],
)
def test_the_grid_follows_the_shape(size, grid):
    assert tiles.choose_grid(*size) == grid


def test_room_to_spare_becomes_overlap():
    """400 px in two tiles of 336: 0..336 and 64..400, 272 px are seen twice."""
    assert tiles.tile(400, 300).boxes[1:] == (PixelBox(0, 0, 336, 300), PixelBox(64, 0, 400, 300))


@given(SIDES, SIDES)
@example(1, 3000)
@example(20_000, 200)
def test_every_pixel_is_in_a_tile(width, height):
    tiling = tiles.tile(width, height)
    across, down = np.zeros(width, bool), np.zeros(height, bool)
    for box in tiling.boxes[1:] or tiling.boxes:  # a grid: covered along both sides is covered
        across[box.left : box.right] = True
        down[box.top : box.bottom] = True
    assert across.all()
    assert down.all()
    assert len(set(tiling.boxes[1:])) == (tiling.columns * tiling.rows if len(tiling.boxes) > 1 else 0)


@given(SIDES, SIDES, st.integers(14, 700), st.integers(1, 9))
def test_the_budget_holds_and_nothing_lies_outside(width, height, side, most):
    tiling = tiles.tile(width, height, side_px=side, most=most)
    assert tiling.boxes[0] == PixelBox(0, 0, width, height)
    assert 1 <= len(tiling.boxes) <= most
    assert tiling.tokens == 576 * len(tiling.boxes)
    assert all(0 <= b.left < b.right <= width and 0 <= b.top < b.bottom <= height for b in tiling.boxes)


@given(SIDES, SIDES, st.integers(14, 700))
def test_nothing_is_enlarged_and_every_tile_fits_its_square(width, height, side):
    tiling = tiles.tile(width, height, side_px=side)
    assert 0 < tiling.overview_scale <= tiling.scale <= 1
    for box in tiling.boxes[1:]:
        assert max(box.width, box.height) * tiling.scale <= side + 1  # cut at whole pixels


@given(SIDES, SIDES)
def test_no_grid_of_fewer_tiles_shows_as_much(width, height):
    tiling = tiles.tile(width, height)
    fewer = [(c, r) for c in range(1, 5) for r in range(1, 5) if c * r < tiling.columns * tiling.rows]
    assert all(tiles.fit(width, height, c, r, 336) < tiling.scale for c, r in fewer)


@given(SIDES, SIDES)
def test_a_turned_picture_gets_the_turned_grid(width, height):
    turned = tiles.tile(height, width)
    assert turned.scale == tiles.tile(width, height).scale
    assert turned.tokens == tiles.tile(width, height).tokens


@pytest.mark.parametrize("size", [(0, 10), (10, 0), (-1, 5)])
def test_a_picture_without_pixels_cannot_be_tiled(size):
    with pytest.raises(ValueError, match="cannot be tiled"):
        tiles.tile(*size)
