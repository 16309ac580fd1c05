"""A fixed sample of offered texts for judging by eye: `python -m captioner.metrics.sampling ROWS.csv SAMPLE.csv`.

Stratified by the kind that was seen, so that rare kinds are judged too. Knows rows of `evaluate --out`, no pictures.
"""

from __future__ import annotations

import argparse
import csv
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

COLUMNS = ("image", "kind", "text", "correct", "specificity", "note")  # the last three are filled in by a person
Line = Mapping[str, str]


def stratified(lines: Sequence[Line], size: int, seed: int) -> list[Line]:
    """At most `size` offered texts: the kinds take turns, each in an order drawn with `seed`.

    Rows are sorted first, so that the order of `lines` does not matter.
    """
    offered = sorted((line for line in lines if line["text"]), key=lambda line: line["row"])
    groups: dict[str, list[Line]] = {}
    for line in offered:
        groups.setdefault(line["seen_kind"] or "unknown", []).append(line)
    for kind in sorted(groups):
        random.Random(f"{seed} {kind}").shuffle(groups[kind])  # noqa: S311  (a sample, no secret)
    turns = [line for turn in range(len(offered)) for kind in sorted(groups) for line in groups[kind][turn : turn + 1]]
    return turns[:size]


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the sample with empty columns for the judgement."""
    parser = argparse.ArgumentParser(prog="captioner.metrics.sampling", description=__doc__)
    parser.add_argument("rows", type=Path)
    parser.add_argument("sample", type=Path)
    parser.add_argument("--size", type=int, default=60)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args(arguments)
    with options.rows.open(encoding="utf-8", newline="") as file:
        chosen = stratified(list(csv.DictReader(file)), options.size, options.seed)
    with options.sample.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows([line["image"], line["seen_kind"], line["text"], "", "", ""] for line in chosen)


if __name__ == "__main__":
    main()
