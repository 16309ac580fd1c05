"""Make the pruned ImageNet taxonomy that ships: 1,000 classes and the WordNet ancestors that may be spoken.

Reads WordNet 3.0's `data.noun` (Debian `wordnet-base`), timm's class order and our hand-made names. Run as
`python -m captioner.training.taxonomy`; the result is `captioner/data/imagenet_taxonomy.json`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from timm.data import ImageNetInfo

DATA = Path(__file__).parent.parent / "data"
WORDNET = Path("/usr/share/wordnet/data.noun")
ROOT = "n00001740"  # entity: kept silent, so that the sum over it can be checked
UNTRUE = {("n03405725", "n04447861")}  # a toilet seat is furniture to WordNet alone: every bathroom became "furniture"


@dataclass(frozen=True, slots=True)
class Synset:
    """One WordNet noun: its first lemma, with spaces, and the synsets above it (several: WordNet is no tree)."""

    lemma: str
    parents: tuple[str, ...]


def read_wordnet(lines: Iterable[str]) -> dict[str, Synset]:
    """Synsets of `data.noun` by id (n + 8 digits). Format: WordNet's wndb(5WN) manual page."""
    found = {}
    for line in lines:
        if line.startswith("  "):  # the licence at the top
            continue
        fields = line.split(" | ")[0].split()
        words = int(fields[3], 16)
        count = int(fields[4 + 2 * words])
        pointers = fields[5 + 2 * words :]
        parents = tuple("n" + pointers[4 * i + 1] for i in range(count) if pointers[4 * i] in ("@", "@i"))
        found["n" + fields[0]] = Synset(fields[4].replace("_", " "), parents)
    return found


def read_names(lines: Iterable[str]) -> dict[str, str]:
    """Hand-made names by synset."""
    return dict(line.rstrip("\n").split("\t") for line in lines if not line.startswith("#"))


def prune(wordnet: Mapping[str, Synset], classes: Sequence[str], names: Mapping[str, str]) -> dict[str, Any]:
    """Classes in order with names; the root and each spoken ancestor with the indexes of the classes below it."""
    below: dict[str, set[int]] = {ROOT: set()}
    for index, synset in enumerate(classes):
        for ancestor in _above(wordnet, synset):
            if (ancestor == ROOT or ancestor in names) and (ancestor, synset) not in UNTRUE:
                below.setdefault(ancestor, set()).add(index)
    return {
        "source": "WordNet 3.0 hierarchy, Princeton University; names by hand; see NOTICE",
        "classes": [[synset, names.get(synset, wordnet[synset].lemma)] for synset in classes],
        "ancestors": [[synset, names.get(synset, ""), sorted(below[synset])] for synset in sorted(below)],
    }


def _above(wordnet: Mapping[str, Synset], synset: str) -> set[str]:
    found: set[str] = set()
    waiting = list(wordnet[synset].parents)
    while waiting:
        ancestor = waiting.pop()
        if ancestor not in found:
            found.add(ancestor)
            waiting.extend(wordnet[ancestor].parents)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wordnet", type=Path, default=WORDNET)
    parser.add_argument("--names", type=Path, default=DATA / "spoken_names.tsv")
    parser.add_argument("--to", type=Path, default=DATA / "imagenet_taxonomy.json")
    options = parser.parse_args()
    with options.wordnet.open(encoding="latin-1") as file:
        wordnet = read_wordnet(file)
    with options.names.open(encoding="utf-8") as file:
        names = read_names(file)
    taxonomy = prune(wordnet, ImageNetInfo("imagenet-1k").label_names(), names)
    options.to.write_text(json.dumps(taxonomy, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
