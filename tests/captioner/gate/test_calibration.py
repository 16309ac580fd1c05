"""Thresholds and their warrants: minimums by hand, both rules by hand, the promises in simulation, records."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from captioner.metrics import intervals as measured
from captioner.prepare import intervals
from captioner.rooms.gate import calibration
from captioner.rooms.gate.calibration import CRC, LTT, Calibration

ALPHA, DELTA = 0.05, 0.1
BASE_RISK, BEST_COVERAGE = 0.138, 0.57  # of the simulated captions, at alpha 5 %
STEEP = math.log(ALPHA / BASE_RISK) / math.log(BEST_COVERAGE)


def chance(score):
    """P(wrong | score), score uniform: a (1 - s)^b. Its mean is the base risk, and R at coverage .57 is alpha."""
    return BASE_RISK * (STEEP + 1) * (1 - score) ** STEEP


def risk(threshold):
    """Wrong per accepted from `threshold` on: the mean of `chance` over threshold..1."""
    return BASE_RISK * (1 - threshold) ** STEEP


def labelled(draw, n):
    scores = draw.random(n)
    return scores.tolist(), (draw.random(n) < chance(scores)).astype(float).tolist()


def naive(scores, losses):
    """The rule that is never used: the largest accepted set whose observed risk is at most alpha."""
    order = np.argsort(scores)[::-1]
    running = np.cumsum(np.asarray(losses)[order]) / np.arange(1, len(scores) + 1)
    good = np.flatnonzero(running <= ALPHA)
    return np.asarray(scores)[order][good[-1]] if good.size else None


@pytest.mark.parametrize(
    ("alpha", "ten", "five", "images"), [(0.10, 22, 29, 9), (0.05, 45, 59, 19), (0.02, 114, 149, 49)]
)
def test_the_minimums_are_those_of_the_table(alpha, ten, five, images):
    """(1 - alpha)^m <= delta, so .9^22 = .0985 <= .1 < .9^21 = .1094; 1 / (n + 1) <= alpha, so n = 1/alpha - 1."""
    assert calibration.least_accepted(alpha, 0.10) == ten
    assert calibration.least_accepted(alpha, 0.05) == five
    assert calibration.least_images(alpha) == images


def test_one_less_than_the_minimum_cannot_pass():
    for alpha in (0.02, 0.05, 0.1):
        least = calibration.least_accepted(alpha, 0.1)
        assert calibration.p_value([0.0] * least, alpha) <= 0.1 < calibration.p_value([0.0] * (least - 1), alpha)


def test_learn_then_test_by_hand():
    """46 right ones then 14 wrong ones. Coverage .75 of 60: the item at rank 45 is left out, 44 above, .95^44 = .105.

    At .80 the boundary is rank 48, 47 above with 1 wrong: .95^47 + 47 * .05 * .95^46 = .312. So with .75 failing the
    walk ends at once; from .77 (rank 47 left out, 46 right above, .95^46 = .094) it passes and stops there.
    """
    scores, losses = [60.0 - place for place in range(60)], [0.0] * 46 + [1.0] * 14
    assert calibration.learn_then_test(scores, losses, 0.05, 0.1, [0.75, 0.77, 0.80]) is None
    passed = calibration.learn_then_test(scores, losses, 0.05, 0.1, [0.77, 0.80])
    assert passed is not None
    assert sum(score >= passed for score in scores) == 46
    assert calibration.learn_then_test(scores, losses, 0.05, 0.1, [0.80]) is None


def test_the_walk_does_not_jump_over_a_failed_coverage():
    """Errors on top, none below: the last coverage would pass (2 of 399 wrong), but the first one does not."""
    scores, losses = [400.0 - place for place in range(400)], [1.0, 1.0] + [0.0] * 398
    assert calibration.learn_then_test(scores, losses, 0.05, 0.1, [1.0]) is not None
    assert calibration.learn_then_test(scores, losses, 0.05, 0.1, [0.125, 1.0]) is None


def test_equal_scores_stand_or_fall_together():
    """30 right at 2, 30 at 1: the boundary at coverage .75 lies among the ones, so only those over 1 count."""
    scores, losses = [2.0] * 30 + [1.0] * 30, [0.0] * 60
    passed = calibration.learn_then_test(scores, losses, 0.1, 0.1, [0.75])
    assert passed is not None
    assert [score >= passed for score in scores] == [True] * 30 + [False] * 30


def test_thresholds_of_other_scores_keep_the_boundary():
    passed = calibration.learn_then_test([1.0] * 22, [0.0] * 22, 0.1, 0.1, [0.5], [1.0])
    assert passed == 1.0


def test_conformal_risk_control_by_hand():
    """n = 19, alpha = .1: (errors + 1) / 20 <= .1 allows one error; the second, at rank 12, ends it at rank 11."""
    losses = [0.0] * 19
    losses[4] = losses[11] = 1.0
    scores = [19.0 - place for place in range(19)]
    assert calibration.conformal(scores, losses, 0.1) == scores[10]


def test_conformal_risk_control_keeps_equal_scores_together():
    """The three at score 1 hold an error too many, so the threshold stays at 2."""
    scores, losses = [2.0] * 16 + [1.0] * 3, [0.0] * 16 + [0.0, 1.0, 1.0]
    assert calibration.conformal(scores, losses, 0.1) == 2.0


@pytest.mark.parametrize(("method", "n"), [(LTT, 45), (CRC, 18)])
def test_a_split_that_is_too_small_gives_no_threshold_and_says_how_many_are_needed(method, n):
    made = calibration.calibrate([0.9] * n, [0.0] * n, alpha=ALPHA, delta=DELTA, method=method)
    assert made.threshold is None
    assert f"at least {n + 1} are needed" in made.sentence
    assert made.sentence.startswith("No guarantee")
    enough = calibration.calibrate(list(np.linspace(0, 1, 50)), [0.0] * 50, alpha=ALPHA, delta=DELTA, method=method)
    assert enough.threshold is not None


def test_many_labels_and_many_errors_give_no_threshold_either():
    made = calibration.calibrate(list(np.linspace(0, 1, 1000)), [1.0, 0.0] * 500, alpha=ALPHA, delta=DELTA)
    assert (made.threshold, made.accepted, made.interval) == (None, 0, None)
    assert "too many errors" in made.sentence


def test_withheld_captions_are_counted_and_never_accepted():
    scores = [0.9 - place / 1000 for place in range(100)] + [-math.inf] * 100
    for method in (LTT, CRC):
        made = calibration.calibrate(scores, [0.0] * 100 + [1.0] * 100, alpha=0.1, method=method)
        assert made.n == 200
        assert 22 <= made.accepted <= 100
        assert made.errors == 0


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 60), st.integers(60, 200), st.floats(0.01, 0.5))
def test_the_p_value_of_whole_losses_is_the_exact_binomial(errors, n, alpha):
    assert calibration.p_value([1.0] * errors + [0.0] * (n - errors), alpha) == pytest.approx(
        binom.cdf(errors, n, alpha), abs=1e-9
    )


def test_the_p_value_of_fractions_is_the_smaller_of_hoeffding_and_bentkus():
    """Two halves in 100: R = .01. KL(.01, .1) = .01 ln .1 + .99 ln 1.1 = .07133, so exp(-7.133) = .000798;
    e * P(Bin(100, .1) <= 1) = e * (.9^100 + 10 * .9^99) = .000875. The smaller is the first.
    """
    losses = [0.5, 0.5] + [0.0] * 98
    assert calibration.p_value(losses, 0.1) == pytest.approx(0.000798, abs=2e-6)
    assert math.e * binom.cdf(1, 100, 0.1) == pytest.approx(0.000875, abs=2e-6)


def test_a_risk_over_alpha_gives_no_small_p_value():
    assert calibration.p_value([0.5] * 100, 0.1) == 1.0
    assert calibration.p_value([], 0.1) == 1.0


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from([0.0, 1.0])), min_size=30, max_size=300), st.booleans())
def test_a_wrong_label_more_never_accepts_more(rows, conformal):
    scores, losses = map(list, zip(*rows, strict=True))
    worse = [1.0, *losses[1:]]
    method = CRC if conformal else LTT
    one, other = (calibration.calibrate(scores, labels, alpha=0.1, method=method) for labels in (losses, worse))
    assert other.accepted <= one.accepted


@pytest.mark.parametrize("bad", [{"alpha": 0}, {"alpha": 1}, {"delta": 0}])
def test_shares_outside_0_to_1_are_refused(bad):
    with pytest.raises(ValueError, match="between 0 and 1"):
        calibration.calibrate([1.0], [0.0], **({"alpha": 0.1} | bad))


def test_the_grid_drops_only_what_no_labels_could_pass():
    """45 must be accepted and one is left out: 46 of 200 is .23, so .25 is the first; of 1,000 it is .10."""
    assert calibration.fitting_grid(200, ALPHA, DELTA)[0] == 0.25
    assert calibration.fitting_grid(1000, ALPHA, DELTA) == calibration.GRID
    assert calibration.fitting_grid(45, ALPHA, DELTA) == ()


def test_a_quantile_is_reached_by_its_share():
    scores = [1.0, 2.0, 3.0, 4.0]
    assert [calibration.quantile(scores, share) for share in (0.25, 0.5, 1.0)] == [4.0, 3.0, 1.0]


def record(**change):
    fields: dict[str, Any] = {
        "scores": list(np.linspace(0, 1, 200)),
        "losses": [1.0] * 5 + [0.0] * 195,
        "alpha": 0.1,
        "key": "k1",
    }
    return calibration.calibrate(**(fields | {"stratum": "photo", "at": "2026-01-02"} | change))


@pytest.mark.parametrize("method", [LTT, CRC])
def test_a_record_comes_back_from_its_file_unchanged(tmp_path, method):
    made = record(method=method)
    calibration.save([made], tmp_path / "calibration.json")
    assert calibration.load(tmp_path / "calibration.json") == [made]


def test_a_record_says_all_that_stands_beside_a_gate_result():
    made = record().as_json()
    assert made["interval"] == list(intervals.clopper_pearson(int(made["errors"]), made["accepted"]))
    assert made["coverage"] == made["accepted"] / 200
    assert (made["base_risk"], made["stratum"], made["versions_key"], made["date"]) == (
        0.025,
        "photo",
        "k1",
        "2026-01-02",
    )


def test_the_sentences_say_what_each_method_bounds():
    assert record().sentence.startswith("Per accepted caption: with 90 % confidence")
    assert "not bounded" in record(method=CRC).sentence
    assert record(method=CRC).sentence.startswith("Per image:")


def test_another_key_or_stratum_voids_it():
    made = record(key=calibration.key_of({"captioner": "a"}))
    assert made.valid_for({"captioner": "a"})
    assert made.valid_for({"captioner": "a", "calibration": "2026-01-02"}, "photo")
    assert not made.valid_for({"captioner": "b"})
    assert not made.valid_for({"captioner": "a"}, "chart")
    assert not record(key="").valid_for("")


def test_the_right_one_of_several_is_found():
    several = [record(), record(stratum="chart")]
    assert calibration.find(several, "k1", "chart") is several[1]
    assert calibration.find(several, "k2", "chart") is None


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"calibrations": [{"method": "ltt"}]}'])
def test_what_is_no_record_is_refused_by_name(tmp_path, text):
    (tmp_path / "file.json").write_text(text)
    with pytest.raises(calibration.CalibrationUnreadable):
        calibration.load(tmp_path / "file.json")


def test_measures_and_gate_share_one_interval():
    assert measured.clopper_pearson is intervals.clopper_pearson
    assert measured.binomial_cdf is intervals.binomial_cdf


@pytest.mark.parametrize(("n", "nothing_from_ten"), [(200, 1.0), (500, None), (1000, None)])
def test_learn_then_test_keeps_its_promise_and_the_naive_rule_breaks_it_about_every_second_time(n, nothing_from_ten):
    """400 calibrations, alpha 5 %, delta 10 %. Broken at most 10 %: with 400 draws P(over 55 | .1) < .01."""
    draw = np.random.default_rng(n)
    for start in (0.10, 0.30):
        grid = [coverage for coverage in calibration.GRID if coverage >= start]
        found, greedy = [], []
        for _ in range(400):
            scores, losses = labelled(draw, n)
            found.append(calibration.learn_then_test(scores, losses, ALPHA, DELTA, grid))
            greedy.append(naive(scores, losses))
        broken = sum(risk(threshold) > ALPHA for threshold in found if threshold is not None)
        assert broken <= 55
        assert 0.4 < sum(risk(threshold) > ALPHA for threshold in greedy if threshold is not None) / 400 < 0.65
        if start == 0.10 and nothing_from_ten is not None:
            assert sum(threshold is None for threshold in found) / 400 == nothing_from_ten
        if n == 1000:
            coverage = [0.0 if threshold is None else 1 - threshold for threshold in found]
            assert 0.38 < np.mean(coverage) < BEST_COVERAGE


def test_thresholds_of_other_captions_keep_the_promise_too():
    draw = np.random.default_rng(7)
    others = draw.random(300).tolist()
    thresholds = [calibration.quantile(others, coverage) for coverage in calibration.GRID]
    broken = 0
    for _ in range(400):
        scores, losses = labelled(draw, 1000)
        passed = calibration.learn_then_test(scores, losses, ALPHA, DELTA, calibration.GRID, thresholds)
        broken += passed is not None and risk(passed) > ALPHA
    assert broken <= 55


def test_conformal_risk_control_bounds_wrong_per_image_and_not_wrong_per_accepted():
    """Joint risk near alpha from below, conditional risk above it: the table's .0495 and .071."""
    draw = np.random.default_rng(11)
    joint, conditional = [], []
    for _ in range(400):
        scores, losses = labelled(draw, 500)
        passed = calibration.conformal(scores, losses, ALPHA)
        assert passed is not None
        joint.append((1 - passed) * risk(passed))
        conditional.append(risk(passed))
    assert 0.045 < np.mean(joint) < ALPHA + 2 * np.std(joint) / 20
    assert 0.065 < np.mean(conditional) < 0.077


def test_record_fields_are_those_of_the_constructor():
    assert set(Calibration.__slots__) <= set(record().as_json())
