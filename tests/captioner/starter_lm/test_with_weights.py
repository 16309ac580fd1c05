"""The shipped checkpoint with its language model, and the comparison command, where the weights are on this machine."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from PIL import Image

from captioner.__main__ import main
from captioner.loading import load_captioner
from captioner.prepare import images
from captioner.rooms.encode import shelf
from captioner.types import CaptionRequest, PageContext, WeightsMissing
from tests.conftest import skip_unless

pytestmark = [pytest.mark.weights, pytest.mark.slow]

CAPTION = "Eileen Collins commanded the Space Shuttle in 1999."


@pytest.fixture(scope="module", params=["starter-page", "starter-lm"])
def captioner(request):
    try:
        return load_captioner(request.param)
    except WeightsMissing as error:
        skip_unless(False, f"weights of {request.param}: {error}")


@pytest.fixture(scope="module")
def astronaut() -> bytes:
    found = importlib.util.find_spec("skimage")
    skip_unless(found, "scikit-image for its photographs; install the `demo` extra")
    picture = Path(found.submodule_search_locations[0]) / "data" / "astronaut.png"
    return images.take_in(picture.read_bytes(), name=picture.name).large


def test_the_caption_names_the_person_who_is_seen(captioner, astronaut):
    [outcome] = captioner.describe([CaptionRequest("1", image=astronaut, context=PageContext(caption=CAPTION))])
    assert outcome.text == "Eileen Collins"
    assert {support["source"] for support in outcome.evidence["support"]} == {"page", "detector"}


def test_without_a_caption_nobody_is_named(captioner, astronaut):
    page = PageContext(title="Evening talk", before="Eileen Collins will speak about the Shuttle.")
    [outcome] = captioner.describe([CaptionRequest("1", image=astronaut, context=page)])
    assert outcome.text in ("A person", "A person and a flag")


def test_the_comparison_has_one_line_a_system_on_the_same_rows(tmp_path, astronaut, capsys):
    there = shelf.weights_folder() / "smollm2-135m-instruct" / "model.safetensors"
    skip_unless(there.is_file(), "weights of starter-lm; run `python -m captioner fetch starter-lm`")
    (tmp_path / "images").mkdir()
    rows = []
    for number in range(2):
        name = f"images/{number}.webp"
        with Image.open(
            Path(importlib.util.find_spec("skimage").submodule_search_locations[0]) / "data" / "astronaut.png"
        ) as file:
            file.convert("RGB").rotate(number).save(tmp_path / name)
        rows.append(
            {"image": name, "alt": "An astronaut in an orange suit smiles.", "caption": CAPTION, "kind": "photo"}
        )
    data = tmp_path / "rows.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    texts = tmp_path / "texts.csv"
    command = ["evaluate", str(data), "--json", "--systems", "a,b,d,e,f,g,r", "--texts", str(texts)]
    assert main(command) == 0
    table = json.loads(capsys.readouterr().out)["table"]
    assert [line["system"] for line in table["systems"]] == ["a", "b", "d", "e", "f", "g", "r"]
    assert all(line["n"] == 2 for line in table["systems"])
    by_name = {line["system"]: line for line in table["systems"]}
    assert by_name["g"]["copied"]["n"] == 2
    assert set(by_name["f"]["shuffled_image"]) >= {"tokens_and_tags", "tokens_only"}
    assert texts.read_text("utf-8").splitlines()[0].endswith("b,d,r,g,f,e,a")


def test_a_system_that_does_not_exist_is_one_line(tmp_path, capsys):
    data = tmp_path / "rows.jsonl"
    Image.new("RGB", (300, 300), "red").save(tmp_path / "a.png")
    data.write_text(json.dumps({"image": "a.png", "alt": "A red square."}) + "\n", "utf-8")
    assert main(["evaluate", str(data), "--systems", "z"]) == 2
    assert "no system is called z" in capsys.readouterr().err
