"""How likely a picture shows a noun or name that stands on its page, from where it stands and what the eyes say.

A logistic over a few numbers and a table of how often each word, standing on a page, was named by the person who
described the picture. Fitted in `captioner.training.visibility`. Sees words and numbers, no pixels; it grants nothing:
without something of that sort in the picture a word is not said, however likely.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from captioner.prepare.candidates import Candidate
from captioner.prepare.phrases import PhraseKind
from captioner.prepare.vocabulary import Vocabulary

FEATURES = (
    "bias", "prior", "caption", "heading", "near", "title", "places", "first", "rank", "name", "scene", "medium",
    "person", "plural", "tags", "words",
)  # fmt: skip
SMOOTHING = 4.0  # a word seen n times keeps 4 / (n + 4) of the base rate


@dataclass(frozen=True, slots=True)
class Visibility:
    """:ivar weights: of `FEATURES`.  :ivar counts: lemma -> (times on a page, times named by the describer).

    :ivar base: share of all candidates that were named, 0..1.
    :ivar card: data, n and measures on held-out books, for whoever audits it.
    """

    weights: Mapping[str, float]
    counts: Mapping[str, tuple[int, int]]
    base: float
    card: Mapping[str, Any]

    @classmethod
    def load(cls) -> Visibility:
        """The table that ships with the package."""
        return cls.from_json(
            json.loads(resources.files("captioner").joinpath("data/visibility.json").read_text("utf-8"))
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Visibility:
        """:raises ValueError: its features are others than this version's."""
        if set(data["weights"]) != set(FEATURES):
            raise ValueError("the visibility table was fitted with other features")
        counts = {lemma: (int(pair[0]), int(pair[1])) for lemma, pair in data["counts"].items()}
        return cls(data["weights"], counts, float(data["base"]), data["card"])

    def as_json(self) -> dict[str, Any]:
        return {
            "weights": dict(self.weights),
            "base": self.base,
            "card": dict(self.card),
            "counts": {lemma: list(pair) for lemma, pair in sorted(self.counts.items())},
        }

    def version(self) -> str:
        """12 hex digits over weights and counts."""
        return hashlib.sha256(json.dumps(self.as_json() | {"card": {}}, sort_keys=True).encode()).hexdigest()[:12]

    def chance(self, candidate: Candidate, chances: Mapping[str, float], vocabulary: Vocabulary) -> float:
        """Probability that a person who describes the picture names `candidate`, 0..1.

        :param chances: probability of each concept by the tags, see `verdict.tag_chances`.
        """
        row = features(candidate, chances, vocabulary, prior=self.prior(candidate.lemma))
        return 1 / (1 + math.exp(-sum(self.weights[name] * value for name, value in row.items())))

    def prior(self, lemma: str, *, without: bool | None = None) -> float:
        """Logit of how often `lemma` on a page is named; `without` leaves one occurrence of that outcome out."""
        times, named = self.counts.get(lemma, (0, 0))
        if without is not None:
            times, named = times - 1, named - int(without)
        share = (named + self.base * SMOOTHING) / (times + SMOOTHING)
        return math.log(share / (1 - share))


def features(
    candidate: Candidate, chances: Mapping[str, float], vocabulary: Vocabulary, *, prior: float
) -> dict[str, float]:
    """The numbers of one candidate, by name of `FEATURES`."""
    values = dict.fromkeys(FEATURES, 0.0) | dict.fromkeys(candidate.places, 1.0)
    return values | {
        "bias": 1.0,
        "prior": prior,
        "places": float(len(candidate.places)),
        "first": float(candidate.rank == 0 and "caption" in candidate.places),
        "rank": 1 / (1 + candidate.rank),
        "name": float(candidate.kind is PhraseKind.NAME),
        "scene": float(candidate.kind is PhraseKind.SCENE),
        "medium": float(candidate.kind is PhraseKind.MEDIUM),
        "person": float(is_person(candidate.concepts, vocabulary)),
        "plural": float(candidate.plural),
        "tags": max((chances.get(concept, 0.0) for concept in candidate.concepts), default=0.0),
        "words": float(len(candidate.lemma.split()) > 1),
    }


def is_person(concepts: Collection[str], vocabulary: Vocabulary) -> bool:
    """True where one of the concepts is a person."""
    return any("person" in vocabulary.wider(concept) for concept in concepts)
