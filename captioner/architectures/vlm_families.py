"""What has to be known about a transformers family before it can be asked: how it is prompted, what a picture may cost.

Facts of section 4 of the captioner's specification, by `model_type`. A family that is not named here is taken as a chat
model if its processor has a chat template. Knows no torch.
"""

from __future__ import annotations

from typing import Any

from captioner.architectures.capabilities import Misconfigured, TokenKnob

CONTINUATIONS = {  # where there is no chat template; the model goes on from these words
    "blip": "a picture of",  # the official prompt
    "git": "",
    "paligemma": "caption en",
    "florence2": "<CAPTION>",
}
CONTINUATION = "a picture of"
ENGLISH_ONLY = frozenset({"blip", "git", "florence2"})
CUTS_LAST_TOKEN = frozenset({"blip"})  # its `generate` drops the last id, so the end mark has to stay (section 3.2)
GROUNDS = frozenset({"florence2", "kosmos-2"})
PIXELS = frozenset({"qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe"})
SPLITS = frozenset({"idefics3", "smolvlm"})
SOFT_TOKENS = (70, 140, 280, 560, 1120)  # Gemma 4; any other number is an error there
TILES = 17  # 4 x 4 and the whole picture: "up to 1,088" tokens at 64 a tile


def knob(model_type: str, processor: Any) -> TokenKnob:
    """How the number of image tokens is set for this family."""
    if model_type.startswith("gemma4"):
        return TokenKnob("soft_tokens", SOFT_TOKENS)
    if model_type in PIXELS:
        return TokenKnob("pixels")
    if model_type in SPLITS:
        return TokenKnob("splitting", (processor.image_seq_len, TILES * processor.image_seq_len))
    if model_type == "lfm2_vl":
        return TokenKnob("image_tokens")
    return TokenKnob()


def turn(model_type: str, processor: Any, tokens: int) -> None:
    """Let a picture cost at most `tokens`.  :raises Misconfigured: the family cannot do that."""
    found = knob(model_type, processor)
    found.check(tokens)
    pictures = processor.image_processor
    if found.kind == "soft_tokens":
        pictures.max_soft_tokens = tokens
    elif found.kind == "pixels":
        most = tokens * (pictures.patch_size * pictures.merge_size) ** 2
        least = pictures.size["shortest_edge"]  # both are areas in px here, whatever their names say
        pictures.size = {"shortest_edge": min(least, most), "longest_edge": most}
    elif found.kind == "splitting":
        pictures.do_image_splitting = tokens != found.values[0]
    elif found.kind == "image_tokens":
        pictures.max_image_tokens = tokens
        pictures.min_image_tokens = min(pictures.min_image_tokens, tokens)


def check_languages(model_type: str, languages: tuple[str, ...]) -> None:
    """:raises Misconfigured: a language is claimed that the family was never taught."""
    others = sorted(set(languages) - {"en"})
    if model_type in ENGLISH_ONLY and others:
        raise Misconfigured(f"languages: {model_type} writes English only, not {', '.join(others)}")
