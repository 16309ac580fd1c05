"""What evidence allows to be said about a picture, in every way it may be said: the choices of the constrained writer.

Things that were seen come first. The page may narrow one of them ("a person" -> "a farmer", "Mark Twain"), and may
name the medium of what was classified as art; it never adds a thing. Pure: words and numbers in, words out.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from captioner.prepare import pagewords
from captioner.prepare.candidates import Candidate
from captioner.prepare.phrases import PhraseKind
from captioner.prepare.vocabulary import Vocabulary
from captioner.rooms.gate.thresholds import DETECTOR_DEFAULT
from captioner.rooms.gate.verdict import Thing
from captioner.types import Kind, Sight, Support

VERSION = "3"  # raise it whenever the same evidence can give other texts
MOST_TEXTS = 48
FLAT = frozenset(
    {
        *("painting", "drawing", "engraving", "etching", "woodcut", "lithograph", "print", "poster", "cartoon"),
        *("illustration", "sketch", "fresco", "mural", "mosaic", "tapestry", "stamp", "miniature", "caricature"),
    }
)
SOLID = frozenset(("statue", "sculpture", "bust", "figurine", "relief", "carving"))
CROWDS = frozenset({"people", "person", "crowd", "audience", "family", "team", "group", "couple", "public", "figure"})
OPENING = 5  # a caption names its subject in its first words; what comes later is about the subject
OPENING_NAME = 3  # "In 2021, Governor X", but not "In her profiling work, X highlights Y"
MOST_NAME_WORDS = 5
NOWHERE = 10_000
NOT_SHOWN = re.compile(r"\bnot (?:pictured|shown|seen|in the (?:picture|photo))\b", re.I)
APART = r"by|for|before|after|since|like|unlike|without|from|named after|(?:in )?(?:honou?r|memory) of|about|to"
JOINED = r"(?:and|with|&|meets?|beside|next to)"
CAPITAL = r"(?:\w+ ){0,2}[A-ZÀ-Þ][\w.’'-]*"
UNCOUNTED = frozenset({"bread", "cattle", "clothing", "equipment", "food", "furniture", "luggage", "police", "staff"})
VOWEL_LETTER_ONLY = re.compile(r"(?:uni(?!n)|use|usu|eu|one\b|once)", re.I)  # sound like a consonant
LARGE = 0.08  # share of the picture under a person who may be called by name
FIGURES = 2  # a statue shows a figure or two; more people who were surely seen are no statue


@dataclass(frozen=True, slots=True)
class Limits:
    """Chances from which a page word may take the place of a seen thing; see `captioner/data/visibility.json`.

    Low, because the eyes must agree and the word must open the caption: chosen on the held-out pages of
    `docs/evaluation.md`, where the describer named one in two such words, and nearly all others were right as well.

    :ivar word: for a narrower noun.  :ivar name: for a person's name.  :ivar medium: for a word of art.
    :ivar seen: score of the one thing that is called by a narrower word: a person may be named "a person" from less.
    """

    word: float = 0.25
    name: float = 0.25
    medium: float = 0.4
    art: float = 0.5  # probability of the kind "art"
    seen: float = DETECTOR_DEFAULT

    def version(self) -> str:
        return f"word={self.word:g} name={self.name:g} medium={self.medium:g} art={self.art:g} seen={self.seen:g}"


@dataclass(frozen=True, slots=True)
class Sayable:
    """One text that may be said, and why each part of it may."""

    text: str
    supports: tuple[Support, ...]


Scored = Sequence[tuple[Candidate, float]]
Part = tuple[str, tuple[Support, ...]]
Phrased = Mapping[str, Thing]  # phrase -> thing, in the order of saying


def texts(
    said: Phrased, sight: Sight, scored: Scored, caption: str, tree: Vocabulary, limits: Limits | None = None
) -> list[Sayable]:
    """Every text that may be said, at most `MOST_TEXTS`, the plain one first; [] where nothing may.

    :param said: at most three things with their plain phrases.  :param scored: page candidates with their chances.
    :param caption: the visible caption, without credit.
    """
    limits = limits or Limits()
    medium = _medium(said, sight, scored, caption, limits)
    subject = _subject(medium[0], caption) if medium else ""
    kept = _worth_saying(said, tree)
    if medium is not None and medium[0].split()[-1] in SOLID:
        return _solid(medium, subject)
    ways = [
        [(phrase, (_plain(phrase, thing),)), *_narrower(thing, kept, sight, scored, caption, tree, limits)]
        for phrase, thing in kept.items()
    ]
    lists = [combination for choice in itertools.product(*ways) for combination in _orders(choice)] if ways else []
    made = [_sayable(parts, joint) for parts, joint in lists]
    if medium is not None:
        made = _in_medium(medium, made, subject if any(thing.concept == "person" for thing in kept.values()) else "")
    return list({one.text: one for one in made}.values())[:MOST_TEXTS]


def _worth_saying(said: Phrased, tree: Vocabulary) -> dict[str, Thing]:
    """Without what people wear, where people are named: "a person and a tie" says no more than "a person" (T20)."""
    if not any(thing.concept == "person" for thing in said.values()):
        return dict(said)
    return {phrase: thing for phrase, thing in said.items() if not tree.is_kind_of(thing.concept, "clothing")}


def _in_medium(medium: tuple[str, Support], made: Sequence[Sayable], subject: str) -> list[Sayable]:
    """The texts as what a painting, poster or cartoon shows; alone where nothing in it was seen."""
    word, support = medium
    led = [Sayable(f"{_capital(word)} of {_inner(one)}", (support, *one.supports)) for one in made]
    if subject:
        led.append(_of_subject(_capital(word), medium, subject))
    return led or [Sayable(_capital(article(word)), (support,))]


def _inner(one: Sayable) -> str:
    """A text as part of a longer one: names keep their capital."""
    return one.text[0].lower() + one.text[1:] if one.supports[0].phrase[:1].islower() else one.text


def article(noun: str) -> str:
    """The noun with its indefinite article, by its first sound as far as letters tell it."""
    vowel = noun[:1].lower() in "aeiou" and not VOWEL_LETTER_ONLY.match(noun)
    return f"{'an' if vowel else 'a'} {noun}"


def is_person_name(candidate: Candidate) -> bool:
    """True for two to five capitalised words of which none belongs to places, bodies or events."""
    words = candidate.said.replace(".", "").split()
    return (
        candidate.kind is PhraseKind.NAME
        and 2 <= len(words) <= MOST_NAME_WORDS
        and not any(word.casefold() in _no_person() or (word.isupper() and len(word) > 2) for word in words)
        and words[0][:1].isupper()
        and words[-1][:1].isupper()
        and (not candidate.generic or "person" in candidate.generic)
    )


def _narrower(
    thing: Thing, said: Phrased, sight: Sight, scored: Scored, caption: str, tree: Vocabulary, limits: Limits
) -> list[Part]:
    """Other phrases for one thing that the caption offers, each with its two supports, the likeliest first."""
    found: list[tuple[float, str, tuple[Support, ...]]] = []
    for candidate, chance in scored:
        before = _place_in(caption, candidate.said)
        if (
            candidate.modifies
            or "caption" not in candidate.places
            or before > (OPENING_NAME if is_person_name(candidate) else OPENING)
        ):
            continue
        if phrase := _narrow_phrase(candidate, chance, thing, said, sight, caption, tree, limits):
            page = Support(phrase, "page", round(chance, 4), "opens the caption")
            seen = Support(thing.concept, thing.source, round(thing.score, 4), thing.detail)
            found.append((chance, phrase, (page, seen)))
    return [(phrase, supports) for _, phrase, supports in sorted(found, key=lambda one: -one[0])[:2]]


def _narrow_phrase(
    candidate: Candidate,
    chance: float,
    thing: Thing,
    said: Phrased,
    sight: Sight,
    caption: str,
    tree: Vocabulary,
    limits: Limits,
) -> str | None:
    if not thing.many and thing.score < limits.seen:
        return None
    if is_person_name(candidate):
        people = sum(other.concept == "person" for other in said.values())
        fits = thing.concept == "person" and people == 1 and not thing.many and thing.area >= LARGE
        fits = fits and not _is_elsewhere(candidate.said, caption)
        return candidate.said if fits and _one_person(sight) and chance >= limits.name else None
    if candidate.kind is not PhraseKind.OBJECT or chance < limits.word or candidate.lemma in (*FLAT, *SOLID, *CROWDS):
        return None
    if not any(tree.is_kind_of(concept, thing.concept) for concept in candidate.concepts):
        return None
    if candidate.lemma == thing.concept or candidate.lemma in UNCOUNTED or thing.many != candidate.plural:
        return None
    return candidate.said if candidate.plural else article(candidate.said)


def _place_in(text: str, words: str) -> int:
    """How many words of `text` stand before `words`; a large number where they are not in it as whole words."""
    own, wanted = pagewords.words(text), pagewords.words(words)
    starts = range(len(own) - len(wanted) + 1) if wanted else range(0)
    return next((at for at in starts if own[at : at + len(wanted)] == wanted), NOWHERE)


def _is_elsewhere(name: str, caption: str) -> bool:
    """True for "by NAME", "NAME's", "after NAME left" or "NAME (not pictured)": named, and not in the picture.

    And for "NAME and OTHER": one person is seen, and the caption does not say which of them.
    """
    own = re.escape(name)
    if re.search(rf"\b{own},? {JOINED} {CAPITAL}|{CAPITAL},? {JOINED} {own}\b", caption):
        return True
    return bool(NOT_SHOWN.search(caption) or re.search(rf"\b(?i:{APART}) {own}\b|\b{own}['’]s?(?!\w)", caption))


def _one_person(sight: Sight) -> bool:
    """One box of a person, and no second that is nearly as sure."""
    people = sorted((one.score for one in sight.detections if one.label == "person"), reverse=True)
    return len(people) == 1 or (len(people) > 1 and people[1] < 0.3)


def _is_company(sight: Sight, limits: Limits) -> bool:
    """More people were surely seen than a statue has figures."""
    return sum(one.label == "person" and one.score >= limits.seen for one in sight.detections) > FIGURES


def _medium(said: Phrased, sight: Sight, scored: Scored, caption: str, limits: Limits) -> tuple[str, Support] | None:
    """A word of art that opens the caption and that the kind agrees with."""
    art = sight.kinds.get(Kind.ART, 0.0)
    for candidate, chance in sorted(scored, key=lambda one: -one[1]):
        word = candidate.lemma.split()[-1]
        before = _place_in(caption, candidate.said)
        if chance < limits.medium or "caption" not in candidate.places or candidate.plural or before > OPENING:
            continue
        if word in FLAT and art >= limits.art:
            return candidate.lemma, Support(candidate.lemma, "kind", round(art, 4), f"page {chance:.2f}")
        figures = any(thing.concept == "person" for thing in said.values()) and not _is_company(sight, limits)
        if word in SOLID and before <= OPENING_NAME and figures:
            return candidate.lemma, Support(candidate.lemma, "page", round(chance, 4), "a figure was seen")
    return None


def _solid(medium: tuple[str, Support], subject: str) -> list[Sayable]:
    """A statue is no person: it takes the place of what the detector saw; the caption may say of whom."""
    word, support = medium
    plain = Sayable(_capital(article(word)), (support,))
    return [plain, _of_subject(plain.text, medium, subject)] if subject else [plain]


def _of_subject(start: str, medium: tuple[str, Support], subject: str) -> Sayable:
    word, support = medium
    named = Support(subject, "page", support.score, f"the caption says: {word} of {subject}")
    return Sayable(f"{start} of {subject}", (support, named))


def _subject(medium: str, caption: str) -> str:
    """The name after "statue of", "painting of" in the caption, "" where there is none of a person's form."""
    name = r"(?:[A-ZÀ-Þ][\w-]+)(?: (?:[A-ZÀ-Þ]\.|[A-ZÀ-Þ][\w-]*|von|van|de|of|the))*"
    match = re.search(rf"\b(?i:{re.escape(medium.split()[-1])}) of ({name})", caption)
    if match and caption[match.end() :][:1] in ("'", "’"):  # "Painting of Napoleon's retreat"
        match = None
    named = re.sub(r"(?: (?:of|the|de|van|von))+$", "", match.group(1).rstrip(".,")) if match else ""
    words = {word.casefold() for word in named.split()}
    return named if named and len(named.split()) <= MOST_NAME_WORDS and not words & _no_person() else ""


def _plain(phrase: str, thing: Thing) -> Support:
    return Support(phrase, thing.source, round(thing.score, 4), thing.detail)


def _orders(parts: Sequence[Part]) -> list[tuple[tuple[Part, ...], str]]:
    """The parts as they come, and for two of them also the other way round and joined by "with"."""
    if len(parts) != 2:
        return [(tuple(parts), "and")]
    first, second = parts
    return [((first, second), "and"), ((second, first), "and"), ((first, second), "with"), ((second, first), "with")]


def _sayable(parts: Sequence[Part], joint: str) -> Sayable:
    phrases = [phrase for phrase, _ in parts]
    text = phrases[0] if len(phrases) == 1 else f"{', '.join(phrases[:-1])} {joint} {phrases[-1]}"
    return Sayable(_capital(text), tuple(support for _, supports in parts for support in supports))


@functools.cache
def _no_person() -> frozenset[str]:
    lines = resources.files("captioner").joinpath("data/no_person.txt").read_text("utf-8").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
