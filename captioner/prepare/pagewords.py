"""The words of the page: cleaned, cut to what stands near the image, and looked up.

Page text is data. What is cut away here is not read by anything else, so it cannot steer a text either.
Nothing here knows which words matter or what the picture shows.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import regex

from captioner.types import PageContext

NEAR_CHARS = 1500  # before and after: about 250 words each side, read as "nearby"
SHORT_CHARS = 400  # title, a heading, link label
CAPTION_CHARS = 1000
MAX_HEADINGS = 6
WEIGHTS = {
    "caption": 5,
    "link": 4,
    "heading": 4,
    "title": 3,
    "near": 2,
    "path": 1,
}  # where a word stands -> how much it matters
NEAREST_WORDS = 40  # these many on each side count as "near", the rest as "path"

INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
WORD = re.compile(r"[^\W_]+(?:['’‑-][^\W_]+)*")
NAME = re.compile(
    r"\b(?:[A-ZÀ-ÖØ-Þ][\w’'-]+\.?)(?:\s(?:von|van|de|del|der|den|da|di|bin|al|la|le))?(?:\s[A-ZÀ-ÖØ-Þ](?:[\w’'-]+|\.)){1,2}"
)


@dataclass(frozen=True, slots=True)
class PageWords:
    """What of the page is read: cleaned strings, empty instead of None; `nearby` is what stands near the image."""

    title: str = ""
    headings: tuple[str, ...] = ()
    before: str = ""
    after: str = ""
    caption: str = ""
    link_label: str = ""

    @property
    def nearby(self) -> str:
        return "\n".join(filter(None, (self.caption, *self.headings[-1:], self.before, self.after)))

    @property
    def everything(self) -> str:
        return "\n".join(
            filter(None, (self.title, *self.headings, self.caption, self.link_label, self.before, self.after))
        )

    def weighted(self) -> list[tuple[int, str]]:
        """Pieces of the page, each with the weight of its place."""
        before, after = self.before.split(), self.after.split()
        return [
            (WEIGHTS["caption"], self.caption),
            (WEIGHTS["link"], self.link_label),
            (WEIGHTS["heading"], " ".join(self.headings[-1:])),
            (WEIGHTS["title"], self.title),
            (WEIGHTS["near"], " ".join(before[-NEAREST_WORDS:])),
            (WEIGHTS["near"], " ".join(after[:NEAREST_WORDS])),
            (WEIGHTS["path"], " ".join((*self.headings[:-1], *before[:-NEAREST_WORDS], *after[NEAREST_WORDS:]))),
        ]


def read(context: PageContext) -> PageWords:
    """The part of `context` that is used: the end of `before`, the start of everything else."""
    return PageWords(
        title=clean(context.title[:SHORT_CHARS]),
        headings=tuple(filter(None, (clean(heading[:SHORT_CHARS]) for heading in context.headings[-MAX_HEADINGS:]))),
        before=clean(_tail(context.before)),
        after=clean(_head(context.after)),
        caption=clean(context.caption[:CAPTION_CHARS]),
        link_label=clean(context.link_label[:SHORT_CHARS]),
    )


def clean(text: str) -> str:
    """NFC, no invisible or control characters, single spaces; the words stay as they were written."""
    return re.sub(r"\s+", " ", CONTROLS.sub(" ", unicodedata.normalize("NFC", INVISIBLE.sub("", text)))).strip()


def words(text: str) -> list[str]:
    """Casefolded words and numbers in order, without punctuation."""
    return [word.casefold() for word in WORD.findall(text)]


def plain(text: str) -> str:
    """What two texts are compared by (T6): NFC, casefold, letters and digits only, single spaces."""
    return " ".join(words(clean(text)))


def graphemes(text: str) -> int:
    """Length as a reader counts it (extended grapheme clusters)."""
    return len(regex.findall(r"\X", text))


def mentions(page: PageWords, forms: Mapping[tuple[str, ...], Iterable[str]]) -> dict[str, tuple[int, str]]:
    """Which names stand on the page: name -> (weight of the best place, the words found there).

    :param forms: casefolded words, in order, -> the names that they stand for.
    """
    longest = max((len(form) for form in forms), default=0)
    found: dict[str, tuple[int, str]] = {}
    for weight, text in page.weighted():
        tokens = words(text)
        for start in range(len(tokens)):
            for length in range(min(longest, len(tokens) - start), 0, -1):
                form = tuple(tokens[start : start + length])
                for name in forms.get(form, ()):
                    if weight > found.get(name, (0, ""))[0]:
                        found[name] = (weight, " ".join(form))
    return found


def contains(page_text: str, said: str) -> bool:
    """True where the words of `said` stand in `page_text` one after the other; False where `said` has no words."""
    wanted = plain(said)
    return bool(wanted) and f" {wanted} " in f" {plain(page_text)} "


def overlap(text: str, page_text: str, size: int = 3) -> float:
    """Share of the word n-grams of `text` that stand in `page_text`, 0..1; 0 for a `text` under one n-gram."""
    own, theirs = words(text), words(page_text)
    grams = [tuple(own[i : i + size]) for i in range(len(own) - size + 1)]
    known = {tuple(theirs[i : i + size]) for i in range(len(theirs) - size + 1)}
    return sum(gram in known for gram in grams) / len(grams) if grams else 0.0


def names(page: PageWords, limit: int = 8) -> list[str]:
    """Runs of capitalised words that may be names of people, for the author to confirm; never used in a text."""
    seen: dict[str, None] = {}
    for text in (page.caption, *reversed(page.headings), page.title, page.after, page.before):
        seen.update(dict.fromkeys(NAME.findall(text)))
    return list(seen)[:limit]


def _tail(text: str) -> str:
    piece = text[-NEAR_CHARS:]
    return piece if len(piece) == len(text) else piece.partition(" ")[2]


def _head(text: str) -> str:
    piece = text[:NEAR_CHARS]
    return piece if len(piece) == len(text) else piece.rpartition(" ")[0]


def matching(tokens: Sequence[str], others: Sequence[str]) -> float:
    """Share of `tokens` that also stand in `others`, 0..1; 0 for no tokens."""
    known = set(others)
    return sum(token in known for token in tokens) / len(tokens) if tokens else 0.0
