"""The command: CSV in, calibration out, and the sentence that may be said."""

import argparse
import json

import pytest

from captioner.commands import calibrate
from captioner.rooms.gate import calibration


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
