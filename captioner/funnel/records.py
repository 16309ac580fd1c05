"""Lines of public sets and of a site's learning export -> records to train on. Every drop is counted by reason.

Public sets are read by the fields a line has, as the evaluation reads them, so that a set of the same form that was
never seen works too. A line of the export has a "schema" field. Knows no model and opens no picture, it only hashes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from captioner.funnel import targets
from captioner.metrics import rows
from captioner.metrics.rows import DataUnreadable, Skipped
from captioner.prepare import hashes
from captioner.types import PageContext, Role

__all__ = ["DataUnreadable", "Decided", "Record", "Skipped", "Weights", "read", "read_decisions", "record_of"]

SCHEMA = 1  # of the learning export
DESCRIBED = frozenset({Role.UNKNOWN, Role.INFORMATIVE, Role.TEXT, Role.COMPLEX})  # others say what a link does, or none
UNRELIABLE = "alt_missing_or_decorative_unreliable"
TEXTS = ("AS_IS", "EDITED", "REPLACED", "WRITTEN")  # outcomes that leave a text
OUTCOMES = frozenset({*TEXTS, "REJECTED", "DECORATIVE"})
AUTHOR = "authors"  # source of a decision


@dataclass(frozen=True, slots=True)
class Weights:
    """How much a record counts in the loss.

    :ivar accepted: used as offered: a weak positive, as authors anchor on machine text. A choice, not a measurement.
    """

    public: float = 1.0
    written: float = 1.0
    accepted: float = 0.3


@dataclass(frozen=True, slots=True)
class Record:
    """One picture in its place with a text that a person stands for.

    :ivar name: file, line and text, for reports; stable across runs.
    :ivar image: None where only the hash is known.
    :ivar content_hash: sha256 of the original bytes, hex.
    :ivar perceptual_hash: 16 hex digits; empty where nobody computed it, or the picture is flat.
    :ivar weight: of this text; the captions of one picture share the weight of one.
    :ivar author: pseudonym, empty for public sets; for holding people out, never for a model.
    :ivar flags: what a filter noted, e.g. "unfiltered" or "synthetic".
    """

    name: str
    image: Path | None
    content_hash: str
    context: PageContext
    target: str
    source: str
    licence: str
    kind: str = ""
    role: Role = Role.UNKNOWN
    weight: float = 1.0
    perceptual_hash: str = ""
    author: str = ""
    flags: tuple[str, ...] = ()

    @property
    def pair_id(self) -> str:
        """Name of this text on this picture, 32 hex digits: what draws go by. Not the place in a file."""
        return hashlib.sha256(f"{self.content_hash}\n{self.target}".encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Decided:
    """One line of a learning export: what was offered, and what a person made of it.

    :ivar suggested: None where nothing was offered.
    :ivar final: None where no text was committed; "" for decorative.
    :ivar same_image: the person decided on the bytes that the captioner saw; so does `same_context` for the words.
    """

    name: str
    image: Path | None
    content_hash: str
    perceptual_hash: str
    context: PageContext
    role: Role
    outcome: str
    suggested: str | None
    final: str | None
    same_image: bool
    same_context: bool
    author: str
    captioner: str
    versions_key: str
    licence: str


def read(
    path: Path,
    dropped: Skipped,
    *,
    rules: targets.Rules = targets.Rules(),  # noqa: B008  (frozen)
    weights: Weights = Weights(),  # noqa: B008
    limit: int | None = None,
) -> Iterator[Record]:
    """The usable records of a public set or a learning export in order, at most `limit`; the others go to `dropped`.

    :raises DataUnreadable: the file cannot be opened or is no text.
    """
    given = 0
    for name, line in _lines(path, dropped):
        for record in _records(name, line, path, dropped, rules, weights):
            if limit is not None and given >= limit:
                return
            given += 1
            yield record


def read_decisions(path: Path, dropped: Skipped) -> Iterator[Decided]:
    """The decisions of a learning export in order.  :raises DataUnreadable: the file cannot be opened or is no text."""
    for name, line in _lines(path, dropped):
        if (decided := _decided(name, line, path.parent, dropped)) is not None:
            yield decided


def record_of(
    decided: Decided,
    dropped: Skipped,
    *,
    rules: targets.Rules = targets.Rules(),  # noqa: B008
    weights: Weights = Weights(),  # noqa: B008
) -> Record | None:
    """The final text as something to learn from; None: there is none, and `dropped` says why."""
    if decided.outcome not in TEXTS or not decided.final:
        dropped.add(f"no text to learn: {decided.outcome.lower()}", decided.name)
        return None
    if decided.role not in DESCRIBED:
        dropped.add(f"role {decided.role}", decided.name)
        return None
    target = targets.clean(decided.final, rules, language=decided.context.language)
    if target.dropped:
        dropped.add(f"text: {target.dropped}", decided.name)
        return None
    return Record(
        name=decided.name,
        image=decided.image,
        content_hash=decided.content_hash,
        context=decided.context,
        target=target.text,
        source=AUTHOR,
        licence=decided.licence,
        role=decided.role,
        weight=weights.accepted if decided.outcome == "AS_IS" else weights.written,
        perceptual_hash=decided.perceptual_hash,
        author=decided.author,
    )


def _records(
    name: str, line: Mapping[str, Any], path: Path, dropped: Skipped, rules: targets.Rules, weights: Weights
) -> Iterator[Record]:
    if "schema" in line:
        decided = _decided(name, line, path.parent, dropped)
        record = record_of(decided, dropped, rules=rules, weights=weights) if decided else None
        if record is not None:
            yield record
        return
    yield from _public(name, line, path, dropped, rules, weights)


def _public(
    name: str, line: Mapping[str, Any], path: Path, dropped: Skipped, rules: targets.Rules, weights: Weights
) -> Iterator[Record]:
    role = str(line.get("role") or Role.UNKNOWN)
    if role not in (Role.UNKNOWN, Role.INFORMATIVE):
        dropped.add("role not to be trusted" if role == UNRELIABLE else f"role {role}", name)
        return
    image = _image(name, line, path.parent, dropped)
    if image is None:
        return
    contexts = rows._contexts(line)  # one reading of the fields for training and evaluation
    texts = list(_targets(name, line, contexts[0].language, dropped, rules))
    content_hash = hashes.content_hash(image.read_bytes()) if texts else ""
    for number, text in enumerate(texts, 1):
        for page, context in enumerate(contexts, 1):
            yield Record(
                name=f"{name}: text {number}" + (f" on page {page}" if len(contexts) > 1 else ""),
                image=image,
                content_hash=content_hash,
                context=context,
                target=text,
                source=str(line.get("source") or path.parent.name),
                licence=str(line.get("licence") or ""),
                kind=str(line.get("kind") or ""),
                role=Role(role),
                weight=weights.public / len(texts) / len(contexts),
            )


def _targets(
    name: str, line: Mapping[str, Any], language: str, dropped: Skipped, rules: targets.Rules
) -> Iterator[str]:
    found = rows._references(line)
    if not found:
        dropped.add("no human text", name)
    seen: set[str] = set()
    for number, text in enumerate(found, 1):
        target = targets.clean(text, rules, language=language)
        reason = f"text: {target.dropped}" if target.dropped else "text: said twice" if target.text in seen else ""
        if reason:
            dropped.add(reason, f"{name}: text {number}")
        else:
            seen.add(target.text)
            yield target.text


def _decided(name: str, line: Mapping[str, Any], folder: Path, dropped: Skipped) -> Decided | None:
    if line.get("schema") != SCHEMA:
        dropped.add("another schema", name)
        return None
    image = None
    if line.get("image") and (image := _image(name, line, folder, dropped)) is None:
        return None
    try:
        return _from_export(name, line, image)
    except (KeyError, TypeError, ValueError):
        dropped.add("malformed decision", name)
        return None


def _from_export(name: str, line: Mapping[str, Any], image: Path | None) -> Decided:
    """:raises KeyError, TypeError, ValueError: the line is not what the export writes."""
    if line["outcome"] not in OUTCOMES or not isinstance(line["content_hash"], str):
        raise ValueError(line["outcome"])
    words = {item.name: line["context"][item.name] for item in fields(PageContext)}
    return Decided(
        name=f"{name}: {line['id']}",
        image=image,
        content_hash=line["content_hash"],
        perceptual_hash=line["perceptual_hash"],
        context=PageContext(**{**words, "headings": tuple(words["headings"])}),
        role=Role(line["role"]),
        outcome=line["outcome"],
        suggested=_text_or_none(line["suggested_text"]),
        final=_text_or_none(line["final_text"]),
        same_image=line["same_image"] is True,
        same_context=line["same_context"] is True,
        author=str(line["author"]),
        captioner=str(line["captioner"]),
        versions_key=str(line["versions_key"]),
        licence=str(line["licence"]),
    )


def _text_or_none(value: Any) -> str | None:
    """:raises TypeError: neither a text nor null."""
    if value is not None and not isinstance(value, str):
        raise TypeError("a text or null was expected")
    return value


def _image(name: str, line: Mapping[str, Any], folder: Path, dropped: Skipped) -> Path | None:
    image = line.get("image")
    if not isinstance(image, str) or not image:
        dropped.add("names no image", name)
        return None
    if not (folder / image).is_file():
        dropped.add("image file missing", name)
        return None
    return folder / image


def _lines(path: Path, dropped: Skipped) -> Iterator[tuple[str, dict[str, Any]]]:
    """(name, object) of each line that holds one.  :raises DataUnreadable: as `read`."""
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                name = f"{path.parent.name}/{path.name}:{number}"
                try:
                    found = json.loads(line)
                except ValueError:
                    dropped.add("not JSON", name)
                    continue
                if isinstance(found, dict):
                    yield name, found
                else:
                    dropped.add("not a JSON object", name)
    except (OSError, UnicodeDecodeError) as error:
        raise DataUnreadable(f"{path}: {error.strerror if isinstance(error, OSError) else 'not UTF-8 text'}") from error
