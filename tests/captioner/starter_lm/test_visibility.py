"""The chance that a page word is in the picture: sums by hand, the table as JSON, and what makes another version."""

import dataclasses
import math

import pytest

from captioner.prepare.phrases import PhraseKind
from captioner.prepare.vocabulary import vocabulary
from captioner.rooms.gate import visibility
from captioner.rooms.gate.visibility import FEATURES, Visibility
from tests.captioner.starter_lm.worlds import name, noun, table

TREE = vocabulary()


def test_the_chance_is_the_logistic_of_the_weighted_numbers():
    """bias -1 + caption 2 + rank 1 * 1 / (1 + 1) + tags 4 * .25 = 2.5; 1 / (1 + exp(-2.5)) = .9241."""
    one = table(-1.0, caption=2.0, rank=1.0, tags=4.0)
    chance = one.chance(noun("puppy", "dog", rank=1), {"dog": 0.25, "cat": 0.9}, TREE)
    assert chance == pytest.approx(1 / (1 + math.exp(-2.5)))
    assert chance == pytest.approx(0.9241, abs=1e-4)


def test_a_prior_leans_on_the_base_rate_with_the_weight_of_four_pages():
    """(6 named + .1 * 4) / (8 times + 4) = 6.4 / 12 = .5333; its logit is log(.5333 / .4667) = .1335."""
    one = dataclasses.replace(table(), counts={"statue": (8, 6)})
    assert one.prior("statue") == pytest.approx(math.log(6.4 / 5.6))


def test_an_unknown_word_has_the_base_rate():
    """(0 + .1 * 4) / 4 = .1."""
    assert table().prior("zeppelin") == pytest.approx(math.log(0.1 / 0.9))


@pytest.mark.parametrize(("outcome", "odds"), [(True, 5.4 / 5.6), (False, 6.4 / 4.6)])
def test_a_prior_can_leave_one_outcome_out(outcome, odds):
    """8 times, 6 named. Without one that was named: 5.4 of 11; without one that was not: 6.4 of 11."""
    one = dataclasses.replace(table(), counts={"statue": (8, 6)})
    assert one.prior("statue", without=outcome) == pytest.approx(math.log(odds))


def test_the_numbers_of_a_candidate_come_in_the_order_of_the_weights():
    found = visibility.features(noun("nurse", "person", said="nurses", places=("caption", "near")), {}, TREE, prior=-2)
    assert tuple(found) == FEATURES
    assert {key: value for key, value in found.items() if value} == {
        "bias": 1,
        "prior": -2,
        "caption": 1,
        "near": 1,
        "places": 2,
        "first": 1,
        "rank": 1,
        "person": 1,
        "plural": 1,
    }


def test_only_the_first_of_the_caption_is_first():
    title = visibility.features(noun("nurse", places=("title",)), {}, TREE, prior=0)
    second = visibility.features(noun("nurse", rank=1), {}, TREE, prior=0)
    assert (title["first"], second["first"], second["rank"]) == (0, 0, 0.5)


@pytest.mark.parametrize(
    ("candidate", "own"),
    [
        (name("Ada Lovelace"), {"name", "words"}),
        (noun("park", kind=PhraseKind.SCENE), {"scene"}),
        (noun("oil painting", "art", kind=PhraseKind.MEDIUM), {"medium", "words"}),
    ],
)
def test_names_scenes_and_media_are_told_apart(candidate, own):
    found = visibility.features(candidate, {}, TREE, prior=0)
    assert {key for key in ("name", "scene", "medium", "words", "person") if found[key]} == own


def test_a_narrower_word_for_a_person_is_a_person():
    assert visibility.is_person(("dog", "person"), TREE)
    assert not visibility.is_person(("dog",), TREE)
    assert not visibility.is_person((), TREE)


def test_the_shipped_table_goes_through_json_unchanged():
    shipped = Visibility.load()
    again = Visibility.from_json(shipped.as_json())
    assert again.as_json() == shipped.as_json()
    assert again.version() == shipped.version()


def test_the_shipped_table_gives_shares_that_are_possible():
    shipped = Visibility.load()
    assert 0 < shipped.base < 1
    assert all(0 <= named <= times for times, named in shipped.counts.values())


def test_the_shipped_table_trusts_a_caption_more_than_a_title():
    """Its use is to tell the subject of a picture from the subject of a page."""
    shipped = Visibility.load()
    caption, title = (
        shipped.chance(noun("woman", "person", places=(place,)), {}, TREE) for place in ("caption", "title")
    )
    assert caption > title


@pytest.mark.parametrize("change", ["missing", "more"])
def test_a_table_of_other_features_is_refused(change):
    data = table().as_json()
    data["weights"] = {"bias": 1.0} if change == "missing" else data["weights"] | {"colour": 1.0}
    with pytest.raises(ValueError, match="other features"):
        Visibility.from_json(data)


def test_weights_counts_and_base_make_a_version_and_the_card_does_not():
    one = table()
    others = [
        table(2.0),
        dataclasses.replace(one, counts={"dog": (3, 1)}),
        dataclasses.replace(one, base=0.2),
    ]
    assert len({one.version(), *(other.version() for other in others)}) == 4
    assert dataclasses.replace(one, card={"n": 1}).version() == one.version()
