"""What an author does with a placement, one view a verb: each calls one operation and shows what came of it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_POST

from alttext import adapters, forms, permissions, queries, rules, tasks
from alttext.models import Decision, Placement
from alttext.operations import decisions, desk, placements, suggestions
from alttext.operations.decisions import (
    ContextChanged,
    ImageChanged,
    KeyReused,
    NothingToReject,
    NothingToUndo,
    Stale,
)
from alttext.operations.jobs import TooManyOpenJobs
from alttext.operations.suggestions import AlreadyAnswered, NothingToAsk
from alttext.views import editor
from alttext.views.editor import Conflict, Done
from alttext.views.placement import PAGE
from alttext.views.respond import go, respond
from alttext.views.security import workbench

Doing = Callable[[], Decision]
REFUSALS = (adapters.TextDoesNotFit, adapters.NotThere, adapters.Refused, NothingToReject, NothingToUndo, KeyReused)
USED = {
    "AS_IS": "The suggestion was used as offered.",
    "EDITED": "The suggestion was used after edits.",
    "REPLACED": "Your own text took the place of the suggestion.",
}


@require_POST
@workbench
def save(request: HttpRequest, placement_id: int) -> HttpResponse:
    """Make the text in the box the alt text."""
    placement = permissions.get_placement_or_404(user=request.user, placement_id=placement_id)
    form = forms.Text(request.POST)

    def do() -> Decision:
        data = form.cleaned_data
        return decisions.save_text(
            placement=placement,
            text=data["text"],
            seen=form.seen,
            by=request.user,
            at=timezone.now(),
            key=form.key_for("save"),
            cleared=data["cleared"],
            active_seconds=data["active_seconds"],
        )

    decision = _attempt(request, placement, form, do, saves=True)
    if isinstance(decision, HttpResponse):
        return decision
    if request.POST.get("then") == "next":
        return _go_on(request, placement, decision)
    if decision.version <= placement.version:
        return _done(request, placement, Done("Saved already", "The text has not changed since."))
    used = USED.get(decision.outcome, "") if placement.state == Placement.State.OFFERED else ""
    return _done(request, placement, Done("Saved", " ".join(filter(None, [used, decision.note, _notes(placement)]))))


@require_POST
@workbench
def reject(request: HttpRequest, placement_id: int) -> HttpResponse:
    """Dismiss the suggestion; the alt text stays as it is."""
    placement = permissions.get_placement_or_404(user=request.user, placement_id=placement_id)
    form = forms.Act(request.POST)
    decision = _attempt(
        request,
        placement,
        form,
        lambda: decisions.reject(
            placement=placement,
            seen=form.seen,
            by=request.user,
            at=timezone.now(),
            reason=form.cleaned_data["reason"],
            key=form.key_for("reject"),
        ),
    )
    if isinstance(decision, HttpResponse):
        return decision
    done = Done("Suggestion rejected", "You can write a text, ask for another suggestion, or undo.", offer_next=False)
    return _done(request, placement, done, typed=form.typed)


@require_POST
@workbench
def decorative(request: HttpRequest, placement_id: int) -> HttpResponse:
    """Record that a person says the image needs no text."""
    placement = permissions.get_placement_or_404(user=request.user, placement_id=placement_id)
    form = forms.Act(request.POST)
    decision = _attempt(
        request,
        placement,
        form,
        lambda: decisions.mark_decorative(
            placement=placement,
            seen=form.seen,
            by=request.user,
            at=timezone.now(),
            key=form.key_for("decorative"),
            active_seconds=form.cleaned_data["active_seconds"],
        ),
    )
    if isinstance(decision, HttpResponse):
        return decision
    if editor.is_unsaved(placement, form.typed):  # switched off again, the words typed before are back
        seen = decisions.seen(_fresh(placement))
        desk.keep_draft(placement=placement, text=form.typed, seen=seen, by=request.user, at=timezone.now())
    detail = f"Screen readers will skip the image. {decision.note} Undo brings the text back."
    done = Done("Marked as decorative", detail.replace("  ", " "))
    return _done(request, placement, done, typed=form.typed)


@require_POST
@workbench
def undo(request: HttpRequest, placement_id: int) -> HttpResponse:
    """Take back the last act, to the exact prior text."""
    placement = permissions.get_placement_or_404(user=request.user, placement_id=placement_id)
    form = forms.Act(request.POST)
    decision = _attempt(
        request,
        placement,
        form,
        lambda: decisions.undo(
            placement=placement, seen=form.seen, by=request.user, at=timezone.now(), key=form.key_for("undo")
        ),
    )
    if isinstance(decision, HttpResponse):
        return decision
    return _done(
        request,
        placement,
        Done("Undone", f"{_what_stands(decision)} {decision.note}".strip(), offer_next=False),
        typed=form.typed,
    )


@require_POST
@workbench
def ask(request: HttpRequest, placement_id: int) -> HttpResponse:
    """Ask the captioner for a suggestion, or for another one."""
    placement = permissions.get_placement_or_404(user=request.user, placement_id=placement_id)
    typed = forms.Act(request.POST).typed
    try:
        tasks.enqueue_suggestion(placement=placement, by=request.user, again=True)
    except AlreadyAnswered as error:
        return _asked(request, placement, typed, str(error))
    except (NothingToAsk, TooManyOpenJobs) as error:
        return _refused(request, placement, typed, str(error))
    return _asked(request, placement, typed, "Asked for a suggestion. You can go on writing.")


@require_POST
@workbench
def compare(request: HttpRequest, placement_id: int) -> HttpResponse:
    """Show the suggestion to an author who has written first; the text in the box stays."""
    placement = permissions.get_placement_or_404(user=request.user, placement_id=placement_id)
    typed, suggestion = forms.Act(request.POST).typed, queries.suggestion_of(placement)
    if not typed.strip():
        return _refused(request, placement, typed, "Write your own text first, then compare.")
    if suggestion is not None:
        suggestions.show(suggestion=suggestion, at=timezone.now())
    context = editor.context(request, _fresh(placement), typed=typed, asked=True)
    return respond(request, f"{PAGE}#editor", context, say="The suggestion is shown. Your text was not touched.")


@require_POST
@workbench
def role(request: HttpRequest, placement_id: int) -> HttpResponse:
    """Record what the image is for on this page, and ask anew where it has no text yet."""
    placement = permissions.get_placement_or_404(user=request.user, placement_id=placement_id)
    chosen = request.POST.get("guided") or request.POST.get("role")  # by the questions, or from the list beside them
    typed, form = forms.Act(request.POST).typed, forms.ChosenRole({"role": chosen})
    if not form.is_valid():
        return _refused(request, placement, typed, "Choose one of the roles.")
    changed = placements.choose_role(placement=placement, role=form.cleaned_data["role"], at=timezone.now())
    if changed.state != Placement.State.OPEN:
        return _asked(request, placement, typed, "The role was recorded.")
    try:
        tasks.enqueue_suggestion(placement=changed, by=request.user)
    except (NothingToAsk, TooManyOpenJobs) as error:
        return _asked(request, placement, typed, f"The role was recorded. {error}")
    return _asked(request, placement, typed, "The role was recorded, and a suggestion that fits it asked for.")


def _attempt(
    request: HttpRequest, placement: Placement, form: forms.Act, do: Doing, *, saves: bool = False
) -> Decision | HttpResponse:
    """The decision that `do` records, or the answer that says why there is none; the typed text stays in any case."""
    if not form.is_valid():
        return _refused(request, placement, form.typed, form.problem)
    try:
        return do()
    except Stale as error:
        return _conflict(request, error, form, saves=saves)
    except REFUSALS as error:
        return _refused(request, placement, form.typed, f"{error}")


def _refused(request: HttpRequest, placement: Placement, typed: str, problem: str) -> HttpResponse:
    context = editor.context(request, _fresh(placement), typed=typed, problem=problem)
    return respond(request, f"{PAGE}#editor", context, status=422, say=f"Not saved. {problem}")


def _conflict(request: HttpRequest, error: Stale, form: forms.Act, *, saves: bool) -> HttpResponse:
    if isinstance(error, ImageChanged | ContextChanged):
        with contextlib.suppress(NothingToAsk, TooManyOpenJobs):  # the author can ask, and sees then why not
            tasks.enqueue_suggestion(placement=error.placement, by=request.user)
    placement = _fresh(error.placement)
    kind = "image" if isinstance(error, ImageChanged) else "words" if isinstance(error, ContextChanged) else "text"
    conflict = Conflict(
        kind=kind,
        message=str(error),
        decision=queries.last_writer(placement),
        words_before=queries.snapshot_by_hash(form.cleaned_data["context_hash"]),
        typed=form.typed,
        saves=saves,
    )
    context = editor.context(request, placement, typed=form.typed, conflict=conflict)
    return respond(request, f"{PAGE}#editor", context, status=409, say=f"Not saved. {error}")


def _done(request: HttpRequest, placement: Placement, done: Done, *, typed: str | None = None) -> HttpResponse:
    """Show the placement after an act. Words that are stored nowhere stay in the box."""
    kept = typed if typed is not None and editor.is_unsaved(placement, typed) else None
    context = editor.context(request, _fresh(placement), typed=kept, done=done)
    return respond(
        request,
        f"{PAGE}#editor",
        context,
        fallback="" if kept else placement.get_absolute_url(),
        say=f"{done.heading}. {done.detail}".strip(),
        settled=None if kept else placement.pk,
    )


def _asked(request: HttpRequest, placement: Placement, typed: str, say: str) -> HttpResponse:
    """Show the placement while it waits. A text offered before does not stay as if it were the author's own."""
    kept = typed if editor.is_unsaved(placement, typed) else None
    context = editor.context(request, _fresh(placement), typed=kept, asked=True)
    fallback = "" if kept else placement.get_absolute_url()
    return respond(request, f"{PAGE}#editor", context, fallback=fallback, say=say)


def _go_on(request: HttpRequest, placement: Placement, decision: Decision) -> HttpResponse:
    filters = forms.Filters.carried(request)
    following = desk.serve(user=request.user, after=placement.pk, at=timezone.now(), **filters.values())
    said = f"Saved the text of {placement.image_name} on {placement.page_title}. {decision.note}".strip()
    if following is None:
        return go(request, editor.queue_url(filters), say=f"{said} Nothing is left to do.", settled=placement.pk)
    return go(request, editor.arrival_url(following, filters), say=said, settled=placement.pk)


def _fresh(placement: Placement) -> Placement:
    return Placement.objects.select_related("asset", "snapshot").get(pk=placement.pk)


def _notes(placement: Placement) -> str:
    fresh = _fresh(placement)
    number = sum(item.level != rules.INFO for item in rules.check(editor.subject(fresh, fresh.current_alt)))
    return f"{number} note{'s' if number > 1 else ''} about the text." if number else ""


def _what_stands(decision: Decision) -> str:
    if decision.final_decorative:
        return "The image is marked as decorative again."
    return "The earlier text stands there again." if decision.final_text else "The image has no text, as before."
