"""The stable names of uses of images in Wagtail. Knows no row and no page content.

A key has at most 200 characters and is one of

    image:<image pk>                     the description of an image in the library
    page:<page pk>:<path>                a use on a page
    snippet:<app.model>:<pk>:<path>      a use in a snippet

<path> is Wagtail's content path, its parts joined by dots: field name, then block ids inside a stream or a list and
child names inside a struct ("body.<id>.images.<id>", "hero"). It ends at the ImageBlock or the image chooser. A row of
an inline panel is named by its primary key ("gallery.<row pk>.image"). An image within rich text adds which image and
its how-manieth use in that text: "<path of the text>#<image pk>.<1, 2, ...>". A path that makes the key too long is
replaced from its second part on by "~" and the first 40 hex digits of its sha256.
"""

from __future__ import annotations

import hashlib
import uuid
from typing import Any

NAME = "wagtail"
MOST_CHARS = 200  # the column alttext.models.Placement.key
HASH_CHARS = 40


def text_of(pk: Any) -> str:
    """A primary key as it stands in keys and scopes; UUIDs as 32 hex digits."""
    return pk.hex if isinstance(pk, uuid.UUID) else str(pk)


def image_key(pk: Any) -> str:
    """The description of an image in the library."""
    return f"image:{text_of(pk)}"


def page_head(pk: Any) -> str:
    """What the keys of all uses on a page start with."""
    return f"page:{text_of(pk)}:"


def snippet_head(label: str, pk: Any) -> str:
    """What the keys of all uses in a snippet start with; `label` is "app.model"."""
    return f"snippet:{label.lower()}:{text_of(pk)}:"


def key(head: str, path: str) -> str:
    """The key of the use at `path` of the page or snippet whose keys start with `head`."""
    whole = head + path
    if len(whole) <= MOST_CHARS:
        return whole
    return f"{head}{path.split('.')[0]}~{hashlib.sha256(path.encode()).hexdigest()[:HASH_CHARS]}"


def page_key(pk: Any, path: str) -> str:
    """The key of the use at the content path `path` of a page."""
    return key(page_head(pk), path)


def rich_text_path(path: str, image_pk: Any, ordinal: int) -> str:
    """The path of an image within the rich text at `path`; `ordinal` counts its uses in that text from 1."""
    return f"{path}#{text_of(image_pk)}.{ordinal}"


def made_up_id(path: str, index: int) -> str:
    """A stand-in for the id that Wagtail has not given yet to an item of a stream or list; the same each time."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{path}/{index}"))


def head_of(given: str) -> tuple[str, str, str] | None:
    """(kind, model label or empty, primary key as text) of a key; None where it is none."""
    kind, _, rest = given.partition(":")
    if kind == "image" and rest:
        return kind, "", rest
    if kind == "page":
        pk, _, path = rest.partition(":")
        return (kind, "", pk) if pk and path else None
    if kind == "snippet":
        label, _, rest = rest.partition(":")
        pk, _, path = rest.partition(":")
        return (kind, label, pk) if label and pk and path else None
    return None
