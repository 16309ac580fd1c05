"""Fit the visibility table: which nouns and names of a page a person names when describing the picture.

Human alt texts are the labels: a candidate counts as named where the alt text has its lemma, a compound that ends in
it, or a narrower concept. People leave out much that is there, so "not named" is an upper bound of "not there". Whole
books are held out for the threshold, so that no author's habit crosses.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from captioner.architectures.starter_page import load_phraser
from captioner.funnel import records
from captioner.funnel.records import Record
from captioner.metrics.rows import Skipped
from captioner.prepare import candidates, pagewords
from captioner.prepare.candidates import Candidate
from captioner.prepare.phrases import PhraseKind, Phraser
from captioner.prepare.vocabulary import Vocabulary, vocabulary
from captioner.rooms.encode.tags import Taxonomy
from captioner.rooms.gate import score, verdict, visibility
from captioner.rooms.gate.visibility import FEATURES, Visibility
from captioner.training import corpus, features
from captioner.training.features import Seen
from captioner.types import Sight

HELD_OUT = 0.25  # of the books
RIDGE = 1.0
LEAST = 3  # words rarer than this keep the base rate: their counts would be noise, and the table three times as long


@dataclass(frozen=True, slots=True)
class Question:
    """One candidate on one page, with what the tags say, and whether the person named it."""

    picture: str
    candidate: Candidate
    chances: Mapping[str, float]
    named: bool
    group: str


def group_of(record: Record) -> str:
    """The book or site of a record."""
    return record.context.title or record.source.split(":")[0]


def is_held_out(group: str, share: float = HELD_OUT) -> bool:
    """Whole books, by hash of their title."""
    return int(hashlib.sha256(group.encode()).hexdigest()[:8], 16) / 2**32 < share


def questions(
    found: Sequence[Record], alts: Mapping[str, str], seen: Mapping[str, Seen], phraser: Phraser, tree: Vocabulary
) -> list[Question]:
    """Every candidate of the page of every record whose picture was seen; `alts`: file name -> whole human text."""
    taxonomy, asked = Taxonomy.load(), []
    for record in found:
        picture = features.find(seen, record.image)
        if record.image is None or picture is None:
            continue
        said = candidates.lemmas(alts[record.image.name], phraser)
        concepts = {concept for phrase in said.values() for concept in phrase.concepts}
        tags = taxonomy.tags(picture.probabilities.astype(np.float32))
        chances = verdict.tag_chances(Sight(1, 1, tags=tags), tree)
        for one in candidates.find(pagewords.read(record.context), phraser):
            named = is_named(one, said, concepts, tree)
            asked.append(Question(record.image.name, one, chances, named, group_of(record)))
    return asked


def is_named(candidate: Candidate, said: Mapping[str, Any], concepts: set[str], tree: Vocabulary) -> bool:
    """True where the human text has the lemma, a compound that ends in it, or a narrower concept."""
    if candidate.lemma in said or any(lemma.endswith(f" {candidate.lemma}") for lemma in said):
        return True
    if candidate.kind is PhraseKind.NAME:
        last = candidate.lemma.split()[-1]
        return any(last in lemma.split() for lemma in said)
    own = [concept for concept in candidate.concepts if concept == candidate.lemma]  # "nurse" is more than a person
    return any(tree.is_kind_of(other, concept) for concept in own for other in concepts)


def fit(asked: Sequence[Question], tree: Vocabulary) -> Visibility:
    """Counts, then a ridge logistic by Newton steps; a word's own outcome is left out of its prior while fitting."""
    times = Counter(one.candidate.lemma for one in asked)
    named = Counter(one.candidate.lemma for one in asked if one.named)
    base = sum(named.values()) / len(asked)
    counts = {lemma: (count, named[lemma]) for lemma, count in times.items() if count >= LEAST}
    table = Visibility(dict.fromkeys(FEATURES, 0.0), counts, base, {})
    rows = np.array([_row(one, table, tree, own=True) for one in asked])
    truth = np.array([one.named for one in asked], dtype=float)
    weights = score.newton(rows, truth, RIDGE * np.eye(len(FEATURES)))
    return Visibility({name: round(float(w), 4) for name, w in zip(FEATURES, weights, strict=True)}, counts, base, {})


def _row(one: Question, table: Visibility, tree: Vocabulary, *, own: bool) -> list[float]:
    counted = one.candidate.lemma in table.counts
    prior = table.prior(one.candidate.lemma, without=one.named if own and counted else None)
    return list(visibility.features(one.candidate, one.chances, tree, prior=prior).values())


def measures(table: Visibility, asked: Sequence[Question], tree: Vocabulary) -> dict[str, Any]:
    """Log-loss beside that of the base rate, and the share named among the best-scored, by group."""
    scored = [(table.chance(one.candidate, one.chances, tree), one) for one in asked]
    truth = np.array([one.named for _, one in scored], dtype=float)
    chance = np.clip(np.array([value for value, _ in scored]), 1e-6, 1 - 1e-6)
    share = truth.mean()
    report: dict[str, Any] = {
        "n": len(asked),
        "pages": len({one.picture for one in asked}),
        "named": round(float(share), 4),
        "log_loss": round(float(-(truth * np.log(chance) + (1 - truth) * np.log(1 - chance)).mean()), 4),
        "log_loss_of_base_rate": round(float(-(share * np.log(share) + (1 - share) * np.log(1 - share))), 4),
    }
    for at in (0.3, 0.4, 0.5, 0.6, 0.7):
        for group, chosen in (("names", True), ("words", False)):
            passed = [
                one.named for value, one in scored if value >= at and (one.candidate.kind is PhraseKind.NAME) == chosen
            ]
            report[f"{group}_from_{at}"] = [sum(passed), len(passed)]
    return report


def main(arguments: Sequence[str] | None = None) -> None:
    """`python -m captioner.training.visibility TRAIN.jsonl --features CACHE --out visibility.json`."""
    parser = argparse.ArgumentParser(prog="captioner.training.visibility", description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--features", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--check", type=Path, help="another set, only measured")
    options = parser.parse_args(arguments)
    phraser, tree = load_phraser(), vocabulary()
    assert phraser is not None
    asked = _read(options.data, options.features, phraser, tree)
    own, held = [one for one in asked if not is_held_out(one.group)], [one for one in asked if is_held_out(one.group)]
    table = fit(own, tree)
    card = {
        "data": options.data.parent.name,
        "label": "named in the human alt text: an upper bound of being wrong",
        "fitted_on": {"n": len(own), "pages": len({one.picture for one in own})},
        "held_out_books": measures(table, held, tree),
    }
    if options.check:
        card["check"] = measures(table, _read(options.check, options.features, phraser, tree), tree)
    table = Visibility(table.weights, table.counts, round(table.base, 5), card)
    options.out.write_text(json.dumps(table.as_json(), ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8")
    print(json.dumps(card, indent=1))


def _read(data: Path, cache: Path, phraser: Phraser, tree: Vocabulary) -> list[Question]:
    lines = map(json.loads, data.read_text("utf-8").splitlines())
    alts = {Path(line["image"]).name: line["alt"] for line in lines if line.get("alt")}
    seen = features.load(cache / f"{data.parent.name}_{data.stem}")
    found = [
        one
        for one in records.read(data, Skipped())
        if (picture := features.find(seen, one.image)) is not None and corpus.kind_of(picture) in corpus.PICTURES
    ]
    return questions(found, alts, seen, phraser, tree)


if __name__ == "__main__":
    main()
