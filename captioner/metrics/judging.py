"""Are the things that a text names really there? Judged against labels, captions and human alt texts.

A name is right, false or unjudged; what nobody labelled is never counted as right. Knows outcomes, no models.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from captioner.metrics import hallucination
from captioner.metrics.rows import Row
from captioner.prepare import pagewords
from captioner.prepare.vocabulary import vocabulary
from captioner.rooms.decode.wording import lexicon
from captioner.types import Outcome

QUOTED = re.compile('“[^”]*”|„[^“]*“|"[^"]*"')
SEEN = ("detector", "tags", "detector+tags")


@dataclass(frozen=True, slots=True)
class Judgement:
    """Names of one text, by verdict. `mentions` are COCO classes once for each mention, as CHAIR counts them."""

    right: tuple[str, ...] = ()
    false: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    false_mentions: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return self.right + self.false + self.unjudged


def named(outcome: Outcome) -> list[str]:
    """Concepts that the text names: from its evidence where that tells, else the COCO classes found in the words."""
    things = {thing["phrase"]: thing["concept"] for thing in outcome.evidence.get("things", ())}
    supports = [support for support in outcome.evidence.get("support", ()) if support["source"] in SEEN]
    if outcome.text is None:
        return []
    if supports:
        concepts = [things.get(support["phrase"]) or _concept(support["phrase"]) for support in supports]
        return [concept for concept in dict.fromkeys(concepts) if concept]
    return list(dict.fromkeys(hallucination.mentioned(unquoted(outcome.text))))


def judge(row: Row, outcome: Outcome) -> Judgement:
    """Hold the names of a text against the labels of `row` and, beyond the 80 classes, against its captions."""
    if outcome.text is None or row.objects is None:
        return Judgement()
    true = present(row)
    verdicts: dict[bool | None, list[str]] = {True: [], False: [], None: []}
    for concept in named(outcome):
        verdicts[is_there(concept, true, row.references)].append(concept)
    mentions = hallucination.mentioned(unquoted(outcome.text))
    return Judgement(
        right=tuple(verdicts[True]),
        false=tuple(verdicts[False]),
        unjudged=tuple(verdicts[None]),
        mentions=tuple(mentions),
        false_mentions=tuple(label for label in mentions if label not in true),
    )


def present(row: Row) -> frozenset[str]:
    """Labelled objects and those that a human caption mentions (CHAIR's truth)."""
    captions = (label for text in row.references for label in hallucination.mentioned(text))
    return frozenset(row.objects or ()).union(captions)


def is_there(concept: str, true: frozenset[str], references: Iterable[str]) -> bool | None:
    """True, False, or None where neither labels nor captions can tell.

    A kind of a class is as right as the class ("tabby": cat); a wider word is right where a kind of it is there; a
    word outside the classes is right where a caption has it, and unjudged otherwise: captions leave much out.
    """
    tree = vocabulary()
    classes = {name for name in tree.wider(concept) if name in tree.concepts and tree.concepts[name].coco}
    if classes:
        return bool(classes & true)
    if any(tree.is_kind_of(label, concept) for label in true):
        return True
    return True if is_mentioned(concept, references) else None


def is_mentioned(concept: str, texts: Iterable[str]) -> bool:
    """True where a text has the concept, a kind of it, or one of its words."""
    tree, book = vocabulary(), lexicon("en")
    joined = " ".join(pagewords.words("\n".join(texts)))
    if any(tree.is_kind_of(label, concept) for label in hallucination.mentioned(joined)):
        return True
    return any(
        f" {' '.join(form)} " in f" {joined} "
        for table in (book.forms, book.related)
        for form, concepts in table.items()
        if form
        and any(name == concept or (table is book.forms and tree.is_kind_of(name, concept)) for name in concepts)
    )


def unquoted(text: str) -> str:
    """`text` without the words that it only repeats from the picture."""
    return QUOTED.sub(" ", text)


def _concept(phrase: str) -> str:
    tokens = [word for word in pagewords.words(phrase) if word not in ("a", "an")]
    found = lexicon("en").forms.get(tuple(tokens), set())
    return min(found) if found else ""
