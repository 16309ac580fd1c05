"""The queue of record: one row a piece of captioning work. A broker only wakes workers up."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from alttext.models.placements import Placement


class Job(models.Model):
    """One answer wanted for one placement, with lease, token and attempts (reliability page, section 2)."""

    class State(models.TextChoices):
        QUEUED = "QUEUED", "Waiting to be worked on"
        RUNNING = "RUNNING", "A worker has it"
        READY = "READY", "Answered with a text"
        ABSTAINED = "ABSTAINED", "Answered with a reason"
        FAILED = "FAILED", "Cannot be done; the code says why"
        DEAD = "DEAD", "Three starts ended without an answer"
        SUPERSEDED = "SUPERSEDED", "No longer wanted"

    class Lane(models.TextChoices):
        PLAIN = "plain", "Plain"
        TEXT = "text", "Text"

    AUTHOR_WAITS, NEW_UPLOAD, BULK = 1, 5, 9
    OPEN = (State.QUEUED, State.RUNNING)  # an answer is still to come

    state = models.CharField(max_length=16, choices=State.choices, default=State.QUEUED)
    lane = models.CharField(max_length=8, choices=Lane.choices, default=Lane.PLAIN)
    prio = models.PositiveSmallIntegerField(default=NEW_UPLOAD)
    placement = models.ForeignKey(Placement, on_delete=models.PROTECT, related_name="jobs")
    content_hash = models.CharField(max_length=64)
    context_hash = models.CharField(max_length=64)
    versions_key = models.CharField(max_length=64)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="alttext_jobs"
    )
    attempts = models.PositiveSmallIntegerField(default=0, help_text="starts, counted before the model runs")
    outages = models.PositiveIntegerField(default=0)
    run_at = models.DateTimeField()
    lease_until = models.DateTimeField(null=True)
    token = models.CharField(max_length=32, blank=True)
    code = models.CharField(max_length=64, blank=True)
    detail = models.TextField(blank=True)
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            # the placement is part of the key: equal places each get an answer, and the second is a cache hit
            models.UniqueConstraint(
                fields=["placement", "content_hash", "context_hash", "versions_key"],
                condition=Q(state__in=["QUEUED", "RUNNING"]),
                name="alttext_job_one_open",
            ),
            models.CheckConstraint(
                condition=Q(state="RUNNING", lease_until__isnull=False) & ~Q(token="") | ~Q(state="RUNNING"),
                name="alttext_job_running_has_a_lease",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["QUEUED", "RUNNING"], finished_at__isnull=True)
                | (~Q(state__in=["QUEUED", "RUNNING"]) & Q(finished_at__isnull=False)),
                name="alttext_job_finished_iff_final",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["QUEUED", "RUNNING", "READY", "ABSTAINED", "FAILED", "DEAD", "SUPERSEDED"]),
                name="alttext_job_state_is_known",
            ),
        ]
        indexes = [
            models.Index(fields=["prio", "id"], condition=Q(state__in=["QUEUED", "RUNNING"]), name="alttext_job_due"),
        ]

    def __str__(self) -> str:
        return f"job {self.pk} {self.state}"
