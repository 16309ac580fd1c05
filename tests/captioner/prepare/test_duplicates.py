"""The same picture or only alike: bytes decide, a near hash is a candidate, the embedding confirms, doubt is a no.

The stand-in embedding is a colour thumbnail: like an encoder's it hardly moves under scaling and noise, unlike a
hash it sees colour and place.
"""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from captioner.prepare import duplicates, hashes
from captioner.prepare.duplicates import LEAK, OFFER, Print, Rules, same_picture
from captioner.types import Kind

ALONG = np.array([1.0, 0.0])
ASKEW = np.array([1.0, 0.2])  # cosine 1 / sqrt(1.04) = .981
ACROSS = np.array([0.0, 1.0])


def some(code: int, vector: np.ndarray | None = ALONG, kind: Kind | None = Kind.PHOTO, content: str = "") -> Print:
    return Print(content, f"{code:016x}", kind, vector)


def seen(image: Image.Image, kind: Kind = Kind.PHOTO) -> Print:
    """A print of a real picture; the vector is a centred 16 x 12 colour thumbnail."""
    small = np.asarray(image.convert("RGB").resize((16, 12), Image.Resampling.BOX), dtype=np.float32)
    vector = (small - small.mean()).ravel()
    return Print(hashes.content_hash(image.tobytes()), hashes.perceptual_hash(image), kind, vector)


def clouds(seed: int, size: tuple[int, int] = (600, 400)) -> Image.Image:
    """Smooth coloured blobs, as photographs have; the same for the same seed."""
    source = random.Random(seed)
    cells = Image.frombytes("RGB", (12, 9), bytes(source.randrange(256) for _ in range(324)))
    return cells.resize(size, Image.Resampling.BICUBIC)


def chart(heights: list[int]) -> Image.Image:
    picture = Image.new("RGB", (400, 300), "white")
    pen = ImageDraw.Draw(picture)
    pen.line([(30, 10), (30, 270), (390, 270)], fill="black", width=3)
    for place, height in enumerate(heights):
        pen.rectangle((50 + 60 * place, 270 - height, 90 + 60 * place, 270), fill="navy")
    return picture


def logo(colour: str) -> Image.Image:
    picture = Image.new("RGB", (200, 200), "white")
    ImageDraw.Draw(picture).ellipse((30, 50, 150, 170), fill=colour)
    return picture


def test_a_smaller_and_recompressed_copy_is_the_same_picture():
    verdict = same_picture(seen(clouds(1)), seen(clouds(1).resize((300, 200))))
    assert (verdict.same, verdict.how) == (True, "embedding")


def test_equal_bytes_are_the_same_picture_of_any_kind():
    for kind in [*Kind, None]:
        verdict = same_picture(some(1, None, kind, content="aa"), some(1, None, kind, content="aa"))
        assert (verdict.same, verdict.how) == (True, "content")


def test_unknown_bytes_equal_nothing():
    assert not same_picture(Print(""), Print("")).same


def test_two_crops_of_one_scene_are_two_pictures():
    scene = clouds(3)
    left, right = scene.crop((0, 0, 400, 400)), scene.crop((200, 0, 600, 400))
    assert same_picture(seen(left), seen(right)).how == "hash"


def test_a_photo_and_its_mirror_are_two_pictures():
    """Left and right may be in the text."""
    verdict = same_picture(seen(clouds(4)), seen(clouds(4).transpose(Image.Transpose.FLIP_LEFT_RIGHT)))
    assert (verdict.same, verdict.how) == (False, "hash")


def test_two_charts_on_the_same_axes_are_two_pictures_although_hash_and_embedding_are_near():
    one, two = (seen(chart(bars), Kind.CHART) for bars in ([100, 180, 60, 220, 140], [100, 180, 60, 200, 150]))
    assert hashes.hamming(one.perceptual_hash, two.perceptual_hash) <= OFFER.bits
    assert duplicates.cosine(one.vector, two.vector) >= OFFER.cosine
    verdict = same_picture(one, two)
    assert (verdict.same, verdict.how) == (False, "kind")


def test_a_recoloured_logo_is_another_logo():
    """The hash sees no colour; the kind forbids it, and were it called a photo the embedding would."""
    red, blue = logo("#d03030"), logo("#3048d0")
    assert hashes.hamming(hashes.perceptual_hash(red), hashes.perceptual_hash(blue)) <= OFFER.bits
    assert same_picture(seen(red, Kind.OTHER), seen(blue, Kind.OTHER)).how == "kind"
    assert same_picture(seen(red), seen(blue)).how == "embedding"
    assert not same_picture(seen(red), seen(blue)).same


@pytest.mark.parametrize("kind", [None, *(kind for kind in Kind if kind not in (Kind.PHOTO, Kind.ART))])
def test_only_photos_and_paintings_may_be_alike(kind):
    assert same_picture(some(1, kind=kind), some(1, kind=kind)).how == "kind"
    assert same_picture(some(1), some(1, kind=kind)).how == "kind"


def test_a_guessed_kind_is_no_kind():
    assert duplicates.sure_kind({"photo": 0.41, "diagram": 0.35, "text": 0.24}) is None
    assert duplicates.sure_kind({"photo": 0.6, "diagram": 0.4}) is Kind.PHOTO
    assert duplicates.sure_kind({}) is None


def test_a_flat_picture_is_like_no_other():
    flat = seen(Image.new("RGB", (50, 50), "white"))
    assert same_picture(flat, seen(Image.new("RGB", (60, 60), "white"))).how == "flat"


def test_a_near_hash_alone_is_no_proof():
    assert same_picture(some(1, None), some(1, None)).how == "unseen"
    assert not same_picture(some(1, ALONG), some(1, ACROSS)).same
    assert same_picture(some(1, ALONG), some(1, ASKEW)).same


def test_the_limits_are_inclusive():
    rules = Rules(bits=2, cosine=1.0, kinds=OFFER.kinds)
    assert same_picture(some(0b00), some(0b11), rules).same
    assert not same_picture(some(0b00), some(0b111), rules).same


def test_a_vector_without_length_is_like_nothing():
    assert duplicates.cosine(np.zeros(2), ALONG) == 0.0


def test_half_precision_does_not_overflow():
    """1,280 squares of 300 are 1.2e8; half precision ends at 65,504."""
    large = np.full(1280, 300, dtype=np.float16)
    assert duplicates.cosine(large, large) == pytest.approx(1.0)


def test_what_may_be_offered_is_no_leak_too():
    """Whoever drops leaks drops all that would be offered."""
    assert LEAK.bits >= OFFER.bits
    assert LEAK.cosine <= OFFER.cosine
    assert LEAK.kinds > OFFER.kinds


PRINTS = st.builds(
    some,
    st.integers(0, 2**64 - 1) | st.integers(0, 7) | st.just(2**64 - 1),
    st.sampled_from([ALONG, ASKEW, ACROSS, None]),
    st.sampled_from([Kind.PHOTO, Kind.ART, Kind.CHART, None]),
    st.sampled_from(["", "aa", "bb"]),
)


@given(PRINTS, PRINTS)
def test_the_order_of_two_pictures_does_not_matter(one, two):
    assert same_picture(one, two) == same_picture(two, one)


@given(st.lists(PRINTS, max_size=12), st.sampled_from([OFFER, LEAK]))
def test_all_pairs_are_found_that_a_look_at_each_pair_finds(prints, rules):
    slow = [(a, b, same_picture(prints[a], prints[b], rules)) for a, b in itertools.combinations(range(len(prints)), 2)]
    assert list(duplicates.near_duplicates(prints, rules=rules)) == [pair for pair in slow if pair[2].same]


@given(st.lists(PRINTS, max_size=8), st.lists(PRINTS, max_size=8))
def test_two_lists_are_compared_crosswise(first, second):
    found = {(a, b) for a, b, _ in duplicates.near_duplicates(first, second, LEAK)}
    places = itertools.product(range(len(first)), range(len(second)))
    assert found == {(a, b) for a, b in places if same_picture(first[a], second[b], LEAK).same}


def test_pairs_are_found_beyond_one_block():
    prints = [Print(f"{place:016x}", "", Kind.PHOTO) for place in range(1, duplicates.ROWS + 50)]
    prints.append(prints[3])
    assert [(a, b) for a, b, _ in duplicates.near_duplicates(prints)] == [(3, len(prints) - 1)]


@pytest.mark.slow
def test_twelve_thousand_pictures_are_compared_in_seconds():
    """72 million pairs; 1.4 CPU-s were measured. Thirty planted copies are found, each one bit off."""
    source = random.Random(2)
    codes = [source.getrandbits(64) for _ in range(12_000)]
    prints = [some(code) for code in codes] + [some(code ^ 1) for code in codes[:30]]
    found = {(a, b) for a, b, _ in duplicates.near_duplicates(prints)}
    assert found == {(place, 12_000 + place) for place in range(30)}
