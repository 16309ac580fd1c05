"""One record for each text that was kept: the last one saved inside the window and not taken back, counted once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from alttext import conf
from alttext.models import Decision, Suggestion
from alttext.reports.cohorts import Cohort

KEPT = (Suggestion.State.AS_IS, Suggestion.State.EDITED, Suggestion.State.REPLACED)


@dataclass(frozen=True, slots=True)
class EditRecord:
    """What an author made of one suggestion. Distances as in `edits.Edit`; `author_id` must not reach a page."""

    suggestion_id: int
    author_id: int
    suggested_at: datetime
    decided_at: datetime
    language: str
    captioner: str
    outcome: str
    trivial: bool
    distance: int
    distance_norm: float
    distance_words: int | None
    insertions: int
    deletions: int
    substitutions: int
    active_seconds: float | None
    suggested_text: str
    final_text: str


class _Act(NamedTuple):
    """One act as the database gives it: a plain row, since a period can have a million of them."""

    suggestion_id: int
    pk: int
    act: str
    undoes_id: int | None
    by_id: int
    at: datetime
    suggested_at: datetime
    closed_at: datetime | None
    outcome: str
    trivial: bool
    distance: int | None
    distance_norm: float | None
    distance_words: int | None
    insertions: int | None
    deletions: int | None
    substitutions: int | None
    active_seconds: float | None
    final_text: str
    suggested_text: str
    language: str
    captioner_name: str
    captioner_key: str


COLUMNS = {
    "suggested_at": "suggestion__suggested_at",
    "closed_at": "suggestion__closed_at",
    "suggested_text": "suggestion__text",
    "language": "suggestion__snapshot__language",
    "captioner_name": "suggestion__captioner_version__name",
    "captioner_key": "suggestion__captioner_version__key",
}


def edit_records(*, user: Any, cohort: Cohort) -> Iterator[EditRecord]:
    """The records of the cohort in order of suggestion, in one query; none if `user` may not see dashboards."""
    window = timedelta(days=conf.get("WINDOW_DAYS"))
    rows = (
        Decision.objects.filter(suggestion__in=cohort.suggestions(user).filter(state__in=KEPT))
        .order_by("suggestion_id", "version")
        .values_list(*(COLUMNS.get(name, name) for name in _Act._fields))
    )
    for _, group in groupby(map(_Act._make, rows.iterator(chunk_size=2000)), key=attrgetter("suggestion_id")):
        # acts after the window or the publication change no state, so they change no record, undoing ones included
        acts = [act for act in group if act.at <= min(act.suggested_at + window, act.closed_at or act.at)]
        if (saved := _last_saved(acts)) is not None:
            yield _record(saved)


def _last_saved(acts: list[_Act]) -> _Act | None:
    undone = {act.undoes_id for act in acts}
    saved = [act for act in acts if act.act == Decision.Act.SAVE and act.outcome and act.pk not in undone]
    return saved[-1] if saved else None


def _record(saved: _Act) -> EditRecord:
    return EditRecord(
        suggestion_id=saved.suggestion_id,
        author_id=saved.by_id,
        suggested_at=saved.suggested_at,
        decided_at=saved.at,
        language=saved.language,
        captioner=f"{saved.captioner_name} {saved.captioner_key}",
        outcome=saved.outcome,
        trivial=saved.trivial,
        distance=saved.distance or 0,
        distance_norm=saved.distance_norm or 0.0,
        distance_words=saved.distance_words,
        insertions=saved.insertions or 0,
        deletions=saved.deletions or 0,
        substitutions=saved.substitutions or 0,
        active_seconds=saved.active_seconds,
        suggested_text=saved.suggested_text,
        final_text=saved.final_text,
    )
