"""What an author keeps on the desk: claims, drafts, items put off, comments, saved filters. Decides nothing."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Case, F, Q, Value, When

from alttext import conf, queries
from alttext.models import Claim, Comment, Decision, Draft, Later, Placement, SavedFilter
from alttext.operations.decisions import Seen

MOST_FILTERS = 20
MOST_QUERY = 500  # of the column
CANDIDATES = 25  # looked at in one go while others claim at the same time


class TooManyFilters(Exception):
    """An author has as many saved filters as one may have."""


def claim(*, placement: Placement, by: Any, at: datetime) -> Claim:
    """Take `placement`, or renew one's claim. Gives the claim in force, which may be somebody else's."""
    until = at + timedelta(seconds=conf.get("CLAIM_SECONDS"))
    free = Claim.objects.filter(placement=placement).filter(Q(by=by) | Q(until__lte=at))
    since = Case(When(by=by, until__gt=at, then=F("since")), default=Value(at))
    if not free.update(by=by, since=since, until=until):
        # nobody has it, or somebody else does: then the unique key leaves that row as it is
        Claim.objects.bulk_create([Claim(placement=placement, by=by, since=at, until=until)], ignore_conflicts=True)
    return Claim.objects.select_related("by").get(placement=placement)


def renew(*, placement: Placement, by: Any, at: datetime) -> None:
    """`by` is still at work on it: one's own claim lasts from now on. Takes nothing from others."""
    until = at + timedelta(seconds=conf.get("CLAIM_SECONDS"))
    Claim.objects.filter(placement=placement, by=by).update(until=until)


def serve(*, user: Any, after: int, at: datetime, **wanted: Any) -> Placement | None:
    """The next placement to work on, claimed for `user`; nobody else is served it meanwhile. None: nothing is left.

    In id order from `after` on, then from the start; the library comes after all pages. `wanted`: filters of the queue.
    """
    free = queries.servable(user=user, at=at, **wanted).exclude(pk=after)
    pages = free.filter(in_library=False)
    for rows in (pages.filter(pk__gt=after), pages.filter(pk__lt=after), free.filter(in_library=True)):
        reached = 0
        while candidates := list(rows.filter(pk__gt=reached)[:CANDIDATES]):
            for candidate in candidates:
                if claim(placement=candidate, by=user, at=at).by_id == user.pk:
                    return candidate
            reached = candidates[-1].pk
    return None


def release(*, placement: Placement, by: Any | None = None) -> bool:
    """Give a claim up. `by`: only that person's own; None: whoever holds it, as a lead may."""
    held = Claim.objects.filter(placement=placement)
    return bool((held if by is None else held.filter(by=by)).delete()[0])


def keep_draft(*, placement: Placement, text: str, seen: Seen, by: Any, at: datetime) -> None:
    """Keep a text that is not saved yet; an empty one, or the text in force, leaves none.

    One that comes late, after `by` has saved from that page, changes nothing.
    """
    settled = [Decision.Act.SAVE, Decision.Act.DECORATIVE]
    if placement.decisions.filter(by=by, version__gt=seen.version, act__in=settled).exists():
        return
    if not text.strip() or text == placement.current_alt:
        forget_draft(placement=placement, by=by)
        return
    Draft.objects.update_or_create(
        placement=placement,
        by=by,
        defaults={**asdict(seen), "text": text, "saved_at": at},
    )


def forget_draft(*, placement: Placement, by: Any) -> None:
    """The text is saved, or its author does not want it any more."""
    Draft.objects.filter(placement=placement, by=by).delete()


def put_off(*, placement: Placement, by: Any, at: datetime) -> None:
    """Not now: serve `by` others first, for the time in the settings."""
    until = at + timedelta(seconds=conf.get("LATER_SECONDS"))
    Later.objects.update_or_create(placement=placement, by=by, defaults={"until": until})
    release(placement=placement, by=by)


def comment(*, placement: Placement, by: Any, at: datetime, text: str) -> Comment:
    """Say a word about `placement` to those who work on it."""
    return Comment.objects.create(placement=placement, by=by, at=at, text=text)


def save_filter(*, by: Any, name: str, query: str) -> SavedFilter:
    """Keep filters under a name; the same name again replaces them.

    :raises TooManyFilters: `by` has enough of them.
    """
    own = SavedFilter.objects.filter(by=by)
    if not own.filter(name=name).exists() and own.count() >= MOST_FILTERS:
        raise TooManyFilters(f"You have {MOST_FILTERS} saved filters already. Remove one first.")
    return SavedFilter.objects.update_or_create(by=by, name=name, defaults={"query": query})[0]


def forget_filter(*, by: Any, name: str) -> bool:
    """Remove saved filters of one's own."""
    return bool(SavedFilter.objects.filter(by=by, name=name).delete()[0])
