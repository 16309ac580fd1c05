"""Several acts of one person in one go: what each would do and why one cannot be done, then each by the ordinary act.

Nothing here writes a text: every item goes through `decisions`, in a transaction of its own, and is recorded as one
act of that person. What needs a person's eye on the single image is left out, with the reason in words.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.db import transaction

from alttext import permissions, queries, rules, wording
from alttext.models import Claim, Decision, Draft, Placement, Suggestion
from alttext.operations import decisions
from alttext.operations.decisions import NothingToUndo, Seen
from alttext.roles import Role


class Verb(StrEnum):
    """What can be done to several images at once."""

    ACCEPT = "accept"
    REJECT = "reject"
    DECORATIVE = "decorative"


class NotAllowed(LookupError):
    """The image is gone, or the person may not edit it; which of the two is not told."""


class NotInBulk(Exception):
    """This one has to be decided on its own page, or not at all; the message says why."""


@dataclass(frozen=True, slots=True)
class Item:
    """One image as it is now.

    :ivar suggestion: the pending one, if this person may see it.
    :ivar why_not: why the act cannot be done here, a sentence; empty: it can.
    """

    placement: Placement
    suggestion: Suggestion | None
    seen: Seen
    why_not: str = ""


def look(*, verb: Verb, placement_ids: Collection[int], user: Any, at: datetime) -> list[Item]:
    """What `verb` would meet, in id order. Ids that are gone or not `user`'s to edit are left out. Four queries."""
    rows = list(queries.queue(user=user, state="all").filter(pk__in=placement_ids))
    pending = Suggestion.objects.filter(placement__in=rows, state=Suggestion.State.PENDING)
    offered = {row.placement_id: row for row in pending.select_related("snapshot", "captioner_version")}
    claims = Claim.objects.filter(placement__in=rows, until__gt=at).exclude(by=user).select_related("by")
    held = {claim.placement_id: claim for claim in claims}
    drafts = set(Draft.objects.filter(placement__in=rows, by=user).values_list("placement_id", flat=True))
    return [_item(verb, row, offered.get(row.pk), held.get(row.pk), has_draft=row.pk in drafts) for row in rows]


def do(
    *,
    verb: Verb,
    placement_id: int,
    seen: Seen,
    by: Any,
    at: datetime,
    key: uuid.UUID,
    reason: str = "",
    active_seconds: float | None = None,
) -> Decision:
    """Do `verb` to one image, unless something speaks against it by now. The same `key` again does nothing twice.

    :raises NotAllowed: gone, or not to be edited.
    :raises NotInBulk: something speaks against it; so does an act of this key that was taken back since.
    Raises as the acts in `decisions` do.
    """
    earlier = Decision.objects.filter(idempotency_key=key, placement=placement_id).first()
    if earlier is not None and earlier.undone_by.exists():
        raise NotInBulk("This was done before, and taken back since.")
    found = look(verb=verb, placement_ids=[placement_id], user=by, at=at)
    if not found:
        raise NotAllowed("This image is gone, or you may no longer edit it.")
    item = found[0]
    if earlier is None and item.placement.alt_hash != seen.alt_hash:  # the person's own newer text included
        raise decisions.TextChanged(item.placement, "Another text was saved meanwhile.")
    if earlier is None and item.why_not:
        raise NotInBulk(item.why_not)
    given: dict[str, Any] = {"placement": item.placement, "seen": seen, "by": by, "at": at, "key": key}
    if verb == Verb.REJECT:
        return decisions.reject(reason=reason, **given)
    if verb == Verb.DECORATIVE:
        return decisions.mark_decorative(active_seconds=active_seconds, **given)
    return decisions.save_text(text=_text_seen(seen), active_seconds=active_seconds, **given)


def undo(*, decision_id: int, by: Any, at: datetime, key: uuid.UUID) -> Decision:
    """Take back exactly this act of `by`, if it is still the one in force. The same `key` again does nothing twice.

    :raises NotAllowed: gone, or not to be edited.
    :raises NothingToUndo: somebody decided anew, or took it back.
    Raises as `decisions.undo` does.
    """
    act = Decision.objects.filter(pk=decision_id, by=by).exclude(act=Decision.Act.UNDO).first()
    placement = queries.queue(user=by, state="all").filter(pk=act.placement_id).first() if act else None
    if act is None or placement is None:
        raise NotAllowed("This image is gone, or you may no longer edit it.")
    # the lock keeps a newer act of the same person, which `decisions` would take for the one meant, from slipping in
    with transaction.atomic():
        Placement.objects.select_for_update().get(pk=placement.pk)
        placement = permissions.editable_by(by).select_related("asset", "snapshot").get(pk=placement.pk)
        repeated = act.undone_by.filter(idempotency_key=key).exists()
        last = queries.undoable(placement)
        if not repeated and (last is None or last.pk != act.pk):
            taken_back = act.undone_by.exists()
            raise NothingToUndo("It was taken back already." if taken_back else "It was changed since, and stays so.")
        return decisions.undo(placement=placement, seen=decisions.seen(placement), by=by, at=at, key=key)


def _text_seen(seen: Seen) -> str:
    """The text of the suggestion that was on screen.  :raises NotInBulk: it is no longer there."""
    text = Suggestion.objects.filter(pk=seen.suggestion_id or 0).values_list("text", flat=True).first()
    if not text:
        raise NotInBulk("The suggestion that you saw is no longer there.")
    return text


def _item(
    verb: Verb, placement: Placement, pending: Suggestion | None, claim: Claim | None, *, has_draft: bool
) -> Item:
    shown = pending if pending and pending.is_shown and decisions.still_about(pending, placement) else None
    why_not = _held_by(claim) or _against(verb, placement, pending, shown)
    if not why_not and has_draft and verb != Verb.REJECT:
        why_not = "You have a draft of your own for it, which would be lost: save it or throw it away first."
    return Item(placement, shown, decisions.seen(placement, shown), why_not)


def _held_by(claim: Claim | None) -> str:
    return f"{claim.by.get_username()} has it open." if claim else ""


def _against(verb: Verb, placement: Placement, pending: Suggestion | None, shown: Suggestion | None) -> str:
    if verb == Verb.DECORATIVE:
        return _against_decorative(placement)
    if pending is None:
        return "No suggestion is pending."
    if not pending.is_shown:
        return "No suggestion is shown for it: write a text of your own first."
    if shown is None:
        return "The image or the words around it changed since the suggestion was made."
    return _against_accepting(placement, shown) if verb == Verb.ACCEPT else ""


def _against_decorative(placement: Placement) -> str:
    if placement.decorative:
        return "It is marked as decorative already."
    if placement.current_alt.strip():
        return "A text stands there, which would be lost: decide on its own page."
    words = placement.snapshot
    if placement.role == Role.FUNCTIONAL and not (words and words.link_text_visible):
        return "It is all that its link or button holds, so it needs a text."
    return ""


def _against_accepting(placement: Placement, suggestion: Suggestion) -> str:
    if placement.decorative or placement.current_alt.strip():
        return "A person’s choice stands there already: compare on its own page."
    if suggestion.flags:
        marks = " ".join(wording.flag(flag) for flag in suggestion.flags if isinstance(flag, str))
        return f"The suggestion is marked to be looked at on its own: {marks}".strip()
    for finding in rules.check(rules.Subject(suggestion.text or "")):
        if finding.level == rules.ERROR:
            return f"{finding.message} {finding.repair}"
    return ""
