"""The closed vocabulary: every thing the starter may name, and which thing is a kind of which.

A concept is a word of ours; COCO class names are concepts, WordNet 3.0 ids point at concepts. `vocabulary.tsv` was
derived from WordNet 3.0. Nothing here knows how a concept is said in a language, nor what a picture is.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources

from captioner.types import Tag


@dataclass(frozen=True, slots=True)
class Concept:
    """One thing that may be named.

    :ivar coco: a class of the detector.
    :ivar everyday: a word most readers know; the others (breeds, species) are said only where the page says them.
    :ivar broader: the nearest wider concepts.
    """

    name: str
    coco: bool = False
    everyday: bool = False
    broader: tuple[str, ...] = ()


class Vocabulary:
    """Concepts by name and by WordNet id, with the tree between them."""

    def __init__(self, concepts: Iterable[Concept], synsets: Mapping[str, str], kin: Mapping[str, tuple[str, ...]]):
        self.concepts = {concept.name: concept for concept in concepts}
        self._synsets = dict(synsets)
        self._kin = dict(kin)  # wordless leaves: they count for what they are a kind of
        self._wider: dict[str, frozenset[str]] = {}

    def concept_of(self, tag: Tag) -> str | None:
        """The concept that `tag` names, None where the vocabulary has no word for it.

        Classes that share a name come as one tag ("elephant" for three): then the wider concept is meant.
        """
        name = self._synsets.get(tag.synset)
        return tag.label if name is not None and tag.label in self.wider(name) else name

    def wider(self, name: str) -> frozenset[str]:
        """All concepts that `name` is a kind of, itself included."""
        if name not in self._wider:
            concept = self.concepts.get(name, Concept(name))
            self._wider[name] = frozenset({name}).union(*(self.wider(parent) for parent in concept.broader))
        return self._wider[name]

    def covers(self, tag: Tag) -> frozenset[str]:
        """Every concept that is true of the picture if `tag` is."""
        name = self.concept_of(tag)
        if name is not None:
            return self.wider(name)
        return frozenset().union(*(self.wider(parent) for parent in self._kin.get(tag.synset, ())))

    def is_kind_of(self, name: str, other: str) -> bool:
        """True where every `name` is an `other`, and where both are the same."""
        return other in self.wider(name)


@functools.cache
def vocabulary() -> Vocabulary:
    """The vocabulary that the package carries."""
    concepts, synsets, kin = [], {}, {}
    for line in resources.files(__package__).joinpath("vocabulary.tsv").read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        name, mark, ids, broader = line.split("\t")
        parents = tuple(filter(None, broader.split(";")))
        if not name:
            kin[ids] = parents
            continue
        concepts.append(Concept(name, coco=mark == "c", everyday=bool(mark), broader=parents))
        synsets.update(dict.fromkeys(filter(None, ids.split(",")), name))
    return Vocabulary(concepts, synsets, kin)
