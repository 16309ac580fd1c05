"""One record for each text that was kept: the last one saved inside the window and not taken back, counted once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter
from typing import Any

from alttext import conf
from alttext.models import Decision, Suggestion
from alttext.reports.cohorts import Cohort

KEPT = (Suggestion.State.AS_IS, Suggestion.State.EDITED, Suggestion.State.REPLACED)
NEEDED = (
    "suggestion__text",
    "suggestion__suggested_at",
    "suggestion__captioner_version__name",
    "suggestion__captioner_version__key",
    "suggestion__snapshot__language",
    "act",
    "by_id",
    "at",
    "final_text",
    "outcome",
    "distance",
    "distance_norm",
    "distance_words",
    "insertions",
    "deletions",
    "substitutions",
    "trivial",
    "active_seconds",
    "undoes_id",
)


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


def edit_records(*, user: Any, cohort: Cohort) -> Iterator[EditRecord]:
    """The records of the cohort in order of suggestion, in one query; none if `user` may not see dashboards."""
    window = timedelta(days=conf.get("WINDOW_DAYS"))
    rows = (
        Decision.objects.filter(suggestion__in=cohort.suggestions(user).filter(state__in=KEPT))
        .select_related("suggestion__captioner_version", "suggestion__snapshot")
        .only(*NEEDED)
        .order_by("suggestion_id", "version")
    )
    for _, group in groupby(rows.iterator(chunk_size=2000), key=attrgetter("suggestion_id")):
        # acts after the window change no state, so they change no record, undoing ones included
        acts = [row for row in group if row.at <= _suggestion(row).suggested_at + window]
        if (saved := _last_saved(acts)) is not None:
            yield _record(saved, _suggestion(saved))


def _suggestion(act: Decision) -> Suggestion:
    assert act.suggestion is not None, "the query asks for acts on suggestions only"
    return act.suggestion


def _last_saved(acts: list[Decision]) -> Decision | None:
    undone = {act.undoes_id for act in acts}
    saved = [act for act in acts if act.act == Decision.Act.SAVE and act.outcome and act.pk not in undone]
    return saved[-1] if saved else None


def _record(saved: Decision, suggestion: Suggestion) -> EditRecord:
    return EditRecord(
        suggestion_id=suggestion.pk,
        author_id=saved.by_id,
        suggested_at=suggestion.suggested_at,
        decided_at=saved.at,
        language=suggestion.snapshot.language,
        captioner=str(suggestion.captioner_version),
        outcome=saved.outcome,
        trivial=saved.trivial,
        distance=saved.distance or 0,
        distance_norm=saved.distance_norm or 0.0,
        distance_words=saved.distance_words,
        insertions=saved.insertions or 0,
        deletions=saved.deletions or 0,
        substitutions=saved.substitutions or 0,
        active_seconds=saved.active_seconds,
        suggested_text=suggestion.text or "",
        final_text=saved.final_text,
    )
