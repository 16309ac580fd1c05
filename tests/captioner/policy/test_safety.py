"""The pre-filter for a site's own classifier: a refusal in words, and never a silent pass where one was named."""

from __future__ import annotations

import math
from types import MappingProxyType

import pytest
from PIL import Image

from captioner.prepare import pagewords, safety
from captioner.prepare.safety import Limit, SafetyUnanswered
from captioner.types import CaptionError, CaptionerUnavailable, PageContext
from tests.captioner.policy.sights import line, sight

PICTURE = Image.new("RGB", (8, 8), "red")
HERE = __name__


class Redness:
    """A working classifier: the share of red light, said to be gore."""

    name, version = "redness", "1"

    def scores(self, image: Image.Image) -> dict[str, float]:
        red, green, blue = image.convert("RGB").resize((1, 1)).getpixel((0, 0))  # type: ignore[misc]
        return {"gore": red / max(red + green + blue, 1)}


class Broken:
    name, version = "broken", "1"

    def scores(self, image: Image.Image) -> dict[str, float]:
        raise RuntimeError("out of memory")


class Unloadable:
    def __init__(self) -> None:
        raise OSError("weights.bin is not there")


class Nameless:
    """No name, no version."""

    def scores(self, image: Image.Image) -> dict[str, float]:
        return {}


def test_without_a_named_classifier_nothing_is_filtered():
    assert safety.load_classifier("") is None
    assert safety.load_classifier("  ") is None
    assert safety.screen(None, PICTURE) is None
    assert safety.version(None) == "absent"


def test_a_named_classifier_refuses_in_words():
    """All light of a red picture is red: 1.0 >= .8. A grey one has a third: .33 < .8."""
    classifier = safety.load_classifier(f"{HERE}:Redness")
    assert classifier is not None
    refusal = safety.screen(classifier, PICTURE)
    assert refusal is not None
    assert "injuries or dead bodies" in refusal.detail
    assert safety.screen(classifier, Image.new("RGB", (8, 8), "grey")) is None


@pytest.mark.parametrize(
    "path",
    [
        "no.such.module:Class",
        f"{HERE}:Missing",
        f"{HERE}:Unloadable",
        f"{HERE}:Nameless",
        "words",
        ":Class",
        f"{HERE}:",
    ],
)
def test_a_classifier_that_is_named_but_does_not_load_is_an_error(path):
    with pytest.raises(CaptionerUnavailable, match="safety classifier"):
        safety.load_classifier(path)


def test_a_classifier_that_raises_lets_nothing_through():
    with pytest.raises(SafetyUnanswered, match="out of memory") as caught:
        safety.screen(Broken(), PICTURE)
    assert not isinstance(caught.value, CaptionerUnavailable)  # this picture would be tried for ever
    assert isinstance(caught.value, CaptionError)


@pytest.mark.parametrize(
    "scores",
    [{}, {"nsfw": 0.1}, {"gore": 0.1, "nsfw": 0.1}, {"gore": math.nan}, {"gore": 1.2}, {"gore": -0.1}, {"gore": "?"}],
)
def test_scores_that_cannot_be_judged_are_an_error(scores):
    with pytest.raises(SafetyUnanswered):
        safety.judge(scores)


@pytest.mark.parametrize("name", sorted(safety.LIMITS))
def test_a_limit_is_reached_from_below(name):
    limit = safety.LIMITS[name].score
    assert safety.judge({name: limit}) is not None
    assert safety.judge({name: math.nextafter(limit, 0)}) is None


def test_what_lies_furthest_over_its_limit_is_said_first():
    """Over by .2 (sexual .9 - .7) and by .05 (gore .85 - .8); violence stays under."""
    refusal = safety.judge({"gore": 0.85, "sexual": 0.9, "violence": 0.1})
    assert refusal is not None
    assert "sexual content, injuries or dead bodies." in refusal.detail
    assert "violence" not in refusal.detail


def test_a_site_states_its_own_limits_and_they_are_part_of_the_version():
    own = {"gore": Limit(0.2, "blood")}
    refusal = safety.screen(Redness(), Image.new("RGB", (8, 8), "grey"), own)
    assert refusal is not None
    assert "blood" in refusal.detail
    assert safety.version(Redness(), own) == "redness 1 gore=0.2"
    assert safety.version(Redness()) != safety.version(Redness(), own)


def test_the_stated_limits_cannot_be_changed_from_afar():
    assert isinstance(safety.LIMITS, MappingProxyType)
    assert all(0 < limit.score <= 1 and limit.words for limit in safety.LIMITS.values())


def test_a_page_that_asks_for_the_letters_makes_the_picture_a_captcha():
    page = pagewords.read(PageContext(before="Please type the characters you see below."))
    refusal = safety.refuse(sight("text", lines=[line("X7bQ")]), page)
    assert refusal is not None
    assert "must not solve it" in refusal.detail


def test_a_card_number_is_not_repeated():
    """4111 1111 1111 1111 is the test number of the card networks; doubled and added its digits make 30."""
    refusal = safety.refuse(sight("photo", lines=[line("4111 1111 1111 1111")]), pagewords.read(PageContext()))
    assert refusal is not None
    assert "4111" not in refusal.detail
