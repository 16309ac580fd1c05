"""Edit records as CSV that a spreadsheet opens as text, and the way back. Knows no request and no page.

A cell that a spreadsheet would take for a formula gets an apostrophe in front (reliability page, section 9). "-" and
"+1" are legal alternative texts, so `restore` undoes it exactly: a text that starts with apostrophes and then such a
character gets one more as well.
"""

from __future__ import annotations

import csv
import hashlib
import hmac
import io
import re
from collections.abc import Iterable, Iterator
from typing import Any

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


def _line(cells: Iterable[Any]) -> str:
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerow([neutralise("" if cell is None else str(cell)) for cell in cells])
    return buffer.getvalue()
