"""One human text in, one short target or a reason out."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from captioner.funnel import sentences, targets

thorough = settings(max_examples=300, deadline=None, derandomize=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A photograph shows two men in a boat.", "Two men in a boat."),
        ("An image of a red barn in snow", "A red barn in snow"),
        ("This figure shows two nearby charges.", "Two nearby charges."),
        ("This is a photo of young people marching.", "Young people marching."),
        ("Picture is a drawing of a source of sound.", "A drawing of a source of sound."),
        ("In this image, a man reads a map.", "A man reads a map."),
        ("The image depicts a photo of three cats asleep.", "Three cats asleep."),
        ("A picture of a man running is shown.", "A man running."),
    ],
)
def test_an_opening_that_says_nothing_goes(text, expected):
    assert targets.clean(text).text == expected


@pytest.mark.parametrize(
    "text",
    [
        "A painting of a harbour at dusk.",
        "A map of Europe in 1815.",
        "This chart shows the rate of unemployment.",
        "A black-and-white photograph of a street.",
        "The photograph shows how a lens bends light.",
        "Photographers of the press wait outside.",
    ],
)
def test_a_medium_that_matters_and_a_clause_stay(text):
    assert targets.clean(text).text == text


def test_the_first_sentence_is_preferred():
    assert (
        targets.clean("Two dogs run over grass. The sky is blue. A ball lies there.").text == "Two dogs run over grass."
    )
    everything = targets.clean("Two dogs run. The sky is blue.", targets.Rules(first_sentence=False))
    assert everything.text == "Two dogs run. The sky is blue."


def test_a_first_sentence_that_is_too_short_or_open_takes_the_next_along():
    assert targets.clean("Two images are shown. One is of a cat.").text == "Two images are shown. One is of a cat."
    assert targets.clean("A sign reads “Stop. Go back.” Men wait.").text == "A sign reads “Stop. Go back.”"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A) A bust of Sophocles in marble.", "A bust of Sophocles in marble."),
        ("(a) A skater pushes another one.", "A skater pushes another one."),
        ("Figure 3.2. The left lung from behind.", "The left lung from behind."),
    ],
)
def test_a_panel_prefix_goes(text, expected):
    assert targets.clean(text).text == expected


@pytest.mark.parametrize(
    "text",
    [
        "(a) A photo of a worm. (b) A micrograph of cells.",
        "Part A shows a statue of Aristotle. Part B shows a book.",
        "a) Image of an asteroid; b) Image of an arm.",
    ],
)
def test_a_text_about_several_panels_is_dropped_since_one_sentence_would_be_about_one_of_them(text):
    assert targets.clean(text).dropped == targets.PANELS


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", targets.EMPTY),
        ("...", targets.EMPTY),
        ("The Robert C.", targets.FRAGMENT),
        ("A portrait of Dr.", targets.FRAGMENT),
        ("A man with a", targets.FRAGMENT),
        ("A man with a hat, who...", targets.FRAGMENT),
        ("A sign that reads “Stop", targets.FRAGMENT),
        ("Photograph of Albert Einstein.", targets.SHORT),
        ("word " * 41, targets.LONG),
        ("A <b>red</b> cat sleeps", targets.MARKUP),
        ("A cat, see [here](https://example.org)", targets.MARKUP),
        ("no alt text", targets.PLACEHOLDER),
        ("IMG_2041.jpg", targets.PLACEHOLDER),
    ],
)
def test_what_is_no_target_is_dropped_with_its_reason(text, reason):
    found = targets.clean(text)
    assert (found.text, found.dropped) == ("", reason)


def test_three_and_forty_words_are_within_the_limits_and_two_and_41_are_not():
    assert [bool(targets.clean("word " * count).text) for count in (2, 3, 40, 41)] == [False, True, True, False]


def test_the_openings_are_looked_for_in_english_only_and_unspaced_languages_are_named():
    assert targets.clean("Image of drei Katzen", language="de").text == "Image of drei Katzen"
    assert targets.clean("一只狗在草地上跑", language="zh-Hans").dropped == targets.LANGUAGE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The Robert C. Weaver Building stands in Washington. It is grey.",
            ["The Robert C. Weaver Building stands in Washington.", "It is grey."],
        ),
        ("Ruins in the U.S. The map shows them.", ["Ruins in the U.S.", "The map shows them."]),
        ("He met Dr. Smith at 5 p.m. in St. Louis.", ["He met Dr. Smith at 5 p.m. in St. Louis."]),
        ("It is 3.5 m high. No. 7 is red.", ["It is 3.5 m high.", "No. 7 is red."]),
        ("Who is it? A dog! It runs.", ["Who is it?", "A dog!", "It runs."]),
        ("J. R. R. Tolkien reads. He sits.", ["J. R. R. Tolkien reads.", "He sits."]),
        ("Vitamin C. The bottle is green.", ["Vitamin C.", "The bottle is green."]),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text, expected):
    assert sentences.split(text) == expected


@thorough
@given(st.lists(st.sampled_from(["A", "cat", "Dr.", "C.", "runs.", "“Stop.”", "U.S.", "…", "!", "The"]), max_size=12))
def test_splitting_loses_no_word(words):
    text = " ".join(words)
    assert " ".join(sentences.split(text)) == text


@thorough
@given(st.one_of(st.text(max_size=80), st.text("aA .()[]“”b:<>é\u0301\u200b", max_size=40)))
def test_any_text_gives_a_clean_target_or_a_reason(text):
    found = targets.clean(text)
    assert bool(found.text) != bool(found.dropped)
    if found.text:
        assert 3 <= len(found.text.split()) <= 40
        assert found.text == unicodedata.normalize("NFC", found.text) == " ".join(found.text.split())
        assert not targets.TAGS.search(found.text)
