from __future__ import annotations

import random

from PIL import Image

from captioner.prepare import hashes
from tests.captioner.prepare.pictures import scene


def test_the_content_hash_is_sha256_of_the_bytes():
    """Test vector of FIPS 180-2, appendix B.1."""
    assert hashes.content_hash(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_a_ramp_that_brightens_to_the_right_has_all_bits_set():
    """Each of the 8 x 8 cells is brighter than its left neighbour: 64 ones; mirrored, none is."""
    ramp = Image.linear_gradient("L").transpose(Image.Transpose.ROTATE_90)
    assert hashes.perceptual_hash(ramp) == "f" * 16
    assert hashes.perceptual_hash(ramp.transpose(Image.Transpose.FLIP_LEFT_RIGHT)) == "0" * 16


def test_a_smaller_and_slightly_noisy_copy_is_near_and_a_turned_one_is_far():
    picture = _clouds(1)
    first = hashes.perceptual_hash(picture)
    assert hashes.hamming(first, hashes.perceptual_hash(picture.resize((300, 200)))) <= 2
    assert hashes.hamming(first, hashes.perceptual_hash(picture.transpose(Image.Transpose.ROTATE_90))) >= 12


def test_different_pictures_are_far_apart():
    assert hashes.hamming(hashes.perceptual_hash(_clouds(1)), hashes.perceptual_hash(_clouds(2))) >= 16


def test_flat_pictures_have_no_perceptual_hash_and_no_distance():
    flat = hashes.perceptual_hash(Image.new("RGB", (50, 50), "white"))
    assert flat == ""
    assert hashes.hamming(flat, flat) is None
    assert hashes.hamming(flat, hashes.perceptual_hash(scene())) is None


def test_hamming_counts_differing_bits():
    """0f = 00001111 and 3c = 00111100 differ in four bits."""
    assert hashes.hamming("000000000000000f", "000000000000003c") == 4
    assert hashes.hamming("0" * 16, "f" * 16) == 64


def _clouds(seed: int) -> Image.Image:
    """Smooth blobs, as photographs have; the same for the same seed."""
    source = random.Random(seed)
    cells = Image.frombytes("L", (12, 9), bytes(source.randrange(256) for _ in range(108)))
    return cells.resize((600, 400), Image.Resampling.BICUBIC)
