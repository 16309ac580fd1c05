"""Reads for the workbench: the queue, one placement's page, earlier texts for the same bytes. Starts no write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from alttext.adapters import ABOUT_TO_BE
from alttext.models import (
    CaptionerVersion,
    Claim,
    Comment,
    ContextSnapshot,
    Decision,
    Draft,
    Job,
    Later,
    Placement,
    SavedFilter,
    Suggestion,
)
from alttext.permissions import editable_by

State = Placement.State
TO_DO = [State.OFFERED, State.ABSTAINED, State.FAILED, State.OPEN, State.WAITING]
FILTERS = {
    "todo": Q(state__in=TO_DO) | Q(stale=True),
    "offered": Q(state=State.OFFERED),
    "abstained": Q(state=State.ABSTAINED),
    "failed": Q(state=State.FAILED),
    "waiting": Q(state__in=[State.WAITING, State.OPEN]),
    "stale": Q(stale=True),
    "done": Q(state__in=[State.DONE, State.HUMAN], stale=False),
    "all": Q(),
}


PLACES = {"page": "On pages", "library": "In the library"}
WHO = {"mine": "Open at my desk", "free": "Open at nobody’s", "others": "Open at somebody else’s"}


@dataclass(frozen=True, slots=True)
class Page:
    """Some placements in id order, and where the next ones start."""

    placements: list[Placement]
    next_after: int | None


def queue(
    *,
    user: Any,
    state: str = "todo",
    language: str = "",
    role: str = "",
    search: str = "",
    who: str = "",
    place: str = "",
    page: int | None = None,
    captioner: int | None = None,
    at: datetime | None = None,
) -> QuerySet[Placement]:
    """Placements that `user` may edit, in id order, with all that a row shows.

    :param state: a key of `FILTERS`.  :param who: a key of `WHO`; needs `at`.
    :param place: a key of `PLACES`.
    :param page: id of a placement: those of the same page.
    :param captioner: id of a captioner version: those it has a suggestion pending for.
    """
    rows = _on_pages(user).filter(FILTERS.get(state, FILTERS["todo"]))
    if language:
        rows = rows.filter(language=language)
    if role:
        rows = rows.filter(role=role)
    if search:
        rows = rows.filter(
            Q(page_title__icontains=search) | Q(image_name__icontains=search) | Q(current_alt__icontains=search)
        )
    if who:
        claimed = Claim.objects.filter(placement=OuterRef("pk"), until__gt=at)
        held = {"mine": Exists(claimed.filter(by=user)), "others": Exists(claimed.exclude(by=user))}
        rows = rows.filter(held.get(who, ~Exists(claimed)))
    if place:
        rows = rows.filter(in_library=place == "library")
    if page is not None:
        same = Placement.objects.filter(pk=page).values_list("adapter", "page_url", "page_title").first()
        rows = rows.filter(adapter=same[0], page_url=same[1], page_title=same[2]) if same else rows.none()
    if captioner is not None:
        pending = Suggestion.objects.filter(
            placement=OuterRef("pk"), state=Suggestion.State.PENDING, captioner_version=captioner
        )
        rows = rows.filter(Exists(pending))
    return rows.select_related("asset", "snapshot").order_by("id")


def _on_pages(user: Any) -> QuerySet[Placement]:
    """What `user` may edit and pages show: neither gone nor still in an editor that is not saved."""
    return editable_by(user).exclude(state=State.GONE).exclude(key__startswith=ABOUT_TO_BE)


def page(rows: QuerySet[Placement], *, after: int = 0, size: int, at: datetime | None = None) -> Page:
    """`size` rows with an id above `after`: a cursor, so that nothing is skipped when rows leave the queue.

    Each carries its newest suggestion and, with `at`, the claim in force.
    """
    found = list(rows.filter(pk__gt=after)[: size + 1])
    more = len(found) > size
    found = found[:size]
    latest = {row.placement_id: row for row in latest_suggestions([item.pk for item in found])}
    for item in found:
        item.shown_suggestion = latest.get(item.pk)  # type: ignore[attr-defined]
    if at is not None:
        claims = Claim.objects.filter(placement__in=found, until__gt=at).select_related("by")
        held = {row.placement_id: row for row in claims}
        for item in found:
            item.shown_claim = held.get(item.pk)  # type: ignore[attr-defined]
    return Page(placements=found, next_after=found[-1].pk if more else None)


def latest_suggestions(placement_ids: list[int]) -> list[Suggestion]:
    """The newest suggestion of each placement, in one query that works on both databases."""
    newest = Suggestion.objects.filter(placement__in=placement_ids).order_by("placement", "-pk")
    chosen: dict[int, Suggestion] = {}
    for row in newest.select_related("captioner_version"):
        chosen.setdefault(row.placement_id, row)
    return list(chosen.values())


def counts(user: Any) -> Mapping[str, int]:
    """Placements under each key of `FILTERS` that `user` may edit, in one query."""
    rows = _on_pages(user)
    # the prefix keeps "stale" apart from the column of that name
    counted = rows.aggregate(**{f"in_{name}": Count("pk", filter=condition) for name, condition in FILTERS.items()})
    return {name: counted[f"in_{name}"] for name in FILTERS}


def servable(*, user: Any, at: datetime, **wanted: Any) -> QuerySet[Placement]:
    """What `user` may be served, in id order: not what others have claimed, nor what the user put off.

    :param wanted: filters, as `queue` takes them.
    """
    claimed = Claim.objects.filter(placement=OuterRef("pk"), until__gt=at).exclude(by=user)
    put_off = Later.objects.filter(placement=OuterRef("pk"), until__gt=at, by=user)
    return queue(user=user, at=at, **wanted).filter(~Exists(claimed), ~Exists(put_off))


def following(*, user: Any, after: int, at: datetime, **wanted: Any) -> Placement | None:
    """The next placement to work on, in id order; from the start again once the end is reached. The library is last."""
    rows = servable(user=user, at=at, **wanted).exclude(pk=after)
    pages = rows.filter(in_library=False)
    return pages.filter(pk__gt=after).first() or pages.first() or rows.first()


def suggestion_of(placement: Placement) -> Suggestion | None:
    """The newest suggestion for `placement`, whatever became of it."""
    return placement.suggestions.select_related("captioner_version").order_by("-pk").first()


def history(placement: Placement) -> QuerySet[Decision]:
    """Decisions on `placement`, newest first. `by` is fetched apart: a join would lose the acts of deleted accounts."""
    rows = placement.decisions.select_related("suggestion__captioner_version", "undoes")
    return rows.prefetch_related("by").order_by("-version")


def last_writer(placement: Placement) -> Decision | None:
    """The decision that the current text came from; None: it was written on the site itself."""
    latest = placement.decisions.prefetch_related("by").order_by("-version").first()
    same = latest and (latest.final_text, latest.final_decorative) == (placement.current_alt, placement.decorative)
    return latest if same else None


def languages(user: Any) -> list[str]:
    """Languages of the placements that `user` may edit, sorted."""
    return list(_on_pages(user).order_by("language").values_list("language", flat=True).distinct())


def position(placement: Placement) -> tuple[int, int]:
    """(n, of how many): which image of its page it is, by id."""
    here = Placement.objects.filter(
        adapter=placement.adapter, page_url=placement.page_url, page_title=placement.page_title
    ).exclude(state=State.GONE)
    here = here.exclude(key__startswith=ABOUT_TO_BE) if not placement.key.startswith(ABOUT_TO_BE) else here
    counted = here.aggregate(up_to=Count("pk", filter=Q(pk__lte=placement.pk)), all=Count("pk"))
    return counted["up_to"], counted["all"]


def find(*, user: Any, adapter: str, key: str) -> Placement | None:
    """The placement that an adapter knows by `key`, if `user` may edit it."""
    return editable_by(user).exclude(state=State.GONE).filter(adapter=adapter, key=key).first()


def snapshot_by_hash(context_hash: str) -> ContextSnapshot | None:
    """The words that an author had on screen. Who knows the hash has seen them: it cannot be guessed."""
    return ContextSnapshot.objects.filter(context_hash=context_hash).first() if context_hash else None


def undoable(placement: Placement) -> Decision | None:
    """The act that can be taken back: the newest in force, if what it wrote still stands there."""
    undone = set(placement.decisions.exclude(undoes=None).values_list("undoes_id", flat=True))
    acts = placement.decisions.exclude(act=Decision.Act.UNDO).exclude(pk__in=undone)
    last = acts.select_related("by").order_by("-version").first()
    if last is None:
        return None
    stands = (placement.current_alt, placement.decorative) == (last.final_text, last.final_decorative)
    return last if last.act == Decision.Act.REJECT or stands else None


def claim_of(placement: Placement, *, at: datetime) -> Claim | None:
    """The claim in force on `placement`, with who holds it."""
    return Claim.objects.filter(placement=placement, until__gt=at).select_related("by").first()


def draft_of(placement: Placement, *, user: Any) -> Draft | None:
    """The text that `user` typed for `placement` and has not saved."""
    return Draft.objects.filter(placement=placement, by=user).first()


def comments(placement: Placement) -> QuerySet[Comment]:
    """Words to colleagues about `placement`, oldest first."""
    return placement.comments.select_related("by").order_by("pk")


def has_library(user: Any) -> bool:
    """Whether there are texts of the library among what `user` may edit."""
    return _on_pages(user).filter(in_library=True).exists()


def captioners_offering(user: Any) -> list[CaptionerVersion]:
    """Captioner versions with a suggestion pending, the newest first."""
    pending = Suggestion.objects.filter(captioner_version=OuterRef("pk"), state=Suggestion.State.PENDING)
    return list(CaptionerVersion.objects.filter(Exists(pending)).order_by("-last_seen_at"))


def saved_filters(user: Any) -> QuerySet[SavedFilter]:
    """The saved filters of `user` by name."""
    return SavedFilter.objects.filter(by=user).order_by("name")


def is_waiting(placement: Placement) -> bool:
    """Whether an answer is still to come."""
    return placement.jobs.filter(state__in=Job.OPEN).exists()


def elsewhere(placement: Placement, *, user: Any, limit: int = 5) -> list[Placement]:
    """Other uses of the same bytes that have a text: offered to look at, never applied."""
    if placement.asset_id is None:
        return []
    same = editable_by(user).filter(asset=placement.asset_id).exclude(pk=placement.pk).exclude(state=State.GONE)
    return list(same.exclude(current_alt="").order_by("-updated_at")[:limit])
