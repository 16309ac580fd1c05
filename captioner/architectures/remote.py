"""A writer behind an OpenAI-compatible server (vLLM, sglang, Ollama, llama.cpp, a vendor). Sends bytes, never a URL.

Decoding happens elsewhere, so nothing is contrasted and no gap is measured; the text from a blank picture stands in for
it. Knows no torch, and of the transport only that `Server` carries JSON within a deadline.
"""

from __future__ import annotations

import base64
import io
import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from PIL import Image

from captioner.architectures import configuration
from captioner.architectures.capabilities import UNKNOWN_LICENCE, Capabilities, ContextMode, Misconfigured
from captioner.architectures.server import Server, ServerRefused
from captioner.prepare import answers
from captioner.prepare.prompts import Prompt
from captioner.types import CaptionError, Drafts

BLANK = (128, 128, 128)  # mid-grey: about zero after the usual normalisation
BYTES_A_TOKEN = 3  # the tokenizer is not here; English takes about 4 bytes a token, so this counts too many
QUALITY = 92  # JPEG without chroma subsampling: small words stay readable
CONTROL_TOKENS = (  # of the families in use; what has the shape <|...|> is removed from page text anyway
    "<start_of_turn>",
    "<end_of_turn>",
    "<start_of_image>",
    "<end_of_image>",
    "<image_soft_token>",
    "<fake_token_around_image>",
    "<end_of_utterance>",
    "<global-img>",
    "<row_",
    "<think>",
    "</think>",
    "[IMG]",
    "[IMG_BREAK]",
    "[IMG_END]",
    "<image>",
    "<s>",
    "</s>",
)
RESERVED = ("model", "messages", "stream", "n", "seed", "temperature", "logprobs")  # not to be set through `extra`


@dataclass(frozen=True, slots=True)
class RemoteConfig:
    """The keys of `remote:/path/config.json`.

    :ivar base_url: up to and with the version, e.g. "http://127.0.0.1:8000/v1".
    :ivar languages: primary subtags that the model is trusted to write.
    :ivar revision: what the server runs, as the operator knows it; part of the versions, so change it with the weights.
    :ivar api_key_env: name of the environment variable that holds the key; "" for none.
    :ivar logprobs: ask for them; false for servers that answer 400 to it.
    :ivar supports_n: the server draws several samples in one request; where it does not, they are asked for singly.
    :ivar token_limit_key: "max_tokens", or "max_completion_tokens" where the server wants that.
    :ivar extra: further keys of the request body, e.g. {"chat_template_kwargs": {"enable_thinking": false}}.
    """

    base_url: str
    model: str
    languages: tuple[str, ...]
    revision: str = ""
    api_key_env: str = ""
    licence: str = UNKNOWN_LICENCE
    max_tokens: int = 64
    temperature: float = 0.8
    logprobs: bool = True
    blank: bool = True
    supports_n: bool = True
    shares_prefill: bool = False
    max_context: int | None = None
    longest_edge_px: int = 1024
    connect_seconds: float = 5.0
    max_response_bytes: int = 1_000_000
    token_limit_key: str = "max_tokens"  # noqa: S105
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        configuration.positive(
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            max_context=self.max_context,
            longest_edge_px=self.longest_edge_px,
            connect_seconds=self.connect_seconds,
            max_response_bytes=self.max_response_bytes,
        )
        if not self.languages:
            raise Misconfigured("languages: name at least one that the model is trusted to write")
        if self.token_limit_key not in ("max_tokens", "max_completion_tokens"):
            raise Misconfigured("token_limit_key: must be max_tokens or max_completion_tokens")
        if taken := sorted(set(self.extra) & {*RESERVED, self.token_limit_key}):
            raise Misconfigured(f"extra: {taken[0]!r} is set by the captioner")


class Remote:
    """Writes by asking a server; holds no connection between calls."""

    name = "remote"

    def __init__(self, config: RemoteConfig) -> None:
        """:raises Misconfigured: the address is not usable, or the variable of the key is not set."""
        self.config = config
        self.special: Sequence[str] = CONTROL_TOKENS
        self._server = Server(
            config.base_url,
            key_variable=config.api_key_env,
            connect_seconds=config.connect_seconds,
            max_response_bytes=config.max_response_bytes,
        )
        self._gives_n = config.supports_n
        self.capabilities = Capabilities(
            languages=config.languages,
            context_mode=ContextMode.CHAT,
            supports_logprobs=config.logprobs,
            supports_n=config.supports_n,
            shares_prefill=config.shares_prefill,
            max_context=config.max_context,
            licence=config.licence,
        )
        self.versions: Mapping[str, str] = {
            "writer": self.name,
            "server": self._server.address,
            "model": config.model,
            "revision": config.revision or "not stated",
            "answers": answers.VERSION,
            "decode": f"greedy, {config.max_tokens} tokens, samples at {config.temperature:g}",
            "image": f"JPEG {QUALITY}, {config.longest_edge_px} px",
            "extra": json.dumps(dict(config.extra), sort_keys=True),
        }

    @classmethod
    def from_config(cls, mapping: Mapping[str, Any]) -> Remote:
        """:raises Misconfigured: a key is unknown, missing or does not fit."""
        return cls(configuration.read(RemoteConfig, mapping))

    def count(self, text: str) -> int:
        """An upper estimate."""
        return math.ceil(len(text.encode()) / BYTES_A_TOKEN)

    def draft(self, image: Image.Image, prompt: Prompt, *, samples: int, seed: int, deadline_seconds: float) -> Drafts:
        """Greedy text, samples and the text from a blank picture, in that order.

        A refusal gives an empty text, and nothing further is asked.

        :raises OutOfTime: the deadline passed.
        :raises CaptionerUnavailable: nobody answers there, or the server stays too busy until the deadline.
        :raises CaptionError: the server will not answer this request, or what it says cannot be understood.
        """
        ends_at = time.monotonic() + deadline_seconds
        messages = _messages(_data_uri(image, self.config.longest_edge_px), prompt)
        greedy = self._ask(messages, ends_at, temperature=0.0, seed=seed, logprobs=self.config.logprobs)
        choice = _choices(greedy)[0]
        text, cut = _said(choice)
        tokens = _tokens(greedy) | ({"cut": 1} if cut else {})
        if not text:
            return Drafts(text="", tokens=tokens)
        drawn = self._draw(messages, ends_at, samples=samples, seed=seed)
        blank_text = None
        if self.config.blank:
            blank = _messages(_data_uri(Image.new("RGB", image.size, BLANK), self.config.longest_edge_px), prompt)
            blank_text = _said(_choices(self._ask(blank, ends_at, temperature=0.0, seed=seed))[0])[0]
        return Drafts(text, drawn, _mean_log_probability(choice), blank_text=blank_text, tokens=tokens)

    def _draw(self, messages: list[dict[str, Any]], ends_at: float, *, samples: int, seed: int) -> tuple[str, ...]:
        """`samples` texts at a temperature: in one request where the server can, else one request each."""
        drawn: list[str] = []
        if self._gives_n and samples > 1:
            try:
                drawn = self._texts(messages, ends_at, seed=seed + 1, n=samples)[:samples]
            except ServerRefused as refused:
                if refused.status not in (400, 422):
                    raise
            self._gives_n = len(drawn) == samples
        while len(drawn) < samples:
            drawn += self._texts(messages, ends_at, seed=seed + 1 + len(drawn))[:1]
        return tuple(drawn)

    def _texts(self, messages: list[dict[str, Any]], ends_at: float, *, seed: int, n: int = 1) -> list[str]:
        more = {"n": n} if n > 1 else {}
        answer = self._ask(messages, ends_at, temperature=self.config.temperature, seed=seed, **more)
        return [_said(choice)[0] for choice in _choices(answer)]

    def _ask(self, messages: list[dict[str, Any]], ends_at: float, *, seed: int, **more: Any) -> dict[str, Any]:
        body = {
            **self.config.extra,
            "model": self.config.model,
            "messages": messages,
            "stream": False,
            "seed": seed % 2**31,
            self.config.token_limit_key: self.config.max_tokens,
            **more,
        }
        return self._server.post("/chat/completions", body, ends_at=ends_at)


def _data_uri(image: Image.Image, longest_edge_px: int) -> str:
    picture = image.convert("RGB")
    picture.thumbnail((longest_edge_px, longest_edge_px), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=QUALITY, subsampling=0)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode()


def _messages(data_uri: str, prompt: Prompt) -> list[dict[str, Any]]:
    """System first, then the picture, then the words: the order that lets a server reuse its cache."""
    picture = {"type": "image_url", "image_url": {"url": data_uri}}
    words = {"type": "text", "text": prompt.after_image}
    return [{"role": "system", "content": prompt.system}, {"role": "user", "content": [picture, words]}]


def _choices(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The choices in the order of their index, at least one.  :raises CaptionError: there are none."""
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices or not all(isinstance(choice, dict) for choice in choices):
        raise CaptionError("The server's answer holds no choices.")
    return sorted(choices, key=lambda choice: choice["index"] if isinstance(choice.get("index"), int) else 0)


def _said(choice: Mapping[str, Any]) -> tuple[str, bool]:
    """The bare text, empty for a refusal, and whether the answer ran into its limit."""
    message = choice.get("message")
    if not isinstance(message, dict):
        raise CaptionError("The server's answer holds no message.")
    content = message.get("content")
    if isinstance(content, list):  # parts, as some servers give them back
        content = "".join(part.get("text") or "" for part in content if isinstance(part, dict))
    if content is not None and not isinstance(content, str):
        raise CaptionError("The server's answer holds no text.")
    if message.get("refusal") or choice.get("finish_reason") == "content_filter":
        return "", False
    cut = choice.get("finish_reason") == "length"
    text = answers.clean(content or "").text
    return (answers.cut_to_sentence(text) if cut else text), cut


def _mean_log_probability(choice: Mapping[str, Any]) -> float | None:
    """Nats per token of the answer; None where the server gave none, or what cannot be one."""
    logprobs = choice.get("logprobs")
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list) or not content:
        return None
    values = [item.get("logprob") if isinstance(item, dict) else None for item in content]
    sure = [value for value in values if isinstance(value, (int, float)) and math.isfinite(value)]
    return min(0.0, sum(sure) / len(sure)) if len(sure) == len(values) else None


def _tokens(answer: Mapping[str, Any]) -> dict[str, int]:
    usage = answer.get("usage")
    if not isinstance(usage, dict):
        return {}
    details = usage.get("prompt_tokens_details")
    found = {
        "prompt": usage.get("prompt_tokens"),
        "text": usage.get("completion_tokens"),
        "image": details.get("image_tokens") if isinstance(details, dict) else None,
    }
    return {name: number for name, number in found.items() if type(number) is int and number >= 0}
