"""Every file of the corpus of nasty images, under the limits of the embedded captioner and under the default ones."""

from __future__ import annotations

import dataclasses
import json
import time

import pytest

from captioner.prepare import images
from tests.captioner.prepare.pictures import mean, opened, red_corners, spread

TOLERANCE = 6  # levels that JPEG may move a mean by


@pytest.fixture(scope="module", params=[images.EMBEDDED, images.Limits()], ids=["embedded", "default"])
def answers(request, corpus):
    """{name: (manifest entry, answer, seconds)}."""
    folder, manifest = corpus
    found = {}
    for name, entry in manifest.items():
        started = time.monotonic()
        sent = {"name": entry.get("upload_name", name), "content_type": entry.get("content_type", "")}
        answer = images.take_in((folder / name).read_bytes(), **sent, limits=request.param)
        found[name] = entry, answer, time.monotonic() - started
    return found


def test_every_file_gets_an_outcome_that_counts_as_right(answers):
    assert len(answers) > 60
    assert {name: answer.words for name, (entry, answer, _) in answers.items() if not _is_right(answer, entry)} == {}


def test_every_refusal_and_abstention_tells_the_author_why(answers):
    silent = [name for name, (_, answer, _) in answers.items() if not answer.accepted and len(answer.detail) < 20]
    assert silent == []


def test_accepted_pictures_are_as_the_manifest_expects(answers):
    wrong = {}
    for name, (entry, answer, _) in answers.items():
        if answer.accepted and (complaints := list(_complaints(answer, entry.get("expect", {})))):
            wrong[name] = complaints
    assert wrong == {}


def test_no_file_takes_longer_than_the_clock_allows(answers):
    assert {name: seconds for name, (*_, seconds) in answers.items() if seconds > 10} == {}


def test_a_mismatch_is_refused_where_the_limits_say_so(corpus):
    folder, manifest = corpus
    strict = dataclasses.replace(images.EMBEDDED, refuse_mismatch=True)
    named = [name for name, entry in manifest.items() if "REJECT:type_mismatch" in entry["outcomes"]]
    for name in named:
        answer = images.take_in((folder / name).read_bytes(), name=name, limits=strict)
        assert answer.words in manifest[name]["outcomes"], name
    assert any(
        images.take_in((folder / name).read_bytes(), name=name, limits=strict).code == "type_mismatch" for name in named
    )


def _is_right(answer: images.Intake, entry: dict) -> bool:
    given = {f"REJECT:{answer.code}"} if answer.outcome == "REJECT" else {answer.outcome}
    if answer.accepted:
        given |= {f"ACCEPT:{flag}" for flag in answer.flags}
    return not given.isdisjoint(entry["outcomes"])


def _complaints(answer: images.Intake, expect: dict):
    large, small = opened(answer.large), opened(answer.small)
    if large.mode != "RGB" or max(large.size) > images.LARGE_PX or max(small.size) > images.SMALL_PX:
        yield f"{large.mode} {large.size} {small.size}"
    for picture in (large, small):
        if picture.info.keys() - {"jfif", "jfif_version", "jfif_unit", "jfif_density"}:
            yield f"metadata {sorted(picture.info)}"
        if "red_corner" in expect and red_corners(picture) != [expect["red_corner"]]:
            yield f"red at {red_corners(picture)}"
    if "size" in expect and [answer.width_px, answer.height_px] != expect["size"]:
        yield f"size {answer.width_px} x {answer.height_px}"
    if "size" in expect and max(expect["size"]) <= images.LARGE_PX and list(large.size) != expect["size"]:
        yield f"derivative {large.size}"
    if "mean" in expect and not expect["mean"][0] - TOLERANCE <= mean(large) <= expect["mean"][1] + TOLERANCE:
        yield f"mean {mean(large)}"
    if "min_std" in expect and spread(large) < expect["min_std"] - TOLERANCE:
        yield f"spread {spread(large)}"
    told = json.dumps(answer.as_json()).encode()
    for text in expect.get("absent", ()):
        if text.encode() in answer.small + answer.large + told:
            yield f"still there: {text}"
