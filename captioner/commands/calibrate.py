"""`python -m captioner calibrate`: labelled scores in, thresholds with their warrant out.

It reads a CSV of scores and judgements and knows neither pictures nor models.
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


class RowsUnusable(CaptionError):
    """The CSV cannot be calibrated on; the message says what is wrong with which line."""


@dataclass
class Rows:
    """The judged rows of one stratum."""

    scores: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)


@dataclass
class Sheet:
    """What a CSV holds.  :ivar unjudged: rows without a judgement, left out.  :ivar keys: all versions keys found."""

    strata: dict[str, Rows] = field(default_factory=dict)
    unjudged: int = 0
    keys: set[str] = field(default_factory=set)


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("rows", metavar="ROWS.csv", help="columns score, wrong (0 or 1); perhaps versions_key, strata")
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
    sheet = read(Path(options.rows), options.stratum)
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
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def read(path: Path, stratum: str = "") -> Sheet:
    """The rows of a CSV.

    :raises RowsUnusable: a column is missing, a number is none, or nothing is judged.
    """
    sheet = Sheet()
    for number, row in _lines(path, ["score", "wrong", *filter(None, [stratum])]):
        judgement = (row["wrong"] or "").strip().casefold()
        sheet.keys.add((row.get("versions_key") or "").strip())
        if not judgement:
            sheet.unjudged += 1
            continue
        if judgement not in JUDGEMENTS:
            raise RowsUnusable(f"{path}, line {number}: wrong is {judgement!r}, not 0 or 1")
        rows = sheet.strata.setdefault((row[stratum] or "").strip() if stratum else "", Rows())
        rows.scores.append(_score(row["score"], path, number))
        rows.losses.append(JUDGEMENTS[judgement])
    if not sheet.strata:
        raise RowsUnusable(f"{path} has no judged row; {sheet.unjudged} have no judgement")
    return sheet


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
