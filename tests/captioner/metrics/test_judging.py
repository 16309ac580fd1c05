"""Names against labels and captions, on rows small enough to check by hand."""

from pathlib import Path

import pytest

from captioner.metrics import judging
from captioner.metrics.rows import Row
from captioner.types import Abstention, Caption, PageContext, Reason


def row(objects=(), references=(), caption=""):
    return Row(
        "line 1",
        Path("x.png"),
        PageContext(caption=caption),
        references=tuple(references),
        objects=objects if objects is None else frozenset(objects),
    )


def says(text, **named):
    """An outcome whose evidence names `phrase=concept`."""
    return Caption(
        "1",
        text,
        evidence={
            "support": [
                {"phrase": phrase.replace("_", " "), "source": "detector", "score": 1.0, "detail": ""}
                for phrase in named
            ],
            "things": [{"phrase": phrase.replace("_", " "), "concept": concept} for phrase, concept in named.items()],
        },
    )


def test_a_labelled_class_is_right_and_an_unlabelled_one_false():
    judged = judging.judge(row(["cat"]), says("A cat and a dog", a_cat="cat", a_dog="dog"))
    assert (judged.right, judged.false, judged.unjudged) == (("cat",), ("dog",), ())
    assert (judged.mentions, judged.false_mentions) == (("cat", "dog"), ("dog",))


def test_an_object_that_only_a_human_caption_mentions_is_right():
    assert judging.judge(row([], ["A puppy sleeps."]), says("A dog", a_dog="dog")).right == ("dog",)


def test_a_kind_of_a_labelled_class_is_as_right_as_the_class():
    assert judging.judge(row(["dog"]), says("A beagle", a_beagle="beagle")).right == ("beagle",)
    assert judging.judge(row(["cat"]), says("A beagle", a_beagle="beagle")).false == ("beagle",)


def test_a_wider_word_is_right_where_a_kind_of_it_is_labelled():
    assert judging.judge(row(["pizza"]), says("Food", food="food")).right == ("food",)


def test_a_word_beyond_the_classes_is_right_only_where_a_caption_has_it():
    said = says("A castle", a_castle="castle")
    assert judging.judge(row(["dog"], ["Old castles on a hill"]), said).right == ("castle",)
    assert judging.judge(row(["dog"], ["A hill"]), said).unjudged == ("castle",)
    assert judging.judge(row(["dog"]), said).unjudged == ("castle",)


def test_rows_without_labels_and_silence_are_not_judged():
    assert judging.judge(row(None, ["A cat"]), says("A dog", a_dog="dog")).names == ()
    assert judging.judge(row(["cat"]), Abstention("1", Reason.OBJECT_UNSUPPORTED)).names == ()


def test_a_captioner_without_evidence_is_judged_by_its_words():
    assert judging.named(Caption("1", "A man walks two dogs")) == ["person", "dog"]


def test_words_that_are_only_quoted_name_nothing():
    assert judging.named(Caption("1", "Text: “Beware of the dog”")) == []
    assert judging.unquoted("A bus; text: „Hund“").strip() == "A bus; text:"


@pytest.mark.parametrize(
    ("concept", "text", "expected"),
    [
        ("dog", "Three dogs", True),
        ("dog", "A beagle puppy", True),
        ("animal", "A beagle", True),
        ("beagle", "A dog", False),
        ("person", "The teacher points at the board", True),
        ("seashore", "People on a beach", True),
        ("cat", "Category theory", False),
    ],
)
def test_a_concept_is_mentioned_by_its_words_or_those_of_its_kinds(concept, text, expected):
    assert judging.is_mentioned(concept, [text]) is expected
