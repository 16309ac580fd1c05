"""Celery tasks and the wake-ups they get. A message carries a lane name: no text, no bytes, no token.

Losing every message costs seconds, never a job: the row is the queue of record, and `sweep` finds what was missed.
"""

from __future__ import annotations

import logging
import time
from datetime import datetime
from typing import Any

from celery import shared_task
from django.db import transaction
from django.utils import timezone

from alttext import adapters, conf, workers
from alttext.models import Job, Placement
from alttext.operations import jobs, placements, suggestions

log = logging.getLogger("alttext.tasks")
DRAIN_SECONDS = 60.0
BREAKER_SECONDS = 10.0
_silent_until = 0.0


@shared_task(name="alttext.drain", ignore_result=True)
def drain(lane: str) -> None:
    """Work on the lane until nothing is due."""
    workers.drain(lanes=[lane], seconds=DRAIN_SECONDS)
    if lane in jobs.sweep():
        wake(lane)


@shared_task(name="alttext.sweep", ignore_result=True)
def sweep() -> None:
    """Wake the lanes that have a due row whose wake-up seems lost, and close windows; every five seconds from beat."""
    workers.close_windows()
    for lane in jobs.sweep():
        wake(lane)


def wake(lane: str) -> bool:
    """Tell a worker that `lane` has work; False where that failed or no broker is in use. Never raises.

    After one failure nothing is published for ten seconds, so that a dead broker costs one request a second and
    the others nothing.
    """
    global _silent_until
    if conf.get("WAKE") != "celery" or time.monotonic() < _silent_until:
        return False
    try:
        drain.apply_async(args=[lane], retry=False, queue=f"alttext-{lane}")
    except Exception as error:  # every client library has its own errors, and none may reach an upload
        _silent_until = time.monotonic() + BREAKER_SECONDS
        log.warning("no wake-up for lane %s: %s", lane, error)
        return False
    return True


def wake_on_commit(lane: str) -> None:
    """`wake`, once the row can be seen by others. Robust: a failure is logged, the request goes on."""
    transaction.on_commit(lambda: wake(lane), robust=True)


def enqueue_suggestion(
    *, placement: Placement, by: Any = None, prio: int = Job.AUTHOR_WAITS, again: bool = False
) -> Job:
    """Ask for a suggestion and wake a worker on commit. Raises as `suggestions.request` does, and

    :raises suggestions.AlreadyAnswered: asking again would give the same answer, and count twice.
    """
    if suggestions.is_answered(placement, captioner=conf.get("CAPTIONER")):
        raise suggestions.AlreadyAnswered(
            "The captioner has looked at this image in these words already and would say the same again. "
            "Another role may change its answer."
        )
    job, fresh = suggestions.request(
        placement=placement, captioner=conf.get("CAPTIONER"), prio=prio, at=timezone.now(), by=by, again=again
    )
    if fresh or prio < job.prio:
        wake_on_commit(job.lane)
    return job


def enqueue_place(*, adapter: str, key: str, prio: int = Job.NEW_UPLOAD) -> None:
    """An image was saved in the CMS: bring its placement up to date, and ask for a suggestion where it has no text."""
    try:
        found = adapters.get(adapter)
        placement, _ = placements.refresh(found, found.place(key), at=timezone.now())
    except adapters.NotThere:
        return
    ask_by_itself(placement, prio=prio)


def enqueue_reworded(placement: Placement, *, at: datetime) -> None:
    """The same file in other words, or with another text: as `enqueue_place`, but the file is not read again.

    `placement` has an asset.
    """
    assert placement.asset is not None
    try:
        found = adapters.get(placement.adapter)
        fresh, changed = placements.sync(found, placement.key, bytes_row=placement.asset, at=at)
    except adapters.NotThere:
        return
    if changed:
        ask_by_itself(fresh)


def ask_by_itself(placement: Placement, *, prio: int = Job.NEW_UPLOAD) -> None:
    """Ask for a suggestion that no person has asked for, where the site wants that."""
    if conf.get("AUTOMATIC"):
        enqueue_if_open(placement, prio=prio)


def enqueue_if_open(placement: Placement, *, prio: int) -> Job | None:
    """Ask for a suggestion unless a person has spoken, or one was asked for."""
    if placement.state != Placement.State.OPEN:
        return None
    try:
        return enqueue_suggestion(placement=placement, prio=prio)
    except suggestions.NothingToAsk:
        return None


def forget_place(*, adapter: str, key: str) -> None:
    """An image was removed from the CMS: its placement leaves the queue, its history stays."""
    placements.mark_gone(Placement.objects.filter(adapter=adapter, key=key), at=timezone.now())
