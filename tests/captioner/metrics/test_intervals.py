"""Exact intervals: by hand, against scipy, and at their ends."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom

from captioner.metrics.intervals import binomial_cdf, clopper_pearson


def test_none_of_ten_has_the_bound_that_solves_by_hand():
    """(1 - p)^10 = .025, so p = 1 - .025^(1/10) = .3085."""
    assert clopper_pearson(0, 10) == (0.0, pytest.approx(1 - 0.025**0.1, abs=1e-12))


def test_all_of_ten_is_the_mirror_of_none():
    low, high = clopper_pearson(10, 10)
    assert (low, high) == (pytest.approx(0.025**0.1, abs=1e-12), 1.0)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.sampled_from([0.9, 0.95, 0.99])
)
def test_it_agrees_with_scipy(counts, level):
    k, n = counts
    low, high = clopper_pearson(k, n, level)
    tail = (1 - level) / 2
    assert low == pytest.approx(beta.ppf(tail, k, n - k + 1) if k else 0.0, abs=1e-8)
    assert high == pytest.approx(beta.ppf(1 - tail, k + 1, n - k) if k < n else 1.0, abs=1e-8)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 50), st.integers(50, 300), st.floats(0, 1))
def test_the_distribution_agrees_with_scipy(k, n, share):
    assert binomial_cdf(k, n, share) == pytest.approx(binom.cdf(k, n, share), abs=1e-9)


@pytest.mark.parametrize(("k", "n"), [(0, 0), (-1, 5), (6, 5)])
def test_what_is_no_share_has_no_interval(k, n):
    with pytest.raises(ValueError, match="no share"):
        clopper_pearson(k, n)
