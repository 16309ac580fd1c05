"""What leaves the site: edit records as CSV that a spreadsheet opens as text, and the way back; decisions as JSON lines
to learn from. Knows no request, no page and no captioner.

A cell that a spreadsheet would take for a formula gets an apostrophe in front (reliability page, section 9). "-" and
"+1" are legal alternative texts, so `restore` undoes it exactly: a text that starts with apostrophes and then such a
character gets one more as well.
"""

from __future__ import annotations

import csv
import hashlib
import hmac
import io
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from django.db.models import QuerySet
from django.utils.crypto import salted_hmac

from alttext import adapters
from alttext.models import ContextSnapshot, Decision
from alttext.reports import EditRecord

FORMULA = re.compile(r"'*[=+\-@\t\r]")
NEUTRALISED = re.compile(r"'+[=+\-@\t\r]")
EDIT_COLUMNS = (
    "suggestion",
    "author_key",
    "suggested_on",
    "decided_on",
    "language",
    "captioner_version",
    "outcome",
    "trivial",
    "distance_graphemes",
    "distance_norm",
    "distance_words",
    "insertions",
    "deletions",
    "substitutions",
    "suggested_text",
    "final_text",
)
LEARNING_SCHEMA = 1
LEARNING_FILE, IMAGE_FOLDER = "decisions.jsonl", "images"
WRITTEN = "WRITTEN"  # a text that a person wrote where none was offered
CHUNK_ROWS = 500
OUTCOMES: dict[str, str] = {  # of acts that were not measured against a suggestion
    Decision.Act.SAVE: WRITTEN,
    Decision.Act.REJECT: "REJECTED",
    Decision.Act.DECORATIVE: "DECORATIVE",
}


@dataclass(frozen=True, slots=True)
class Learned:
    """What an export did.

    :ivar outcomes: decisions by outcome, skipped ones left out.
    :ivar skipped: decisions that were left out, by reason.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)

    @property
    def written(self) -> int:
        return self.outcomes.total()


class NoPicture(Exception):
    """The image of a decision cannot be exported; the message is a reason to count by."""


def neutralise(cell: str) -> str:
    """`cell`, with an apostrophe in front where a spreadsheet would compute it."""
    return f"'{cell}" if FORMULA.match(cell) else cell


def restore(cell: str) -> str:
    """The inverse of `neutralise`."""
    return cell[1:] if NEUTRALISED.match(cell) else cell


def csv_lines(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """Lines of a CSV file (RFC 4180), header first; None is an empty cell."""
    yield _line(header)
    for row in rows:
        yield _line(row)


def read_csv(text: str) -> list[dict[str, str]]:
    """Rows of a file written by `csv_lines`, with the apostrophes taken off again."""
    rows = csv.DictReader(io.StringIO(text, newline=""))
    return [{restore(name): restore(cell) for name, cell in row.items()} for row in rows]


def edit_rows(records: Iterable[EditRecord], *, key: bytes | None) -> Iterator[tuple[Any, ...]]:
    """One row a record, in the order of `EDIT_COLUMNS`.

    :param key: secret for the author keys; None leaves them out, as they must be with too few authors. Times of day and
        working times are left out always: they describe a person's work, not a text.
    """
    for record in records:
        yield (
            record.suggestion_id,
            author_key(record.author_id, key) if key else None,
            record.suggested_at.date().isoformat(),
            record.decided_at.date().isoformat(),
            record.language,
            record.captioner,
            record.outcome,
            "yes" if record.trivial else "no",
            record.distance,
            round(record.distance_norm, 4),
            record.distance_words,
            record.insertions,
            record.deletions,
            record.substitutions,
            record.suggested_text,
            record.final_text,
        )


def author_key(author_id: int, key: bytes) -> str:
    """A name that says who is who within the files of one site, and not who it is. Starts with a letter."""
    return "a" + hmac.new(key, str(author_id).encode(), hashlib.sha256).hexdigest()[:12]


def author_secret() -> bytes:
    """Changes with the site's secret key: keys of two sites cannot be matched."""
    return salted_hmac("alttext.exports.author_key", "", algorithm="sha256").digest()


def learning(
    folder: Path,
    *,
    derive: Callable[[bytes], bytes] | None,
    licence: str,
    since: datetime | None = None,
    limit: int | None = None,
    dry_run: bool = False,
) -> Learned:
    """Write what persons decided to `folder`, one JSON object a line, the images beside it; what became of all.

    The file appears when it is whole. A dry run reads no image and writes nothing.

    :param derive: original bytes -> the JPEG that captioners see, empty for one that is refused; None: hashes only.
    :raises OSError: the folder cannot be written.
    """
    told = Learned()
    lines = _learning_lines(folder, None if dry_run else derive, licence, since, limit, told)
    if dry_run:
        for _ in lines:
            pass
        return told
    (folder / IMAGE_FOLDER if derive else folder).mkdir(parents=True, exist_ok=True)
    unfinished = folder / f"{LEARNING_FILE}.part"
    with unfinished.open("w", encoding="utf-8") as file:
        file.writelines(lines)
    os.replace(unfinished, folder / LEARNING_FILE)
    return told


def _learning_lines(
    folder: Path,
    derive: Callable[[bytes], bytes] | None,
    licence: str,
    since: datetime | None,
    limit: int | None,
    told: Learned,
) -> Iterator[str]:
    key = author_secret()
    for decision, outcome in _in_force(since):
        if limit is not None and told.written >= limit:
            return
        try:
            image = _image_beside(folder, decision, derive) if derive else None
        except NoPicture as error:
            told.skipped[str(error)] += 1
            continue
        told.outcomes[outcome] += 1
        found = _learning_record(decision, outcome, key=key)
        yield json.dumps({**found, "image": image, "licence": licence}, ensure_ascii=False) + "\n"


def _in_force(since: datetime | None) -> Iterator[tuple[Decision, str]]:
    """The last act that counts for each suggestion, and the last text written where none was offered, with its outcome.

    In order of placement, a chunk of rows in memory at a time.
    """
    rows: QuerySet[Decision] = Decision.objects.order_by("placement_id", "version").select_related(
        "placement", "asset", "snapshot", "suggestion__asset", "suggestion__snapshot", "suggestion__captioner_version"
    )
    if since is not None:
        rows = rows.filter(placement__in=Decision.objects.filter(at__gte=since).values("placement"))
    for _, group in groupby(rows.iterator(chunk_size=CHUNK_ROWS), key=attrgetter("placement_id")):
        about: dict[tuple[int | None, ...], list[Decision]] = {}
        for decision in group:
            about.setdefault(_subject(decision), []).append(decision)
        for acts in about.values():
            last = _last_counted(acts)
            if last is not None and (since is None or last.at >= since):
                yield last, last.outcome or OUTCOMES[last.act]


def _subject(decision: Decision) -> tuple[int | None, ...]:
    """What an act is about: a suggestion; without one, the image in its words."""
    if decision.suggestion_id is not None:
        return (decision.suggestion_id,)
    return (None, decision.asset_id, decision.snapshot_id)


def _last_counted(acts: list[Decision]) -> Decision | None:
    """The last act that was not taken back. Acts on a suggestion after its window change nothing."""
    suggestion = acts[0].suggestion
    if suggestion is not None:
        acts = [act for act in acts if act.at <= suggestion.closes_at]
    undone = {act.undoes_id for act in acts}
    counted = [act for act in acts if act.act != Decision.Act.UNDO and act.pk not in undone]
    if not counted or (counted[-1].act == Decision.Act.SAVE and not counted[-1].final_text.strip()):
        return None  # taken back, or emptied: no decision for a text, nor for decorative
    return counted[-1]


def _learning_record(decision: Decision, outcome: str, *, key: bytes) -> dict[str, Any]:
    """JSON types, all but the image and the licence."""
    suggestion = decision.suggestion
    asset = decision.asset or (suggestion.asset if suggestion else None)
    words = decision.snapshot or (suggestion.snapshot if suggestion else None)
    version = suggestion.captioner_version if suggestion else None
    return {
        "schema": LEARNING_SCHEMA,
        "id": f"decision-{decision.pk}",
        "content_hash": asset.content_hash if asset else "",
        "perceptual_hash": asset.perceptual_hash if asset else "",
        "context": _words(words),
        "context_hash": words.context_hash if words else "",
        "language": words.language if words else decision.placement.language,
        "role": words.role if words else decision.placement.role,
        "suggested_text": suggestion.text if suggestion else None,
        "captioner": version.name if version else "",
        "versions_key": version.key if version else "",
        "outcome": outcome,
        "final_text": decision.final_text if decision.act == Decision.Act.SAVE else None,
        "trivial": decision.trivial,
        "cleared": decision.cleared,
        "distance_norm": decision.distance_norm,
        # unknown is not the same: nothing may be learned from a difference that the page may have made
        "same_image": bool(suggestion and decision.asset_id == suggestion.asset_id),
        "same_context": bool(suggestion and decision.snapshot and decision.snapshot.same_words(suggestion.snapshot)),
        "suggested_on": suggestion.suggested_at.date().isoformat() if suggestion else None,
        "decided_on": decision.at.date().isoformat(),
        "author": author_key(decision.by_id, key),
    }


def _words(snapshot: ContextSnapshot | None) -> dict[str, Any]:
    """The page words as a captioner gets them."""
    words = snapshot or ContextSnapshot(language="")
    names = ("title", "headings", "before", "after", "caption", "link_target", "link_label", "link_text_visible")
    return {**{name: getattr(words, name) for name in names}, "language": words.language}


def _image_beside(folder: Path, decision: Decision, derive: Callable[[bytes], bytes]) -> str:
    """Path in `folder` of the image that was decided on, written there if it was not yet.

    :raises NoPicture: its bytes are no longer to be had, or no captioner would be given it.
    """
    asset = decision.asset or (decision.suggestion.asset if decision.suggestion else None)
    if asset is None:
        raise NoPicture("image not known")
    name = f"{IMAGE_FOLDER}/{asset.content_hash}.jpg"
    if (folder / name).is_file():
        return name
    try:
        data = adapters.get(decision.placement.adapter).read_image(decision.placement.key)
    except adapters.NotThere:
        raise NoPicture("image gone") from None
    if hashlib.sha256(data).hexdigest() != asset.content_hash:
        raise NoPicture("image replaced since")
    derivative = derive(data)
    if not derivative:
        raise NoPicture("image refused")
    unfinished = folder / f"{name}.part"
    unfinished.write_bytes(derivative)
    os.replace(unfinished, folder / name)
    return name


def _line(cells: Iterable[Any]) -> str:
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerow([neutralise("" if cell is None else str(cell)) for cell in cells])
    return buffer.getvalue()
