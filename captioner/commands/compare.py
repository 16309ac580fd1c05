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


NEEDS = {  # system -> options without which it cannot be made
    "c": ("train", "features"),
    **dict.fromkeys(("h-e", "h-f", "h-g"), ("without_lora",)),
}
ONLY_HERE = ("writer", "without_lora", "train", "features", "sights", "texts")


class UnknownSystem(CaptionError):
    """A comparison was asked for a system that does not exist."""


class NoComparison(CaptionError):
    """Options of the comparison were given and none was asked for."""


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


def wanted(options: argparse.Namespace) -> list[str]:
    """The systems that are asked for, [] for no comparison.

    :raises UnknownSystem: one of them does not exist.
    :raises NoComparison: there is none, but options that only a comparison reads.
    """
    if not options.systems:
        idle = [_flag(name) for name in ONLY_HERE if getattr(options, name)]
        if idle and not options.compare:
            raise NoComparison(f"{', '.join(idle)}: only a comparison reads this; add --compare or --systems")
        return list(ALL) if options.compare else []
    names = options.systems.split(",")
    if unknown := set(names) - set(ALL):
        raise UnknownSystem(f"no system is called {', '.join(sorted(unknown))}; there are: {', '.join(ALL)}")
    return names


def left_out(options: argparse.Namespace) -> dict[str, str]:
    """System that is asked for and cannot be made -> the options that it lacks."""
    lacking = {
        name: " and ".join(_flag(one) for one in NEEDS.get(name, ()) if not getattr(options, one))
        for name in wanted(options)
    }
    return {name: flags for name, flags in lacking.items() if flags}


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def run(options: argparse.Namespace, rows: Sequence[Any], eyes: Any) -> dict[str, Any]:
    """The table over `rows` as JSON types.  :raises WeightsMissing: a system's weights are not on this machine."""
    from captioner.architectures.native import NativeWriter
    from captioner.architectures.starter import Starter
    from captioner.architectures.starter_lm import SHIPPED, StarterLM
    from captioner.architectures.starter_page import StarterPage, load_phraser
    from captioner.rooms.gate.visibility import Visibility
    from captioner.training import comparison, systems

    absent = left_out(options)
    names = [name for name in wanted(options) if name not in absent]
    if absent:
        _tell(f"left out: {', '.join(f'{name} (needs {flags})' for name, flags in absent.items())}")
    phraser, visibility = load_phraser(), Visibility.load()
    assert phraser is not None
    nearest = "c" in names
    seen = list(systems.look(rows, eyes, vectors=nearest))
    contexts = comparison.swapped_contexts(seen)
    table: list[dict[str, Any]] = []
    answers: list[systems.Answers] = []

    def add(answer: systems.Answers, **more: Any) -> None:
        answers.append(answer)
        table.append({**comparison.line(answer, seen, phraser), **more})
        _tell(f"{answer.name}: {answer.what}, {answer.seconds:.0f} s")
        if options.texts:
            comparison.write(options.texts, seen, answers)

    def add_captioner(name: str, what: str, model: Any) -> None:
        """Under its own pages, and under swapped ones for what it copies."""
        own = systems.captioner(name, what, seen, model)  # first: the second run finds pictures in memory
        swapped = systems.captioner(name, what, seen, model, contexts)
        add(own, copied=comparison.copied(swapped, contexts, seen, phraser))

    if "b" in names:
        add(systems.captions(seen))
    if nearest:
        vectors, texts, dropped = systems.training_texts(options.train, options.features, seen)
        add(systems.nearest(seen, vectors, texts), near_duplicates_dropped=dropped)
    if "d" in names:
        add_captioner("d", "starter: evidence only", Starter(eyes))
    if "r" in names:
        add_captioner("r", "starter-page: evidence, page words by rule", StarterPage(eyes, phraser, visibility))
    folder = options.writer or Path(str(resources.files("captioner"))) / SHIPPED
    for prefix, place, trained in (("", folder, "trained"), ("h-", options.without_lora, "trained without LoRA")):
        if not {f"{prefix}{letter}" for letter in "aefg"} & set(names):
            continue
        assert place is not None  # else all of them are left out
        writer = NativeWriter.load(place)
        if f"{prefix}g" in names:
            what = f"{trained}, image + page, constrained to evidence"
            add_captioner(f"{prefix}g", what, StarterLM(eyes, writer, phraser, visibility))
        if f"{prefix}f" in names:
            free = systems.free(f"{prefix}f", f"{trained}, image + page, free text", seen, writer, say=_tell)
            add(free, shuffled_image=comparison.gap(seen, writer))
        if f"{prefix}e" in names:
            what = f"{trained}, image only, free text"
            free = systems.free(f"{prefix}e", what, seen, writer, page=False, say=_tell)
            add(free, shuffled_image=comparison.gap(seen, writer, page=False))
        if f"{prefix}a" in names:
            add(systems.free("a", "blind language model, page only", seen, writer, image=False, say=_tell))
    ordered = sorted(table, key=lambda line: str(line["system"]).replace("h-", "h"))
    return {"rows": len(seen), "systems": ordered, "left_out": absent}


def remembering_eyes(folder: Path) -> Any:
    """The starter's eyes, looking at each picture once."""
    from captioner.rooms.encode.eyes import Eyes
    from captioner.rooms.encode.remembering import RememberingEyes

    return RememberingEyes(Eyes.load(), folder)


def on_eyes(name: str, eyes: Any) -> Any:
    """The captioner called `name` on eyes that remember; None where it has to bring its own."""
    from captioner.architectures.starter import Starter
    from captioner.architectures.starter_page import StarterPage, load_phraser
    from captioner.rooms.gate.visibility import Visibility

    if name == Starter.name:
        return Starter(eyes)
    return StarterPage(eyes, load_phraser(), Visibility.load()) if name == StarterPage.name else None


def _tell(text: str) -> None:
    print(text, file=sys.stderr)
