"""Calibration: from labelled captions to a threshold and the one sentence that may be said about it.

"ltt" is Learn-then-Test with a fixed sequence (arXiv 2110.01052): wrong per *accepted* caption, with confidence.
"crc" is conformal risk control (arXiv 2208.02814): accepted and wrong per *image*, on average. The largest threshold
whose observed risk is small enough is neither: it breaks its promise about every second time.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from captioner.prepare.intervals import binomial_cdf, clopper_pearson
from captioner.types import CaptionError, versions_key

LTT, CRC = "ltt", "crc"
GRID = tuple(round(0.1 + 0.05 * step, 2) for step in range(19))  # coverages .10 to 1, chosen before any label is seen
ASK_FOR = 1000  # labelled captions a stratum; with fewer, most good thresholds cannot be shown to be good
SELF = "calibration"  # entry of `versions` that names the calibration itself: left out of its own key


class CalibrationUnreadable(CaptionError):
    """A calibration file is none."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """One threshold and its warrant.

    :ivar threshold: accept from this score on; None where no threshold can be warranted.
    :ivar delta: risk of a bad draw of labelled captions; None for "crc", which makes no such statement.
    :ivar n: labelled captions, withheld ones included.  :ivar errors: sum of their losses over the accepted ones.
    :ivar base_risk: mean loss if all were accepted.  :ivar needed: labelled captions without which it cannot work.
    :ivar date: day of the calibration, ISO 8601.
    """

    method: str
    alpha: float
    delta: float | None
    n: int
    grid: tuple[float, ...]
    threshold: float | None
    accepted: int
    errors: float
    base_risk: float | None
    needed: int
    stratum: str = ""
    versions_key: str = ""
    date: str = ""

    @property
    def coverage(self) -> float:
        return self.accepted / self.n if self.n else 0.0

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % Clopper-Pearson of wrong per accepted; None where none is accepted or losses are fractions.

        The threshold was chosen on the same captions, so it describes them and promises nothing.
        """
        whole = float(self.errors).is_integer()
        return clopper_pearson(int(self.errors), self.accepted) if self.accepted and whole else None

    @property
    def sentence(self) -> str:
        """What is guaranteed, and what is not."""
        if self.threshold is None:
            return f"No guarantee: no threshold can be warranted, so no caption is accepted. {self._missing()}"
        share = f"{100 * self.alpha:g} %"
        where = f"captions like the labelled ones{f' of stratum {self.stratum}' if self.stratum else ''}"
        if self.method == LTT:
            return (
                f"Per accepted caption: with {100 * (1 - (self.delta or 0)):g} % confidence over the draw of the "
                f"labelled captions, at most {share} of the accepted captions are wrong, for {where} under versions "
                f"key {self.versions_key or '(none)'}. Nothing is said about one caption, another key or other pages."
            )
        return (
            f"Per image: on average over calibrations, at most {share} of all images get an accepted caption that is "
            f"wrong, for {where} under versions key {self.versions_key or '(none)'}. The share of wrong ones among "
            "accepted captions is not bounded and is higher."
        )

    def _missing(self) -> str:
        if self.n < self.needed:
            return f"{self.n} labelled captions are too few: at least {self.needed} are needed, better {ASK_FOR}."
        return f"Even the surest captions hold too many errors to show at most {100 * self.alpha:g} % from {self.n}."

    def valid_for(self, versions: Mapping[str, str] | str, stratum: str | None = None) -> bool:
        """True for the versions (or their key) and the stratum that it was made for; another key voids it."""
        key = versions if isinstance(versions, str) else key_of(versions)
        return bool(self.versions_key) and key == self.versions_key and stratum in (None, self.stratum)

    def accepts(self, score: float) -> bool:
        return self.threshold is not None and score >= self.threshold

    def as_json(self) -> dict[str, Any]:
        """A dict of JSON types; what is derived is written too, and not read back."""
        kept = {name: getattr(self, name) for name in self.__slots__} | {"grid": list(self.grid)}
        interval = list(self.interval) if self.interval is not None else None
        return kept | {"coverage": self.coverage, "interval": interval, "sentence": self.sentence}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Calibration:
        """:raises CalibrationUnreadable: a field is missing."""
        try:
            return cls(**{name: data[name] for name in cls.__slots__} | {"grid": tuple(data["grid"])})
        except (KeyError, TypeError) as error:
            raise CalibrationUnreadable(f"this is no calibration: {error!r}") from error


def calibrate(
    scores: Sequence[float],
    losses: Sequence[float],
    *,
    alpha: float,
    delta: float = 0.1,
    method: str = LTT,
    grid: Sequence[float] | None = None,
    other_scores: Sequence[float] = (),
    stratum: str = "",
    key: str = "",
    at: str = "",
) -> Calibration:
    """The loosest threshold that `method` can warrant on these labelled captions.

    :param losses: 0 right, 1 wrong, or a share of wrong; of every caption, also of those under any threshold.
    :param scores: -inf for a caption that another check of the gate withholds.
    :param grid: coverages, ascending, fixed before the labels were seen; by default `GRID` without the points that
        even zero errors could not pass.
    :param other_scores: scores of other captions, labelled or not, to take the thresholds from.
    """
    if len(scores) != len(losses) or not 0 < alpha < 1 or not 0 < delta < 1 or any(map(math.isnan, scores)):
        raise ValueError("as many losses as scores, no NaN, and alpha and delta between 0 and 1")
    n = len(scores)
    if method == CRC:
        used: tuple[float, ...] = ()
        threshold, needed, chance = conformal(scores, losses, alpha), least_images(alpha), None
    else:
        used = tuple(grid) if grid is not None else fitting_grid(n, alpha, delta)
        needed, chance = least_accepted(alpha, delta) + 1, delta
        fixed = [quantile(other_scores, coverage) for coverage in used] if other_scores else None
        threshold = learn_then_test(scores, losses, alpha, delta, used, fixed)
    kept = [loss for score, loss in zip(scores, losses, strict=True) if threshold is not None and score >= threshold]
    return Calibration(
        method=method,
        alpha=alpha,
        delta=chance,
        n=n,
        grid=used,
        threshold=threshold,
        accepted=len(kept),
        errors=math.fsum(kept),
        base_risk=math.fsum(losses) / n if n else None,
        needed=needed,
        stratum=stratum,
        versions_key=key,
        date=at,
    )


def conformal(scores: Sequence[float], losses: Sequence[float], alpha: float) -> float | None:
    """The lowest score t with (sum of losses at score >= t, + 1) / (n + 1) <= alpha; None where there is none."""
    ranked = sorted(zip(scores, losses, strict=True), key=lambda pair: -pair[0])
    threshold, total = None, 0.0
    for index, (score, loss) in enumerate(ranked):
        total += loss
        if score == -math.inf or (total + 1) / (len(ranked) + 1) > alpha:
            break
        if index + 1 == len(ranked) or ranked[index + 1][0] < score:  # equal scores stand or fall together
            threshold = score
    return threshold


def learn_then_test(
    scores: Sequence[float],
    losses: Sequence[float],
    alpha: float,
    delta: float,
    grid: Sequence[float],
    thresholds: Sequence[float] | None = None,
) -> float | None:
    """Walk from small to large coverage while "risk > alpha" is rejected at level delta; the last threshold passed.

    Thresholds from other scores make every test exact. Without them each threshold stands just above the score at
    rank ceil(coverage n), which item is left out, so that the ones above are a plain sample: exact at each point, and
    over the walk where the risk crosses alpha once as the threshold falls.
    """
    ranked = sorted(zip(scores, losses, strict=True), key=lambda pair: pair[0])
    ordered = [score for score, _ in ranked]
    passed = None
    for index, coverage in enumerate(grid):
        threshold = thresholds[index] if thresholds is not None else _above(ordered, coverage)
        kept = [loss for _, loss in ranked[bisect_left(ordered, threshold) :]]
        if threshold == -math.inf or p_value(kept, alpha) > delta:
            break
        passed = threshold
    return passed


def p_value(losses: Sequence[float], alpha: float) -> float:
    """Of "mean loss > alpha": exact binomial for losses of 0 and 1, else Hoeffding-Bentkus (2110.01052, section 3)."""
    n, total = len(losses), math.fsum(losses)
    if n == 0:
        return 1.0
    if all(loss in (0, 1) for loss in losses):
        return binomial_cdf(round(total), n, alpha)
    risk = total / n
    return min(1.0, math.exp(-n * _divergence(min(risk, alpha), alpha)), math.e * _bentkus(total, n, alpha))


def least_accepted(alpha: float, delta: float) -> int:
    """Accepted captions without any error from which "ltt" can pass: (1 - alpha)^m <= delta."""
    return math.ceil(math.log(delta) / math.log1p(-alpha) - 1e-9)


def least_images(alpha: float) -> int:
    """Labelled captions from which "crc" can pass: 1 / (n + 1) <= alpha."""
    return math.ceil(1 / alpha - 1 - 1e-9)


def fitting_grid(n: int, alpha: float, delta: float, grid: Sequence[float] = GRID) -> tuple[float, ...]:
    """`grid` without the points that accept too few of `n` to pass even without an error. It sees no label."""
    return tuple(coverage for coverage in grid if math.ceil(coverage * n - 1e-9) - 1 >= least_accepted(alpha, delta))


def quantile(scores: Iterable[float], coverage: float) -> float:
    """The score that a share `coverage` of `scores` reaches."""
    ordered = sorted(scores, reverse=True)
    return ordered[min(len(ordered), max(1, math.ceil(coverage * len(ordered) - 1e-9))) - 1]


def key_of(versions: Mapping[str, str]) -> str:
    """The key of everything but the calibration itself, which cannot be part of its own key."""
    return versions_key({name: value for name, value in versions.items() if name != SELF})


def save(calibrations: Sequence[Calibration], path: Path) -> None:
    """One file for all strata."""
    document = {"calibrations": [calibration.as_json() for calibration in calibrations]}
    path.write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n", "utf-8")


def load(path: Path) -> list[Calibration]:
    """:raises CalibrationUnreadable: no such file, no JSON, or no calibration."""
    try:
        return [Calibration.from_json(entry) for entry in json.loads(path.read_text("utf-8"))["calibrations"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CalibrationUnreadable(f"cannot read {path}: {error}") from error


def find(
    calibrations: Iterable[Calibration], versions: Mapping[str, str] | str, stratum: str = ""
) -> Calibration | None:
    """The calibration that is valid for these versions and this stratum."""
    return next((one for one in calibrations if one.valid_for(versions, stratum)), None)


def _above(ordered: Sequence[float], coverage: float) -> float:
    """Just above the score at rank ceil(coverage n) from the top; -inf where a withheld caption stands there."""
    if not ordered:
        return -math.inf
    boundary = ordered[-max(1, math.ceil(coverage * len(ordered) - 1e-9))]
    return boundary if boundary == -math.inf else math.nextafter(boundary, math.inf)


def _divergence(low: float, high: float) -> float:
    """Kullback-Leibler divergence of two coins, nats."""
    first = low * math.log(low / high) if low else 0.0
    return first + ((1 - low) * math.log((1 - low) / (1 - high)) if low < 1 else 0.0)


def _bentkus(total: float, n: int, alpha: float) -> float:
    return binomial_cdf(math.ceil(total - 1e-9), n, alpha)
