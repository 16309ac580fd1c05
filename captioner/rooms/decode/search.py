"""Ways to continue a prompt: greedy, nucleus, beam, over anything that gives logits for the next token of each row.

Knows no model and no picture. Random draws take a generator, so equal seeds give equal texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

Allowed = Callable[[int, Sequence[int]], Sequence[int] | None]


class Steps(Protocol):
    """What a search walks on; see `language_model.Continuation`."""

    @property
    def logits(self) -> Tensor: ...  # (B, V)

    def step(self, tokens: Tensor) -> Tensor: ...  # (B,) -> (B, V)

    def repeat(self, times: int) -> None: ...

    def select(self, rows: Tensor) -> None: ...


@dataclass(frozen=True, slots=True)
class DecodingOptions:
    """:ivar max_tokens: including the end token.

    :ivar temperature: 0 takes the likeliest token.  :ivar top_p: mass of the nucleus (arXiv 1904.09751), 0..1.
    :ivar length_penalty: beam scores are divided by length to this power; 0 compares plain sums.
    """

    max_tokens: int = 32
    min_tokens: int = 1
    temperature: float = 0.0
    top_p: float = 1.0
    beams: int = 1
    length_penalty: float = 1.0


@dataclass(frozen=True, slots=True)
class Written:
    """:ivar tokens: without the end token.  :ivar log_probabilities: of each token, and of the end where it came.

    :ivar ended: the end token came before the limit.
    """

    tokens: tuple[int, ...]
    log_probabilities: tuple[float, ...]
    ended: bool

    @property
    def total(self) -> float:
        """Sum of log-probabilities, nats."""
        return sum(self.log_probabilities)

    @property
    def mean(self) -> float:
        """Nats per token."""
        return self.total / max(1, len(self.log_probabilities))


@torch.inference_mode()
def draw(
    steps: Steps,
    end: int,
    *,
    temperatures: Sequence[float],
    max_tokens: int,
    top_p: float = 1.0,
    min_tokens: int = 1,
    generator: torch.Generator | None = None,
    allowed: Allowed | None = None,
) -> list[Written]:
    """One text a row; temperature 0 makes a row greedy, so greedy and samples share one walk and one prefill.

    :param allowed: (row, tokens so far) -> ids that may follow, None for all.
    """
    texts: list[list[int]] = [[] for _ in temperatures]
    chances: list[list[float]] = [[] for _ in temperatures]
    ended = [False] * len(texts)
    for place in range(max_tokens):
        logits = steps.logits.float().clone()  # (B, V)
        plain = logits.log_softmax(-1)  # what is reported: a constraint must not make its one choice look certain
        if place < min_tokens:
            logits[logits.isfinite().sum(-1) > 1, end] = -torch.inf  # a cut may have left the end alone
        if allowed is not None:
            for row, text in enumerate(texts):
                if not ended[row] and (ids := allowed(row, text)) is not None:
                    logits[row] = keep_only(logits[row], ids)
        picks = [pick(logits[row], heat, top_p, generator) for row, heat in enumerate(temperatures)]
        for row, token in enumerate(picks):
            if ended[row]:
                continue
            chances[row].append(float(plain[row, token]))
            ended[row] = token == end
            if token != end:
                texts[row].append(token)
        if all(ended) or place == max_tokens - 1:
            break
        steps.step(torch.tensor([end if ended[row] else token for row, token in enumerate(picks)]))
    return [Written(tuple(text), tuple(chances[row]), ended[row]) for row, text in enumerate(texts)]


def greedy(steps: Steps, end: int, *, max_tokens: int, min_tokens: int = 1) -> list[Written]:
    """The likeliest token at each step, for all rows of `steps`."""
    heats = [0.0] * len(steps.logits)
    return draw(steps, end, temperatures=heats, max_tokens=max_tokens, min_tokens=min_tokens)


def pick(logits: Tensor, temperature: float, top_p: float, generator: torch.Generator | None) -> int:
    """One token of (V,) logits: temperature first, then the smallest set with mass of at least `top_p`, never none."""
    if temperature <= 0:
        return int(logits.argmax())
    chances = nucleus((logits / temperature).softmax(-1), top_p)
    return int(torch.multinomial(chances, 1, generator=generator))


def nucleus(chances: Tensor, top_p: float) -> Tensor:
    """(V,) probabilities, those outside the nucleus set to 0; not normalised again."""
    ordered, ids = chances.sort(descending=True)
    kept = ordered.cumsum(-1) - ordered < top_p  # by the mass before each token
    kept[..., 0] = True
    return torch.zeros_like(chances).scatter(-1, ids, ordered * kept)


def keep_only(logits: Tensor, ids: Sequence[int]) -> Tensor:
    """(V,) logits with all but `ids` at minus infinity."""
    kept = torch.full_like(logits, -torch.inf)
    index = torch.as_tensor(list(ids), dtype=torch.long)
    kept[index] = logits[index]
    return kept


@torch.inference_mode()
def beam(
    steps: Steps,
    end: int,
    *,
    beams: int,
    max_tokens: int,
    length_penalty: float = 1.0,
    min_tokens: int = 1,
    allowed: Allowed | None = None,
) -> list[Written]:
    """The best `beams` texts of ONE prompt (`steps` has one row), best first.

    Score = sum of log-probabilities / length ** `length_penalty`, the end token counted. A finished text leaves the
    beam and is compared at the end, so the width stays the same. A beam of one is greedy: with nothing to compare,
    the text that the likeliest path gives.
    """
    if beams == 1:
        return draw(steps, end, temperatures=[0.0], max_tokens=max_tokens, min_tokens=min_tokens, allowed=allowed)
    steps.repeat(beams)
    alive: list[tuple[tuple[int, ...], tuple[float, ...]]] = [((), ())]  # one at first: equal rows would tie
    done: list[Written] = []
    for place in range(max_tokens):
        chances = steps.logits[: len(alive)].float().log_softmax(-1)  # (alive, V)
        if place < min_tokens:
            chances[:, end] = -torch.inf
        if allowed is not None:
            for row, (tokens, _) in enumerate(alive):
                if (ids := allowed(row, tokens)) is not None:
                    chances[row] = keep_only(chances[row], ids)
        totals = torch.tensor([sum(past) for _, past in alive])[:, None] + chances
        best = totals.flatten().topk(min(2 * beams, totals.numel()))
        survivors: list[tuple[int, int]] = []
        for value, flat in zip(best.values.tolist(), best.indices.tolist(), strict=True):
            row, token = divmod(flat, totals.shape[1])
            if value == -torch.inf:
                continue
            if token == end:
                tokens, past = alive[row]
                done.append(Written(tokens, (*past, float(chances[row, token])), True))
            elif len(survivors) < beams:
                survivors.append((row, token))
        if place == max_tokens - 1 or not survivors:
            done += [Written(tokens, past, False) for tokens, past in alive] if not done and not survivors else []
            if survivors:  # the limit: what stands so far, unfinished
                done += [
                    Written((*alive[row][0], token), (*alive[row][1], float(chances[row, token])), False)
                    for row, token in survivors
                ]
            break
        steps.select(torch.tensor([row for row, _ in survivors]))
        steps.step(torch.tensor([token for _, token in survivors]))
        alive = [((*alive[row][0], token), (*alive[row][1], float(chances[row, token]))) for row, token in survivors]
    done.sort(key=lambda one: one.total / max(1, len(one.log_probabilities)) ** length_penalty, reverse=True)
    return done[:beams]
