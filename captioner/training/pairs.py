"""Preference pairs on disk: captions sampled from the trained model and judged by labels or the detector, or authors'
edits.

Two files: `PAIRS.jsonl` to train on, and beside it `PAIRS.samples.jsonl` with every sample and its verdict, from which
the pairs are made and an interrupted run goes on. Knows no loss.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import torch
from PIL import Image

from captioner.architectures import bridge
from captioner.architectures.checkpoint import Native
from captioner.funnel import preferences, records
from captioner.funnel.preferences import Preference, Sample, Sampled
from captioner.funnel.records import DataUnreadable, Record, Skipped
from captioner.metrics import hallucination
from captioner.rooms.decode import search
from captioner.training import examples as making
from captioner.training.corpus import Corpus
from captioner.training.examples import Example
from captioner.training.features import UNREADABLE
from captioner.training.loop import RunMismatch
from captioner.types import Detection, PageContext, Role

SAMPLES, TEMPERATURE, MAX_TOKENS = 4, 1.0, 32
CONFIRMED = 0.3  # detector score from which a named object counts as seen
TOLD = 20  # pictures between two lines of progress


class Finder(Protocol):
    """See `captioner.rooms.encode.detector.Detector`."""

    def find(self, image: Image.Image) -> tuple[Detection, ...]: ...


@dataclasses.dataclass(frozen=True, slots=True)
class Judged:
    """One sampled text. `clean` is None where it names no COCO object: the detector has no say on it."""

    text: str
    clean: bool | None


def sure(found: Sequence[Detection]) -> frozenset[str]:
    """What the detector saw with `CONFIRMED` or better."""
    return frozenset(one.label for one in found if one.score >= CONFIRMED)


def verdict(text: str, seen: frozenset[str]) -> bool | None:
    """Whether every COCO object that `text` names is among those `seen`; None where it names none.

    A text that names nothing is not called clean: preferring it would teach to name nothing.
    """
    named = hallucination.mentioned(text)
    return seen.issuperset(named) if named else None


def make(
    native: Native,
    corpus: Corpus,
    detector: Finder,
    path: Path,
    *,
    origin: str,
    seed: int,
    labels: Mapping[str, frozenset[str]] | None = None,
    say: Callable[[str], object] = print,
) -> dict[str, int]:
    """Sample for every picture on its page and write the pairs to `path`; gives counts by what became of a picture.

    :param origin: names the checkpoint that is sampled from.
    :param labels: content hash -> what people say is in the picture; the detector is asked about the others only.
    :raises RunMismatch: `path` was begun with another checkpoint, seed or sampling.
    """
    labels = labels or {}
    known = hashlib.sha256(json.dumps(sorted((key, sorted(seen)) for key, seen in labels.items())).encode()).hexdigest()
    settings = {"origin": origin, "seed": seed, "samples": SAMPLES, "temperature": TEMPERATURE, "seen": CONFIRMED}
    settings |= {"labels": known[:16]} if labels else {}
    place = path.with_name(path.stem + ".samples.jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    done = _begun(place, settings)
    wanted = {key: record for record in corpus.records if (key := _key(record)) not in done}
    say(f"pairs: {len(done)} pictures are sampled, {len(wanted)} to go")
    started = time.monotonic()
    with place.open("a", encoding="utf-8") as out:
        for number, (key, record) in enumerate(wanted.items(), 1):
            judged = _judge(native, corpus, detector, record, key, seed, labels.get(record.content_hash))
            out.write(json.dumps({"key": key, **_row(record, judged, path.parent)}) + "\n")
            out.flush()
            if number % TOLD == 0 or number == len(wanted):
                pace = (time.monotonic() - started) / number
                say(f"pairs: {number} of {len(wanted)}, {pace * (len(wanted) - number):.0f} s to go")
    dropped = Skipped()
    pairs = list(preferences.from_samples(_sampled(place), dropped))
    write(pairs, path)
    return {"pairs": len(pairs), **{reason: len(names) for reason, names in sorted(dropped.rows.items())}}


@torch.inference_mode()
def sample(native: Native, example: Example, *, seed: int) -> list[str]:
    """`SAMPLES` texts for one picture on its page; those that found no end in time are left out."""
    picture = native.bridge(torch.from_numpy(example.tokens[None]).float())[0]  # (T, D)
    steps = native.model.start([bridge.splice(native.model, example.paged, picture)])
    steps.repeat(SAMPLES)
    generator = torch.Generator().manual_seed(seed)
    drawn = search.draw(
        steps,
        native.model.end,
        temperatures=[TEMPERATURE] * SAMPLES,
        max_tokens=MAX_TOKENS,
        generator=generator,
    )
    return [native.model.text(one.tokens) for one in drawn if one.ended]


def write(pairs: Iterable[Preference], path: Path) -> None:
    """One line a pair; pictures are named from the folder of `path`."""
    lines = []
    for pair in pairs:
        image = os.path.relpath(pair.image, path.parent) if pair.image else None
        lines.append(json.dumps({**dataclasses.asdict(pair), "image": image, "role": str(pair.role)}) + "\n")
    _replace(path, lines)


def read(files: Sequence[Path], dropped: Skipped) -> list[Preference]:
    """Pairs of files that `write` made, and of learning exports (lines with a "schema"), by `from_decisions`.

    :raises DataUnreadable: a file cannot be opened or is no text.
    """
    found: list[Preference] = []
    for file in files:
        if _is_export(file):
            found += preferences.from_decisions(records.read_decisions(file, dropped), dropped)
        else:
            found += filter(None, (_pair(line, f"{file.name}:{at}", file, dropped) for at, line in _lines(file)))
    return found


def _judge(
    native: Native,
    corpus: Corpus,
    detector: Finder,
    record: Record,
    key: str,
    seed: int,
    labelled: frozenset[str] | None,
) -> list[Judged]:
    """:param labelled: what people say is there; None asks the detector."""
    assert record.image is not None
    try:
        with Image.open(record.image) as file:
            there = labelled if labelled is not None else sure(detector.find(file.convert("RGB")))
    except UNREADABLE:
        return []
    [example] = making.make([record], corpus.seen, native.model, budget=native.config.budget)
    drawn = sample(native, example, seed=int(hashlib.sha256(f"{seed} {key}".encode()).hexdigest()[:12], 16))
    return [Judged(text, verdict(text, there)) for text in drawn if text]


def _key(record: Record) -> str:
    """A picture on a page: equal for all its human texts."""
    page = json.dumps(dataclasses.asdict(record.context), sort_keys=True)
    return f"{record.content_hash} {hashlib.sha256(page.encode()).hexdigest()[:16]}"


def _row(record: Record, judged: Sequence[Judged], folder: Path) -> dict[str, Any]:
    assert record.image is not None
    return {
        "name": record.name,
        "image": os.path.relpath(record.image, folder),
        "content_hash": record.content_hash,
        "context": dataclasses.asdict(record.context),
        "role": str(record.role),
        "licence": record.licence,
        "samples": [dataclasses.asdict(one) for one in judged],
    }


def _begun(place: Path, settings: dict[str, Any]) -> set[str]:
    """Keys of what is sampled already; begins the file, and cuts off a last line that was not finished.

    :raises RunMismatch: other settings.
    """
    rows = [row for _, row in _lines(place)] if place.is_file() else []
    if rows and rows[0] != settings:
        raise RunMismatch(f"{place} was begun with other settings: {rows[0]}; this run has {settings}")
    _replace(place, [json.dumps(row) + "\n" for row in rows or [settings]])
    return {row["key"] for row in rows[1:]}


def _sampled(place: Path) -> Iterator[Sampled]:
    for _, row in _lines(place):
        if "key" in row:
            samples = [Sample(one["text"], one["clean"]) for one in row["samples"] if one["clean"] is not None]
            yield Sampled(
                row["name"],
                place.parent / row["image"],
                row["content_hash"],
                _context(row["context"]),
                row["licence"],
                samples,
                Role(row["role"]),
            )


def _pair(row: Mapping[str, Any], name: str, file: Path, dropped: Skipped) -> Preference | None:
    try:
        image = file.parent / row["image"] if row["image"] else None
        pair = Preference(**{**row, "image": image, "context": _context(row["context"]), "role": Role(row["role"])})
    except (KeyError, TypeError, ValueError):
        dropped.add("malformed pair", name)
        return None
    if not (pair.chosen and pair.rejected):
        dropped.add("malformed pair", name)
        return None
    return pair


def _context(words: Mapping[str, Any]) -> PageContext:
    return PageContext(**{**words, "headings": tuple(words["headings"])})


def _is_export(file: Path) -> bool:
    return any("schema" in row for _, row in _lines(file))


def _lines(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line numbers and objects; lines that hold none are left out.  :raises DataUnreadable: see `read`."""
    try:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    row = json.loads(line)
                except ValueError:
                    continue
                if isinstance(row, dict):
                    yield number, row
    except (OSError, UnicodeDecodeError) as error:
        raise DataUnreadable(f"{file}: {error.strerror if isinstance(error, OSError) else 'not UTF-8 text'}") from error


def _replace(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    unfinished.write_text("".join(lines), "utf-8")
    unfinished.replace(path)
