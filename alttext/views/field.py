"""The panel in a CMS's own form: what is suggested for the image there. Saves no text: the CMS's form does."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from alttext import adapters, edits, queries, rules, tasks
from alttext.models import Placement
from alttext.operations import placements
from alttext.operations.jobs import TooManyOpenJobs
from alttext.operations.suggestions import NothingToAsk
from alttext.views import editor
from alttext.views.respond import respond, unchanged
from alttext.views.security import workbench

PANEL = "alttext/field.html#panel"
UNSAVED = "The site does not have this image here yet. Save the page as a draft first, then ask again."
ASKED = "Asked for a suggestion. You can go on writing."


@require_safe
@workbench
def show(request: HttpRequest, adapter: str, key: str) -> HttpResponse:
    """The panel; 204 to one that waits until the workbench knows the image (`?unknown`)."""
    placement = _find(request, adapter, key)
    if placement is None and "unknown" in request.GET:
        return unchanged()
    return respond(request, PANEL, _context(request, adapter, key, placement))


@require_POST
@workbench
def ask(request: HttpRequest, adapter: str, key: str) -> HttpResponse:
    """Ask for a suggestion, also for an image that has just been saved and that no scan has seen."""
    placement, problem, said = _find(request, adapter, key), "", ASKED
    try:
        if placement is None:
            placement = _bring(request, adapter, key)
        tasks.enqueue_suggestion(placement=placement, by=request.user, again=True)
    except adapters.NotThere:
        problem = said = UNSAVED
    except (NothingToAsk, TooManyOpenJobs) as error:
        problem = said = str(error)
    fresh = _find(request, adapter, key)
    return respond(request, PANEL, _context(request, adapter, key, fresh, problem=problem), say=said)


def _find(request: HttpRequest, adapter: str, key: str) -> Placement | None:
    if "\0" in adapter + key:
        raise Http404("No such placement.")
    return queries.find(user=request.user, adapter=adapter, key=key)


def _bring(request: HttpRequest, adapter: str, key: str) -> Placement:
    """The placement of an image that the CMS has and the workbench had not.

    :raises NotThere: the CMS has none there.
    :raises Http404: `request.user` may not edit it; nothing is kept.
    """
    found = adapters.get(adapter)
    with transaction.atomic():
        placements.refresh(found, found.place(key), at=timezone.now())
        placement = _find(request, adapter, key)
        if placement is None:
            raise Http404("No such placement.")
    return placement


def _context(
    request: HttpRequest, adapter: str, key: str, placement: Placement | None, *, problem: str = ""
) -> dict[str, Any]:
    """What the panel shows; `typed` is what stands in the form's own field."""
    typed = request.POST.get("text", request.GET.get("text", ""))
    context: dict[str, Any] = {
        "placement": placement,
        "panel": True,
        "panel_url": reverse("alttext:field", args=[adapter, key]),
        "ask_url": reverse("alttext:field-ask", args=[adapter, key]),
        "problem": problem,
        "aim": rules.AIM,
        "count": len(edits.graphemes(typed)),
    }
    if placement is not None:
        context |= editor.suggestion_context(placement, queries.suggestion_of(placement))
        context |= editor.text_context(placement, typed) if typed else {}
    return context
