"""Batches that come back equal, pages that are left out as often as said, and pictures that change places."""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from captioner.architectures.bridge import Frame
from captioner.training import examples as data
from captioner.training.examples import Example

EMPTY = Frame((1,), ())


def shown(picture, number=0):
    """An example of picture `picture`; two with one number have equal pixels."""
    return Example(f"{picture}-{number}", np.full((4, 2), picture, np.float16), EMPTY, EMPTY, (5,) * (1 + number % 7))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 5), max_size=40))
def test_no_example_keeps_its_picture_while_that_is_possible(pictures):
    """It is where no picture has more than half of the examples: several texts about one picture included."""
    examples = [shown(picture, number) for number, picture in enumerate(pictures)]
    wrong = data.deranged(examples)
    assert [one.name for one in wrong] == [one.name for one in examples]
    assert sorted(one.tokens[0, 0] for one in wrong) == sorted(pictures)
    assert [dataclasses.replace(one, tokens=EMPTY) for one in wrong] == [
        dataclasses.replace(one, tokens=EMPTY) for one in examples
    ]
    if pictures and max(Counter(pictures).values()) <= len(pictures) / 2:
        assert all(one.tokens[0, 0] != picture for one, picture in zip(wrong, pictures, strict=True))


def test_five_captions_of_one_picture_do_not_get_it_from_each_other():
    """A shift by one would leave four of five texts with their own picture."""
    examples = [shown(picture, number) for picture in range(3) for number in range(5)]
    assert [int(one.tokens[0, 0]) for one in data.deranged(examples)] == [1] * 5 + [2] * 5 + [0] * 5


def names(**options):
    examples = [shown(number, number) for number in range(50)]
    return [[(one.name, page) for one, page in chunk] for chunk in data.batches(examples, 4, **options)]


def test_batches_of_equal_seed_and_epoch_are_equal_and_of_others_are_not():
    one = names(epoch=0, seed=1, page_dropout=0.3)
    assert one == names(epoch=0, seed=1, page_dropout=0.3)
    assert one != names(epoch=1, seed=1, page_dropout=0.3)
    assert one != names(epoch=0, seed=2, page_dropout=0.3)


def test_an_epoch_shows_every_example_once():
    flat = [name for chunk in names(epoch=3, seed=1) for name, _ in chunk]
    assert sorted(flat) == sorted(shown(number, number).name for number in range(50))


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_share_of_prompts_without_a_page_lies_in_its_binomial_interval(share):
    """4,000 draws at .3: 1,200 expected, deviation sqrt(4000 * .3 * .7) = 29; four deviations either way."""
    examples = [shown(number) for number in range(1000)]
    pages = [page for epoch in range(4) for chunk in data.batches(examples, 8, epoch=epoch, seed=7, page_dropout=share)
             for _, page in chunk]  # fmt: skip
    bare = len(pages) - sum(pages)
    assert len(pages) == 4000
    assert abs(bare - 4000 * share) <= 4 * (4000 * share * (1 - share)) ** 0.5
