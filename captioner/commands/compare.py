"""The comparison behind `python -m captioner evaluate DATA.jsonl --compare`: every system on the same rows.

Wires loaders, systems and measures together; counts nothing itself.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from captioner.types import CaptionError

ALL = ("a", "b", "c", "d", "r", "e", "f", "g", "h-e", "h-f", "h-g")
QUICK = ("b", "d", "g")


class UnknownSystem(CaptionError):
    """A comparison was asked for a system that does not exist."""


def options(parser: argparse.ArgumentParser) -> None:
    """Options that `evaluate` takes for the table."""
    parser.add_argument("--compare", action="store_true", help="the table of all systems, free text included (slow)")
    parser.add_argument("--systems", metavar="a,b,...", help=f"only these of {','.join(ALL)}")
    parser.add_argument("--writer", type=Path, metavar="FOLDER", help="trained checkpoint, instead of the shipped one")
    parser.add_argument(
        "--without-lora", type=Path, metavar="FOLDER", help="checkpoint of the stage before LoRA, for h"
    )
    parser.add_argument("--train", type=Path, metavar="TRAIN.jsonl", help="training texts, for c")
    parser.add_argument("--features", type=Path, metavar="FOLDER", help="cached features of the training set, for c")
    parser.add_argument("--sights", type=Path, metavar="FOLDER", help="keep what the eyes saw here, for another run")
    parser.add_argument("--texts", type=Path, metavar="TEXTS.csv", help="write what every system said, row by row")


def run(options: argparse.Namespace, rows: Sequence[Any], eyes: Any) -> dict[str, Any]:
    """The table over `rows` as JSON types.  :raises WeightsMissing: a system's weights are not on this machine."""
    from captioner.architectures.native import NativeWriter
    from captioner.architectures.starter import Starter
    from captioner.architectures.starter_lm import SHIPPED, StarterLM
    from captioner.architectures.starter_page import StarterPage, load_phraser
    from captioner.rooms.gate.visibility import Visibility
    from captioner.training import comparison, systems

    wanted = options.systems.split(",") if options.systems else list(ALL if options.compare else QUICK)
    unknown = set(wanted) - set(ALL)
    if unknown:
        raise UnknownSystem(f"no system is called {', '.join(sorted(unknown))}; there are: {', '.join(ALL)}")
    phraser = load_phraser()
    assert phraser is not None
    seen = list(systems.look(rows, eyes))
    contexts = comparison.swapped_contexts(seen)
    table: list[dict[str, Any]] = []
    answers: list[systems.Answers] = []

    def add(answer: systems.Answers, **more: Any) -> None:
        answers.append(answer)
        table.append({**comparison.line(answer, seen, phraser), **more})
        print(f"{answer.name}: {answer.what}, {answer.seconds:.0f} s", file=sys.stderr)
        if options.texts:
            comparison.write(options.texts, seen, answers)

    def swapped(answer: systems.Answers) -> dict[str, Any]:
        return comparison.copied(answer, contexts, seen, phraser)

    if "b" in wanted:
        add(systems.captions(seen))
    if "c" in wanted and options.train and options.features:
        vectors, texts, dropped = systems.training_texts(options.train, options.features, seen)
        add(systems.nearest(seen, vectors, texts), near_duplicates_dropped=dropped)
    if "d" in wanted:
        plain = Starter(eyes)
        add(
            systems.captioner("d", "starter: evidence only", seen, plain),
            copied=swapped(systems.captioner("d", "", seen, plain, contexts)),
        )
    if "r" in wanted:
        ruled = StarterPage(eyes, phraser, Visibility.load())
        add(
            systems.captioner("r", "starter-page: evidence, page words by rule", seen, ruled),
            copied=swapped(systems.captioner("r", "", seen, ruled, contexts)),
        )
    if not set(wanted) & {"a", "e", "f", "g", "h-e", "h-f", "h-g"}:
        return _report(table, seen)
    folder = options.writer or Path(str(resources.files("captioner"))) / SHIPPED
    for prefix, place in (("", folder), ("h-", options.without_lora)):
        names = [name for name in wanted if name.startswith("h-") == bool(prefix)]
        if place is None or not set(names) & {f"{prefix}{letter}" for letter in "aefg"}:
            continue
        writer = NativeWriter.load(place)
        without = " without LoRA" if prefix else ""
        if f"{prefix}g" in names:
            model = StarterLM(eyes, writer, phraser, Visibility.load())
            add(
                systems.captioner(
                    f"{prefix}g", f"trained{without}, image + page, constrained to evidence", seen, model
                ),
                copied=swapped(systems.captioner("", "", seen, model, contexts)),
            )
        if f"{prefix}f" in names:
            add(systems.free(f"{prefix}f", f"trained{without}, image + page, free text", seen, writer, say=_tell),
                shuffled_image=comparison.gap(seen, writer))  # fmt: skip
        if f"{prefix}e" in names:
            add(
                systems.free(
                    f"{prefix}e", f"trained{without}, image only, free text", seen, writer, page=False, say=_tell
                )
            )
        if f"{prefix}a" in names:
            add(systems.free("a", "blind language model, page only", seen, writer, image=False, say=_tell))
    return _report(table, seen)


def remembering_eyes(folder: Path) -> Any:
    """The starter's eyes, looking at each picture once."""
    from captioner.rooms.encode.eyes import Eyes
    from captioner.rooms.encode.remembering import RememberingEyes

    return RememberingEyes(Eyes.load(), folder)


def _report(table: list[dict[str, Any]], seen: Sequence[Any]) -> dict[str, Any]:
    return {"rows": len(seen), "systems": sorted(table, key=lambda line: str(line["system"]).replace("h-", "h"))}


def _tell(text: str) -> None:
    print(text, file=sys.stderr)
