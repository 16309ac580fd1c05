"""Which edits are a preference, which samples are, and that nobody stands on both sides."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from captioner.funnel import preferences
from captioner.funnel.preferences import Preference, Sample, Sampled
from captioner.funnel.records import Decided, Skipped
from captioner.types import PageContext, Role


def decided(**fields):
    whole = {
        "name": "line 1", "image": None, "content_hash": "0" * 64, "perceptual_hash": "", "context": PageContext(),
        "role": Role.INFORMATIVE, "outcome": "EDITED", "suggested": "A dog on grass", "final": "A brown dog on grass",
        "same_image": True, "same_context": True, "author": "a1", "captioner": "starter", "versions_key": "k",
        "licence": "own",
    }  # fmt: skip
    return Decided(**(whole | fields))


def pairs_of(*items):
    dropped = Skipped()
    return list(preferences.from_decisions(items, dropped)), list(dropped.rows)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A dog", "a DOG."), ("A dog", " A  dog "), ("A well-known dog", "A well known dog"), ("Café", "Cafe\u0301"),
        ("sun flower", "sunflower"), ("“Stop”", '"Stop"'), ("A dog…", "A dog"), ("Straße", "STRASSE"),
        ("1,000", "1000"),
    ],
)  # fmt: skip
def test_case_punctuation_and_spaces_are_no_meaning(one, other):
    assert preferences.meaning(one) == preferences.meaning(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1.5 m", "15 m"), ("-5 degrees", "5 degrees"), ("5 %", "5"), ("$5", "5"), ("A dog", "A dog 🐕"),
        ("A dog", "A cat"), ("A dog", "Dog"), ("Mädchen", "Madchen"), ("10:30", "1030"),
    ],
)  # fmt: skip
def test_numbers_signs_accents_and_words_are_meaning(one, other):
    assert preferences.meaning(one) != preferences.meaning(other)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.text("abcDEF éß ,!?\u0301", max_size=20))
def test_changing_the_case_and_adding_a_stop_never_changes_the_meaning(text):
    assert preferences.meaning(text) == preferences.meaning(text.casefold() + " !") == preferences.meaning(f" {text}")


def test_an_edit_of_meaning_prefers_the_final_text():
    [pair], dropped = pairs_of(decided())
    assert (pair.chosen, pair.rejected, pair.author) == ("A brown dog on grass", "A dog on grass", "a1")
    assert pair.length_difference == 1
    assert dropped == []


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"outcome": "AS_IS", "final": "A dog on grass"}, "no pair: as_is"),
        ({"outcome": "REJECTED", "final": None}, "no pair: rejected"),
        ({"outcome": "DECORATIVE", "final": None}, "no pair: decorative"),
        ({"outcome": "WRITTEN", "suggested": None}, "no pair: written"),
        ({"final": "a dog on GRASS!"}, "no pair: only case, punctuation or spaces changed"),
        ({"same_image": False}, "no pair: the image changed in between"),
        ({"same_context": False}, "no pair: the words around it changed in between"),
        ({"role": Role.FUNCTIONAL}, "no pair: role functional"),
    ],
)
def test_what_is_no_preference_gives_no_pair_and_is_counted(fields, reason):
    assert pairs_of(decided(**fields)) == ([], [reason])


def sampled(*samples, **fields):
    whole = {"name": "photo", "image": None, "content_hash": "0" * 64, "context": PageContext(), "licence": "CC0"}
    return Sampled(samples=[Sample(text, clean) for text, clean in samples], **(whole | fields))


def test_a_clean_sample_is_preferred_to_the_unclean_one_nearest_in_length():
    """Clean has 4 words. Unclean ones have 3 and 9: |4 - 3| = 1 is less than |4 - 9| = 5."""
    dropped = Skipped()
    [pair] = preferences.from_samples(
        [sampled(
            ("A dog and a cat on a red mat", False), ("A dog on grass", True), ("A cat here", False),
        )],
        dropped,
    )  # fmt: skip
    assert (pair.chosen, pair.rejected, pair.length_difference) == ("A dog on grass", "A cat here", 1)
    assert dropped.count == 0


@pytest.mark.parametrize("clean", [True, False])
def test_equal_labels_are_dropped(clean):
    dropped = Skipped()
    assert not list(preferences.from_samples([sampled(("A dog", clean), ("A cat", clean))], dropped))
    assert list(dropped.rows) == ["labels are equal"]


def test_one_text_with_both_labels_is_no_pair():
    dropped = Skipped()
    assert not list(preferences.from_samples([sampled(("A dog", True), ("a dog.", False))], dropped))
    assert list(dropped.rows) == ["the same text with both labels"]


def test_more_pairs_a_picture_come_if_asked_for():
    item = sampled(("A dog", True), ("A cat", False), ("A big dog", True), ("A big cat", False))
    found = list(preferences.from_samples([item], Skipped(), per_picture=3))
    assert [abs(pair.length_difference) for pair in found] == [0, 0, 1]


def test_the_length_difference_is_told():
    """Differences 1, 1 and -2 words: mean 0, median 1, the chosen one longer in two of three."""
    found, _ = pairs_of(decided(), decided(), decided(final="Dog sleeping"))
    assert preferences.lengths(found) == {
        "pairs": 3, "mean_difference_words": 0, "median_difference_words": 1, "chosen_is_longer": 2 / 3,
    }  # fmt: skip
    assert preferences.lengths([])["mean_difference_words"] is None


def preference(number, author, content):
    return Preference(
        name=f"pair {number}", image=None, content_hash=content, context=PageContext(), role=Role.UNKNOWN,
        chosen="A dog", rejected="A cat", source="authors" if author else "detector", licence="", author=author,
    )  # fmt: skip


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.sampled_from(["", "a", "b", "c", "d"]), st.sampled_from("12345678")), max_size=40))
def test_no_author_and_no_picture_stands_on_both_sides(items):
    dropped = Skipped()
    made = [preference(number, author, content) for number, (author, content) in enumerate(items)]
    train, held = preferences.hold_out(made, dropped, share=0.4, salt="s")
    assert not {item.content_hash for item in train} & {item.content_hash for item in held}
    assert not {item.author for item in train if item.author} & {item.author for item in held}
    assert len(train) + len(held) + dropped.count == len(made)
    assert {item.name for item in [*train, *held]} <= {item.name for item in made}


def test_about_the_stated_share_of_pictures_is_held_out():
    """1,000 pictures without authors, share .2: 200, give or take 3.9 standard deviations of 12.6."""
    made = [preference(number, "", f"{number:064x}") for number in range(1000)]
    _, held = preferences.hold_out(made, Skipped(), share=0.2, salt="s")
    assert 151 <= len(held) <= 249
