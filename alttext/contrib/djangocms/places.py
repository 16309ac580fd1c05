"""From slots to places: one key, one alt text and one context for each image. Reads only."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from cms.models import PageContent, Placeholder
from cms.plugin_pool import plugin_pool
from django.conf import settings
from django.urls import NoReverseMatch, reverse
from django.utils import timezone

from alttext.adapters import Alt, Context, NotThere, Place
from alttext.contrib.djangocms import context, holdings, library, pages, reading
from alttext.contrib.djangocms.holdings import Holding
from alttext.contrib.djangocms.keys import TEXT, FileKey, NewKey, PageKey, short
from alttext.contrib.djangocms.library import LibraryImage
from alttext.contrib.djangocms.links import Links
from alttext.contrib.djangocms.pages import Slot

FILES = "file"  # the scope of default texts
NEW_IS_GOOD_FOR = timedelta(hours=24)
CLOCKS_DIFFER = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Spot:
    """Where an image stands now: the plugin is only a pointer, a draft has others."""

    key: PageKey
    slot: Slot
    plugin: Any
    holding: Holding


def scope(page: int, plugin_type: str) -> str:
    """What permission is decided by: the page, and the kind of plugin."""
    return f"page:{page}:{plugin_type}"


def kind(plugin_type: str) -> str:
    """A plugin type in words: "PicturePlugin" is a picture plugin."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", plugin_type).lower()


def of_pages(*, since: datetime | None = None) -> Iterator[Place]:
    """All images on all pages, or on those changed since, page by page."""
    for contents in pages.chunks(since=since):
        yield from of_slots(pages.slots(contents))


def of_library(*, since: datetime | None = None) -> Iterator[Place]:
    """The default texts of all images of the library, or of those changed since."""
    after = 0
    while chunk := library.after(after, since=since):
        yield from (_of_file(image) for image in chunk)
        after = chunk[-1].pk


def of_slots(slots: list[Slot], *, only: PageKey | None = None) -> Iterator[Place]:
    """All images in these slots, in order; or one of them."""
    read = [(slot, reading.events(slot.plugins)) for slot in slots]
    files = (file for _, found in read for file in reading.files(found))
    images = library.in_bulk([only.file] if only else files)
    links = Links(
        pages={slot.content.page_id for slot in slots},
        references=(reference for _, found in read for reference in reading.references(found)),
    )
    urls: dict[int, str] = {}
    for slot, found in read:
        content = slot.content
        if content.pk not in urls:
            urls[content.pk] = links.page_url(content, is_draft=slot.is_draft)
        count: Counter[tuple[str, str, int]] = Counter()
        for at, event in enumerate(found):
            if isinstance(event, reading.Picture):
                key = _key(slot, event.plugin, event.holding, count)
                if event.holding.file in images and only in (None, key):
                    words = context.around(found, at, title=content.title, language=content.language, links=links)
                    yield _place(slot, key, event, images[event.holding.file], urls[content.pk], words)


def of_key(key: PageKey) -> Place:
    """One image on a page.  :raises NotThere: it is gone."""
    for place in of_slots([_slot(key)], only=key):
        return place
    raise NotThere("This use of an image is no longer on the page.")


def of_file(key: FileKey) -> Place:
    """The default text of one image.  :raises NotThere: it is gone."""
    return _of_file(library.get(key.file))


def of_new(key: NewKey) -> Place:
    """An image that is about to be placed, with the words at that position.

    :raises NotThere: the form was opened too long ago, or its slot or image is gone.
    """
    slot = new_slot(key)
    image = library.get(key.file)
    found = reading.events([plugin for plugin in slot.plugins if plugin.position < key.position])
    whole = reading.events(slot.plugins)
    at = len(found) if whole[: len(found)] == found else len(whole)
    content = slot.content
    words = context.at_position(whole, at, title=content.title)
    links = Links(pages={content.page_id}, references=())
    return Place(
        key=str(key),
        scope=scope(content.page_id, key.kind),
        page_title=content.title,
        page_url=links.page_url(content, is_draft=slot.is_draft),
        image_name=image.name,
        image_url=image.url,
        language=content.language,
        alt=Alt(),
        context=words,
        stores_decorative=holdings.knows_decorative(key.kind),
        kind=f"{kind(key.kind)}, not saved yet",
        fingerprint=image.fingerprint,
    )


def new_slot(key: NewKey) -> Slot:
    """Where an image is about to be placed.  :raises NotThere: as `of_new`."""
    try:
        age = timezone.now() - datetime.fromtimestamp(key.seconds, tz=UTC)
    except (OverflowError, OSError, ValueError) as error:
        raise NotThere("The form has no date that could be.") from error
    if not -CLOCKS_DIFFER <= age <= NEW_IS_GOOD_FOR:
        raise NotThere("The form was opened too long ago. Open it again.")
    if key.kind not in plugin_pool.plugins:
        raise NotThere("This site has no such plugin any more.")
    placeholder = Placeholder.objects.filter(pk=key.placeholder, content_type=pages.content_type()).first()
    contents = pages.newest(pk=placeholder.object_id, language=key.language) if placeholder else []
    found = pages.slots(contents, only={key.placeholder})
    if not found:
        raise NotThere("The place where the image was to go is no longer there.")
    return found[0]


def spot(key: PageKey) -> Spot:
    """Where an image stands now, without the words around it.  :raises NotThere: it is gone."""
    for found in spots(_slot(key)):
        if found.key == key:
            return found
    raise NotThere("This use of an image is no longer on the page.")


def check_use(key: PageKey) -> None:
    """See that an image is still in use, without reading the other plugins where a column tells it.

    :raises NotThere: it is gone.
    """
    plugin_class = plugin_pool.plugins.get(key.kind)
    if plugin_class is None or not holdings.has_column(plugin_class.model, key.part):
        spot(key)  # in a JSON value or a text
        return
    rows = Placeholder.objects.filter(
        content_type=pages.content_type(),
        object_id__in=[content.pk for content, _ in pages.newest(page_id=key.page, language=key.language)],
    )
    slots = [row.pk for row in rows if short(row.slot) == key.slot]
    uses = plugin_class.model._default_manager.filter(
        placeholder__in=slots, language=key.language, plugin_type=key.kind, **{key.part: key.file}
    )
    if uses.count() < key.n:
        raise NotThere("This use of an image is no longer on the page.")


def spots(slot: Slot) -> Iterator[Spot]:
    """Where the images of one slot stand, in order, also those whose file is gone."""
    count: Counter[tuple[str, str, int]] = Counter()
    for event in reading.events(slot.plugins):
        if isinstance(event, reading.Picture):
            yield Spot(_key(slot, event.plugin, event.holding, count), slot, event.plugin, event.holding)


def slot_of(placeholder_id: int, *, content: PageContent, is_draft: bool) -> Slot | None:
    """One slot of a content that is known; None where its template does not show it."""
    found = pages.slots([(content, is_draft)], only={placeholder_id})
    return found[0] if found else None


def _slot(key: PageKey) -> Slot:
    contents = pages.newest(page_id=key.page, language=key.language)
    for content, is_draft in contents:
        for placeholder in Placeholder.objects.filter(content_type=pages.content_type(), object_id=content.pk):
            if short(placeholder.slot) == key.slot and (
                found := slot_of(placeholder.pk, content=content, is_draft=is_draft)
            ):
                return found
    raise NotThere("This page, or this part of it, is no longer there.")


def _key(slot: Slot, plugin: Any, holding: Holding, count: Counter[tuple[str, str, int]]) -> PageKey:
    same = (plugin.plugin_type, holding.part, holding.file)
    count[same] += 1
    content = slot.content
    name = short(slot.placeholder.slot)
    return PageKey(content.page_id, content.language, name, *same, n=count[same])


def _place(
    slot: Slot, key: PageKey, event: reading.Picture, image: LibraryImage, page_url: str, words: Context
) -> Place:
    return Place(
        key=str(key),
        scope=scope(slot.content.page_id, event.plugin.plugin_type),
        page_title=slot.content.title,
        page_url=page_url,
        image_name=image.name,
        image_url=image.url,
        language=slot.content.language,
        alt=event.holding.store.read(event.plugin),
        context=words,
        stores_decorative=event.holding.store.knows_decorative,
        kind="image in a text" if event.holding.part == TEXT else kind(event.plugin.plugin_type),
        fingerprint=image.fingerprint,
    )


def _of_file(image: LibraryImage) -> Place:
    options = library.image_model()._meta
    try:
        url = reverse(f"admin:{options.app_label}_{options.model_name}_change", args=[image.pk])
    except NoReverseMatch:  # the library is not in the admin of this site
        url = ""
    return Place(
        key=str(FileKey(image.pk)),
        scope=FILES,
        page_title=image.label or image.name,
        page_url=url,
        image_name=image.name,
        image_url=image.url,
        language=settings.LANGUAGE_CODE,
        alt=Alt(text=image.default_alt),
        context=Context(),
        stores_decorative=False,
        kind="default text of an image",
        in_library=True,
        fingerprint=image.fingerprint,
    )
