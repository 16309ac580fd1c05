"""When two pictures count as the same one: by their bytes, or by a near hash that an embedding confirms. Numpy only.

Knows no encoder: vectors come in. A verdict only lets text be offered; text of another page is never reused unseen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from captioner.prepare import hashes
from captioner.prepare.routing import SURE_KIND
from captioner.types import Kind

ROWS = 512  # compared at once: 512 x 12,000 x 8 bytes = 50 MB
HASH_BITS = 64


@dataclass(frozen=True, slots=True, eq=False)
class Print:
    """What is kept of a picture to find it again.

    :ivar content_hash: of the original bytes, hex digits; "" where unknown.
    :ivar perceptual_hash: `hashes.perceptual_hash`; "" for a flat picture.
    :ivar kind: None where nothing decided it surely, see `sure_kind`.
    :ivar vector: (C,) pooled features of the encoder, not normalised; None where it was not looked at.
    """

    content_hash: str
    perceptual_hash: str = ""
    kind: Kind | None = None
    vector: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """What it takes besides equal bytes.

    :ivar bits: perceptual hashes may differ in so many of 64.
    :ivar cosine: the vectors must be at least this alike, -1..1.
    :ivar kinds: only pictures of these kinds, None among them for an undecided one.
    """

    bits: int
    cosine: float
    kinds: frozenset[Kind | None]


# Two charts on the same axes differ in a handful of bits, and a recoloured logo in none: only photos and paintings.
# Mars and Jupiter differ in 1 bit and are .67 alike; the most alike pair of two pictures below .9 was .869. Of the
# 172 pairs of textbook photos that pass, 171 show the same picture (docs/routing.md).
OFFER = Rules(bits=6, cosine=0.9, kinds=frozenset({Kind.PHOTO, Kind.ART}))
# To keep train and test apart a wrong match costs one train item, a missed one a flattered figure: all kinds, loose.
LEAK = Rules(bits=10, cosine=0.8, kinds=frozenset({*Kind, None}))


@dataclass(frozen=True, slots=True)
class Verdict:
    """:ivar how: what decided it: "content", "embedding", or what spoke against: "hash", "kind", "flat", "unseen"."""

    same: bool
    how: str
    why: str


def sure_kind(kinds: Mapping[str, float]) -> Kind | None:
    """The kind for a `Print` from `Sight.kinds`: a periodic table was called a photo at .41."""
    name = max(kinds, key=lambda one: kinds[one], default="")
    return Kind(name) if name and kinds[name] >= SURE_KIND else None


def same_picture(first: Print, second: Print, rules: Rules = OFFER) -> Verdict:
    """Whether text written for one may be offered for the other. Symmetric; doubt is a no."""
    if first.content_hash and first.content_hash == second.content_hash:
        return Verdict(True, "content", "The files are equal byte for byte.")
    if excluded := sorted(str(one.kind or "undecided") for one in (first, second) if one.kind not in rules.kinds):
        return Verdict(False, "kind", f"Only equal files count for this kind of picture: {', '.join(excluded)}.")
    bits = hashes.hamming(first.perceptual_hash, second.perceptual_hash)
    if bits is None:
        return Verdict(False, "flat", "A nearly flat picture has no perceptual hash.")
    if bits > rules.bits:
        return Verdict(False, "hash", f"The perceptual hashes differ in {bits} of {HASH_BITS} bits; {rules.bits} may.")
    if first.vector is None or second.vector is None:
        return Verdict(False, "unseen", f"The hashes differ in {bits} bits, and no embedding confirms it.")
    alike = cosine(first.vector, second.vector)
    words = f"The hashes differ in {bits} bits, the embeddings are {alike:.3f} alike; {rules.cosine} is asked."
    return Verdict(bool(alike >= rules.cosine), "embedding", words)


def near_duplicates(
    first: Sequence[Print], second: Sequence[Print] | None = None, rules: Rules = OFFER
) -> Iterator[tuple[int, int, Verdict]]:
    """All pairs that `same_picture` calls the same, in order: (place in `first`, place in `second`, verdict).

    Without `second` each pair within `first` comes once, the smaller place first. Hashes are compared all against
    all, 64 bits at a time; only pairs with near hashes or equal bytes are looked at closer.
    """
    others = first if second is None else second
    for one, other in _candidates(first, others, rules.bits):
        if second is None and one >= other:
            continue
        verdict = same_picture(first[one], others[other], rules)
        if verdict.same:
            yield one, other, verdict


def cosine(first: np.ndarray, second: np.ndarray) -> float:
    """Of the angle between two vectors, -1..1; 0 where one has no length, since it says nothing."""
    one, two = first.astype(np.float64), second.astype(np.float64)
    length = float(np.linalg.norm(one) * np.linalg.norm(two))
    return float(one @ two) / length if length > 0 else 0.0


def _candidates(first: Sequence[Print], second: Sequence[Print], bits: int) -> Iterator[tuple[int, int]]:
    """Places of pairs with near hashes or equal bytes, in order."""
    one, two = _columns(first), _columns(second)
    for start in range(0, len(first), ROWS):
        codes, hashed, contents = (column[start : start + ROWS, None] for column in one)
        near = np.bitwise_count(codes ^ two[0]) <= bits
        equal = (contents == two[2]) & (contents != 0)
        pairs = np.argwhere((near & hashed & two[1]) | equal)
        yield from ((start + int(row), int(column)) for row, column in pairs)


def _columns(prints: Sequence[Print]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(N,) hashes as uint64, whether there is one, and the first 64 bits of the content hash (0: unknown)."""
    codes = np.array([int(one.perceptual_hash or "0", 16) for one in prints], dtype=np.uint64)
    hashed = np.array([bool(one.perceptual_hash) for one in prints], dtype=bool)
    contents = np.array([int(one.content_hash[:16] or "0", 16) for one in prints], dtype=np.uint64)
    return codes, hashed, contents
