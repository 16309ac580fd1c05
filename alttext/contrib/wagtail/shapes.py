"""What models and blocks tell of themselves by type and name: which fields hold images, words, alt texts, links.

Read from definitions only; no row and no content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from django.db import models
from modelcluster.models import ClusterableModel, get_all_child_relations
from wagtail import blocks
from wagtail.embeds.blocks import EmbedBlock
from wagtail.fields import RichTextField, StreamField
from wagtail.images import get_image_model
from wagtail.images.blocks import ImageChooserBlock
from wagtail.models import AbstractPage, Page

from alttext import plain
from alttext.contrib.wagtail.markup import Link

HEADING = re.compile(r"(?:.*_)?(?:heading|headline|title|subheading|subtitle)", re.I)
CAPTION = re.compile(r"(?:.*_)?(?:caption|attribution|credit)", re.I)
LINK_LABEL = re.compile(r"(?:link|button|cta)_(?:label|text|title)|label", re.I)
SHOW = re.compile(r"show_.*|.*_visible", re.I)
# where the text of an image field may be kept; {} is the name of that field
ALTS = ("{}_alt", "{}_alt_text", "alt_text", "alt")
NOT_WORDS = (models.URLField, models.EmailField, models.SlugField, models.FilePathField)


def can_hold_images(model: type[models.Model]) -> bool:
    """Whether rows of `model` can use an image at all."""
    return any(
        is_image(item) or isinstance(item, RichTextField | StreamField) for item in model._meta.get_fields()
    ) or any(can_hold_images(relation.related_model) for relation in child_relations(model))


def child_relations(model: type[models.Model]) -> list[Any]:
    """Relations to rows that are edited with the page, but for Wagtail's own and tags."""
    if not issubclass(model, ClusterableModel):
        return []
    own = {relation.get_accessor_name() for relation in get_all_child_relations(Page)}
    return [
        relation
        for relation in get_all_child_relations(model)
        if relation.get_accessor_name() not in own and not hasattr(relation.related_model, "tag_model")
    ]


def names_in_order(model: type[models.Model]) -> tuple[list[str], set[str]]:
    """Names of fields and child relations in the order of the editor, and those of them that count as words.

    Fields that the editor does not show come last, for their images.
    """
    given = list(getattr(model, "content_panels", None) or getattr(model, "panels", None) or ())
    shown = [name for panel in given for name in _names(panel)]
    ours = [item.name for item in own_fields(model)]
    ours += [relation.get_accessor_name() for relation in child_relations(model)]
    first = [name for name in dict.fromkeys(shown) if name in ours]
    return [*first, *(name for name in ours if name not in first)], set(first or ours)


def own_fields(model: type[models.Model]) -> list[Any]:
    """The columns of `model` that are not those every page has."""
    shared = {item.name for item in Page._meta.get_fields()} if issubclass(model, AbstractPage) else set()
    return [
        item
        for item in model._meta.fields
        if item.name not in shared and not item.auto_created and (item.editable or is_image(item))
    ]


def is_image(item: Any) -> bool:
    related = getattr(item, "related_model", None)
    return isinstance(item, models.ForeignKey) and isinstance(related, type) and issubclass(get_image_model(), related)


def is_text(item: Any) -> bool:
    return (
        isinstance(item, models.CharField | models.TextField) and not item.choices and not isinstance(item, NOT_WORDS)
    )


def alts_of(name: str, fields: dict[str, Any]) -> list[str]:
    """Text fields for the alt of the image field `name`; those that name none of several only where it is alone."""
    others = sum(is_image(item) for item in fields.values()) > 1
    names = [pattern.format(name) for pattern in ALTS if "{}" in pattern or not others]
    return [found for found in names if found in fields and is_text(fields[found])]


def alts_beside(block: blocks.BaseStructBlock) -> dict[str, str]:
    """For each image chooser of a struct the name of the text beside it that is its alt."""
    choosers = [name for name, child in block.child_blocks.items() if isinstance(child, ImageChooserBlock)]
    texts = {
        name for name, child in block.child_blocks.items() if isinstance(child, blocks.CharBlock | blocks.TextBlock)
    }
    found: dict[str, str] = {}
    for chooser in choosers:
        patterns = [pattern for pattern in ALTS if "{}" in pattern or len(choosers) == 1]
        names = [name for pattern in patterns if (name := pattern.format(chooser)) in texts]
        if names:
            found[chooser] = names[0]
    return found


def is_caption(name: str, fields: dict[str, Any]) -> bool:
    """Whether the field is the caption of an image field beside it."""
    image = fields.get(name.removesuffix("_caption"))
    return name.endswith("_caption") and image is not None and is_image(image)


def _rich_names(block: blocks.BaseStructBlock) -> list[str]:
    return [name for name, child in block.child_blocks.items() if isinstance(child, blocks.RichTextBlock)]


def said_by(data: dict[str, Any], pattern: re.Pattern[str], names: list[str]) -> str:
    """What stands under the names that match, as plain text, joined."""
    texts = [plain.text(data.get(name)) for name in names if pattern.fullmatch(name)]
    return "\n".join(text for text in texts if text)


def link_beside(block: blocks.BaseStructBlock, data: dict[str, Any]) -> Link | None:
    """What the images of a struct lead to: the page chosen or the address given beside them."""
    link = None
    for name, child in block.child_blocks.items():
        value = data.get(name)
        if value in (None, "") or isinstance(value, dict | list):
            continue
        if isinstance(child, blocks.PageChooserBlock):
            link = Link(page_pk=value)
        elif isinstance(child, blocks.URLBlock) and not isinstance(child, EmbedBlock):
            link = link or Link(target=str(value))
    if link is None:
        return None
    names = [name for name, child in block.child_blocks.items() if isinstance(child, blocks.CharBlock)]
    link.label = said_by(data, LINK_LABEL, names)
    flags = [name for name, child in block.child_blocks.items() if isinstance(child, blocks.BooleanBlock)]
    shown = [bool(data.get(name)) for name in flags if SHOW.fullmatch(name)]
    link.visible = bool(link.label) and (any(shown) if shown else True)
    return link


def _names(panel: Any) -> Iterator[str]:
    """The field and relation names that a panel shows, and the panels within it."""
    if isinstance(panel, str):
        yield panel
        return
    name = getattr(panel, "field_name", None) or getattr(panel, "relation_name", None)
    if not name and getattr(panel, "args", None) and isinstance(panel.args[0], str):
        name = panel.args[0]  # a placeholder of wagtail.models.panels
    if name:
        yield name
    children = getattr(panel, "children", None)
    for child in children if isinstance(children, list | tuple) else ():
        yield from _names(child)
