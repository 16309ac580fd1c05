"""A site's own classifier looks before the starter does, and is never left out silently."""

from __future__ import annotations

import pytest

from captioner.architectures.starter import Starter
from captioner.isolation import IsolatedCaptioner
from captioner.prepare import safety
from captioner.types import CaptionerUnavailable, CaptionRequest, Reason
from tests.captioner.policy.sights import Eyes, picture, seen, sight


class Strict:
    """Finds gore everywhere."""

    name, version = "strict", "1"

    def scores(self, image):
        return {"gore": 1.0}


class Calm(Strict):
    def scores(self, image):
        return {"gore": 0.0}


class Broken(Strict):
    def scores(self, image):
        raise RuntimeError("no weights")


def ask(classifier, eyes):
    [outcome] = Starter(eyes, classifier=classifier).describe([CaptionRequest("1", image=picture())])
    return outcome


def test_what_the_classifier_refuses_is_not_looked_at():
    eyes = Eyes(sight("photo", seen("dog")))
    outcome = ask(Strict(), eyes)
    assert (outcome.reasons, eyes.looks) == ((Reason.SAFETY_REFUSED,), 0)
    assert "dog" not in str(outcome.evidence)


def test_what_it_lets_pass_is_described():
    assert ask(Calm(), Eyes(sight("photo", seen("dog")))).text == "A dog"


def test_a_classifier_that_fails_is_an_error_and_no_silence():
    with pytest.raises(safety.SafetyUnanswered):
        ask(Broken(), Eyes(sight("photo", seen("dog"))))


def test_a_classifier_is_part_of_the_version_and_its_absence_changes_nothing():
    assert "safety" in Starter(Eyes(), classifier=Calm()).versions
    assert "safety" not in Starter(Eyes()).versions


def test_a_named_classifier_that_cannot_be_had_stops_the_process_of_the_captioner():
    with (
        IsolatedCaptioner("starter", safety="nowhere.at.all:Classifier") as captioner,
        pytest.raises(CaptionerUnavailable, match="nowhere"),
    ):
        captioner.describe([CaptionRequest("1", image=picture())])
