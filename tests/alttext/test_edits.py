"""Normalisation, distances and outcomes: every test string of the metrics page, and what must hold for any text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alttext import edits
from alttext.edits import Outcome

NBSP, ZWSP, ZWNJ, ZWJ, BOM = "\u00a0", "\u200b", "\u200c", "\u200d", "\ufeff"
MAN, WOMAN, GIRL, BOY = "\U0001f468", "\U0001f469", "\U0001f467", "\U0001f466"

STRINGS = [  # suggestion, final, d, d_norm, trivial
    (unicodedata.normalize("NFC", "Un café"), unicodedata.normalize("NFD", "Un café"), 0, 0, True),
    ("family " + ZWJ.join([MAN, WOMAN, GIRL, BOY]), "family " + ZWJ.join([MAN, WOMAN, GIRL]), 1, 0.125, False),
    ("flag 🇩🇪", "flag 🇫🇷", 1, 0.1667, False),
    ("thumb 👍🏽", "thumb 👍", 1, 0.1429, False),
    ("नमस्ते", "नमस्त", 1, 0.3333, False),
    ("A dog", "A dog.", 0, 0, True),
    ("A dog", "A dog...", 3, 0.375, False),
    ("A dog", "A dog?", 1, 0.1667, False),
    ("一只狗", "一只狗。", 0, 0, True),
    (f"A{NBSP}dog", "A dog", 0, 0, True),
    (f"{ZWSP} A dog", "A dog", 0, 0, True),
    ('A sign reads "Stop."', 'A sign reads "Stop', 2, 0.1, False),
    ("", "x", 1, 1, False),
    ("", "", 0, 0, False),
    ("abc", "", 3, 1, False),
    ("½", "1/2", 3, 1, False),
    ("ﬁsh", "fish", 2, 0.5, False),
    ("A dog", "a dog", 1, 0.2, False),
    ("“quoted”", '"quoted"', 2, 0.25, False),
    ("kitten", "sitting", 3, 0.4286, False),
    (f"می{ZWNJ}خواهم", "میخواهم", 1, 0.1429, False),
    ("Two dog on grass", "Two dogs on the grass", 5, 0.2381, False),
    ("on a beach a dog runs", "a dog runs on a beach", 19, 0.9048, False),
    ("A dog", "A brown dog runs over wet grass in a park", 36, 0.878, False),
]

# letters, marks, joiners, stops and spaces that the definitions treat differently, and anything else
PIECES = st.sampled_from(
    [*"ab .。।۔?!…", "e\u0301", NBSP, "\t", "\n", ZWSP, ZWNJ, ZWJ, BOM, "\u202e", "\u2066", GIRL, "🇩", "🇪"]
)
TEXTS = st.one_of(st.text(max_size=12), st.lists(PIECES, max_size=10).map("".join))
thorough = settings(max_examples=150, deadline=None, derandomize=True)


@pytest.mark.parametrize(("suggested", "final", "distance", "norm", "trivial"), STRINGS)
def test_every_string_of_the_metrics_page_has_its_distance(suggested, final, distance, norm, trivial):
    found = edits.measure(suggested, final)
    assert edits.distance(suggested, final) == (found.distance, found.distance_norm)
    assert found.distance == distance
    assert round(found.distance_norm, 4) == norm
    assert found.trivial is trivial


def test_the_two_long_moves_are_labelled_replaced():
    assert edits.measure("on a beach a dog runs", "a dog runs on a beach").outcome == Outcome.REPLACED
    assert edits.measure("A dog", "A brown dog runs over wet grass in a park").outcome == Outcome.REPLACED


@pytest.mark.parametrize(
    ("suggested", "final", "cleared", "outcome"),
    [
        ("A dog", "A dog", False, Outcome.AS_IS),
        ("A dog", "A dog.", False, Outcome.AS_IS),
        ("A dog", "A dog", True, Outcome.AS_IS),  # d = 0 wins over every other rule
        ("A dog", "A cat", False, Outcome.EDITED),
        ("A dog", "A cat", True, Outcome.REPLACED),
        ("abcde", "aXXXX", False, Outcome.REPLACED),  # d_norm is 0.8 exactly
        ("abcdefghi", "abXXXXXXX", False, Outcome.EDITED),  # 0.778
    ],
)
def test_the_outcome_follows_from_distance_and_clearing(suggested, final, cleared, outcome):
    assert edits.measure(suggested, final, cleared=cleared).outcome == outcome


@pytest.mark.parametrize(
    ("final", "kept"),
    [("A dog..", "A dog.."), ("A dog ..", "A dog .."), ("..", ".."), ("A dog.。", "A dog.。"), ("A dog. .", "A dog.")],
)
def test_a_stop_beside_another_stays(final, kept):
    assert edits.comparable(final) == kept


def test_one_stop_goes_in_each_of_the_four_scripts_and_only_once():
    assert [edits.comparable(f"x{stop}") for stop in edits.STOPS] == ["x"] * 4
    assert edits.comparable(".") == ""
    assert edits.comparable("x .") == "x"
    assert [edits.comparable(f"x{mark}") for mark in "?!…"] == ["x?", "x!", "x…"]


def test_invisible_characters_go_before_the_text_is_composed():
    assert edits.normalise(f"{ZWSP} A dog") == "A dog"
    assert edits.normalise(f"e{ZWSP}\u0301") == "é"
    assert edits.normalise(f"{BOM}\u061c\u200e\u200f\u202a\u202e\u2066\u2069A") == "A"
    assert edits.normalise(f"a{ZWNJ}b{ZWJ}c") == f"a{ZWNJ}b{ZWJ}c"


def test_words_are_counted_where_words_are_written_apart():
    assert edits.measure("Two dog on grass", "Two dogs on the grass").distance_words == 2
    assert edits.measure("Ein Hund", "Zwei Hunde", language="de-AT").distance_words == 2
    for language in ("zh", "zh-Hans", "ja", "th", "lo", "km", "my"):
        assert edits.measure("一只狗", "两只狗", language=language).distance_words is None


def test_kinds_of_steps_are_told_apart():
    grown, shrunk, other = (
        edits.measure("A dog", "A dogs"),
        edits.measure("A dogs", "A dog"),
        edits.measure("dog", "dig"),
    )
    assert (grown.insertions, grown.deletions, grown.substitutions) == (1, 0, 0)
    assert (shrunk.insertions, shrunk.deletions, shrunk.substitutions) == (0, 1, 0)
    assert (other.insertions, other.deletions, other.substitutions) == (0, 0, 1)


@thorough
@given(TEXTS)
def test_normalising_twice_changes_nothing_more(text):
    assert edits.normalise(edits.normalise(text)) == edits.normalise(text)


@thorough
@given(TEXTS)
def test_a_text_is_at_no_distance_from_itself(text):
    assert edits.distance(text, text) == (0, 0.0)
    assert not edits.measure(text, text).trivial


@thorough
@given(TEXTS, TEXTS)
def test_the_distance_is_the_same_both_ways(one, other):
    assert edits.distance(one, other) == edits.distance(other, one)


@thorough
@given(TEXTS, TEXTS, TEXTS)
def test_a_detour_is_never_shorter(one, other, third):
    assert edits.distance(one, third)[0] <= edits.distance(one, other)[0] + edits.distance(other, third)[0]


@thorough
@given(TEXTS, TEXTS)
def test_what_is_measured_fits_together(suggested, final):
    found = edits.measure(suggested, final)
    same = edits.comparable(suggested) == edits.comparable(final)
    assert (found.distance == 0) == same == (found.outcome == Outcome.AS_IS) == (found.distance_words == 0)
    assert 0 <= found.distance_norm <= 1
    assert found.insertions + found.deletions + found.substitutions == found.distance
    grown = len(edits.graphemes(edits.comparable(final))) - len(edits.graphemes(edits.comparable(suggested)))
    assert found.insertions - found.deletions == grown
    assert found.trivial == (same and suggested != final)
