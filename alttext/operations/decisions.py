"""What a person does with a placement: save a text, reject, mark decorative, undo. The only way into the CMS.

What a person saves in the CMS's own editor stands there already: `record_written` records it as the same kind of act.

Compare-and-set: each act carries what was on screen (`Seen`). The placement's version, the image bytes, the page words
and the text in the CMS are compared before anything is written; the row that records the act is written in the same
transaction as the change.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from alttext import adapters, edits, queries
from alttext.adapters import Alt, ChangedElsewhere
from alttext.models import Claim, Decision, Draft, Later, Placement, Suggestion
from alttext.operations import placements

Act = Decision.Act


@dataclass(frozen=True, slots=True)
class Seen:
    """What the author had on screen."""

    version: int
    content_hash: str
    context_hash: str
    alt_hash: str
    suggestion_id: int | None = None


class Stale(Exception):
    """Something else stands there than the author saw; nothing was written. `placement` is as it is now."""

    def __init__(self, placement: Placement, message: str) -> None:
        super().__init__(message)
        self.placement = placement


class TextChanged(Stale):
    """Somebody else saved a text meanwhile."""


class ContextChanged(Stale):
    """The page text around the image changed; a second press saves."""


class ImageChanged(Stale):
    """The image is another one now; a new suggestion has to be asked for."""


class NothingToUndo(Exception):
    """No act on this placement is left to be taken back, or what it wrote no longer stands there."""


class KeyReused(Exception):
    """The idempotency key came before, with another act or another text."""


class NothingToReject(Exception):
    """No suggestion is pending."""


def seen(placement: Placement, suggestion: Suggestion | None = None) -> Seen:
    """What a page that shows `placement` now has to send back."""
    return Seen(
        version=placement.version,
        content_hash=placement.asset.content_hash if placement.asset else "",
        context_hash=placement.snapshot.context_hash if placement.snapshot else "",
        alt_hash=placement.alt_hash,
        suggestion_id=suggestion.pk if suggestion else None,
    )


def save_text(
    *,
    placement: Placement,
    text: str,
    seen: Seen,
    by: Any,
    at: datetime,
    key: uuid.UUID | None = None,
    cleared: bool = False,
    active_seconds: float | None = None,
) -> Decision:
    """Make `text` the alt text; the text itself tells whether that accepts, edits or replaces the suggestion.

    Saving the text that stands there already, with no suggestion pending, writes no row and returns the last decision.

    :raises Stale: bytes, page text or alt text are no longer those in `seen`; nothing is written.
    :raises KeyReused: `key` came before with something else.
    :raises adapters.TextDoesNotFit: the CMS column is too narrow.
    :raises adapters.Refused: the CMS does not take the text.
    :raises adapters.NotThere: the place is gone.
    """
    act = _Act(Act.SAVE, Alt(text=text), by, at, key, cleared=cleared, active_seconds=active_seconds)
    return _decide(placement, seen, act)


def mark_decorative(
    *,
    placement: Placement,
    seen: Seen,
    by: Any,
    at: datetime,
    key: uuid.UUID | None = None,
    active_seconds: float | None = None,
) -> Decision:
    """Record that a person says the image needs no text. Raises as `save_text` does."""
    return _decide(
        placement, seen, _Act(Act.DECORATIVE, Alt(decorative=True), by, at, key, active_seconds=active_seconds)
    )


def reject(
    *, placement: Placement, seen: Seen, by: Any, at: datetime, reason: str = "", key: uuid.UUID | None = None
) -> Decision:
    """Dismiss the pending suggestion; the alt text stays as it is. Raises as `save_text` does, and

    :raises NothingToReject: no suggestion is pending.
    """
    return _decide(placement, seen, _Act(Act.REJECT, None, by, at, key, reason=reason))


def undo(*, placement: Placement, seen: Seen, by: Any, at: datetime, key: uuid.UUID | None = None) -> Decision:
    """Take back the latest act that is still in force, to the exact prior bytes. Raises as `save_text` does, and

    :raises NothingToUndo: nothing is left.
    """
    return _decide(placement, seen, _Act(Act.UNDO, None, by, at, key))


def record_written(
    *, adapter: adapters.Adapter, key: str, by: Any, at: datetime, stood: Alt | None = None
) -> Decision | None:
    """Record the alt text that `by` has just saved in the CMS's own editor; it stands there already.

    It counts as an act on the suggestion that was offered for the same image, also where the words around it were
    edited in the same save. None: the text is the one that was known before, or none at all. Call it in the request
    that saves, before anything else refreshes the placement (the signals do, once the transaction is committed): what
    stood there before is read from the placement.

    :param stood: what stood there before the save, for an image that the workbench did not know (no scan yet, or the
        key of one that was gone): an old text must not become an act of `by`, whose undo would take it away.

    :raises adapters.NotThere: the place or its image file is gone.
    """
    known = Placement.objects.filter(adapter=adapter.name, key=key).first()
    is_known = known is not None and (stood is None or known.state != Placement.State.GONE)
    before = Alt(known.current_alt, known.decorative) if known and is_known else stood or Alt()
    offered = Suggestion.objects.filter(placement=known, state__in=[Suggestion.State.PENDING, *_COUNTED])
    suggestion = offered.select_related("snapshot").order_by("-pk").first() if known else None
    current, _ = placements.refresh(adapter, adapter.place(key), at=at)
    with transaction.atomic():
        placement = (
            Placement.objects.select_for_update(of=("self",)).select_related("asset", "snapshot").get(pk=current.pk)
        )
        after = Alt(placement.current_alt, placement.decorative)
        raced = known is not None and placement.version != known.version  # the workbench was faster, and recorded it
        if raced or after == before or not (after.decorative or after.text.strip()):
            return None
        if suggestion is not None and (suggestion.asset_id != placement.asset_id or not suggestion.is_shown):
            suggestion = None  # a text for another picture, or one that was not shown, is no edit of it
        act = _Act(Act.DECORATIVE if after.decorative else Act.SAVE, after, by, at, None)
        decision = _row(placement, suggestion, before, after, act, None)
        decision.save(force_insert=True)
        _settle(placement, after, decision, suggestion, act)
        return decision


def close(*, placements: Iterable[Placement], at: datetime) -> int:
    """The page was published: what people made of the suggestions is final, later texts are no edits of them.

    A suggestion that nobody decided on stays open until its window ends.
    """
    undecided = Suggestion.objects.filter(placement__in=list(placements), state__in=_COUNTED, closed_at=None)
    return undecided.update(closed_at=at)


@dataclass(frozen=True, slots=True)
class _Act:
    act: str
    alt: Alt | None  # None: decided by what stands there
    by: Any
    at: datetime
    key: uuid.UUID | None
    reason: str = ""
    cleared: bool = False
    active_seconds: float | None = None


def _decide(placement: Placement, seen: Seen, act: _Act) -> Decision:
    if earlier := _earlier(placement, act):
        return earlier
    adapter = adapters.get(placement.adapter)
    current, _ = placements.refresh(adapter, adapter.place(placement.key), at=act.at)
    try:
        with transaction.atomic():
            return _write(current.pk, adapter, seen, act)
    except ChangedElsewhere as error:
        current, _ = placements.refresh(adapter, adapter.place(placement.key), at=act.at)
        raise TextChanged(current, "Somebody saved another text meanwhile.") from error
    except IntegrityError:
        # a repeat of this very request, or another author, was faster: the unique keys refused the second row
        if earlier := _earlier(placement, act):
            return earlier
        current = Placement.objects.select_related("asset", "snapshot").get(pk=placement.pk)
        raise TextChanged(current, "Somebody saved another text meanwhile.") from None


def _earlier(placement: Placement, act: _Act) -> Decision | None:
    """The answer to this very request, if it came before.

    :raises KeyReused: the key came with something else.
    :raises TextChanged: what it saved then no longer stands there.
    """
    earlier = Decision.objects.filter(idempotency_key=act.key, placement=placement).first() if act.key else None
    if earlier is None:
        return None
    if earlier.act != act.act or (act.act == Act.SAVE and act.alt is not None and earlier.final_text != act.alt.text):
        raise KeyReused("This request was sent before with other content. Load the page again.")
    current = Placement.objects.select_related("asset", "snapshot").get(pk=placement.pk)
    if act.act == Act.SAVE and (current.current_alt, current.decorative) != (earlier.final_text, False):
        raise TextChanged(current, "This was saved before, and another text has been saved since.")
    return earlier


def _write(placement_id: int, adapter: adapters.Adapter, seen: Seen, act: _Act) -> Decision:
    placement = (
        Placement.objects.select_for_update(of=("self",)).select_related("asset", "snapshot").get(pk=placement_id)
    )
    if earlier := _earlier(placement, act):
        return earlier
    _compare(placement, seen, act)
    before = Alt(text=placement.current_alt, decorative=placement.decorative)
    suggestion = _suggestion(placement, seen, act)
    undone = _last_in_force(placement) if act.act == Act.UNDO else None
    if undone is not None:
        after = _taken_back(undone, before)
        suggestion = undone.suggestion
    else:
        after = act.alt if act.alt is not None else before
    undecided = suggestion is not None and suggestion.state == Suggestion.State.PENDING
    settled = placement.state == Placement.State.DONE and not placement.stale
    if act.act == Act.SAVE and after == before and settled and not undecided:
        latest = placement.decisions.order_by("-version").first()
        if latest is not None and latest.final_text == after.text:
            return latest  # identical to what a person saved: no new row
    note = adapter.apply(placement.key, alt=after, expected=before, by=act.by) if after != before else ""
    decision = _row(placement, suggestion, before, after, act, undone)
    decision.note = note
    decision.save(force_insert=True)
    _settle(placement, after, decision, suggestion, act)
    return decision


def _compare(placement: Placement, seen: Seen, act: _Act) -> None:
    """:raises Stale: what was on screen is not what is there."""
    if placement.state == Placement.State.GONE:
        raise adapters.NotThere("This image is no longer on the page.")
    newer = list(placement.decisions.filter(version__gt=seen.version).order_by("version"))
    own = bool(newer) and all(decision.by_id == act.by.pk for decision in newer)
    if own and act.act == Act.UNDO:  # the act that the author saw is not the one that would be taken back
        raise TextChanged(placement, "You decided on this image once more meanwhile, in another window.")
    if placement.version != seen.version and not own:
        raise TextChanged(placement, "Somebody else decided on this image meanwhile.")
    if placement.asset and placement.asset.content_hash != seen.content_hash:
        raise ImageChanged(placement, "The image was replaced meanwhile. Look at the new one before you save.")
    known = {seen.alt_hash, Alt(newer[-1].final_text, newer[-1].final_decorative).hash} if own else {seen.alt_hash}
    if placement.alt_hash not in known:  # also where the author's own act came in between
        raise TextChanged(placement, "The text was changed in the page meanwhile.")
    if placement.snapshot and placement.snapshot.context_hash != seen.context_hash and not own:
        raise ContextChanged(
            placement, "The words around the image changed meanwhile. Save again if your text still fits."
        )


def _suggestion(placement: Placement, seen: Seen, act: _Act) -> Suggestion | None:
    """The suggestion that the act is about: the one on screen, if it was of text."""
    found = placement.suggestions.filter(text__isnull=False).exclude(state=Suggestion.State.SUPERSEDED)
    found = found.select_related("snapshot")
    if seen.suggestion_id is not None:
        suggestion = found.filter(pk=seen.suggestion_id).first()
    else:
        suggestion = None if act.act == Act.REJECT else found.filter(state__in=_COUNTED).order_by("-pk").first()
    if suggestion is not None and not (suggestion.is_shown and still_about(suggestion, placement)):
        suggestion = None  # a text for another picture, or one that the author has not seen: nothing was edited
    if act.act == Act.REJECT and (suggestion is None or suggestion.state != Suggestion.State.PENDING):
        raise NothingToReject("There is no suggestion to reject.")
    return suggestion


_COUNTED = [Suggestion.State.AS_IS, Suggestion.State.EDITED, Suggestion.State.REPLACED, Suggestion.State.DECORATIVE]


def still_about(row: Suggestion | Decision, placement: Placement) -> bool:
    """Whether `row` speaks of the image and the page words that stand there now."""
    if row.asset_id is None or row.snapshot is None or placement.snapshot is None:
        return True  # not known: nothing says otherwise
    return row.asset_id == placement.asset_id and row.snapshot.same_words(placement.snapshot)


def _taken_back(undone: Decision, before: Alt) -> Alt:
    """What stands there once `undone` is taken back.

    :raises NothingToUndo: a text from elsewhere stands there now, which is not the author's to remove.
    """
    if undone.act == Act.REJECT:
        return before
    if before != Alt(text=undone.final_text, decorative=undone.final_decorative):
        raise NothingToUndo("The text was changed in the page since. There is nothing of yours to take back.")
    return Alt(text=undone.prior_text, decorative=undone.prior_decorative)


def _last_in_force(placement: Placement) -> Decision:
    undone = set(placement.decisions.exclude(undoes=None).values_list("undoes_id", flat=True))
    for decision in placement.decisions.exclude(act=Act.UNDO).order_by("-version").select_related("suggestion"):
        if decision.pk not in undone:
            return decision
    raise NothingToUndo("There is nothing to undo.")


def _row(
    placement: Placement, suggestion: Suggestion | None, before: Alt, after: Alt, act: _Act, undone: Decision | None
) -> Decision:
    measured: dict[str, Any] = {}
    if act.act == Act.SAVE and suggestion is not None and suggestion.text is not None:
        dismissed = act.cleared or suggestion.state == Suggestion.State.REJECTED
        edit = edits.measure(suggestion.text, after.text, language=placement.language, cleared=dismissed)
        measured = {
            "outcome": edit.outcome.value,
            "distance": edit.distance,
            "distance_norm": edit.distance_norm,
            "distance_words": edit.distance_words,
            "insertions": edit.insertions,
            "deletions": edit.deletions,
            "substitutions": edit.substitutions,
            "trivial": edit.trivial,
        }
    return Decision(
        placement=placement,
        suggestion=suggestion,
        version=placement.version + 1,
        act=act.act,
        by=act.by,
        at=act.at,
        final_text=after.text,
        final_decorative=after.decorative,
        prior_text=before.text,
        prior_decorative=before.decorative,
        cleared=act.cleared,
        active_seconds=act.active_seconds,
        reason=act.reason,
        undoes=undone,
        asset=placement.asset,
        snapshot=placement.snapshot,
        idempotency_key=act.key or uuid.uuid4(),
        **measured,
    )


def _settle(placement: Placement, after: Alt, decision: Decision, suggestion: Suggestion | None, act: _Act) -> None:
    """Bring placement, suggestion and open jobs in line with the decision just recorded."""
    if suggestion is not None:
        state, trivial = _state_of(suggestion, decision)
        if act.at > suggestion.closes_at:
            undecided = suggestion.state == Suggestion.State.PENDING
            state, trivial = (Suggestion.State.EXPIRED if undecided else suggestion.state), suggestion.trivial
        if state != suggestion.state or trivial != suggestion.trivial:
            overtaken = _another_pending(suggestion) or not still_about(suggestion, placement)
            if state == Suggestion.State.PENDING and overtaken:
                state = Suggestion.State.SUPERSEDED
            Suggestion.objects.filter(pk=suggestion.pk).update(state=state, trivial=trivial, state_at=act.at)
    decided = after.decorative or bool(after.text.strip())
    if act.act in (Act.SAVE, Act.DECORATIVE):
        placements.supersede(placement, at=act.at)  # open jobs and another pending suggestion are overtaken
        _clear_desk(placement, by=act.by)
    placement.version = decision.version
    placement.current_alt, placement.decorative, placement.alt_hash = after.text, after.decorative, after.hash
    placement.state = _shown_state(placement, decided)
    placement.stale = decided and _is_stale(placement, decision, act)
    placement.updated_at = act.at
    placement.save()
    if placement.asset is not None:  # a role may follow from "decorative"; the bytes were compared just now
        adapter = adapters.get(placement.adapter)
        placements.sync(adapter, placement.key, bytes_row=placement.asset, at=act.at)


def _clear_desk(placement: Placement, *, by: Any) -> None:
    """A text stands there: nobody is at work on it any more, and its author's draft is saved. Others keep theirs."""
    Claim.objects.filter(placement=placement).delete()
    Later.objects.filter(placement=placement).delete()
    Draft.objects.filter(placement=placement, by=by).delete()


def _is_stale(placement: Placement, decision: Decision, act: _Act) -> bool:
    """Whether the text that now stands there was written for another image or other words."""
    if act.act in (Act.SAVE, Act.DECORATIVE):
        return False
    if act.act == Act.REJECT:
        return placement.stale
    rows = placement.decisions.exclude(act__in=[Act.UNDO, Act.REJECT]).filter(final_text=decision.final_text)
    wrote = (
        rows.filter(final_decorative=decision.final_decorative).select_related("snapshot").order_by("-version").first()
    )
    return wrote is not None and not still_about(wrote, placement)


def _state_of(suggestion: Suggestion, decision: Decision) -> tuple[str, bool]:
    """The state of a suggestion from the last of its decisions that is in force."""
    undone = set(suggestion.decisions.exclude(undoes=None).values_list("undoes_id", flat=True))
    for row in suggestion.decisions.exclude(act=Act.UNDO).order_by("-version"):
        if row.pk in undone:
            continue
        if row.act == Act.SAVE:
            return row.outcome, row.trivial
        return (Suggestion.State.REJECTED if row.act == Act.REJECT else Suggestion.State.DECORATIVE), False
    return Suggestion.State.PENDING, False


def _another_pending(suggestion: Suggestion) -> bool:
    pending = Suggestion.objects.filter(placement=suggestion.placement_id, state=Suggestion.State.PENDING)
    return pending.exclude(pk=suggestion.pk).exists()


def _shown_state(placement: Placement, decided: bool) -> str:
    if decided:
        return Placement.State.DONE
    if queries.is_waiting(placement):
        return Placement.State.WAITING
    if placement.suggestions.filter(state=Suggestion.State.PENDING).exists():
        return Placement.State.OFFERED
    latest = placement.suggestions.order_by("-pk").first()
    return Placement.State.ABSTAINED if latest and latest.state == Suggestion.State.ABSTAINED else Placement.State.OPEN
