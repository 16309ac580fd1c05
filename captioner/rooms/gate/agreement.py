"""Agreement: how many further samples of a text say the same things, and which they disagree on.

A consistent error of the language model passes it, so it stands beside the evidence from the picture, never instead
of it. It sees phrases and words, and does not know how they were found.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from captioner.prepare import pagewords
from captioner.prepare.phrases import Phrase, PhraseKind, Phrases
from captioner.prepare.vocabulary import Vocabulary

CLAIMS = (PhraseKind.OBJECT, PhraseKind.SCENE, PhraseKind.NAME, PhraseKind.TEXT)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of one text with its samples; None where there is nothing to count.

    :ivar shares: object lemma -> share of the samples that say it, a synonym or a kind of it, 0..1.
    :ivar jaccard: mean over the samples of shared claims / all claims; of words where no phrase was read. To watch,
        not to decide by.
    """

    samples: int = 0
    shares: Mapping[str, float] = field(default_factory=dict)
    jaccard: float | None = None

    @property
    def minimum(self) -> float | None:
        return min(self.shares.values()) if self.shares else None

    @property
    def mean(self) -> float | None:
        return statistics.fmean(self.shares.values()) if self.shares else None

    def under(self, limit: float) -> tuple[str, ...]:
        """Objects that fewer samples say than `limit`."""
        return tuple(lemma for lemma, share in self.shares.items() if share < limit)


def measure(text: Phrases, samples: Sequence[Phrases], vocabulary: Vocabulary) -> Agreement:
    """Agreement of the objects of `text` with `samples`; empty without samples."""
    if not samples:
        return Agreement()
    shares = {phrase.lemma: support(phrase, samples, vocabulary) for phrase in text.of(PhraseKind.OBJECT)}
    own = _claims(text)
    return Agreement(len(samples), shares, statistics.fmean(jaccard(own, _claims(sample)) for sample in samples))


def of_words(text: str, samples: Sequence[str]) -> Agreement:
    """Agreement where no phrase can be read: the overlap of the words alone."""
    if not samples:
        return Agreement()
    own = frozenset(pagewords.words(text))
    shared = [jaccard(own, frozenset(pagewords.words(sample))) for sample in samples]
    return Agreement(len(samples), jaccard=statistics.fmean(shared))


def support(phrase: Phrase, samples: Sequence[Phrases], vocabulary: Vocabulary) -> float:
    """Share of `samples` in which `phrase`, a synonym or a kind of it stands un-negated."""
    said = (any(_says(other, phrase, vocabulary) for other in sample.of(PhraseKind.OBJECT)) for sample in samples)
    return sum(said) / len(samples)


def jaccard(first: Set[str], second: Set[str]) -> float:
    """Shared over all, 0..1; 1 for two empty sets."""
    return len(first & second) / len(first | second) if first or second else 1.0


def _says(other: Phrase, phrase: Phrase, vocabulary: Vocabulary) -> bool:
    """A word that claims more than its concept needs itself: "man" is no synonym of "woman", though both are people."""
    if other.lemma == phrase.lemma:
        return True
    if phrase.claims_more:
        return False
    pairs = itertools.product(other.concepts, phrase.concepts)
    return any(vocabulary.is_kind_of(narrow, wide) for narrow, wide in pairs)


def _claims(text: Phrases) -> frozenset[str]:
    return frozenset(phrase.lemma for phrase in text.of(*CLAIMS))
