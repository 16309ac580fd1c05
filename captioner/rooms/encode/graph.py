"""A TensorFlow.js graph model, run in plain torch: topology from its json, constants from our safetensors.

Covers the operations of a convolutional network with NHWC maps and refuses the rest by name when it is built. Knows
nothing of pictures, boxes or labels. Maps are NCHW inside, (B, C, H, W).
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812  (the name torch's own pages use)
from torch import Tensor, nn

from captioner.types import WeightsMissing

NCHW_OF_NHWC = (0, 2, 3, 1)  # where each NHWC axis stands in NCHW


class Convolution(nn.Module):
    """Full or depthwise convolution with TensorFlow's padding, bias and ReLU in one step.

    :ivar weight: (out, in / groups, height, width).
    """

    weight: Tensor
    bias: Tensor | None

    def __init__(
        self, weight: Tensor, bias: Tensor | None, *, stride: int, dilation: int, groups: int, same: bool, relu: bool
    ) -> None:
        super().__init__()
        self.register_buffer("weight", weight.contiguous(memory_format=torch.channels_last))
        self.register_buffer("bias", bias)
        self.stride, self.dilation, self.groups, self.same, self.relu = stride, dilation, groups, same, relu

    def forward(self, maps: Tensor) -> Tensor:
        padding = (0, 0)
        if self.same:
            top, bottom = same_padding(maps.shape[2], self.weight.shape[2], self.stride, self.dilation)
            left, right = same_padding(maps.shape[3], self.weight.shape[3], self.stride, self.dilation)
            if (top, left) == (bottom, right):
                padding = (top, left)
            else:
                maps = F.pad(maps, (left, right, top, bottom))
        out = F.conv2d(maps, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)
        return F.relu_(out) if self.relu else out


class Apply(nn.Module):
    """An operation without weights."""

    def __init__(self, function: Callable[..., Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *maps: Tensor) -> Tensor:
        return self.function(*maps)


class Constant(nn.Module):
    """A stored value, broadcastable against (B, C, H, W)."""

    value: Tensor

    def __init__(self, value: Tensor) -> None:
        super().__init__()
        if value.ndim == 1:
            value = value[:, None, None]  # (C, 1, 1)
        elif value.ndim == 4:
            value = value.permute(0, 3, 1, 2)
        self.register_buffer("value", value)

    def forward(self) -> Tensor:
        return self.value


def same_padding(size: int, kernel: int, stride: int, dilation: int = 1) -> tuple[int, int]:
    """TensorFlow's SAME padding before and after one axis; the odd pixel goes after.

    >>> same_padding(512, 3, 2)  # torch's padding=1 would shift the picture by one pixel
    (0, 1)
    """
    wanted = -(-size // stride)
    total = max((wanted - 1) * stride + (kernel - 1) * dilation + 1 - size, 0)
    return total // 2, total - total // 2


def resize_bilinear(maps: Tensor, size: tuple[int, int], *, align_corners: bool, half_pixel_centers: bool) -> Tensor:
    """TensorFlow's three bilinear resizes; with both flags off sample i lies at i * in / out, which torch cannot do."""
    if align_corners or half_pixel_centers:
        return F.interpolate(maps, size=size, mode="bilinear", align_corners=align_corners)
    return _stretch(_stretch(maps, size[0], 2), size[1], 3)


def _stretch(maps: Tensor, size: int, axis: int) -> Tensor:
    length = maps.shape[axis]
    place = torch.arange(size, dtype=torch.float32) * (length / size)
    low = place.long()
    high = (low + 1).clamp(max=length - 1)
    weight = (place - low).reshape([-1 if other == axis else 1 for other in range(4)])
    return torch.lerp(maps.index_select(axis, low), maps.index_select(axis, high), weight)


@dataclass(frozen=True, slots=True)
class Step:
    """One node: the names it reads and the names nobody reads after it."""

    name: str
    inputs: tuple[str, ...]
    finished: tuple[str, ...]


class Graph(nn.Module):
    """The part of a graph model that leads to `outputs`, in topological order.

    :raises WeightsMissing: a node is not there, has an operation or a layout that is not supported, or lacks weights.
    """

    def __init__(self, model: Mapping[str, Any], constants: Mapping[str, Tensor], outputs: Sequence[str]) -> None:
        super().__init__()
        self.outputs = tuple(outputs)
        nodes = {node["name"]: node for node in model["modelTopology"]["node"]}
        built = _Builder(nodes, constants)
        order = built.order(outputs)
        self.steps = _with_ends([(name, built.data_inputs(name)) for name in order], self.outputs)
        self.operations = nn.ModuleList([built.operation(name) for name in order])
        self.source = built.source

    def forward(self, maps: Tensor) -> tuple[Tensor, ...]:
        """(B, C, H, W) in, one tensor per output name out."""
        values = {self.source: maps}
        for step, operation in zip(self.steps, self.operations, strict=True):
            values[step.name] = operation(*(values[name] for name in step.inputs))
            for name in step.finished:
                del values[name]
        return tuple(values[name] for name in self.outputs)


def _with_ends(wiring: list[tuple[str, tuple[str, ...]]], outputs: Sequence[str]) -> tuple[Step, ...]:
    """Add to each step what may be forgotten after it, so that maps do not pile up."""
    last_reader = {name: index for index, (_, inputs) in enumerate(wiring) for name in inputs}
    ends: dict[int, list[str]] = {}
    for name, index in last_reader.items():
        if name not in outputs:
            ends.setdefault(index, []).append(name)
    return tuple(Step(name, inputs, tuple(ends.get(index, ()))) for index, (name, inputs) in enumerate(wiring))


class _Builder:
    """Turns node descriptions into modules; thrown away when the graph stands."""

    def __init__(self, nodes: Mapping[str, Any], constants: Mapping[str, Tensor]) -> None:
        self.nodes, self.constants = nodes, constants
        self.source = ""

    def order(self, outputs: Sequence[str]) -> list[str]:
        """Ancestors of `outputs` before their readers; without the placeholder and folded weights."""
        done: dict[str, None] = {}
        waiting = list(reversed(outputs))
        while waiting:
            name = waiting[-1]
            if self._node(name)["op"] == "Placeholder":
                self.source = name
                done[name] = None
            missing = [source for source in self.data_inputs(name) if source not in done]
            if missing:
                waiting.extend(reversed(missing))
            else:
                done[waiting.pop()] = None
        return [name for name in done if name != self.source]

    def data_inputs(self, name: str) -> tuple[str, ...]:
        """The inputs that are maps; weights, axes and sizes are folded into the operation."""
        node = self._node(name)
        maps = {
            "Placeholder": 0,
            "Const": 0,
            "_FusedConv2D": 1,
            "FusedDepthwiseConv2dNative": 1,
            "Conv2D": 1,
            "DepthwiseConv2dNative": 1,
            "Mean": 1,
            "ResizeBilinear": 1,
            "ConcatV2": len(node.get("input", ())) - 1,
        }.get(node["op"])
        return tuple(node.get("input", ())[:maps])

    def operation(self, name: str) -> nn.Module:
        node = self._node(name)
        simple: dict[str, Callable[..., Tensor]] = {
            "Add": torch.add,
            "AddV2": torch.add,
            "Mul": torch.mul,
            "Relu": torch.relu,
            "Relu6": F.relu6,
            "Sigmoid": torch.sigmoid,
            "Identity": lambda maps: maps,
        }
        if node["op"] in simple:
            return Apply(simple[node["op"]])
        builders = {
            "Const": lambda node: Constant(self._constant(node["name"]).float()),
            "_FusedConv2D": self._convolution,
            "Conv2D": self._convolution,
            "FusedDepthwiseConv2dNative": self._convolution,
            "DepthwiseConv2dNative": self._convolution,
            "Mean": self._mean,
            "ResizeBilinear": self._resize,
            "ConcatV2": self._concat,
        }
        if node["op"] not in builders:
            raise WeightsMissing(f"{name}: the operation {node['op']} is not supported")
        return builders[node["op"]](node)

    def _convolution(self, node: Mapping[str, Any]) -> Convolution:
        weight, *bias = (self._constant(source).float() for source in node["input"][1:])
        strides, dilations = _ints(node, "strides"), _ints(node, "dilations") or [1, 1, 1, 1]
        fused = _texts(node, "fused_ops")
        padding = _text(node, "padding")
        if strides[1] != strides[2] or dilations[1] != dilations[2] or padding not in ("SAME", "VALID"):
            raise WeightsMissing(f"{node['name']}: strides {strides}, padding {padding} are not supported")
        if fused not in ([], ["BiasAdd"], ["BiasAdd", "Relu"]) or _text(node, "data_format") != "NHWC":
            raise WeightsMissing(f"{node['name']}: fused {fused} or its data format is not supported")
        if "Depthwise" in node["op"]:  # (height, width, in, multiplier)
            groups = weight.shape[2]
            weight = weight.permute(2, 3, 0, 1).reshape(-1, 1, *weight.shape[:2])
        else:  # (height, width, in, out)
            groups = 1
            weight = weight.permute(3, 2, 0, 1)
        return Convolution(
            weight,
            bias[0] if bias else None,
            stride=strides[1],
            dilation=dilations[1],
            groups=groups,
            same=padding == "SAME",
            relu="Relu" in fused,
        )

    def _mean(self, node: Mapping[str, Any]) -> Apply:
        axes = [NCHW_OF_NHWC[axis] for axis in self._constant(node["input"][1]).reshape(-1).tolist()]
        keep = bool(node["attr"].get("keep_dims", {}).get("b"))
        return Apply(lambda maps: maps.mean(axes, keepdim=keep))

    def _resize(self, node: Mapping[str, Any]) -> Apply:
        height, width = self._constant(node["input"][1]).tolist()
        flags = {key: bool(node["attr"].get(key, {}).get("b")) for key in ("align_corners", "half_pixel_centers")}
        return Apply(lambda maps: resize_bilinear(maps, (height, width), **flags))

    def _concat(self, node: Mapping[str, Any]) -> Apply:
        axis = NCHW_OF_NHWC[int(self._constant(node["input"][-1]))]
        return Apply(lambda *maps: torch.cat(maps, axis))

    def _node(self, name: str) -> Mapping[str, Any]:
        if name not in self.nodes:
            raise WeightsMissing(f"the graph has no node {name}")
        return self.nodes[name]

    def _constant(self, name: str) -> Tensor:
        if name not in self.constants:
            raise WeightsMissing(f"the weights hold no {name}")
        return self.constants[name]


def _ints(node: Mapping[str, Any], key: str) -> list[int]:
    return [int(value) for value in node["attr"].get(key, {}).get("list", {}).get("i", ())]


def _texts(node: Mapping[str, Any], key: str) -> list[str]:
    return [base64.b64decode(value).decode() for value in node["attr"].get(key, {}).get("list", {}).get("s", ())]


def _text(node: Mapping[str, Any], key: str) -> str:
    return base64.b64decode(node["attr"].get(key, {}).get("s", "")).decode()
