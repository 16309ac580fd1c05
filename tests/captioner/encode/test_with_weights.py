"""The fetched weights on the photographs that scikit-image carries."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from PIL import Image

from captioner.rooms.encode import ocr, shelf
from captioner.rooms.encode.eyes import Eyes
from captioner.rooms.encode.tags import said
from captioner.types import Sight
from tests.conftest import skip_unless

pytestmark = [pytest.mark.weights, pytest.mark.slow]

HINT = "starter weights; run `python -m captioner fetch starter`"
EXAMPLES = find_spec("skimage")


def photograph(name: str) -> Image.Image:
    skip_unless(EXAMPLES, "scikit-image for its photographs; install the `demo` extra")
    with Image.open(Path(EXAMPLES.submodule_search_locations[0]) / "data" / name) as file:
        return file.convert("RGB")


@pytest.fixture(scope="module")
def eyes() -> Eyes:
    folder = shelf.starter_folder()
    files = (shelf.TAGS, shelf.DETECTOR_GRAPH, shelf.DETECTOR_WEIGHTS)
    skip_unless(all((folder / file.file).exists() for file in files), HINT)
    skip_unless(ocr.models_folder(), "rapidocr with its models; install the `starter` extra")
    return Eyes.load()


def found(sight: Sight) -> set[str]:
    return {detection.label for detection in sight.detections if detection.score >= 0.4}


def test_every_part_is_there(eyes):
    assert eyes.missing == ()


def test_a_cat_is_detected_and_named(eyes):
    sight = eyes.look(photograph("chelsea.png"))
    assert found(sight) == {"cat"}
    assert said(sight.tags).label == "cat"
    assert sight.lines == ()


def test_a_portrait_holds_a_person_and_no_name_for_the_whole(eyes):
    sight = eyes.look(photograph("astronaut.png"), text=False)
    assert "person" in found(sight)
    assert said(sight.tags) is None
    person = next(detection for detection in sight.detections if detection.label == "person")
    assert person.box.area > 0.4


def test_a_cup_is_detected_and_called_espresso(eyes):
    sight = eyes.look(photograph("coffee.png"))
    assert "cup" in found(sight)
    assert said(sight.tags).label == "espresso"
    assert sight.lines == ()  # the "8" that rapidocr sees with its own settings is not text


def test_a_printed_page_is_read_in_order(eyes):
    sight = eyes.look(photograph("page.png"))
    assert sight.lines[0].text == "Region-based segmentation"
    assert "markers of the coins" in sight.lines[1].text
    assert sight.text_share > 0.3
    assert not found(sight)


@pytest.mark.parametrize("name", ["chelsea.png", "coffee.png", "rocket.jpg", "motorcycle_left.png"])
def test_photographs_are_photographs(eyes, name):
    assert eyes.look(photograph(name), text=False).kind == "photo"


def test_the_same_picture_twice_gives_an_equal_sight(eyes):
    picture = photograph("page.png")
    assert eyes.look(picture) == eyes.look(picture.copy())


def test_without_the_detector_the_rest_still_looks(eyes, tmp_path):
    (tmp_path / "starter").mkdir()
    shutil.copy(shelf.starter_folder() / shelf.TAGS.file, tmp_path / "starter")
    fewer = Eyes.load(tmp_path)
    assert fewer.missing == ("detector",)
    assert fewer.versions["detector"] == "absent"
    sight = fewer.look(photograph("chelsea.png"), text=False)
    assert sight.detections == ()
    assert said(sight.tags).label == "cat"
