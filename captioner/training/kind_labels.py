"""Which kind a training picture is, told from the words of its alt text, checked by what its pixels look like.

The labels of the data are guesses; here a row gets a kind only where words and pixels agree, and None otherwise.
Knows no model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from captioner.types import Kind

FIRST_CHARS = 240  # what a picture is stands at the start of its alt text; later words tell what is in it

PAINTED = re.compile(
    r"\b(painting|cartoon|engraving|lithograph|woodcut|etching|poster|fresco|mural|watercolor)\b", re.I
)
PHOTOGRAPHED = re.compile(r"\b(photo|photos|photograph\w*|headshot|micrograph|picture of)\b", re.I)
PLOTTED = re.compile(
    r"\b(graph|histogram|plot|scatter\s?plot|(bar|pie|line|column|area) charts?|bar graph|[xy][ -]axis|axes|axis)\b",
    re.I,
)
FLOWING = re.compile(r"\b(flow ?chart|organi[sz]ation(al)? chart|diagram|flow diagram|tree)\b", re.I)
MAPPED = re.compile(r"(?<!mind )(?<!concept )(?<!perceptual )(?<!positioning )(?<!journey )\bmaps?\b", re.I)
SCREENED = re.compile(r"\b(screen ?shots?|screen captures?)\b", re.I)
OPERATED = re.compile(
    r"\b(dialog|window|menu|ribbon|button|pane|tab|toolbar|cursor|worksheet|cells?|drop-?down|icon)\b", re.I
)
TABULATED = re.compile(
    r"^\W*(\w+\W+){0,4}table\b|\b(spreadsheet|balance sheet|income statement|statements? of cash|ledger|t-account)\b|"
    r"\b(journal entr(y|ies)|formula for)\b",
    re.I,
)
BADGED = re.compile(r"\b(logo|badge|icon|sticker|wordmark|favicon)\b", re.I)


def textbook_kind(record: Mapping[str, Any]) -> Kind | None:
    """Kind of a row of `openstax`, None where words and pixels disagree or say nothing."""
    words, guess, photographic = record["alt"][:FIRST_CHARS], record["kind"], record["photo_like"]
    if guess == "photo":
        mixed = any(sign.search(words) for sign in (MAPPED, PLOTTED, SCREENED, PAINTED))
        return None if mixed else Kind.PHOTO
    if guess == "art":
        return _drawn(words, photographic)
    if guess == "other" and photographic:
        return Kind.PHOTO
    if guess == "map":
        return Kind.MAP if MAPPED.search(words) else None
    if photographic:
        return None
    return Kind.TEXT if TABULATED.search(words) and not PLOTTED.search(words) else _flat(words, guess)


def _drawn(words: str, photographic: bool) -> Kind | None:
    if PHOTOGRAPHED.search(words) or MAPPED.search(words):
        return None
    if PAINTED.search(words):
        return Kind.ART
    return Kind.ART if photographic else Kind.DIAGRAM  # a flat "illustration" in a textbook explains something


def _flat(words: str, guess: str) -> Kind | None:
    if guess == "chart":
        if FLOWING.search(words):
            return Kind.DIAGRAM
        return Kind.CHART if PLOTTED.search(words) else None
    return {"diagram": Kind.DIAGRAM, "screenshot": Kind.SCREENSHOT, "table": Kind.TEXT}.get(guess)


def screen_kind(record: Mapping[str, Any], flat_share: float) -> Kind | None:
    """Kind of a row of `openstax_screens`; `flat_share` is the statistic "flat", 0..1."""
    return Kind.SCREENSHOT if OPERATED.search(record["alt"]) and flat_share > 0.6 else None


def web_kind(record: Mapping[str, Any]) -> Kind | None:
    """Kind of a row of `web_context`."""
    words, photographic = record["alt"][:FIRST_CHARS], record["photo_like"]
    signs = {
        Kind.SCREENSHOT: bool(SCREENED.search(words)) and not photographic,
        Kind.OTHER: bool(BADGED.search(words)) and not photographic,
        Kind.MAP: bool(MAPPED.search(words)) and not photographic,
        Kind.CHART: bool(PLOTTED.search(words)) and not photographic,
        Kind.DIAGRAM: bool(FLOWING.search(words)) and not photographic,
        Kind.TEXT: bool(TABULATED.search(words)) and not photographic,
        Kind.PHOTO: bool(PHOTOGRAPHED.search(words)) and photographic,
    }
    told = [kind for kind, seen in signs.items() if seen]
    return told[0] if len(told) == 1 else None
