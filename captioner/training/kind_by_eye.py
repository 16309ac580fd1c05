"""Hold the kind classifier against labels that a person gave by looking: `docs/evaluation/kind_by_eye.csv`.

`python -m captioner.training.kind_by_eye --data FOLDER` fills in what the shipped classifier predicts and prints the
confusion table. The pictures are from the books' test split: 160, drawn by guessed kind, labelled before there were
predictions. Never used for training; the rule for tables was added after a first look at the errors.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from captioner.rooms.encode.kinds import KindClassifier
from captioner.training.kind_features import features

TABLE = Path("docs/evaluation/kind_by_eye.csv")
COLUMNS = ("image", "book_label", "photo_like", "predicted", "probability", "eye")


def predict(rows: Sequence[Mapping[str, str]], data: Path, cache: Path) -> list[dict[str, str]]:
    """The rows with `predicted` and `probability` filled in; `image` is book set, split and picture."""
    model = KindClassifier.load()
    names = [row["image"].split("/") for row in rows]
    paths = [data / folder / "images" / f"{picture}.webp" for folder, _, picture in names]
    chances = model.probabilities(features(paths, cache / "openstax"))
    told = [(model.classes[chance.argmax()], f"{chance.max():.2f}") for chance in chances]
    return [{**row, "predicted": kind, "probability": p} for row, (kind, p) in zip(rows, told, strict=True)]


def confusion(rows: Sequence[Mapping[str, str]]) -> str:
    """A table: what the eye said down, what was predicted across; accuracy above it."""
    counts = Counter((row["eye"], row["predicted"]) for row in rows)
    kinds = KindClassifier.load().classes
    right = sum(counts[kind, kind] for kind in kinds)
    lines = [f"{right} of {len(rows)} right, {right / len(rows):.3f}", " " * 10 + "".join(f"{k[:6]:>8}" for k in kinds)]
    return "\n".join(lines + [f"{eye:<10}" + "".join(f"{counts[eye, told]:>8}" for told in kinds) for eye in kinds])


def main() -> None:
    parser = argparse.ArgumentParser(description="Hold the kind classifier against labels given by eye.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path("var/kinds"))
    parser.add_argument("--table", type=Path, default=TABLE)
    options = parser.parse_args()
    with options.table.open(encoding="utf-8", newline="") as file:
        rows = predict(list(csv.DictReader(file)), options.data, options.cache)
    with options.table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(confusion(rows))  # noqa: T201  (a command)


if __name__ == "__main__":
    main()
