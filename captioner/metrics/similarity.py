"""How near is a text to human texts (CIDEr-D, arXiv 1411.5726), and to the picture (CLIPScore, arXiv 2104.08718)?

CIDEr-D equals pycocoevalcap on equal tokens. Alarms for a change, no goals. Knows words and features, no model.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

Gram = tuple[str, ...]
LONGEST = 4  # words in an n-gram
SIGMA = 6.0  # of the penalty for another length, in bigrams
TOKENIZER = "own: casefolded runs of letters and digits, inner apostrophes kept, no punctuation"
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def tokens(text: str) -> list[str]:
    """Words as `TOKENIZER` says. The PTB tokenizer cuts "man's" in two, so its scores differ a little."""
    return _WORD.findall(text.casefold())


@dataclass(frozen=True, slots=True)
class Frequencies:
    """In how many of `documents` images an n-gram stands in a reference. Fix one table, or subsets do not compare."""

    documents: int
    counts: Mapping[Gram, int]

    @classmethod
    def of(cls, references: Iterable[Sequence[str]], cut: Callable[[str], list[str]] = tokens) -> Frequencies:
        """Count a corpus: one sequence of references an image."""
        counts: Counter[Gram] = Counter()
        documents = 0
        for texts in references:
            documents += 1
            counts.update({gram for text in texts for gram in _grams(cut(text))})
        return cls(documents, dict(counts))

    def as_json(self) -> dict[str, Any]:
        return {
            "tokenizer": TOKENIZER,
            "documents": self.documents,
            "counts": {" ".join(gram): count for gram, count in sorted(self.counts.items())},
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Frequencies:
        return cls(value["documents"], {tuple(gram.split(" ")): count for gram, count in value["counts"].items()})


@dataclass(frozen=True, slots=True)
class Cider:
    """CIDEr-D times 10, as pycocoevalcap prints it: 0..10 a text, mean over texts.

    :ivar documents: images behind the document frequencies; with 1 every score is 0.
    """

    scores: tuple[float, ...]
    documents: int
    tokenizer: str

    @property
    def score(self) -> float | None:
        return fmean(self.scores) if self.scores else None


def cider_d(
    texts: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    frequencies: Frequencies | None = None,
    cut: Callable[[str], list[str]] = tokens,
    tokenizer: str = TOKENIZER,
) -> Cider:
    """Score each text against the references of its image.

    :param frequencies: None counts them in `references`.
    :param cut: gives the words; name another one in `tokenizer`.
    :raises ValueError: there is not one list of references a text, or one of them is empty.
    """
    if len(texts) != len(references) or not all(references):
        raise ValueError("each text needs one list of references with at least one in it")
    table = frequencies or Frequencies.of(references, cut)
    scores = tuple(
        fmean(_similarity(_vector(cut(text), table), _vector(cut(one), table)) for one in own)
        for text, own in zip(texts, references, strict=True)
    )
    return Cider(scores, table.documents, tokenizer)


@dataclass(frozen=True, slots=True)
class _Vector:
    """tf-idf weights by length of n-gram, their norms, and the number of bigrams: what pycocoevalcap calls length."""

    weights: tuple[dict[Gram, float], ...]
    norms: tuple[float, ...]
    bigrams: int


def _grams(words: Sequence[str]) -> Counter[Gram]:
    return Counter(
        tuple(words[at : at + size]) for size in range(1, LONGEST + 1) for at in range(len(words) - size + 1)
    )


def _vector(words: Sequence[str], table: Frequencies) -> _Vector:
    weights: tuple[dict[Gram, float], ...] = tuple({} for _ in range(LONGEST))
    for gram, count in _grams(words).items():
        rarity = math.log(table.documents) - math.log(max(1, table.counts.get(gram, 0)))
        weights[len(gram) - 1][gram] = count * rarity
    norms = tuple(math.sqrt(math.fsum(weight * weight for weight in part.values())) for part in weights)
    return _Vector(weights, norms, max(0, len(words) - 1))


def _similarity(text: _Vector, reference: _Vector) -> float:
    """Mean clipped cosine over the four lengths, with the penalty for another length, times 10."""
    total = 0.0
    for own, its, norm, its_norm in zip(text.weights, reference.weights, text.norms, reference.norms, strict=True):
        clipped = math.fsum(min(weight, its.get(gram, 0.0)) * its.get(gram, 0.0) for gram, weight in own.items())
        total += clipped / (norm * its_norm) if norm and its_norm else 0.0
    penalty = math.exp(-((text.bigrams - reference.bigrams) ** 2) / (2 * SIGMA**2))
    return 10 * penalty * total / LONGEST


@dataclass(frozen=True, slots=True)
class ClipScore:
    """weight · max(cos, 0) a text. Never beside a score of another weight, model or prefix: print all three.

    The original has 2.5, ViT-B/32 and "A photo depicts "; torchmetrics has 100, no prefix and another model.
    """

    scores: tuple[float, ...]
    model: str
    prefix: str
    weight: float

    @property
    def score(self) -> float | None:
        return fmean(self.scores) if self.scores else None


def clip_score(
    images: Sequence[Sequence[float]],
    texts: Sequence[Sequence[float]],
    *,
    model: str,
    prefix: str = "A photo depicts ",
    weight: float = 2.5,
) -> ClipScore:
    """CLIPScore from features, one row an image and one a text, of any length.

    :param model: name of the model that made the features; `prefix` is what it read before each text.
    :raises ValueError: rows or their widths do not match, or a row is all zeros.
    """
    scores = tuple(weight * max(_cosine(image, text), 0.0) for image, text in zip(images, texts, strict=True))
    return ClipScore(scores, model, prefix, weight)


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    norm = math.hypot(*one) * math.hypot(*other)
    if not norm:
        raise ValueError("a row of features is all zeros")
    return math.fsum(a * b for a, b in zip(one, other, strict=True)) / norm
