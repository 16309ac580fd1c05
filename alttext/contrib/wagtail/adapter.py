"""The adapter for Wagtail 8: `places` tells what is found, `access` who may edit, `writing` puts texts back."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import Q

from alttext.adapters import Alt, NotThere, Place
from alttext.contrib.wagtail import access, keys, places, signals, writing


class WagtailAdapter:
    """Pages and snippets in their newest revision, and the descriptions of the images in the library.

    Texts are written as a draft, never behind an open editor; descriptions are written at once.
    """

    name = keys.NAME

    @staticmethod
    def connect() -> None:
        """Listen to what is saved in Wagtail; can be called again."""
        signals.connect()

    def places(self) -> Iterator[Place]:
        """All uses of images, in bounded memory and with a bounded number of queries."""
        return places.all_places()

    def places_since(self, when: datetime) -> Iterator[Place]:
        """Those on pages saved or published since, and images added since."""
        return places.all_places(since=when)

    def place(self, key: str) -> Place:
        """One use.  :raises NotThere: it is gone, or the key is malformed."""
        return places.place(key)

    def read_image(self, key: str) -> bytes:
        """The original bytes, through the image's storage.  :raises NotThere: the use or the file is gone."""
        file = places.image_of(key).file
        try:
            with file.storage.open(file.name, "rb") as opened:
                return opened.read()
        except (OSError, ValueError) as error:
            raise NotThere(f"The file of the image {file.name} cannot be read from the site's storage.") from error

    def editable(self, user: Any) -> Q:
        """Condition on Placement: as Wagtail's permissions on pages, snippets and collections say."""
        return access.editable(user)

    def apply(self, key: str, *, alt: Alt, expected: Alt, by: Any) -> str:
        """Write `alt`, if `expected` still stands there. Returns where the text went, as a sentence.

        :raises ChangedElsewhere: something else stands there.
        :raises NotThere: the use is gone.
        :raises TextDoesNotFit: the column is too narrow.
        :raises Refused: `by` may not, the page is locked, or somebody has it open in an editor.
        """
        return writing.apply(key, alt=alt, expected=expected, by=by)
