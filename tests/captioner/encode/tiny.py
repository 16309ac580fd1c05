"""TensorFlow.js graph models of a few nodes, made by hand."""

from __future__ import annotations

import base64

import torch


def text(value: str) -> str:
    return base64.b64encode(value.encode()).decode()


def node(name: str, op: str, inputs: list[str] | None = None, **attributes: object) -> dict:
    return {"name": name, "op": op, "input": inputs or [], "attr": attributes}


def convolution(
    name: str, source: str, weight: str, *more: str, op: str = "Conv2D", stride: int = 1, padding="SAME", fused=()
):
    return node(
        name,
        op,
        [source, weight, *more],
        strides={"list": {"i": ["1", str(stride), str(stride), "1"]}},
        dilations={"list": {"i": ["1", "1", "1", "1"]}},
        padding={"s": text(padding)},
        data_format={"s": text("NHWC")},
        fused_ops={"list": {"s": [text(value) for value in fused]}},
    )


def model(*nodes: dict) -> dict:
    return {"modelTopology": {"node": [node("in", "Placeholder"), *nodes]}}


def picture(rows: list[list[float]]) -> torch.Tensor:
    """(1, 1, H, W)"""
    return torch.tensor(rows)[None, None]
