"""Exact binomial intervals, from the standard library alone."""

from __future__ import annotations

import math
from collections.abc import Callable

STEPS = 60  # halvings: the bound is exact to 1e-18


def clopper_pearson(successes: int, total: int, level: float = 0.95) -> tuple[float, float]:
    """Bounds of a share: BetaInv(c/2; k, n-k+1) and BetaInv(1-c/2; k+1, n-k); 0 and 1 at the ends.

    :raises ValueError: not 0 <= successes <= total, or total is 0.
    """
    if not 0 <= successes <= total or total == 0:
        raise ValueError(f"{successes} of {total} is no share")
    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else _bisect(lambda p: 1 - binomial_cdf(successes - 1, total, p) < tail)
    high = 1.0 if successes == total else _bisect(lambda p: binomial_cdf(successes, total, p) > tail)
    return low, high


def binomial_cdf(successes: int, total: int, share: float) -> float:
    """P(X <= successes) for X ~ Binomial(total, share)."""
    if share <= 0:
        return 1.0
    if share >= 1:
        return 1.0 if successes >= total else 0.0
    terms = (
        math.lgamma(total + 1)
        - math.lgamma(k + 1)
        - math.lgamma(total - k + 1)
        + k * math.log(share)
        + (total - k) * math.log1p(-share)
        for k in range(successes + 1)
    )
    return min(1.0, math.fsum(math.exp(term) for term in terms))


def _bisect(too_low: Callable[[float], bool]) -> float:
    """The point in 0..1 up to which `too_low` holds."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if too_low(middle) else (low, middle)
    return (low + high) / 2
