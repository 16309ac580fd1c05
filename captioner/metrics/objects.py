"""Which of the 80 COCO objects a text names: CHAIR's question (arXiv 1809.02156), repaired.

Own word list, longest match first, so that "hot dog" is no dog; plurals made by rule. Judges texts of any captioner.
Nothing here knows how a text came about.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from importlib import resources

from captioner.prepare import pagewords


@functools.cache
def _table() -> dict[tuple[str, ...], str]:
    """Words in order -> class, "" for words that look like a class and are none."""
    table: dict[tuple[str, ...], str] = {}
    lookalikes: dict[tuple[str, ...], str] = {}
    for line in resources.files(__package__).joinpath("coco_words.tsv").read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        label, _, cell = line.partition("\t")
        for entry in cell.split(","):
            for form in _forms(entry.removeprefix("!")):
                if entry.startswith("!"):
                    lookalikes[form] = ""
                else:
                    table.setdefault(form, label)
    return lookalikes | table


def _forms(phrase: str) -> Iterable[tuple[str, ...]]:
    *head, last = pagewords.words(phrase)
    yield (*head, last)
    yield (*head, plural(last))


def plural(noun: str) -> str:
    """The regular English plural of one word."""
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def mentioned(text: str) -> list[str]:
    """Classes that `text` names, in order, once for each mention."""
    table = _table()
    tokens = pagewords.words(text)
    found, at = [], 0
    longest = max(map(len, table))
    while at < len(tokens):
        for length in range(min(longest, len(tokens) - at), 0, -1):
            form = tuple(tokens[at : at + length])
            if form in table:
                if table[form]:
                    found.append(table[form])
                at += length
                break
        else:
            at += 1
    return found
