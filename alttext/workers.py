"""One function does the work, whoever calls it: a Celery task or the embedded worker. Knows no broker.

The process that runs this has no torch in it: the captioner lives in a child that it can kill.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import InterfaceError, OperationalError, close_old_connections, connection
from django.utils import timezone

from alttext import adapters, captioning, conf
from alttext.models import Job
from alttext.operations import jobs, placements, suggestions

log = logging.getLogger("alttext.workers")
SWEEP_SECONDS = 5.0
DATABASE_PAUSE_SECONDS = 1.0
OUTAGE_PAUSE_SECONDS = 5.0


def process_job(id: int, token: str) -> str:
    """Work on one claimed job until it has an answer; a word that says what became of it.

    Never raises for what an image, a page or a captioner does: that is recorded on the row.
    """
    job = Job.objects.select_related("placement__asset", "placement__snapshot").filter(
        pk=id, token=token, state=Job.State.RUNNING
    ).first()  # fmt: skip
    if job is None:
        return "not ours"
    with _Lease(id, token):
        try:
            return _answer(job, token)
        except captioning.Unavailable as error:
            jobs.give_back(id=id, token=token, at=timezone.now(), detail=str(error))
            return "given back"
        except captioning.Malformed as error:
            detail = f"The captioner gave an unusable answer. {error} You can write the text yourself, or try again."
            suggestions.record_failure(job_id=id, token=token, code="malformed", detail=detail, at=timezone.now())
            return "failed"
        except captioning.Broken as error:
            log.warning("job %s: %s", id, error)
            jobs.retry(id=id, token=token, at=timezone.now(), code=error.code, detail=_broken_words(error))
            return "retry"
        except (OperationalError, InterfaceError):
            raise  # the database is away: the lease brings the job back
        except Exception as error:  # outermost layer of a job: anything unnamed counts as a start without an answer
            log.exception("job %s failed", id)
            unnamed = captioning.Broken("error", type(error).__name__)
            jobs.retry(id=id, token=token, at=timezone.now(), code="error", detail=_broken_words(unnamed))
            return "retry"


def _answer(job: Job, token: str) -> str:
    placement = job.placement
    at = timezone.now
    try:
        adapter = adapters.get(placement.adapter)
        data = adapter.read_image(placement.key)
    except adapters.NotThere:
        detail = "The image file is not there any more."
        suggestions.record_failure(job_id=job.pk, token=token, code="missing", detail=detail, at=at())
        return "failed"
    asset, snapshot = placement.asset, placement.snapshot
    same_bytes = placements.content_hash(data) == job.content_hash
    if asset is None or snapshot is None or not same_bytes or not suggestions.is_about(job, placement):
        return _ask_anew(job, token, adapter)
    earlier = suggestions.earlier_answer(job)
    if earlier is not None:
        return _record(job, token, earlier)
    started = time.monotonic()
    prepared = captioning.prepare(data, name=placement.image_name)
    suggestions.record_intake(asset=asset, **prepared.facts)
    if prepared.abstained:
        name = conf.get("CAPTIONER")
        answer = captioning.refused_by_intake(
            prepared, captioner=name, versions_key=job.versions_key, language=placement.language
        )
        return _record(job, token, answer)
    if not prepared.accepted:
        suggestions.record_failure(job_id=job.pk, token=token, code=prepared.code, detail=prepared.detail, at=at())
        return "failed"
    answer = captioning.describe(prepared, asset=asset, snapshot=snapshot, request_id=str(job.pk))
    if (share := answer.evidence.get("text_share")) is not None:
        suggestions.record_intake(asset=asset, text_share=share)
    log.info("job %s placement %s: %.2f s", job.pk, placement.pk, time.monotonic() - started)
    return _record(job, token, answer)


def _ask_anew(job: Job, token: str, adapter: adapters.Adapter) -> str:
    """Image, words or role are no longer those that were asked about: close this job, ask about what is there now."""
    now = timezone.now()
    if jobs.finish(id=job.pk, token=token, state=Job.State.SUPERSEDED, at=now):
        fresh, _ = placements.refresh(adapter, adapter.place(job.placement.key), at=now)
        if not fresh.is_settled or job.requested_by is not None:
            suggestions.request(
                placement=fresh, captioner=conf.get("CAPTIONER"), prio=job.prio, at=now, by=job.requested_by
            )
    return "superseded"


def _record(job: Job, token: str, answer: suggestions.Answer) -> str:
    stored = suggestions.record(job_id=job.pk, token=token, answer=answer, at=timezone.now())
    if stored is None:
        return "not ours"
    return "ready" if stored.text is not None else "abstained"


def _broken_words(error: captioning.Broken) -> str:
    what = {"hung": "took too long over", "killed": "stopped while it worked on"}.get(error.code, "could not work on")
    return f"The captioner {what} this image. You can write the text yourself, or try again."


def work_once(*, lanes: list[str] | None = None) -> str | None:
    """Claim and work on one due job; None: nothing is due."""
    claim = jobs.claim(lanes=lanes)
    return process_job(claim.id, claim.token) if claim else None


def drain(*, lanes: list[str] | None = None, seconds: float) -> int:
    """Work until nothing is due or the time is over; the number of jobs worked on."""
    deadline, count = time.monotonic() + seconds, 0
    while time.monotonic() < deadline and (result := work_once(lanes=lanes)) is not None:
        count += 1
        if result == "given back":
            break  # an outage: the other jobs of the lane would only meet it, too
    return count


def register() -> None:
    """Start the captioner and record its version.  :raises captioning.Unavailable: it does not start."""
    name, key, versions = captioning.warm_up()
    suggestions.register_version(name=name, key=key, versions=versions, at=timezone.now())
    captioning.keep_calibration(versions)


def run(
    *,
    stop: threading.Event,
    lanes: list[str] | None = None,
    until_empty: bool = False,
    said: Callable[[str], Any] = log.info,
) -> int:
    """The embedded worker: claim, work, sweep, until `stop` is set. Survives a database that is away for a while.

    :param until_empty: return as soon as no job is open.
    """
    count, swept = 0, 0.0
    while not stop.is_set():
        try:
            if time.monotonic() - swept > SWEEP_SECONDS:
                jobs.sweep()
                close_windows()
                swept = time.monotonic()
            result = work_once(lanes=lanes)
            if result is not None:
                count += 1
                said(f"{count}: {result}")
                if result == "given back":
                    stop.wait(OUTAGE_PAUSE_SECONDS)  # the other jobs would only meet the same outage
                continue
            if until_empty and not any(jobs.depth().values()):
                break
        except (OperationalError, InterfaceError) as error:
            log.warning("database: %s", error)
            connection.close()
            stop.wait(DATABASE_PAUSE_SECONDS)
        close_old_connections()
        stop.wait(conf.get("POLL_SECONDS"))
    return count


def close_windows() -> None:
    """Let suggestions expire that nobody decided on within the window."""
    now = timezone.now()
    suggestions.expire(at=now, before=now - timedelta(days=conf.get("WINDOW_DAYS")))


class _Lease:
    """Renews the lease of a job from a thread of its own, up to the captioner's deadline and a margin."""

    MARGIN_SECONDS = 60.0  # reading the image, intake, loading weights

    def __init__(self, id: int, token: str) -> None:
        self.id, self.token, self.done = id, token, threading.Event()
        self.thread = threading.Thread(target=self._renew, daemon=True)

    def __enter__(self) -> None:
        self.thread.start()

    def __exit__(self, *exc_info: object) -> None:
        self.done.set()

    def _renew(self) -> None:
        give_up = time.monotonic() + conf.get("DEADLINE_SECONDS") + self.MARGIN_SECONDS
        try:
            while not self.done.wait(conf.get("LEASE_SECONDS") / 3) and time.monotonic() < give_up:
                try:
                    if not jobs.renew(id=self.id, token=self.token):
                        return
                except (OperationalError, InterfaceError) as error:
                    log.warning("lease of job %s not renewed: %s", self.id, error)
                    connection.close()  # a broken connection would fail for ever; the next try opens a new one
        finally:
            connection.close()
