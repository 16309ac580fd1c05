"""JSONL records of the evaluation sets -> requests with what is known to be true. Broken rows are counted and named.

Reads every shape that the sets have (textbook figures, web pages, COCO photos, a demo site) by the fields a record
has, so that a set of the same form that was never seen works too. Knows no captioner.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from captioner.prepare import pagewords
from captioner.types import PageContext, Role

ROLES = {role.value: role for role in Role}
NAMED = 20  # skipped rows named in a report; the rest is only counted


class DataUnreadable(Exception):
    """The data file is missing, is no file, or holds no row that can be used."""


@dataclass(frozen=True, slots=True)
class Row:
    """One placement of one image.

    :ivar name: line number and image, for reports.
    :ivar references: human texts about the picture; `said` adds the visible caption.
    :ivar objects: COCO classes known to be in the picture; None where nobody labelled it.
    """

    name: str
    image: Path
    context: PageContext
    role: Role = Role.UNKNOWN
    kind: str = ""
    references: tuple[str, ...] = ()
    objects: frozenset[str] | None = None

    @property
    def said(self) -> str:
        return "\n".join((*self.references, self.context.caption))


@dataclass
class Skipped:
    """Rows that could not be used: reason -> their names."""

    rows: dict[str, list[str]] = field(default_factory=dict)

    def add(self, reason: str, name: str) -> None:
        self.rows.setdefault(reason, []).append(name)

    @property
    def count(self) -> int:
        return sum(len(names) for names in self.rows.values())

    def report(self) -> dict[str, dict[str, Any]]:
        return {reason: {"count": len(names), "rows": names[:NAMED]} for reason, names in sorted(self.rows.items())}


def read(path: Path, skipped: Skipped, *, limit: int | None = None) -> Iterator[Row]:
    """The usable rows of `path` in order, at most `limit`; the others go into `skipped`.

    :raises DataUnreadable: the file cannot be opened or is no text.
    """
    given = 0
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if limit is not None and given >= limit:
                    return
                if line.strip():
                    for row in _rows(line, f"line {number}", path.parent, skipped):
                        given += 1
                        yield row
    except (OSError, UnicodeDecodeError) as error:
        raise DataUnreadable(f"{path}: {error.strerror if isinstance(error, OSError) else 'not UTF-8 text'}") from error


def _rows(line: str, name: str, folder: Path, skipped: Skipped) -> Iterator[Row]:
    try:
        record = json.loads(line)
    except ValueError:
        skipped.add("not JSON", name)
        return
    if not isinstance(record, dict):
        skipped.add("not a JSON object", name)
        return
    image = record.get("image")
    if not isinstance(image, str) or not image:
        skipped.add("names no image", name)
        return
    name = f"{name}: {image}"
    if not (folder / image).is_file():
        skipped.add("image file missing", name)
        return
    references, objects = _references(record), _objects(record)
    if not references and objects is None:
        skipped.add("no human text and no labels", name)
        return
    for index, context in enumerate(_contexts(record)):
        yield Row(
            name=name if not index else f"{name} on page {index + 1}",
            image=folder / image,
            context=context,
            role=ROLES.get(_text(record, "role"), Role.UNKNOWN),
            kind=_text(record, "kind") or _text(record, "role"),
            references=references,
            objects=objects,
        )


def _references(record: Mapping[str, Any]) -> tuple[str, ...]:
    captions = record.get("captions")
    texts = [record.get("alt"), *(captions if isinstance(captions, list) else [])]
    return tuple(dict.fromkeys(text for text in texts if isinstance(text, str) and pagewords.plain(text)))


def _objects(record: Mapping[str, Any]) -> frozenset[str] | None:
    objects = record.get("objects")
    return frozenset(map(str, objects)) if isinstance(objects, list) else None


def _contexts(record: Mapping[str, Any]) -> list[PageContext]:
    pages = record.get("contexts")
    if isinstance(pages, list) and pages:
        return [_context({**record, **page}) for page in pages if isinstance(page, dict)] or [_context(record)]
    return [_context(record)]


def _context(record: Mapping[str, Any]) -> PageContext:
    heads = (_text(record, key) for key in ("chapter", "section", "heading"))
    return PageContext(
        title=_text(record, "page_title"),
        headings=tuple(dict.fromkeys(filter(None, heads))),
        before=_text(record, "text_before") or _text(record, "para_before") or _text(record, "page_text"),
        after=_text(record, "text_after") or _text(record, "para_after"),
        caption=_text(record, "caption"),
        link_target=_text(record, "link_target") or _text(record, "href"),
        link_label=_text(record, "link_label"),
        language=_text(record, "language") or "en",
    )


def _text(record: Mapping[str, Any], key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""
