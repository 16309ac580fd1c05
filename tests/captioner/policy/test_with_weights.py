"""The starter with its real eyes, where the weights are on this machine."""

import io

import pytest
from PIL import Image, ImageDraw, ImageFont

from captioner.prepare import images
from captioner.types import CaptionRequest, PageContext, Role, WeightsMissing

pytestmark = [pytest.mark.weights, pytest.mark.slow]


@pytest.fixture(scope="module")
def starter():
    from captioner.architectures.starter import Starter

    try:
        return Starter.load()
    except WeightsMissing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def notice():
    """A white notice with one line of black words."""
    picture = Image.new("RGB", (900, 300), "white")
    ImageDraw.Draw(picture).text((60, 110), "Closed for repairs", fill="black", font=ImageFont.load_default(80))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return images.take_in(buffer.getvalue(), name="notice.png").large


def test_words_on_a_notice_are_read_and_quoted(starter, notice):
    if "ocr" in starter.eyes.missing:
        pytest.skip("no OCR on this machine")
    [outcome] = starter.describe([CaptionRequest("1", image=notice, role=Role.TEXT)])
    assert outcome.text == "Text: “Closed for repairs”"
    assert outcome.evidence["support"][0]["source"] == "ocr"


def test_the_same_picture_gets_the_same_outcome_twice(starter, notice):
    requests = [CaptionRequest("1", image=notice, context=PageContext(title="Notice"))] * 2
    first, second = starter.describe(requests)
    assert (first.text, first.reasons, first.evidence) == (second.text, second.reasons, second.evidence)


def test_the_versions_name_every_part_that_looks(starter):
    assert {"eyes.tags", "eyes.detector", "eyes.ocr", "eyes.kinds", "gate", "words"} <= set(starter.versions)
