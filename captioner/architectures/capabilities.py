"""What a writer can do, and the shape every writer has: picture and prompt in, `Drafts` out.

The gate and the captioner around a writer read these flags, never class names. Nothing here knows torch, a model family
or a server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable

from PIL import Image

from captioner.prepare.prompts import Prompt
from captioner.rooms.decode import wording
from captioner.types import CaptionError, Drafts

UNKNOWN_LICENCE = "not stated"


class Misconfigured(CaptionError):
    """A configuration holds a key or value that the backend cannot work with; the message names the key."""


class OutOfTime(CaptionError):
    """The deadline passed before the drafts were whole; the attempt counts."""


class ContextMode(StrEnum):
    """How page text reaches the model."""

    CHAT = "chat"  # system, image, page, instruction
    PREFIX = "prefix"  # page text before a fixed continuation
    NONE = "none"  # picture and a fixed continuation; page text is never seen


@dataclass(frozen=True, slots=True)
class TokenKnob:
    """How many image tokens a picture may cost.

    :ivar kind: "soft_tokens", "pixels", "splitting", "image_tokens", or "none" where there is no such setting.
    :ivar values: legal numbers of image tokens; () with a kind other than "none" means any positive number.
    """

    kind: str = "none"
    values: tuple[int, ...] = ()

    def check(self, tokens: int) -> int:
        """`tokens` if it is legal.  :raises Misconfigured: it is not, or there is no knob."""
        if self.kind == "none":
            raise Misconfigured("image_tokens: this model has no known setting for it; leave the key out")
        if tokens < 1 or (self.values and tokens not in self.values):
            legal = ", ".join(map(str, self.values)) or "a positive number"
            raise Misconfigured(f"image_tokens: {tokens} is not one of {legal}")
        return tokens


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The flags of section 4 of the captioner's specification.

    :ivar languages: primary subtags that somebody stated for this checkpoint; () where nobody did, so none is written.
    :ivar shares_prefill: the samples are drawn from the prefill of the greedy text, not from calls of their own.
    :ivar supports_grounding: the model itself returns boxes for phrases.
    :ivar max_context: tokens of picture, prompt and text together; None where unknown.
    :ivar licence: as the operator read it on the card of the exact checkpoint.
    """

    supports_vcd: bool = False
    token_knob: TokenKnob = TokenKnob()
    languages: tuple[str, ...] = ()
    context_mode: ContextMode = ContextMode.CHAT
    supports_logprobs: bool = False
    supports_n: bool = False
    shares_prefill: bool = False
    supports_grounding: bool = False
    max_context: int | None = None
    licence: str = UNKNOWN_LICENCE

    def writes(self, language: str) -> bool:
        """Whether a text in `language` (BCP 47) may be asked for."""
        return wording.primary_language(language) in self.languages


@runtime_checkable
class Writer(Protocol):
    """A backend: it writes, and decides nothing.

    :ivar special: control tokens and placeholders of the model, to be removed from all page text.
    """

    name: str

    @property
    def versions(self) -> Mapping[str, str]: ...

    @property
    def capabilities(self) -> Capabilities: ...

    @property
    def special(self) -> Sequence[str]: ...

    def count(self, text: str) -> int:
        """Tokens of `text`; never fewer than it will cost where the tokenizer is not at hand."""
        ...

    def draft(self, image: Image.Image, prompt: Prompt, *, samples: int, seed: int, deadline_seconds: float) -> Drafts:
        """The greedy text, `samples` drawn ones and what is known about how sure the model was.

        :param image: upright RGB.
        :param seed: 0..2^31-1; equal seeds give equal samples on one device and dtype.
        :raises OutOfTime: `deadline_seconds` passed.
        :raises CaptionError: infrastructure failed. A refusal of the model is an empty text, not an error.
        """
        ...
