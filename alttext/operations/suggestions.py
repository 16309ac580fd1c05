"""Asking for suggestions and recording what came: a text or an abstention. Never touches published text."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from alttext import conf
from alttext.models import Asset, CaptionerVersion, Job, Placement, Suggestion
from alttext.operations import jobs
from alttext.operations.placements import supersede


class NothingToAsk(Exception):
    """A person said that the image is decorative, or it has left the page: no captioner is called."""


class AlreadyAnswered(NothingToAsk):
    """This captioner has looked at these bytes in these words, and would say the same again."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a captioner said, as plain values: a text, or reasons."""

    captioner: str
    versions_key: str
    text: str | None = None
    reasons: tuple[str, ...] = ()
    detail: str = ""
    language: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    seconds: float | None = None
    fresh: bool = True  # the captioner worked for it; False: intake answered, or an earlier answer is used again


def active_versions_key(captioner: str) -> str:
    """Key of the newest version of `captioner` that was seen at work, or its name before the first one."""
    newest = CaptionerVersion.objects.filter(name=captioner).order_by("-last_seen_at", "-pk").first()
    return newest.key if newest else captioner[:64]


def is_answered(placement: Placement, *, captioner: str) -> bool:
    """Whether the present version of `captioner` has answered about the placement as it is now."""
    rows = placement.suggestions.filter(asset=placement.asset_id, snapshot=placement.snapshot_id)
    return rows.filter(captioner_version__key=active_versions_key(captioner)).exists()


def register_version(
    *, name: str, key: str, versions: Mapping[str, str], at: datetime, at_work: bool = True
) -> CaptionerVersion:
    """The row of one exact captioner. Only one seen at work becomes the newest."""
    row, fresh = CaptionerVersion.objects.get_or_create(
        key=key, defaults={"name": name, "versions": dict(versions), "first_seen_at": at, "last_seen_at": at}
    )
    if at_work and not fresh:
        CaptionerVersion.objects.filter(pk=row.pk, last_seen_at__lt=at).update(last_seen_at=at)
    return row


@transaction.atomic
def request(
    *, placement: Placement, captioner: str, prio: int, at: datetime, by: Any = None, again: bool = False
) -> tuple[Job, bool]:
    """Ask for a suggestion. `again`: a person wants another one; the pending one is overtaken.

    :raises NothingToAsk: the placement is decorative or gone.
    :raises jobs.TooManyOpenJobs: `by` has too many open requests.
    """
    placement = (
        Placement.objects.select_for_update(of=("self",)).select_related("asset", "snapshot").get(pk=placement.pk)
    )
    if placement.decorative:
        raise NothingToAsk("A person marked this image as decorative.")
    if placement.state == Placement.State.GONE or placement.asset is None:
        raise NothingToAsk("This image is no longer on the page.")
    job, fresh = jobs.request(placement=placement, versions_key=active_versions_key(captioner), prio=prio, at=at, by=by)
    if fresh and again:
        Suggestion.objects.filter(placement=placement, state=Suggestion.State.PENDING).update(
            state=Suggestion.State.SUPERSEDED, state_at=at, superseded_by_author=by is not None
        )
    if placement.state not in (Placement.State.DONE, Placement.State.HUMAN) or by is not None:
        Placement.objects.filter(pk=placement.pk).update(state=Placement.State.WAITING, problem="", updated_at=at)
    return job, fresh


def earlier_answer(job: Job) -> Answer | None:
    """What the same captioner said about the same bytes in the same words, if it did: nothing is computed twice."""
    found = (
        Suggestion.objects.filter(
            asset__content_hash=job.content_hash,
            snapshot__context_hash=job.context_hash,
            captioner_version__key=job.versions_key,
        )
        .exclude(placement=job.placement_id)
        .select_related("captioner_version")
        .order_by("-pk")
        .first()
    )
    if found is None:
        return None
    version = found.captioner_version
    return Answer(
        captioner=version.name,
        versions_key=version.key,
        text=found.text,
        reasons=tuple(found.reason_list),
        detail=found.detail,
        language=found.language,
        evidence={**found.evidence, "reused_from": found.pk},
        flags=tuple(found.flags),
        versions=version.versions,
        seconds=0.0,
        fresh=False,
    )


@transaction.atomic
def record(*, job_id: int, token: str, answer: Answer, at: datetime) -> Suggestion | None:
    """Store an answer and end its job, in one transaction. None: the job is no longer ours, the answer is dropped."""
    placement = (
        Placement.objects.select_for_update(of=("self",)).select_related("asset", "snapshot").get(jobs__pk=job_id)
    )
    job = Job.objects.get(pk=job_id)
    if not is_about(job, placement):  # the role or the words changed on the way here: the answer is to another question
        if jobs.finish(id=job_id, token=token, state=Job.State.SUPERSEDED, at=at) and not placement.is_settled:
            Placement.objects.filter(pk=placement.pk).update(state=Placement.State.OPEN, updated_at=at)
        return None
    state = Job.State.READY if answer.text is not None else Job.State.ABSTAINED
    if not jobs.finish(id=job_id, token=token, state=state, at=at, code=",".join(answer.reasons)[:64]):
        return None
    assert placement.asset is not None  # an open job has both: `request` refuses otherwise, `refresh` never clears them
    assert placement.snapshot is not None
    version = register_version(
        name=answer.captioner, key=answer.versions_key, versions=answer.versions, at=at, at_work=answer.fresh
    )
    supersede(placement, at=at)
    suggestion = Suggestion.objects.create(
        placement=placement,
        asset=placement.asset,
        snapshot=placement.snapshot,
        captioner_version=version,
        job_id=job_id,
        text=answer.text,
        reasons=",".join(answer.reasons),
        detail=answer.detail,
        language=answer.language,
        evidence=dict(answer.evidence),
        flags=list(answer.flags),
        state=Suggestion.State.PENDING if answer.text is not None else Suggestion.State.ABSTAINED,
        display=_display(placement) if answer.text is not None else Suggestion.Display.PREFILLED,
        seconds=answer.seconds,
        suggested_at=at,
        state_at=at,
    )
    if placement.state not in (Placement.State.DONE, Placement.State.HUMAN, Placement.State.GONE):
        silent = placement.settled_state if placement.is_settled else Placement.State.ABSTAINED
        shown = Placement.State.OFFERED if answer.text is not None else silent
        Placement.objects.filter(pk=placement.pk).update(state=shown, problem="", updated_at=at)
    return suggestion


def _display(placement: Placement) -> str:
    """The way this placement is met: drawn once by its key, so that asking again does not draw again."""
    draw = int.from_bytes(hashlib.sha256(f"{placement.adapter}:{placement.key}".encode()).digest()[:8]) / 2**64
    for way, share in sorted(conf.get("DISPLAY_SHARES").items()):
        if draw < share:
            return str(way)
        draw -= share
    return str(conf.get("SUGGESTION_DISPLAY"))


def show(*, suggestion: Suggestion, at: datetime) -> bool:
    """The author has written, and wants to compare; False for a control item, which nobody is shown."""
    waiting = Suggestion.objects.filter(pk=suggestion.pk, display=Suggestion.Display.AFTER, shown_at=None)
    return bool(waiting.update(shown_at=at))


def is_about(job: Job, placement: Placement) -> bool:
    """Whether the job asks about the placement as it is now."""
    asset, words = placement.asset, placement.snapshot
    if asset is None or words is None:
        return False
    return (job.content_hash, job.context_hash) == (asset.content_hash, words.context_hash)


@transaction.atomic
def record_failure(*, job_id: int, token: str, code: str, detail: str, at: datetime) -> bool:
    """End a job that cannot be done, with words for the author; False: it is no longer ours."""
    placement = Placement.objects.select_for_update(of=("self",)).get(jobs__pk=job_id)
    if not jobs.finish(id=job_id, token=token, state=Job.State.FAILED, at=at, code=code[:64], detail=detail):
        return False
    jobs.tell_failure(placement, problem=detail, at=at)
    return True


def record_intake(*, asset: Asset, **found: Any) -> None:
    """Keep what intake found out about the bytes of `asset`."""
    Asset.objects.filter(pk=asset.pk).update(**found)


def expire(*, at: datetime, before: datetime) -> int:
    """Close the window of suggestions offered up to `before` that nobody decided on."""
    return Suggestion.objects.filter(state=Suggestion.State.PENDING, suggested_at__lte=before).update(
        state=Suggestion.State.EXPIRED, state_at=at
    )
