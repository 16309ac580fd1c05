"""Rates, bounds, intervals and distributions over counted decisions. Definitions: metrics page, sections 3 to 6.

Plain numbers in, plain numbers out: no rows, no texts, no clock, and no scipy at run time. No data is None, never 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist, fmean, stdev

LEVEL = 0.95
T_FROM_AUTHORS = 4  # below that there is no interval at all; the house asks for more, see ALTTEXT["MIN_AUTHORS"]
GRAPHEME_BUCKETS = ((1, 3), (4, 10), (11, 30), (31, 80), (81, None))
WORD_BUCKETS = ((1, 1), (2, 3), (4, 6), (7, 15), (16, None))  # a choice: about five graphemes a word
SMALL, LARGE = 3, 30  # graphemes
READING_SECONDS_PER_WORD = 0.25  # about 240 words a minute
READING_SECONDS_PER_GRAPHEME = 0.05  # a choice, for languages written without spaces


@dataclass(frozen=True, slots=True)
class Counts:
    """Suggestions by state; each suggestion is in one state."""

    abstained: int = 0
    pending: int = 0
    as_is: int = 0
    edited: int = 0
    replaced: int = 0
    decorative: int = 0
    rejected: int = 0
    superseded: int = 0
    expired: int = 0

    @classmethod
    def of(cls, states: Mapping[str, int]) -> Counts:
        """From state names in any case.  :raises TypeError: a name is no state."""
        return cls(**{name.lower(): number for name, number in states.items()})

    @property
    def kept(self) -> int:
        """K: a person committed a text."""
        return self.as_is + self.changed

    @property
    def changed(self) -> int:
        """E: the committed text differs from the suggested one."""
        return self.edited + self.replaced

    @property
    def reviewed(self) -> int:
        """R: a person decided, in whatever way."""
        return self.kept + self.rejected + self.decorative

    @property
    def unreviewed(self) -> int:
        """U: nobody decided, yet or ever."""
        return self.pending + self.expired

    @property
    def offered(self) -> int:
        """S: texts that waited, or wait, for a decision. Superseded ones are outside."""
        return self.reviewed + self.unreviewed

    @property
    def answered(self) -> int:
        """All answers of the captioner: texts, superseded ones too, and abstentions."""
        return self.abstained + self.offered + self.superseded


@dataclass(frozen=True, slots=True)
class Rates:
    """Each 0..1, or None without data. Print the four together: one alone can be bettered by worsening another."""

    edit_rate: float | None
    not_used: float | None
    abstain: float | None
    coverage: float | None


@dataclass(frozen=True, slots=True)
class Interval:
    """Two ends, 0..1."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class AuthorMeans:
    """Edit rates of authors, each author weighing the same.

    :ivar authors: A, those who committed at least one text.
    :ivar interval: None for too few authors, or where all have one and the same rate.
    """

    authors: int
    mean: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Bucket:
    """How many values lie in low..high; `high` None: no upper end. `up_to`: share of values up to `high`."""

    low: int
    high: int | None
    count: int
    share: float | None
    up_to: float | None

    @property
    def label(self) -> str:
        if self.high is None:
            return f"over {self.low - 1}"
        return str(self.low) if self.low == self.high else f"{self.low}–{self.high}"


@dataclass(frozen=True, slots=True)
class Distribution:
    """Sizes of the changes among changed texts only. Quantiles are values that occur: nearest rank."""

    count: int
    buckets: tuple[Bucket, ...]
    p10: int | None
    p50: int | None
    p90: int | None


def share(part: int, whole: int) -> float | None:
    """part/whole, None without a whole."""
    return part / whole if whole else None


def rates(counts: Counts) -> Rates:
    """The four rates of the metrics page, section 3."""
    return Rates(
        edit_rate=share(counts.changed, counts.kept),
        not_used=share(counts.rejected + counts.decorative, counts.reviewed),
        abstain=share(counts.abstained, counts.answered),
        coverage=share(counts.reviewed, counts.offered),
    )


def unreviewed_bounds(counts: Counts) -> Interval | None:
    """Between which ends the edit rate must lie, whatever becomes of the unreviewed (Manski)."""
    most = counts.kept + counts.unreviewed
    return Interval(counts.changed / most, (counts.changed + counts.unreviewed) / most) if most else None


def author_means(
    tallies: Iterable[tuple[int, int]], *, min_authors: int = T_FROM_AUTHORS, level: float = LEVEL
) -> AuthorMeans:
    """t interval on the mean of author rates, from (changed, kept) of each author; clipped to 0..1."""
    means = [changed / kept for changed, kept in tallies if kept]
    if not means:
        return AuthorMeans(0, None, None)
    centre, interval = fmean(means), None
    if len(means) >= max(min_authors, T_FROM_AUTHORS) and (spread := stdev(means)) > 0:
        half = t_quantile((1 + level) / 2, len(means) - 1) * spread / math.sqrt(len(means))
        interval = Interval(max(0.0, centre - half), min(1.0, centre + half))
    return AuthorMeans(len(means), centre, interval)


def wilson(hits: int, items: int, *, level: float = LEVEL) -> Interval | None:
    """Score interval over items. For one author alone; over several authors it is too narrow and has to say so."""
    if not items:
        return None
    z = NormalDist().inv_cdf((1 + level) / 2)
    rate, scale = hits / items, 1 + z * z / items
    centre = (rate + z * z / (2 * items)) / scale
    half = z * math.sqrt(rate * (1 - rate) / items + z * z / (4 * items * items)) / scale
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def distribution(values: Iterable[int], buckets: Sequence[tuple[int, int | None]] = GRAPHEME_BUCKETS) -> Distribution:
    """Buckets and quantiles of the distances of changed texts, each at least 1."""
    values = sorted(values)
    assert not values or values[0] >= 1, "unchanged texts have no place here"
    filled, so_far = [], 0
    for low, high in buckets:
        count = sum(low <= value and (high is None or value <= high) for value in values)
        so_far += count
        filled.append(Bucket(low, high, count, share(count, len(values)), share(so_far, len(values))))
    return Distribution(len(values), tuple(filled), quantile(values, 10), quantile(values, 50), quantile(values, 90))


def quantile(ordered: Sequence[int], percent: int) -> int | None:
    """The smallest value that at least `percent` of 100 do not exceed."""
    rank = -(-percent * len(ordered) // 100)  # whole numbers: 0.1 * 70 is 7.000000000000001
    return ordered[max(rank, 1) - 1] if ordered else None


def share_up_to(values: Sequence[int], limit: int) -> float | None:
    """Share of values that do not exceed `limit`."""
    return share(sum(value <= limit for value in values), len(values))


def share_above(values: Sequence[int], limit: int) -> float | None:
    """Share of values beyond `limit`."""
    return share(sum(value > limit for value in values), len(values))


def reading_seconds(*, words: int, graphemes: int | None = None) -> float:
    """Time that reading a text takes at least. `graphemes`: for languages without spaces, where words do not count."""
    if graphemes is not None:
        return READING_SECONDS_PER_GRAPHEME * max(graphemes, 1)
    return READING_SECONDS_PER_WORD * max(words, 1)


@lru_cache(maxsize=1024)
def t_quantile(p: float, freedom: int) -> float:
    """Quantile of Student's t for 0.5 <= p < 1, by bisection of its tail area."""
    tail = 2 * (1 - p)
    low, high = 0.0, 1.0
    while _two_tails(high, freedom) > tail:
        low, high = high, high * 2
    while high - low > 1e-12 * max(1.0, high):
        middle = (low + high) / 2
        if _two_tails(middle, freedom) > tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _two_tails(t: float, freedom: int) -> float:
    """P(|T| > t): the regularised incomplete beta function at freedom/(freedom + t^2)."""
    return _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """I_x(a, b), DLMF 8.17; the symmetry 8.17.4 keeps the continued fraction where it converges fast."""
    if x <= 0 or x >= 1:
        return min(max(x, 0.0), 1.0)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(a, b, x) / a
    return 1 - front * _beta_fraction(b, a, 1 - x) / b


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Continued fraction DLMF 8.17.22 by Lentz's method; about sqrt(max(a, b)) steps."""
    tiny = 1e-300
    upper, lower = 1.0, 1 / (_away(1 - (a + b) * x / (a + 1), tiny))
    value = lower
    for step in range(1, 100_000):
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        for term in (even, odd):
            lower = 1 / _away(1 + term * lower, tiny)
            upper = _away(1 + term / upper, tiny)
            factor = lower * upper
            value *= factor
        if abs(factor - 1) < 1e-14:
            return value
    raise AssertionError(f"the beta fraction does not settle at {a}, {b}, {x}")


def _away(value: float, tiny: float) -> float:
    return value if abs(value) > tiny else tiny
