"""How often each text rule fires on texts that people wrote: python -m tests.alttext.lint_rates [--set NAME ...].

A firing is no error yet: people do write "image of". docs/rules.md tells how many of a sample were read and judged
right. Sets marked "tuned" were looked at while the rules were written; figures to quote are those of the others.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from alttext import rules
from alttext.adapters import Context
from captioner.prepare.intervals import clopper_pearson

DATA = Path(os.environ.get("ALTTEXT_DATA", Path(__file__).resolve().parents[3] / "shared/data"))
Row = dict[str, Any]


def openstax(row: Row) -> rules.Subject:
    """The words as an adapter of a CMS gives them: headings, the text before and after, the caption."""
    words = Context(
        title=row["page_title"],
        headings=tuple(row[name] for name in ("chapter", "section", "heading") if row[name]),
        before=row["text_before"],
        after=row["text_after"],
        caption=row["caption"],
    )
    name = row["source"].rsplit("/", 1)[-1]
    return rules.Subject.in_place(row["alt"], words=words, language="en", role="unknown", image_name=name)


def web(row: Row) -> rules.Subject:
    """Where an image is linked its destination is not in the data, so what is said about links is not measured here."""
    words = Context(
        title=row["page_title"],
        headings=(row["heading"],) if row["heading"] else (),
        before=row["para_before"],
        after=row["para_after"],
        caption=row["caption"],
    )
    role = row["role"] if row["role"] in ("informative", "functional") else "unknown"
    return rules.Subject.in_place(row["alt"], words=words, language="en", role=role, image_name=row["file_name"])


def paper(row: Row) -> rules.Subject:
    """Of the page only the caption is known."""
    words = Context(title=row["title"], caption=row["caption"] or "")
    return rules.Subject.in_place(row["alt"], words=words, language="en", role="informative")


def bare(row: Row) -> rules.Subject:
    """A text without its page."""
    return rules.Subject(row["alt"], role="informative")


SETS = {
    "openstax-val": ("openstax/val.jsonl", openstax, "tuned"),
    "openstax-train": ("openstax/train.jsonl", openstax, "tuned"),
    "web": ("web_context/data.jsonl", web, "tuned"),
    "openstax-test": ("openstax/test.jsonl", openstax, "not seen"),
    "screens": ("openstax_screens/data.jsonl", openstax, "not seen"),
    "papers": ("text/hci_alt_text_20220915.jsonl", paper, "not seen"),
    "coco": ("coco_subset/val.jsonl", bare, "not seen"),
}


def subjects(name: str) -> Iterator[rules.Subject]:
    """All texts of a set; of a picture with five captions the first, of a paper each figure."""
    path, reader, _ = SETS[name]
    with (DATA / path).open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            text = row.get("alt") or row.get("alt_text") or next(iter(row.get("captions", [])), "")
            if isinstance(text, str) and text.strip():
                yield reader({**row, "alt": text})


def measure(name: str, *, most: int | None = None) -> tuple[int, int, int, dict[tuple[str, str], list[str]]]:
    """Number of texts, of those with a warning or error, of those with one beside length, and firings by rule."""
    chosen = list(subjects(name))
    if most and len(chosen) > most:
        chosen = random.Random(20).sample(chosen, most)
    fired: dict[tuple[str, str], list[str]] = defaultdict(list)
    warned = warned_beside_length = 0
    for subject in chosen:
        found = [item for item in rules.check(subject, off=()) if item.level != rules.INFO]
        warned += bool(found)
        warned_beside_length += any(item.rule != "text-long" for item in found)
        for rule, level in sorted({(item.rule, item.level) for item in rules.check(subject, off=())}):
            fired[rule, level].append(subject.text)
    return len(chosen), warned, warned_beside_length, fired


def rate(part: int, whole: int) -> str:
    low, high = clopper_pearson(part, whole)
    return f"{part:5d} {part / whole:7.1%}  {low:.1%} to {high:.1%}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", action="append", choices=sorted(SETS), help="default: those not seen while tuning")
    parser.add_argument("--most", type=int, help="no more texts of a set than this, drawn with a fixed seed")
    parser.add_argument("--examples", type=int, default=10, help="firings to print for each rule")
    options = parser.parse_args()
    if not DATA.is_dir():
        print(f"{DATA} is no folder; set ALTTEXT_DATA.", file=sys.stderr)
        return 2
    for name in options.set or [name for name, (_, _, kind) in SETS.items() if kind == "not seen"]:
        number, warned, beside_length, fired = measure(name, most=options.most)
        print(f"\n{name} ({SETS[name][2]}): n = {number}; 95 % Clopper-Pearson")
        print(f"  {'any warning or error':28} {rate(warned, number)}")
        print(f"  {'the same without text-long':28} {rate(beside_length, number)}")
        for (rule, level), texts in sorted(fired.items(), key=lambda item: (item[0][1], item[0][0])):
            print(f"  {level:5} {rule:22} {rate(len(texts), number)}")
            for text in random.Random(3).sample(texts, min(options.examples, len(texts))):
                print(f"        {text[:150]!r}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
