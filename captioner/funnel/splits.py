"""Draws by hash, splits by image bytes, and the check that nothing stands on both sides. Knows no file.

A draw depends on a name and a salt alone: the same item falls the same way in every run, whatever else is there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from captioner.prepare import hashes

NEAR_BITS = 4  # of 64: a candidate for "the same picture", never a verdict
BAND_BITS = (13, 13, 13, 13, 12)  # with 4 bits wrong, one of 5 bands is wholly right: nothing near is missed


class WrongShares(ValueError):
    """The shares of a split are not between 0 and 1, or do not add up to 1."""


class Pictured(Protocol):
    """What a leak check reads."""

    @property
    def name(self) -> str: ...
    @property
    def content_hash(self) -> str: ...
    @property
    def perceptual_hash(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Leak:
    """One picture on both sides. `bits`: how far the perceptual hashes are apart; None for the same bytes."""

    split: str
    name: str
    other_split: str
    other_name: str
    bits: int | None


class _Item(NamedTuple):
    split: str
    item: Pictured


def draw(name: str, salt: str) -> float:
    """A number in [0, 1) that looks random and is fixed: 53 bits of sha256 over salt and name."""
    digest = hashlib.sha256(f"{salt}\n{name}".encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53  # what a float holds exactly: never rounded up to 1


def split_of(content_hash: str, shares: Mapping[str, float], salt: str) -> str:
    """Which split a picture belongs to; `shares` in order, e.g. {"train": 0.9, "val": 0.1}.

    :raises WrongShares: they are no shares of one whole.
    """
    if not shares or any(not 0 <= share <= 1 for share in shares.values()) or abs(sum(shares.values()) - 1) > 1e-9:
        raise WrongShares(f"The shares have to be between 0 and 1 and add up to 1: {dict(shares)}")
    at, up_to = draw(content_hash, salt), 0.0
    for name, share in shares.items():
        up_to += share
        if at < up_to:
            return name
    return [name for name, share in shares.items() if share][-1]  # rounding only: the sum may be a hair under 1


def leaks(
    splits: Mapping[str, Iterable[Pictured]], same: Callable[[Pictured, Pictured], bool] | None = None
) -> Iterator[Leak]:
    """Pictures that stand in more than one split: the same bytes, or near hashes that `same` confirms.

    :param same: looks at both pictures; None: every candidate within `NEAR_BITS` counts.
    """
    seen: dict[str, list[_Item]] = {}
    banded: dict[tuple[int, int], list[_Item]] = {}
    for split, items in splits.items():
        for item in items:
            here = _Item(split, item)
            yield from _equal(here, seen)
            yield from _near(here, banded, same)
            _remember(here, seen, banded)


def _equal(here: _Item, seen: Mapping[str, Sequence[_Item]]) -> Iterator[Leak]:
    for other in seen.get(here.item.content_hash, ()):
        if other.split != here.split:
            yield Leak(other.split, other.item.name, here.split, here.item.name, None)


def _near(
    here: _Item,
    banded: Mapping[tuple[int, int], Sequence[_Item]],
    same: Callable[[Pictured, Pictured], bool] | None,
) -> Iterator[Leak]:
    looked_at: set[int] = set()
    for band in _bands(here.item.perceptual_hash):
        for other in banded.get(band, ()):
            if other.split == here.split or id(other) in looked_at:
                continue
            looked_at.add(id(other))
            bits = hashes.hamming(other.item.perceptual_hash, here.item.perceptual_hash)
            if other.item.content_hash == here.item.content_hash or bits is None or bits > NEAR_BITS:
                continue
            if same is None or same(other.item, here.item):
                yield Leak(other.split, other.item.name, here.split, here.item.name, bits)


def _remember(here: _Item, seen: dict[str, list[_Item]], banded: dict[tuple[int, int], list[_Item]]) -> None:
    """One item a split is enough for each picture: several captions of one photo are one leak."""
    known = seen.setdefault(here.item.content_hash, [])
    if any(other.split == here.split for other in known):
        return
    known.append(here)
    for band in _bands(here.item.perceptual_hash):
        banded.setdefault(band, []).append(here)


def _bands(perceptual_hash: str) -> Iterator[tuple[int, int]]:
    """The bits in five pieces, each with its number; none for a flat picture."""
    if not perceptual_hash:
        return
    bits = int(perceptual_hash, 16)
    for number, width in enumerate(BAND_BITS):
        yield number, bits & ((1 << width) - 1)
        bits >>= width
