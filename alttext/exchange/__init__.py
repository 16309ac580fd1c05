"""Texts out to a spreadsheet or a translation tool, and back as recorded acts of the person who brings them.

Knows no request and no page. A file never decides by itself: what it would change is shown first, what somebody changed
meanwhile is refused, and each change goes through the ordinary act of saving.
"""

from alttext.exchange.importing import Change, Damaged, Plan, Refusal, carry_out, pack, plan, unpack
from alttext.exchange.rows import MOST_BYTES, MOST_ROWS, Line, Row, Unreadable, rows
from alttext.exchange.sheets import COLUMNS, read_sheet, sheet_lines
from alttext.exchange.xliff import read_xliff, xliff

__all__ = [
    "COLUMNS",
    "MOST_BYTES",
    "MOST_ROWS",
    "Change",
    "Damaged",
    "Line",
    "Plan",
    "Refusal",
    "Row",
    "Unreadable",
    "carry_out",
    "pack",
    "plan",
    "read",
    "read_sheet",
    "read_xliff",
    "rows",
    "sheet_lines",
    "unpack",
    "xliff",
]


def read(data: bytes) -> list[Line]:
    """The rows of a file, whichever of the two kinds it is.  :raises Unreadable: neither; the message says where."""
    if len(data) > MOST_BYTES:
        raise Unreadable(f"The file is larger than {MOST_BYTES // 1_000_000} MB. Send it in parts.")
    # "<" in UTF-8 or UTF-16, after a byte order mark; no sheet of ours starts with it
    start = data[:64].lstrip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n")
    return read_xliff(data) if start.startswith(b"<") else read_sheet(data)
