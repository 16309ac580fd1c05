"""Several images of the queue at once: a preview that writes nothing, the acts one by one, and undoing them together.

What was on screen travels in signed fields, one an image: nothing is kept between the pages, and a page that is sent
twice does nothing twice. What is decided, and what speaks against it, `operations.bulk` knows.
"""

from __future__ import annotations

import contextlib
import logging
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.core import signing
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from alttext import adapters, conf, forms, rules, tasks, wording
from alttext.models import Decision
from alttext.operations import bulk
from alttext.operations.bulk import Item, NotAllowed, NotInBulk, Verb
from alttext.operations.decisions import (
    ContextChanged,
    ImageChanged,
    KeyReused,
    NothingToReject,
    NothingToUndo,
    Seen,
    Stale,
)
from alttext.operations.jobs import TooManyOpenJobs
from alttext.operations.suggestions import NothingToAsk
from alttext.views import editor
from alttext.views.respond import go, respond
from alttext.views.security import workbench

log = logging.getLogger("alttext.views")
PAGE = "alttext/bulk.html"
CHOSEN, MADE = "alttext.bulk.chosen", "alttext.bulk.made"  # salts: what was on screen; what was done
MOST_NAME = 200
MOST_SECONDS_EACH = 30.0  # a longer look than this is a pause; the clock of the editor stops there as well
DAMAGED = "The page was damaged, or is not yours. Nothing was done: choose the images again."
REASONS = (
    adapters.TextDoesNotFit,
    adapters.NotThere,
    adapters.Refused,
    KeyReused,
    NotAllowed,
    NotInBulk,
    NothingToReject,
    NothingToUndo,
)
Chosen = dict[str, Any]


@dataclass(slots=True)
class Shown:
    """One image of the preview."""

    item: Item
    token: str
    findings: list[rules.Finding]
    number: int


@dataclass(slots=True)
class Outcome:
    """What became of one image.

    :ivar now: the text that stands there, where that is not what the person saw; `wanted` is what was to be saved.
    """

    name: str
    url: str
    why_not: str = ""
    note: str = ""
    token: str = ""
    stale: bool = False
    now: str = ""
    wanted: str = ""
    language: str = ""


@require_POST
@workbench
def preview(request: HttpRequest) -> HttpResponse:
    """Show what would happen to each chosen image, and what cannot be done and why. Writes nothing."""
    form, back = forms.Bulk(request.POST), _back(request)
    if not form.is_valid():
        return go(request, back, say="Nothing was done: choose images, and press one of the three buttons.")
    most = conf.get("PAGE_SIZE")
    if not form.ids:
        return go(request, back, say="Nothing was done: no image was chosen.")
    if len(form.ids) > most:
        return go(request, back, say=f"Nothing was done: at most {most} images at once, and {len(form.ids)} were sent.")
    verb, now = Verb(form.cleaned_data["verb"]), timezone.now()
    items = bulk.look(verb=verb, placement_ids=form.ids, user=request.user, at=now)
    shown = [
        Shown(item, _token(request, verb, item, now), _findings(verb, item), number)
        for number, item in enumerate(items, 1)
    ]
    words = wording.BULK[verb]
    ready = [one for one in shown if not one.item.why_not]
    context = {
        "stage": "preview",
        "heading": f"{words.title}: {_counted(len(ready), 'image')}",
        "verb": verb.value,
        "words": words,
        "ready": ready,
        "left_out": [one for one in shown if one.item.why_not],
        "unknown": len(form.ids) - len(items),
        "back": back,
        "filters": _filters(request),
        "image_urls": [item.placement.image_url for item in items],
    }
    return respond(request, PAGE, context, say=f"{context['heading']}. Nothing is written yet.")


@require_POST
@workbench
def confirm(request: HttpRequest) -> HttpResponse:
    """Do it to each image that is still ticked, one transaction each, and tell what was done and what was not."""
    form = forms.Bulk(request.POST)
    try:
        chosen = _read(request, "item", CHOSEN)
    except signing.BadSignature:
        return go(request, _back(request), say=DAMAGED)
    if not form.is_valid() or any(one["verb"] != form.cleaned_data["verb"] for one in chosen):
        return go(request, _back(request), say=DAMAGED)
    if not chosen:
        return go(request, _back(request), say="Nothing was done: no image was ticked.")
    verb, now = Verb(form.cleaned_data["verb"]), timezone.now()
    found = [_confirmed(request, verb, one, form.cleaned_data["reason"], len(chosen), now) for one in chosen]
    words = wording.BULK[verb]
    return result(request, found, noun=words.noun, done=words.done)


@require_POST
@workbench
def undo(request: HttpRequest) -> HttpResponse:
    """Take back each of the acts, if it is still in force; the exact prior text comes back."""
    try:
        made = _read(request, "made", MADE)
    except signing.BadSignature:
        return go(request, _back(request), say=DAMAGED)
    if not made:
        return go(request, _back(request), say="There is nothing to undo.")
    now = timezone.now()
    found = [
        attempt(
            request,
            one,
            lambda one=one: bulk.undo(  # type: ignore[misc]
                decision_id=one["decision"], by=request.user, at=now, key=uuid.UUID(one["key"])
            ),
        )
        for one in made
    ]
    for outcome in found:
        outcome.token = ""  # what was taken back is not taken back again from here
    return result(request, found, noun="act", done="taken back")


def _confirmed(request: HttpRequest, verb: Verb, one: Chosen, reason: str, number: int, now: datetime) -> Outcome:
    """Time on the preview is shared out, so that acts quicker than reading show up as such in the figures."""
    seconds = min(max(now.timestamp() - one["at"], 0.0) / number, MOST_SECONDS_EACH)
    return attempt(
        request,
        one,
        lambda: bulk.do(
            verb=verb,
            placement_id=one["placement"],
            seen=Seen(**one["seen"]),
            by=request.user,
            at=now,
            key=uuid.UUID(one["key"]),
            reason=reason,
            active_seconds=round(seconds, 2),
        ),
    )


def attempt(request: HttpRequest, one: Chosen, act: Callable[[], Decision]) -> Outcome:
    """What became of one image, whatever it was: the others go on.

    :param one: its "placement" (id), "name", "language", and the "text" that was to be saved.
    """
    outcome = Outcome(one["name"], reverse("alttext:placement", args=[one["placement"]]), language=one["language"])
    try:
        made = act()
    except Stale as error:
        _ask_anew(request, error)
        outcome.why_not, outcome.stale = str(error), True
        outcome.now, outcome.wanted = error.placement.current_alt, one["text"]
    except REASONS as error:
        outcome.why_not = str(error)
        if isinstance(error, NotAllowed | adapters.NotThere):
            outcome.url = ""
    except OperationalError as error:
        log.warning("database: %s", error)
        outcome.why_not = "The database was busy. Choose it once more in a moment."
    except Exception:
        # the outermost layer of one item: an adapter's mistake about it must not hide what was done to the others
        log.exception("bulk act on placement %s by user %s", one["placement"], request.user.pk)
        outcome.why_not = "The site made a mistake with this one. It was written to the log."
    else:
        outcome.note = made.note
        outcome.token = signing.dumps(
            {**_who(request), "decision": made.pk, "key": str(uuid.uuid5(made.idempotency_key, "undo all"))}
            | {name: one[name] for name in ("name", "placement", "language")}
            | {"text": ""},
            salt=MADE,
            compress=True,
        )
    return outcome


def result(request: HttpRequest, found: list[Outcome], *, noun: str, done: str) -> HttpResponse:
    """The page that tells what was done, what was skipped and why, and offers to take all of it back."""
    made = [outcome for outcome in found if not outcome.why_not]
    skipped = [outcome for outcome in found if outcome.why_not]
    heading = f"{_counted(len(made), noun)} {done}" + (f", {len(skipped)} skipped" if skipped else "")
    context = {
        "stage": "result",
        "heading": heading,
        "made": made,
        "skipped": skipped,
        "made_title": done.capitalize(),
        "undoable": [outcome for outcome in made if outcome.token],
        "back": _back(request),
        "filters": _filters(request),
    }
    return respond(request, PAGE, context, say=f"{heading}.")


def _ask_anew(request: HttpRequest, error: Stale) -> None:
    if isinstance(error, ImageChanged | ContextChanged):
        with contextlib.suppress(NothingToAsk, TooManyOpenJobs):  # the author can ask, and sees then why not
            tasks.enqueue_suggestion(placement=error.placement, by=request.user)


def _token(request: HttpRequest, verb: Verb, item: Item, now: datetime) -> str:
    placement = item.placement
    content = {
        **_who(request),
        "verb": verb.value,
        "placement": placement.pk,
        "name": str(placement)[:MOST_NAME],
        "language": placement.language,
        "seen": asdict(item.seen),
        "text": (item.suggestion.text or "") if item.suggestion and verb == Verb.ACCEPT else "",
        "key": str(uuid.uuid4()),
        "at": round(now.timestamp(), 1),
    }
    return signing.dumps(content, salt=CHOSEN, compress=True)


def _read(request: HttpRequest, field: str, salt: str) -> list[Chosen]:
    """The signed fields, each once.  :raises BadSignature: damaged, or shown to somebody else."""
    found = [signing.loads(value, salt=salt) for value in dict.fromkeys(request.POST.getlist(field))]
    if any(one["user"] != request.user.pk for one in found):
        raise signing.BadSignature("shown to somebody else")
    return found


def _who(request: HttpRequest) -> dict[str, Any]:
    return {"user": request.user.pk}


def _findings(verb: Verb, item: Item) -> list[rules.Finding]:
    if verb != Verb.ACCEPT or item.suggestion is None or item.why_not:
        return []
    return rules.check(editor.subject(item.placement, item.suggestion.text or ""))


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _filters(request: HttpRequest) -> dict[str, Any]:
    form = forms.Filters(request.POST)
    return {**form.values(), **({"after": form.cursor} if form.cursor else {})}


def _back(request: HttpRequest) -> str:
    return f"{reverse('alttext:queue')}?{urlencode(_filters(request))}".rstrip("?")
