"""Draws are fixed and even; nothing stands on both sides unseen."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from captioner.funnel import splits

SHARES = {"train": 0.8, "val": 0.15, "test": 0.05}


@dataclass(frozen=True)
class Item:
    name: str
    content_hash: str
    perceptual_hash: str = ""


def test_a_draw_is_the_same_on_every_machine():
    """The first 53 bits of sha256 over "salt", a line end and "name", over 2^53."""
    digest = hashlib.sha256(b"salt\nname").hexdigest()
    assert splits.draw("name", "salt") == (int(digest[:16], 16) >> 11) / 2**53
    assert splits.draw("name", "salt") != splits.draw("name", "pepper")


def test_the_shares_are_met_within_a_binomial_interval():
    """20,000 names: each count lies within the central 99.99 % of Binomial(20,000, share)."""
    counts = dict.fromkeys(SHARES, 0)
    for number in range(20_000):
        counts[splits.split_of(f"{number:064x}", SHARES, "a salt")] += 1
    for name, share in SHARES.items():
        low, high = binom.interval(0.9999, 20_000, share)
        assert low <= counts[name] <= high


def test_a_picture_keeps_its_split_when_a_share_of_nothing_is_added():
    for number in range(200):
        name = f"{number:064x}"
        assert splits.split_of(name, SHARES, "s") == splits.split_of(name, {"never": 0.0, **SHARES}, "s")


@pytest.mark.parametrize("shares", [{}, {"a": 0.5}, {"a": 1.2, "b": -0.2}])
def test_shares_that_are_no_whole_are_refused(shares):
    with pytest.raises(splits.WrongShares, match="add up to 1"):
        splits.split_of("0" * 64, shares, "s")


def test_the_same_bytes_in_two_splits_are_a_leak_and_in_one_are_none():
    one, again = Item("one", "a"), Item("again", "a")
    assert list(splits.leaks({"train": [one, again]})) == []
    assert list(splits.leaks({"train": [one], "test": [again]})) == [splits.Leak("train", "one", "test", "again", None)]


def test_near_hashes_are_a_leak_up_to_four_bits():
    """0xf0 and 0xf5 differ in two bits, 0xf0 and 0xef in five (11110000 and 11101111)."""
    base = Item("base", "a", f"{0xF0:016x}")
    near, far = Item("near", "b", f"{0xF5:016x}"), Item("far", "c", f"{0xEF:016x}")
    assert [(leak.other_name, leak.bits) for leak in splits.leaks({"train": [base], "test": [near, far]})] == [
        ("near", 2)
    ]


def test_a_flat_picture_is_near_to_none():
    assert list(splits.leaks({"train": [Item("one", "a")], "test": [Item("other", "b")]})) == []


def test_a_candidate_counts_only_if_the_look_at_both_confirms_it():
    pair = {"train": [Item("one", "a", "0" * 16)], "test": [Item("other", "b", "0" * 16)]}
    assert [leak.bits for leak in splits.leaks(pair, lambda one, other: one.name == "one")] == [0]
    assert list(splits.leaks(pair, lambda one, other: False)) == []


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1))
def test_the_bands_miss_no_pair_that_comparing_all_finds(seed):
    chance = random.Random(seed)
    bases = [chance.getrandbits(64) for _ in range(6)]

    def items(split):
        for number in range(12):
            bits = chance.choice(bases)
            for place in chance.sample(range(64), chance.randrange(8)):
                bits ^= 1 << place
            yield Item(f"{split}{number}", f"{split}{number}", f"{bits:016x}")

    sides = {"train": list(items("train")), "test": list(items("test"))}
    found = {(leak.name, leak.other_name) for leak in splits.leaks(sides)}
    expected = {
        (one.name, other.name)
        for one in sides["train"]
        for other in sides["test"]
        if (int(one.perceptual_hash, 16) ^ int(other.perceptual_hash, 16)).bit_count() <= 4
    }
    assert found == expected
