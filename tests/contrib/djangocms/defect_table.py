"""The table of rendering defects: what stock templates print for each kind of stored alt text, and what they print with
the plugin processor. Printed by `pytest -k defect_table -s`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from alttext.contrib.djangocms import output, pages, rendering, tags
from tests.contrib.djangocms import stage

NOTHING = None
QUOTED = 'A sign reads "Stop" <now>, it\'s & so'


@dataclass(frozen=True)
class Row:
    """One line: what is stored, and all alt attributes on the image before and after."""

    plugin: str
    stored: str | None  # None: the key is absent
    default: str | None  # of the file
    stock: list[str]
    repaired: list[str]
    advanced: bool = True  # DJANGOCMS_FRONTEND_SHOW_ADVANCED_SETTINGS
    more: dict[str, Any] = field(default_factory=dict)


TABLE = [
    Row("PicturePlugin", "A human alt", "Default", ["A human alt", "A human alt"], ["A human alt"]),
    Row("PicturePlugin", "A human alt", NOTHING, ["A human alt", "A human alt"], ["A human alt"]),
    Row("PicturePlugin", "", "Default", ["Default", ""], [""]),
    Row("PicturePlugin", "", NOTHING, ["", ""], [""]),
    Row("PicturePlugin", NOTHING, "Default", ["Default"], ["Default"]),
    Row("PicturePlugin", NOTHING, NOTHING, [""], [""]),
    Row("PicturePlugin", QUOTED, "Default", [QUOTED, QUOTED], [QUOTED]),
    Row("ImagePlugin", "A human alt", "Default", ["A human alt"], ["A human alt"]),
    Row("ImagePlugin", "", "Default", ["Default", ""], [""]),
    Row("ImagePlugin", "", NOTHING, [""], [""]),
    Row("ImagePlugin", NOTHING, "Default", ["Default"], ["Default"]),
    Row("ImagePlugin", NOTHING, NOTHING, [], [""]),
    Row("ImagePlugin", QUOTED, NOTHING, [QUOTED], [QUOTED]),
    Row("ImagePlugin", "A human alt", "Default", [], ["A human alt"], advanced=False),
    Row("ImagePlugin", "", "Default", ["Default"], [""], advanced=False),
    Row("ImagePlugin", NOTHING, NOTHING, [], [""], advanced=False),
    Row("CarouselSlidePlugin", "A human alt", "Default", ["Default"], ["A human alt"]),
    Row("CarouselSlidePlugin", "", "Default", ["Default"], [""]),
    Row("CarouselSlidePlugin", NOTHING, "Default", ["Default"], ["Default"]),
    Row("CarouselSlidePlugin", NOTHING, NOTHING, [""], [""]),
    Row("CarouselSlidePlugin", QUOTED, NOTHING, [""], [QUOTED]),
]


def rendered(row: Row, page: Any) -> tuple[str, str]:
    """The HTML of one plugin, before and after the processor; it is put onto the page."""
    plugin = _plugin(row, page)
    slot = pages.slots(pages.newest(page_id=plugin.placeholder.source.page_id))[0]
    rendering.with_children(slot)
    plugin = next(found for found in slot.plugins if found.pk == plugin.pk)
    before, _ = rendering.stock(plugin, request=rendering.request_for(slot.content, "/en/"))
    return before, output.normalise_alt(plugin, plugin.placeholder, before, {})


def alts(plugin_type: str, markup: str) -> list[str]:
    """All alt attributes of the plugin's image, doubles too."""
    found = tags.images(markup)
    assert len(found) == 1, plugin_type
    return found[0].alts


def _plugin(row: Row, page: Any) -> Any:
    into, image = stage.slot(page), stage.library_image(alt=row.default)
    attributes = {} if row.stored is None else {"alt": row.stored}
    if row.plugin == "PicturePlugin":
        return stage.photo(into, image, attributes=attributes, **row.more)
    if row.plugin == "ImagePlugin":
        return stage.component(into, "ImagePlugin", picture=stage.reference(image), attributes=attributes, **row.more)
    carousel = stage.component(into, "CarouselPlugin")
    own = {} if row.stored is None else {"carousel_image_alt": row.stored}
    return stage.component(
        into, "CarouselSlidePlugin", target=carousel, carousel_image=stage.reference(image), **own, **row.more
    )


def line(row: Row, before: list[str], after: list[str]) -> str:
    """One line of the table as text."""
    stored = "key absent" if row.stored is None else repr(row.stored)
    name = row.plugin + ("" if row.advanced else ", advanced settings off")
    return f"| {name} | {stored} | {row.default or 'none'} | {_said(before)} | {_said(after)} |"


def _said(found: list[str]) -> str:
    return " ".join(f"alt={value!r}" for value in found) or "no alt"
