"""Keeping placements in step with the CMS: scan, snapshot, mark stale. Never writes to the CMS."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
import re
import time
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, InterfaceError, OperationalError, transaction
from django.db.models import QuerySet

from alttext import roles
from alttext.adapters import Adapter, Alt, Context, NotThere, Place
from alttext.models import Asset, ContextSnapshot, Draft, Job, Placement, Suggestion
from alttext.operations import checkpoints

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
KEY_CHARS = FINGERPRINT_CHARS = 200  # of the columns
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # PostgreSQL takes neither
BATCH_PLACES = 100  # compared with their rows by one query; a kill loses no more than these
CHECKPOINT_SECONDS = 30.0  # also where nothing is written: reading unchanged files from afar takes hours


@dataclass(frozen=True, slots=True)
class Scanned:
    """What a scan saw, as counts of placements.

    :ivar read: files that were opened.
    :ivar broken: the error with which the adapter stopped telling its places; empty: it told all.
    """

    found: int = 0
    new: int = 0
    changed: int = 0
    gone: int = 0
    unreadable: int = 0
    read: int = 0
    broken: str = ""


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


def refresh(adapter: Adapter, place: Place, *, at: datetime, data: bytes | None = None) -> tuple[Placement, bool]:
    """Bring the placement for `place` up to date. Returns it, and whether bytes, words or text had changed.

    The file is read before the transaction, the words under the row lock: `place` may be older than a decision that
    has just been committed, and no lock is held while a storage is slow.

    :param data: the bytes of the file, where they have just been read.
    :raises NotThere: the place or its image file is gone.
    """
    bytes_row = asset(adapter.read_image(place.key) if data is None else data, at=at)
    seen = fingerprint_of(place)  # older than the bytes: a file replaced in between is read again by the next scan
    try:
        return sync(adapter, place.key, bytes_row=bytes_row, fingerprint=seen, at=at)
    except IntegrityError:  # another process was faster to make the row
        return sync(adapter, place.key, bytes_row=bytes_row, fingerprint=seen, at=at)


def fingerprint_of(place: Place) -> str:
    """What the adapter says of the file; nothing, where that is too long to be kept."""
    return place.fingerprint if len(place.fingerprint) <= FINGERPRINT_CHARS else ""


@transaction.atomic
def sync(
    adapter: Adapter, key: str, *, bytes_row: Asset, at: datetime, fingerprint: str | None = None
) -> tuple[Placement, bool]:
    """`refresh` with bytes that are known.  :raises NotThere: the place is gone."""
    known = Placement.objects.select_for_update().filter(adapter=adapter.name, key=key).first()
    place = adapter.place(key)
    alt = _alt_of(place, before=known)
    role = role_of(place, alt, before=known)
    words = snapshot(place.context, language=place.language, role=role, at=at)
    shown: dict[str, Any] = {**_shown(place, alt, role), "asset": bytes_row, "snapshot": words}
    if fingerprint is not None:
        shown["fingerprint"] = fingerprint
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


def is_current(known: Placement, place: Place) -> bool:
    """Whether the row says what the place says; the bytes are not looked at."""
    alt = _alt_of(place, before=known)
    role = role_of(place, alt, before=known)
    if known.state == Placement.State.GONE or known.asset_id is None or known.snapshot is None:
        return False
    words = context_hash(trim(place.context), language=place.language, role=role)
    shown = _shown(place, alt, role)
    return known.snapshot.context_hash == words and all(getattr(known, name) == shown[name] for name in shown)


def _shown(place: Place, alt: Alt, role: str) -> dict[str, Any]:
    """What the row says of a place, apart from bytes and words."""
    return {
        "scope": place.scope,
        "page_title": place.page_title,
        "page_url": place.page_url,
        "image_name": place.image_name,
        "image_url": place.image_url,
        "in_library": place.in_library,
        "role": role,
        "language": place.language,
        "current_alt": "" if alt.decorative else alt.text,
        "decorative": alt.decorative,
        "alt_hash": alt.hash,
    }


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
        # the page says what it said: a draft that was written for it has not been overtaken
        drafts = Draft.objects.filter(placement=placement, context_hash=old.context_hash)
        drafts.update(context_hash=placement.snapshot.context_hash)
        placement.updated_at = at
        supersede(placement, at=at, by_author=True)
        if placement.state not in (Placement.State.DONE, Placement.State.HUMAN):
            placement.state = Placement.State.OPEN
        placement.save()
    return placement


@transaction.atomic
def placed(*, adapter: Adapter, key: str, into: str, at: datetime) -> bool:
    """The image that was about to be placed under `key` has been, as `into`: suggestion and history go along.

    False: nothing was known under `key`, or `into` has a history of its own, which stays.
    """
    rows = Placement.objects.select_for_update().filter(adapter=adapter.name)
    about_to_be = rows.filter(key=key).first()
    if about_to_be is None:
        return False
    if rows.filter(key=into).exists():
        mark_gone([about_to_be], at=at)
        return False
    Placement.objects.filter(pk=about_to_be.pk).update(key=into, updated_at=at)
    return True


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


def scan(
    adapter: Adapter,
    *,
    at: datetime,
    limit: int | None = None,
    since: datetime | None = None,
    resume: bool = False,
    reread: bool = False,
    tell: Callable[[Scanned], None] | None = None,
) -> Scanned:
    """Bring all placements of `adapter` up to date, in bounded memory. What is up to date already is not written.

    A file is read only where the adapter cannot say that it is the one that was read before. With `limit`, or with
    `since` where the adapter knows when pages changed, nothing is taken as gone.

    :param resume: go on with the scan that was interrupted, in its `since`; up to where it came, files of known
        placements are not read again.
    :param reread: read each file, whatever the adapter says of it.
    :param tell: gets the counts so far, after every hundred places.
    """
    left = checkpoints.left_by(adapter.name) if resume else None
    since = left.since if left else since
    looks = getattr(adapter, "places_since", None) if since else None
    walk = _Walk(adapter, at=at, since=since, reread=reread, last_key=left.last_key if left else "", tell=tell)
    walk.over(looks(since) if looks else adapter.places(), limit=limit)
    seen = walk.counted
    if walk.before_checkpoint and walk.ended:  # the place it names is gone: nothing tells what was looked at
        again = scan(adapter, at=at, limit=limit, since=since, reread=reread, tell=tell)
        return dataclasses.replace(again, new=seen.new + again.new, changed=seen.changed + again.changed)
    if walk.ended:
        checkpoints.clear(adapter.name)
    # a site that shows no image at all is more likely misconfigured than emptied: its placements stay
    if walk.ended and limit is None and not looks and seen.found:
        seen = dataclasses.replace(seen, gone=mark_gone(_vanished(adapter, seen=walk.pks), at=at))
    return seen


class _Walk:
    """One way through the places of an adapter: counts, ids seen, and how far an interrupted scan is trusted."""

    def __init__(
        self, adapter: Adapter, *, at: datetime, since: datetime | None, reread: bool, last_key: str, tell: Any
    ) -> None:
        self.adapter, self.at, self.since, self.reread, self.last_key, self.tell = (
            adapter, at, since, reread, last_key, tell,
        )  # fmt: skip
        self.before_checkpoint = bool(last_key)
        self.ended = False
        self.pks: set[int] = set()
        self.counted = Scanned()
        self.has_written, self.saved_at_seconds = False, time.monotonic()

    def over(self, places: Iterable[Place], *, limit: int | None) -> None:
        """Look at the places, or at no more than `limit` beyond the checkpoint."""
        batch: list[tuple[Place, bool]] = []
        looked = 0
        for place in until_broken(places):
            if isinstance(place, Exception):
                log.error("the list of places of %s broke off", self.adapter.name, exc_info=place)
                problem = f"{type(place).__name__}: {place}"[:300]
                self.counted = dataclasses.replace(self.counted, broken=problem)
                break
            if limit is not None and looked >= limit:
                break
            batch.append((place, self.before_checkpoint))
            looked += not self.before_checkpoint
            self.before_checkpoint = self.before_checkpoint and place.key != self.last_key
            if len(batch) == BATCH_PLACES:
                self._look_at(batch)
                batch = []
        else:
            self.ended = True
        if batch:
            self._look_at(batch)

    def _look_at(self, batch: list[tuple[Place, bool]]) -> None:
        keys = [place.key for place, _ in batch if is_usable(place.key)]
        found = Placement.objects.filter(adapter=self.adapter.name, key__in=keys).select_related("asset", "snapshot")
        rows = {row.key: row for row in found}
        for place, is_trusted in batch:
            try:
                if not is_usable(place.key):
                    raise ValueError(f"{place.key!r:.300} is no key")
                self._bring(place, rows.get(place.key), is_trusted=is_trusted)
            except NotThere:
                self._count(unreadable=1)
            except (OperationalError, InterfaceError):
                raise  # the database is away; nothing to do with this place
            except Exception:  # one odd place must not keep the others from being found
                log.exception("place %.300r of %s", place.key, self.adapter.name)
                self._count(unreadable=1)
        self._count(found=len(batch))
        self._save(batch[-1][0].key)
        if self.tell:
            self.tell(self.counted)

    def _bring(self, place: Place, known: Placement | None, *, is_trusted: bool) -> None:
        if known is None:
            self._wrote(refresh(self.adapter, place, at=self.at)[0], new=1, read=1)
            return
        self.pks.add(known.pk)
        is_current_row = is_current(known, place)
        said = fingerprint_of(place)
        is_same_file = is_trusted or bool(said and said == known.fingerprint and not self.reread)
        if is_same_file and known.asset is not None:
            if not is_current_row:
                row, differs = sync(self.adapter, place.key, bytes_row=known.asset, at=self.at)
                self._wrote(row, changed=differs)
            return
        data = self.adapter.read_image(place.key)
        self._count(read=1)
        if not is_current_row or known.asset is None or known.asset.content_hash != content_hash(data):
            row, differs = refresh(self.adapter, place, at=self.at, data=data)
            self._wrote(row, changed=differs)
        elif said != known.fingerprint:
            Placement.objects.filter(pk=known.pk).update(fingerprint=said)

    def _wrote(self, row: Placement, **more: int) -> None:
        self.pks.add(row.pk)
        self.has_written = True
        self._count(**more)

    def _count(self, **more: int) -> None:
        added: Any = {name: getattr(self.counted, name) + number for name, number in more.items()}
        self.counted = dataclasses.replace(self.counted, **added)

    def _save(self, key: str) -> None:
        """A checkpoint, where there is something to lose: rows were written, or a while has passed."""
        is_due = self.has_written or time.monotonic() - self.saved_at_seconds > CHECKPOINT_SECONDS
        if is_due and not self.before_checkpoint and is_usable(key):
            checkpoints.save(
                adapter=self.adapter.name, last_key=key, found=self.counted.found, since=self.since, at=self.at
            )
            self.has_written, self.saved_at_seconds = False, time.monotonic()


def until_broken(places: Iterable[Place]) -> Iterator[Place | Exception]:
    """The places, and the error that the adapter stopped with if it did."""
    each = iter(places)
    while True:
        try:
            place = next(each)
        except StopIteration:
            return
        except (OperationalError, InterfaceError):
            raise
        except Exception as error:  # an adapter's own fault: the caller counts and reports it
            yield error
            return
        yield place


def is_usable(key: str) -> bool:
    """Whether every database takes the key."""
    return bool(key) and len(key) <= KEY_CHARS and not UNSTORABLE.search(key)


def _vanished(adapter: Adapter, *, seen: Container[int] = ()) -> Iterable[Placement]:
    """Placements whose place is gone; the adapter is asked about each one that is not among the ids `seen`."""
    rows = Placement.objects.filter(adapter=adapter.name).exclude(state=Placement.State.GONE)
    for placement in pages(rows):
        if placement.pk in seen:
            continue
        try:
            adapter.place(placement.key)
        except NotThere:
            yield placement
        except (OperationalError, InterfaceError):
            raise
        except Exception:  # not known to be gone: it stays
            log.exception("place %.300r of %s", placement.key, adapter.name)


def pages(rows: QuerySet[Placement], *, size: int = 200) -> Iterator[Placement]:
    """`rows` by id in bounded memory, without an open cursor: on SQLite it would keep this connection from writing."""
    after = 0
    while page := list(rows.filter(pk__gt=after).order_by("pk")[:size]):
        yield from page
        after = page[-1].pk
