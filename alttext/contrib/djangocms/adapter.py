"""The adapter for django CMS 5.1: images in plugins, rich texts and the library. Knows no job and no decision.

What a key means: `keys`. Which plugins hold images: `holdings`. Who may edit: `rights`. How it is written: `writing`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import Q

from alttext.adapters import Alt, NotThere, Place, Refused
from alttext.contrib.djangocms import keys, signals
from alttext.contrib.djangocms.keys import FileKey, NewKey, PageKey


class DjangoCMSAdapter:
    """Pages in their newest version, draft or published, and the default texts of the image library.

    Rich texts and the library can only say "no text": their places have `stores_decorative=False`.
    """

    name = keys.NAME

    @staticmethod
    def connect() -> None:
        """Listen to what happens in the CMS; can be called again."""
        signals.connect()

    def places(self) -> Iterator[Place]:
        """All images on all pages, then all of the library; the queries grow with every 50 pages and 500 images."""
        from alttext.contrib.djangocms import places

        yield from places.of_pages()
        yield from places.of_library()

    def places_since(self, since: datetime) -> Iterator[Place]:
        """All images of pages, and of the library, that were changed since; what left a page is not told."""
        from alttext.contrib.djangocms import places

        yield from places.of_pages(since=since)
        yield from places.of_library(since=since)

    def place(self, key: str) -> Place:
        """One use.  :raises NotThere: it is gone, or the key is malformed."""
        from alttext.contrib.djangocms import places

        found = _parse(key)
        if isinstance(found, FileKey):
            return places.of_file(found)
        return places.of_new(found) if isinstance(found, NewKey) else places.of_key(found)

    def read_image(self, key: str) -> bytes:
        """The original bytes, through the library's storage.  :raises NotThere: the use or its file is gone."""
        from alttext.contrib.djangocms import library, places

        found = _parse(key)
        if isinstance(found, PageKey):
            places.check_use(found)
        elif isinstance(found, NewKey):
            places.new_slot(found)
        return library.get(found.file).read()

    def editable(self, user: Any) -> Q:
        """Condition on Placement for what `user` may edit; used for lists and single rows alike."""
        from alttext.contrib.djangocms import rights

        return rights.editable(user)

    def apply(self, key: str, *, alt: Alt, expected: Alt, by: Any) -> str:
        """Write `alt`, if `expected` still stands there: into the draft of the page, which is made if there is none.

        :raises ChangedElsewhere: something else stands there.
        :raises NotThere: the use is gone.
        :raises TextDoesNotFit: the column is too narrow.
        :raises Refused: the CMS does not let `by` write there; the message tells what to do.
        """
        from alttext.contrib.djangocms import writing

        found = _parse(key)
        if isinstance(found, FileKey):
            return writing.to_library(found, alt=alt, expected=expected, by=by)
        if isinstance(found, NewKey):
            raise Refused("This image is not on the page yet. Save the form in the editor; the text goes along.")
        return writing.to_page(found, alt=alt, expected=expected, by=by)


def _parse(key: str) -> PageKey | FileKey | NewKey:
    try:
        return keys.parse(key)
    except keys.NoKey as error:
        raise NotThere(str(error)) from error
