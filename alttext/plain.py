"""Page text out of a model field: HTML or plain, to plain text. Knows no model and no adapter."""

from __future__ import annotations

import html
import re
import unicodedata
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
# possessive, and no "<" outside quotes: linear time on any input. html.parser takes minutes on 200,000 of "<a <a <a"
TAG = re.compile(
    r"""<(?P<end>/?)(?P<name>[a-zA-Z][^\s/<>"']*+)(?:[^<>"']++|"[^"]*+"|'[^']*+')*+>|<[!?][^<>]*+>""",
)


class _Blocks:
    """Collects one string a block; other images' alt texts are attributes and stay out."""

    def __init__(self) -> None:
        self.blocks: list[str] = []
        self.words: list[str] = []
        self.silent: list[str] = []

    def start(self, name: str) -> None:
        if name in SILENT:
            self.silent.append(name)

    def end(self, name: str) -> None:
        if name in self.silent:
            del self.silent[self.silent.index(name) :]

    def say(self, words: str) -> None:
        if not self.silent:
            self.words.append(words)

    def flush(self) -> None:
        if block := " ".join(html.unescape("".join(self.words)).split()):
            self.blocks.append(block)
        self.words.clear()


def _without_comments(markup: str) -> str:
    """Comments out; each leaves a <wbr>, or the pieces around it could form a tag. An open one runs to the end."""
    kept, rest = [], markup
    while rest:
        head, mark, rest = rest.partition("<!--")
        kept.append(head)
        if mark:
            rest = rest.partition("-->")[2]
    return "<wbr>".join(kept)


def from_html(markup: str) -> str:
    """The visible words, one line a block, entities decoded, white space collapsed; broken tags stand as text."""
    markup, found, done = _without_comments(markup), _Blocks(), 0
    for tag in TAG.finditer(markup):
        found.say(markup[done : tag.start()])
        done = tag.end()
        name = (tag["name"] or "").lower()
        if name not in INLINE:
            found.flush()
        (found.end if tag["end"] else found.start)(name)
    found.say(markup[done:])
    found.flush()
    return "\n".join(found.blocks)


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
