"""Risk and coverage over four texts by hand, and what holds for any scores."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captioner.metrics.intervals import clopper_pearson
from captioner.metrics.risk_coverage import curve

SCORES, WRONG = [0.9, 0.8, 0.7, 0.6], [0, 1, 0, 1]
cases = st.lists(st.tuples(st.integers(0, 6), st.sampled_from([0, 1])), min_size=1, max_size=30)


def test_four_texts_come_out_as_worked_by_hand():
    """Risks 0/1, 1/2, 1/3, 2/4. AURC = (0 + 1/2 + 1/3 + 1/2)/4 = 1/3. e = 1/2, best .5 + .5·ln .5 = .1534."""
    found = curve(SCORES, WRONG)
    assert found.risks == pytest.approx([0, 1 / 2, 1 / 3, 1 / 2])
    assert found.base_risk == 0.5
    assert found.aurc == pytest.approx(1 / 3)
    assert found.excess_aurc == pytest.approx(1 / 3 - (0.5 + 0.5 * math.log(0.5)))


def test_the_order_of_the_texts_does_not_matter():
    assert curve(SCORES[::-1], WRONG[::-1]) == curve(SCORES, WRONG)


def test_equal_scores_share_their_risk():
    """A right text, then two of equal score, one wrong: risks 0, (0 + .5)/2, 1/3; cuts after 1 and 3 only."""
    found = curve([2, 1, 1], [0, 1, 0])
    assert found.risks == pytest.approx([0, 0.25, 1 / 3])
    assert [cut.accepted for cut in found.cuts] == [1, 3]


def test_risk_at_a_coverage_is_that_of_the_strictest_threshold_that_reaches_it():
    cut = curve(SCORES, WRONG).at_coverage(0.75)
    assert (cut.accepted, cut.threshold, cut.coverage) == (3, 0.7, 0.75)
    assert cut.risk == pytest.approx(1 / 3)
    assert cut.interval == clopper_pearson(1, 3)
    assert curve(SCORES, WRONG).at_coverage(0.5001).accepted == 3


def test_coverage_at_a_risk_is_the_most_that_keeps_it():
    """At most 1/3 wrong: three texts (1 of 3), although two texts (1 of 2) have more."""
    found = curve(SCORES, WRONG)
    assert found.at_risk(1 / 3).coverage == 0.75
    assert found.at_risk(0.1).coverage == 0.25
    assert found.at_risk(1.0).coverage == 1.0
    assert curve([1, 0], [1, 1]).at_risk(0.5) is None


def test_nothing_wrong_and_everything_wrong_have_no_excess():
    assert curve([3, 2, 1], [0, 0, 0]).excess_aurc == 0
    assert curve([3, 2, 1], [1, 1, 1]).excess_aurc == 0


def test_perfect_scores_of_many_texts_come_near_the_best_possible():
    perfect = curve(range(1000, 0, -1), [0] * 700 + [1] * 300)
    assert 0 < perfect.excess_aurc < 0.001


def test_fractional_losses_have_a_curve_but_no_interval_and_no_excess():
    found = curve([2, 1], [0.5, 0.5])
    assert found.risks == (0.5, 0.5)
    assert found.excess_aurc is None
    assert found.at_coverage(1).interval is None


@given(cases)
def test_a_useless_score_has_the_base_risk_everywhere(pairs):
    losses = [loss for _, loss in pairs]
    found = curve([1.0] * len(losses), losses)
    assert found.risks == pytest.approx([sum(losses) / len(losses)] * len(losses))


@given(cases)
def test_a_perfect_score_is_never_worse_than_another(pairs):
    scores, losses = [score for score, _ in pairs], [loss for _, loss in pairs]
    assert curve([-loss for loss in losses], losses).aurc <= curve(scores, losses).aurc + 1e-12


@given(cases, st.floats(0, 1))
def test_cuts_and_the_curve_agree(pairs, coverage):
    found = curve([score for score, _ in pairs], [loss for _, loss in pairs])
    for cut in found.cuts:
        assert cut.risk == pytest.approx(found.risks[cut.accepted - 1])
    assert found.at_coverage(coverage).coverage >= coverage - 1e-6
    assert found.cuts[-1].coverage == 1


@given(cases, st.floats(0, 1), st.floats(0, 1))
def test_a_looser_risk_never_covers_less(pairs, one, other):
    found = curve([score for score, _ in pairs], [loss for _, loss in pairs])
    covered = [cut.coverage if (cut := found.at_risk(risk)) else 0 for risk in sorted((one, other))]
    assert covered[0] <= covered[1]


@pytest.mark.parametrize(
    ("scores", "losses"), [([], []), ([1], [0, 1]), ([math.nan], [0]), ([1], [2]), ([math.inf], [0]), ([1], [-0.1])]
)
def test_what_cannot_be_counted_is_refused(scores, losses):
    with pytest.raises(ValueError, match="scores"):
        curve(scores, losses)


@pytest.mark.parametrize("coverage", [-0.1, 1.1])
def test_a_coverage_that_is_no_share_is_refused(coverage):
    with pytest.raises(ValueError, match="no share"):
        curve(SCORES, WRONG).at_coverage(coverage)
