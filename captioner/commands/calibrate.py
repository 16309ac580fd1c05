"""`python -m captioner calibrate`: labelled scores in, thresholds with their warrant out.

It reads a CSV of scores and judgements, as `evaluate --out` writes it, and knows neither pictures nor models.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from captioner.rooms.gate import calibration
from captioner.rooms.gate.calibration import CRC, LTT, Calibration
from captioner.types import CaptionError

JUDGEMENTS = {"0": 0.0, "1": 1.0, "0.0": 0.0, "1.0": 1.0, "false": 0.0, "true": 1.0}
CORRECT = {"1": "0", "0": "1", "yes": "0", "no": "1", "true": "0", "false": "1"}  # correct -> wrong
Judged = dict[tuple[str, str], str]  # (image, text) -> wrong, "0" or "1"


class RowsUnusable(CaptionError):
    """The CSV cannot be calibrated on; the message says what is wrong with which line."""


@dataclass
class Rows:
    """The judged rows of one stratum."""

    scores: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)


@dataclass
class Sheet:
    """What a CSV holds.

    :ivar unjudged: rows with a text and without a judgement, left out.  :ivar silent: rows without a text, left out.
    :ivar keys: all versions keys found.  :ivar used: judgements of another file that were about one of these texts.
    """

    strata: dict[str, Rows] = field(default_factory=dict)
    unjudged: int = 0
    silent: int = 0
    keys: set[str] = field(default_factory=set)
    used: set[tuple[str, str]] = field(default_factory=set)


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "rows",
        metavar="ROWS.csv",
        help="of `evaluate --out`, judged: columns score, wrong (0 or 1), versions_key",
    )
    parser.add_argument(
        "--judged", metavar="JUDGED.csv", help="judgements, instead of column wrong: columns image, text, correct"
    )
    parser.add_argument("--system", default="", metavar="NAME", help="with --judged: only rows of this system")
    parser.add_argument("--alpha", type=_share, default=0.1, help="greatest share of wrong captions (default .1)")
    parser.add_argument("--delta", type=_share, default=0.1, help="ltt: 1 - confidence (default .1)")
    parser.add_argument(
        "--method", choices=[LTT, CRC], default=LTT, help="ltt: per accepted caption; crc: per image, on average"
    )
    parser.add_argument("--stratum", default="", metavar="COLUMN", help="one threshold for each value of this column")
    parser.add_argument("--key", default="", metavar="VERSIONS_KEY", help="of the captioner that wrote the captions")
    parser.add_argument(
        "--scores", metavar="OTHER.csv", help="ltt: take the thresholds from the scores of other captions, unjudged"
    )
    parser.add_argument("--out", required=True, metavar="CALIBRATION.json")


def run(options: argparse.Namespace) -> int:
    """Calibrate, write the file and print what may be said.

    :raises RowsUnusable: the CSV cannot be used.
    """
    if options.system and not options.judged:
        raise RowsUnusable("--system picks rows of the file that --judged names; there is none")
    judged = judgements(Path(options.judged), options.system) if options.judged else None
    sheet = read(Path(options.rows), options.stratum, judged)
    key = _key(sheet, options.key)
    others = _scores(Path(options.scores)) if options.scores else []
    done = [
        calibration.calibrate(
            rows.scores,
            rows.losses,
            alpha=options.alpha,
            delta=options.delta,
            method=options.method,
            other_scores=others,
            stratum=stratum,
            key=key,
            at=datetime.now(UTC).date().isoformat(),
        )
        for stratum, rows in sorted(sheet.strata.items())
    ]
    try:
        calibration.save(done, Path(options.out))
    except OSError as error:
        raise RowsUnusable(f"cannot write {options.out}: {error.strerror}") from error
    lines = [line for one in done for line in in_words(one)]
    if sheet.unjudged:
        lines.append(f"{sheet.unjudged} rows have no judgement and were left out.")
    if sheet.silent:
        lines.append(f"{sheet.silent} rows have no text and were left out: a threshold is about texts.")
    if judged is not None and (astray := len(judged) - len(sheet.used)):
        lines.append(f"{astray} judgements are of texts that {options.rows} does not hold and were left out.")
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def read(path: Path, stratum: str = "", judged: Judged | None = None) -> Sheet:
    """The rows of a CSV. A row whose `text` is empty is no caption; without that column every row is one.

    :param judged: see `judgements`; None takes the column `wrong`.
    :raises RowsUnusable: a column is missing, a number is none, or nothing is judged.
    """
    sheet = Sheet()
    needed = ["score", *(["image", "text"] if judged is not None else ["wrong"]), *filter(None, [stratum])]
    for number, row in _lines(path, needed):
        if row.get("text") == "":
            sheet.silent += 1
            continue
        sheet.keys.add((row.get("versions_key") or "").strip())
        about = (row.get("image") or "", row.get("text") or "")
        judgement = (judged.get(about, "") if judged is not None else row["wrong"] or "").strip().casefold()
        if not judgement or (judged is not None and about in sheet.used):  # judged once, so counted once
            sheet.unjudged += 1
            continue
        if judgement not in JUDGEMENTS:
            raise RowsUnusable(f"{path}, line {number}: wrong is {judgement!r}, not 0 or 1")
        rows = sheet.strata.setdefault((row[stratum] or "").strip() if stratum else "", Rows())
        rows.scores.append(_score(row["score"], path, number))
        rows.losses.append(JUDGEMENTS[judgement])
        sheet.used.add(about)
    if not sheet.strata:
        raise RowsUnusable(f"{path} has no judged row; {sheet.unjudged} have no judgement")
    return sheet


def judgements(path: Path, system: str = "") -> Judged:
    """What people said of texts, as `captioner.metrics.blind` gives it back; lines without a judgement are left out.

    :param system: one of the column `system`; "" takes every line.
    :raises RowsUnusable: a column is missing, a judgement is none, two disagree, or there is none.
    """
    found: Judged = {}
    for number, row in _lines(path, ["image", "text", "correct", *(["system"] if system else [])]):
        said = (row["correct"] or "").strip().casefold()
        if not said or (system and row["system"] != system):
            continue
        if said not in CORRECT:
            raise RowsUnusable(f"{path}, line {number}: correct is {said!r}, not 0 or 1")
        if found.setdefault((row["image"] or "", row["text"] or ""), CORRECT[said]) != CORRECT[said]:
            raise RowsUnusable(f"{path}, line {number}: this text on this picture was judged otherwise above")
    if not found:
        raise RowsUnusable(f"{path} has no judged row{f' of system {system}' if system else ''}")
    return found


def in_words(one: Calibration) -> Iterator[str]:
    """What is printed of one calibration."""
    if one.stratum:
        yield f"Stratum {one.stratum}:"
    yield one.sentence
    accepted = f"threshold {one.threshold:.6g}: {one.accepted} of {one.n} accepted" if one.threshold is not None else ""
    if accepted and one.interval is not None:
        low, high = one.interval
        accepted += f", {one.errors:g} of them wrong (95 % {low:.3f}-{high:.3f})"
    yield (
        f"{one.method}, alpha {one.alpha:g}, "
        + (f"delta {one.delta:g}, " if one.delta is not None else "")
        + (accepted or f"nothing accepted of {one.n}")
    )
    if one.base_risk is not None:
        yield f"Wrong if all were accepted: {one.base_risk:.3f}."
    if one.method == LTT and one.n < calibration.ASK_FOR:
        yield (
            f"{one.n} labelled captions are few: {calibration.ASK_FOR} a stratum are asked for. "
            f"--method crc needs {calibration.least_images(one.alpha)} and promises less."
        )


def _lines(path: Path, columns: list[str]) -> Iterator[tuple[int, dict[str, str | None]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            missing = [name for name in columns if name not in (reader.fieldnames or ())]
            if missing:
                raise RowsUnusable(f"{path} has no column {', '.join(missing)}")
            for row in reader:
                yield reader.line_num, row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise RowsUnusable(f"cannot read {path}: {error}") from error


def _score(text: str | None, path: Path, number: int) -> float:
    """-inf for an empty cell: another check withholds that caption, so no threshold ever accepts it."""
    if not (text or "").strip():
        return -math.inf
    try:
        score = float(text or "")
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise RowsUnusable(f"{path}, line {number}: score {text!r} is no number")
    return score


def _scores(path: Path) -> list[float]:
    scores = [_score(row["score"], path, number) for number, row in _lines(path, ["score"])]
    if not scores:
        raise RowsUnusable(f"{path} has no row")
    return scores


def _key(sheet: Sheet, given: str) -> str:
    keys = sheet.keys - {""}
    if len(keys) > 1 or (keys and "" in sheet.keys):
        raise RowsUnusable(f"rows of different versions must not be mixed: {', '.join(sorted(sheet.keys)) or 'none'}")
    [key] = keys or {given}
    if given and key != given:
        raise RowsUnusable(f"the rows are of versions key {key}, not {given}")
    if not key:
        raise RowsUnusable("say --key: without a versions key the threshold would be valid for nothing")
    return key


def _share(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError("must lie between 0 and 1")
    return number
