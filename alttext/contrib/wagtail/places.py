"""From pages, snippets and library images to places: keys, alt texts, words around. Writes nothing."""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models
from django.urls import NoReverseMatch, reverse
from wagtail.images import get_image_model
from wagtail.models import Page

from alttext.adapters import Alt, Context, NotThere, Place
from alttext.contrib.wagtail import access, context, documents, keys, walk
from alttext.contrib.wagtail.context import Target
from alttext.contrib.wagtail.documents import Document
from alttext.contrib.wagtail.walk import Picture, Piece

log = logging.getLogger("alttext.wagtail")
CHUNK_ROWS = 500
KINDS = {
    walk.BLOCK: "image block",
    walk.EMBED: "image in rich text",
    walk.FIELD: "image with a text field",
    walk.DESCRIPTION: "image without a text of its own",
}
GONE = "This use of an image is no longer on the site."
_held: ContextVar[Sight | None] = ContextVar("alttext_wagtail_held", default=None)


@dataclass(frozen=True)
class Found:
    """One use of an image on a page or in a snippet."""

    key: str
    document: Document
    pieces: list[Piece]
    index: int
    headings: tuple[str, ...]
    image: Any

    @property
    def picture(self) -> Picture:
        piece = self.pieces[self.index]
        assert isinstance(piece, Picture)
        return piece

    @property
    def alt(self) -> Alt:
        return alt_of(self.picture, self.image)


class Sight:
    """Some pages or snippets as they were read at one moment, with the images and pages that they speak of."""

    def __init__(self, read: Iterable[Document], *, leave_out_broken: bool = False) -> None:
        self.read: list[tuple[Document, list[Piece]]] = []
        for document in read:
            try:
                self.read.append((document, walk.walk(document.model, document.data)))
            except Exception:  # one page that cannot be read must not keep the others from being found
                if not leave_out_broken:
                    raise
                log.exception("content of %s", document.head)
        uses = [piece for _, pieces in self.read for piece in pieces if isinstance(piece, Picture)]
        self.images = documents.in_bulk(get_image_model(), (use.image_pk for use in uses))
        self.targets = _targets(uses)

    def found(self) -> Iterator[Found]:
        """The uses whose image is still in the library; of blocks that were given the same id only the first."""
        for document, pieces in self.read:
            told: set[str] = set()
            for index, picture, headings in context.pictures(pieces):
                image = self.images.get(_pk_text(picture.image_pk))
                key = keys.key(document.head, picture.path)
                if image is not None and key not in told:
                    told.add(key)
                    yield Found(key, document, pieces, index, headings, image)

    def places(self) -> Iterator[Place]:
        """What the workbench is told of all of them."""
        return (self.place_of(found) for found in self.found())

    def one(self, key: str) -> Found:
        """:raises NotThere: it is not among them."""
        for found in self.found():
            if found.key == key:
                return found
        raise NotThere(GONE)

    def place_of(self, found: Found) -> Place:
        """What the workbench is told of one use."""
        document, image, picture = found.document, found.image, found.picture
        shared = picture.kept == walk.DESCRIPTION
        words = context.of(
            found.pieces, found.index, title=document.title, headings=found.headings, targets=self.targets
        )
        return Place(
            key=found.key,
            scope=access.scope_of_use(document.scope, image.pk) if shared else document.scope,
            page_title=document.title,
            page_url=document.url,
            image_name=_base_name(image.file.name),
            image_url=_image_url(image.file),
            language=document.language,
            alt=found.alt,
            context=words,
            stores_decorative=picture.kept in (walk.BLOCK, walk.EMBED) or picture.decorative is not None,
            kind=KINDS[picture.kept],
            fingerprint=_fingerprint(image),
        )


def all_places(*, since: datetime | None = None) -> Iterator[Place]:
    """Pages, snippets, then the library; a bounded number of rows and queries at a time.

    A page that cannot be told is logged and left out.

    :param since: only pages that were saved or published, and images that were added, from then on.
    """
    for read in documents.chunks(since=since):
        seen = Sight(read, leave_out_broken=True)
        for found in seen.found():
            try:
                yield seen.place_of(found)
            except Exception:  # a site may tell titles and addresses in its own code
                log.exception("place %s", found.key)
    rows = get_image_model()._default_manager.exclude(file="").order_by("pk")
    if since is not None:
        rows = rows.filter(created_at__gte=since)
    page = list(rows[:CHUNK_ROWS])
    while page:
        yield from (place_of_image(image) for image in page)
        page = list(rows.filter(pk__gt=page[-1].pk)[:CHUNK_ROWS]) if len(page) == CHUNK_ROWS else []


def place(key: str) -> Place:
    """One use.  :raises NotThere: it is gone, or the key is malformed."""
    if (pk := image_pk_of(key)) is not None:
        return place_of_image(library_image(pk))
    seen = sight_of(key)
    return seen.place_of(seen.one(key))


def image_of(key: str) -> Any:
    """The image that is used there.  :raises NotThere: it is gone, or the key is malformed."""
    if (pk := image_pk_of(key)) is not None:
        return library_image(pk)
    return sight_of(key).one(key).image


def sight_of(key: str) -> Sight:
    """The page or snippet of a key as it is now, or as it was read by `held`.  :raises NotThere: there is none."""
    held = _held.get()
    if held is not None and any(key.startswith(document.head) for document, _ in held.read):
        return held
    return Sight([document_of(key)])


def document_of(key: str) -> Document:
    """The page or snippet of a key, read anew.  :raises NotThere: there is none."""
    kind, label, pk = keys.head_of(key) or ("", "", "")
    found = None
    if kind == "page":
        found = documents.page(pk)
    elif kind == "snippet":
        found = documents.snippet(label, pk)
    if found is None or not key.startswith(found.head):
        raise NotThere(GONE)
    return found


@contextmanager
def held(seen: Sight) -> Iterator[None]:
    """While here, places of its pages are not read again: a page with hundreds of images is read once."""
    token = _held.set(seen)
    try:
        yield
    finally:
        _held.reset(token)


def image_pk_of(key: str) -> str | None:
    """The primary key in a key of a library image, as text; None for all other keys."""
    kind, _, pk = keys.head_of(key) or ("", "", "")
    return pk if kind == "image" else None


def library_image(pk: str) -> Any:
    """:raises NotThere: no such image, or one without a file."""
    model = get_image_model()
    clean = documents.clean_pk(model, pk)
    image = model._default_manager.filter(pk=clean).first() if clean is not None else None
    if image is None or keys.text_of(image.pk) != pk or not image.file:
        raise NotThere("This image is no longer in the library.")
    return image


def place_of_image(image: Any) -> Place:
    """The description of an image in the library: no page, no words around."""
    return Place(
        key=keys.image_key(image.pk),
        scope=access.scope_of_image(image.pk),
        page_title=image.title,
        page_url=_image_editor(image),
        image_name=_base_name(image.file.name),
        image_url=_image_url(image.file),
        language=settings.LANGUAGE_CODE,
        alt=Alt(text=image.description or ""),
        context=Context(),
        stores_decorative=False,
        in_library=True,
        kind="library image",
        fingerprint=_fingerprint(image),
    )


def alt_of(picture: Picture, image: Any) -> Alt:
    """What stands there now; a block that is marked decorative has no text, whatever it still holds."""
    if picture.kept == walk.EMBED:
        alt = picture.embed.alt if picture.embed else None
        return Alt(decorative=True) if alt == "" else Alt(text=alt or "")
    if picture.kept == walk.FIELD and picture.slot is not None:
        marked = picture.decorative is not None and bool(picture.decorative.holder.get(picture.decorative.name))
        return Alt(decorative=True) if marked else Alt(text=str(picture.slot.value or ""))
    if picture.kept == walk.BLOCK and picture.slot is not None and isinstance(picture.slot.value, dict):
        value = picture.slot.value
        return Alt(decorative=True) if value.get("decorative") else Alt(text=str(value.get("alt_text") or ""))
    return Alt(text=image.description or "")


def _targets(uses: Iterable[Picture]) -> dict[str, Target]:
    wanted = {link.page_pk for use in uses if (link := use.inside.link) is not None and link.page_pk is not None}
    clean = {pk for given in wanted if (pk := documents.clean_pk(Page, given)) is not None}
    if not clean:
        return {}
    pages = Page.objects.filter(pk__in=clean)
    return {keys.text_of(page.pk): Target(page.get_url() or f"page {page.pk}", page.title) for page in pages}


def _pk_text(given: Any) -> str:
    """As `documents.in_bulk` names rows."""
    clean = documents.clean_pk(get_image_model(), given)
    return keys.text_of(clean) if clean is not None else ""


def _fingerprint(image: Any) -> str:
    """The hash that Wagtail keeps of the file; it is empty until Wagtail needs it."""
    return image.file_hash or ""


def _image_url(file: models.fields.files.FieldFile) -> str:
    try:
        return str(file.url)
    except (NotImplementedError, ValueError):  # a private storage, or one without a base address
        return ""


def _image_editor(image: Any) -> str:
    try:
        return reverse("wagtailimages:edit", args=[image.pk])
    except NoReverseMatch:
        return ""


def _base_name(name: str) -> str:
    return posixpath.basename(name.replace("\\", "/"))
