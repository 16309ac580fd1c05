"""Keeping placements in step with the CMS: scan, snapshot, mark stale. Never writes to the CMS."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, OperationalError, transaction
from django.db.models import QuerySet

from alttext import roles
from alttext.adapters import Adapter, Alt, Context, NotThere, Place
from alttext.models import Asset, ContextSnapshot, Job, Placement, Suggestion

log = logging.getLogger("alttext.operations")
SNAPSHOT_RULES = "1"  # part of the context hash: a new way to trim is a new context
LIMITS = {
    "title": 300,
    "before": 2000,
    "after": 2000,
    "caption": 1000,
    "link_target": 500,
    "link_label": 300,
}  # characters
HEADINGS, HEADING_CHARS = 8, 200


@dataclass(frozen=True, slots=True)
class Scanned:
    """What a scan saw, as counts of placements."""

    found: int = 0
    new: int = 0
    changed: int = 0
    gone: int = 0
    unreadable: int = 0


def trim(context: Context) -> Context:
    """NFC and a bounded size: the end of what stands before the image, the start of all else."""
    values: dict[str, Any] = {}
    for name, limit in LIMITS.items():
        words = getattr(context, name)
        values[name] = unicodedata.normalize("NFC", words[-limit:] if name == "before" else words[:limit])
    headings = tuple(unicodedata.normalize("NFC", item[:HEADING_CHARS]) for item in context.headings[-HEADINGS:])
    return dataclasses.replace(context, headings=headings, **values)


def context_hash(context: Context, *, language: str, role: str) -> str:
    """sha256 over the trimmed context, language, role and the version of the rules, hex."""
    parts = [SNAPSHOT_RULES, language, role, *dataclasses.astuple(context)]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()


def snapshot(context: Context, *, language: str, role: str, at: datetime) -> ContextSnapshot:
    """The row for these words; made if it is new."""
    context = trim(context)
    fields = dataclasses.asdict(context) | {"headings": list(context.headings)}
    row, _ = ContextSnapshot.objects.get_or_create(
        context_hash=context_hash(context, language=language, role=role),
        defaults={**fields, "language": language, "role": role, "created_at": at},
    )
    return row


def content_hash(data: bytes) -> str:
    """sha256, hex: what an Asset is known by."""
    return hashlib.sha256(data).hexdigest()


def asset(data: bytes, *, at: datetime) -> Asset:
    """The row for these bytes; they are not opened here."""
    row, _ = Asset.objects.get_or_create(
        content_hash=content_hash(data), defaults={"size_bytes": len(data), "created_at": at}
    )
    return row


def role_of(place: Place, alt: Alt, *, before: Placement | None = None) -> str:
    """Decorative is what a person said; then what a person chose here, the site declared, or the markup tells."""
    if alt.decorative:
        return roles.Role.DECORATIVE
    chosen = before.chosen_role if before else ""
    return roles.propose(linked=bool(place.context.link_target), declared=chosen or place.role)


def refresh(adapter: Adapter, place: Place, *, at: datetime) -> tuple[Placement, bool]:
    """Bring the placement for `place` up to date. Returns it, and whether bytes, words or text had changed.

    The file is read before the transaction, the words under the row lock: `place` may be older than a decision that
    has just been committed, and no lock is held while a storage is slow.

    :raises NotThere: the place or its image file is gone.
    """
    bytes_row = asset(adapter.read_image(place.key), at=at)
    try:
        return sync(adapter, place.key, bytes_row=bytes_row, at=at)
    except IntegrityError:  # another process was faster to make the row
        return sync(adapter, place.key, bytes_row=bytes_row, at=at)


@transaction.atomic
def sync(adapter: Adapter, key: str, *, bytes_row: Asset, at: datetime) -> tuple[Placement, bool]:
    """`refresh` with bytes that are known.  :raises NotThere: the place is gone."""
    known = Placement.objects.select_for_update().filter(adapter=adapter.name, key=key).first()
    place = adapter.place(key)
    alt = _alt_of(place, before=known)
    role = role_of(place, alt, before=known)
    words = snapshot(place.context, language=place.language, role=role, at=at)
    shown = {
        "scope": place.scope,
        "page_title": place.page_title,
        "page_url": place.page_url,
        "image_name": place.image_name,
        "image_url": place.image_url,
        "role": role,
        "language": place.language,
        "asset": bytes_row,
        "snapshot": words,
        "current_alt": "" if alt.decorative else alt.text,
        "decorative": alt.decorative,
        "alt_hash": alt.hash,
    }
    if known is None:
        placement = Placement.objects.create(
            adapter=adapter.name, key=key, state=_first_state(alt), created_at=at, updated_at=at, **shown
        )
        return placement, True
    moved = known.asset_id != bytes_row.pk or _words_differ(known, place)
    rewritten = known.alt_hash != alt.hash
    back = known.state == Placement.State.GONE
    if back or any(getattr(known, name) != value for name, value in shown.items()):
        for name, value in shown.items():
            setattr(known, name, value)
        if moved or rewritten or back:
            _react(known, alt, moved=moved, rewritten=rewritten, at=at)
        known.updated_at = at
        known.save()
    return known, moved or rewritten or back


def _alt_of(place: Place, *, before: Placement | None) -> Alt:
    """What stands in the CMS; a CMS without a field for it cannot tell "decorative", so our own record does."""
    if before and before.decorative and not place.stores_decorative and not place.alt.text:
        return Alt(decorative=True)
    return place.alt


def _words_differ(known: Placement, place: Place) -> bool:
    """Whether the page says something else around the image; a new role alone is no such change."""
    old = known.snapshot
    if old is None:
        return True
    return context_hash(trim(place.context), language=place.language, role=old.role) != old.context_hash


def _first_state(alt: Alt) -> str:
    if alt.decorative:
        return Placement.State.DONE
    return Placement.State.HUMAN if alt.text.strip() else Placement.State.OPEN


def _react(placement: Placement, alt: Alt, *, moved: bool, rewritten: bool, at: datetime) -> None:
    """Bytes or words changed: what was offered is overtaken, a decided text is stale. A text from the CMS is human."""
    if moved:
        supersede(placement, at=at)
    if rewritten:
        placement.state, placement.stale = _first_state(alt), False
    elif placement.is_settled:
        placement.state, placement.stale = placement.settled_state, moved or placement.stale
    else:
        placement.state = Placement.State.OPEN


def supersede(placement: Placement, *, at: datetime, by_author: bool = False) -> None:
    """Overtake the pending suggestion and the open jobs of `placement`."""
    Suggestion.objects.filter(placement=placement, state=Suggestion.State.PENDING).update(
        state=Suggestion.State.SUPERSEDED, state_at=at, superseded_by_author=by_author
    )
    Job.objects.filter(placement=placement, state__in=Job.OPEN).update(
        state=Job.State.SUPERSEDED, finished_at=at, token="", lease_until=None
    )


@transaction.atomic
def choose_role(*, placement: Placement, role: str, at: datetime) -> Placement:
    """Record the role that a person chose; the words then count as changed, as the role steers the wording."""
    placement = Placement.objects.select_for_update().get(pk=placement.pk)
    if placement.role != role and placement.snapshot:
        old = placement.snapshot
        context = Context(
            **{name: getattr(old, name) for name in Context.__dataclass_fields__} | {"headings": tuple(old.headings)}
        )
        placement.role = placement.chosen_role = role
        placement.snapshot = snapshot(context, language=placement.language, role=role, at=at)
        placement.updated_at = at
        supersede(placement, at=at, by_author=True)
        if placement.state not in (Placement.State.DONE, Placement.State.HUMAN):
            placement.state = Placement.State.OPEN
        placement.save()
    return placement


def mark_gone(placements: Iterable[Placement], *, at: datetime) -> int:
    """Take placements out of the queue whose place no longer exists; history stays."""
    count = 0
    for placement in placements:
        with transaction.atomic():
            # the placement first, always: jobs and suggestions are locked after it, or two writers could deadlock
            locked = Placement.objects.select_for_update().get(pk=placement.pk)
            supersede(locked, at=at)
            Placement.objects.filter(pk=placement.pk).update(state=Placement.State.GONE, updated_at=at)
        count += 1
    return count


def scan(adapter: Adapter, *, at: datetime, limit: int | None = None) -> Scanned:
    """Bring all placements of `adapter` up to date, in bounded memory; with `limit` nothing is taken as gone."""
    found = new = changed = unreadable = 0
    for place in adapter.places():
        if limit is not None and found >= limit:
            break
        found += 1
        is_new = not Placement.objects.filter(adapter=adapter.name, key=place.key).exists()
        try:
            _, differs = refresh(adapter, place, at=at)
        except NotThere:
            unreadable += 1
            continue
        except OperationalError:
            raise  # the database is away; nothing to do with this place
        except Exception:  # one odd place must not keep the others from being found
            log.exception("place %s of %s", place.key, adapter.name)
            unreadable += 1
            continue
        new += is_new
        changed += differs and not is_new
    # a site that shows no image at all is more likely misconfigured than emptied: its placements stay
    gone = mark_gone(_vanished(adapter), at=at) if limit is None and found else 0
    return Scanned(found=found, new=new, changed=changed, gone=gone, unreadable=unreadable)


def _vanished(adapter: Adapter) -> Iterable[Placement]:
    rows = Placement.objects.filter(adapter=adapter.name).exclude(state=Placement.State.GONE)
    for placement in pages(rows):
        try:
            adapter.place(placement.key)
        except NotThere:
            yield placement


def pages(rows: QuerySet[Placement], *, size: int = 200) -> Iterator[Placement]:
    """`rows` by id in bounded memory, without an open cursor: on SQLite it would keep this connection from writing."""
    after = 0
    while page := list(rows.filter(pk__gt=after).order_by("pk")[:size]):
        yield from page
        after = page[-1].pk
