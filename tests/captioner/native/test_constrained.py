"""Choosing among texts: brute force agrees, and nothing else can come out."""

from __future__ import annotations

import random

import pytest
import torch

from captioner.rooms.decode import constrained
from captioner.rooms.decode.constrained import Tree

from .toy import END, Table


def some_texts(seed: int, count: int) -> list[tuple[int, ...]]:
    """Distinct texts of one to five words out of seven; many share their beginning, some are the start of others."""
    marks, texts = random.Random(seed), set()
    while len(texts) < count:
        texts.add(tuple(marks.randrange(1, 8) for _ in range(marks.randrange(1, 6))))
    return sorted(texts)


def mean(table: Table, text: tuple[int, ...]) -> float:
    chances = table.chances((*text, END))
    return sum(chances) / len(chances)


@pytest.mark.parametrize("seed", range(15))
def test_the_text_with_the_largest_mean_is_chosen(seed):
    texts = some_texts(seed, 6)
    best, *rest = constrained.choose(Table(seed, vocabulary=8), texts, END)
    ranked = sorted(texts, key=lambda text: mean(Table(seed, vocabulary=8), text), reverse=True)
    assert [one.tokens for one in (best, *rest)] == ranked
    assert best.mean == pytest.approx(mean(Table(seed, vocabulary=8), ranked[0]), abs=1e-5)


@pytest.mark.parametrize("seed", range(15))
def test_with_as_many_beams_as_texts_no_text_is_overlooked(seed):
    texts = some_texts(seed, 40)
    best, *_ = constrained.choose(Table(seed, vocabulary=8), texts, END, beams=len(texts))
    assert best.tokens == max(texts, key=lambda text: mean(Table(seed, vocabulary=8), text))


@pytest.mark.parametrize("beams", [1, 2, 6])
def test_no_other_text_is_ever_written(beams):
    for seed in range(20):
        texts = some_texts(seed, 30)
        for one in constrained.choose(Table(seed, vocabulary=8), texts, END, beams=beams):
            assert one.tokens in texts
            assert one.ended


def test_one_text_is_chosen_however_unlikely_it_is():
    """Its probabilities are those of the free model: certainty among one would be 0 nats."""
    table = Table(2, vocabulary=8)
    [one] = constrained.choose(Table(2, vocabulary=8), [(7, 7, 7)], END)
    assert one.log_probabilities == pytest.approx(table.chances((7, 7, 7, END)), abs=1e-5)
    assert one.mean < -0.5


def test_only_branches_of_the_tree_are_open():
    tree = Tree([(1, 2), (1, 3), (1,)], END)
    assert tree.allowed(0, ()) == [1]
    assert sorted(tree.allowed(0, (1,))) == [END, 2, 3]
    assert tree.allowed(0, (1, 2)) == [END]
    assert tree.allowed(0, (2,)) == []
    assert tree.longest == 2


def test_a_closed_token_cannot_win():
    kept = constrained.search.keep_only(torch.tensor([1.0, 9.0, 2.0]), [0, 2])
    assert kept.tolist() == [1.0, -torch.inf, 2.0]
