"""From maps to boxes, and from the grey square back to the picture."""

from __future__ import annotations

import pytest
import torch
from PIL import Image
from torch import nn

from captioner.rooms.encode.detector import LABELS, Detector, decode, letterbox
from captioner.types import Box


class Painted(nn.Module):
    """A network that always sees the same: class 15 at cell (64, 64), reaching 64 px left, 32 up, 64 right, 32 down."""

    def forward(self, maps):
        assert maps.shape == (1, 3, 512, 512)
        heat, extent = torch.zeros(1, 80, 128, 128), torch.zeros(1, 4, 128, 128)
        heat[0, 15, 64, 64] = 0.75
        heat[0, 15, 64, 65] = 0.5  # a neighbour of the peak: part of the same object
        extent[0, :, 64, 64] = torch.tensor([64.0, 32.0, 64.0, 32.0])
        return heat, extent


def test_there_are_eighty_labels_in_cocos_order():
    assert len(LABELS) == len(set(LABELS)) == 80
    assert (LABELS[0], LABELS[15], LABELS[41], LABELS[79]) == ("person", "cat", "cup", "toothbrush")


def test_a_cell_becomes_a_box_in_shares_of_the_picture():
    """Cell 64 lies at 256 px of the square. A 400 x 200 picture is scaled by 1.28 to 512 x 256 and starts at y = 128.

    Left (256 - 64) / 512 = .375, right .625; top (256 - 32 - 128) / 256 = .375, bottom (256 + 32 - 128) / 256 = .625.
    """
    (found,) = Detector(Painted()).find(Image.new("RGB", (400, 200)))
    assert (found.label, found.score) == ("cat", 0.75)
    assert found.box == Box(0.375, 0.375, 0.625, 0.625)


def test_boxes_end_at_the_edge_of_the_picture():
    (found,) = Detector(Painted()).find(Image.new("RGB", (512, 40)))  # 40 px high: the box is taller than that
    assert (found.box.top, found.box.bottom) == (0.0, 1.0)


def test_twins_of_one_class_merge_and_other_classes_stay():
    heat, extent = torch.zeros(80, 8, 8), torch.full((4, 8, 8), 8.0)
    heat[0, 2, 2], heat[0, 2, 4] = 0.9, 0.8  # 16 px boxes 8 px apart: overlap 8 / 24 = .33, kept
    heat[0, 6, 2] = 0.7
    heat[1, 2, 2] = 0.6
    extent[:, 2, 4] = torch.tensor([16.0, 8.0, 8.0, 8.0])  # now it covers the first one: 16 / 24 = .67, merged
    boxes, scores, labels = decode(heat, extent)
    assert labels.tolist() == [0, 0, 1]
    assert scores.tolist() == pytest.approx([0.9, 0.7, 0.6])
    assert boxes[0].tolist() == [0.0, 0.0, 16.0, 16.0]


def test_faint_cells_are_left_out():
    heat = torch.full((80, 8, 8), 0.1)
    assert decode(heat, torch.ones(4, 8, 8))[0].shape == (0, 4)


@pytest.mark.parametrize(
    ("size", "frame"), [((400, 200), (0, 128, 512, 256)), ((100, 100), (0, 0, 512, 512)), ((1, 3000), (255, 0, 1, 512))]
)
def test_a_picture_stands_in_the_middle_of_the_square(size, frame):
    square, found = letterbox(Image.new("RGB", size, "red"))
    assert square.size == (512, 512)
    assert found == frame
    assert square.getpixel((found[0] + found[2] // 2, 256)) == (255, 0, 0)
