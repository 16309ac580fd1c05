"""Page text out of a model field: HTML or plain, to plain text. Knows no model and no adapter."""

from __future__ import annotations

import re
import unicodedata
from html.parser import HTMLParser
from typing import Any

# every other element starts a new block, so that words of neighbours never run together
INLINE = frozenset(
    (
        *(
            "a",
            "abbr",
            "acronym",
            "b",
            "bdi",
            "bdo",
            "big",
            "cite",
            "code",
            "data",
            "del",
            "dfn",
            "em",
            "font",
            "i",
            "ins",
        ),
        *("kbd", "label", "mark", "q", "ruby", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time"),
        *("tt", "u", "var", "wbr"),
    )
)
SILENT = frozenset(
    (
        *(
            "audio",
            "head",
            "iframe",
            "noscript",
            "object",
            "rp",
            "rt",
            "script",
            "style",
            "svg",
            "template",
            "textarea",
        ),
        *("title", "video"),
    )
)
MOST_CHARS = 200_000  # of one field; far more than any captioner reads
MARKUP = re.compile(
    r"</?(?:[abipqsuABIPQSU]|[a-zA-Z][a-zA-Z0-9-]+)(?:\s[^<>]*)?/?>|<!--|&(?:[a-zA-Z]{2,31}|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});"
)


class _Blocks(HTMLParser):
    """Collects one string a block; other images' alt texts are attributes and stay out."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[str] = []
        self.words: list[str] = []
        self.silent: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in SILENT:
            self.silent.append(tag)
        if tag not in INLINE:
            self.flush()

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in INLINE:
            self.flush()

    def handle_endtag(self, tag: str) -> None:
        if tag in self.silent:
            del self.silent[self.silent.index(tag) :]
        if tag not in INLINE:
            self.flush()

    def handle_data(self, data: str) -> None:
        if not self.silent:
            self.words.append(data)

    def flush(self) -> None:
        if block := " ".join("".join(self.words).split()):
            self.blocks.append(block)
        self.words.clear()


def _without_comments(html: str) -> str:
    """Comments out, as html.parser takes quadratic time on many open ones; an unclosed one runs to the end."""
    kept, rest = [], html
    while rest:
        head, mark, rest = rest.partition("<!--")
        kept.append(head)
        if mark:
            rest = rest.partition("-->")[2]
    return "<wbr>".join(kept)  # not "", or the ends of two pieces could form a new tag


def from_html(html: str) -> str:
    """The visible words, one line a block, entities decoded, white space collapsed."""
    parser = _Blocks()
    parser.feed(_without_comments(html))
    parser.close()
    parser.flush()
    return "\n".join(parser.blocks)


def text(value: Any) -> str:
    """Plain NFC text of a field's value; empty for None.

    A string that holds a tag, a comment or a character reference is read as HTML, and so is one marked safe.

    :param value: cut after `MOST_CHARS`.
    """
    if value is None:
        return ""
    raw = str(value)[:MOST_CHARS]
    if hasattr(value, "__html__") or MARKUP.search(raw):
        raw = from_html(raw)
    return unicodedata.normalize("NFC", raw).strip()
