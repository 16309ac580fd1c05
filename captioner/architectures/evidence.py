"""What was seen, as JSON beside each outcome of the starter: for the author, for audits, for evaluation.

It reports, it decides nothing.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from captioner.prepare import pagewords
from captioner.prepare import vocabulary as vocabulary_module
from captioner.prepare.pagewords import PageWords
from captioner.prepare.routing import Route
from captioner.rooms.decode import wording
from captioner.rooms.gate.verdict import Seen, Thing
from captioner.types import Sight

MOST = 12  # entries of each list: the tail is noise and would be stored with every suggestion

VOCABULARY = vocabulary_module.vocabulary


@dataclass(frozen=True, slots=True)
class Vocables:
    """What the page has words for.

    :ivar named: concepts that it names exactly.
    :ivar mentions: those and related ones, each with the weight of its best place and the words found there.
    :ivar mentioned: the concepts of `mentions`; None where the page has no words to go by.
    """

    named: frozenset[str] = frozenset()
    mentions: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    mentioned: frozenset[str] | None = None


def look_up(page: PageWords, language: str) -> Vocables:
    """Find the vocabulary on the page; nothing in a language that has no lexicon."""
    if not _spoken(language):
        return Vocables()
    book = wording.lexicon(language)
    exact, related = pagewords.mentions(page, book.forms), pagewords.mentions(page, book.related)
    mentions = {name: max(exact.get(name, (0, "")), related.get(name, (0, ""))) for name in {*exact, *related}}
    mentioned = frozenset(mentions) if pagewords.words(page.everything) else None
    return Vocables(frozenset(exact), mentions, mentioned)


def gather(
    sight: Sight | None,
    seen: Seen,
    route: Route | None,
    page: PageWords,
    mentions: Mapping[str, tuple[int, str]],
    language: str,
) -> dict[str, Any]:
    """A dict of JSON types; nearly empty where nothing was looked at."""
    if sight is None:
        return {}
    things = [*seen.sure, *seen.unsure]
    return {
        "kinds": {name: round(share, 4) for name, share in sight.kinds.items()},
        "detections": [
            {"label": one.label, "score": one.score, "box": [one.box.left, one.box.top, one.box.right, one.box.bottom]}
            for one in sight.detections[:MOST]
        ],
        "tags": [
            {"label": tag.label, "probability": tag.probability, "synset": tag.synset, "leaf": tag.leaf}
            for tag in sight.tags[:MOST]
        ],
        "lines": [{"text": line.text, "confidence": round(line.confidence, 4)} for line in sight.lines[: 2 * MOST]],
        "text_share": round(sight.text_share, 4),
        "things": [_thing(thing, language) for thing in seen.sure],
        "unverified": [_thing(thing, language) for thing in seen.unsure[:MOST]],
        "page_words": {
            thing.concept: mentions[name][1]
            for thing in things
            for name in VOCABULARY().wider(thing.concept)
            if name in mentions
        },
        "names_on_page": pagewords.names(page) if any(thing.concept == "person" for thing in things) else [],
        "missing": list(sight.missing),
        "way": str(route.way) if route else "",
    }


@functools.cache
def words_digest() -> str:
    """12 hex digits over vocabulary and lexicons: other words are another version."""
    digest = hashlib.sha256()
    for package, names in (
        ("captioner.prepare", ("vocabulary.tsv",)),
        ("captioner.rooms.decode", ("lexicon_de.tsv", "lexicon_en.tsv")),
    ):
        for name in names:
            digest.update(resources.files(package).joinpath(name).read_bytes())
    return digest.hexdigest()[:12]


def _thing(thing: Thing, language: str) -> dict[str, Any]:
    said = wording.lexicon(language).say(thing.concept) if _spoken(language) else None
    return {
        "concept": thing.concept,
        "phrase": said or thing.concept,
        "source": thing.source,
        "score": round(thing.score, 4),
        "detail": thing.detail,
    }


def _spoken(language: str) -> bool:
    return wording.primary_language(language) in wording.LANGUAGES
