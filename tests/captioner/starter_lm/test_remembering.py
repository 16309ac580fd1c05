"""Eyes that remember: a picture is looked at once under equal versions, and comes back equal."""

import pytest
from PIL import Image

from captioner.rooms.encode.remembering import RememberingEyes
from captioner.types import Sight
from tests.captioner.policy import sights
from tests.captioner.policy.sights import line, seen, sight, tag

RED, BLUE = Image.new("RGB", (6, 4), "red"), Image.new("RGB", (6, 4), "blue")
FULL = sight(
    "art", seen("person", 0.1 + 0.2), seen("dog"), tags=[tag("beagle", 1 / 3)], lines=[line("Öffnet „um“ 8")],
    missing=("ocr",),
)  # fmt: skip


def eyes(given: Sight = FULL, **versions: str):
    made = sights.Eyes(given)
    made.versions = {**sights.Eyes.versions, **versions}  # type: ignore[misc]
    made.tower = object()  # type: ignore[attr-defined]
    return made


@pytest.mark.parametrize("given", [FULL, sight(""), sight("photo")])
def test_the_sight_from_disk_is_equal(given, tmp_path):
    first = RememberingEyes(eyes(given), tmp_path).look(RED)
    stored = RememberingEyes(eyes(sight("chart")), tmp_path).look(RED)
    assert first == stored == given


def test_an_equal_picture_is_looked_at_once(tmp_path):
    remembering = RememberingEyes(eyes(), tmp_path)
    remembering.look(RED)
    remembering.look(RED.copy())
    assert remembering.eyes.looks == 1


@pytest.mark.parametrize("other", [BLUE, RED.resize((4, 6)), RED.convert("L"), RED.convert("RGBA")])
def test_another_picture_is_looked_at(other, tmp_path):
    """6 x 4 and 4 x 6 of one colour have the same bytes, and are two pictures."""
    remembering = RememberingEyes(eyes(), tmp_path)
    remembering.look(RED)
    remembering.look(other)
    assert remembering.eyes.looks == 2


def test_looking_with_and_without_reading_are_two_looks(tmp_path):
    remembering = RememberingEyes(eyes(), tmp_path)
    for text in (None, True, False, None, True, False):
        remembering.look(RED, text=text)
    assert remembering.eyes.looks == 3


def test_another_version_of_the_eyes_looks_again(tmp_path):
    RememberingEyes(eyes(), tmp_path).look(RED)
    newer = RememberingEyes(eyes(sight("photo"), detector="newer"), tmp_path)
    assert newer.look(RED) == sight("photo")
    assert newer.eyes.looks == 1


def test_it_passes_for_the_eyes_it_holds(tmp_path):
    inner = eyes()
    remembering = RememberingEyes(inner, tmp_path)
    assert (remembering.versions, remembering.tower) == (inner.versions, inner.tower)


def test_no_half_written_file_stays(tmp_path):
    RememberingEyes(eyes(), tmp_path).look(RED)
    assert {place.suffix for place in tmp_path.rglob("*") if place.is_file()} == {".json"}
