"""Wagtail's stored rich text: its words block by block, its images with their links, and one image's alt rewritten.

Images are found as Wagtail's own rewriter finds them, so that what it would not show is no use here. Knows no database.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from alttext import plain

HEADING = re.compile(r"h([1-6])", re.I)
# possessive, and no "<" outside quotes: linear time on any input
TAG = re.compile(r"""<(?P<end>/?)(?P<name>[a-zA-Z][^\s/<>"']*+)(?P<rest>(?:[^<>"']++|"[^"]*+"|'[^']*+')*+)>""")
OPENED = re.compile(r"<embed\b")
ATTRIBUTE = re.compile(r'(?<![\w-])([\w-]++)="([^"]*+)"')  # as wagtail.rich_text.rewriters.FIND_ATTRS


@dataclass
class Link:
    """What an image leads to: an address, or the key of a page; and the words of the link."""

    target: str = ""
    page_pk: Any = None
    label: str = ""
    visible: bool = False


@dataclass(frozen=True)
class Heading:
    """A heading; the words of an outline."""

    level: int
    text: str


@dataclass(frozen=True)
class Words:
    """One block of text."""

    text: str


@dataclass
class Embed:
    """One image in a rich text.

    :ivar start, end: where its tag stands in the source.
    :ivar alt: None where the tag has no such attribute.
    """

    start: int
    end: int
    image_pk: str
    alt: str | None
    link: Link | None = field(default=None)


def embeds(source: str) -> Iterator[Embed]:
    """The images in the order in which they stand, as `wagtail.rich_text.rewriters.EmbedRewriter` sees them."""
    done, closed = 0, -1
    for opened in OPENED.finditer(source):
        start = opened.start()
        if start < done:
            continue
        if closed < start:
            closed = source.find(">", start)
        if closed < 0:
            return
        if source[closed - 1] != "/":
            continue
        attributes = {name: _unescape(value) for name, value in ATTRIBUTE.findall(source, start, closed)}
        done = closed + 1
        if attributes.get("embedtype") == "image" and attributes.get("id", "").strip():
            yield Embed(start, done, attributes["id"].strip(), attributes.get("alt"))


def pieces(source: str) -> Iterator[Heading | Words | Embed]:
    """Headings, blocks of text and images in document order; broken tags stand as text."""
    yield from _Reader(source).read()


def rewritten(source: str, embed: Embed, alt: str | None) -> str:
    """`source` with the alt of this one image changed, to "decorative" by "", to none at all by None."""
    tag = source[embed.start : embed.end]
    found = [match for match in ATTRIBUTE.finditer(tag) if match[1] == "alt"]
    written = f'alt="{_escape(alt)}"' if alt is not None else ""
    if found:
        last = found[-1]  # of several attributes of the same name Wagtail takes the last
        start = last.start() - (alt is None and tag[last.start() - 1].isspace())
        tag = tag[:start] + written + tag[last.end() :]
    elif written:
        tag = f"{tag[:-2].rstrip()} {written}/>"
    return source[: embed.start] + tag + source[embed.end :]


class _Reader:
    def __init__(self, source: str) -> None:
        self.source = source
        self.words: list[str] = []
        self.link_words: list[str] = []
        self.level = 0
        self.link: Link | None = None
        self.silent = ""

    def read(self) -> Iterator[Heading | Words | Embed]:
        done = 0
        for embed in embeds(self.source):
            yield from self.between(self.source[done : embed.start])
            yield from self.block()
            embed.link = self.link
            yield embed
            done = embed.end
        yield from self.between(self.source[done:])
        yield from self.block()
        self.end_link()

    def between(self, markup: str) -> Iterator[Heading | Words]:
        done = 0
        for tag in TAG.finditer(_without_comments(markup)) if "<" in markup else ():
            self.say(tag.string[done : tag.start()])
            done = tag.end()
            yield from self.tag(tag["name"].lower(), bool(tag["end"]), tag["rest"])
        self.say((_without_comments(markup))[done:])

    def tag(self, name: str, ends: bool, rest: str) -> Iterator[Heading | Words]:
        if name in plain.SILENT:
            self.silent = name if not ends and not rest.rstrip().endswith("/") else ""
        if name == "a":
            self.end_link()
            self.link = None if ends else _link(rest)
        if name not in plain.INLINE:
            yield from self.block()
            heading = HEADING.fullmatch(name)
            if heading:
                self.level = 0 if ends else int(heading[1])

    def say(self, text: str) -> None:
        if text and not self.silent:
            self.words.append(text)
            if self.link is not None:
                self.link_words.append(text)

    def block(self) -> Iterator[Heading | Words]:
        text = _clean("".join(self.words))
        self.words.clear()
        if text:
            yield Heading(self.level, text) if self.level else Words(text)

    def end_link(self) -> None:
        if self.link is not None:
            self.link.label = _clean("".join(self.link_words))
            self.link.visible = bool(self.link.label)
        self.link_words.clear()
        self.link = None


def _link(rest: str) -> Link | None:
    attributes = {name: _unescape(value) for name, value in ATTRIBUTE.findall(rest)}
    if attributes.get("linktype") == "page" and attributes.get("id"):
        return Link(page_pk=attributes["id"])
    if attributes.get("linktype") == "document":
        return Link(target="document")
    return Link(target=attributes["href"]) if attributes.get("href") else None


def _without_comments(markup: str) -> str:
    """Comments out; an open one runs to the end. A <wbr> is left, or the pieces around one could form a tag."""
    if "<!--" not in markup:
        return markup
    kept, rest = [], markup
    while rest:
        head, mark, rest = rest.partition("<!--")
        kept.append(head)
        if mark:
            rest = rest.partition("-->")[2]
    return "<wbr>".join(kept)


def _clean(text: str) -> str:
    return unicodedata.normalize("NFC", " ".join(html.unescape(text).split()))


def _unescape(value: str) -> str:
    """As Wagtail reads attributes back."""
    return value.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")


def _escape(value: str) -> str:
    return value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
