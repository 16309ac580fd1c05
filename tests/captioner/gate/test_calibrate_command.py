"""The command: CSV in, calibration out, and the sentence that may be said."""

import argparse
import csv
import io
import json
from pathlib import Path

import pytest

from captioner.commands import calibrate
from captioner.metrics import evaluation
from captioner.metrics.evaluation import Result
from captioner.metrics.rows import Row
from captioner.rooms.gate import calibration
from captioner.types import Abstention, Caption, PageContext, Reason

ROOT = Path(__file__).parents[3]


@pytest.fixture
def run(tmp_path, capsys):
    def run(text, *arguments, others=""):
        rows = tmp_path / "rows.csv"
        rows.write_text(text, "utf-8")
        (tmp_path / "others.csv").write_text(others, "utf-8")
        parser = argparse.ArgumentParser()
        calibrate.options(parser)
        given = [str(rows), "--out", str(tmp_path / "calibration.json"), *arguments]
        status = calibrate.run(
            parser.parse_args([word.replace("OTHERS", str(tmp_path / "others.csv")) for word in given])
        )
        return status, capsys.readouterr().out, tmp_path / "calibration.json"

    return run


def sheet(n, wrong=0, *, key="", extra=""):
    """`n` rows, the last `wrong` of them wrong, scores falling from 1."""
    lines = ["score,wrong,versions_key,kind"]
    lines += [f"{1 - place / n},{int(place >= n - wrong)},{key},photo" for place in range(n)]
    return "\n".join(lines) + f"\n{extra}"


def test_it_writes_the_record_and_says_the_sentence(run):
    status, said, out = run(sheet(200, 20), "--key", "k1", "--alpha", ".1", "--delta", ".1")
    [made] = calibration.load(out)
    assert status == 0
    assert made.versions_key == "k1"
    assert made.threshold is not None
    assert made.sentence in said
    assert "1000 a stratum are asked for" in said


def test_the_key_of_the_rows_is_taken(run):
    _, _, out = run(sheet(60, key="abc"))
    assert calibration.load(out)[0].valid_for("abc")


def test_mixed_versions_are_refused(run):
    with pytest.raises(calibrate.RowsUnusable, match="different versions"):
        run(sheet(60, key="abc", extra="0.5,0,other,photo\n"))
    with pytest.raises(calibrate.RowsUnusable, match="different versions"):
        run(sheet(60, key="abc", extra="0.5,0,,photo\n"))
    with pytest.raises(calibrate.RowsUnusable, match="not other"):
        run(sheet(60, key="abc"), "--key", "other")


def test_without_any_key_it_asks_for_one(run):
    with pytest.raises(calibrate.RowsUnusable, match="--key"):
        run(sheet(60))


def test_rows_without_a_judgement_are_counted_and_left_out(run):
    _, said, out = run(sheet(60, extra="0.5,,,photo\n0.4, ,,photo\n"), "--key", "k")
    assert "2 rows have no judgement" in said
    assert calibration.load(out)[0].n == 60


def test_a_row_without_a_score_is_withheld_and_counted(run):
    _, _, out = run(sheet(60, extra=",1,,photo\n"), "--key", "k")
    [made] = calibration.load(out)
    assert (made.n, made.errors) == (61, 0)


def test_each_stratum_has_its_own_threshold(run):
    more = "".join(f"0.{place:02d},1,,chart\n" for place in range(60))
    _, said, out = run(sheet(60, extra=more), "--key", "k", "--stratum", "kind")
    chart, photo = calibration.load(out)
    assert (chart.stratum, chart.threshold) == ("chart", None)
    assert photo.stratum == "photo"
    assert photo.threshold is not None
    assert "Stratum chart:\nNo guarantee" in said


def test_too_few_rows_say_how_many_are_needed(run):
    _, said, out = run(sheet(10), "--key", "k", "--alpha", ".05")
    assert "at least 46 are needed" in said
    assert calibration.load(out)[0].threshold is None


def test_crc_speaks_per_image(run):
    _, said, out = run(sheet(30, 3), "--key", "k", "--method", "crc")
    assert said.startswith("Per image:")
    assert calibration.load(out)[0].delta is None


def test_thresholds_may_come_from_other_scores(run):
    others = "score\n" + "".join(f"{place / 50}\n" for place in range(50))
    _, _, out = run(sheet(200), "--key", "k", "--scores", "OTHERS", others=others)
    assert json.loads(out.read_text())["calibrations"][0]["threshold"] in {place / 50 for place in range(50)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("score\n0.5\n", "no column wrong"),
        ("score,wrong\n0.5,yes\n", "line 2: wrong is 'yes'"),
        ("score,wrong\nhigh,0\n", "line 2: score 'high' is no number"),
        ("score,wrong\nnan,0\n", "is no number"),
        ("score,wrong\n0.5,\n", "no judged row; 1 have"),
        ("", "no column score, wrong"),
    ],
)
def test_a_sheet_that_cannot_be_used_is_refused_with_the_line(run, text, message):
    with pytest.raises(calibrate.RowsUnusable, match=message):
        run(text, "--key", "k")


# ---- what `evaluate --out` writes, and judgements from another file ----


def evaluated(tmp_path, *lines):
    """`evaluate --out` as a person gets it: a text a line, or None where the captioner is silent."""
    outcomes = [
        Abstention(str(at), Reason.OBJECT_UNSUPPORTED, versions={"captioner": "x"})
        if text is None
        else Caption(str(at), text, versions={"captioner": "x"}, evidence={"support": [{"score": score}]})
        for at, (text, score) in enumerate(lines)
    ]
    refused = [Result(Row("line 99", Path("99.png"), PageContext()), refusal="blank")]
    done = [
        Result(Row(f"line {at}", Path(f"{at}.png"), PageContext(), kind="photo"), one, content_hash=f"{at:064x}")
        for at, one in enumerate(outcomes)
    ]
    list(evaluation.write_rows([*done, *refused], tmp_path / "written.csv"))
    return (tmp_path / "written.csv").read_text("utf-8")


def test_rows_of_evaluate_are_accepted_once_they_are_judged(run, tmp_path):
    """60 right texts, a wrong one under them, two silences and a refusal: 61 captions under the key of the outcomes."""
    lines = [("A dog", 0.9), ("A cat", 0.2), (None, 0), (None, 0), *(("A bus", 0.3 + at / 100) for at in range(59))]
    text = evaluated(tmp_path, *lines)
    with pytest.raises(calibrate.RowsUnusable, match="no judged row; 61 have no judgement"):
        run(text)
    rows = list(csv.DictReader(io.StringIO(text)))
    for row in rows:
        row["wrong"] = ("1" if row["text"] == "A cat" else "0") if row["text"] else ""
    _, said, out = run(as_csv(rows))
    [made] = calibration.load(out)
    assert (made.n, made.base_risk) == (61, pytest.approx(1 / 61))
    assert made.valid_for({"captioner": "x"})
    assert made.threshold is not None
    assert made.threshold > 0.2
    assert "3 rows have no text and were left out" in said


def as_csv(rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


JUDGED = "row,image,seen_kind,system,text,correct\n"


def judge(tmp_path, *lines):
    (tmp_path / "judged.csv").write_text(JUDGED + "".join(f"{line}\n" for line in lines), "utf-8")
    return ["--judged", str(tmp_path / "judged.csv")]


def test_judgements_of_one_system_are_joined_by_picture_and_text(run, tmp_path):
    """Of four judgements of (r) one is of another text; the fourth picture stands on two pages and counts once."""
    written = evaluated(tmp_path, ("A dog", 0.9), ("A cat", 0.8), ("A bus", 0.7), ("A car", 0.6), (None, 0))
    twice = written + "".join(line + "\n" for line in written.splitlines() if ",A car," in line)
    judged = judge(
        tmp_path,
        "l,0.png,photo,r,A dog,1",
        "l,0.png,photo,d,A dog,0",
        "l,1.png,photo,r,A cat,no",
        "l,2.png,photo,r,Another bus,1",
        "l,3.png,photo,r,A car,1",
        "l,4.png,photo,r,A van,",
    )
    _, said, out = run(twice, *judged, "--system", "r")
    [made] = calibration.load(out)
    assert (made.n, made.base_risk) == (3, pytest.approx(1 / 3))
    assert "2 rows have no judgement" in said  # the bus, and the car on its second page
    assert "1 judgements are of texts that" in said
    with pytest.raises(calibrate.RowsUnusable, match="line 3: this text on this picture was judged otherwise"):
        run(written, *judged)


@pytest.mark.parametrize(
    ("lines", "arguments", "message"),
    [
        (["l,0.png,photo,r,A dog,perhaps"], [], "line 2: correct is 'perhaps', not 0 or 1"),
        (["l,0.png,photo,r,A dog,1"], ["--system", "g"], "no judged row of system g"),
        (["l,0.png,photo,r,A dog,"], [], "has no judged row"),
    ],
)
def test_judgements_that_cannot_be_used_are_refused(run, tmp_path, lines, arguments, message):
    with pytest.raises(calibrate.RowsUnusable, match=message):
        run(evaluated(tmp_path, ("A dog", 0.9)), *judge(tmp_path, *lines), *arguments)


def test_a_system_without_a_file_of_judgements_is_refused(run):
    with pytest.raises(calibrate.RowsUnusable, match="--system picks rows of the file that --judged names"):
        run(sheet(60, key="k"), "--system", "r")


def test_the_shipped_judgements_can_be_read():
    """One hundred and sixty pictures, each text of (r) judged once."""
    found = calibrate.judgements(ROOT / "docs" / "evaluation" / "openstax_test_160.csv", "r")
    assert (len(found), sum(wrong == "1" for wrong in found.values())) == (160, 29)


def test_a_missing_file_and_an_unwritable_one_are_refused(tmp_path):
    parser = argparse.ArgumentParser()
    calibrate.options(parser)
    with pytest.raises(calibrate.RowsUnusable, match="cannot read"):
        calibrate.run(parser.parse_args([str(tmp_path / "none.csv"), "--out", "x"]))
    (tmp_path / "rows.csv").write_text(sheet(60, key="k"))
    with pytest.raises(calibrate.RowsUnusable, match="cannot write"):
        calibrate.run(parser.parse_args([str(tmp_path / "rows.csv"), "--out", str(tmp_path / "none" / "x.json")]))


@pytest.mark.parametrize("share", ["0", "1", "ten", "nan"])
def test_a_share_outside_0_to_1_is_a_usage_error(share, capsys):
    parser = argparse.ArgumentParser()
    calibrate.options(parser)
    with pytest.raises(SystemExit):
        parser.parse_args(["rows.csv", "--out", "x", "--alpha", share])
    assert "between 0 and 1" in capsys.readouterr().err
