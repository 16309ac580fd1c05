"""Bytes turned over, cut out and put in at random: whatever they are, an answer comes back."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from captioner.prepare import images
from captioner.prepare.intake import ABSTAIN, ACCEPT, NOTHING_TO_DESCRIBE, REFUSALS, REJECT
from tests.captioner.prepare.pictures import encoded, opened, scene

FRAMES = [scene(48, 32).rotate(angle) for angle in (0, 90, 180)]
SEEDS = {
    "JPEG": encoded(scene(96, 64), "JPEG"),
    "progressive": encoded(scene(96, 64), "JPEG", progressive=True),
    "PNG": encoded(scene(96, 64), "PNG"),
    "palette": encoded(scene(96, 64).quantize(16), "PNG", transparency=3),
    "GIF": encoded(FRAMES[0], "GIF", save_all=True, append_images=FRAMES[1:]),
    "WEBP": encoded(FRAMES[0], "WEBP", save_all=True, append_images=FRAMES[1:]),
    "AVIF": encoded(scene(96, 64), "AVIF"),
    "TIFF": encoded(FRAMES[0], "TIFF", save_all=True, append_images=FRAMES[1:], compression="tiff_lzw"),
}
LIMITS = dataclasses.replace(images.EMBEDDED, seconds=5)
QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@pytest.mark.parametrize("kind", SEEDS)
@settings(max_examples=60, derandomize=True, deadline=None, suppress_health_check=QUIET, database=None)
@given(data=st.data())
def test_damaged_bytes_always_get_a_well_formed_answer(kind, data):
    answer = images.take_in(_damaged(SEEDS[kind], data.draw), limits=LIMITS)
    codes = {ACCEPT: {""}, ABSTAIN: NOTHING_TO_DESCRIBE, REJECT: REFUSALS}
    assert answer.code in codes[answer.outcome]
    assert "killed" not in answer.evidence
    if answer.accepted:
        assert opened(answer.large).mode == "RGB"
        assert max(opened(answer.small).size) <= images.SMALL_PX


@settings(max_examples=100, derandomize=True, deadline=None, suppress_health_check=QUIET, database=None)
@given(data=st.binary(max_size=400), name=st.text(max_size=30), content_type=st.text(max_size=30))
def test_any_bytes_under_any_name_get_an_answer(data, name, content_type):
    assert images.take_in(data, name=name, content_type=content_type).outcome == REJECT


def _damaged(whole: bytes, draw) -> bytes:
    data = bytearray(whole)
    for at in draw(st.lists(st.integers(0, len(data) - 1), max_size=6)):
        data[at] = draw(st.integers(0, 255))
    if draw(st.booleans()):
        start = draw(st.integers(0, len(data)))
        del data[start : start + draw(st.integers(0, 40))]
    return bytes(data)
