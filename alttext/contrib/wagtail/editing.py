"""What was saved in Wagtail's own editor, told to the workbench. Called by `signals`; knows no HTML and no view.

An explicit save is an act of its author; the editor's autosaves are none: from them only images are learned of, so that
a suggestion can be shown while the author writes, and is not overtaken at each keystroke.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone

from alttext import adapters, tasks
from alttext.adapters import Alt, NotThere, Place
from alttext.contrib.wagtail import access, context, documents, keys, places, walk
from alttext.contrib.wagtail.places import Sight
from alttext.models import Placement
from alttext.operations import decisions, placements

log = logging.getLogger("alttext.wagtail")


@dataclass(frozen=True, slots=True)
class Use:
    """One use of an image on a page: key, primary key of the image, content path."""

    key: str
    image_pk: Any
    path: str


def keys_of(page: Any) -> list[Use]:
    """The uses of images on a page or snippet as its newest revision has them, in document order.

    Those are among them whose image is no longer in the library.
    """
    document = documents.of_row(page)
    found = (picture for _, picture, _ in context.pictures(walk.walk(document.model, document.data)))
    return [Use(keys.key(document.head, use.path), use.image_pk, use.path) for use in found]


def is_autosave(request: HttpRequest) -> bool:
    """Whether an edit view was called by the editor's timer: it asks for JSON, a person's press for a page."""
    return not request.accepts("text/html")


def record_page(page: Any, *, by: Any, at: datetime, also_new: bool = True, is_new: bool = False) -> None:
    """After an explicit save of a page or snippet: texts are recorded as acts of `by`, all else is brought up to date.

    Never raises: what goes wrong is logged, the save stands.

    :param by: None where nobody is known to have acted.
    :param also_new: texts of images that are new to the workbench are acts of `by` too; else they wait for a scan.
    :param is_new: the page was just made. Of another page of which nothing is known, no text is an act: it may be old.
    """
    with _logged("record", page):
        if not _is_alias(page):
            _bring_up_to_date(Sight([documents.of_row(page)]), by=by, at=at, also_new=also_new, is_new=is_new)


def note_new(page: Any) -> None:
    """After an autosave: images that are new get their placements; what is known stays as it is. Never raises.

    An image that has a text already waits for the explicit save, which records the text as an act.
    """
    with _logged("note", page):
        if _is_alias(page):
            return
        seen, at = Sight([documents.of_row(page)]), timezone.now()
        known = _known(_head(page))
        with places.held(seen):
            for place in seen.places():
                row = known.get(place.key)
                if row is None or row.state == Placement.State.GONE:
                    if place.alt == Alt():
                        _one(place, _enqueue)
                elif _is_other_image(row, place) and _alt_of(row, place) == Alt(row.current_alt, row.decorative):
                    _one(place, partial(_refresh, at=at))


def close_page(page: Any, *, at: datetime) -> None:
    """The page was published: what people made of the suggestions on it is final. Never raises."""
    with _logged("close", page):
        decisions.close(placements=_rows(_head(page)), at=at)


def forget(head: str, *, at: datetime) -> None:
    """A page or snippet was deleted: its placements leave the queue, their history stays."""
    placements.mark_gone(_rows(head).exclude(state=Placement.State.GONE), at=at)


def record_image(pk: Any, *, by: Any, at: datetime, own: str = "") -> None:
    """An image was saved in the library: its description, and where its file was replaced all its uses. Never raises.

    :param own: the key that the workbench has just written and recorded itself.
    """
    key = keys.image_key(pk)
    with _logged("image", key):
        before = Placement.objects.filter(adapter=keys.NAME, key=key).first()
        if key != own:
            place = places.place(key)
            if before is None:
                tasks.enqueue_place(adapter=keys.NAME, key=key)
            elif by is not None and _alt_of(before, place) != Alt(before.current_alt, before.decorative):
                decisions.record_written(adapter=_adapter(), key=key, by=by, at=at)
            else:
                _refresh(place, at=at)
        after = Placement.objects.filter(adapter=keys.NAME, key=key).first()
        uses = access.scopes_with_image(pk)
        if before is not None and after is not None and before.asset_id != after.asset_id:
            uses |= Q(adapter=keys.NAME, asset=before.asset_id)
        rows = Placement.objects.filter(uses).exclude(state=Placement.State.GONE).exclude(key__in=[key, own])
        for row in placements.pages(rows):
            _one(row, partial(_again, at=at))


def forget_image(pk: Any, *, at: datetime) -> None:
    """An image was deleted from the library: its description and its uses leave the queue. Never raises."""
    key = keys.image_key(pk)
    with _logged("image", key):
        known = Placement.objects.filter(adapter=keys.NAME, key=key).first()
        uses = access.scopes_with_image(pk) | Q(adapter=keys.NAME, key=key)
        if known is not None and known.asset_id is not None:
            uses |= Q(adapter=keys.NAME, asset=known.asset_id)
        rows = Placement.objects.filter(uses).exclude(state=Placement.State.GONE)
        placements.mark_gone([row for row in placements.pages(rows) if not _is_there(row.key)], at=at)


def _bring_up_to_date(seen: Sight, *, by: Any, at: datetime, also_new: bool, is_new: bool = False) -> None:
    """All places of one page; those that stand as they are known cost nothing."""
    ((document, _),) = seen.read
    known = _known(document.head)
    wrote_new = by if is_new or known else None
    moved: list[int] = []
    address = document.url
    with places.held(seen):
        for place in seen.places():
            row = known.pop(place.key, None)
            if row is None or row.state == Placement.State.GONE:
                if also_new or place.alt == Alt():
                    _one(place, partial(_new, by=wrote_new, at=at))
            elif _alt_of(row, place) != Alt(row.current_alt, row.decorative):
                # a description is changed in the library, never by a save of the page
                acted = by if place.scope == document.scope else None
                _one(place, partial(_rewritten, by=acted, at=at))
            elif _is_other_image(row, place):
                _one(place, partial(_refresh, at=at))
            elif not placements.is_current(row, replace(place, page_url=row.page_url)):
                _one(place, partial(_sync, row=row, at=at))
            elif row.page_url != place.page_url:
                moved.append(row.pk)
    if moved:
        Placement.objects.filter(pk__in=moved).update(page_url=address, updated_at=at)
    placements.mark_gone([row for row in known.values() if row.state != Placement.State.GONE], at=at)


def _new(place: Place, *, by: Any, at: datetime) -> None:
    if by is not None and place.alt != Alt():
        decisions.record_written(adapter=_adapter(), key=place.key, by=by, at=at)
    else:
        _enqueue(place)


def _enqueue(place: Place) -> None:
    tasks.enqueue_place(adapter=keys.NAME, key=place.key)


def _again(row: Placement, *, at: datetime) -> None:
    _refresh(places.place(row.key), at=at)


def _rewritten(place: Place, *, by: Any, at: datetime) -> None:
    if by is not None:
        decisions.record_written(adapter=_adapter(), key=place.key, by=by, at=at)
    else:
        _refresh(place, at=at)


def _refresh(place: Place, *, at: datetime) -> None:
    """Reads the file."""
    placement, changed = placements.refresh(_adapter(), place, at=at)
    if changed:
        tasks.ask_by_itself(placement)


def _sync(place: Place, row: Placement, *, at: datetime) -> None:
    """The same without reading the file: it is the one that is known."""
    if row.asset is None:
        _refresh(place, at=at)
        return
    tasks.enqueue_reworded(row, at=at)


def _alt_of(row: Placement, place: Place) -> Alt:
    """What stands in Wagtail; where that has no mark for "decorative", our own record tells."""
    if row.decorative and not place.stores_decorative and not place.alt.text:
        return Alt(decorative=True)
    return place.alt


def _is_other_image(row: Placement, place: Place) -> bool:
    if row.fingerprint and place.fingerprint and row.fingerprint != place.fingerprint:
        return True
    return (row.image_name, row.image_url) != (place.image_name, place.image_url)


def _known(head: str) -> dict[str, Placement]:
    return {row.key: row for row in _rows(head).select_related("asset", "snapshot")}


def _rows(head: str) -> Any:
    return Placement.objects.filter(adapter=keys.NAME, key__startswith=head)


def _head(row: Any) -> str:
    return documents.Document(row, {}, draft=False).head


def _is_alias(row: Any) -> bool:
    return getattr(row, "alias_of_id", None) is not None


def _is_there(key: str) -> bool:
    try:
        places.place(key)
    except NotThere:
        return False
    return True


def _adapter() -> adapters.Adapter:
    return adapters.get(keys.NAME)


def _one(of: Any, act: Callable[[Any], object]) -> None:
    """One odd image must not keep the others from being recorded."""
    try:
        with _savepoint():
            act(of)
    except NotThere as error:
        log.info("%s: %s", of.key, error)
    except Exception:
        log.exception("%s", of.key)


def _savepoint() -> Any:
    """Within ATOMIC_REQUESTS: on PostgreSQL a failed statement would take the author's save along. Else nothing."""
    return transaction.atomic() if transaction.get_connection().in_atomic_block else nullcontext()


@contextmanager
def _logged(what: str, of: Any) -> Iterator[None]:
    """The save has happened, and its author must not see an error page for what only we failed to do."""
    try:
        with _savepoint():
            yield
    except NotThere as error:
        log.info("%s %s: %s", what, of, error)
    except Exception:
        log.exception("%s %r", what, getattr(of, "pk", of))
