"""Where the alt text of an image stands in a plugin: read from it, written to it; nothing is saved here.

Attributes and our own entries can say "decorative": a key that is there with an empty text is a decision, a missing key
is none. A text column needs a second one for it; a component's own field and a rich text cannot.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Protocol

from alttext.adapters import Alt, Refused, TextDoesNotFit
from alttext.contrib.djangocms import tags


class Store(Protocol):
    """One way to keep an alt text."""

    @property
    def knows_decorative(self) -> bool:
        """Whether "decorative" can be read back."""
        ...

    def read(self, plugin: Any) -> Alt:
        """What stands there."""
        ...

    def write(self, plugin: Any, alt: Alt) -> list[str]:
        """Put `alt` into the plugin object; the columns that have to be saved."""
        ...


@dataclass(frozen=True, slots=True)
class Attributes:
    """The key "alt" of the HTML attributes: a JSON column, or the entry "attributes" of a component's config."""

    column: str = "attributes"
    entry: str = ""
    knows_decorative = True

    def read(self, plugin: Any) -> Alt:
        given = self._given(plugin)
        return _decided(next((given[name] for name in _spellings(given)), None))

    def write(self, plugin: Any, alt: Alt) -> list[str]:
        given = self._given(plugin)
        for name in _spellings(given):  # "Alt" beside "alt" would print the attribute twice
            if name != "alt":
                del given[name]
        _decide(given, "alt", alt)
        value = given
        if self.entry:
            value = {**(getattr(plugin, self.column) or {}), self.entry: given}
        setattr(plugin, self.column, value)
        return [self.column]

    def _given(self, plugin: Any) -> dict[str, Any]:
        value = getattr(plugin, self.column)
        if self.entry:
            value = value.get(self.entry) if isinstance(value, dict) else None
        return copy.copy(value) if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """An entry of a component's config; of our own, unless the component's form has a field for it."""

    name: str
    knows_decorative: bool = True
    most_chars: int | None = None

    def read(self, plugin: Any) -> Alt:
        value = (plugin.config or {}).get(self.name)
        return _decided(value) if self.knows_decorative else Alt(text=str(value or ""))

    def write(self, plugin: Any, alt: Alt) -> list[str]:
        _fit(alt, self.most_chars)
        config = dict(plugin.config or {})
        if self.knows_decorative:
            _decide(config, self.name, alt)
        else:
            config[self.name] = alt.text
        plugin.config = config
        return ["config"]


@dataclass(frozen=True, slots=True)
class Column:
    """A text column of the plugin's model, and perhaps one that says "decorative"."""

    name: str
    most_chars: int | None = None
    decorative: str = ""

    @property
    def knows_decorative(self) -> bool:
        return bool(self.decorative)

    def read(self, plugin: Any) -> Alt:
        if self.decorative and getattr(plugin, self.decorative):
            return Alt(decorative=True)
        return Alt(text=getattr(plugin, self.name) or "")

    def write(self, plugin: Any, alt: Alt) -> list[str]:
        _fit(alt, self.most_chars)
        setattr(plugin, self.name, alt.text)
        if not self.decorative:
            return [self.name]
        setattr(plugin, self.decorative, alt.decorative)
        return [self.name, self.decorative]


@dataclass(frozen=True, slots=True)
class Inline:
    """The alt attribute of one <img> in a rich text; `number` counts the images of the library there, from 0."""

    number: int
    reference: str  # what data-cms-src says
    column: str = "body"
    knows_decorative = False

    def read(self, plugin: Any) -> Alt:
        tag = self.tag(plugin)
        return Alt(text=(tag.get("alt") or "") if tag else "")

    def write(self, plugin: Any, alt: Alt) -> list[str]:
        body = getattr(plugin, self.column)
        tag = self.tag(plugin)
        if tag is None:
            raise Refused("This image is no longer in the text.")
        setattr(plugin, self.column, tags.replaced(body, tag, tags.with_alt(tag, alt.text)))
        if not getattr(plugin, "json", None):
            return [self.column]
        plugin.json = self._document(plugin, tag.get("alt") or "", alt)
        return [self.column, "json"]

    def tag(self, plugin: Any) -> tags.Tag | None:
        """The <img> as it stands in the body; None where it is gone."""
        found = inline_images(getattr(plugin, self.column))
        return found[self.number] if self.number < len(found) else None

    def _document(self, plugin: Any, before: str, alt: Alt) -> Any:
        """The editor's own form of the text, changed alike.  :raises Refused: the two do not tell the same."""
        document = copy.deepcopy(plugin.json)
        nodes = list(_nodes(document)) if plugin.rte in ("", "tiptap") else []
        same = len(nodes) == len(inline_images(getattr(plugin, self.column)))
        given = nodes[self.number]["attrs"] if same else {}
        if given.get("data-cms-src") != self.reference or (given.get("alt") or "") != before:
            raise Refused(
                "This text was written in an editor that keeps a second form of it, and the two differ. "
                "Open the text in its editor, set the alternative text there and save."
            )
        given["alt"] = alt.text
        return document


def inline_images(body: str) -> list[tags.Tag]:
    """The images of the library in a rich text, in order; not what the editor left within a child plugin."""
    found, depth = [], 0
    for tag in tags.all_tags(body or ""):
        if tag.name == "cms-plugin":
            depth = max(0, depth + (-1 if tag.is_end else 1))
        elif not depth and tag.name == "img" and not tag.is_end and tag.get("data-cms-src"):
            found.append(tag)
    return found


def _nodes(document: Any) -> Any:
    """The image nodes of a Tiptap document that refer to the library, in order."""
    if isinstance(document, dict):
        attrs = document.get("attrs")
        if document.get("type") == "image" and isinstance(attrs, dict) and attrs.get("data-cms-src"):
            yield document
        yield from _nodes(document.get("content"))
    elif isinstance(document, list):
        for child in document:
            yield from _nodes(child)


def _spellings(given: dict[str, Any]) -> list[str]:
    """The keys of `given` that browsers read as "alt", the plain one first."""
    return sorted((name for name in given if str(name).lower() == "alt"), key=lambda name: name != "alt")


def _decided(value: Any) -> Alt:
    if value is None:
        return Alt()
    return Alt(text=str(value)) if str(value) else Alt(decorative=True)


def _decide(given: dict[str, Any], name: str, alt: Alt) -> None:
    if alt.decorative or alt.text:
        given[name] = "" if alt.decorative else alt.text
    else:
        given.pop(name, None)


def _fit(alt: Alt, most_chars: int | None) -> None:
    if most_chars is not None and len(alt.text) > most_chars:
        raise TextDoesNotFit(most_chars)
