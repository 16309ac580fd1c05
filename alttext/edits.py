"""How far a final text is from a suggestion: normalisation, distance over grapheme clusters, and the outcome.

Definitions: metrics page of the docs, sections 1 and 2. The only module that imports Levenshtein, which is
GPL-2.0-or-later; everything else calls this one. Stored text is never changed by anything here.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

import Levenshtein
import regex

INVISIBLE = re.compile("[\ufeff\u200b\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")
STOPS = ".。।۔"
REPLACED_FROM = 0.8  # of the longer text; a choice of the metrics page
UNSPACED = frozenset({"zh", "ja", "th", "lo", "km", "my"})  # no word distance: written without spaces


class Outcome(StrEnum):
    """What became of a suggestion, as far as a committed text can tell."""

    AS_IS = "AS_IS"
    EDITED = "EDITED"
    REPLACED = "REPLACED"


@dataclass(frozen=True, slots=True)
class Edit:
    """The measured way from a suggestion to a final text.

    :ivar distance: d, graphemes.
    :ivar distance_norm: d over the longer text, 0..1; 0 if both are empty.
    :ivar distance_words: d over words; None for languages written without spaces.
    :ivar insertions: descriptive, as one optimal alignment is not the only one; so are deletions and substitutions.
    :ivar trivial: d is 0 although the raw strings differ.
    """

    outcome: Outcome
    distance: int
    distance_norm: float
    distance_words: int | None
    insertions: int
    deletions: int
    substitutions: int
    trivial: bool


def normalise(text: str) -> str:
    """N(s): without invisible characters, NFC, single spaces, stripped. Idempotent."""
    return re.sub(r"\s+", " ", unicodedata.normalize("NFC", INVISIBLE.sub("", text))).strip()


def comparable(text: str) -> str:
    """P(s): N(s) without one final full stop, unless two stand there. Applied once, not idempotent."""
    text = normalise(text)
    if text and text[-1] in STOPS and (len(text) == 1 or text[-2] not in STOPS):
        text = text[:-1].rstrip()
    return text


def graphemes(text: str) -> list[str]:
    r"""User-perceived characters: \X of UAX 29."""
    return regex.findall(r"\X", text)


def distance(suggested: str, final: str) -> tuple[int, float]:
    """(d, d_norm) of the two texts."""
    source, target = graphemes(comparable(suggested)), graphemes(comparable(final))
    edits = Levenshtein.distance(source, target)
    return edits, (edits / max(len(source), len(target)) if source or target else 0.0)


def measure(suggested: str, final: str, *, language: str = "en", cleared: bool = False) -> Edit:
    """What an author did with a suggestion.

    :param cleared: the author emptied the box, or dismissed the text, and then typed.
    """
    source, target = graphemes(comparable(suggested)), graphemes(comparable(final))
    kinds = [kind for kind, _, _ in Levenshtein.editops(source, target)]
    edits = len(kinds)  # the alignment is optimal, so its length is the distance
    share = edits / max(len(source), len(target)) if source or target else 0.0
    words = None
    if re.split("[-_]", language.lower())[0] not in UNSPACED:
        words = Levenshtein.distance(comparable(suggested).split(), comparable(final).split())
    if edits == 0:
        outcome = Outcome.AS_IS
    elif cleared or share >= REPLACED_FROM:
        outcome = Outcome.REPLACED
    else:
        outcome = Outcome.EDITED
    return Edit(
        outcome=outcome,
        distance=edits,
        distance_norm=share,
        distance_words=words,
        insertions=kinds.count("insert"),
        deletions=kinds.count("delete"),
        substitutions=kinds.count("replace"),
        trivial=edits == 0 and suggested != final,
    )
