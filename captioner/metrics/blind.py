"""Judging texts of several systems by eye without knowing whose they are.

`python -m captioner.metrics.blind make TEXTS.csv SHEET.csv --systems d,g --size 160 --seed 11` draws rows for which any
of the systems speaks, writes each different text once under a letter and leaves the columns of the judgement empty.
`... reveal TEXTS.csv SHEET.csv JUDGED.csv --systems d,g` gives each judgement back to the systems that said the text.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

SHEET = ("row", "image", "seen_kind", "caption", "letter", "text", "correct", "specificity", "note")
JUDGED = ("row", "image", "seen_kind", "system", "text", "correct", "specificity", "note")
Line = Mapping[str, str]


def draw(lines: Sequence[Line], systems: Sequence[str], size: int, seed: int) -> list[Line]:
    """At most `size` rows, drawn uniformly from those for which any of `systems` has a text."""
    spoken = sorted((line for line in lines if any(line[name] for name in systems)), key=lambda line: line["row"])
    return random.Random(seed).sample(spoken, min(size, len(spoken)))  # noqa: S311  (a sample, no secret)


def sheet(lines: Sequence[Line], systems: Sequence[str]) -> list[dict[str, str]]:
    """One entry a row and different text; the order of the texts of a row says nothing about the system."""
    entries = []
    for line in lines:
        texts = sorted({line[name] for name in systems if line[name]}, key=lambda text: _shuffled(line["row"], text))
        for letter, text in zip("ABCDEFGH", texts, strict=False):
            kept = {name: line[name] for name in ("row", "image", "seen_kind", "caption")}
            entries.append({**kept, "letter": letter, "text": text, "correct": "", "specificity": "", "note": ""})
    return entries


def reveal(lines: Sequence[Line], judged: Sequence[Line], systems: Sequence[str]) -> list[dict[str, str]]:
    """Judgements by system; rows that were not judged are left out."""
    known = {(line["row"], line["text"]): line for line in judged if line["correct"] != ""}
    found = []
    for line in lines:
        for name in systems:
            judgement = known.get((line["row"], line[name]))
            if judgement is not None:
                rest = {key: judgement[key] for key in ("correct", "specificity", "note")}
                kept = {key: line[key] for key in ("row", "image", "seen_kind")}
                found.append({**kept, "system": name, "text": line[name], **rest})
    return found


def _shuffled(row: str, text: str) -> str:
    return hashlib.sha256(f"{row}\n{text}".encode()).hexdigest()


def main(arguments: Sequence[str] | None = None) -> None:
    """Make a sheet, or give its judgements back to the systems."""
    parser = argparse.ArgumentParser(prog="captioner.metrics.blind", description=__doc__)
    parser.add_argument("act", choices=["make", "reveal"])
    parser.add_argument("texts", type=Path)
    parser.add_argument("sheet", type=Path)
    parser.add_argument("judged", type=Path, nargs="?")
    parser.add_argument("--systems", required=True)
    parser.add_argument("--size", type=int, default=160)
    parser.add_argument("--seed", type=int, default=11)
    options = parser.parse_args(arguments)
    lines, systems = _read(options.texts), options.systems.split(",")
    if options.act == "make":
        _write(options.sheet, SHEET, sheet(draw(lines, systems, options.size, options.seed), systems))
    elif options.judged is None:
        parser.error("reveal needs a third file to write to")
    else:
        _write(options.judged, JUDGED, reveal(lines, _read(options.sheet), systems))


def _read(path: Path) -> list[Line]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _write(path: Path, columns: Sequence[str], entries: Sequence[Mapping[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(entries)


if __name__ == "__main__":
    main()
