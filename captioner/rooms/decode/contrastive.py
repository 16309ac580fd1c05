"""Visual contrastive decoding (VCD, arXiv 2311.16922): weigh what the picture says against what a blank one would.

Two rows of one batch, picture and blank, walk together; a search sees one row. With the plausibility cut of the paper,
without which the rule is classifier-free guidance and can raise tokens that the picture finds implausible.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from captioner.rooms.decode.language_model import Continuation

ALPHA, BETA = 0.5, 0.1


def combine(image: Tensor, blank: Tensor, *, alpha: float = ALPHA, beta: float = BETA) -> Tensor:
    """(…, V) logits: (1 + a) * image - a * blank where image >= log(b) + max(image), else minus infinity.

    The cut keeps tokens with p >= b * p_max under the picture.
    """
    kept = image >= image.max(-1, keepdim=True).values + math.log(beta)
    return torch.where(kept, (1 + alpha) * image - alpha * blank, -torch.inf)


class Contrasted:
    """Steps over pairs: rows 2i are pictures, rows 2i + 1 their blank twins. For greedy and sampling, not for beams:
    a beam would need log-probabilities, and the cut gives minus infinity to most.

    :ivar gaps: for each step, (B,) log p(token | image) - log p(token | blank) of the token taken, on plain logits.
    """

    def __init__(self, pairs: Continuation, *, alpha: float = ALPHA, beta: float = BETA) -> None:
        if pairs.rows % 2:
            raise ValueError("every picture needs a blank twin in the next row")
        self.pairs, self.alpha, self.beta = pairs, alpha, beta
        self.gaps: list[Tensor] = []

    @property
    def logits(self) -> Tensor:
        return combine(self.pairs.logits[0::2], self.pairs.logits[1::2], alpha=self.alpha, beta=self.beta)

    def step(self, tokens: Tensor) -> Tensor:
        plain = self.pairs.logits.log_softmax(-1)
        taken = plain.gather(1, tokens.repeat_interleave(2)[:, None])[:, 0]
        self.gaps.append(taken[0::2] - taken[1::2])
        self.pairs.step(tokens.repeat_interleave(2))
        return self.logits

    def repeat(self, times: int) -> None:
        """Pairs stay together: rows a, a', b, b' become a, a', a, a', b, b', b, b'."""
        rows = torch.arange(self.pairs.rows).view(-1, 2).repeat_interleave(times, dim=0).flatten()
        self.pairs.select(rows)

    def select(self, rows: Tensor) -> None:
        self.pairs.select(torch.stack([2 * rows, 2 * rows + 1], dim=1).flatten())
