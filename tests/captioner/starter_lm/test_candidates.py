"""Which nouns and names of a page are asked about, where they stand, and what is left out."""

import pytest

from captioner.prepare import candidates, pagewords
from captioner.prepare.phrases import PhraseKind
from captioner.types import PageContext


@pytest.fixture
def find(phraser):
    def found(most=candidates.MOST, **page):
        return candidates.find(pagewords.read(PageContext(**page)), phraser, most)

    return found


def test_an_empty_page_has_no_candidates(find):
    assert find() == ()


def test_a_noun_carries_its_concept_and_its_rank_in_the_caption(find):
    found = find(caption="A nurse holds a baby")
    assert [(one.lemma, one.rank, one.places, one.concepts, one.plural) for one in found] == [
        ("nurse", 0, ("caption",), ("person",), False),
        ("baby", 1, ("caption",), ("person",), False),
    ]


def test_a_plural_keeps_its_form_and_is_looked_up_in_the_singular(find):
    assert [(one.lemma, one.said, one.plural) for one in find(caption="Nurses hold babies")] == [
        ("nurse", "nurses", True),
        ("baby", "babies", True),
    ]


def test_a_name_keeps_its_capitals_and_is_no_plural(find):
    [twain] = [one for one in find(caption="Mark Twain wrote many novels.") if one.kind is PhraseKind.NAME]
    assert (twain.lemma, twain.said, twain.plural) == ("mark twain", "Mark Twain", False)


def test_a_word_in_two_places_is_one_candidate_with_both_and_the_rank_of_the_better(find):
    """In the caption "baby" is the second noun, in the title the first: its rank stays 1."""
    [baby] = [one for one in find(caption="A nurse holds a baby", title="A baby") if one.lemma == "baby"]
    assert (baby.places, baby.rank) == (("caption", "title"), 1)


def test_the_places_come_best_first(find):
    found = find(caption="A nurse", headings=("A dog",), before="A cat", after="A horse", title="A bus")
    assert [(one.lemma, one.places) for one in found] == [
        ("nurse", ("caption",)),
        ("dog", ("heading",)),
        ("cat", ("near",)),
        ("horse", ("near",)),
        ("bus", ("title",)),
    ]


def test_only_the_last_heading_counts(find):
    assert [one.lemma for one in find(headings=("A dog", "A cat"))] == ["cat"]


def test_what_stands_further_than_25_words_from_the_picture_is_not_near(find):
    """The noun and 25 words after it: the window of 25 holds only the 25."""
    assert candidates.NEAR_WORDS == 25
    assert [one.lemma for one in find(before="A horse " + "very " * 24)] == ["horse"]
    assert find(before="A horse " + "very " * 25) == ()


def test_words_with_digits_and_short_words_are_left_out(find):
    assert all(
        len(one.lemma) >= 3 and not any(map(str.isdigit, one.lemma))
        for one in find(caption="An ox and Apollo 11 beside a dog, B2 and Mr X")
    )


def test_a_page_gives_no_more_than_the_first_few(find):
    found = find(caption="A nurse holds a baby", before="A dog and a cat")
    assert find(2, caption="A nurse holds a baby", before="A dog and a cat") == found[:2]


def test_equal_pages_give_equal_candidates(find):
    page = {"caption": "A nurse holds a baby in Paris", "title": "Nurses"}
    assert find(**page) == find(**page)


@pytest.mark.parametrize(
    ("caption", "kept"),
    [
        ("A nurse (credit: Ada Lovelace)", "A nurse "),
        ("A nurse (Credits: Ada Lovelace/Flickr)", "A nurse "),
        ("A nurse [Source: Ada Lovelace]", "A nurse "),
        ("A nurse (courtesy of A) (credit: B)", "A nurse "),
        ("(Photo by Ada Lovelace)", ""),
        ("A nurse (left) and a doctor", "A nurse (left) and a doctor"),
        ("", ""),
    ],
)
def test_a_caption_ends_where_its_credit_starts(caption, kept):
    assert candidates.without_credit(caption) == kept


def test_a_credit_is_cut_at_its_bracket_whatever_letters_stand_before():
    """Casefolded, "ß" is two letters: an offset in the folded text is one too large in the caption."""
    assert candidates.without_credit("A Straße (credit: Ada Lovelace)") == "A Straße "


def test_nobody_named_in_a_credit_is_a_candidate(find):
    assert [one.lemma for one in find(caption="A nurse (credit: Ada Lovelace)")] == ["nurse"]


def test_a_human_text_says_each_noun_and_name_once(phraser):
    assert set(candidates.lemmas("Mark Twain holds a dog. The dog sleeps.", phraser)) >= {"mark twain", "dog"}
