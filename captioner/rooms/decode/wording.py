"""How a supported thing is said, in English and in German: nouns with their articles, lists, and frames for quotes.

It knows no scores and decides nothing; other languages are refused by whoever asks. Texts are one line, without a
final stop, without "image of" (T10), and never hold a count.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib import resources

from captioner.prepare import pagewords
from captioner.types import Kind

VERSION = "4"  # raise it whenever the same sight and page can give another text
AIM = 125  # graphemes, T11
SOFT_LIMIT = 250  # graphemes; longer readings are named by their beginning
LANGUAGES = ("de", "en")
ARTICLES = {"m": "ein", "f": "eine", "n": "ein"}  # nominative: the only case that these frames need
WORDS = "frame words"


@dataclass(frozen=True, slots=True)
class Frames:
    """Fixed words of one language. `{}` takes what was read or listed."""

    last: str
    opening: str
    closing: str
    text: str
    start: str
    page: str
    titled: str
    axes: str
    axes_only: str
    labels: str
    screen: str
    beside: str
    home: str
    media: dict[Kind | None, str]


FRAMES = {
    "en": Frames(
        last=" and ",
        opening="“",
        closing="”",
        text="Text: {}",
        start="Text beginning {}",
        page="Page of text, beginning {}",
        titled="{medium} titled {}",
        axes="{}; axes: {}",
        axes_only="{medium} with axes: {}",
        labels="{medium} with labels: {}",
        screen="{medium} beginning {}",
        beside="{}; text: {}",
        home="Home page",
        media={
            Kind.CHART: "Chart",
            Kind.DIAGRAM: "Diagram",
            Kind.MAP: "Map",
            Kind.SCREENSHOT: "Screenshot",
            None: "Graphic",
        },
    ),
    "de": Frames(
        last=" und ",
        opening="„",
        closing="“",
        text="Text: {}",
        start="Text, beginnt mit {}",
        page="Textseite, beginnt mit {}",
        titled="{medium} mit dem Titel {}",
        axes="{}; Achsen: {}",
        axes_only="{medium} mit Achsen: {}",
        labels="{medium} mit Beschriftungen: {}",
        screen="{medium}, beginnt mit {}",
        beside="{}; Text: {}",
        home="Startseite",
        media={
            Kind.CHART: "Diagramm",
            Kind.DIAGRAM: "Schaubild",
            Kind.MAP: "Karte",
            Kind.SCREENSHOT: "Screenshot",
            None: "Grafik",
        },
    ),
}


@dataclass(frozen=True)
class Lexicon:
    """The words of one language.

    :ivar names: concept -> (one, many), with article where the language wants one.
    :ivar forms: casefolded words -> concepts that they name.
    :ivar related: casefolded words -> concepts that they make matter, without naming them ("coffee" for a cup).
    """

    language: str
    names: dict[str, tuple[str, str]] = field(default_factory=dict)
    forms: dict[tuple[str, ...], set[str]] = field(default_factory=dict)
    related: dict[tuple[str, ...], set[str]] = field(default_factory=dict)

    @property
    def frames(self) -> Frames:
        return FRAMES[self.language]

    @functools.cached_property
    def frame_words(self) -> frozenset[str]:
        """Every word that a frame may add by itself. The name of a medium is none: it needs the support of the kind."""
        frames = self.frames
        pieces = (
            frames.text,
            frames.start,
            frames.page,
            frames.titled,
            frames.axes,
            frames.axes_only,
            frames.labels,
            frames.screen,
        )
        neutral = frames.media[None]
        joined = " ".join((*pieces, frames.beside, frames.last, neutral)).replace("{medium}", " ")
        return frozenset(pagewords.words(joined))

    def say(self, concept: str, *, many: bool = False) -> str | None:
        """`concept` as a noun phrase; None where this language has no word for it."""
        one_or_many = self.names.get(concept)
        return (one_or_many[many] or None) if one_or_many else None


@functools.cache
def lexicon(language: str) -> Lexicon:
    """The lexicon for a BCP 47 tag.  :raises KeyError: the language is not in `LANGUAGES`."""
    primary = primary_language(language)
    book = Lexicon({code: code for code in LANGUAGES}[primary])
    for line in resources.files(__package__).joinpath(f"lexicon_{primary}.tsv").read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        cells = line.split("\t")
        if primary == "de":
            concept, gender, noun, plural, others = cells
            one, many, named = _german(gender, noun), plural, (noun, plural)
        else:
            concept, one, many, others = cells
            named = (one.removeprefix("a ").removeprefix("an "), many)
        book.names[concept] = (one, many)
        for form in filter(None, named):
            book.forms.setdefault(tuple(pagewords.words(form)), set()).add(concept)
        for form in filter(None, others.split(",")):
            book.related.setdefault(tuple(pagewords.words(form)), set()).add(concept)
    return book


def primary_language(tag: str) -> str:
    """First subtag, small: "de" for "de-AT"."""
    return tag.replace("_", "-").partition("-")[0].strip().lower()


def listing(phrases: Sequence[str], language: str) -> str:
    """ "A cat, a dog and people": capital first, no comma before the last."""
    head = ", ".join(phrases[:-1])
    joined = f"{head}{lexicon(language).frames.last}{phrases[-1]}" if head else phrases[-1]
    return capital(joined)


def capital(text: str) -> str:
    """`text` with a capital first letter; the rest as it was."""
    return text[:1].upper() + text[1:]


def quote(text: str, language: str) -> str:
    """`text` in the quotation marks of the language."""
    frames = FRAMES.get(primary_language(language), FRAMES["en"])
    return f"{frames.opening}{text}{frames.closing}"


def quotes(texts: Iterable[str], language: str) -> str:
    return ", ".join(quote(text, language) for text in texts)


def medium(kind: Kind | None, language: str) -> str:
    """The word for a kind; "Graphic" where the kind is not sure or has no word."""
    media = lexicon(language).frames.media
    return media.get(kind, media[None])


def beginning(text: str, limit: int = AIM) -> str:
    """As many whole words of `text` as fit into `limit` graphemes; at least one word."""
    kept: list[str] = []
    length = -1
    for word in text.split():
        length += 1 + pagewords.graphemes(word)
        if kept and length > limit:
            break
        kept.append(word)
    return " ".join(kept)


def _german(gender: str, noun: str) -> str:
    """Nominative with the indefinite article; mass nouns ("m=") and plurals ("p") stand alone."""
    return f"{ARTICLES[gender]} {noun}" if gender in ARTICLES else noun
