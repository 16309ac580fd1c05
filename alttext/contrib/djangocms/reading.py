"""Plugins to what a reader meets, in document order: headings, words, captions, images. Asks no database.

Alt texts are no words of a page: neither the image's own old one nor those of its neighbours.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from django import forms
from django.db import models

from alttext import plain
from alttext.contrib.djangocms import holdings, tags
from alttext.contrib.djangocms.holdings import Holding
from alttext.contrib.djangocms.keys import TEXT

HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
TITLES = ("title", "heading", "headline", "header", "subtitle", "subheading")
NO_WORDS = (
    *("alt", "alt_text", "template", "attributes", "class", "classes", "css_class", "style", "icon", "icon_left"),
    *("icon_right", "collapse_siblings", "link", "target", "external_picture", "rte", "plugin_type", "language"),
    *("ui_item", "tag_type"),
)
NO_WORDS_END = ("_alt", "_alt_text", "_id", "_class", "_classes", "_css", "_style", "_attributes", "_url", "_template")


@dataclass(slots=True)
class Words:
    """A piece of text, one line a block."""

    text: str
    is_heading: bool = False
    is_caption: bool = False


@dataclass(slots=True)
class Picture:
    """An image, with what only its own plugin tells."""

    plugin: Any
    holding: Holding
    caption: str = ""
    link: Any = ""  # an address, or a reference that `links` resolves
    link_label: str = ""


Event = Words | Picture


def events(plugins: list[Any]) -> list[Event]:
    """What a reader meets in these plugins of one slot; children of a rich text where they stand in it."""
    children: dict[int, list[Any]] = {}
    numbers = {plugin.pk for plugin in plugins}
    roots = []
    for plugin in plugins:
        if plugin.parent_id in numbers:
            children.setdefault(plugin.parent_id, []).append(plugin)
        else:
            roots.append(plugin)
    return [event for root in roots for event in _walk(root, children, ())]


def _walk(plugin: Any, children: dict[int, list[Any]], above: tuple[Any, ...]) -> Iterator[Event]:
    own, below = children.get(plugin.pk, []), (*above, plugin)
    if holdings.is_text(holdings.model_of(plugin)):
        by_number = {child.pk: child for child in own}
        for event in _text(plugin):
            if isinstance(event, int):
                child = by_number.pop(event, None)
                if child is not None:
                    yield from _walk(child, children, below)
            else:
                yield event
        own = list(by_number.values())
    else:
        yield from _fields(plugin, above)
    for child in own:
        yield from _walk(child, children, below)


def _fields(plugin: Any, above: tuple[Any, ...]) -> Iterator[Event]:
    pictures = {holding.name: _picture(plugin, holding, above) for holding in holdings.of(plugin)}
    for name, is_html in _word_fields(holdings.model_of(plugin), plugin.plugin_type):
        if name in pictures:
            yield pictures.pop(name)
            continue
        value = _value(plugin, name)
        if not isinstance(value, str) or not value.strip():
            continue
        if name.endswith("caption") or name == "caption_text":
            yield Words(plain.text(value), is_caption=True)
        elif is_html or plain.MARKUP.search(value[: plain.MOST_CHARS]):
            yield from (event for event in markup_events(value) if isinstance(event, Words))
        else:
            yield Words(plain.text(value), is_heading=_is_title(name))
    yield from pictures.values()


def _picture(plugin: Any, holding: Holding, above: tuple[Any, ...]) -> Picture:
    caption, link, label = _caption(plugin), _link(plugin), ""
    if link and caption and not holdings.is_component(holdings.model_of(plugin)):
        label = caption  # the picture plugin puts both into the link
    for plugin_above in reversed(above):
        caption = caption or (_caption(plugin_above) if holdings.is_component(holdings.model_of(plugin_above)) else "")
        if not link and "Link" in plugin_above.plugin_type and (found := _link(plugin_above)):
            link, label = found, plain.text(_value(plugin_above, "name"))
    return Picture(plugin, holding, caption=caption, link=link, link_label=label)


def _caption(plugin: Any) -> str:
    return plain.text(_value(plugin, "caption_text") or _value(plugin, "figure_caption") or _value(plugin, "caption"))


def _link(plugin: Any) -> Any:
    """An address, {"internal_link": "cms.page:1", ...} as djangocms-link keeps it, or empty."""
    if getattr(plugin, "link_url", None):
        return str(plugin.link_url)
    if getattr(plugin, "link_page_id", None):
        return {"internal_link": f"cms.page:{plugin.link_page_id}"}
    value = _value(plugin, "link")
    if isinstance(value, dict) and value.get("external_link"):
        return str(value["external_link"])
    return dict(value) if isinstance(value, dict) else value if isinstance(value, str) else ""


def _value(plugin: Any, name: str) -> Any:
    if holdings.is_component(holdings.model_of(plugin)) and name in (plugin.config or {}):
        return plugin.config[name]
    return plugin.__dict__.get(name)  # columns only: no relation is followed, no property called


def _is_title(name: str) -> bool:
    return name in TITLES or name.endswith(tuple(f"_{title}" for title in TITLES))


@cache
def _word_fields(model: Any, plugin_type: str) -> tuple[tuple[str, bool], ...]:
    """Fields that hold words or images, in the order of the model and of the form; and whether they are HTML."""
    found = []
    for field in model._meta.concrete_fields:
        if field.is_relation or _is_words(field):
            found.append((field.name, "HTML" in type(field).__name__))
    for name, form_field in holdings.config_fields(plugin_type).items() if holdings.is_component(model) else ():
        if isinstance(form_field, forms.ModelChoiceField) or _is_form_words(name, form_field):
            found.append((name, "HTML" in type(form_field).__name__))
    return tuple(found)


def _is_words(field: Any) -> bool:
    if not isinstance(field, models.CharField | models.TextField) or field.choices:
        return False
    if isinstance(field, models.SlugField | models.URLField | models.EmailField | models.FilePathField):
        return False
    return _may_be_words(field.name) and field.get_internal_type() in ("CharField", "TextField")


def _is_form_words(name: str, field: Any) -> bool:
    others = (forms.URLField, forms.EmailField, forms.SlugField, forms.RegexField, forms.JSONField)
    return isinstance(field, forms.CharField) and not isinstance(field, others) and _may_be_words(name)


def _may_be_words(name: str) -> bool:
    return name not in NO_WORDS and not name.endswith(NO_WORDS_END)


def _text(plugin: Any) -> Iterator[Event | int]:
    """Words and images of a rich text; a number stands for the child plugin with that number."""
    by_number = {holding.store.number: holding for holding in holdings.of(plugin) if holding.part == TEXT}  # type: ignore[attr-defined]
    number = -1
    for event in markup_events(plugin.body[: plain.MOST_CHARS]):
        if isinstance(event, Inline):
            if event.is_library:
                number += 1
            if event.is_library and number in by_number:
                yield Picture(plugin, by_number[number], event.caption, event.link, event.link_label)
        else:
            yield event


@dataclass(slots=True)
class Inline:
    """An <img> in markup; what is known of it only once its link and figure are closed is filled in then."""

    is_library: bool
    caption: str = ""
    link: Any = ""
    link_label: str = ""


def markup_events(markup: str) -> list[Words | Inline | int]:
    """Headings, words, images and child plugins of HTML, in order."""
    return _Markup(markup).read()


class _Markup:
    """Cuts HTML where a heading, figure caption, link or image starts or ends, and reads the pieces between."""

    def __init__(self, markup: str) -> None:
        self.markup, self.found = markup, list[Words | Inline | int]()
        self.at, self.inside = 0, ""  # where the piece starts; the heading or caption that it stands in
        self.figure: list[Inline] | None = None
        self.link: tuple[Any, list[Inline], int] | None = None  # target, images, number of events before it
        self.link_start = self.plugin = 0

    def read(self) -> list[Words | Inline | int]:
        for tag in tags.all_tags(self.markup):
            if self.plugin:
                self._in_plugin(tag)
            elif tag.name in HEADINGS or tag.name == "figcaption":
                self._cut(tag)
                self.inside = "" if tag.is_end else tag.name
            elif tag.name == "figure":
                self._cut(tag)
                self.figure = None if tag.is_end else []
            elif tag.name == "a":
                self._anchor(tag)
            elif tag.name == "img" and not tag.is_end:
                self._image(tag)
            elif tag.name == "cms-plugin" and not tag.is_end:
                self._cut(tag)
                number = tag.get("id") or ""
                self.found.append(int(number) if number.isdecimal() and len(number) < 12 else 0)
                self.plugin = 1
        self._words(self.markup[self.at :])
        return self.found

    def _in_plugin(self, tag: tags.Tag) -> None:
        """What stands between the tags of a child plugin is a leftover of the editor."""
        if tag.name == "cms-plugin":
            self.plugin += -1 if tag.is_end else 1
        self.at = tag.end

    def _cut(self, tag: tags.Tag) -> None:
        self._words(self.markup[self.at : tag.start])
        self.at = tag.end

    def _words(self, piece: str) -> None:
        text = unicodedata.normalize("NFC", plain.from_html(piece))
        if not text:
            return
        if self.inside == "figcaption" and self.figure:
            for image in self.figure:
                image.caption = text
        self.found.append(Words(text, is_heading=self.inside in HEADINGS, is_caption=self.inside == "figcaption"))

    def _anchor(self, tag: tags.Tag) -> None:
        if tag.is_end:
            if self.link and self.link[1]:
                self._cut(tag)
                words = [event.text for event in self.found[self.link[2] :] if isinstance(event, Words)]
                for image in self.link[1]:
                    image.link_label = " ".join(words)
            self.link = None
            return
        said = tag.get("data-cms-href") or ""
        target = {"internal_link": said} if said else tag.get("href") or ""
        self.link = (target, [], len(self.found)) if target else None
        self.link_start = tag.end

    def _image(self, tag: tags.Tag) -> None:
        image = Inline(is_library=bool(tag.get("data-cms-src")))
        if self.link:
            if not self.link[1]:  # words before the image, within the link, are its label too
                before = self.markup[self.at : self.link_start] if self.link_start >= self.at else ""
                self._words(before)
                self.at = max(self.at, self.link_start)
                self.link = (self.link[0], self.link[1], len(self.found))
            image.link = self.link[0]
            self.link[1].append(image)
        if self.figure is not None:
            self.figure.append(image)
        self._cut(tag)
        self.found.append(image)


def references(found: list[Event]) -> Iterator[Any]:
    """The links that have to be looked up."""
    return (event.link for event in found if isinstance(event, Picture) and isinstance(event.link, dict))


def files(found: list[Event]) -> set[int]:
    """The numbers of all images."""
    return {event.holding.file for event in found if isinstance(event, Picture)}
