"""What captioners offered, what authors decided, and which captioner it was."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from alttext import conf
from alttext.edits import Outcome
from alttext.models.placements import Asset, ContextSnapshot, Placement


@dataclass(frozen=True, slots=True)
class StatedRisk:
    """What a calibration promises: at most the share `alpha` is wrong.

    :ivar alpha: share, 0..1: of the texts offered, or of all images where there is no `confidence`.
    :ivar confidence: that the promise holds, 0..1: 1 - delta. None: it holds on average over calibrations only.
    :ivar n: items it was calibrated on; `accepted` of them got a text, `errors` of those were wrong.
    :ivar coverage: share that got a text, 0..1; None where it is not told.
    :ivar stratum: the kind of picture it is about; empty for all.
    """

    alpha: float
    confidence: float | None
    n: int
    accepted: int | None
    errors: int | None
    coverage: float | None
    stratum: str = ""

    @classmethod
    def of(cls, calibration: Mapping[str, Any]) -> StatedRisk | None:
        """The promise in a calibration; None where it makes none that can be read.

        One whose threshold is null found none that it could warrant: it promises nothing.
        """
        alpha, delta = _share(calibration.get("alpha")), _share(calibration.get("delta"))
        n, accepted = _count(calibration.get("n")), _count(calibration.get("accepted"))
        on_average = calibration.get("method") == "crc"
        if alpha is None or not n or accepted == 0 or calibration.get("threshold", 0) is None:
            return None
        if delta is None and not on_average:
            return None
        return cls(
            alpha=alpha,
            confidence=None if on_average or delta is None else 1 - delta,
            n=n,
            accepted=accepted,
            errors=_count(calibration.get("errors")),
            coverage=_share(calibration.get("coverage")),
            stratum=str(calibration.get("stratum") or ""),
        )


def _share(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= 1 else None


def _count(value: Any) -> int | None:
    is_whole = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 and value == int(value)
    return int(value) if is_whole else None


class CaptionerVersions(models.Manager["CaptionerVersion"]):
    """The versions of captioners."""

    def calibrate(self, *, key: str, calibration: Mapping[str, Any]) -> bool:
        """Store what the version called `key` says of its risk, unless it has said so before; whether it is known."""
        self.filter(key=key, calibration__isnull=True).update(calibration=dict(calibration))
        return self.filter(key=key).exists()


class CaptionerVersion(models.Model):
    """One exact captioner: a new key is a new row, and voids a calibration."""

    name = models.CharField(max_length=200)
    key = models.CharField(max_length=64, unique=True)
    versions = models.JSONField(default=dict)
    calibration = models.JSONField(null=True, help_text="the risk it states, as it came; null: not calibrated")
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()

    objects = CaptionerVersions()

    def __str__(self) -> str:
        return f"{self.name} {self.key}"

    @property
    def stated_risks(self) -> list[StatedRisk]:
        """What may be said of its risk, by stratum; empty: not calibrated, or only for another version."""
        found = self.calibration if isinstance(self.calibration, dict) else {}
        by_stratum = found.get("calibrations")
        single = by_stratum if isinstance(by_stratum, list) else [found]
        own = [item for item in single if isinstance(item, dict) and item.get("versions_key") == self.key]
        return [risk for item in own if (risk := StatedRisk.of(item)) is not None]


class Suggestion(models.Model):
    """A text or reasoned silence for one placement; exactly one state (metrics page, section 1)."""

    class State(models.TextChoices):
        PENDING = "PENDING", "Offered, undecided"
        ABSTAINED = "ABSTAINED", "No text, with a reason"
        AS_IS = "AS_IS", "Used as offered"
        EDITED = "EDITED", "Used after edits"
        REPLACED = "REPLACED", "Replaced by another text"
        DECORATIVE = "DECORATIVE", "Marked decorative instead"
        REJECTED = "REJECTED", "Dismissed"
        SUPERSEDED = "SUPERSEDED", "Overtaken before a decision"
        EXPIRED = "EXPIRED", "Window closed without a decision"

    class Display(models.TextChoices):
        """How the author meets the text. Fixed when it comes, so that ways can be compared."""

        PREFILLED = "prefilled", "In the text box"
        BESIDE = "beside", "Beside an empty text box"
        AFTER = "after", "Once the author has written"
        BLANK = "blank", "Never: a control item"

    placement = models.ForeignKey(Placement, on_delete=models.PROTECT, related_name="suggestions")
    asset = models.ForeignKey(Asset, on_delete=models.PROTECT, related_name="suggestions")
    snapshot = models.ForeignKey(ContextSnapshot, on_delete=models.PROTECT, related_name="suggestions")
    captioner_version = models.ForeignKey(CaptionerVersion, on_delete=models.PROTECT, related_name="suggestions")
    job = models.OneToOneField("alttext.Job", null=True, on_delete=models.PROTECT, related_name="suggestion")
    text = models.TextField(null=True)
    reasons = models.CharField(max_length=300, blank=True, help_text="reason codes, comma-separated; empty with a text")
    detail = models.TextField(blank=True)
    language = models.CharField(max_length=35, blank=True)
    evidence = models.JSONField(default=dict)
    flags = models.JSONField(default=list)
    state = models.CharField(max_length=16, choices=State.choices)
    display = models.CharField(max_length=16, choices=Display.choices, default=Display.PREFILLED)
    shown_at = models.DateTimeField(null=True, help_text="when the author of an “after” item asked to see it")
    trivial = models.BooleanField(default=False, help_text="used as offered, although the raw strings differ")
    superseded_by_author = models.BooleanField(default=False)
    seconds = models.FloatField(null=True)
    suggested_at = models.DateTimeField()
    state_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, help_text="the page was published; later texts are no edits of it")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=(Q(text__isnull=False) & ~Q(text="") & Q(reasons=""))
                | (Q(text__isnull=True) & ~Q(reasons="")),
                name="alttext_suggestion_text_xor_reasons",
            ),
            models.CheckConstraint(
                condition=(Q(text__isnull=True) & Q(state="ABSTAINED"))
                | (Q(text__isnull=False) & ~Q(state="ABSTAINED")),
                name="alttext_suggestion_abstained_iff_no_text",
            ),
            models.CheckConstraint(
                condition=Q(
                    state__in=[
                        "PENDING", "ABSTAINED", "AS_IS", "EDITED", "REPLACED",
                        "DECORATIVE", "REJECTED", "SUPERSEDED", "EXPIRED",
                    ]
                ),
                name="alttext_suggestion_state_is_known",
            ),
            models.CheckConstraint(
                condition=Q(display__in=["prefilled", "beside", "after", "blank"]),
                name="alttext_suggestion_display_is_known",
            ),
            models.UniqueConstraint(
                fields=["placement"], condition=Q(state="PENDING"), name="alttext_suggestion_one_pending_a_placement"
            ),
        ]  # fmt: skip
        indexes = [
            models.Index(fields=["placement", "-id"], name="alttext_suggestion_latest"),
            models.Index(fields=["suggested_at", "state"], name="alttext_suggestion_cohort"),
        ]

    def __str__(self) -> str:
        return self.text if self.text is not None else f"({self.reasons})"

    @property
    def is_shown(self) -> bool:
        """Whether the author may see the text: not on control items, nor before the author has written."""
        return self.display in (self.Display.PREFILLED, self.Display.BESIDE) or self.shown_at is not None

    @property
    def closes_at(self) -> datetime:
        """Until when texts count as what became of it: the end of its window, or the publication of the page."""
        ends = self.suggested_at + timedelta(days=conf.get("WINDOW_DAYS"))
        return min(ends, self.closed_at) if self.closed_at else ends

    @property
    def reason_list(self) -> list[str]:
        """Reason codes in order, empty with a text."""
        return self.reasons.split(",") if self.reasons else []


class AppendOnly(TypeError):
    """Decisions are never changed or deleted."""


class Decision(models.Model):
    """One explicit act of a person on a placement. Append-only: a trigger on PostgreSQL and SQLite refuses changes."""

    class Act(models.TextChoices):
        SAVE = "SAVE", "Saved a text"
        REJECT = "REJECT", "Rejected the suggestion"
        DECORATIVE = "DECORATIVE", "Marked decorative"
        UNDO = "UNDO", "Took back"

    placement = models.ForeignKey(Placement, on_delete=models.PROTECT, related_name="decisions")
    suggestion = models.ForeignKey(Suggestion, null=True, on_delete=models.PROTECT, related_name="decisions")
    version = models.PositiveIntegerField(help_text="the placement's version after this act")
    act = models.CharField(max_length=16, choices=Act.choices)
    # no constraint and no cascade: a deleted account must not change an append-only row
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.DO_NOTHING, db_constraint=False, related_name="alttext_decisions"
    )
    at = models.DateTimeField()
    final_text = models.TextField(blank=True)
    final_decorative = models.BooleanField(default=False)
    prior_text = models.TextField(blank=True)
    prior_decorative = models.BooleanField(default=False)
    outcome = models.CharField(max_length=16, blank=True, help_text="empty where no suggestion of text was there")
    distance = models.PositiveIntegerField(null=True, help_text="graphemes")
    distance_norm = models.FloatField(null=True)
    distance_words = models.PositiveIntegerField(null=True)
    insertions = models.PositiveIntegerField(null=True)
    deletions = models.PositiveIntegerField(null=True)
    substitutions = models.PositiveIntegerField(null=True)
    trivial = models.BooleanField(default=False)
    cleared = models.BooleanField(default=False, help_text="the author emptied the box before typing")
    active_seconds = models.FloatField(null=True)
    reason = models.TextField(blank=True, help_text="why a suggestion was rejected")
    asset = models.ForeignKey(Asset, null=True, on_delete=models.PROTECT, related_name="+")
    snapshot = models.ForeignKey(ContextSnapshot, null=True, on_delete=models.PROTECT, related_name="+")
    undoes = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="undone_by")
    idempotency_key = models.UUIDField(unique=True, default=uuid.uuid4)
    note = ""  # not stored: what the author should know of where the text went

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["placement", "version"], name="alttext_decision_one_a_version"),
            models.CheckConstraint(
                condition=Q(final_decorative=False) | Q(final_text=""), name="alttext_decision_decorative_has_no_text"
            ),
            models.CheckConstraint(
                condition=Q(act__in=["SAVE", "REJECT", "DECORATIVE", "UNDO"]), name="alttext_decision_act_is_known"
            ),
            models.CheckConstraint(
                condition=Q(outcome__in=["", *(item.value for item in Outcome)]),
                name="alttext_decision_outcome_is_known",
            ),
            models.CheckConstraint(
                condition=Q(distance_norm__isnull=True) | (Q(distance_norm__gte=0) & Q(distance_norm__lte=1)),
                name="alttext_decision_norm_is_a_share",
            ),
            models.CheckConstraint(
                condition=Q(undoes__isnull=True) | ~Q(undoes=F("id")), name="alttext_decision_undoes_another"
            ),
        ]
        indexes = [models.Index(fields=["placement", "-version"], name="alttext_decision_history")]

    def __str__(self) -> str:
        return f"{self.get_act_display()} ({self.placement_id}, version {self.version})"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert.  :raises AppendOnly: the row is there already."""
        if not self._state.adding:
            raise AppendOnly("A decision cannot be changed; record another one.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """:raises AppendOnly: always."""
        raise AppendOnly("A decision cannot be deleted.")
