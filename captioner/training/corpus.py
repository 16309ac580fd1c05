"""Files of records -> examples with their features: what a run trains on, and how much was dropped and why."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from captioner.architectures.checkpoint import NativeConfig
from captioner.funnel import records
from captioner.funnel.records import Record
from captioner.metrics import judging, rows
from captioner.metrics.rows import Skipped
from captioner.prepare import hashes
from captioner.rooms.decode.language_model import LanguageModel
from captioner.rooms.encode.kinds import KindClassifier
from captioner.training import examples as making
from captioner.training import features
from captioner.training.examples import Example
from captioner.training.features import Seen

PICTURES = ("photo", "art")


@dataclass
class Corpus:
    """Records of one or more files, what was seen in their pictures, and what was left out.

    :ivar seen: as `features.load` gives it; asked by `features.find`.
    """

    records: list[Record]
    seen: dict[str, Seen]
    dropped: Skipped


def gather(
    files: Sequence[Path],
    cache: Path,
    *,
    cached_only: bool = False,
    photos_only: bool = False,
    described: bool = True,
    config: NativeConfig | None = None,
    say: Callable[[str], object] = print,
) -> Corpus:
    """Read `files`; features come from one folder of `cache` a file, made where they are missing.

    :param config: of the captioner that is trained; None is the starter's.
    :param photos_only: keep what the kind classifier calls photo or art: other kinds are written about by rules.
    :param described: only pictures that a person wrote about; False takes them all, each once a page, without a text.
    """
    dropped = Skipped()
    kept: list[Record] = []
    seen: dict[str, Seen] = {}
    for file in files:
        found = list(records.read(file, dropped) if described else placed(file, dropped))
        place = cache / f"{file.parent.name}_{file.stem}"
        paths = [record.image for record in found if record.image]
        seen |= features.load(place) if cached_only else features.fill(paths, place, config=config, say=say)
        for record in found:
            if (picture := features.find(seen, record.image)) is None:
                dropped.add("no features", record.name)
            elif photos_only and kind_of(picture) not in PICTURES:
                dropped.add("not a photo or art", record.name)
            else:
                kept.append(record)
    return Corpus(kept, seen, dropped)


def placed(file: Path, dropped: Skipped) -> Iterator[Record]:
    """Every picture of `file` on its page, without a text: for captions that are to be sampled."""
    for row in rows.read(file, dropped):
        content_hash = hashes.content_hash(row.image.read_bytes())
        yield Record(row.name, row.image, content_hash, row.context, "", file.parent.name, "", row.kind, row.role)


def labels(files: Sequence[Path]) -> dict[str, frozenset[str]]:
    """Content hash -> COCO objects that are in the picture: those labelled, and those that its human texts name."""
    return {
        hashes.content_hash(row.image.read_bytes()): judging.present(row)
        for file in files
        for row in rows.read(file, Skipped())
        if row.objects is not None
    }


def examples(corpus: Corpus, model: LanguageModel, *, budget: int) -> list[Example]:
    """One example a record."""
    return making.make(corpus.records, corpus.seen, model, budget=budget)


def kind_of(seen: Seen) -> str:
    """The kind of picture by the shipped classifier."""
    row = np.concatenate([seen.pooled.astype(np.float32), seen.statistics])
    return _classifier().classes[int(_classifier().probabilities(row[None])[0].argmax())]


@functools.cache
def _classifier() -> KindClassifier:
    return KindClassifier.load()
