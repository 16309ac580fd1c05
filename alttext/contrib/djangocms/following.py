"""After a commit in the CMS: placements are brought in step with what now stands there. Asks for no text by itself.

Places and placements are compared as sets, with a number of queries that does not grow; only those that differ go
through `alttext.tasks`, which decides whether a captioner is asked.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from cms.models import PageContent, Placeholder
from django.db import DatabaseError, connections, router
from django.utils import timezone

from alttext import tasks
from alttext.adapters import NotThere, Place
from alttext.contrib.djangocms import library, pages, places
from alttext.contrib.djangocms.keys import NAME, FileKey, NoKey, PageKey, parse, prefix, short
from alttext.contrib.djangocms.links import Links
from alttext.contrib.djangocms.signals import Note
from alttext.models import Placement
from alttext.operations import decisions, placements

log = logging.getLogger("alttext.djangocms")
_tables_are_there = False


def follow(note: Note) -> None:
    """Bring the placements of all that a transaction touched up to date."""
    if not _tables():
        return
    for page, language in note.published:
        # unless a draft is there again, or the publishing was rolled back
        if not any(is_draft for _, is_draft in pages.newest(page_id=page, language=language)):
            decisions.close(placements=list(_placements(f"page:{page}:{language}:")), at=timezone.now())
    for page, language in note.pages:
        _page(page, language)
    _slots(note.slots, done=note.pages)
    for content in note.moved:
        _moved(content)
    for image in note.gone_images - library.in_bulk(note.gone_images).keys():
        _forget(str(FileKey(image)))
        for key in _uses(image):
            _forget(key)
    for image in note.images - note.gone_images:
        _image(image)


def _tables() -> bool:
    """Whether the workbench has been migrated; asked until it has."""
    global _tables_are_there
    if not _tables_are_there:
        connection = connections[router.db_for_read(Placement)]
        _tables_are_there = Placement._meta.db_table in connection.introspection.table_names()
    return _tables_are_there


def _page(page: int, language: str) -> None:
    contents = pages.newest(page_id=page, language=language)
    _step(places.of_slots(pages.slots(contents)), f"page:{page}:{language}:")


def _slots(numbers: set[int], *, done: set[tuple[int, str]]) -> None:
    """The slots that belong to the newest content of their page; history is no news."""
    rows = Placeholder.objects.filter(pk__in=numbers, content_type=pages.content_type())
    contents = {row.pk: row for row in PageContent.admin_manager.filter(pk__in=[row.object_id for row in rows])}
    newest = {
        content.pk: (content, is_draft)
        for content, is_draft in pages.newest(page_id__in={content.page_id for content in contents.values()})
    }
    wanted = [row for row in rows if row.object_id in newest]
    for row in wanted:
        content, is_draft = newest[row.object_id]
        if (content.page_id, content.language) not in done:
            slot = places.slot_of(row.pk, content=content, is_draft=is_draft)
            found = places.of_slots([slot]) if slot else iter(())
            _step(found, prefix(content.page_id, content.language, short(row.slot)))


def _step(found: Iterable[Place], start: str) -> None:
    """Make the placements whose keys begin with `start` those of the places found."""
    known = {row.key: row for row in _placements(start).select_related("snapshot", "asset")}
    there: set[str] = set()
    elsewhere: dict[str, list[int]] = {}
    for place in found:
        there.add(place.key)
        row = known.get(place.key)
        if row is None or not placements.is_current(row, replace(place, page_url=row.page_url)):
            if row is not None and row.asset and place.fingerprint and row.fingerprint == place.fingerprint:
                _safely(partial(_reworded, row), place.key)
            else:
                _enqueue(place.key)
        elif row.page_url != place.page_url:
            elsewhere.setdefault(place.page_url, []).append(row.pk)
    for url, pks in elsewhere.items():
        Placement.objects.filter(pk__in=pks).update(page_url=url)
    for key, row in known.items():
        if key not in there and row.state != Placement.State.GONE:
            _forget(key)


def _moved(content: int) -> None:
    """A draft took over from the published version with the same images: only where to see them has changed."""
    for row, is_draft in pages.newest(pk=content):
        url = Links(pages={row.page_id}, references=()).page_url(row, is_draft=is_draft)
        _placements(f"page:{row.page_id}:{row.language}:").exclude(page_url=url).update(page_url=url)


def _image(pk: int) -> None:
    """An image was saved in the library: its default text, and all uses of it where the bytes or the name changed."""
    try:
        image = library.get(pk)
        bytes_now = placements.content_hash(image.read())
    except NotThere:
        return
    _enqueue(str(FileKey(pk)))
    rows = Placement.objects.filter(adapter=NAME, key__in=_uses(pk)).select_related("asset")
    for row in rows:
        shown = (row.image_name, row.image_url, row.asset.content_hash if row.asset else "")
        if shown != (image.name, image.url, bytes_now):
            _enqueue(row.key)


def _uses(image: int) -> list[str]:
    """The keys of placements on pages that show this image."""
    rows = Placement.objects.filter(adapter=NAME, key__startswith="page:", key__contains=f":{image}:")
    return [
        key for key in rows.exclude(state=Placement.State.GONE).values_list("key", flat=True) if _file(key) == image
    ]


def _file(key: str) -> int:
    try:
        found = parse(key)
    except NoKey:
        return 0
    return found.file if isinstance(found, PageKey) else 0


def _placements(start: str) -> Any:
    return Placement.objects.filter(adapter=NAME, key__startswith=start)


def _enqueue(key: str) -> None:
    _safely(tasks.enqueue_place, key)


def _reworded(row: Placement, *, adapter: str, key: str) -> None:
    tasks.enqueue_reworded(row, at=timezone.now())


def _forget(key: str) -> None:
    _safely(tasks.forget_place, key)


def _safely(told: Callable[..., None], key: str) -> None:
    """One odd image must not keep the others from being followed."""
    try:
        told(adapter=NAME, key=key)
    except DatabaseError:
        raise  # the database is away; nothing to do with this image
    except Exception:
        log.exception("image %s was changed, and its placement could not be brought up to date", key)
