"""What `evaluate` says about a comparison before it begins: options that do nothing, systems that cannot be made."""

from __future__ import annotations

import json

import pytest

from captioner.__main__ import main, parser
from captioner.commands import compare


def asked(*arguments):
    return parser().parse_args(["evaluate", "data.jsonl", *arguments])


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        (
            ["--compare"],
            {"c": "--train and --features", **dict.fromkeys(("h-e", "h-f", "h-g"), "--without-lora")},
        ),
        (["--compare", "--train", "t.jsonl", "--without-lora", "folder"], {"c": "--features"}),
        (["--compare", "--train", "t.jsonl", "--features", "f", "--without-lora", "folder"], {}),
        (["--systems", "d,c"], {"c": "--train and --features"}),
        (["--systems", "d,r"], {}),
        ([], {}),
    ],
)
def test_a_system_that_lacks_its_options_is_named_with_them(arguments, left):
    assert compare.left_out(asked(*arguments)) == left


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--texts", "texts.csv"], "--texts"),
        (["--writer", "folder"], "--writer"),
        (["--sights", "folder"], "--sights"),
        (["--train", "t.jsonl", "--without-lora", "folder"], "--without-lora, --train"),
    ],
)
def test_options_of_a_comparison_without_one_are_refused(arguments, named, tmp_path, capsys):
    """Before anything is looked at: the data file is real and holds no row."""
    (tmp_path / "data.jsonl").write_text("{}\n")
    assert main(["evaluate", str(tmp_path / "data.jsonl"), *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == f"captioner evaluate: {named}: only a comparison reads this; add --compare or --systems\n"


@pytest.mark.slow
@pytest.mark.weights
def test_what_is_left_out_is_told_once_and_stands_in_the_report(tmp_path, capsys):
    from PIL import Image

    Image.linear_gradient("L").resize((64, 48)).save(tmp_path / "a.png")
    (tmp_path / "data.jsonl").write_text(json.dumps({"image": "a.png", "alt": "A grey ramp"}) + "\n")
    assert main(["evaluate", str(tmp_path / "data.jsonl"), "--json", "--systems", "b,c,h-f"]) == 0
    told = capsys.readouterr()
    assert told.err.count("left out: c (needs --train and --features), h-f (needs --without-lora)\n") == 1
    table = json.loads(told.out)["table"]
    assert table["left_out"] == {"c": "--train and --features", "h-f": "--without-lora"}
    assert [line["system"] for line in table["systems"]] == ["b"]


class Eyes:
    versions = {"eyes": "none"}


@pytest.mark.parametrize("name", ["starter", "starter-page", "starter-lm", "canned"])
def test_a_starter_is_evaluated_on_the_eyes_of_the_comparison(name):
    """Its key is that of the captioner that is loaded by name on such eyes; others bring eyes of their own."""
    eyes = Eyes()
    made = compare.on_eyes(name, eyes)
    if name in ("starter", "starter-page"):
        assert (made.name, made.eyes) == (name, eyes)
    else:
        assert made is None
