"""The table of systems: same rows, same measures, one line a system. Every share with its n and exact interval.

What each system is stands in `systems`; here is only what is counted.
"""

from __future__ import annotations

import csv
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from captioner.funnel import targets
from captioner.metrics import judging, mentions, similarity, swaps
from captioner.metrics.evaluation import share
from captioner.metrics.rows import Row
from captioner.metrics.swaps import SwappedText
from captioner.prepare import candidates, pagewords
from captioner.prepare.phrases import PhraseKind, Phraser
from captioner.training import systems
from captioner.training.systems import Answers, Seen
from captioner.types import PageContext, Sight

SWAP_SEED = 3
SURE_LABEL = 0.3  # detections that excuse a word of a swapped page
GAP_ROWS = 240  # the gap costs two passes a row; its n is told


def line(answers: Answers, seen: Sequence[Seen], phraser: Phraser) -> dict[str, Any]:
    """All measures of one system as JSON types."""
    offered = [(one, text) for one, text in zip(seen, answers.texts, strict=True) if text]
    texts = [text for _, text in offered]
    loose = {
        one.row.name: mentions.unmentioned(text, one.row.said, phraser) for one, text in offered if one.row.references
    }
    naming = [one for one, text in offered if one.row.references and mentions.naming(text, phraser)]
    graphemes = [pagewords.graphemes(text) for text in texts]
    labelled = [(one, text) for one, text in zip(seen, answers.texts, strict=True) if one.row.objects is not None]
    return {
        "system": answers.name,
        "what": answers.what,
        "n": len(seen),
        "coverage": share(len(offered), len(seen)),
        "unmentioned": share(sum(bool(loose[one.row.name]) for one in naming), len(naming)),
        "chair_s": _chair(labelled) if labelled else None,
        "cider_offered": _cider(offered),
        "graphemes": round(statistics.fmean(graphemes), 1) if graphemes else None,
        "distinct": share(len(set(texts)), len(texts)),
        "caption_repeated": share(
            sum(pagewords.overlap(text, one.row.context.caption) > 0.6 for one, text in offered), len(offered)
        ),
        "seconds": round(answers.seconds / max(1, len(seen)), 3),
    }


def copied(answers: Answers, contexts: Sequence[PageContext], seen: Sequence[Seen], phraser: Phraser) -> dict[str, Any]:
    """Context-copy rate of texts that were written under swapped pages."""
    places = [
        SwappedText(text or "", everything(context), everything(one.row.context), labels(one.sight))
        for one, text, context, partner in zip(seen, answers.texts, contexts, swap(seen).partners, strict=True)
        if partner is not None
    ]
    rate = swaps.copy_rate(places, nouns=lambda text: nouns(text, phraser))
    return {**share(rate.copied, rate.texts), "words": dict(list(rate.words.items())[:20])}


def gap(seen: Sequence[Seen], writer: Any, *, page: bool = True) -> dict[str, Any] | None:
    """Shuffled-image gap over the first rows with a usable human text, nats per token.

    With the wrong picture come the wrong tags, as both are what the model knows of it; the gap of the tokens alone
    stands beside.

    :param page: False leaves the page out: what the picture tells where nothing else does, the most that can be had.
    """
    usable = [(one, target.text) for one in seen if (target := targets.clean((one.row.references or ("",))[0])).text]
    alone = set(swap([one for one, _ in usable[:GAP_ROWS]]).alone)
    usable = [pair for place, pair in enumerate(usable[:GAP_ROWS]) if place not in alone]
    if len(usable) < 2:
        return None
    rows, texts = [one for one, _ in usable], [text for _, text in usable]
    partners = [partner if partner is not None else place for place, partner in enumerate(swap(rows).partners)]
    right = systems.losses(rows, texts, range(len(rows)), writer, tags=True, page=page)
    found = {
        name: swaps.image_gap(right, systems.losses(rows, texts, partners, writer, tags=tags, page=page))
        for name, tags in (("tokens_and_tags", True), ("tokens_only", False))
    }
    return {
        "n": len(rows),
        "right": round(found["tokens_only"].right, 4),
        **{
            name: {"shuffled": round(one.shuffled, 4), "gap": round(one.gap, 4), "helped": round(one.helped, 4)}
            for name, one in found.items()
        },
    }


def swap(seen: Sequence[Seen]) -> swaps.Swap:
    """Partners inside the kind that the row is labelled with; nobody meets the same picture."""
    return swaps.derangement([one.row.kind for one in seen], seed=SWAP_SEED, same=[one.content_hash for one in seen])


def swapped_contexts(seen: Sequence[Seen]) -> list[PageContext]:
    """The page of each row's partner; its own where it has none (told as `alone` by `swap`)."""
    partners = swap(seen).partners
    return [seen[partner if partner is not None else place].row.context for place, partner in enumerate(partners)]


def everything(context: PageContext) -> str:
    """All words of a page that a captioner may have read."""
    return pagewords.read(context).everything


def labels(sight: Sight) -> tuple[str, ...]:
    """What the eyes saw, in words."""
    seen = [one.label for one in sight.detections if one.score >= SURE_LABEL]
    tags = [tag.label for tag in sight.tags if tag.probability >= SURE_LABEL]
    return (
        *dict.fromkeys([*seen, *tags]),
        *(line.text for line in sight.lines),
        *(kind for kind, share in sight.kinds.items() if share >= SURE_LABEL),
    )


def nouns(text: str, phraser: Phraser) -> frozenset[str]:
    """Content nouns and names of `text`: every word of a name, the lemma of a noun."""
    found: set[str] = set()
    for lemma, phrase in candidates.lemmas(text, phraser).items():
        found.update(lemma.split() if phrase.kind is PhraseKind.NAME else [lemma.split()[-1]])
    return frozenset(found)


def write(path: Path, seen: Sequence[Seen], answers: Sequence[Answers]) -> None:
    """One line a row, one column a system: what everybody said about the same picture."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["row", "image", "kind", "seen_kind", "caption", *(one.name for one in answers)])
        for index, one in enumerate(seen):
            cells = [one.row.name, one.row.image.name, one.row.kind, str(one.sight.kind or ""), one.row.context.caption]
            writer.writerow([*cells, *(answer.texts[index] or "" for answer in answers)])


def _cider(offered: Sequence[tuple[Seen, str]]) -> float | None:
    """CIDEr-D of the offered texts; document frequencies from their own references, so only equal sets compare."""
    pairs = [(text, one.row.references) for one, text in offered if one.row.references]
    if not pairs:
        return None
    found = similarity.cider_d([text for text, _ in pairs], [list(references) for _, references in pairs])
    return round(found.score, 4) if found.score is not None else None


def _chair(labelled: Sequence[tuple[Seen, str | None]]) -> dict[str, Any]:
    from captioner.metrics import hallucination

    truths = [hallucination.truth(_known(one.row), one.row.references, mode="clean") for one, _ in labelled]
    spoken = [(judging.unquoted(text), true) for (_, text), true in zip(labelled, truths, strict=True) if text]
    found = hallucination.chair([text for text, _ in spoken], [true for _, true in spoken], mode="clean")
    return {
        **share(found.false_captions, found.captions),
        "chair_i": share(found.false_mentions, found.mentions),
        "recall": round(found.recall, 4) if found.recall is not None else None,
    }


def _known(row: Row) -> set[str]:
    from captioner.metrics import hallucination

    return set(row.objects or ()) & hallucination.classes()
