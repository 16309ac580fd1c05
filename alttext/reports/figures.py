"""The figures of one cohort: counts from the states of suggestions, sizes and authors from the edit records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q, QuerySet

from alttext import conf, edits, rates
from alttext.models import CaptionerVersion, Suggestion
from alttext.reports.cohorts import Cohort
from alttext.reports.records import EditRecord, edit_records

State = Suggestion.State


@dataclass(frozen=True, slots=True)
class CodeCount:
    """How often a code was given; `share` of all abstentions or failures."""

    code: str
    count: int
    share: float | None


@dataclass(frozen=True, slots=True)
class RubberStamps:
    """Texts used as offered that were saved faster than one can read them; `share` of the `timed` ones."""

    share: float | None
    timed: int


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much the changed texts were changed.

    :ivar small: share changed by at most 3 graphemes.
    :ivar large: share changed by more than 30.
    :ivar inserted: share of all changed graphemes; so are `deleted` and `substituted`. Descriptive.
    """

    graphemes: rates.Distribution
    words: rates.Distribution
    small: float | None
    large: float | None
    inserted: float | None
    deleted: float | None
    substituted: float | None


@dataclass(frozen=True, slots=True)
class Acts:
    """What people did, all authors together. `trivial`: share of as-is texts whose raw strings differ."""

    counts: rates.Counts
    edit_rate: float | None
    not_used: float | None
    bounds: rates.Interval | None
    means: rates.AuthorMeans
    sizes: Sizes
    trivial: float | None
    rubber_stamps: RubberStamps


@dataclass(frozen=True, slots=True)
class Overview:
    """The figures of one cohort.

    :ivar authors: those who committed a text.
    :ivar acts: None where the cohort is a part of the site with fewer than `min_authors` authors.
    :ivar still_open: pending suggestions whose window has not closed: figures may still change.
    :ivar failed: jobs without an answer; they enter no rate.
    """

    authors: int
    min_authors: int
    acts: Acts | None
    answered: int
    abstained: int
    offered: int
    reviewed: int
    unreviewed: int
    still_open: int
    superseded: int
    superseded_by_author: int
    abstain: float | None
    coverage: float | None
    abstentions: tuple[CodeCount, ...]
    failed: int
    failures: tuple[CodeCount, ...]


def overview(
    *,
    user: Any,
    since: datetime | None,
    until: datetime,
    captioner_version: CaptionerVersion | None = None,
    language: str = "",
) -> Overview:
    """The figures of all that was suggested from `since` up to `until`, the time of looking, in four queries."""
    cohort = Cohort(since, until, captioner_version, language)
    states = _states(cohort.suggestions(user), until)
    counts = rates.Counts.of({row["state"]: row["n"] for row in states})
    found = rates.rates(counts)
    tally = _Tally(edit_records(user=user, cohort=cohort))
    min_authors = conf.get("MIN_AUTHORS")
    hidden = cohort.is_part and counts.reviewed > 0 and len(tally.authors) < min_authors
    failures = _failures(cohort, user)
    return Overview(
        authors=len(tally.authors),
        min_authors=min_authors,
        acts=None if hidden else _acts(counts, tally, states, min_authors),
        answered=counts.answered,
        abstained=counts.abstained,
        offered=counts.offered,
        reviewed=counts.reviewed,
        unreviewed=counts.unreviewed,
        still_open=sum(row["open"] for row in states),
        superseded=counts.superseded,
        superseded_by_author=sum(row["by_author"] for row in states),
        abstain=found.abstain,
        coverage=found.coverage,
        abstentions=_abstentions(cohort.suggestions(user), counts.abstained),
        failed=sum(row.count for row in failures),
        failures=failures,
    )


def _states(rows: QuerySet[Suggestion], at: datetime) -> list[dict[str, Any]]:
    window_opened = at - timedelta(days=conf.get("WINDOW_DAYS"))
    groups = rows.order_by().values("state")
    counted = groups.annotate(
        n=Count("pk"),
        trivials=Count("pk", filter=Q(state=State.AS_IS, trivial=True)),
        by_author=Count("pk", filter=Q(state=State.SUPERSEDED, superseded_by_author=True)),
        open=Count("pk", filter=Q(state=State.PENDING, suggested_at__gte=window_opened)),
    )
    return [dict(row) for row in counted]


def _abstentions(rows: QuerySet[Suggestion], abstained: int) -> tuple[CodeCount, ...]:
    """One abstention can have several reasons, so the shares can pass 1 together."""
    codes: Counter[str] = Counter()
    for row in rows.filter(state=State.ABSTAINED).order_by().values("reasons").annotate(n=Count("pk")):
        for code in row["reasons"].split(","):
            codes[code] += row["n"]
    return _ranked(codes, abstained)


def _failures(cohort: Cohort, user: Any) -> tuple[CodeCount, ...]:
    codes: Counter[str] = Counter()
    for row in cohort.failed_jobs(user).order_by().values("state", "code").annotate(n=Count("pk")):
        codes[row["code"] or row["state"].lower()] += row["n"]
    return _ranked(codes, codes.total())


def _ranked(codes: Counter[str], whole: int) -> tuple[CodeCount, ...]:
    ordered = sorted(codes.items(), key=lambda item: (-item[1], item[0]))
    return tuple(CodeCount(code, count, rates.share(count, whole)) for code, count in ordered)


class _Tally:
    """One pass over edit records; texts are dropped once their words are counted."""

    def __init__(self, records: Iterable[EditRecord]) -> None:
        self.authors: dict[int, list[int]] = {}  # author: changed, kept
        self.graphemes: list[int] = []
        self.words: list[int] = []
        self.inserted = self.deleted = self.substituted = 0
        self.timed = self.too_fast = 0
        for record in records:
            self._add(record)

    def _add(self, record: EditRecord) -> None:
        changed = record.outcome != State.AS_IS
        author = self.authors.setdefault(record.author_id, [0, 0])
        author[0] += changed
        author[1] += 1
        if changed:
            self._add_change(record)
        elif record.active_seconds is not None:
            self.timed += 1
            self.too_fast += record.active_seconds < _reading_seconds(record)

    def _add_change(self, record: EditRecord) -> None:
        self.graphemes.append(record.distance)
        if record.distance_words is not None:
            self.words.append(record.distance_words)
        self.inserted += record.insertions
        self.deleted += record.deletions
        self.substituted += record.substitutions


def _acts(counts: rates.Counts, tally: _Tally, states: list[dict[str, Any]], min_authors: int) -> Acts:
    found = rates.rates(counts)
    by_author = ((changed, kept) for changed, kept in tally.authors.values())
    return Acts(
        counts=counts,
        edit_rate=found.edit_rate,
        not_used=found.not_used,
        bounds=rates.unreviewed_bounds(counts),
        means=rates.author_means(by_author, min_authors=min_authors),
        sizes=_sizes(tally),
        trivial=rates.share(sum(row["trivials"] for row in states), counts.as_is),
        rubber_stamps=RubberStamps(rates.share(tally.too_fast, tally.timed), tally.timed),
    )


def _sizes(tally: _Tally) -> Sizes:
    steps = tally.inserted + tally.deleted + tally.substituted
    return Sizes(
        graphemes=rates.distribution(tally.graphemes),
        words=rates.distribution(tally.words, rates.WORD_BUCKETS),
        small=rates.share_up_to(tally.graphemes, rates.SMALL),
        large=rates.share_above(tally.graphemes, rates.LARGE),
        inserted=rates.share(tally.inserted, steps),
        deleted=rates.share(tally.deleted, steps),
        substituted=rates.share(tally.substituted, steps),
    )


def _reading_seconds(record: EditRecord) -> float:
    text = edits.comparable(record.final_text) or edits.comparable(record.suggested_text)
    spaced = record.language.partition("-")[0] not in edits.UNSPACED
    return rates.reading_seconds(words=len(text.split()), graphemes=None if spaced else len(edits.graphemes(text)))
