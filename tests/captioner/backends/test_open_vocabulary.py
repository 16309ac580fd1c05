"""Random detectors of two families, saved to disk and read by the production loader."""

from __future__ import annotations

import math

import pytest
import torch
from PIL import Image

from captioner.rooms.encode import open_vocabulary
from captioner.rooms.encode.open_vocabulary import (
    DetectorFailed,
    Grounded,
    OpenVocabulary,
    PhraseUnreadable,
    Thresholds,
    joined,
    tidy,
    z_score,
)
from captioner.types import Box, WeightsMissing

from . import tiny

PHRASES = ["dog", "red cat", "tree"]


@pytest.fixture(scope="module")
def detectors(tmp_path_factory):
    root = tmp_path_factory.mktemp("detectors")
    return {name: OpenVocabulary.load(str(getattr(tiny, name)(root / name))) for name in ("owlv2", "grounding_dino")}


@pytest.fixture(params=["owlv2", "grounding_dino"])
def detector(request, detectors):
    return detectors[request.param]


def test_every_phrase_gets_its_best_place(detector):
    found = detector.find(tiny.picture(), PHRASES)
    assert [item.phrase for item in found] == PHRASES
    for item in found:
        assert 0 <= item.score <= 1
        assert 0 <= item.box.left <= item.box.right <= 1
        assert 0 <= item.box.top <= item.box.bottom <= 1
        assert math.isfinite(item.z)
    assert len({item.score for item in found}) == 3
    assert detector.find(tiny.picture(), PHRASES) == found


def test_another_picture_gives_other_scores(detector):
    one, two = (detector.find(tiny.picture(seed), ["dog"])[0].score for seed in (1, 2))
    assert one != two


def test_no_phrase_gives_nothing(detector):
    assert detector.find(tiny.picture(), []) == ()


def test_owl_agrees_with_the_processor_of_transformers(detectors):
    """With one phrase the post-processing of transformers keeps every box: its best is ours, in px of the picture."""
    detector = detectors["owlv2"]
    image = tiny.picture(size=(60, 30))
    inputs = detector.processor(images=image, text=[["a photo of dog"]], return_tensors="pt")
    with torch.inference_mode():
        output = detector.model(**inputs)
    theirs = detector.processor.post_process_grounded_object_detection(output, threshold=0.0, target_sizes=[(30, 60)])[
        0
    ]
    best = int(theirs["scores"].argmax())
    ours = detector.find(image, ["Dog"])[0]
    assert ours.score == pytest.approx(float(theirs["scores"][best]), abs=1e-5)
    left, top, right, bottom = (theirs["boxes"][best] / torch.tensor([60, 30, 60, 30])).clamp(0, 1).tolist()
    assert (ours.box.left, ours.box.top, ours.box.right, ours.box.bottom) == pytest.approx(
        (left, top, right, bottom), abs=2e-4
    )


def test_owl_scores_a_phrase_alike_alone_and_in_company(detectors):
    alone = detectors["owlv2"].find(tiny.picture(), ["dog"])[0]
    company = detectors["owlv2"].find(tiny.picture(), ["red cat", "dog"])[1]
    assert alone.score == pytest.approx(company.score, abs=1e-5)


def test_dino_agrees_with_the_processor_of_transformers(detectors):
    """For a phrase of one token and the "." after it theirs is the maximum over all tokens: never under ours."""
    detector = detectors["grounding_dino"]
    inputs = detector.processor(images=tiny.picture(), text="dog.", return_tensors="pt")
    with torch.inference_mode():
        output = detector.model(**inputs)
    at = inputs["input_ids"][0].tolist().index(detector.processor.tokenizer.convert_tokens_to_ids("dog"))
    expected, box = output.logits[0, :, at].sigmoid().max(0)
    scores, boxes = detector._dino(tiny.picture(), ["dog"])
    assert scores == [pytest.approx(float(expected), abs=1e-5)]
    theirs = detector.processor.post_process_grounded_object_detection(
        output, inputs["input_ids"], threshold=0.0, text_threshold=0.0, target_sizes=[(1, 1)]
    )[0]["boxes"][int(box)].clamp(0, 1)
    assert (boxes[0].left, boxes[0].top, boxes[0].right, boxes[0].bottom) == pytest.approx(theirs.tolist(), abs=2e-4)


def test_dino_reads_more_phrases_than_fit_into_one_text(detectors, monkeypatch):
    monkeypatch.setattr(open_vocabulary, "PHRASES_A_PASS", 2)
    found = detectors["grounding_dino"].find(tiny.picture(), ["dog", "cat", "tree", "car", "boat"])
    assert [item.phrase for item in found] == ["dog", "cat", "tree", "car", "boat"]
    assert all(item.z is not None for item in found)


def test_a_text_for_dino_is_lower_case_and_each_phrase_ends_with_a_stop():
    text, spans = joined([tidy("A  Dog"), tidy("St. Paul")])
    assert text == "a dog. st paul."
    assert [text[start:end] for start, end in spans] == ["a dog", "st paul"]


@pytest.mark.parametrize("phrase", ["", " . ", "…", "?!"])
def test_a_phrase_without_a_word_is_named(detector, phrase):
    with pytest.raises(PhraseUnreadable):
        detector.find(tiny.picture(), ["dog", phrase])


def test_a_phrase_that_cannot_be_read_whole_is_an_error(detector):
    with pytest.raises(PhraseUnreadable, match="too long"):
        detector.find(tiny.picture(), [" ".join(["dog"] * 300)])


def test_a_lead_over_distractors_is_counted_in_their_spread():
    """Log-odds of .5 is 0; of the rivals ln(1/9) = -2.1972 and ln(1/3) = -1.0986, three each.

    Mean -1.6479; squared distances all 0.54931^2 = 0.30174, sum 1.81045 over n - 1 = 5: spread 0.60174. z = 2.7386.
    """
    assert z_score(0.5, [0.1, 0.25] * 3) == pytest.approx(2.7386, abs=1e-3)


def test_an_even_floor_does_not_turn_a_whisper_into_a_large_lead():
    """All rivals .01 (-4.5951), the phrase .02 (-3.8918): 0.7033 over the least spread of .25 is 2.81, not infinite."""
    assert z_score(0.02, [0.01] * 10) == pytest.approx(2.813, abs=1e-2)


def test_too_few_distractors_give_no_lead():
    assert z_score(0.5, [0.1] * 4) is None


def test_scores_at_the_ends_stay_finite():
    assert math.isfinite(z_score(1.0, [0.0] * 6))


def test_a_distractor_that_was_asked_for_is_no_rival(detectors, monkeypatch):
    seen = []
    monkeypatch.setattr(
        detectors["owlv2"], "_look", lambda image, asked, others: seen.append(others) or ([0.5], [Box(0, 0, 1, 1)])
    )
    detectors["owlv2"].find(tiny.picture(), ["two zebras"])
    assert "zebra" not in seen[0]
    assert "camel" in seen[0]


def test_thresholds_come_with_the_question():
    found = Grounded("dog", 0.3, Box(0, 0, 1, 1), 2.0)
    assert found.passes(Thresholds(score=0.3))
    assert not found.passes(Thresholds(score=0.31))
    assert found.passes(Thresholds(score=0.1, z=2.0))
    assert not found.passes(Thresholds(score=0.1, z=2.1))
    assert not Grounded("dog", 0.9, Box(0, 0, 1, 1), None).passes(Thresholds(score=0.1, z=0.0))


def test_a_network_that_fails_raises(detector, monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError("CUDA error")

    monkeypatch.setattr(detector.model, "forward", broken)
    with pytest.raises(DetectorFailed, match="CUDA error"):
        detector.find(tiny.picture(), ["dog"])


def test_numbers_that_are_none_raise(detector, monkeypatch):
    monkeypatch.setattr(detector, "_look", lambda image, asked, others: ([float("nan")], [Box(0, 0, 1, 1)]))
    with pytest.raises(DetectorFailed, match="outside 0..1"):
        detector.find(tiny.picture(), ["dog"])


def test_weights_that_are_not_here_are_missing(tmp_path):
    with pytest.raises(WeightsMissing):
        OpenVocabulary.load(str(tmp_path))
    with pytest.raises(WeightsMissing):
        OpenVocabulary.load("nobody/nothing")


def test_a_model_that_is_no_detector_is_refused(tmp_path):
    with pytest.raises(DetectorFailed, match="blip is none of"):
        OpenVocabulary.load(str(tiny.blip(tmp_path / "blip")))


def test_a_narrow_picture_keeps_its_box_inside(detector):
    (found,) = detector.find(Image.new("RGB", (20, 200), (90, 10, 10)), ["dog"])
    assert 0 <= found.box.left <= found.box.right <= 1
