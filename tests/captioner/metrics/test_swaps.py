"""Swaps inside strata, copied words by hand, and the gap of six numbers."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captioner.metrics.swaps import SwappedText, copied_words, copy_rate, derangement, image_gap, naming_words

strata = st.lists(st.sampled_from("abc"), max_size=40)


@given(strata, st.integers(0, 1000))
def test_everyone_gets_someone_else_of_the_same_stratum_and_is_given_once(kinds, seed):
    swap = derangement(kinds, seed=seed)
    pairs = swap.pairs()
    assert all(place != partner and kinds[place] == kinds[partner] for place, partner in pairs)
    assert sorted(place for place, _ in pairs) == sorted(partner for _, partner in pairs)
    assert {kinds[place] for place in swap.alone} == {kind for kind, count in Counter(kinds).items() if count == 1}
    assert len(pairs) + len(swap.alone) == len(kinds)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 4)), max_size=40), st.integers(0, 1000))
def test_no_image_meets_itself_and_only_what_must_stays_out(places, seed):
    """In a stratum of n with a largest block of g, 2g - n stay out where that is positive."""
    kinds, images = [kind for kind, _ in places], [image for _, image in places]
    swap = derangement(kinds, seed=seed, same=images)
    pairs = swap.pairs()
    assert all(kinds[place] == kinds[partner] and images[place] != images[partner] for place, partner in pairs)
    assert len({partner for _, partner in pairs}) == len(pairs)
    for kind in set(kinds):
        blocks = Counter(image for own, image in places if own == kind)
        left = sum(kinds[place] == kind for place in swap.alone)
        assert left == max(0, 2 * max(blocks.values()) - blocks.total())


def test_a_swap_is_fixed_by_its_seed():
    kinds = ["a"] * 12
    assert derangement(kinds, seed=3) == derangement(kinds, seed=3)
    assert len({derangement(kinds, seed=seed) for seed in range(8)}) > 1


def test_two_of_a_stratum_trade_and_a_single_one_stays_out():
    swap = derangement(["photo", "map", "photo"], seed=1)
    assert swap.partners == (2, None, 0)
    assert swap.alone == (1,)


def test_a_word_of_the_wrong_page_without_support_is_copied():
    place = SwappedText("A lighthouse beside a dog", "Visit our lighthouse at the coast", "Pets of the week", ("dog",))
    assert copied_words(place) == ("lighthouse",)


@pytest.mark.parametrize(
    ("text", "swapped", "own", "labels"),
    [
        ("A dog", "Our dogs are kind", "", ("dog",)),  # the detector sees it
        ("A woman", "The woman of the year", "", ("person",)),  # CHAIR's table: a woman is a person
        ("An animal", "Animals of the farm", "", ("dog",)),  # a wider name of what is seen
        ("A lighthouse", "The lighthouse", "Lighthouses of Norway", ()),  # the real page has it
        ("An espresso", "Espresso bar", "", ("ESPRESSO", "OPEN")),  # read in the picture
        ("A lighthouse", "The coast", "", ()),  # not on the wrong page
        ("A large white picture", "A large white picture", "", ()),  # names nothing
        ("People walking quickly", "walking quickly", "", ("person",)),
        ("", "The lighthouse", "", ()),
    ],
)
def test_what_has_support_or_names_nothing_is_no_copy(text, swapped, own, labels):
    assert copied_words(SwappedText(text, swapped, own, labels)) == ()


def test_a_name_of_the_wrong_page_is_copied_even_if_it_ends_like_a_verb():
    place = SwappedText("Portrait of Mary Manning", "Mary Manning's diary", "The harbour", ("person",))
    assert copied_words(place) == ("manning", "mary")


def test_the_rate_is_over_texts_and_silence_is_counted_apart():
    """Four places: one copy, two clean, one silent: 1/3."""
    places = [
        SwappedText("A harbour", "harbours of the north", ""),
        SwappedText("A dog", "harbours of the north", "", ("dog",)),
        SwappedText("A church", "harbours of the north", ""),
        SwappedText(" ", "harbours of the north", ""),
    ]
    found = copy_rate(places)
    assert (found.copied, found.texts, found.silent, found.rate) == (1, 3, 1, pytest.approx(1 / 3))
    assert found.words == {"harbour": 1}
    assert copy_rate([]).rate is None


def test_another_reader_of_nouns_can_be_used():
    place = SwappedText("walking", "walking", "")
    assert copied_words(place) == ()
    assert copied_words(place, nouns=str.split) == ("walking",)


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_text_never_copies_what_its_own_page_says(text, own):
    assert copied_words(SwappedText(text, text, f"{own}\n{text}")) == ()


def test_names_are_in_the_singular_without_case():
    assert naming_words("The Dogs' ladies, Newton's prism and wind-turbines") == {
        "dog",
        "lady",
        "newton",
        "prism",
        "wind",
        "turbine",
    }


def test_the_gap_of_two_texts_comes_out_as_worked_by_hand():
    """Right: (4 + 2)/(4 + 2) = 1 nat a token; shuffled: (10 + 1)/6 = 1.8333. Gap .8333; one of two texts is helped."""
    found = image_gap([(4.0, 4), (2.0, 2)], [(10.0, 4), (1.0, 2)])
    assert (found.right, found.shuffled) == (1.0, pytest.approx(11 / 6))
    assert found.gap == pytest.approx(5 / 6)
    assert (found.helped, found.texts, found.tokens) == (0.5, 2, 6)


@given(st.lists(st.tuples(st.floats(0, 100), st.integers(1, 50)), min_size=1, max_size=20))
def test_a_captioner_that_does_not_look_has_no_gap(losses):
    assert image_gap(losses, losses).gap == 0


@pytest.mark.parametrize(
    ("right", "shuffled"), [([], []), ([(1.0, 2)], []), ([(1.0, 2)], [(1.0, 3)]), ([(0.0, 0)], [(0.0, 0)])]
)
def test_lists_about_other_texts_are_refused(right, shuffled):
    with pytest.raises(ValueError, match="same texts"):
        image_gap(right, shuffled)
