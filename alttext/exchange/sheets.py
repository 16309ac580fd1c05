"""The spreadsheet: one row a placement. Reads what spreadsheets make of it: UTF-8 or UTF-16, commas, semicolons, tabs.

No cell is computed by a spreadsheet, and each text comes back to the character: see `exports.neutralise`.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator

from alttext import exports, wording
from alttext.exchange.rows import MOST_ROWS, Line, Row, Unreadable

COLUMNS = (
    "id",
    "adapter",
    "key",
    "page_title",
    "page_url",
    "image",
    "language",
    "role",
    "state",
    "text",
    "decorative",
    "suggestion",
    "look_twice",
    "seen",
)
NEEDED = ("id", "text", "decorative", "seen")
BOM = "\ufeff"  # without it spreadsheets read UTF-8 as the code page of the machine
DELIMITERS = ",;\t"
LINE_END = re.compile(r"[\r\n]")
SEPARATOR = re.compile(r"sep=(.)(?:\r\n|\r|\n)", re.I)  # a spreadsheet's own first line
YES_NO = {"yes": True, "no": False, "": False}


def sheet_lines(rows: Iterable[Row]) -> Iterator[str]:
    """The lines of the file, to be written as UTF-8."""
    yield BOM
    yield from exports.csv_lines(COLUMNS, (_cells(row) for row in rows))


def _cells(row: Row) -> tuple[object, ...]:
    placement, suggestion = row.placement, row.suggestion
    flags = suggestion.flags if suggestion else []
    return (
        placement.pk,
        placement.adapter,
        placement.key,
        placement.page_title,
        placement.page_url,
        placement.image_name,
        placement.language,
        placement.role,
        "Changed since" if placement.stale else wording.STATES.get(placement.state, placement.state),
        placement.current_alt,
        "yes" if placement.decorative else "no",
        suggestion.text if suggestion else "",
        " ".join(wording.flag(flag) for flag in flags if isinstance(flag, str)),
        row.token,
    )


def read_sheet(data: bytes) -> list[Line]:
    """The rows of a file, in order; those that cannot be used say why.

    :raises Unreadable: no table with our columns, or one that breaks off.
    """
    text = _decoded(data)
    delimiter, skipped = _delimiter(LINE_END.split(text, maxsplit=1)[0]), 0
    if told := SEPARATOR.match(text):
        delimiter, text, skipped = told[1], text[told.end() :], 1
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    started = 1
    found: list[Line] = []
    names: list[str] = []
    try:
        for cells in reader:
            number, started = started + skipped, reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            cells = [exports.restore(cell) for cell in cells]
            if not names:
                names = _names(cells)
                continue
            if len(found) >= MOST_ROWS:
                raise Unreadable(f"The file has more than {MOST_ROWS} rows. Send it in parts.")
            found.append(_line(number, names, cells))
    except csv.Error as error:
        raise Unreadable(
            f"Line {started + skipped}: the row cannot be read ({error}). Is a quotation mark missing?"
        ) from error
    if not names:
        raise Unreadable("The file is empty.")
    return found


def _decoded(data: bytes) -> str:
    """:raises Unreadable: not UTF-8 and not UTF-16."""
    is_wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        text = data.decode("utf-16" if is_wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + (0 if is_wide else data.count(b"\n", 0, error.start))
        where = "The file" if is_wide else f"Line {line}: the file"
        raise Unreadable(f"{where} is not in UTF-8 or UTF-16. In a spreadsheet, save it as “CSV UTF-8”.") from error
    if "\0" in text[:1000]:
        raise Unreadable("The file is not text. Send a CSV or XLIFF file.")
    return text


def _delimiter(first: str) -> str:
    """The sign that parts the names of the columns."""
    return max(DELIMITERS, key=first.count)


def _names(cells: list[str]) -> list[str]:
    """:raises Unreadable: a column is missing, or stands there twice."""
    names = [cell.strip().lower() for cell in cells]
    if missing := [name for name in NEEDED if name not in names]:
        raise Unreadable(
            f"The first line lacks {', '.join(missing)}. Download the file again, keep its first line,"
            " and save it as CSV."
        )
    if twice := [name for name in NEEDED if names.count(name) > 1]:
        raise Unreadable(f"The column {twice[0]} stands there twice.")
    return names


def _line(number: int, names: list[str], cells: list[str]) -> Line:
    at = {name: names.index(name) for name in NEEDED}
    if any(cells[len(names) :]) or len(cells) <= max(at.values()):
        odd = f"The row has {len(cells)} cells, and the first line names {len(names)}. Is a quotation mark missing?"
        return Line(number, cells[at["id"]].strip() if len(cells) > at["id"] else "", problem=odd)
    row = {name: cells[place] for name, place in at.items()}
    said = row["decorative"].strip().lower()
    problem = "" if said in YES_NO else f"The cell “decorative” says “{said[:20]}”. Write yes or no."
    return Line(
        number,
        row["id"].strip(),
        text=row["text"],
        decorative=YES_NO.get(said),
        token=row["seen"],
        problem=problem,
    )
