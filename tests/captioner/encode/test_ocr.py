"""What counts as a line of text, in which order, and how much of the picture it covers. No model is run here."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from captioner.rooms.encode import ocr
from captioner.types import Box, TextLine


def line(text: str, left: float, top: float, *, width: float = 0.2, height: float = 0.05, confidence: float = 0.95):
    return TextLine(text, confidence, Box(left, top, left + width, top + height))


class Engine:
    """Stands for rapidocr: gives the same corners, texts and scores for every picture."""

    def __init__(self, *found: tuple[str, float, tuple[float, float, float, float]]) -> None:
        self.found, self.seen = found, []

    def __call__(self, array, *, use_det, use_rec):
        self.seen.append((array.shape, use_rec))
        height, width = array.shape[:2]
        boxes = [
            np.array([[left, top], [right, top], [right, bottom], [left, bottom]]) * (width, height)
            for _, _, (left, top, right, bottom) in self.found
        ]
        texts = tuple(text for text, _, _ in self.found) if use_rec else None
        scores = tuple(score for _, score, _ in self.found)
        return SimpleNamespace(boxes=np.array(boxes) if boxes else None, txts=texts, scores=scores)


def test_lines_are_read_from_top_to_bottom_and_left_to_right():
    pieces = [line("right", 0.6, 0.11), line("below", 0.1, 0.3), line("left", 0.1, 0.1)]
    assert [found.text for found in ocr.in_reading_order(pieces, aspect=1.0)] == ["left", "right", "below"]


def test_pieces_of_a_row_that_nearly_touch_become_one_line():
    """Gap .01 of the width, half a height is .025 of the height: they touch in a square picture."""
    pieces = [line("based", 0.31, 0.1, confidence=0.7), line("Region", 0.1, 0.1)]
    (joined,) = ocr.in_reading_order(pieces, aspect=1.0)
    assert (joined.text, joined.confidence) == ("Region based", 0.7)
    assert joined.box == Box(0.1, 0.1, pytest.approx(0.51), pytest.approx(0.15))


def test_a_gap_is_measured_in_pixels_not_in_shares():
    pieces = [line("Region", 0.1, 0.1), line("based", 0.31, 0.1)]
    assert len(ocr.in_reading_order(pieces, aspect=4.0)) == 2  # .01 of a width four times the height is .04 of it


@pytest.mark.parametrize(
    ("found", "kept"),
    [
        (line("Sale", 0, 0), True),
        (line("8", 0, 0), False),  # what a coffee cup looked like
        (line("—…·", 0, 0), False),
        (line("Sale", 0, 0, confidence=0.5), False),
        (line("Sale", 0, 0, height=0.005), False),  # 2 px of 400
    ],
)
def test_noise_is_no_text(found, kept):
    assert ocr.is_text(found, 400) is kept


def test_only_confident_lines_count_as_covered():
    lines = [line("Sale", 0, 0, width=0.5, height=0.2), line("YAWANA", 0, 0.5, width=0.5, height=0.2, confidence=0.83)]
    assert ocr.text_share(lines) == 0.1


def test_boxes_come_back_in_shares_whatever_the_scale():
    reader = ocr.Reader(Engine(("Region-based  segmentation", 0.99, (0.25, 0.5, 0.75, 0.625))))
    (found,) = reader.read(Image.new("RGB", (3200, 800)))
    assert found == TextLine("Region-based segmentation", 0.99, Box(0.25, 0.5, 0.75, 0.625))
    assert reader.engine.seen == [((400, 1600, 3), True)]


def test_a_probe_reads_nothing_and_looks_at_a_small_copy():
    reader = ocr.Reader(Engine(("a", 0.9, (0, 0, 0.5, 0.1)), ("b", 0.9, (0, 0.2, 0.5, 0.3))))
    probe = reader.probe(Image.new("RGB", (960, 480)))
    assert (probe.boxes, probe.share) == (2, 0.1)
    assert probe.promises_text
    assert reader.engine.seen == [((240, 480, 3), False)]


def test_a_picture_without_regions_promises_nothing():
    reader = ocr.Reader(Engine())
    assert not reader.probe(Image.new("RGB", (100, 100))).promises_text
    assert reader.read(Image.new("RGB", (100, 100))) == ()


def test_one_faint_region_is_not_worth_reading():
    assert not ocr.Probe(1, 0.004).promises_text
    assert ocr.Probe(1, 0.02).promises_text
    assert ocr.Probe(2, 0.004).promises_text


def test_without_rapidocr_there_is_no_reader(monkeypatch):
    monkeypatch.setattr(ocr.util, "find_spec", lambda name: None)
    assert ocr.models_folder() is None
    assert ocr.Reader.load() is None


def test_regions_are_as_slim_as_their_pixels_whatever_the_shape_of_the_picture():
    """480 x 240 px after scaling: .5 x 480 = 240 by .125 x 240 = 30 px: 8; upright 24 x 120: 5."""
    reader = ocr.Reader(Engine(("a", 0.9, (0, 0, 0.5, 0.125)), ("b", 0.9, (0.9, 0, 0.95, 0.5))))
    assert [region.slimness for region in reader.regions(Image.new("RGB", (960, 480)))] == pytest.approx([8.0, 5.0])


def test_a_region_turned_by_45_degrees_keeps_its_slimness():
    """From (0, 0) 100 px along the diagonal, 20 px across: 5; its upright box would be square, 1."""
    corners = np.array([[0, 0], [70.71, 70.71], [56.57, 84.85], [-14.14, 14.14]])
    assert ocr._slimness(corners) == pytest.approx(5, rel=1e-3)


def test_the_probe_sums_up_the_regions():
    reader = ocr.Reader(Engine(("a", 0.9, (0, 0, 0.5, 0.1)), ("b", 0.9, (0, 0.2, 0.5, 0.3))))
    picture = Image.new("RGB", (300, 200))
    boxes = [region.box for region in reader.regions(picture)]
    assert reader.probe(picture) == ocr.Probe(len(boxes), round(sum(box.area for box in boxes), 4))
