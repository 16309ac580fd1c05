"""Token ids from an image-text model, in two ways with one shape: from one shared prefill, or by calls of `generate`.

The shared way needs a model whose `forward` takes a cache and further tokens; whether one does is tried when it is
loaded, not looked up. Knows no words: inputs are what a processor gave, one row.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor
from transformers import LogitsProcessor, LogitsProcessorList, StoppingCriteria, StoppingCriteriaList

from captioner.architectures.capabilities import OutOfTime

NEARLY_ZERO = 1e-6  # SmolVLM and Idefics3 leave out tiles that are exactly 0, and then miss their tokens
PLAIN = {"num_beams": 1, "repetition_penalty": 1.0, "no_repeat_ngram_size": 0, "return_dict_in_generate": True}
Inputs = dict[str, Any]


@dataclass(slots=True)
class Written:
    """One text as ids without the end token, and the log-probability of each in nats on plain logits.

    :ivar ended: the model wrote an end token; False where the limit cut it.
    """

    tokens: list[int] = field(default_factory=list)
    log_probabilities: list[float] = field(default_factory=list)
    ended: bool = False

    @property
    def mean(self) -> float | None:
        """Nats per token; None for no tokens."""
        return sum(self.log_probabilities) / len(self.tokens) if self.tokens else None


@dataclass(frozen=True, slots=True)
class Limits:
    """When to stop: after `tokens`, at one of `ends`, and with an error after `ends_at` on `time.monotonic`."""

    tokens: int
    ends: frozenset[int]
    ends_at: float

    def check(self) -> None:
        """:raises OutOfTime: it is too late."""
        if time.monotonic() >= self.ends_at:
            raise OutOfTime("The model was too slow for the deadline.")


class Decoding(Protocol):
    """What both ways offer."""

    def write(self, inputs: Inputs, limits: Limits, *, samples: int, temperature: float, seed: int) -> list[Written]:
        """The greedy text first, then `samples` drawn ones."""
        ...

    def score(self, inputs: Inputs, tokens: Sequence[int], limits: Limits) -> list[float]:
        """Log-probability of each of `tokens` after `inputs`, nats."""
        ...


def blank(inputs: Inputs) -> Inputs:
    """The same prompt with zeros after normalisation in place of the picture."""
    return inputs | {"pixel_values": torch.full_like(inputs["pixel_values"], NEARLY_ZERO)}


def cache_of(output: Any) -> Any:
    """The cache of an output: `cache` since transformers 5.24, `past_key_values` before."""
    return output["cache"] if "cache" in output else output["past_key_values"]


class SharedPrefill:
    """Picture and prompt go through the model once; greedy text and samples are rows of one batch after that."""

    def __init__(self, model: Any) -> None:
        parameters = inspect.signature(model.forward).parameters
        self.model = model
        self._cache_name = "cache" if "cache" in parameters else "past_key_values"
        self._last_only = {"logits_to_keep": 1} if "logits_to_keep" in parameters else {}

    @torch.inference_mode()
    def write(self, inputs: Inputs, limits: Limits, *, samples: int, temperature: float, seed: int) -> list[Written]:
        rows = [Written() for _ in range(1 + samples)]
        generator = torch.Generator(self.model.device).manual_seed(seed)
        logits, cache = self._prefill(inputs)
        cache.batch_repeat_interleave(len(rows))
        logits = logits.expand(len(rows), -1)  # (R, V)
        for _ in range(limits.tokens):
            limits.check()
            told = logits.float().log_softmax(-1)
            chosen = self._choose(told, temperature, generator)  # (R,)
            for row, token, sure in zip(
                rows, chosen.tolist(), told.gather(1, chosen[:, None])[:, 0].tolist(), strict=True
            ):
                _take(row, token, sure, limits)
            if all(row.ended or len(row.tokens) == limits.tokens for row in rows):
                break
            logits, cache = self._step(chosen[:, None], cache)
            logits = logits[:, -1]
        return rows

    @torch.inference_mode()
    def score(self, inputs: Inputs, tokens: Sequence[int], limits: Limits) -> list[float]:
        """Teacher-forced: one prefill and one pass over all tokens."""
        limits.check()
        first, cache = self._prefill(inputs)
        forced = torch.tensor([tokens], device=self.model.device)  # (1, T)
        logits = first[:, None]  # (1, 1, V)
        if len(tokens) > 1:
            rest, _ = self._step(forced[:, :-1], cache)
            logits = torch.cat([logits, rest], 1)  # (1, T, V)
        return logits.float().log_softmax(-1).gather(2, forced[..., None])[0, :, 0].tolist()

    def _prefill(self, inputs: Inputs) -> tuple[Tensor, Any]:
        output = self.model(**inputs, **self._last_only, use_cache=True)
        return output.logits[:, -1], cache_of(output)

    def _step(self, tokens: Tensor, cache: Any) -> tuple[Tensor, Any]:
        """Logits (R, T, V) for `tokens` (R, T) after what is in the cache.

        Without a mask: no row is padded, and Qwen's positions follow from the cache only where none is given.
        """
        output = self.model(input_ids=tokens, use_cache=True, **{self._cache_name: cache})
        return output.logits, cache_of(output)

    @staticmethod
    def _choose(told: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
        greedy = told[:1].argmax(-1)
        if len(told) == 1:
            return greedy
        drawn = torch.multinomial((told[1:] / temperature).softmax(-1), 1, generator=generator)[:, 0]
        return torch.cat([greedy, drawn])


class ByGenerate:
    """A call of `generate` for each text: for models with a decoder of their own kind. Prefills every time."""

    def __init__(self, model: Any, ends: frozenset[int], pad: int) -> None:
        """The ends are set on the model: BLIP's `generate` hands on its own and takes none."""
        self.model = model
        model.generation_config.eos_token_id, model.generation_config.pad_token_id = sorted(ends) or None, pad

    def write(self, inputs: Inputs, limits: Limits, *, samples: int, temperature: float, seed: int) -> list[Written]:
        rows = [self._call(inputs, limits, do_sample=False)]
        for number in range(samples):
            with torch.random.fork_rng():
                torch.manual_seed(seed + number)
                rows.append(self._call(inputs, limits, do_sample=True, temperature=temperature, top_k=0, top_p=1.0))
        return rows

    def score(self, inputs: Inputs, tokens: Sequence[int], limits: Limits) -> list[float]:
        """`generate` is led along `tokens`: one step each, but it needs nothing of the model but `generate`."""
        within = Limits(len(tokens), limits.ends, limits.ends_at)
        led = LogitsProcessorList([_Lead(tokens)])
        return self._call(inputs, within, do_sample=False, logits_processor=led).log_probabilities

    def _call(self, inputs: Inputs, limits: Limits, **how: Any) -> Written:
        limits.check()
        output = self.model.generate(
            **inputs,
            **PLAIN,
            **how,
            output_logits=True,
            max_new_tokens=limits.tokens,
            stopping_criteria=StoppingCriteriaList([_Late(limits)]),
        )
        row = Written()
        for token, logits in zip(output.sequences[0, -len(output.logits) :].tolist(), output.logits, strict=True):
            _take(row, token, float(logits[0].float().log_softmax(-1)[token]), limits)
        return row


class _Lead(LogitsProcessor):
    """Lets nothing through but the next of the given tokens."""

    def __init__(self, tokens: Sequence[int]) -> None:
        self._left = list(tokens)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        only = torch.full_like(scores, -torch.inf)
        only[:, self._left.pop(0)] = 0.0
        return only


class _Late(StoppingCriteria):
    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:
        self._limits.check()
        return torch.zeros(input_ids.shape[0], dtype=torch.bool, device=input_ids.device)


def choose(model: Any, inputs: Inputs, limits: Limits, pad: int) -> Decoding:
    """The shared way if it writes what `generate` writes on `inputs`, and scores it alike; else `generate`."""
    certain: Decoding = ByGenerate(model, limits.ends, pad)
    expected = certain.write(inputs, limits, samples=0, temperature=1.0, seed=0)[0]
    try:
        shared = SharedPrefill(model)
        found = shared.write(inputs, limits, samples=1, temperature=1.0, seed=0)[0]
        scored = shared.score(inputs, found.tokens, limits) if found.tokens else []
    except (
        TypeError,
        ValueError,
        RuntimeError,
        AttributeError,
        KeyError,
        IndexError,
    ):  # it has another kind of forward
        return certain
    near = 1e-3 if model.dtype == torch.float32 else 0.1  # nats; measured below 1e-5 in float32 on the tiny models
    alike = found.tokens == expected.tokens and all(
        abs(one - other) < near and abs(one - third) < near
        for one, other, third in zip(expected.log_probabilities, found.log_probabilities, scored, strict=True)
    )
    return shared if alike else certain


def _take(row: Written, token: int, log_probability: float, limits: Limits) -> None:
    if row.ended or len(row.tokens) == limits.tokens:
        return
    if token in limits.ends:
        row.ended = True
        return
    row.tokens.append(token)
    row.log_probabilities.append(log_probability)
