"""<img> tags in HTML as text: found, read, and given one alt attribute, while all other bytes stay as they are.

A parser would write the whole document anew. Broken tags are left alone. Knows no plugin and no database.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.html import escape

# possessive, and no "<" outside quotes: linear time on any input
TAG = re.compile(
    r"""<!--.*?(?:-->|\Z)|<(?P<end>/?)(?P<name>[a-zA-Z][^\s/<>"']*+)(?P<rest>(?:[^<>"']++|"[^"]*+"|'[^']*+')*+)>""",
    re.DOTALL,
)
ATTRIBUTE = re.compile(
    r"""[\s/]*(?P<name>[^\s=>/"'<]+)(?P<given>\s*=\s*(?P<value>"[^"]*"|'[^']*'|[^\s"'=<>`]+))?""", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute as it stands in a tag; `start` and `end` count from the start of the tag."""

    name: str  # lower case
    value: str  # decoded; empty where none is given
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Tag:
    """One start or end tag, and where it stands."""

    name: str
    is_end: bool
    text: str
    start: int
    end: int

    @property
    def attributes(self) -> list[Attribute]:
        """All attributes in order, doubles too."""
        found, at, stop = [], 1 + self.is_end + len(self.name), len(self.text) - 1
        while at < stop and (match := ATTRIBUTE.match(self.text, at, stop)):
            value = match["value"] or ""
            if value[:1] in ("'", '"'):
                value = value[1:-1]
            start = match.start("name")
            found.append(Attribute(match["name"].lower(), html.unescape(value), start, match.end()))
            at = match.end()
        return found

    def get(self, name: str) -> str | None:
        """The value of an attribute, of doubles the first, as browsers do; None without one."""
        return next((attribute.value for attribute in self.attributes if attribute.name == name), None)

    @property
    def alts(self) -> list[str]:
        """The values of all its alt attributes."""
        return [attribute.value for attribute in self.attributes if attribute.name == "alt"]


def all_tags(markup: str) -> Iterator[Tag]:
    """Each tag in order; comments, doctypes and broken tags are passed over."""
    for match in TAG.finditer(markup):
        if match["name"]:
            yield Tag(match["name"].lower(), bool(match["end"]), match[0], match.start(), match.end())


def images(markup: str) -> list[Tag]:
    """Each <img> in order."""
    return [tag for tag in all_tags(markup) if tag.name == "img" and not tag.is_end]


def with_alt(tag: Tag, alt: str) -> str:
    """The text of the tag with exactly this alt text, in the place of its first alt attribute."""
    old = [attribute for attribute in tag.attributes if attribute.name == "alt"]
    if len(old) == 1 and old[0].value == alt and "=" in tag.text[old[0].start : old[0].end]:
        return tag.text
    new = f'alt="{escape(alt)}"'
    if not old:
        at = 1 + len(tag.name)
        return f"{tag.text[:at]} {new}{tag.text[at:]}"
    text = tag.text
    for attribute in reversed(old[1:]):
        before = text[: attribute.start].rstrip(" \t\n\r\f")
        text = before + text[attribute.end :]
    after = text[old[0].end :]
    gap = "" if not after or after[0] in " \t\n\r\f/>" else " "
    return f"{text[: old[0].start]}{new}{gap}{after}"


def replaced(markup: str, tag: Tag, text: str) -> str:
    """`markup` with `text` where `tag` stands."""
    return markup[: tag.start] + text + markup[tag.end :]
