"""What no alt text may be, whatever the picture shows: empty, a file name, a word for any picture, talk about itself.

Also how much of a text is the page's own words. Strings in, answers out; it knows neither evidence nor models.
"""

from __future__ import annotations

import re

from captioner.prepare import pagewords

EMPTY_WORDS = frozenset(
    {"a", "an", "and", "the", "of", "in", "this", "is", "with", "alt", "text", "image", "images", "picture", "pictures"}
    | {"photo", "photos", "photograph", "graphic", "icon", "logo", "illustration", "figure", "screenshot", "untitled"}
    | {"placeholder", "banner", "thumbnail", "ein", "eine", "der", "die", "das", "von", "bild", "bilder", "foto"}
    | {"fotos", "grafik", "abbildung", "symbol", "ohne", "titel"}
)
FILE_FORM = re.compile(  # T4: camera stems, extensions, dimensions, digits alone, hashes
    r"\S+\.(?:jpe?g|png|gif|webp|avif|heic|tiff?|bmp|svg)\.?"
    r"|(?:img|dsc[fn]?|pxl|image|photo|scan|screenshot)[\s_-]*\d[\d._:\s-]*(?:at\s[\d.:\s]+)?"
    r"|\d+\s*[x×]\s*\d+|[\W\d_]+|[0-9a-f-]{16,}",
    re.I,
)
PREAMBLE = re.compile(  # T14: refusals, openings, disclosure; only what no description begins with
    r"(?:i['’]?m|i am|i (?:can|cannot|could|do|will|see)|i can['’]?t|sorry|as an ai|here(?:['’]s| is| are)|sure[,!]"
    r"|certainly|of course|alt(?:[- ]?text)?:|ai-generated|es tut mir|leider kann|hier (?:ist|sehen)|als ki)(?!\w)",
    re.I,
)


def is_generic(text: str) -> bool:
    """True for an empty text, a file name, or words that fit any picture (T3, T4)."""
    tokens = pagewords.words(text)
    return not tokens or bool(FILE_FORM.fullmatch(text.strip())) or EMPTY_WORDS.issuperset(tokens)


def is_talk(text: str) -> bool:
    """True where the text begins with a refusal, a preamble or a disclosure (T14)."""
    return bool(PREAMBLE.match(text.strip()))


def copied_share(text: str, page_text: str, read_text: str, size: int = 3) -> float:
    """Share of the word n-grams that stand on the page and were not read in the picture, 0..1."""
    own, page, read = (_grams(piece, size) for piece in (text, page_text, read_text))
    known, shown = set(page), set(read)
    return sum(gram in known and gram not in shown for gram in own) / len(own) if own else 0.0


def _grams(text: str, size: int) -> list[tuple[str, ...]]:
    tokens = pagewords.words(text)
    return [tuple(tokens[start : start + size]) for start in range(len(tokens) - size + 1)]
