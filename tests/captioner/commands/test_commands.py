"""The command line as a person uses it: through a fresh process, with files that exist and files that do not."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

import captioner

ROOT = Path(captioner.__file__).parents[1]  # tests run from a checkout, where the package need not be installed


def run(*arguments, folder):
    return subprocess.run(
        [sys.executable, "-m", "captioner", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


@pytest.fixture
def picture(tmp_path):
    path = tmp_path / "photo.png"
    gradient = Image.linear_gradient("L").resize((64, 48))
    Image.merge(
        "RGB", (gradient, gradient.point(lambda value: value // 4), gradient.point(lambda value: value // 4))
    ).save(path)
    return path


@pytest.fixture
def blank(tmp_path):
    Image.new("RGB", (64, 48), "white").save(tmp_path / "blank.png")
    return tmp_path / "blank.png"


def test_describe_prints_a_text_and_its_evidence(picture, tmp_path):
    done = run("describe", picture, "--captioner", "canned", "--title", "Colours", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("A wide picture, mostly ")
    assert "pixels 1.00" in done.stdout


def test_describe_prints_an_abstention_as_an_answer(picture, tmp_path):
    done = run("describe", picture, "--captioner", "canned", "--role", "decorative", folder=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("No text: declared_decorative")


def test_describe_as_json_is_the_whole_outcome(picture, tmp_path):
    arguments = ["--heading", "A", "--heading", "B", "--link", "/x", "--link-label", "X", "--language", "pl", "--json"]
    done = run("describe", picture, "--captioner", "canned", *arguments, folder=tmp_path)
    outcome = json.loads(done.stdout)
    assert outcome["reasons"] == ["language_unsupported"]
    assert outcome["language"] == "pl"
    assert outcome["versions"]["captioner"] == "canned"


def test_describe_says_why_a_picture_is_refused(blank, tmp_path):
    done = run("describe", blank, "--captioner", "canned", folder=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("Refused (blank): ")
    record = json.loads(run("describe", blank, "--captioner", "canned", "--json", folder=tmp_path).stdout)
    assert record["refused"] == "blank"
    assert record["detail"]


WRONG = [
    (["describe", "gone.png"], "cannot read gone.png: No such file"),
    (["describe", "."], "cannot read .: Is a directory"),
    (["describe", "photo.png", "--captioner", "nobody"], "No captioner is called 'nobody'"),
    (["describe", "photo.png", "--captioner", "no.such:Thing"], "cannot be imported"),
    (["evaluate", "gone.jsonl", "--captioner", "canned"], "no such file: gone.jsonl"),
    (["evaluate", "empty.jsonl", "--captioner", "canned"], "no usable row"),
    (["evaluate", "data.jsonl", "--captioner", "canned", "--out", "gone/rows.csv"], "cannot write gone/rows.csv"),
]


@pytest.mark.parametrize(("arguments", "words"), WRONG)
def test_what_cannot_be_used_is_one_line_and_status_two(picture, tmp_path, arguments, words):
    (tmp_path / "empty.jsonl").write_text("{nope\n", encoding="utf-8")
    (tmp_path / "data.jsonl").write_text(json.dumps({"image": "photo.png", "alt": "x"}), encoding="utf-8")
    done = run(*arguments, folder=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_inspect_tells_of_the_others_beside_a_missing_file(picture, tmp_path):
    done = run("inspect", "gone.png", "photo.png", folder=tmp_path)
    assert done.returncode == 2
    assert "no such file: gone.png" in done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [
        ["gone.png", "REJECT:unreadable:"],
        ["photo.png", "ACCEPT"],
    ]


USAGE = [
    [],
    ["paint"],
    ["describe"],
    ["describe", "x", "--role", "pretty"],
    ["evaluate", "x", "--limit", "0"],
    ["fetch", "x"],
]


@pytest.mark.parametrize("arguments", USAGE)
def test_wrong_usage_is_status_two(tmp_path, arguments):
    done = run(*arguments, folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: captioner")


def test_inspect_gives_a_line_a_file(picture, blank, tmp_path):
    done = run("inspect", picture, blank, folder=tmp_path)
    assert done.returncode == 0
    first, second = done.stdout.splitlines()
    assert "ACCEPT" in first
    assert "ABSTAIN" in second


def test_inspect_as_json_is_a_list(picture, tmp_path):
    [record] = json.loads(run("inspect", picture, "--json", folder=tmp_path).stdout)
    assert record["outcome"] == "ACCEPT"


def test_evaluate_reports_rows_and_names_the_broken_ones(picture, blank, tmp_path):
    records = [
        json.dumps({"image": "photo.png", "captions": ["A red field"], "objects": ["cat"]}),
        json.dumps({"image": "blank.png", "alt": "white"}),
        json.dumps({"image": "gone.png", "alt": "x"}),
        json.dumps({"image": "photo.png"}),
        "{nope",
    ]
    (tmp_path / "data.jsonl").write_text("\n".join(records), encoding="utf-8")
    done = run("evaluate", "data.jsonl", "--captioner", "canned", "--json", "--out", "rows.csv", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["data"], report["captioner"], report["n"], report["offered"]) == ("data.jsonl", "canned", 2, 1)
    assert report["refused"] == {"blank": 1}
    assert report["skipped"]["image file missing"]["rows"] == ["line 3: gone.png"]
    assert set(report["skipped"]) == {"image file missing", "no human text and no labels", "not JSON"}
    assert (tmp_path / "rows.csv").read_text(encoding="utf-8").count("\n") == 3


def test_evaluate_in_words_and_with_a_limit(picture, tmp_path):
    record = json.dumps({"image": "photo.png", "alt": "A red field"})
    (tmp_path / "data.jsonl").write_text("\n".join([record] * 3), encoding="utf-8")
    done = run("evaluate", "data.jsonl", "--captioner", "canned", "--limit", "2", folder=tmp_path)
    assert done.returncode == 0
    assert "on data.jsonl: 2 rows" in done.stdout
    assert "offered: 1.000 (2 of 2, 95 %" in done.stdout
