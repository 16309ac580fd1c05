"""A language model that is a table: four words, and logits that depend on all that came before."""

from __future__ import annotations

import random

import torch
from torch import Tensor

END = 0


class Table:
    """Steps over rows of histories; equal seed and history give equal logits.

    :ivar read: rows that were given logits, as a model would have to compute them.
    """

    def __init__(self, seed: int = 0, *, rows: int = 1, vocabulary: int = 4, heat: float = 1.5) -> None:
        self.seed, self.vocabulary, self.heat = seed, vocabulary, heat
        self.past: list[tuple[int, ...]] = [()] * rows
        self.steps = 0

    @property
    def logits(self) -> Tensor:
        return torch.stack([self.after(past) for past in self.past])

    def after(self, past: tuple[int, ...]) -> Tensor:
        """(V,) logits for the token after `past`."""
        marks = random.Random(f"{self.seed} {past}")
        return torch.tensor([marks.gauss(0, self.heat) for _ in range(self.vocabulary)])

    def step(self, tokens: Tensor) -> Tensor:
        self.steps += 1
        self.past = [(*past, token) for past, token in zip(self.past, tokens.tolist(), strict=True)]
        return self.logits

    def repeat(self, times: int) -> None:
        self.past = [past for past in self.past for _ in range(times)]

    def select(self, rows: Tensor) -> None:
        self.past = [self.past[row] for row in rows.tolist()]

    def chances(self, tokens: tuple[int, ...]) -> list[float]:
        """Log-probability of each of `tokens` after those before it."""
        return [float(self.after(tokens[:place]).log_softmax(-1)[token]) for place, token in enumerate(tokens)]


class Listed:
    """Steps that give one row of logits after the other, whatever is chosen."""

    def __init__(self, *probabilities: list[float]) -> None:
        self.rows = [torch.tensor(row).log() for row in probabilities]
        self.logits = self.rows.pop(0)[None]

    def step(self, tokens: Tensor) -> Tensor:
        self.logits = self.rows.pop(0).expand(len(tokens), -1)
        return self.logits

    def repeat(self, times: int) -> None:
        self.logits = self.logits.repeat_interleave(times, dim=0)

    def select(self, rows: Tensor) -> None:
        self.logits = self.logits[rows]
