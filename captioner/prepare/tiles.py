"""Where the text lane looks: a grid of tiles and an overview, as pixel boxes. Pure geometry over width and height.

Knows no pixels and no encoder beyond its side and tokens. Grid selection follows LLaVA-NeXT ("any resolution",
2024-01-30): the grid that keeps most of the picture's own resolution, then the one with fewest tiles.
"""

from __future__ import annotations

from dataclasses import dataclass

SIDE_PX = 336  # what the encoder sees of each tile
TILE_TOKENS = 576  # 24 x 24 patches of 14 px
MOST_TILES = 5  # the overview counts: 5 x 576 = 2,880 tokens


@dataclass(frozen=True, slots=True)
class PixelBox:
    """Left, top, right, bottom in pixels of the picture; right and bottom lie outside, as Pillow's `crop` has it."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        return self.right - self.left

    @property
    def height(self) -> int:
        return self.bottom - self.top


@dataclass(frozen=True, slots=True)
class Tiling:
    """What is cut out, and how much each cut is shrunk.

    :ivar boxes: the overview (the whole picture) first, then the tiles row by row; the overview alone where one
        square of `SIDE_PX` shows all there is.
    :ivar scale: factor from the picture's pixels to a tile's, over 0 and at most 1: nothing is enlarged.
    :ivar overview_scale: the same for the overview.
    """

    columns: int
    rows: int
    boxes: tuple[PixelBox, ...]
    scale: float
    overview_scale: float

    @property
    def tokens(self) -> int:
        return TILE_TOKENS * len(self.boxes)


def tile(width_px: int, height_px: int, *, side_px: int = SIDE_PX, most: int = MOST_TILES) -> Tiling:
    """Overview and tiles for a picture, at most `most` boxes in all; the tiles together cover every pixel.

    Room that a grid has to spare becomes overlap instead of padding: a word at a seam is whole in one of the two.

    :raises ValueError: a side or `most` is under 1.
    """
    if min(width_px, height_px, side_px, most) < 1:
        raise ValueError(f"{width_px} x {height_px} px in at most {most} tiles of {side_px} px cannot be tiled")
    whole = PixelBox(0, 0, width_px, height_px)
    overview_scale = fit(width_px, height_px, 1, 1, side_px)
    columns, rows = choose_grid(width_px, height_px, side_px=side_px, most=most - 1)
    scale = fit(width_px, height_px, columns, rows, side_px)
    if columns * rows == 1:
        return Tiling(1, 1, (whole,), overview_scale, overview_scale)
    across, down = cuts(width_px, columns, side_px / scale), cuts(height_px, rows, side_px / scale)
    tiles = tuple(PixelBox(left, top, right, bottom) for top, bottom in down for left, right in across)
    return Tiling(columns, rows, (whole, *tiles), scale, overview_scale)


def choose_grid(
    width_px: int, height_px: int, *, side_px: int = SIDE_PX, most: int = MOST_TILES - 1
) -> tuple[int, int]:
    """(columns, rows) of at most `most` tiles: the largest scale, then the fewest tiles.

    :returns: (1, 1) where no grid shows more than the overview does.
    """
    grids = [(columns, rows) for columns in range(1, most + 1) for rows in range(1, most // columns + 1)] or [(1, 1)]
    return max(grids, key=lambda grid: (fit(width_px, height_px, grid[0], grid[1], side_px), -grid[0] * grid[1]))


def fit(width_px: int, height_px: int, columns: int, rows: int, side_px: int) -> float:
    """Factor by which the picture is shrunk to fit a canvas of `columns` x `rows` squares; never over 1."""
    return min(1.0, columns * side_px / width_px, rows * side_px / height_px)


def cuts(length_px: int, parts: int, span_px: float) -> list[tuple[int, int]]:
    """`parts` stretches of one length, evenly from 0 to `length_px`, no gap between them.

    :param span_px: what one tile can hold; `parts` of them hold `length_px` or more.
    """
    span = min(length_px, max(int(span_px), -(-length_px // parts)))
    starts = [round(place * (length_px - span) / max(parts - 1, 1)) for place in range(parts)]
    return [(start, start + span) for start in starts]
