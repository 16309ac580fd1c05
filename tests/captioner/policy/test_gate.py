"""The gate: thresholds at their edges, sums up the tree, and objections to finished texts."""

import pytest

from captioner.prepare.pagewords import PageWords
from captioner.prepare.vocabulary import vocabulary
from captioner.rooms.gate import thresholds, verdict
from captioner.rooms.gate.verdict import Thresholds
from captioner.types import Box, Reason, Support, Tag
from tests.captioner.policy.sights import seen, sight, tag

TREE = vocabulary()


def concepts(given, **how):
    return [thing.concept for thing in verdict.weigh(given, TREE, **how).sure]


@pytest.mark.parametrize("label", ["person", "cup", "dog", "cat"])
def test_a_class_counts_from_its_own_threshold(label):
    bar = thresholds.DETECTOR.get(label, thresholds.DETECTOR_DEFAULT)
    assert concepts(sight("photo", seen(label, bar))) == [label]
    assert concepts(sight("photo", seen(label, bar - 0.001))) == []


def test_tag_chances_are_summed_up_the_tree():
    """golden retriever .3 + beagle .2 = dog .5 = animal .5; tabby .1 adds to animal: .6."""
    given = sight("photo", tags=[tag("golden retriever", 0.3), tag("beagle", 0.2), tag("tabby", 0.1)])
    chances = verdict.tag_chances(given, TREE)
    assert chances["dog"] == pytest.approx(0.5)
    assert chances["animal"] == pytest.approx(0.6)
    assert chances["golden retriever"] == pytest.approx(0.3)


def test_a_hedged_tag_is_not_added_to_its_own_leaves():
    given = sight("photo", tags=[tag("beagle", 0.4), tag("dog", 0.6, leaf=False)])
    assert verdict.tag_chances(given, TREE)["dog"] == pytest.approx(0.6)


def test_a_tag_that_joins_several_classes_means_the_wider_word():
    assert TREE.concept_of(Tag("dog", 0.9, "n02088364", leaf=True)) == "dog"
    assert TREE.concept_of(Tag("beagle", 0.9, "n02088364", leaf=True)) == "beagle"
    assert TREE.concept_of(Tag("x", 0.9, "n99999999", leaf=True)) is None


def test_a_rare_name_needs_the_page_however_sure_the_tag_is():
    rare = next(name for name, concept in TREE.concepts.items() if not concept.everyday and "dog" in TREE.wider(name))
    synset = next(key for key, name in TREE._synsets.items() if name == rare)
    given = sight("photo", tags=[Tag(rare, 0.95, synset, leaf=True)])
    assert concepts(given) == ["dog"]
    assert concepts(given, named={rare}) == [rare]


def test_a_thing_that_the_page_has_no_word_for_must_be_seen_more_surely():
    given = sight("photo", seen("frisbee", 0.55), seen("person", 0.55))
    assert concepts(given, mentioned=None) == ["frisbee", "person"]
    assert concepts(given, mentioned={"frisbee"}) == ["frisbee", "person"]
    assert concepts(given, mentioned={"cat"}) == ["person"]
    assert concepts(sight("photo", seen("frisbee", thresholds.UNMENTIONED)), mentioned={"cat"}) == ["frisbee"]


def test_a_tiny_box_must_be_seen_more_surely():
    speck = Box(0.1, 0.1, 0.15, 0.15)
    assert concepts(sight("photo", seen("person", 0.4, speck))) == []
    assert concepts(sight("photo", seen("person", thresholds.TINY, speck))) == ["person"]


def test_thresholds_can_be_given_and_show_in_the_version():
    strict = Thresholds(detector_default=0.9)
    assert concepts(sight("photo", seen("cat")), thresholds=strict) == []
    assert strict.version() != Thresholds().version()


FRAME = {"and", "titled"}
SUPPORT = (Support("a cat", "detector", 0.9),)


def test_a_word_without_support_is_named_in_the_objection():
    [(reason, detail)] = verdict.objections("A cat and a volcano", SUPPORT, FRAME, PageWords())
    assert reason is Reason.OBJECT_UNSUPPORTED
    assert "volcano" in detail


def test_a_supported_text_meets_no_objection():
    assert verdict.objections("A cat", SUPPORT, FRAME, PageWords(caption="Our cat")) == ()


def test_an_empty_text_is_generic():
    assert verdict.objections("…", (), FRAME, PageWords())[0][0] is Reason.GENERIC_TEXT
