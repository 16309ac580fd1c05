"""The file for translation tools: XLIFF 1.2, one target language a file, read with the standard library's parser.

A unit is one placement of that language. Its source is what the same image is called in the source language; where both
languages are one, the text to be reworked. A document type declaration is refused, so no entity is ever expanded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree  # noqa: S405 - written with it; read by `_tree`, which stops at a DTD
from xml.parsers import expat  # noqa: S407 - as above

from alttext import permissions
from alttext.exchange.rows import MOST_ROWS, Line, Row, Unreadable, rows
from alttext.models import Placement

NAMESPACE = "urn:oasis:names:tc:xliff:document:1.2"
SPACE = "{http://www.w3.org/XML/1998/namespace}space"
TOKEN = "x-alttext-seen"  # noqa: S105
PLAIN = {"mrk", "g"}  # marks around words; all other inline elements stand for codes that our texts do not have
UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # not of XML 1.0


@dataclass(frozen=True, slots=True)
class Xliff:
    """A file, and how many placements are not in it: nothing to translate from, or signs that XML cannot hold."""

    data: bytes
    units: int
    left_out: int


def xliff(*, user: Any, language: str, source_language: str) -> Xliff:
    """Placements of `language` that `user` may edit, decorative ones left out."""
    root = ElementTree.Element("xliff", {"version": "1.2", "xmlns": NAMESPACE})
    file = ElementTree.SubElement(
        root,
        "file",
        {
            "original": "alttext",
            "datatype": "plaintext",
            "source-language": source_language,
            "target-language": language,
        },
    )
    body = ElementTree.SubElement(file, "body")
    units = left_out = 0
    for row, source in _with_sources(user, language, source_language):
        if row.placement.decorative:
            continue
        if not source.strip() or UNWRITABLE.search(source + row.placement.current_alt):
            left_out += 1
            continue
        _unit(body, row, source)
        units += 1
    ElementTree.indent(root)
    # the parser takes a bare carriage return for a line feed; in attributes it is written so already
    text = ElementTree.tostring(root, encoding="unicode").replace("\r", "&#13;")
    return Xliff(f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode(), units, left_out)


def _with_sources(user: Any, language: str, source_language: str) -> Iterator[tuple[Row, str]]:
    """Each row with what is to be translated; empty: nothing is known."""
    elsewhere: dict[int, str] = {}
    if source_language != language:
        same = permissions.editable_by(user).filter(language=source_language).exclude(current_alt="")
        same = same.exclude(state=Placement.State.GONE).exclude(asset=None).order_by("updated_at", "pk")
        elsewhere = dict(same.values_list("asset_id", "current_alt"))  # the newest text of an image wins
    for row in rows(user=user, language=language):
        if source_language != language:
            yield row, elsewhere.get(row.placement.asset_id or 0, "")
        else:
            offered = (row.suggestion.text if row.suggestion else "") or ""
            yield row, row.placement.current_alt or offered


def _unit(body: ElementTree.Element, row: Row, source: str) -> None:
    placement = row.placement
    unit = ElementTree.SubElement(
        body, "trans-unit", {"id": str(placement.pk), "resname": _writable(placement.key), SPACE: "preserve"}
    )
    ElementTree.SubElement(unit, "source").text = source
    state = "translated" if placement.current_alt and not placement.stale else "needs-translation"
    ElementTree.SubElement(unit, "target", {"state": state}).text = placement.current_alt
    group = ElementTree.SubElement(unit, "context-group", {"purpose": "information", "name": "alttext"})
    for kind, value in (
        (TOKEN, row.token),
        ("x-page", placement.page_title),
        ("x-address", placement.page_url),
        ("x-image", placement.image_name),
        ("x-role", placement.role),
    ):
        ElementTree.SubElement(group, "context", {"context-type": kind}).text = _writable(value)
    words = f"Alternative text of {placement.image_name} on {placement.page_title}, {placement.page_url}"
    ElementTree.SubElement(unit, "note").text = _writable(words)


def _writable(text: str) -> str:
    return UNWRITABLE.sub("\ufffd", text)


def read_xliff(data: bytes) -> list[Line]:
    """The units of a file, in order; those that cannot be used say why. A unit without a target says nothing.

    :raises Unreadable: no XLIFF 1.2, not well formed, or with a document type declaration.
    """
    root, lines = _tree(data)
    if root.tag != f"{{{NAMESPACE}}}xliff":
        raise Unreadable("This is no XLIFF 1.2 file. Export it from the translation tool as XLIFF 1.2.")
    found = list(root.iter(f"{{{NAMESPACE}}}trans-unit"))
    if len(found) > MOST_ROWS:
        raise Unreadable(f"The file has more than {MOST_ROWS} units. Send it in parts.")
    return [line for unit in found if (line := _line(unit, lines[unit])) is not None]


def _tree(data: bytes) -> tuple[ElementTree.Element, dict[ElementTree.Element, int]]:
    """The elements, and the line that each starts in. Without a document type no entity can be declared.

    :raises Unreadable: not well formed, or with a document type declaration.
    """
    builder, lines = ElementTree.TreeBuilder(), {}
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = builder.start(_braced(tag), {_braced(name): value for name, value in attributes.items()})
        lines[element] = parser.CurrentLineNumber

    def refuse(*_: Any) -> None:
        raise Unreadable("The XML has a document type declaration (DOCTYPE), which is refused. Take it out.")

    parser.StartElementHandler, parser.CharacterDataHandler = start, builder.data
    parser.EndElementHandler = lambda tag: builder.end(_braced(tag))
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        words = expat.ErrorString(error.code)
        message = f"Line {error.lineno}, column {error.offset + 1}: this is no well-formed XML ({words})."
        raise Unreadable(message) from error
    except (LookupError, ValueError) as error:  # an encoding that is none, or none of XML's
        raise Unreadable("The XML names an encoding that cannot be read. Save it as UTF-8.") from error
    return builder.close(), lines


def _braced(name: str) -> str:
    """A name as ElementTree spells it."""
    return f"{{{name}" if "}" in name else name


def _line(unit: ElementTree.Element, number: int) -> Line | None:
    target = unit.find(f"{{{NAMESPACE}}}target")
    if target is None:
        return None
    text = "".join(target.itertext())
    if not text.strip():
        return None
    source = unit.find(f"{{{NAMESPACE}}}source")
    contexts = unit.iter(f"{{{NAMESPACE}}}context")
    token = next((item.text or "" for item in contexts if item.get("context-type") == TOKEN), "")
    codes = [child.tag for child in target.iter() if child is not target and _local(child.tag) not in PLAIN]
    problem = "The translation holds inline codes, which an alternative text cannot have." if codes else ""
    return Line(
        number,
        (unit.get("id") or "").strip(),
        text=text,
        token=token,
        problem=problem,
        source="".join(source.itertext()) if source is not None else "",
    )


def _local(tag: Any) -> str:
    return str(tag).rpartition("}")[2]
