"""Support: each phrase of a free text against the evidence of its own kind.

Things against boxes and tags, words against what was read, names against the page and the thing that carries them,
numbers against what was read or never. It judges phrase by phrase and does not decide about the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from captioner.prepare import pagewords, phrases, reading, routing
from captioner.prepare.pagewords import PageWords
from captioner.prepare.phrases import Phrase, PhraseKind
from captioner.prepare.reading import Reading
from captioner.prepare.routing import Way
from captioner.prepare.vocabulary import Vocabulary
from captioner.rooms.gate.verdict import Seen, Thing
from captioner.types import Kind, Role, Sight, Support


@dataclass(frozen=True, slots=True)
class Found:
    """What an open-vocabulary detector says about one phrase.

    :ivar present: its calibrated verdict; the score alone means little, for each detector has its own scale.
    """

    present: bool
    score: float
    source: str = "open"


@dataclass(frozen=True, slots=True)
class Judged:
    """One phrase with its verdict.

    :ivar supported: True, False, or None where nothing on this machine can tell and it is left and counted.
    :ivar score: of the source's own scale, 0..1; of what was nearly seen where `supported` is False.
    """

    phrase: Phrase
    supported: bool | None
    source: str = ""
    score: float = 0.0
    detail: str = ""

    def as_support(self) -> Support:
        return Support(self.phrase.text, self.source, round(self.score, 4), self.detail)

    def as_json(self) -> dict[str, Any]:
        """A dict of JSON types."""
        judged = {"supported": self.supported, "source": self.source, "score": round(self.score, 4)}
        return phrases.as_json(self.phrase) | judged | {"detail": self.detail}


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that a phrase may be held against.

    :ivar opened: casefolded head or whole phrase -> verdict of an open-vocabulary detector.
    :ivar destination: words of the link around the image, for the role functional.
    """

    sight: Sight
    seen: Seen
    page: PageWords
    vocabulary: Vocabulary
    role: Role = Role.UNKNOWN
    words: Reading = Reading()
    opened: Mapping[str, Found] = field(default_factory=dict)
    destination: str = ""

    @property
    def way(self) -> Way:
        return routing.choose(self.sight, self.role).way

    @property
    def holds_values(self) -> bool:
        """A chart, diagram or map: its numbers are values, and those are never read off it (T8)."""
        return self.role is Role.COMPLEX or self.way is Way.GRAPHIC

    def opened_for(self, *names: str) -> Found | None:
        return next((self.opened[name.casefold()] for name in names if name.casefold() in self.opened), None)


def judge(phrase: Phrase, evidence: Evidence) -> Judged:
    """Hold `phrase` against what its kind needs."""
    if phrase.kind is PhraseKind.FRAME:
        return Judged(phrase, None)
    if evidence.role is Role.FUNCTIONAL and pagewords.contains(evidence.destination, phrase.head):
        return Judged(phrase, True, "link", 1.0, "words of the link")
    if phrase.kind is PhraseKind.TEXT:
        return _text(phrase, evidence)
    if phrase.kind is PhraseKind.CARRIER:
        return _carrier(phrase, evidence)
    if phrase.kind is PhraseKind.NUMBER:
        return _number(phrase, evidence)
    if phrase.kind is PhraseKind.MEDIUM:
        return _medium(phrase, evidence)
    if evidence.way is not Way.THINGS and (line := _read(phrase, evidence)):
        return line
    if phrase.kind is PhraseKind.NAME:
        return _name(phrase, evidence)
    return _thing(phrase, evidence)


def _thing(phrase: Phrase, evidence: Evidence) -> Judged:
    """An object needs a sure thing of its own kind or narrower; a scene is left unless a detector denies it."""
    if thing := _match(phrase.concepts, evidence.seen.sure, evidence.vocabulary):
        detail = f"seen: {thing.concept}" if phrase.claims_more else thing.detail
        return Judged(phrase, True, thing.source, thing.score, detail)
    opened = evidence.opened_for(phrase.text, phrase.head, phrase.lemma)
    if opened is not None:
        return Judged(phrase, opened.present, opened.source, opened.score)
    if phrase.kind is PhraseKind.SCENE:
        return Judged(phrase, None)
    if thing := _match(phrase.concepts, evidence.seen.unsure, evidence.vocabulary):
        return Judged(phrase, False, thing.source, thing.score, "seen, but not surely")
    return Judged(phrase, False)


def _match(concepts: Iterable[str], things: Iterable[Thing], vocabulary: Vocabulary) -> Thing | None:
    """The surest thing that is one of `concepts` or a kind of it."""
    wanted = tuple(concepts)
    found = [thing for thing in things if any(_is_a(thing, name, vocabulary) for name in wanted)]
    return max(found, key=lambda thing: thing.score, default=None)


def _is_a(thing: Thing, name: str, vocabulary: Vocabulary) -> bool:
    """`plural_of` is what the boxes alone showed before tags named it more narrowly."""
    return vocabulary.is_kind_of(thing.concept, name) or (bool(thing.plural_of) and thing.plural_of == name)


def _text(phrase: Phrase, evidence: Evidence) -> Judged:
    if line := _read(phrase, evidence):
        return line
    doubtful = " ".join(line.text for line in evidence.sight.lines)
    detail = "read, but not surely" if pagewords.contains(doubtful, phrase.head) else ""
    return Judged(phrase, False, "ocr", 0.0, detail)


def _read(phrase: Phrase, evidence: Evidence) -> Judged | None:
    """The words of the phrase stand one after the other in what was surely read."""
    if not pagewords.contains(evidence.words.text, phrase.head):
        return None
    own = set(pagewords.words(phrase.head))
    lines = [line for line in evidence.words.sure if own & set(pagewords.words(line.text))]
    return Judged(phrase, True, "ocr", min(line.confidence for line in lines))


def _carrier(phrase: Phrase, evidence: Evidence) -> Judged:
    best = max((line.confidence for line in evidence.words.sure), default=0.0)
    return Judged(phrase, bool(evidence.words.sure), "ocr", best)


def _number(phrase: Phrase, evidence: Evidence) -> Judged:
    if evidence.holds_values:
        return Judged(phrase, False, "ocr", 0.0, "values are never read off a chart, diagram or map")
    return _read(phrase, evidence) or Judged(phrase, False, "ocr", 0.0, "not read in the picture; counts are not sure")


def _medium(phrase: Phrase, evidence: Evidence) -> Judged:
    kind = Kind(phrase.concepts[0])
    score = evidence.sight.kinds.get(kind, 0.0)
    if not evidence.sight.kinds and evidence.role is Role.COMPLEX and kind in routing.GRAPHIC_KINDS:
        return Judged(phrase, None, "role", 0.0, "a person says that it is complex")
    return Judged(phrase, score >= (routing.SURE_MAP if kind is Kind.MAP else routing.SURE_KIND), "kind", score)


def _name(phrase: Phrase, evidence: Evidence) -> Judged:
    """On the page, and either what carries the name is seen or the name itself is read (T15: a person confirms it)."""
    if not pagewords.contains(evidence.page.everything, phrase.head):
        return Judged(phrase, False, "page", 0.0, "not on the page")
    if thing := _match(phrase.generic, evidence.seen.sure, evidence.vocabulary):
        return Judged(phrase, True, f"page+{thing.source}", thing.score, f"seen: {thing.concept}; confirm the name")
    opened = evidence.opened_for(*phrase.generic)
    if opened is not None and opened.present:
        return Judged(phrase, True, f"page+{opened.source}", opened.score, "confirm the name")
    if line := _read(phrase, evidence):
        return Judged(phrase, True, "page+ocr", line.score, "confirm the name")
    return Judged(phrase, False, "page", 0.0, "on the page, but nothing seen that carries it")


def words_of(sight: Sight) -> Reading:
    """What was surely read."""
    return reading.read(sight.lines)
