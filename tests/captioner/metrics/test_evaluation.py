"""A report over four rows, worked by hand."""

import csv
import json
from pathlib import Path

import pytest

from captioner.metrics import evaluation
from captioner.metrics.evaluation import Result
from captioner.metrics.rows import Row, Skipped
from captioner.types import Abstention, Caption, PageContext, Reason


class Named:
    name = "named"
    versions = {"captioner": "named"}


def row(number, objects, references=()):
    return Row(
        f"line {number}",
        Path(f"{number}.png"),
        PageContext(),
        kind="photo",
        references=references,
        objects=frozenset(objects),
    )


@pytest.fixture
def results():
    """Right; one of two names false; silent; refused at the door."""
    return [
        Result(row(1, ["cat"], ("A cat",)), Caption("1", "A cat"), seconds=1.0),
        Result(row(2, ["cat"]), Caption("2", "A cat and a dog"), seconds=2.0),
        Result(row(3, ["horse", "dog"]), Abstention("3", Reason.OBJECT_UNSUPPORTED), seconds=6.0),
        Result(row(4, ["bird"]), refusal="blank"),
    ]


def test_the_report_is_what_comes_out_by_hand(results):
    """Offered 2 of 4. Mentions: cat, cat, dog; one false: CHAIR_i 1/3, CHAIR_s 1/2. True objects: 1+1+2+1, found 2."""
    skipped = Skipped()
    skipped.add("not JSON", "line 5")
    report = evaluation.report(results, captioner=Named(), data="x.jsonl", skipped=skipped)
    assert (report["n"], report["offered"]) == (4, 2)
    assert report["coverage"]["share"] == 0.5
    assert report["abstained"] == {"object_unsupported": 1}
    assert report["refused"] == {"blank": 1}
    assert report["skipped"]["not JSON"] == {"count": 1, "rows": ["line 5"]}
    found = report["objects"]
    assert (found["all_judged_names_right"]["k"], found["all_judged_names_right"]["n"]) == (1, 2)
    assert (found["CHAIR_s"]["k"], found["CHAIR_s"]["n"]) == (1, 2)
    assert (found["CHAIR_i"]["k"], found["CHAIR_i"]["n"]) == (1, 3)
    assert (found["object_recall"]["k"], found["object_recall"]["n"]) == (2, 5)
    assert found["names"]["false"] == {"dog": 1}
    assert report["by_kind"]["photo"]["n"] == 4
    assert report["seconds"] == {"mean": 3.0, "p50": 2.0, "p95": 6.0}
    assert report["length_graphemes"] == {"mean": 10.0, "max": 15}
    assert report["distinct_texts"]["share"] == 1.0
    assert json.loads(json.dumps(report)) == report


def test_only_rows_with_human_text_count_for_the_upper_bound(results):
    """Row 1 alone has a reference; its text names a cat, which the reference mentions."""
    report = evaluation.report(results, captioner=Named(), data="x", skipped=Skipped())
    assert (report["unmentioned"]["texts"]["k"], report["unmentioned"]["texts"]["n"]) == (0, 1)


def test_nothing_counted_is_none_and_never_zero():
    silent = [Result(row(1, []), Abstention("1", Reason.OBJECT_UNSUPPORTED))]
    report = evaluation.report(silent, captioner=Named(), data="x", skipped=Skipped())
    assert report["objects"]["all_judged_names_right"]["share"] is None
    assert report["objects"]["CHAIR_i"]["interval"] is None
    assert report["length_graphemes"]["mean"] is None
    assert report["unmentioned"] is None


def test_rows_are_written_while_they_come(results, tmp_path):
    path = tmp_path / "rows.csv"
    stream = evaluation.write_rows(results, path)
    next(stream)
    next(stream)
    assert len(list(csv.reader(path.open(encoding="utf-8")))) == 3
    assert len(list(stream)) == 2
    written = list(csv.DictReader(path.open(encoding="utf-8")))
    assert [line["text"] for line in written] == ["A cat", "A cat and a dog", "", ""]
    assert written[1]["false"] == "dog"
    assert written[3]["reasons"] == "refused: blank"


def test_a_score_is_the_gates_own_or_that_of_the_weakest_evidence():
    weak = {"support": [{"score": 0.9}, {"score": 0.4}]}
    assert evaluation.score_of(Caption("1", "A cat", evidence={**weak, "score": 0.7})) == 0.7
    assert evaluation.score_of(Caption("1", "A cat", evidence={**weak, "score": None})) == 0.4
    assert evaluation.score_of(Caption("1", "A cat")) == 0.0
    assert evaluation.score_of(Abstention("1", Reason.OBJECT_UNSUPPORTED, evidence=weak)) is None
    assert evaluation.score_of(None) is None
