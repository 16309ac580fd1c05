"""The logistic score: against a hand-solved case, its own gradient, scipy, and in and out of JSON."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from captioner.rooms.gate import score
from captioner.rooms.gate.score import Score


def rows_of(gaps):
    return [{"gap": gap} for gap in gaps]


def test_without_a_telling_feature_it_gives_the_share_of_right_ones():
    """A constant feature has no weight; intercept = ln(3/1), so the score is 3/4."""
    fitted = score.fit(rows_of([1, 1, 1, 1]), [True, True, True, False], ["gap"])
    assert fitted.weights == (0.0,)
    assert fitted.intercept == pytest.approx(math.log(3))
    assert fitted.of({"gap": 1}) == pytest.approx(0.75)


def test_a_fit_without_ridge_matches_the_odds_of_two_groups():
    """At 0: 1 of 4 right, odds 1/3; at 1: 3 of 4 right, odds 3. A saturated model gives back the shares."""
    rows = rows_of([0] * 4 + [1] * 4)
    fitted = score.fit(rows, [True, False, False, False, True, True, True, False], ["gap"], ridge=0.0)
    assert fitted.of({"gap": 0}) == pytest.approx(0.25)
    assert fitted.of({"gap": 1}) == pytest.approx(0.75)


def test_it_finds_the_same_minimum_as_scipy():
    draw = np.random.default_rng(4)
    plain = draw.normal(size=(200, 2))
    right = draw.random(200) < 1 / (1 + np.exp(-(0.4 + 1.5 * plain[:, 0] - 0.7 * plain[:, 1])))
    rows = [{"gap": first, "min_support": second} for first, second in plain.tolist()]
    fitted = score.fit(rows, right.tolist(), ["gap", "min_support"], ridge=2.0)
    standard = (plain - plain.mean(axis=0)) / plain.std(axis=0)

    def loss(weights):
        logits = weights[0] + standard @ weights[1:]
        return np.logaddexp(0, logits).sum() - (logits * right).sum() + 1.0 * (weights[1:] ** 2).sum()

    best = minimize(loss, np.zeros(3), tol=1e-12).x
    assert (fitted.intercept, *fitted.weights) == pytest.approx(best, abs=1e-4)


def test_separable_labels_stay_finite():
    fitted = score.fit(rows_of(range(10)), [place >= 5 for place in range(10)], ["gap"])
    assert all(map(math.isfinite, fitted.weights))
    assert fitted.of({"gap": 9}) > 0.9 > 0.1 > fitted.of({"gap": 0})


def test_one_kind_of_label_is_refused():
    with pytest.raises(score.TooFewLabels):
        score.fit(rows_of([1, 2]), [True, True])


@pytest.mark.parametrize("missing", [{}, {"gap": None}, {"gap": math.nan}, {"gap": -math.inf}])
def test_a_missing_value_counts_as_the_stated_default(missing):
    model = Score(("gap",), (2.0,), (1.0,), (1.0,), 0.0)
    assert model.of(missing) == model.of({"gap": score.DEFAULTS["gap"]}) == pytest.approx(1 / (1 + math.exp(2)))


@settings(max_examples=50, deadline=None)
@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_it_stays_between_0_and_1_and_follows_the_sign_of_the_weight(first, second):
    model = Score(("gap",), (0.5,), (0.0,), (1.0,), 0.0)
    low, high = sorted((first, second))
    assert 0 <= model.of({"gap": low}) <= model.of({"gap": high}) <= 1


def test_it_comes_back_from_its_file_unchanged(tmp_path):
    fitted = score.fit(rows_of([0, 1, 2, 3]), [False, True, False, True], ["gap", "words"])
    fitted.save(tmp_path / "score.json")
    again = score.load(tmp_path / "score.json")
    assert again == fitted
    assert again.version == fitted.version


def test_another_weight_is_another_version():
    one, other = (Score(("gap",), (weight,), (0.0,), (1.0,), 0.0) for weight in (1.0, 1.1))
    assert one.version != other.version


@pytest.mark.parametrize(
    "change",
    [{"features": ["colour"]}, {"weights": []}, {"scales": [0]}, {"intercept": "x"}, {"means": None}],
)
def test_a_file_that_does_not_fit_is_refused_by_name(change):
    data = Score(("gap",), (1.0,), (0.0,), (1.0,), 0.0).as_json() | change
    with pytest.raises(score.ScoreUnreadable):
        Score.from_json(data)


def test_a_missing_file_and_no_json_are_refused_by_name(tmp_path):
    (tmp_path / "bad.json").write_text("{")
    for name in ("none.json", "bad.json"):
        with pytest.raises(score.ScoreUnreadable, match=name):
            score.load(tmp_path / name)
