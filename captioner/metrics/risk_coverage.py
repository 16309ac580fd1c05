"""What a score is worth for staying silent: the risk of the best-scored part of the texts, for every part.

Describes scores after the fact. It guarantees nothing about new images: choose thresholds with a calibration, not here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean

from captioner.metrics.intervals import clopper_pearson


@dataclass(frozen=True, slots=True)
class Cut:
    """What a threshold lets through.

    :ivar loss: summed loss of the accepted; the number of wrong ones where losses are 0 or 1.
    """

    threshold: float
    accepted: int
    total: int
    loss: float
    is_binary: bool = True

    @property
    def coverage(self) -> float:
        return self.accepted / self.total

    @property
    def risk(self) -> float:
        return self.loss / self.accepted

    @property
    def interval(self) -> tuple[float, float] | None:
        """Exact 95 % interval of the risk; None where losses are fractions."""
        return clopper_pearson(round(self.loss), self.accepted) if self.is_binary else None


@dataclass(frozen=True, slots=True)
class Curve:
    """`risks[m - 1]` is the risk of the m best-scored; `cuts` are the thresholds that exist, strictest first.

    Texts of equal score cannot be told apart: inside such a group the risk is the mean over all orders.
    """

    risks: tuple[float, ...]
    cuts: tuple[Cut, ...]

    @property
    def base_risk(self) -> float:
        """Risk of saying everything; what a random score has at every coverage."""
        return self.risks[-1]

    @property
    def aurc(self) -> float:
        """Area under the curve: the mean of the risks. Random scores: the base risk."""
        return fmean(self.risks)

    @property
    def excess_aurc(self) -> float | None:
        """AURC above the best possible, e + (1-e)·ln(1-e) (arXiv 1805.08206); None for fractional losses.

        For few texts the best possible is a little above that, so that perfect scores do not reach 0.
        """
        if not self.cuts[-1].is_binary:
            return None
        right = 1 - self.base_risk
        return self.aurc - (self.base_risk + (right * math.log(right) if right else 0.0))

    def at_coverage(self, coverage: float) -> Cut:
        """The strictest threshold that lets through at least this share, in 0..1."""
        if not 0 <= coverage <= 1:
            raise ValueError(f"{coverage} is no share")
        return next(cut for cut in self.cuts if cut.accepted >= coverage * cut.total - 1e-9)

    def at_risk(self, risk: float) -> Cut | None:
        """The loosest threshold whose risk on these texts is at most `risk`; None where every one has more.

        Never a way to choose a threshold: as such it breaks the limit on about half of new data.
        """
        return next((cut for cut in reversed(self.cuts) if cut.risk <= risk), None)


def curve(scores: Sequence[float], losses: Sequence[float]) -> Curve:
    """Risk by coverage; a higher score is more certain.

    :param losses: 0..1 a text; 1 for a wrong one.
    :raises ValueError: nothing to count, unequal numbers, a score that is not finite, a loss outside 0..1.
    """
    if not scores or len(scores) != len(losses):
        raise ValueError(f"{len(scores)} scores and {len(losses)} losses")
    if not all(map(math.isfinite, scores)) or not all(0 <= loss <= 1 for loss in losses):
        raise ValueError("scores must be finite and losses in 0..1")
    cuts = tuple(_cuts(scores, losses))
    return Curve(tuple(_risks(cuts)), cuts)


def _cuts(scores: Sequence[float], losses: Sequence[float]) -> Iterator[Cut]:
    ordered = sorted(zip(scores, losses, strict=True), key=lambda pair: -pair[0])
    is_binary = all(loss in (0, 1) for loss in losses)
    accepted, so_far = 0, 0.0
    for score, group in groupby(ordered, key=lambda pair: pair[0]):
        own = [loss for _, loss in group]
        accepted, so_far = accepted + len(own), so_far + math.fsum(own)
        yield Cut(score, accepted, len(scores), so_far, is_binary)


def _risks(cuts: Sequence[Cut]) -> Iterator[float]:
    before, so_far = 0, 0.0
    for cut in cuts:
        each = (cut.loss - so_far) / (cut.accepted - before)  # mean loss in a group of equal scores
        for number in range(before + 1, cut.accepted + 1):
            yield (so_far + each * (number - before)) / number
        before, so_far = cut.accepted, cut.loss
