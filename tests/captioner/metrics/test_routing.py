"""The measure of the text router: counts by hand, and the whole command over drawn pictures with real OCR."""

from __future__ import annotations

import json

import pytest
from PIL import Image, ImageDraw, ImageFont

from captioner.metrics import routing as measure
from captioner.metrics.routing import Case
from captioner.metrics.rows import Skipped
from captioner.prepare.routing import TextSigns, lane_of
from captioner.rooms.encode import ocr
from captioner.types import Box, TextLine


def case(letters: int, promised: float, *, kind: str = "photo", look_ms: float = 40.0) -> Case:
    return Case(f"{letters}", kind, lane_of(300, 200, TextSigns(1, promised)), letters, look_ms, 200.0)


def test_shares_are_counted_by_hand():
    """Truth from 20 letters on: 3 with text, of which 2 were sent; 5 without, of which 1 was sent.

    Precision 2/3, recall 2/3, false-positive rate 1/5, lane share 3/8; tokens 3 x 576 + 5 x 64 = 2,048, mean 256.
    """
    cases = [case(30, 25), case(20, 40), case(25, 10), case(19, 20), *(case(0, 0, kind="chart") for _ in range(4))]
    made = measure.report(cases, data="d", skipped=Skipped(), letters=20)
    assert (made["precision"]["k"], made["precision"]["n"]) == (2, 3)
    assert (made["recall"]["k"], made["recall"]["n"]) == (2, 3)
    assert (made["false_positive_rate"]["k"], made["false_positive_rate"]["n"]) == (1, 5)
    assert (made["to_text_lane"]["k"], made["to_text_lane"]["n"]) == (3, 8)
    assert made["tokens"]["mean"] == 256
    assert made["to_text_lane_by_kind"]["chart"]["k"] == 0
    assert made["missed"] == ["25: 25 letters; room for about 10 letters in 1 regions; 20 make a text"]


def test_what_cannot_be_divided_is_none_not_nought():
    made = measure.report([case(0, 0)], data="d", skipped=Skipped(), letters=20)
    assert made["recall"]["share"] is None
    assert made["precision"]["share"] is None
    assert measure.report([], data="d", skipped=Skipped(), letters=20)["look_cpu_ms"] is None


def test_only_sure_wordlike_lines_count_as_letters():
    """ "No entry" has 7 letters; the second line is unsure, the third no words."""
    box = Box(0, 0, 0.5, 0.1)
    lines = [TextLine("No entry", 0.95, box), TextLine("smudged words", 0.7, box), TextLine("12345", 0.99, box)]
    assert measure.sure_letters(lines) == 7


@pytest.fixture
def data(tmp_path):
    """Three pictures, one of them named twice and one of them broken."""
    words = Image.new("RGB", (480, 200), "white")
    for place, text in enumerate(("The quick brown fox", "jumps over the lazy dog")):
        font = ImageFont.load_default(size=24)
        ImageDraw.Draw(words).text((20, 30 + 60 * place), text, fill="black", font=font)
    words.save(tmp_path / "words.png")
    Image.linear_gradient("L").resize((300, 200)).save(tmp_path / "ramp.png")
    (tmp_path / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nnothing")
    names = ("words.png", "words.png", "ramp.png", "broken.png")
    lines = [json.dumps({"image": name, "alt": "A picture", "kind": "photo"}) for name in names]
    (tmp_path / "data.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path / "data.jsonl"


@pytest.mark.skipif(ocr.models_folder() is None, reason="rapidocr or its models are not installed")
def test_the_command_measures_a_file(data, capsys):
    assert measure.main([str(data), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["n"] == 2
    assert (made["recall"]["k"], made["recall"]["n"]) == (1, 1)
    assert (made["false_positive_rate"]["k"], made["false_positive_rate"]["n"]) == (0, 1)
    assert [count["count"] for count in made["skipped"].values()] == [1]
    assert made["look_cpu_ms"]["mean"] > 0


@pytest.mark.skipif(ocr.models_folder() is None, reason="rapidocr or its models are not installed")
def test_a_file_that_is_not_there_is_said_in_one_line(tmp_path, capsys):
    assert measure.main([str(tmp_path / "none.jsonl")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_without_ocr_there_is_nothing_to_measure_against(data, monkeypatch, capsys):
    monkeypatch.setattr(ocr.util, "find_spec", lambda name: None)
    assert measure.main([str(data)]) == 2
    assert "No OCR" in capsys.readouterr().err


def test_a_sample_is_drawn_without_repeats_and_the_same_for_a_seed(data):
    drawn = measure.sampled(data, 2, 7, Skipped())
    assert drawn == measure.sampled(data, 2, 7, Skipped())
    assert len({row.image for row in drawn}) == 2
    assert len(measure.sampled(data, None, 7, Skipped())) == 3


@pytest.mark.parametrize("limit", ["0", "-3", "many"])
def test_a_limit_is_a_number_of_pictures(limit, data, capsys):
    with pytest.raises(SystemExit):
        measure.main([str(data), "--limit", limit])
    assert "whole number" in capsys.readouterr().err
