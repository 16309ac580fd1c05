"""Looking at one placement: its page, the suggestion one waits for, findings while one types. Writes nothing."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from alttext import forms, permissions, queries, roles
from alttext.models import Placement
from alttext.operations import desk
from alttext.views import editor
from alttext.views.respond import respond, unchanged, wants_fragment
from alttext.views.security import workbench

PAGE = "alttext/placement.html"


@require_safe
@workbench
def show(request: HttpRequest, placement_id: int) -> HttpResponse:
    """The page of one placement, which is then claimed for who opened it, unless somebody else is at it."""
    placement = permissions.get_placement_or_404(user=request.user, placement_id=placement_id)
    claim = desk.claim(placement=placement, by=request.user, at=timezone.now())
    return respond(request, f"{PAGE}#editor", editor.context(request, placement, claim=claim))


@require_safe
@workbench
def suggestion(request: HttpRequest, placement_id: int) -> HttpResponse:
    """The suggestion, for a page that waits for it: 204 as long as there is none."""
    placement = permissions.get_placement_or_404(user=request.user, placement_id=placement_id)
    if placement.state == Placement.State.WAITING:
        return unchanged()
    late = editor.suggestion_context(placement, queries.suggestion_of(placement))
    late["panel"] = "panel" in request.GET  # in a form of the CMS, where nothing can be compared
    return respond(request, f"{PAGE}#suggestion", late, fallback=placement.get_absolute_url(), say=_news(placement))


def _news(placement: Placement) -> str:
    return {
        Placement.State.OFFERED: "A suggestion has arrived. Your text was not touched.",
        Placement.State.ABSTAINED: "The captioner gave no text; the reason is shown.",
        Placement.State.FAILED: "The image could not be processed; the reason is shown.",
    }.get(Placement.State(placement.state), "")


@require_POST
@workbench
def check(request: HttpRequest, placement_id: int) -> HttpResponse:
    """What the rules say about the text in the box, which is kept as the author's draft. No decision is made."""
    placement = permissions.get_placement_or_404(user=request.user, placement_id=placement_id)
    text = request.POST.get("text", "").replace("\r\n", "\n")
    form = forms.Act(request.POST)
    if form.is_valid() and "\0" not in text:
        now = timezone.now()
        desk.renew(placement=placement, by=request.user, at=now)
        kept = text if editor.is_unsaved(placement, text) else ""  # what is stored anyway leaves no older draft behind
        desk.keep_draft(placement=placement, text=kept, seen=form.seen, by=request.user, at=now)
    return respond(
        request,
        f"{PAGE}#findings",
        editor.text_context(placement, text),
        fallback=placement.get_absolute_url(),
    )


@require_safe
@workbench
def guide(request: HttpRequest, placement_id: int) -> HttpResponse:
    """What is the image for? One question at a time; `answers` is a string of "y" and "n"."""
    placement = permissions.get_placement_or_404(user=request.user, placement_id=placement_id)
    answers = "".join(letter for letter in request.GET.get("answers", "") if letter in "yn")[:20]
    step = roles.ask(answers)
    context = editor.context(request, placement) if not wants_fragment(request) else {"placement": placement}
    context |= {
        "guide": {"step": step, "answers": answers, "back": answers[:-1], "is_end": isinstance(step, roles.End)}
    }
    return respond(request, f"{PAGE}#guide", context)


@require_safe
@workbench
def find(request: HttpRequest, adapter: str, key: str) -> HttpResponse:
    """The placement that a CMS knows by its own key.  :raises Http404: unknown and foreign keys alike."""
    placement = None if "\0" in adapter + key else queries.find(user=request.user, adapter=adapter, key=key)
    if placement is None:
        raise Http404("No such placement.")
    return redirect(placement)
