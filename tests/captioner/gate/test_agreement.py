"""Agreement of samples by lemma, synonym and kind; its minimum, mean and overlap, by hand."""

import pytest

from captioner.prepare.vocabulary import vocabulary
from captioner.rooms.gate import agreement


def measured(phraser, text, *samples):
    return agreement.measure(phraser.read(text), [phraser.read(sample) for sample in samples], vocabulary())


def test_each_object_counts_the_samples_that_say_it(phraser):
    """dog 3 of 3, ball 1 of 3: minimum 1/3, mean 2/3."""
    found = measured(phraser, "A dog with a ball", "Two dogs", "A dog on grass", "A dog chases a ball")
    assert found.shares == {"dog": 1.0, "ball": pytest.approx(1 / 3)}
    assert found.minimum == pytest.approx(1 / 3)
    assert found.mean == pytest.approx(2 / 3)
    assert found.under(2 / 3) == ("ball",)


def test_a_kind_of_the_thing_supports_it_and_a_wider_word_does_not(phraser):
    """Every beagle is a dog; not every dog is a beagle."""
    assert measured(phraser, "A dog", "A beagle").minimum == 1
    assert measured(phraser, "A beagle", "A dog").minimum == 0


def test_a_synonym_supports(phraser):
    """Both name the concept person, and say no more than that."""
    assert measured(phraser, "Two people", "A person").minimum == 1


def test_what_a_word_says_beyond_its_concept_needs_the_same_word(phraser):
    assert measured(phraser, "A woman on a bench", "A man on a bench").shares == {"woman": 0, "bench": 1}


def test_a_negated_thing_in_a_sample_does_not_support(phraser):
    assert measured(phraser, "A car on a street", "A street with no cars").minimum == 0


def test_jaccard_is_shared_claims_over_all_claims(phraser):
    """{dog, ball} and {dog, couch}: 1 of 3; {dog, ball} twice: 1. Mean 2/3."""
    found = measured(phraser, "A dog with a ball", "A dog on a couch", "A ball and a dog")
    assert found.jaccard == pytest.approx((1 / 3 + 1) / 2)


def test_without_samples_nothing_is_counted(phraser):
    found = measured(phraser, "A dog")
    assert (found.samples, found.minimum, found.mean, found.jaccard) == (0, None, None, None)


def test_a_text_without_objects_has_no_minimum(phraser):
    assert measured(phraser, "At sunset", "At sunset").minimum is None


def test_words_alone_are_compared_where_no_phrase_is_read():
    """{ein, hund} and {ein, hund, bellt}: 2 of 3."""
    assert agreement.of_words("Ein Hund", ["Ein Hund bellt"]).jaccard == pytest.approx(2 / 3)
    assert agreement.of_words("Ein Hund", []).jaccard is None


def test_two_empty_sets_are_alike():
    assert agreement.jaccard(frozenset(), frozenset()) == 1
