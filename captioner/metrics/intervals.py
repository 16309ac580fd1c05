"""Exact binomial intervals, as measures and tests import them; they live in `captioner.prepare.intervals`."""

from captioner.prepare.intervals import binomial_cdf, clopper_pearson

__all__ = ["binomial_cdf", "clopper_pearson"]
