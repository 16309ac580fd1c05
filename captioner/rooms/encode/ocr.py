"""Side door of room 1: lines of text in a picture, through rapidocr's PP-OCR models, which lie inside its wheel.

Optional. Always names the model files, because rapidocr would download what it does not find; so a machine without
them has no OCR instead of a surprise. Upright text only. Knows nothing of what a line is worth on a page.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from captioner.types import Box, TextLine

MODELS = {"Det.model_path": "PP-OCRv6_det_small.onnx", "Rec.model_path": "PP-OCRv6_rec_small.onnx"}
THREADS = 2  # for onnxruntime; cores are shared with other workers
PROBE_PX = 480  # longest side; 0.1-0.3 CPU-s
READ_PX = 1600  # longest side; 12 px text on a wider screen is not read
LISTED_AT = 0.6  # confidence; what is lower is noise: "8" on a coffee cup came with .90, so length counts too
CONFIDENT_AT = 0.85  # "YAWANA" on a YAMAHA came with .83
SHORTEST = 2  # letters and digits
LOWEST_PX = 7  # in the picture as given; lower lines are texture


@dataclass(frozen=True, slots=True)
class Probe:
    """How much looks like text, before any is read.

    :ivar boxes: number of line-like regions.
    :ivar share: of the picture, 0..1.
    """

    boxes: int
    share: float

    @property
    def promises_text(self) -> bool:
        """Worth 1-3 CPU-s of reading.

        On 185 pictures (60 of COCO, 70 of books, 15 screens, 40 of the web) no picture with a confident line was
        missed; 20 of the 93 promises were empty.
        """
        return self.boxes >= 2 or self.share >= 0.01


@dataclass(frozen=True, slots=True)
class Region:
    """Something that looks like a line of text; nobody has read it.

    :ivar box: upright, around it.
    :ivar slimness: its long side by its short one, in pixels, at least 1; a turned line has that of an upright one.
    """

    box: Box
    slimness: float


class Reader:
    """PP-OCR small: one detector, one recogniser, two threads."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine

    @classmethod
    def load(cls, threads: int = THREADS) -> Reader | None:
        """None where rapidocr or its models are not installed."""
        models = models_folder()
        if models is None:
            return None
        from rapidocr import RapidOCR  # optional, and a second to import

        files = {key: str(models / name) for key, name in MODELS.items()}
        cores = {
            "EngineConfig.onnxruntime.intra_op_num_threads": min(threads, os.cpu_count() or 1),
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
        # we scale the picture ourselves: rapidocr would enlarge every small one to 736 px, 10 times the cost
        own_scale = {"Det.limit_side_len": 32, "Det.limit_type": "min"}
        quiet = {"Global.log_level": "error", "Global.use_cls": False, "Global.text_score": LISTED_AT}
        return cls(RapidOCR(params={**files, **cores, **own_scale, **quiet}))

    def probe(self, image: Image.Image) -> Probe:
        """How much of a small copy looks like lines of text."""
        boxes = [region.box for region in self.regions(image)]
        return Probe(len(boxes), round(min(sum(box.area for box in boxes), 1.0), 4))

    def regions(self, image: Image.Image) -> tuple[Region, ...]:
        """What looks like lines of text in a copy of `PROBE_PX`, not read; about 45 CPU-ms on one thread."""
        small = _scaled(image, PROBE_PX)
        found = self.engine(_bgr(small), use_det=True, use_rec=False)
        corners = found.boxes if found.boxes is not None else ()
        return tuple(Region(_box(four, small.size), _slimness(four)) for four in corners)

    def read(self, image: Image.Image) -> tuple[TextLine, ...]:
        """Lines in reading order, pieces of one row joined, noise left out."""
        scaled = _scaled(image, READ_PX)
        found = self.engine(_bgr(scaled), use_det=True, use_rec=True)
        if not found.txts:
            return ()
        pieces = [
            TextLine(" ".join(text.split()), round(float(score), 4), _box(corners, scaled.size))
            for text, score, corners in zip(found.txts, found.scores, found.boxes, strict=True)
        ]
        kept = (piece for piece in pieces if is_text(piece, image.height))
        return in_reading_order(kept, aspect=image.width / image.height)


def models_folder() -> Path | None:
    """Where the wheel keeps its models; None where it or one of the two files is absent."""
    spec = util.find_spec("rapidocr")
    if spec is None or not spec.submodule_search_locations or util.find_spec("onnxruntime") is None:
        return None
    folder = Path(spec.submodule_search_locations[0]) / "models"
    return folder if all((folder / name).is_file() for name in MODELS.values()) else None


def version() -> str:
    """Package and model names, for `Eyes.versions`."""
    return f"rapidocr {metadata.version('rapidocr')} {MODELS['Rec.model_path'].removesuffix('.onnx')}"


def is_text(line: TextLine, height_px: int) -> bool:
    """Long, sure and high enough to be a line that somebody wrote."""
    letters = sum(character.isalnum() for character in line.text)
    high_enough = (line.box.bottom - line.box.top) * height_px >= LOWEST_PX
    return letters >= SHORTEST and line.confidence >= LISTED_AT and high_enough


def in_reading_order(pieces: Iterable[TextLine], *, aspect: float) -> tuple[TextLine, ...]:
    """Rows from top to bottom, each from left to right; pieces of a row under half a line height apart become one.

    `aspect` is width by height of the picture: boxes are shares of both.
    """
    lines: list[TextLine] = []
    for row in _rows(sorted(pieces, key=lambda piece: (piece.box.top, piece.box.left))):
        joined: list[TextLine] = []
        for piece in sorted(row, key=lambda piece: piece.box.left):
            if joined and _touches(joined[-1].box, piece.box, aspect):
                joined[-1] = _join(joined[-1], piece)
            else:
                joined.append(piece)
        lines.extend(joined)
    return tuple(lines)


def text_share(lines: Sequence[TextLine]) -> float:
    """Share of the picture under confident lines, 0..1."""
    return round(min(sum(line.box.area for line in lines if line.confidence >= CONFIDENT_AT), 1.0), 4)


def _rows(pieces: list[TextLine]) -> list[list[TextLine]]:
    """A piece joins a row while its middle lies within the height of the row's first piece."""
    rows: list[list[TextLine]] = []
    for piece in pieces:
        middle = (piece.box.top + piece.box.bottom) / 2
        for row in rows:
            if row[0].box.top <= middle <= row[0].box.bottom:
                row.append(piece)
                break
        else:
            rows.append([piece])
    return rows


def _touches(left: Box, right: Box, aspect: float) -> bool:
    return (right.left - left.right) * aspect < 0.5 * (left.bottom - left.top)


def _join(left: TextLine, right: TextLine) -> TextLine:
    box = Box(
        left.box.left,
        min(left.box.top, right.box.top),
        max(left.box.right, right.box.right),
        max(left.box.bottom, right.box.bottom),
    )
    return TextLine(f"{left.text} {right.text}", min(left.confidence, right.confidence), box)


def _scaled(image: Image.Image, side_px: int) -> Image.Image:
    copy = image.convert("RGB")
    copy.thumbnail((side_px, side_px), Image.Resampling.BILINEAR)
    return copy


def _bgr(image: Image.Image) -> np.ndarray:
    return np.ascontiguousarray(np.asarray(image)[:, :, ::-1])  # rapidocr's arrays are OpenCV's


def _box(corners: np.ndarray, size: tuple[int, int]) -> Box:
    across, down = corners[:, 0] / size[0], corners[:, 1] / size[1]
    edges = (across.min(), down.min(), across.max(), down.max())
    return Box(*(round(float(min(max(edge, 0.0), 1.0)), 4) for edge in edges))


def _slimness(corners: np.ndarray) -> float:
    """`corners`: (4, 2) pixels, clockwise from the top left."""
    across, down = (float(np.linalg.norm(corners[corner] - corners[0])) for corner in (1, 3))
    return max(across, down) / max(min(across, down), 1.0)
