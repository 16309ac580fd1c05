"""Walks the stored content of a page or snippet in document order: words, headings, images and where each alt is kept.

It reads the plain data that Wagtail stores, guided by the definitions of fields and blocks; it starts no query. `data`
is what `serializable_data()` gives, with streams as lists; items that have no id yet are given one in it, as Wagtail
would do at the next save, so that what is written back keeps its key.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import models
from wagtail import blocks
from wagtail.contrib.table_block.blocks import TableBlock
from wagtail.contrib.typed_table_block.blocks import BaseTypedTableBlock
from wagtail.fields import RichTextField, StreamField
from wagtail.images.blocks import ImageBlock, ImageChooserBlock

from alttext import plain
from alttext.contrib.wagtail import markup, shapes
from alttext.contrib.wagtail.keys import made_up_id, rich_text_path
from alttext.contrib.wagtail.markup import Link

DEEPEST = 6  # of a heading


@dataclass
class Slot:
    """Where a value is kept within the data: one item of a dict or list."""

    holder: Any
    name: Any

    @property
    def value(self) -> Any:
        return self.holder[self.name]

    @value.setter
    def value(self, new: Any) -> None:
        self.holder[self.name] = new


@dataclass(frozen=True)
class Inside:
    """What surrounds a value: its path, its depth, the group of siblings it stands in."""

    path: tuple[str, ...] = ()
    depth: int = 0
    group: int = 0
    link: Link | None = None
    caption: str = ""

    def at(self, *parts: str) -> Inside:
        return replace(self, path=(*self.path, *parts))


@dataclass(frozen=True)
class Heading:
    """A heading of the page; level 2 is the highest below its title."""

    level: int
    text: str


@dataclass(frozen=True)
class Words:
    """A block of text. A caption or a link label is said of the images of its own group, and is no text before them."""

    text: str
    of_group: int = 0


@dataclass(frozen=True)
class Edge:
    """Start or end of a group of siblings: headings inside are none of what follows."""

    starts: bool


@dataclass
class Picture:
    """One use of an image.

    :ivar kept: BLOCK, EMBED or FIELD: at `slot`; DESCRIPTION: with the image in the library.
    :ivar slot: of the ImageBlock, the rich text, or the alt text field.
    :ivar decorative: where a field beside the alt text says so.
    :ivar limit: the most characters that fit, if there is a limit.
    """

    path: str
    image_pk: Any
    kept: str
    slot: Slot | None = None
    embed: markup.Embed | None = None
    decorative: Slot | None = None
    limit: int | None = None
    inside: Inside = field(default_factory=Inside)


BLOCK, EMBED, FIELD, DESCRIPTION = "BLOCK", "EMBED", "FIELD", "DESCRIPTION"
Piece = Heading | Words | Edge | Picture


def walk(model: type[models.Model], data: dict[str, Any]) -> list[Piece]:
    """All that is on the page, in document order."""
    walker = _Walker()
    return list(walker.row(model, data, Inside()))


class _Walker:
    """Numbers the groups of siblings that it meets."""

    def __init__(self) -> None:
        self.groups = 0

    def row(self, model: type[models.Model], data: dict[str, Any], inside: Inside) -> Iterator[Piece]:
        """The fields of a page, a snippet, or one row of an inline panel."""
        fields = {item.name: item for item in shapes.own_fields(model)}
        relations = {relation.get_accessor_name(): relation for relation in shapes.child_relations(model)}
        order, words = shapes.names_in_order(model)
        alts = {name for item in fields.values() if shapes.is_image(item) for name in shapes.alts_of(item.name, fields)}
        for name in order:
            if name in relations:
                yield from self.children(relations[name].related_model, data.get(name), inside.at(name))
                continue
            item = fields[name]
            if name not in data or name in alts:
                continue
            slot = Slot(data, name)
            if isinstance(item, StreamField):
                yield from self.stream(item.stream_block, slot, inside.at(name))
            elif isinstance(item, RichTextField):
                yield from self.rich_text(slot, inside.at(name), speaks=name in words)
            elif shapes.is_image(item):
                yield from self.image_field(item, data, fields, inside)
            elif name in words and shapes.is_text(item) and not shapes.is_caption(name, fields):
                yield from self.text(name, data[name], inside)

    def children(self, model: type[models.Model], rows: Any, inside: Inside) -> Iterator[Piece]:
        for index, data in enumerate(rows if isinstance(rows, list) else ()):
            if isinstance(data, dict):
                pk = data.get("pk")
                here = self.group(inside.at(str(pk) if pk is not None else made_up_id(".".join(inside.path), index)))
                caption = shapes.said_by(
                    data, shapes.CAPTION, [item.name for item in shapes.own_fields(model) if shapes.is_text(item)]
                )
                yield Edge(True)
                yield from self.row(model, data, replace(here, caption=caption))
                yield Edge(False)

    def image_field(self, item: Any, data: dict[str, Any], fields: dict[str, Any], inside: Inside) -> Iterator[Picture]:
        pk = data.get(item.name)
        if pk in (None, ""):
            return
        found = Picture(".".join(inside.at(item.name).path), pk, DESCRIPTION, inside=inside)
        if caption := plain.text(data.get(f"{item.name}_caption")):
            found.inside = replace(inside, caption=caption)
        for name in shapes.alts_of(item.name, fields)[:1]:
            found.kept, found.slot, found.limit = FIELD, Slot(data, name), fields[name].max_length
            flag = fields.get(f"{item.name}_decorative")
            found.decorative = Slot(data, flag.name) if isinstance(flag, models.BooleanField) else None
        yield found

    def stream(self, block: blocks.BaseStreamBlock, slot: Slot, inside: Inside) -> Iterator[Piece]:
        items = slot.value if isinstance(slot.value, list) else []
        for index, item in enumerate(items):
            if not isinstance(item, dict) or item.get("type") not in block.child_blocks or "value" not in item:
                continue  # Wagtail drops blocks that the site no longer defines
            item["id"] = item.get("id") or made_up_id(".".join(inside.path), index)
            yield from self.block(block.child_blocks[item["type"]], Slot(item, "value"), inside.at(str(item["id"])))

    def list(self, block: blocks.ListBlock, slot: Slot, inside: Inside) -> Iterator[Piece]:
        items = slot.value if isinstance(slot.value, list) else []
        for index, item in enumerate(items):
            if not (isinstance(item, dict) and "id" in item and "value" in item and item.get("type") == "item"):
                item = items[index] = {"type": "item", "value": item, "id": None}  # as lists were stored once
            item["id"] = item["id"] or made_up_id(".".join(inside.path), index)
            yield Edge(True)
            yield from self.block(block.child_block, Slot(item, "value"), inside.at(str(item["id"])))
            yield Edge(False)

    def struct(self, block: blocks.BaseStructBlock, slot: Slot, inside: Inside) -> Iterator[Piece]:
        data = slot.value
        if not isinstance(data, dict):
            return
        names = [
            name for name, child in block.child_blocks.items() if isinstance(child, blocks.CharBlock | blocks.TextBlock)
        ]
        caption = shapes.said_by(data, shapes.CAPTION, [*names, *shapes._rich_names(block)]) or inside.caption
        here = replace(self.group(inside), caption=caption, link=shapes.link_beside(block, data) or inside.link)
        alts = shapes.alts_beside(block)
        yield Edge(True)
        for name, child in block.child_blocks.items():
            if name not in data or name in alts.values():
                continue
            if isinstance(child, ImageChooserBlock) and name in alts:
                yield from self.chooser(
                    data[name], here.at(name), Slot(data, alts[name]), block.child_blocks[alts[name]]
                )
            else:
                yield from self.block(child, Slot(data, name), here.at(name), name=name)
        yield Edge(False)

    def block(self, block: blocks.Block, slot: Slot, inside: Inside, name: str = "") -> Iterator[Piece]:
        name = name or getattr(block, "name", "")
        if isinstance(block, ImageBlock):
            yield from self.image_block(slot, inside)
        elif isinstance(block, ImageChooserBlock):
            yield from self.chooser(slot.value, inside)
        elif isinstance(block, blocks.BaseStreamBlock):
            yield Edge(True)
            yield from self.stream(block, slot, replace(inside, depth=inside.depth + 1))
            yield Edge(False)
        elif isinstance(block, blocks.ListBlock):
            yield from self.list(block, slot, inside)
        elif isinstance(block, blocks.BaseStructBlock):
            yield from self.struct(block, slot, replace(inside, depth=inside.depth + 1))
        elif isinstance(block, blocks.RichTextBlock):
            yield from self.rich_text(slot, inside, speaks=block.search_index)
        elif isinstance(block, TableBlock | BaseTypedTableBlock):
            yield from (Words(text) for text in _cells(slot.value))
        elif isinstance(block, blocks.CharBlock | blocks.TextBlock):
            yield from self.text(name, slot.value, inside) if block.search_index else ()
        elif isinstance(block, blocks.RawHTMLBlock):
            yield from self.text("", slot.value, inside)

    def image_block(self, slot: Slot, inside: Inside) -> Iterator[Picture]:
        value = slot.value
        pk = value.get("image") if isinstance(value, dict) else value  # data of an old ImageChooserBlock
        if pk not in (None, ""):
            yield Picture(".".join(inside.path), pk, BLOCK, slot=slot, inside=inside)

    def chooser(self, pk: Any, inside: Inside, alt: Slot | None = None, block: Any = None) -> Iterator[Picture]:
        if pk in (None, "") or isinstance(pk, dict | list):
            return
        found = Picture(".".join(inside.path), pk, DESCRIPTION, inside=inside)
        if alt is not None:
            alt.holder.setdefault(alt.name, "")
            found.kept, found.slot, found.limit = FIELD, alt, getattr(block.field, "max_length", None)
        yield found

    def rich_text(self, slot: Slot, inside: Inside, *, speaks: bool) -> Iterator[Piece]:
        source, path = slot.value, ".".join(inside.path)
        counts: dict[str, int] = {}
        if not isinstance(source, str):
            return
        for piece in markup.pieces(source):
            if isinstance(piece, markup.Embed):
                ordinal = counts[piece.image_pk] = counts.get(piece.image_pk, 0) + 1
                where = rich_text_path(path, piece.image_pk, ordinal)
                here = replace(inside, link=piece.link or inside.link)
                yield Picture(where, piece.image_pk, EMBED, slot=slot, embed=piece, inside=here)
            elif isinstance(piece, markup.Heading) and speaks:
                yield Heading(piece.level, piece.text)
            elif speaks:
                yield Words(piece.text)

    def text(self, name: str, value: Any, inside: Inside) -> Iterator[Piece]:
        text = plain.text(value) if isinstance(value, str) else ""
        if not text:
            return
        if shapes.HEADING.fullmatch(name) and "\n" not in text:
            yield Heading(min(2 + inside.depth, DEEPEST), text)
        elif inside.group and (shapes.CAPTION.fullmatch(name) or shapes.LINK_LABEL.fullmatch(name)):
            yield Words(text, of_group=inside.group)
        else:
            yield Words(text)

    def group(self, inside: Inside) -> Inside:
        self.groups += 1
        return replace(inside, group=self.groups)


def _cells(value: Any) -> Iterator[str]:
    """The words of a table, row by row; of typed cells only those that are text."""
    if not isinstance(value, dict):
        return
    if text := plain.text(value.get("caption") or value.get("table_caption")):
        yield text
    rows: list[Any] = [[column.get("heading") for column in value.get("columns") or () if isinstance(column, dict)]]
    rows += value.get("data") or [row.get("values") for row in value.get("rows") or () if isinstance(row, dict)]
    for row in rows:
        cells = [plain.text(cell) for cell in row or () if isinstance(cell, str | int | float)]
        if line := ", ".join(cell for cell in cells if cell):
            yield line
