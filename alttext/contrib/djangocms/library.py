"""The image library (django-filer) as plain values: names, addresses, bytes. Knows no page and no plugin.

Rows are read as values: an image object without size or hash opens its storage while it is made.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from django.db import models

from alttext.adapters import NotThere

CHUNK_ROWS = 500


@dataclass(frozen=True, slots=True)
class LibraryImage:
    """One image of the library."""

    pk: int
    file: str
    is_public: bool
    label: str
    default_alt: str
    sha1: str  # as the library keeps it; empty where it could not be had

    @property
    def name(self) -> str:
        """The file's name without folders."""
        return posixpath.basename(self.file.replace("\\", "/"))

    @property
    def url(self) -> str:
        """Where the original can be had; empty where the storage has no addresses."""
        try:
            return str(_storage(self.is_public).url(self.file))
        except (NotImplementedError, ValueError):
            return ""

    @property
    def fingerprint(self) -> str:
        """Changes with the bytes; empty where the library does not tell."""
        return f"sha1:{self.sha1}" if self.sha1 else ""

    def read(self) -> bytes:
        """The original bytes, through the storage.  :raises NotThere: the file is gone."""
        try:
            with _storage(self.is_public).open(self.file, "rb") as opened:
                return opened.read()
        except (OSError, ValueError) as error:
            raise NotThere(f"The image file {self.name} cannot be read from the site's storage.") from error


@cache
def image_model() -> type[models.Model]:
    """The site's image model; it can be swapped."""
    from filer import settings
    from filer.utils.loader import load_model

    return load_model(settings.FILER_IMAGE_MODEL)


@cache
def labels() -> frozenset[str]:
    """How references in JSON and HTML may name the model."""
    return frozenset(("filer.image", image_model()._meta.label_lower))


def in_bulk(pks: Iterable[int]) -> dict[int, LibraryImage]:
    """The images with these numbers that are there and have a file; plain files are none."""
    return {image.pk: image for image in _images(image_model()._base_manager.filter(pk__in=set(pks)))}


def after(pk: int, *, since: datetime | None = None) -> list[LibraryImage]:
    """The next images by number, as many as fit a chunk; images without a file are left out.

    :param since: only those that were changed since.
    """
    rows = image_model()._base_manager.filter(pk__gt=pk, file__isnull=False).exclude(file="")
    if since:
        rows = rows.filter(modified_at__gte=since)
    return _images(rows.order_by("pk")[:CHUNK_ROWS])


def get(pk: int) -> LibraryImage:
    """One image.  :raises NotThere: it is gone, has no file, or is no image."""
    found = in_bulk([pk])
    if pk not in found:
        raise NotThere("This image is no longer in the library.")
    return found[pk]


def reference(value: Any) -> int | None:
    """The number in a reference: {"model": "filer.image", "pk": 5} of a config, "filer.image:5" of a rich text."""
    if isinstance(value, str):
        model, _, pk = value.rpartition(":")
    elif isinstance(value, dict):
        model, pk = str(value.get("model")), str(value.get("pk"))
    else:
        return None
    if model.strip().lower() not in labels():
        return None
    try:
        number = int(pk.strip())
    except ValueError:
        return None
    return number if 0 < number < 10**12 else None


def _images(rows: models.QuerySet) -> list[LibraryImage]:
    names = ("pk", "file", "is_public", "name", "original_filename", "default_alt_text", "sha1")
    return [
        LibraryImage(pk, file, public, label=name or original or "", default_alt=default or "", sha1=sha1 or "")
        for pk, file, public, name, original, default, sha1 in rows.values_list(*names)
        if file
    ]


def _storage(is_public: bool) -> Any:
    storages = image_model()._meta.get_field("file").storages  # type: ignore[union-attr]
    return storages["public" if is_public else "private"]
