"""Greedy, nucleus and beam over tables small enough to try every text."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from captioner.rooms.decode import search

from .toy import END, Listed, Table

LENGTH, VOCABULARY = 4, 4
WIDE = VOCABULARY ** (LENGTH - 1)  # 64: more than any place of the search has prefixes


def every_text(table: Table, min_tokens: int) -> list[tuple[tuple[int, ...], bool, list[float]]]:
    """(tokens without end, ended, log-probabilities) of all texts of at most `LENGTH` tokens, the end included."""
    words = range(1, table.vocabulary)
    found = []
    for size in range(LENGTH + 1):
        for tokens in itertools.product(words, repeat=size):
            if min_tokens <= size < LENGTH:
                found.append((tokens, True, table.chances((*tokens, END))))
            if size == LENGTH:
                found.append((tokens, False, table.chances(tokens)))
    return found


@pytest.mark.parametrize("penalty", [0.0, 0.7, 1.0, 2.0])
@pytest.mark.parametrize("min_tokens", [0, 1, 3])
def test_a_wide_beam_finds_what_trying_every_text_finds(penalty, min_tokens):
    for seed in range(4):
        texts = every_text(Table(seed), min_tokens)
        tokens, ended, chances = max(texts, key=lambda one: sum(one[2]) / len(one[2]) ** penalty)
        best, *_ = search.beam(
            Table(seed), END, beams=WIDE, max_tokens=LENGTH, length_penalty=penalty, min_tokens=min_tokens
        )
        assert (best.tokens, best.ended) == (tokens, ended)
        assert best.log_probabilities == pytest.approx(chances, abs=1e-5)


def test_a_wide_beam_lists_texts_best_first():
    texts = every_text(Table(3), 1)
    wanted = sorted((sum(chances) / len(chances) for _, _, chances in texts), reverse=True)[:10]
    found = search.beam(Table(3), END, beams=WIDE, max_tokens=LENGTH)
    assert [one.mean for one in found[:10]] == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("seed", range(12))
def test_greedy_a_beam_of_one_and_a_vanishing_nucleus_are_one(seed):
    [greedy] = search.greedy(Table(seed), END, max_tokens=6)
    [beam] = search.beam(Table(seed), END, beams=1, max_tokens=6)
    assert beam == greedy
    for top_p in (1e-9, 0.0):
        [nucleus] = search.draw(Table(seed), END, temperatures=[0.8], max_tokens=6, top_p=top_p)
        assert nucleus == greedy


def test_greedy_takes_the_likeliest_word_of_each_place():
    """.5 beats .3, then .6, then the end with .9: log .5 + log .6 + log .9 = log .27."""
    steps = Listed([0.1, 0.5, 0.3, 0.1], [0.2, 0.1, 0.6, 0.1], [0.9, 0.05, 0.03, 0.02])
    [written] = search.greedy(steps, END, max_tokens=9)
    assert written.tokens == (1, 2)
    assert written.ended
    assert written.total == pytest.approx(math.log(0.27))
    assert written.mean == pytest.approx(math.log(0.27) / 3)


def test_a_beam_finds_what_greedy_walks_past():
    """Greedy: word 1 (.6), then the best there .4, .24 in all. Word 2 (.4) leads to .9: .36, found by a beam of 2."""

    class Fork(Table):
        def after(self, past):
            rows = {(): [1e-9, 0.6, 0.4], (1,): [0.4, 0.3, 0.3], (2,): [0.9, 0.05, 0.05]}
            return torch.tensor(rows.get(past, [0.98, 0.01, 0.01])).log()

    assert search.greedy(Fork(vocabulary=3), END, max_tokens=2)[0].tokens == (1,)
    best = search.beam(Fork(vocabulary=3), END, beams=2, max_tokens=2)[0]
    assert best.tokens == (2,)
    assert best.total == pytest.approx(math.log(0.36))


def test_the_length_penalty_decides_between_short_and_long():
    """Ending at once is .3, sum -1.20 over 1; two words and the end are .7 * .7 * .6 = .294, sum -1.22 over 3.

    Plain sums (penalty 0) prefer the short text, means (penalty 1) the long one: -0.41 against -1.20.
    """

    class Two(Table):
        def after(self, past):
            rows = {(): [0.3, 0.7], (1,): [0.3, 0.7], (1, 1): [0.6, 0.4]}
            return torch.tensor(rows.get(past, [0.5, 0.5])).log()

    def best(penalty):
        return search.beam(Two(vocabulary=2), END, beams=4, max_tokens=3, length_penalty=penalty, min_tokens=0)[
            0
        ].tokens

    assert best(0.0) == ()
    assert best(1.0) == (1, 1)


@pytest.mark.parametrize("min_tokens", [0, 1, 3, 5])
def test_no_text_ends_before_the_least_number_of_tokens(min_tokens):
    for seed in range(10):
        drawn = search.draw(
            Table(seed, rows=3),
            END,
            temperatures=[0.0, 1.0, 2.0],
            max_tokens=6,
            min_tokens=min_tokens,
            generator=torch.Generator().manual_seed(seed),
        )
        beamed = search.beam(Table(seed), END, beams=3, max_tokens=6, min_tokens=min_tokens)
        assert all(len(one.tokens) >= min_tokens for one in (*drawn, *beamed))
    assert search.draw(Listed([0.9, 0.1]), END, temperatures=[0.0], max_tokens=1, min_tokens=0)[0].tokens == ()


def test_an_end_that_is_the_only_open_token_is_taken_although_it_comes_too_early():
    """A plausibility cut can leave nothing but the end; without it no token at all would be left to draw."""
    steps = Listed([1.0, 0.0, 0.0])
    for heat in (0.0, 1.0):
        [written] = search.draw(Listed([1.0, 0.0, 0.0]), END, temperatures=[heat], max_tokens=3, min_tokens=1)
        assert written.tokens == ()
        assert written.ended
    assert steps.logits.isfinite().sum() == 1


def test_a_row_that_has_ended_leaves_the_others_alone():
    for seed in range(6):
        alone = search.greedy(Table(seed), END, max_tokens=8)[0]
        steps = Table(seed, rows=4)
        together = search.draw(
            steps, END, temperatures=[1.0, 0.0, 1.0, 0.0], max_tokens=8, generator=torch.Generator().manual_seed(seed)
        )
        assert together[1] == together[3] == alone
        assert steps.steps == max(len(one.log_probabilities) for one in together) - 1
        for one in together:
            wanted = steps.chances((*one.tokens, END) if one.ended else one.tokens)
            assert one.log_probabilities == pytest.approx(wanted, abs=1e-5)


def test_the_limit_counts_the_end_and_leaves_a_text_unfinished():
    steps = Listed([0.1, 0.9], [0.1, 0.9], [0.1, 0.9], [0.9, 0.1])
    [cut] = search.greedy(steps, END, max_tokens=3)
    assert cut.tokens == (1, 1, 1)
    assert not cut.ended
    assert len(cut.log_probabilities) == 3


def test_equal_seeds_give_equal_samples_and_others_do_not():
    def sampled(seed):
        generator = torch.Generator().manual_seed(seed)
        return search.draw(Table(5, rows=6), END, temperatures=[1.0] * 6, max_tokens=6, generator=generator)

    assert sampled(1) == sampled(1)
    assert len({tuple(sampled(seed)) for seed in range(5)}) == 5


def test_samples_follow_the_probabilities():
    """1,000 draws of a word of .7 and one of .3: three standard deviations are 3 * sqrt(.21 * 1000) = 43.5."""
    logits, generator = torch.tensor([0.7, 0.3]).log(), torch.Generator().manual_seed(0)
    second = sum(search.pick(logits, 1.0, 1.0, generator) for _ in range(1000))
    assert abs(second - 300) < 44


@pytest.mark.parametrize(
    ("top_p", "kept"),
    [(0.0, {2}), (0.4, {2}), (0.5, {2}), (0.51, {2, 0}), (0.8, {2, 0}), (0.81, {0, 1, 2}), (1.0, None)],
)
def test_the_nucleus_of_a_known_distribution(top_p, kept):
    """.5, .3, .15, .05: one token has the mass .5, two .8, three .95."""
    chances = torch.tensor([0.3, 0.15, 0.5, 0.05], dtype=torch.float64)
    found = search.nucleus(chances, top_p)
    assert set(found.nonzero().flatten().tolist()) == (kept if kept is not None else {0, 1, 2, 3})
    assert all(value in (0, before) for value, before in zip(found.tolist(), chances.tolist(), strict=True))


@settings(deadline=None)
@given(
    st.lists(st.floats(0.001, 1), min_size=1, max_size=12),
    st.floats(0, 1),
)
def test_the_nucleus_is_the_smallest_set_with_the_mass(weights, top_p):
    chances = torch.tensor(weights, dtype=torch.float64)
    chances /= chances.sum()
    found = search.nucleus(chances, top_p)
    kept = found[found > 0]
    assert len(kept) >= 1
    assert kept.sum() >= top_p - 1e-9
    assert len(kept) == 1 or kept.sum() - kept.min() < top_p + 1e-9
    assert sorted(kept.tolist()) == sorted(chances.tolist())[-len(kept) :]


def test_temperature_comes_before_the_nucleus():
    """.6, .3, .1 at temperature 2: square roots .775, .548, .316 over 1.638 = .473, .334, .193. With p = .5 two stay.

    At temperature 1 the first alone has .6 and only it stays.
    """
    logits = torch.tensor([0.6, 0.3, 0.1]).log()
    generator = torch.Generator().manual_seed(0)
    assert {search.pick(logits, 2.0, 0.5, generator) for _ in range(200)} == {0, 1}
    assert {search.pick(logits, 1.0, 0.5, generator) for _ in range(200)} == {0}
