"""One human alt text -> one short target, or the reason why it is none. Pure; knows no record and no picture.

Openings that say nothing ("A photograph shows") go, words for a medium that matters (painting, map, chart) stay; the
first sentence is preferred, as it says what the picture is and the rest what a reader may skip.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

from captioner.funnel import sentences
from captioner.prepare import pagewords

UNSPACED = frozenset({"zh", "ja", "th", "lo", "km", "my"})  # words cannot be counted by spaces
EMPTY, MARKUP, PLACEHOLDER = "empty", "markup", "placeholder"
PANELS, FRAGMENT, SHORT, LONG = "several panels", "fragment", "under the least words", "over the most words"
LANGUAGE = "written without spaces"

TAGS = re.compile(r"</?[a-zA-Z][^<>]*>|\\[a-zA-Z]{2,}|\$[^$\d\s][^$]*\$|!?\[[^\]]*\]\([^)]*\)|\{\{|&#?\w+;|https?://")
NOTHING = re.compile(
    r"(?:(?:no|missing|insert|add|todo:?) )?alt(?:ernative|ernate)?[ -]?text(?: (?:here|available|provided|needed))?"
    r"|(?:image|picture|photo|figure|decorative)(?: [\d.]+)?|(?:IMG|DSC)[_ -]?\d+"
    r"|\S+\.(?:jpe?g|png|gif|webp|svg|tiff?)",
    re.I,
)
PANEL = re.compile(
    r"(?:\(?[a-hA-H]\)|[a-hA-H]:|\((?:i|ii|iii|iv)\)"
    r"|(?:panel|part|figure|image|photo|photograph|picture|diagram|graph) \(?[a-hA-H]\)?[,:.]?(?= ))",
    re.I,
)
PANEL_PREFIX = re.compile(
    r"(?:\(?[a-hA-H]\)|\((?:i|ii|iii|iv)\)|[a-hA-H]:"
    r"|[Pp]anel \(?[a-hA-H]\)?[:,.]?|Fig(?:ure|\.)? ?\d+(?:\.\d+)*[:.])\s+"
)
SECOND_PANEL = re.compile(
    r"(?:^|[\s;,.(])(?:\(?[bB]\)|[bB]:|\(ii\)|(?:[Pp]anel|[Pp]art|[Ff]igure|[Ii]mage|[Pp]hoto(?:graph)?|[Pp]icture)"
    r" \(?[bB]\)?)(?=[\s,:.])"
)
MEDIUM = r"(?:colou?r )?(?:photo(?:graph)?|image|picture|pic|figure|snapshot)"
SAYS = (
    r"(?:(?:that |which )?(?:shows?|showing|depicts?|depicting|displays?|displaying|portrays?|portraying|illustrates?"
    r"|illustrating|presents?|pictures|features?|contains?|containing|includes?|including)|of|is(?= (?:an?|the|of) ))"
)
NO_CLAUSE = r"(?!(?:that|how|what|when|where|whether|why|the following)\b)"
OPENING = re.compile(
    rf"(?:(?:this|here) is )?(?:(?:an?|the|this) )?(?:above |given )?{MEDIUM} {SAYS} {NO_CLAUSE}", re.I
)
POINTING = re.compile(rf"(?:this (?:is|shows) (?=(?:an?|the) )|in (?:this|the) {MEDIUM},? )", re.I)
IS_SHOWN = re.compile(r",? (?:is|are) (?:shown|pictured|depicted|displayed)(?= ?\.?$)")


@dataclass(frozen=True, slots=True)
class Rules:
    """What a target may be. Words as separated by spaces, both ends included.

    :ivar first_sentence: keep no more sentences than `min_words` needs; False keeps them all.
    """

    min_words: int = 3
    max_words: int = 40
    first_sentence: bool = True


@dataclass(frozen=True, slots=True)
class Target:
    """A cleaned text, or why there is none: exactly one of the two is not empty."""

    text: str = ""
    dropped: str = ""


def clean(text: str, rules: Rules = Rules(), *, language: str = "en") -> Target:  # noqa: B008  (frozen)
    """The target that `text` gives. Openings and panels are looked for in English only."""
    text = pagewords.clean(html.unescape(text))
    base = re.split("[-_]", language.lower())[0]
    if not pagewords.plain(text):
        return Target(dropped=EMPTY)
    if base in UNSPACED:
        return Target(dropped=LANGUAGE)
    if TAGS.search(text):
        return Target(dropped=MARKUP)
    if NOTHING.fullmatch(text.rstrip(". ")):
        return Target(dropped=PLACEHOLDER)
    if base == "en":
        if PANEL.match(text) and SECOND_PANEL.search(text):
            return Target(dropped=PANELS)
        text = without_opening(PANEL_PREFIX.sub("", text, count=1) if PANEL_PREFIX.match(text) else text)
    return _judge(_first(text, rules) if rules.first_sentence else text, rules)


def without_opening(text: str) -> str:
    """`text` without words that only say that there is a picture; starts with a capital then."""
    shorter = text
    for _ in range(3):  # "In this image, this is a photo of"
        opening = OPENING.match(shorter) or POINTING.match(shorter)
        if opening is None:
            break
        shorter = shorter[opening.end() :]
    return shorter[:1].upper() + shorter[1:] if shorter != text else text


def _first(text: str, rules: Rules) -> str:
    """The first sentence, or as many as have the least words together and close what they open."""
    chosen = ""
    for sentence in sentences.split(text):
        chosen = f"{chosen} {sentence}".strip()
        shorter = IS_SHOWN.sub("", chosen)
        if len(shorter.split()) >= rules.min_words and sentences.is_closed(shorter):
            return shorter
    return chosen


def _judge(text: str, rules: Rules) -> Target:
    words = len(text.split())
    if sentences.is_fragment(text):
        return Target(dropped=FRAGMENT)
    if words < rules.min_words:
        return Target(dropped=SHORT)
    if words > rules.max_words:
        return Target(dropped=LONG)
    return Target(text=text)
