"""Names of the places: stable across versions, draft copies and edits above; plugin numbers are no part of them.

    page:<page>:<language>:<slot>:<plugin type>.<part>:<file>:<n>    an image of a plugin
    page:<page>:<language>:<slot>:<plugin type>.text:<file>:<n>      an image within a rich text
    file:<file>                                                      the default text of an image in the library
    new:<placeholder>:<language>:<position>:<plugin type>:<file>:<seconds>:<seal>   an image in a form, not saved yet

`n` counts the same file in the same slot, plugin type and part, from 1. Knows no model and no database.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime

from django.utils.crypto import constant_time_compare, salted_hmac

from alttext.adapters import ABOUT_TO_BE

NAME = "djangocms"
TEXT = "text"  # the part of an image within a rich text
MOST_CHARS = 40  # of a slot or part as it is; longer ones and odd characters go in as a hash
PLAIN = re.compile(r"[A-Za-z0-9_.-]{1,40}")
NUMBER = r"[1-9][0-9]{0,11}"
PAGE_KEY = re.compile(
    rf"page:(?P<page>{NUMBER}):(?P<language>[A-Za-z0-9_-]{{2,15}}):(?P<slot>[A-Za-z0-9_.~-]{{1,40}}):"
    rf"(?P<kind>[A-Za-z0-9_]{{1,50}})\.(?P<part>[A-Za-z0-9_.~-]{{1,40}}):(?P<file>{NUMBER}):(?P<n>{NUMBER})"
)
FILE_KEY = re.compile(rf"file:(?P<file>{NUMBER})")
NEW_KEY = re.compile(
    rf"{ABOUT_TO_BE}(?P<placeholder>{NUMBER}):(?P<language>[A-Za-z0-9_-]{{2,15}}):(?P<position>{NUMBER}):"
    rf"(?P<kind>[A-Za-z0-9_]{{1,50}}):(?P<file>{NUMBER}):(?P<seconds>{NUMBER}):[0-9a-f]{{20}}"
)


@dataclass(frozen=True, slots=True)
class PageKey:
    """One use of an image on a page in one language."""

    page: int
    language: str
    slot: str  # as `short` writes it
    kind: str  # plugin type
    part: str
    file: int
    n: int

    def __str__(self) -> str:
        return f"{prefix(self.page, self.language, self.slot)}{self.kind}.{self.part}:{self.file}:{self.n}"


@dataclass(frozen=True, slots=True)
class FileKey:
    """The default text of one image of the library."""

    file: int

    def __str__(self) -> str:
        return f"file:{self.file}"


@dataclass(frozen=True, slots=True)
class NewKey:
    """An image that is about to be placed."""

    placeholder: int
    language: str
    position: int
    kind: str
    file: int
    seconds: int

    def __str__(self) -> str:
        said = f"{ABOUT_TO_BE}{self.placeholder}:{self.language}:{self.position}:{self.kind}:{self.file}:{self.seconds}"
        # only the view that has asked for the right to see the image gives such keys
        return f"{said}:{salted_hmac(NAME, said).hexdigest()[:20]}"


class NoKey(ValueError):
    """The text is no key of this adapter."""


def short(name: str) -> str:
    """A slot or part as it stands in a key."""
    if PLAIN.fullmatch(name):
        return name
    return "~" + hashlib.sha256(name.encode()).hexdigest()[:20]


def prefix(page: int, language: str, slot: str) -> str:
    """How all keys of one slot of a page begin; `slot` as `short` writes it."""
    return f"page:{page}:{language}:{slot}:"


def parse(key: str) -> PageKey | FileKey | NewKey:
    """The parts of a key.  :raises NoKey: it is none."""
    if found := PAGE_KEY.fullmatch(key):
        page, language, slot, kind, part, file, n = found.groups()
        return PageKey(int(page), language, slot, kind, part, int(file), int(n))
    if found := FILE_KEY.fullmatch(key):
        return FileKey(int(found["file"]))
    if found := NEW_KEY.fullmatch(key):
        placeholder, language, position, kind, file, seconds = found.groups()
        made = NewKey(int(placeholder), language, int(position), kind, int(file), int(seconds))
        if constant_time_compare(str(made), key):
            return made
    raise NoKey(f"{key[:80]!r} is no key of an image in django CMS.")


def new_key(*, placeholder_id: int, language: str, position: int, plugin_type: str, file_id: int, at: datetime) -> str:
    """The key of an image in a plugin form that is not saved yet; it is good for a day."""
    return str(NewKey(placeholder_id, language, max(1, position), plugin_type, file_id, int(at.timestamp())))
