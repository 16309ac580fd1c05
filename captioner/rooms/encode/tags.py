"""Names for the whole picture from ImageNet probabilities, hedged upwards in WordNet until they are likely enough.

Knows no pixels and no torch. The taxonomy holds only ancestors that a person would say, so vague ones ("seat",
"device", "communication") and technical ones ("placental") cannot come out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import numpy as np

from captioner.types import Tag

# On 372 COCO training pictures these two let 121 names through, 104 of them ancestors; held against object lists and
# captions about 104 were right (.86), and 6 of the 17 wrong ones were bathrooms called furniture, since cured.
LEAF_AT = 0.8
ANCESTOR_AT = 0.5  # at most one of two disjoint names can pass
LEAVES = 10  # classes listed for policies that hold page words against them
LEAF_FLOOR = 0.02  # below this a listed class is noise


class Taxonomy:
    """1,000 classes and their spoken ancestors.

    :ivar membership: (ancestors, 1000), 1 where the class lies below the ancestor; WordNet is no tree.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.classes: list[tuple[str, str]] = [(synset, name) for synset, name in data["classes"]]
        self.ancestors: list[tuple[str, str]] = [(synset, name) for synset, name, _ in data["ancestors"]]
        self.membership = np.zeros((len(self.ancestors), len(self.classes)), dtype=np.float32)
        for row, (_, _, indexes) in enumerate(data["ancestors"]):
            self.membership[row, indexes] = 1.0

    @classmethod
    def load(cls) -> Taxonomy:
        """The taxonomy that ships with the package."""
        return cls(json.loads((files("captioner") / "data" / "imagenet_taxonomy.json").read_text(encoding="utf-8")))

    def sums(self, probabilities: np.ndarray) -> np.ndarray:
        """(ancestors,) probability that the picture shows something below each ancestor; 1 at the root."""
        return self.membership @ probabilities

    def tags(self, probabilities: np.ndarray) -> tuple[Tag, ...]:
        """What may be said first, then wider names, then single classes as raw evidence.

        The order is the contract: leading tags pass the thresholds, a class at `LEAF_AT` or better before its
        ancestors, ancestors from narrow to wide; the classes after them are ordered by probability, at most
        `LEAVES`, and are not to be said without other support. No name comes twice.
        """
        leaves = self._leaves(probabilities)
        sure = [tag for tag in leaves if tag.probability >= LEAF_AT]
        return _distinct([*sure, *self._hedged(probabilities), *leaves])

    def _leaves(self, probabilities: np.ndarray) -> list[Tag]:
        """The likeliest names; classes that share one ("elephant": three) add up, the likeliest gives the synset."""
        sums: dict[str, float] = {}
        synsets: dict[str, str] = {}
        for index in np.argsort(-probabilities, kind="stable"):
            synset, name = self.classes[index]
            sums[name] = sums.get(name, 0.0) + float(probabilities[index])
            synsets.setdefault(name, synset)
        best = sorted(sums, key=lambda name: (-sums[name], name))[:LEAVES]
        return [_tag(name, sums[name], synsets[name], leaf=True) for name in best if sums[name] >= LEAF_FLOOR]

    def _hedged(self, probabilities: np.ndarray) -> list[Tag]:
        sums, sizes = self.sums(probabilities), self.membership.sum(axis=1)
        passing = [
            row for row in np.argsort(sizes, kind="stable") if sums[row] >= ANCESTOR_AT and self.ancestors[row][1]
        ]
        return [_tag(self.ancestors[row][1], sums[row], self.ancestors[row][0], leaf=False) for row in passing]


def _tag(name: str, probability: float, synset: str, *, leaf: bool) -> Tag:
    return Tag(name, round(min(float(probability), 1.0), 4), synset, leaf=leaf)


def _distinct(tags: list[Tag]) -> tuple[Tag, ...]:
    """The first tag of each name."""
    first: dict[str, Tag] = {}
    for tag in tags:
        first.setdefault(tag.label, tag)
    return tuple(first.values())


def said(tags: tuple[Tag, ...]) -> Tag | None:
    """The one tag that may be said, None where nothing is likely enough.

    `tags` as given by `Taxonomy.tags`: the first, if it passes its threshold.
    """
    if not tags:
        return None
    best = tags[0]
    return best if best.probability >= (LEAF_AT if best.leaf else ANCESTOR_AT) else None
