"""Room 2: fewer image tokens. (B, P, C) -> (B, T, C) by pooling over the grid or by learned queries.

Knows no encoder: a square grid in row-major order comes in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn


class GridDoesNotFit(ValueError):
    """The patches are no square grid, or its side is no multiple of the pooled side: bins would overlap."""


@dataclass(frozen=True, slots=True)
class ReduceConfig:
    """:ivar method: "none", "pool" or "perceiver".

    :ivar side: side of the pooled grid; T = side * side.
    :ivar queries: T of the perceiver.  :ivar blocks, heads: of the perceiver.
    """

    method: str = "pool"
    side: int = 8
    queries: int = 64
    blocks: int = 1
    heads: int = 8


class GridPool(nn.Module):
    """Mean over equal square bins; no parameters. Equals `AdaptiveAvgPool2d(side)` where that is exact."""

    def __init__(self, side: int) -> None:
        super().__init__()
        self.side = side

    def forward(self, patches: Tensor) -> Tensor:
        """(B, P, C) -> (B, side * side, C).  :raises GridDoesNotFit: P is no square of a multiple of `side`."""
        batch, count, width = patches.shape
        grid = math.isqrt(count)
        if grid * grid != count or grid % self.side:
            raise GridDoesNotFit(f"{count} patches cannot be pooled to {self.side} x {self.side} equal bins")
        step = grid // self.side
        bins = patches.view(batch, self.side, step, self.side, step, width)
        return bins.mean(dim=(2, 4)).flatten(1, 2)  # (B, side * side, C)


class PerceiverBlock(nn.Module):
    """Queries read the patches: cross-attention, then an MLP of four times the width (arXiv 2103.03206, 2204.14198).

    Pre-norm; biases everywhere. Width 1024 with 64 queries: 12,663,808 parameters in all.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm_queries, self.norm_patches, self.norm_mlp = (nn.LayerNorm(width) for _ in range(3))
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, queries: Tensor, patches: Tensor) -> Tensor:
        seen = self.norm_patches(patches)
        read, _ = self.attention(self.norm_queries(queries), seen, seen, need_weights=False)
        queries = queries + read
        return queries + self.mlp(self.norm_mlp(queries))


class Perceiver(nn.Module):
    """Learned queries, (B, P, C) -> (B, queries, C). No positions on the patches: the encoder has put them in."""

    def __init__(self, width: int, queries: int = 64, blocks: int = 1, heads: int = 8) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(queries, width) * width**-0.5)
        self.blocks = nn.ModuleList(PerceiverBlock(width, heads) for _ in range(blocks))

    def forward(self, patches: Tensor) -> Tensor:
        queries = self.queries.expand(len(patches), -1, -1)
        for block in self.blocks:
            queries = block(queries, patches)
        return queries


def build(config: ReduceConfig, width: int) -> nn.Module:
    """The reducer that `config` describes, for patches of `width`.  :raises ValueError: unknown method."""
    if config.method == "none":
        return nn.Identity()
    if config.method == "pool":
        return GridPool(config.side)
    if config.method == "perceiver":
        return Perceiver(width, config.queries, config.blocks, config.heads)
    raise ValueError(f"no reducer is called {config.method!r}; there are: none, pool, perceiver")
