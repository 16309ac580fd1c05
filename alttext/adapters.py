"""The seam to a CMS: what an adapter must give, and the loader of those the site has.

An adapter finds uses of images, tells the words around each, says who may edit it, and writes a text back inside a
person's request. It knows nothing of suggestions, jobs or decisions. Those named in ALTTEXT["ADAPTERS"] are loaded, and
those that installed apps bring along by an attribute `alttext_adapter` of their AppConfig.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from django.apps import apps
from django.db.models import Q
from django.utils.module_loading import import_string

from alttext import conf

ABOUT_TO_BE = "new:"  # keys of images in an editor that is not saved yet: no place of a listing, kept out of the queue


class NotThere(LookupError):
    """The place, or its image file, is no longer there."""


class ChangedElsewhere(Exception):
    """The alt text in the CMS is not the one that the author saw; nothing was written."""


class TextDoesNotFit(Exception):
    """The CMS column is too narrow for the text; nothing was written.  `limit` is in code points."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The text does not fit: this site stores at most {limit} characters here.")
        self.limit = limit


class Refused(Exception):
    """The CMS does not take the text; its message is for the author. Nothing was written."""


@dataclass(frozen=True, slots=True)
class Alt:
    """What stands in the CMS now: a text, a person's choice "decorative", or neither."""

    text: str = ""
    decorative: bool = False

    @property
    def hash(self) -> str:
        """sha256 over both, hex."""
        return hashlib.sha256(f"{int(self.decorative)}\n{self.text}".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Context:
    """The words around one use: plain text, empty instead of None, not yet trimmed. Other images' alts stay out."""

    title: str = ""
    headings: tuple[str, ...] = ()
    before: str = ""
    after: str = ""
    caption: str = ""
    link_target: str = ""
    link_label: str = ""
    link_text_visible: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """One use of an image, as an adapter finds it.

    :ivar key: stable across edits of the page.
    :ivar scope: whatever `editable` needs to decide permission in the database.
    :ivar role: declared by the site, or empty.
    :ivar stores_decorative: the CMS has a field for it; without one `alt.decorative` is never true, and `apply`
        compares texts only.
    :ivar kind: what holds the image, in words of the CMS ("picture plugin"); the dry run of a scan counts by it.
    :ivar fingerprint: changes whenever the bytes do, and is had without opening the file (a hash that the CMS keeps, or
        name, size and time of a local file); a scan then does not read a known file again. Empty: cannot be told.
    :ivar in_library: the text belongs to the image itself, for wherever it has none of its own; no page around it.
    """

    key: str
    scope: str
    page_title: str
    page_url: str
    image_name: str
    image_url: str
    language: str
    alt: Alt
    context: Context
    role: str = ""
    stores_decorative: bool = True
    in_library: bool = False
    kind: str = ""
    fingerprint: str = ""


class Adapter(Protocol):
    """What a CMS has to give."""

    name: str

    def places(self) -> Iterator[Place]:
        """All uses of images, in bounded memory."""
        ...

    def place(self, key: str) -> Place:
        """One use.  :raises NotThere: it is gone."""
        ...

    def read_image(self, key: str) -> bytes:
        """The original bytes, through the storage.  :raises NotThere: the use or its file is gone."""
        ...

    def editable(self, user: Any) -> Q:
        """Condition on Placement for what `user` may edit; used for lists and single rows alike."""
        ...

    def apply(self, key: str, *, alt: Alt, expected: Alt, by: Any) -> str:
        """Write `alt`, if `expected` still stands there; called only inside the request of the person `by`.

        Returns what that person should know of where the text went, as a sentence: "Saved in a draft of the page; it
        shows once the page is published." Empty where readers get it at once.

        :raises ChangedElsewhere: something else stands there.
        :raises NotThere: the use is gone.
        :raises TextDoesNotFit: the column is too narrow.
        :raises Refused: the CMS does not take it.
        """
        ...


def paths() -> list[str]:
    """Dotted paths of the site's adapters: of the setting, then of installed apps; each once."""
    brought = [path for app in apps.get_app_configs() if (path := getattr(app, "alttext_adapter", ""))]
    return list(dict.fromkeys([*conf.get("ADAPTERS"), *brought]))


def all_adapters() -> list[Adapter]:
    """The adapters of the site.  :raises ImportError: one does not load."""
    return [import_string(path)() for path in paths()]


def get(name: str) -> Adapter:
    """The adapter called `name`.  :raises NotThere: the site no longer has it."""
    for adapter in all_adapters():
        if adapter.name == name:
            return adapter
    raise NotThere(f"This site has no adapter called {name!r}.")
