"""How well the text router guesses what full OCR finds: `python -m captioner.metrics.routing DATA.jsonl --limit 100`.

Truth is what the same OCR reads with certainty, so text that it cannot read counts as absent. One thread, CPU time.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from PIL import Image

from captioner.metrics import rows
from captioner.metrics.evaluation import share
from captioner.metrics.rows import DataUnreadable, Row, Skipped
from captioner.prepare import images, reading, routing
from captioner.prepare.reading import LETTER
from captioner.prepare.routing import LaneChoice
from captioner.rooms.encode import ocr, text_presence
from captioner.types import Lane, TextLine

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Case:
    """One picture: what the cheap look chose, what full OCR read.

    :ivar letters: in sure lines.
    :ivar look_ms, read_ms: CPU time of the two.
    """

    name: str
    kind: str
    choice: LaneChoice
    letters: int
    look_ms: float
    read_ms: float

    @property
    def chosen(self) -> bool:
        return self.choice.lane is Lane.TEXT


def sure_letters(lines: Sequence[TextLine]) -> int:
    """Letters in the lines that may be quoted."""
    return sum(len(LETTER.findall(line.text)) for line in reading.read(lines).sure)


def measure(reader: ocr.Reader, sample: Sequence[Row], skipped: Skipped) -> Iterator[Case]:
    """One case a picture, in order; what cannot be opened goes into `skipped`."""
    for row in sample:
        try:
            picture = images.open_derivative(row.image.read_bytes())
        except (OSError, images.ImageUnreadable) as error:
            skipped.add(f"image unreadable: {error}", row.name)
            continue
        signs, look_ms = _timed(lambda: text_presence.look(picture, reader))  # noqa: B023  (called at once)
        lines, read_ms = _timed(lambda: reader.read(picture))  # noqa: B023
        choice = routing.lane_of(*picture.size, signs)
        yield Case(row.name, row.kind, choice, sure_letters(lines), look_ms, read_ms)


def report(cases: Sequence[Case], *, data: str, skipped: Skipped, letters: int) -> dict[str, Any]:
    """Shares with exact 95 % intervals, costs in CPU-ms, tokens a picture.

    :param letters: a picture with so many sure letters belongs into the text lane.
    """
    true = [case for case in cases if case.letters >= letters]
    false = [case for case in cases if case.letters < letters]
    chosen = [case for case in cases if case.chosen]
    hits = sum(case.chosen for case in true)
    kinds = sorted({case.kind or "unlabelled" for case in cases})
    return {
        "data": data,
        "n": len(cases),
        "skipped": skipped.report(),
        "truth": f"full OCR reads at least {letters} sure letters",
        "with_text": share(len(true), len(cases)),
        "to_text_lane": share(len(chosen), len(cases)),
        "precision": share(hits, len(chosen)),
        "recall": share(hits, len(true)),
        "false_positive_rate": share(len(chosen) - hits, len(false)),
        "missed": [f"{case.name}: {case.letters} letters; {case.choice.why}" for case in true if not case.chosen],
        "to_text_lane_by_kind": {kind: _lane_share(cases, kind) for kind in kinds},
        "look_cpu_ms": _costs([case.look_ms for case in cases]),
        "read_cpu_ms": _costs([case.read_ms for case in cases]),
        "tokens": _costs([case.choice.token_budget for case in cases]),
    }


def sampled(path: Path, limit: int | None, seed: int, skipped: Skipped) -> list[Row]:
    """Distinct pictures of a data file, `limit` drawn with `seed`; all of them without a limit.

    :raises DataUnreadable: see `rows.read`.
    """
    distinct = sorted({row.image: row for row in rows.read(path, skipped)}.values(), key=lambda row: str(row.image))
    if limit is None or limit >= len(distinct):
        return distinct
    return random.Random(seed).sample(distinct, limit)  # noqa: S311  (a sample, no secret)


def _lane_share(cases: Sequence[Case], kind: str) -> dict[str, Any]:
    group = [case for case in cases if (case.kind or "unlabelled") == kind]
    return share(sum(case.chosen for case in group), len(group))


def _costs(values: Sequence[float]) -> dict[str, float] | None:
    if not values:
        return None
    ninetieth = sorted(values)[int(0.9 * (len(values) - 1))]
    costs = {"mean": statistics.fmean(values), "median": statistics.median(values), "p90": ninetieth}
    return {name: round(value, 1) for name, value in costs.items()}


def _timed(call: Callable[[], Value]) -> tuple[Value, float]:
    """What `call` gives, and the CPU-ms it took."""
    started = time.process_time()
    value = call()
    return value, (time.process_time() - started) * 1000


def _number(text: str) -> int:
    """:raises ArgumentTypeError: not a whole number from 1 on."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return int(text)


def _as_lines(made: dict[str, Any]) -> Iterator[str]:
    for name, value in made.items():
        if isinstance(value, dict) and "interval" in value and value["interval"]:
            low, high = value["interval"]
            yield f"{name:22} {value['share']:.3f}  ({value['k']} of {value['n']}; 95 % {low:.3f} to {high:.3f})"
        elif name not in ("missed", "skipped", "to_text_lane_by_kind"):
            yield f"{name:22} {value}"


def _refuse(words: str) -> int:
    sys.stderr.write(words + "\n")
    return 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report; 2 with one line of words where it cannot be made."""
    parser = argparse.ArgumentParser(prog="captioner.metrics.routing", description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--limit", type=_number, help="number of pictures, drawn with --seed")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--letters", type=int, default=routing.TEXT_LETTERS, help="sure letters that make a text")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    reader, skipped = ocr.Reader.load(threads=1), Skipped()
    if reader is None:
        return _refuse("No OCR is installed, so there is nothing to measure against.")
    try:
        sample = sampled(options.data, options.limit, options.seed, skipped)
    except DataUnreadable as error:
        return _refuse(str(error))
    if not sample:
        return _refuse(f"{options.data} holds no picture.")
    reader.regions(Image.new("RGB", (64, 64)))  # the first call of an engine is slow
    cases = list(measure(reader, sample, skipped))
    made = report(cases, data=str(options.data), skipped=skipped, letters=options.letters)
    text = json.dumps(made, indent=2) if options.json else "\n".join(_as_lines(made))
    sys.stdout.write(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
