"""Room 3: image tokens into the width of the language model. (B, T, C) -> (B, T, D).

Knows neither what the tokens show nor which model reads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True, slots=True)
class ProjectConfig:
    """:ivar standardise: layer norm without parameters in front, for encoders whose activations are not centred."""

    standardise: bool = False


class Projector(nn.Module):
    """Linear, GELU, Linear, both with bias (LLaVA-1.5, arXiv 2310.03744): a*d + d + d*d + d parameters."""

    def __init__(self, width: int, text_width: int, *, standardise: bool = False) -> None:
        super().__init__()
        self.linear_1 = nn.Linear(width, text_width)
        self.linear_2 = nn.Linear(text_width, text_width)
        self.standardise = standardise

    def forward(self, tokens: Tensor) -> Tensor:
        if self.standardise:
            tokens = functional.layer_norm(tokens, tokens.shape[-1:])
        return cast(Tensor, self.linear_2(functional.gelu(self.linear_1(tokens))))

    @torch.no_grad()
    def match_scale(self, tokens: Tensor, root_mean_square: float) -> float:
        """Scale the last layer so that `tokens` come out as large as text embeddings; the ratio before is returned.

        A bridge that starts far louder or quieter than text spends its first steps on that alone.
        """
        ratio = float(self(tokens).square().mean().sqrt()) / root_mean_square
        self.linear_2.weight.div_(ratio)
        self.linear_2.bias.div_(ratio)
        return ratio


def build(config: ProjectConfig, width: int, text_width: int) -> Projector:
    """A fresh projector from C = `width` to D = `text_width`."""
    return Projector(width, text_width, standardise=config.standardise)
