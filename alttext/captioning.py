"""The only file that knows the captioner: a placement's words and bytes go in, plain values come out.

The captioner runs in a process of its own, so that the web process and the worker's parent never import torch.
"""

from __future__ import annotations

import json
import logging
import threading
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Avg, Count

import captioner as door
from alttext import conf, edits
from alttext.models import Asset, CaptionerVersion, ContextSnapshot, Suggestion
from alttext.operations.suggestions import Answer, active_versions_key
from captioner import planner
from captioner.prepare import images

log = logging.getLogger("alttext.captioning")
HARD_LIMIT = 1000  # graphemes; above it the text is an error of the captioner, nothing is cut
CONTROL = {"Cc", "Cf", "Cs", "Co"}
ASSUMED_SECONDS = 0.5  # an image; the starter took 0.4-0.6 on two shared cores, docs/evaluation.md
FEW_ANSWERS = 5  # below it the measured mean says nothing
JOINERS = {"\u200c", "\u200d"}  # legal in Persian, Hindi and emoji


class Unavailable(Exception):
    """The captioner cannot be reached now; the start does not count."""


class Broken(Exception):
    """The captioner ended without an answer; `code` says how."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Malformed(Exception):
    """The captioner answered with something that is not one plain text within the limits."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What intake says about the bytes of an image.

    :ivar verdict: ACCEPT, ABSTAIN:code or REJECT:code, for the Asset.
    :ivar large: JPEG of at most 1,536 px; empty unless accepted.
    """

    accepted: bool
    abstained: bool
    code: str
    detail: str
    flags: tuple[str, ...]
    large: bytes
    verdict: str
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a number of suggestions takes.

    :ivar hours: of one worker; None: nobody knows how fast the captioner is.
    :ivar assumes: where the figure comes from, in words.
    """

    captions: int
    hours: float | None
    assumes: str


_lock = threading.Lock()
_current: door.Captioner | None = None
_kept: set[str] = set()  # keys whose calibration this process has stored


def use(captioner: door.Captioner | None) -> None:
    """Take `captioner` from now on; None: the one in the settings, started when first needed. For tests and benches."""
    global _current
    with _lock:
        close = getattr(_current, "close", None)
        if close:
            close()
        _current = captioner
        _kept.clear()


def current() -> door.Captioner:
    """The captioner of this process."""
    global _current
    with _lock:
        if _current is None or (
            isinstance(_current, door.IsolatedCaptioner)
            and (_current.name, _current.safety) != (conf.get("CAPTIONER"), conf.get("SAFETY_CLASSIFIER"))
        ):
            use_now: door.Captioner = door.IsolatedCaptioner(
                conf.get("CAPTIONER"), safety=conf.get("SAFETY_CLASSIFIER")
            )
            _current = use_now
        return _current


def warm_up() -> tuple[str, str, Mapping[str, str]]:
    """Start the captioner; its name, versions key and versions.

    :raises Unavailable: weights are missing, or it does not start.
    """
    captioner = current()
    try:
        versions = captioner.versions
    except door.CaptionError as error:
        raise Unavailable(str(error)) from error
    return captioner.name, door.versions_key(versions), versions


def calibration(versions: Mapping[str, str]) -> dict[str, Any] | None:
    """What the captioner says of its own risk; None: nothing, or nothing that can be stored.

    A calibration cannot be part of its own key, so a captioner leaves it out of that; where the rest is the same as in
    `versions`, the key in the answer is that of `versions`.  :raises Unavailable: the captioner does not start.
    """
    try:
        given = getattr(current(), "calibration", None)
    except door.CaptionError as error:
        raise Unavailable(str(error)) from error
    if given is None:
        return None
    try:
        found = dict(given)
        _refuse_unstorable(found)
    except (TypeError, ValueError, Malformed) as error:
        log.warning("the captioner's calibration is left out: %s", error)
        return None
    without = door.versions_key({name: value for name, value in versions.items() if name != "calibration"})
    return _renamed(found, without, door.versions_key(versions))


def keep_calibration(versions: Mapping[str, str]) -> None:
    """Store the calibration with the row of `versions`, once; later starts of the same version change nothing.

    A version that nobody has registered yet is left for the next call.  :raises Unavailable: as `calibration`.
    """
    key = door.versions_key(versions)
    if key in _kept:
        return
    found = calibration(versions)
    if found is None or CaptionerVersion.objects.calibrate(key=key, calibration=found):
        _kept.add(key)


def prepare(data: bytes, *, name: str = "") -> Prepared:
    """Open an image in the sandbox.  Never raises for any bytes.

    :raises Unavailable: no process could be had to open it in.
    """
    limits = images.Limits(
        max_bytes=int(conf.get("MAX_IMAGE_MEGABYTES") * 1_000_000),
        max_pixels=int(conf.get("MAX_IMAGE_MEGAPIXELS") * 1_000_000),
        heic=conf.get("HEIC"),
    )
    try:
        intake = images.take_in(data, name=name, limits=limits)
    except images.SandboxUnavailable as error:
        raise Unavailable(str(error)) from error
    facts = {
        "format": intake.format,
        "width_px": intake.width_px or None,
        "height_px": intake.height_px or None,
        "perceptual_hash": intake.perceptual_hash,
        "flags": list(intake.flags),
        "intake_detail": intake.detail,
    }
    verdict = intake.outcome if intake.outcome == "ACCEPT" else f"{intake.outcome}:{intake.code}"
    return Prepared(
        accepted=intake.outcome == "ACCEPT",
        abstained=intake.outcome == "ABSTAIN",
        code=intake.code,
        detail=intake.detail,
        flags=tuple(intake.flags),
        large=intake.large,
        verdict=verdict,
        facts={**facts, "intake": verdict},
    )


def estimate(captions: int) -> Estimate:
    """What `captions` suggestions take one worker with the captioner of this site. Starts none."""
    name = conf.get("CAPTIONER")
    rows = _measured(name)
    answers = sum(count for count, _ in rows.values())
    if answers >= FEW_ANSWERS:
        lanes = [planner.Lane(lane, image_tokens=1, share=count / answers) for lane, (count, _) in rows.items()]
        row = planner.measured(lanes, {lane: 1 / seconds for lane, (_, seconds) in rows.items()}, hour_price=0)
        words = f"{1 / row.rate:.2g} s an image, the mean of {answers} answers of this captioner on this site"
        return Estimate(captions, row.gpu_hours(captions), words)
    if name in ("starter", "starter-page"):
        row = planner.measured([planner.Lane("all", 1, share=1)], {"all": 1 / ASSUMED_SECONDS}, hour_price=0)
        words = f"{ASSUMED_SECONDS} s an image as measured on two shared cores; nothing was measured here yet"
        return Estimate(captions, row.gpu_hours(captions), words)
    return Estimate(captions, None, f"its speed is known after its first {FEW_ANSWERS} answers")


def _measured(captioner: str) -> dict[str, tuple[int, float]]:
    """Lane -> number and mean seconds of the answers that the present version of `captioner` worked for."""
    worked = Suggestion.objects.filter(captioner_version__key=active_versions_key(captioner), seconds__gt=0)
    rows = worked.order_by().values_list("job__lane").annotate(Count("pk"), Avg("seconds"))
    return {str(lane or "all"): (count, seconds) for lane, count, seconds in rows}


def refused_by_intake(prepared: Prepared, *, captioner: str, versions_key: str, language: str) -> Answer:
    """The abstention for a picture that holds nothing to describe; no captioner is called."""
    return Answer(
        captioner=captioner,
        versions_key=versions_key,
        reasons=(str(door.Reason.IMAGE_REFUSED),),
        detail=prepared.detail,
        language=language,
        evidence={"intake": prepared.code},
        seconds=0.0,
        fresh=False,
    )


def describe(prepared: Prepared, *, asset: Asset, snapshot: ContextSnapshot, request_id: str) -> Answer:
    """Ask the captioner about one image in its words.

    :raises Unavailable: an outage with a name.
    :raises Broken: it hung, died or raised something unnamed.
    :raises Malformed: its answer is no plain text within the limits.
    """
    captioner = current()
    request = door.CaptionRequest(
        request_id=request_id,
        image=prepared.large,
        content_hash=asset.content_hash,
        context=door.PageContext(
            title=snapshot.title,
            headings=tuple(snapshot.headings),
            before=snapshot.before,
            after=snapshot.after,
            caption=snapshot.caption,
            link_target=snapshot.link_target,
            link_label=snapshot.link_label,
            link_text_visible=snapshot.link_text_visible,
            language=snapshot.language,
        ),
        role=door.Role(snapshot.role),
        deadline_seconds=conf.get("DEADLINE_SECONDS"),
    )
    try:
        [outcome] = captioner.describe([request])
    except (door.CaptionerUnavailable, door.WeightsMissing) as error:
        raise Unavailable(str(error)) from error
    except door.MalformedOutput as error:
        raise Malformed(str(error)) from error
    except door.CaptionerHung as error:
        raise Broken("hung", str(error)) from error
    except door.CaptionerDied as error:
        raise Broken("killed", str(error)) from error
    except door.CaptionError as error:
        raise Broken("error", str(error)) from error
    if outcome.text is not None:
        _refuse_malformed(outcome.text)
    _refuse_unstorable([outcome.evidence, outcome.detail, outcome.flags, outcome.versions])
    versions = outcome.versions or captioner.versions
    keep_calibration(versions)
    return Answer(
        captioner=captioner.name,
        versions_key=door.versions_key(versions),
        text=outcome.text,
        reasons=tuple(str(reason) for reason in outcome.reasons),
        detail=outcome.detail,
        language=outcome.language,
        evidence=outcome.evidence,
        flags=tuple(dict.fromkeys((*outcome.flags, *_flags(outcome.text or "")))),
        versions=versions,
        seconds=sum(outcome.timings.values()) if outcome.timings else None,
    )


def _renamed(value: Any, old: str, new: str) -> Any:
    """`value` with the versions key `old` written as `new`, also in the calibrations of single strata."""
    if isinstance(value, dict):
        return {
            name: new if name == "versions_key" and item == old else _renamed(item, old, new)
            for name, item in value.items()
        }
    return [_renamed(item, old, new) for item in value] if isinstance(value, list) else value


def _refuse_malformed(text: str) -> None:
    if not edits.normalise(text):
        raise Malformed("The captioner returned an empty text.")
    if len(edits.graphemes(text)) > HARD_LIMIT:
        raise Malformed(f"The captioner returned more than {HARD_LIMIT} characters.")
    if any(unicodedata.category(char) in CONTROL and char not in JOINERS for char in text):
        raise Malformed("The captioner returned control characters.")


def _refuse_unstorable(values: Any) -> None:
    """What no database column takes: numbers that are none, and NUL."""
    try:
        stored = json.dumps(values, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise Malformed("The captioner's evidence is no plain JSON.") from error
    if "\\u0000" in stored:
        raise Malformed("The captioner's evidence holds NUL characters.")


def _flags(text: str) -> list[str]:
    """What the app itself notices in a text, whatever the captioner says of it; shown, never edited away."""
    return ["markup"] if "<" in text and ">" in text else []
