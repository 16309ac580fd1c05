"""Parts put together, with a randomly initialised encoder; what is absent is named."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import timm
import torch
from PIL import Image

from captioner.rooms.encode import ocr, shelf
from captioner.rooms.encode.conversion import ENCODER, encoder_tensors
from captioner.rooms.encode.eyes import Eyes
from captioner.rooms.encode.kinds import KindClassifier
from captioner.rooms.encode.tags import Taxonomy
from captioner.rooms.encode.towers import Tower, pixels
from captioner.types import Box, Detection, TextLine, WeightsMissing

PICTURE = Image.linear_gradient("L").convert("RGB").resize((320, 240))
LINE = TextLine("Opening hours", 0.97, Box(0.1, 0.1, 0.6, 0.2))


class Reader:
    """Counts what is asked of it."""

    def __init__(self, promises: bool) -> None:
        self.promises, self.asked = promises, []

    def probe(self, image):
        self.asked.append("probe")
        return SimpleNamespace(promises_text=self.promises)

    def read(self, image):
        self.asked.append("read")
        return (LINE,)


class Detector:
    def find(self, image):
        return (Detection("cat", 0.9, Box(0, 0, 1, 1)),)


@pytest.fixture(scope="module")
def tower() -> Tower:
    torch.manual_seed(0)
    return Tower(timm.create_model(ENCODER, pretrained=False))


@pytest.fixture(scope="module")
def taxonomy() -> Taxonomy:
    return Taxonomy.load()


@pytest.fixture(autouse=True)
def rapidocr_version(monkeypatch):
    monkeypatch.setattr(ocr, "version", lambda: "rapidocr 0")


def test_one_pass_gives_probabilities_a_vector_and_tokens(tower):
    encoding = tower.encode(PICTURE)
    assert encoding.tokens.shape == (81, 1280)
    assert encoding.pooled == pytest.approx(encoding.tokens.mean(axis=0), abs=1e-5)
    assert encoding.probabilities.shape == (1000,)
    assert encoding.probabilities.sum() == pytest.approx(1, abs=1e-4)
    with torch.inference_mode():
        whole = tower.model(pixels(PICTURE)).softmax(-1)[0].numpy()
    assert encoding.probabilities == pytest.approx(whole, abs=1e-6)  # the same as timm's own forward


def test_pixels_run_from_minus_one_to_one():
    assert pixels(Image.new("RGB", (9, 9), "white")).unique().tolist() == [1.0]
    assert pixels(Image.new("RGB", (9, 9), "black")).unique().tolist() == [-1.0]


def test_absent_parts_are_named(tower, taxonomy):
    eyes = Eyes(tower, taxonomy)
    sight = eyes.look(PICTURE)
    assert sight.missing == ("detector", "kinds", "ocr")
    assert [eyes.versions[part] for part in sight.missing] == ["absent"] * 3
    assert (sight.detections, sight.kinds, sight.lines, sight.kind) == ((), {}, (), None)
    assert (sight.width_px, sight.height_px) == (320, 240)


def test_present_parts_are_seen_and_versioned(tower, taxonomy):
    eyes = Eyes(tower, taxonomy, detector=Detector(), reader=Reader(True), kinds=KindClassifier.load())
    sight = eyes.look(PICTURE)
    assert sight.missing == ()
    assert sight.detections[0].label == "cat"
    assert sight.lines == (LINE,)
    assert sight.text_share == pytest.approx(0.05)
    assert sum(sight.kinds.values()) == pytest.approx(1, abs=1e-3)
    assert "absent" not in eyes.versions.values()


@pytest.mark.parametrize(
    ("text", "promises", "asked"),
    [
        (None, True, ["probe", "read"]),
        (None, False, ["probe"]),
        (True, False, ["read"]),
        (False, True, []),
    ],
)
def test_text_is_read_when_asked_for_or_promised(tower, taxonomy, text, promises, asked):
    reader = Reader(promises)
    Eyes(tower, taxonomy, reader=reader).look(PICTURE.resize((960, 720)), text=text)
    assert reader.asked == asked


def test_a_small_picture_is_read_without_a_probe(tower, taxonomy):
    reader = Reader(promises=False)
    Eyes(tower, taxonomy, reader=reader).look(PICTURE)
    assert reader.asked == ["read"]


def test_the_same_picture_gives_an_equal_sight(tower, taxonomy):
    eyes = Eyes(tower, taxonomy, kinds=KindClassifier.load())
    assert eyes.look(PICTURE) == eyes.look(PICTURE.copy())


def test_without_the_encoder_there_are_no_eyes(tmp_path):
    with pytest.raises(WeightsMissing, match="fetch starter"):
        Eyes.load(tmp_path)


def test_half_a_detector_is_an_error_not_an_absence(tmp_path):
    (tmp_path / "starter").mkdir()
    (tmp_path / "starter" / shelf.DETECTOR_GRAPH.file).write_text("{}")
    with pytest.raises(WeightsMissing, match=r"centernet\.json"):
        Eyes.load(tmp_path)


def test_the_pickle_is_mapped_by_order_into_plain_arrays(tmp_path):
    """Other key names, equal order; values with channels-last strides have to come out in plain order."""
    state = timm.create_model(ENCODER, pretrained=False).state_dict()
    renamed = {f"_{index}.{name.rpartition('.')[2]}": value for index, (name, value) in enumerate(state.items())}
    first = next(iter(renamed))
    renamed[first] = renamed[first].to(memory_format=torch.channels_last)
    torch.save(renamed, tmp_path / "theirs.pth")
    ours = encoder_tensors(tmp_path / "theirs.pth")
    assert list(ours) == list(state)
    assert all(array.flags["C_CONTIGUOUS"] for array in ours.values())
    assert np.array_equal(ours["conv_stem.weight"], state["conv_stem.weight"].numpy())


def test_a_pickle_of_another_shape_is_refused(tmp_path):
    state = timm.create_model("tf_efficientnet_lite0", pretrained=False).state_dict()
    torch.save(state, tmp_path / "theirs.pth")
    with pytest.raises(WeightsMissing, match="tensors"):
        encoder_tensors(tmp_path / "theirs.pth")
