"""The job row: request, claim, renew, complete, give back, fail, sweep. No transaction is open while a model runs."""

from __future__ import annotations

import random
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import F, Q
from django.utils import timezone

from alttext import conf
from alttext.models import Job, Placement

OUTAGE_SECONDS = (5, 20, 80, 320, 900)
RETRY_SECONDS = 2
WAKE_AFTER_SECONDS = 3  # a due row older than this has probably lost its wake-up
OPEN = Q(state__in=Job.OPEN)


class TooManyOpenJobs(Exception):
    """One person has too many open jobs; nothing was written."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A job that is ours until the lease ends. The token is born here and travels in no message."""

    id: int
    token: str
    lane: str


def clock() -> datetime:
    """The database's clock where several machines share it, else ours."""
    if connection.vendor != "postgresql":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (now,) = cursor.fetchone()
    return now


def request(
    *, placement: Placement, versions_key: str, prio: int, at: datetime, by: Any = None, lane: str = Job.Lane.PLAIN
) -> tuple[Job, bool]:
    """The open job for the placement as it is now, and whether it is new. A second request meets the first.

    :raises TooManyOpenJobs: `by` has reached MAX_OPEN_JOBS_PER_USER.
    """
    key = {
        "placement": placement,
        "content_hash": placement.asset.content_hash if placement.asset else "",
        "context_hash": placement.snapshot.context_hash if placement.snapshot else "",
        "versions_key": versions_key,
    }
    if by is not None and Job.objects.filter(OPEN, requested_by=by).count() >= conf.get("MAX_OPEN_JOBS_PER_USER"):
        raise TooManyOpenJobs(f"You have {conf.get('MAX_OPEN_JOBS_PER_USER')} open requests; wait for some to finish.")
    try:
        with transaction.atomic():
            fields = {"lane": lane, "prio": prio, "requested_by": by, "run_at": at, "created_at": at}
            return Job.objects.create(**key, **fields), True
    except IntegrityError:  # the partial unique index: one is open already
        job = Job.objects.filter(OPEN, **key).order_by("id").first()
    if job is None:  # the one we met was finished in between
        return request(placement=placement, versions_key=versions_key, prio=prio, at=at, by=by, lane=lane)
    if prio < job.prio:
        Job.objects.filter(pk=job.pk).update(prio=prio)
    return job, False


def overtake(*, placement: Placement, versions_key: str, at: datetime) -> int:
    """Close open jobs of `placement` that another version of the captioner was asked for."""
    others = Job.objects.filter(OPEN, placement=placement).exclude(versions_key=versions_key)
    return others.update(state=Job.State.SUPERSEDED, finished_at=at, token="", lease_until=None)


def claim(*, lanes: list[str] | None = None, at: datetime | None = None) -> Claim | None:
    """The most urgent due job, now ours, or None. The start is counted before anything runs. A job whose starts are
    used up is not claimed again; `sweep` ends it.
    """
    at = at or clock()
    due = Q(state=Job.State.QUEUED, run_at__lte=at) | Q(state=Job.State.RUNNING, lease_until__lte=at)
    with transaction.atomic():
        rows = Job.objects.select_for_update(skip_locked=True, of=("self",)).filter(OPEN, due).order_by("prio", "id")
        if lanes is not None:
            rows = rows.filter(lane__in=lanes)
        while (job := rows.filter(attempts__lt=conf.get("MAX_ATTEMPTS")).first()) is not None:
            token = secrets.token_hex(16)
            lease = at + timedelta(seconds=conf.get("LEASE_SECONDS"))
            # the old token in the condition makes this safe even where the database takes no row locks
            taken = Job.objects.filter(pk=job.pk, state=job.state, token=job.token, attempts=job.attempts).update(
                state=Job.State.RUNNING, token=token, lease_until=lease, attempts=F("attempts") + 1
            )
            if taken:
                return Claim(id=job.pk, token=token, lane=job.lane)
    return None


def renew(*, id: int, token: str, at: datetime | None = None) -> bool:
    """Push the lease on; False: the job is no longer ours."""
    lease = (at or clock()) + timedelta(seconds=conf.get("LEASE_SECONDS"))
    return bool(Job.objects.filter(pk=id, token=token, state=Job.State.RUNNING).update(lease_until=lease))


def finish(*, id: int, token: str, state: str, at: datetime, code: str = "", detail: str = "") -> bool:
    """End a job that is ours; False: it no longer is, and the caller drops its answer."""
    return bool(
        Job.objects.filter(pk=id, token=token, state=Job.State.RUNNING).update(
            state=state, code=code, detail=detail, finished_at=at, token="", lease_until=None
        )
    )


def give_back(*, id: int, token: str, at: datetime, detail: str = "") -> bool:
    """An outage that has a name: the start does not count, the next one waits longer, with jitter."""
    job = Job.objects.filter(pk=id, token=token, state=Job.State.RUNNING).first()
    if job is None:
        return False
    wait = OUTAGE_SECONDS[min(job.outages, len(OUTAGE_SECONDS) - 1)] * random.uniform(0.5, 1.0)  # noqa: S311
    return _requeue(job, token, at=at, wait=wait, detail=detail, attempts=F("attempts") - 1, outages=F("outages") + 1)


def retry(*, id: int, token: str, at: datetime, code: str, detail: str = "") -> bool:
    """A start that ended without an answer: again a little later, or DEAD after the last one."""
    job = Job.objects.filter(pk=id, token=token, state=Job.State.RUNNING).first()
    if job is None:
        return False
    if job.attempts >= conf.get("MAX_ATTEMPTS"):
        return _bury(job, code=code, detail=detail, at=at)
    return _requeue(job, token, at=at, wait=RETRY_SECONDS, code=code, detail=detail)


def _requeue(job: Job, token: str, *, at: datetime, wait: float, **changes: Any) -> bool:
    return bool(
        Job.objects.filter(pk=job.pk, token=token, state=Job.State.RUNNING).update(
            state=Job.State.QUEUED, run_at=at + timedelta(seconds=wait), token="", lease_until=None, **changes
        )
    )


@transaction.atomic
def _bury(job: Job, *, code: str, at: datetime, detail: str = "") -> bool:
    """End a job without an answer, in the state and token that we read it in, and tell the author."""
    # the placement first, always: a save locks it before it closes jobs, and two orders would deadlock
    placement = Placement.objects.select_for_update().get(pk=job.placement_id)
    done = Job.objects.filter(pk=job.pk, state=job.state, token=job.token).update(
        state=Job.State.DEAD, code=code, detail=detail, finished_at=at, token="", lease_until=None
    )
    if done:
        tell_failure(placement, problem=detail or PROBLEMS["killed"], at=at)
    return bool(done)


def tell_failure(placement: Placement, *, problem: str, at: datetime) -> None:
    """Show the author of a placement that waited why nothing came; one that has a text is settled again."""
    if placement.state != Placement.State.WAITING:
        return
    state = placement.settled_state if placement.is_settled else Placement.State.FAILED
    Placement.objects.filter(pk=placement.pk).update(state=state, problem=problem, updated_at=at)


def sweep(*, at: datetime | None = None) -> list[str]:
    """End what has used up its starts; the lanes that have a row whose wake-up seems lost."""
    at = at or clock()
    over = Q(state=Job.State.RUNNING, lease_until__lte=at) | Q(state=Job.State.QUEUED)
    for job in Job.objects.filter(over, attempts__gte=conf.get("MAX_ATTEMPTS"))[:100]:
        _bury(job, code=job.code or "killed", at=at)
    lost = Q(state=Job.State.QUEUED, run_at__lte=at - timedelta(seconds=WAKE_AFTER_SECONDS)) | Q(
        state=Job.State.RUNNING, lease_until__lte=at
    )
    return list(Job.objects.filter(OPEN, lost).values_list("lane", flat=True).distinct().order_by("lane"))


def depth() -> dict[str, int]:
    """Open jobs by state."""
    return {state: Job.objects.filter(state=state).count() for state in (Job.State.QUEUED, Job.State.RUNNING)}


PROBLEMS = {
    "killed": "The captioner stopped three times while it worked on this image. "
    "You can write the text yourself, or try again.",
}
