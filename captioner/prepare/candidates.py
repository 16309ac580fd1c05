"""The nouns and names of a page that a picture might show: where each stands, and how it would be said.

A candidate is a question, not a claim: whether the picture shows it is decided elsewhere. Knows no picture.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from captioner.prepare import pagewords
from captioner.prepare.pagewords import PageWords
from captioner.prepare.phrases import Phrase, PhraseKind, Phraser

VERSION = "2"  # raise it whenever the same page can give other candidates
PLACES = ("caption", "heading", "near", "title")
NEAR_WORDS = 25
MOST = 24  # of one page: the caption alone can hold more nouns than any picture shows
KINDS = (PhraseKind.OBJECT, PhraseKind.SCENE, PhraseKind.MEDIUM, PhraseKind.NAME)
SMALL_LETTERS = 3
CREDIT = re.compile(  # in brackets anywhere, or as the whole caption
    r"[(\[]\s*(?:credits?|source|courtesy|photo(?:graph)? by|licen[cs]e|figure)\b"
    r"|^\s*(?:credits?:|source:|courtesy of|photo(?:graph)? (?:by|credit)\b)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """:ivar lemma: casefolded, last word in the singular.  :ivar said: as the page has it, without article.

    :ivar places: of `PLACES`, the best first.  :ivar rank: 0 for the first noun of its best place, 1 for the second …
    :ivar plural: the page has it in the plural.  :ivar generic: of a name: concepts of what carries it ("tower").
    :ivar modifies: only says of what sort another noun is ("Presley" before "impersonator").
    """

    lemma: str
    said: str
    kind: PhraseKind
    places: tuple[str, ...]
    rank: int
    plural: bool = False
    concepts: tuple[str, ...] = ()
    generic: tuple[str, ...] = ()
    modifies: bool = False


def find(page: PageWords, phraser: Phraser, most: int = MOST) -> tuple[Candidate, ...]:
    """The candidates of one page, those of the caption first, each lemma once."""
    found: dict[str, Candidate] = {}
    for place, text in _places(page):
        names = [one for one in phraser.read(text).phrases if one.kind in KINDS and _is_word(one)]
        for rank, phrase in enumerate(names):
            known = found.get(phrase.lemma)
            if known is None:
                found[phrase.lemma] = _candidate(phrase, place, rank)
            elif place not in known.places:
                found[phrase.lemma] = replace(known, places=(*known.places, place))
    return tuple(list(found.values())[:most])


def lemmas(text: str, phraser: Phraser) -> dict[str, Phrase]:
    """Every noun and name of a human text by lemma: what it says is there."""
    return {one.lemma: one for one in phraser.read(text).phrases if one.kind in KINDS}


def without_credit(caption: str) -> str:
    """`caption` up to the words that say who made the picture."""
    found = CREDIT.search(caption)
    return caption[: found.start()] if found else caption


def _places(page: PageWords) -> Sequence[tuple[str, str]]:
    before, after = page.before.split(), page.after.split()
    return (
        ("caption", without_credit(page.caption)),
        ("heading", " ".join(page.headings[-1:])),
        ("near", " ".join(before[-NEAR_WORDS:])),
        ("near", " ".join(after[:NEAR_WORDS])),
        ("title", page.title),
    )


def _candidate(phrase: Phrase, place: str, rank: int) -> Candidate:
    head = pagewords.clean(phrase.head)
    said = head if phrase.kind is PhraseKind.NAME else head.casefold()
    plural = phrase.kind is not PhraseKind.NAME and said != phrase.lemma
    return Candidate(
        phrase.lemma, said, phrase.kind, (place,), rank, plural, phrase.concepts, phrase.generic, phrase.modifies
    )


def _is_word(phrase: Phrase) -> bool:
    letters = [letter for letter in phrase.lemma if letter.isalpha()]
    return len(letters) >= SMALL_LETTERS and not any(letter.isdigit() for letter in phrase.lemma)
