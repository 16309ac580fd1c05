"""Drawn pages of words: training pictures of kind "text", of which the books show only some eighty.

Deterministic for a seed. Knows no labels and no encoder.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

FONT_FOLDERS = (Path("/usr/share/fonts/truetype"), Path("/usr/share/fonts"))
GROUNDS = ("#ffffff", "#fffdf5", "#f4f4f4", "#fef3c7", "#dbeafe", "#1f2937", "#7f1d1d", "#14532d", "#111111")


def fonts() -> list[Path]:
    """Plain text fonts of the machine, sorted.  :raises FileNotFoundError: there are none."""
    found = sorted({path for folder in FONT_FOLDERS for path in folder.rglob("*.ttf")})
    plain = [path for path in found if not any(word in path.name.lower() for word in ("symbol", "emoji", "math"))]
    if not plain:
        raise FileNotFoundError("no TrueType fonts under /usr/share/fonts")
    return plain


def page(words: str, rng: random.Random, faces: Sequence[Path]) -> Image.Image:
    """A paragraph, a table, a slide or a sign that says `words`; 336 px on its longer side."""
    width, height = rng.choice(((672, 420), (560, 672), (672, 300), (672, 140), (480, 480), (672, 500)))
    ground = rng.choice(GROUNDS)
    dark = sum(bytes.fromhex(ground[1:])) < 380
    image = Image.new("RGB", (width, height), ground)
    draw = ImageDraw.Draw(image)
    draw_on = rng.choice((_paragraph, _paragraph, _table, _table, _table, _slide, _sign))
    draw_on(draw, words.split(), rng, rng.choice(faces), (width, height), "#f5f5f5" if dark else "#1a1a1a")
    image.thumbnail((336, 336), Image.Resampling.BILINEAR)
    return image


def _paragraph(draw: ImageDraw.ImageDraw, words: list[str], rng: random.Random, face: Path, size, ink: str) -> None:
    height_px = rng.choice((11, 14, 18, 22))
    _fill(draw, words, ImageFont.truetype(face, height_px), (24, 24, size[0] - 24, size[1] - 24), ink)


def _slide(draw: ImageDraw.ImageDraw, words: list[str], rng: random.Random, face: Path, size, ink: str) -> None:
    draw.rectangle((0, 0, size[0], size[1] // 5), fill=rng.choice(("#2563eb", "#b45309", "#047857", "#374151")))
    draw.text((20, size[1] // 20), " ".join(words[:4]), fill="#ffffff", font=ImageFont.truetype(face, size[1] // 12))
    font = ImageFont.truetype(face, 22)
    for index in range(rng.randint(3, 7)):
        bullet = "• " + " ".join(words[4 + 4 * index : 8 + 4 * index])
        draw.text((30, size[1] // 4 + index * 34), bullet, fill=ink, font=font)


def _sign(draw: ImageDraw.ImageDraw, words: list[str], rng: random.Random, face: Path, size, ink: str) -> None:
    font = ImageFont.truetype(face, rng.choice((40, 56, 72)))
    _fill(draw, words[: rng.randint(2, 8)], font, (30, size[1] // 5, size[0] - 30, size[1]), ink)


def _table(draw: ImageDraw.ImageDraw, words: list[str], rng: random.Random, face: Path, size, ink: str) -> None:
    columns, rows = rng.randint(2, 6), rng.randint(3, 22)
    font = ImageFont.truetype(face, max(8, min(16, size[1] // rows // 2)))
    across, down = size[0] / columns, size[1] / rows
    ruled = rng.random() < 0.6
    if rng.random() < 0.6:
        draw.rectangle(
            (0, 0, size[0], down),
            fill=rng.choice(("#93c5fd", "#fdba74", "#a7f3d0", "#d1d5db", "#b4783c", "#1e6f78", "#e8ecf8")),
        )
    for row in range(rows):
        for column in range(columns):
            number = f"{rng.randint(1, 99_999):,}"
            cell = words[(row * columns + column) % len(words)] if column == 0 or row == 0 else number
            draw.text((column * across + 6, row * down + 4), cell[:14], fill=ink, font=font)
        if ruled:
            draw.line((0, row * down, size[0], row * down), fill=ink)
    for column in range(1, columns if ruled else 1):
        draw.line((column * across, 0, column * across, size[1]), fill=ink)


def _fill(draw: ImageDraw.ImageDraw, words: list[str], font, frame: tuple[int, int, int, int], ink: str) -> None:
    left, y, right, bottom = frame
    line: list[str] = []
    for word in [*words, ""]:
        if word and draw.textlength(" ".join([*line, word]), font=font) < right - left:
            line.append(word)
            continue
        draw.text((left, y), " ".join(line), fill=ink, font=font)
        line, y = [word], y + int(font.size * 1.4)
        if y > bottom:
            return
