"""A graph model in plain torch against values worked out by hand."""

from __future__ import annotations

import pytest
import torch

from captioner.rooms.encode.graph import Graph, resize_bilinear, same_padding
from captioner.types import WeightsMissing

from . import tiny


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "expected"),
    [
        (512, 3, 2, (0, 1)),  # total (256 - 1) * 2 + 3 - 512 = 1, and the odd pixel goes after
        (513, 3, 2, (1, 1)),  # total (257 - 1) * 2 + 3 - 513 = 2
        (128, 5, 1, (2, 2)),
        (64, 1, 1, (0, 0)),
        (7, 2, 2, (0, 1)),
        (4, 1, 2, (0, 0)),  # (2 - 1) * 2 + 1 - 4 = -1: never negative
    ],
)
def test_same_padding_puts_the_odd_pixel_after(size, kernel, stride, expected):
    assert same_padding(size, kernel, stride) == expected


def test_dilation_widens_the_padding():
    assert same_padding(10, 3, 1, dilation=2) == (2, 2)


def test_a_strided_same_convolution_looks_right_and_down_of_the_corner():
    """4 x 4 picture, 3 x 3 kernel of ones, stride 2: padding (0, 1), so windows start at 0 and 2.

    Top left: rows 0-2, columns 0-2 of 0..15 -> 0+1+2+4+5+6+8+9+10 = 45. With torch's padding=1 it would be
    0+1+4+5 = 10. Bottom right: rows 2-3, columns 2-3 -> 10+11+14+15 = 50.
    """
    graph = Graph(tiny.model(tiny.convolution("out", "in", "w", stride=2)), {"w": torch.ones(3, 3, 1, 1)}, ["out"])
    (out,) = graph(torch.arange(16.0).reshape(1, 1, 4, 4))
    assert out.tolist() == [[[[45.0, 39.0], [66.0, 50.0]]]]


def test_bias_and_relu_are_part_of_a_fused_convolution():
    fused = tiny.convolution("out", "in", "w", "b", op="_FusedConv2D", fused=("BiasAdd", "Relu"))
    graph = Graph(tiny.model(fused), {"w": torch.full((1, 1, 1, 1), 2.0), "b": torch.tensor([-3.0])}, ["out"])
    (out,) = graph(tiny.picture([[1.0, 2.0]]))
    assert out.tolist() == [[[[0.0, 1.0]]]]  # 2 - 3 -> 0, 4 - 3 = 1


def test_a_depthwise_convolution_keeps_channels_apart():
    """Weights (1, 1, in=2, multiplier=2): channel 0 gives 1x and 10x, channel 1 gives 2x and 20x, in that order."""
    weight = torch.tensor([[[[1.0, 10.0], [2.0, 20.0]]]])
    graph = Graph(tiny.model(tiny.convolution("out", "in", "w", op="DepthwiseConv2dNative")), {"w": weight}, ["out"])
    (out,) = graph(torch.tensor([3.0, 5.0]).reshape(1, 2, 1, 1))
    assert out.flatten().tolist() == [3.0, 30.0, 10.0, 100.0]


def test_axes_are_those_of_tensorflow():
    """Mean over axes 1 and 2 of NHWC is over height and width; axis 3 of a join is the channels."""
    nodes = (
        tiny.node("mean", "Mean", ["in", "axes"], keep_dims={"b": True}),
        tiny.node("out", "ConcatV2", ["mean", "mean", "axis"]),
    )
    graph = Graph(tiny.model(*nodes), {"axes": torch.tensor([1, 2]), "axis": torch.tensor(3)}, ["out"])
    (out,) = graph(torch.arange(8.0).reshape(1, 2, 2, 2))
    assert out.shape == (1, 4, 1, 1)
    assert out.flatten().tolist() == [1.5, 5.5, 1.5, 5.5]


def test_a_vector_constant_belongs_to_the_channels():
    nodes = (tiny.node("v", "Const"), tiny.node("out", "Mul", ["in", "v"]))
    graph = Graph(tiny.model(*nodes), {"v": torch.tensor([1.0, 10.0])}, ["out"])
    (out,) = graph(torch.ones(1, 2, 1, 3))
    assert out.flatten().tolist() == [1.0, 1.0, 1.0, 10.0, 10.0, 10.0]


def test_the_old_resize_starts_at_the_corner():
    """2 -> 4 samples at 0, .5, 1, 1.5: the last one has no right neighbour and stays at the edge."""
    out = resize_bilinear(tiny.picture([[0.0, 4.0]]), (1, 4), align_corners=False, half_pixel_centers=False)
    assert out.tolist() == [[[[0.0, 2.0, 4.0, 4.0]]]]


def test_the_new_resizes_are_those_of_torch():
    maps = tiny.picture([[0.0, 4.0]])
    half = resize_bilinear(maps, (1, 4), align_corners=False, half_pixel_centers=True)
    corners = resize_bilinear(maps, (1, 4), align_corners=True, half_pixel_centers=False)
    assert half.flatten().tolist() == [0.0, 1.0, 3.0, 4.0]
    assert corners.flatten().tolist() == pytest.approx([0.0, 4 / 3, 8 / 3, 4.0])


def test_only_what_leads_to_the_outputs_is_run():
    nodes = (tiny.node("out", "Relu", ["in"]), tiny.node("other", "NoSuchOperation", ["out"]))
    graph = Graph(tiny.model(*nodes), {}, ["out"])
    assert [step.name for step in graph.steps] == ["out"]


def test_a_map_that_is_read_twice_is_kept_until_its_last_reader():
    nodes = (
        tiny.node("a", "Relu", ["in"]),
        tiny.node("b", "Sigmoid", ["a"]),
        tiny.node("out", "Add", ["a", "b"]),
    )
    (out,) = Graph(tiny.model(*nodes), {}, ["out"])(tiny.picture([[0.0]]))
    assert out.item() == 0.5


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([tiny.node("out", "LSTMBlockCell", ["in"])], "LSTMBlockCell"),
        ([tiny.node("out", "Relu", ["nowhere"])], "nowhere"),
        ([tiny.convolution("out", "in", "absent")], "absent"),
        ([tiny.convolution("out", "in", "w", padding="EXPLICIT")], "EXPLICIT"),
    ],
)
def test_what_cannot_be_run_is_refused_when_built(nodes, message):
    with pytest.raises(WeightsMissing, match=message):
        Graph(tiny.model(*nodes), {"w": torch.ones(1, 1, 1, 1)}, ["out"])
