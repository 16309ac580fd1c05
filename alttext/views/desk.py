"""The author's desk: the next image, claims, drafts, "not now", comments, saved filters. Decides nothing."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from alttext import forms, permissions
from alttext.operations import desk
from alttext.views import editor
from alttext.views.placement import PAGE
from alttext.views.respond import go, respond
from alttext.views.security import workbench

NOTHING_LEFT = "Nothing is left to do that nobody else has open."


@require_safe
@workbench
def serve(request: HttpRequest) -> HttpResponse:
    """Lead to the next image, which is then claimed for the author."""
    form = forms.Filters(request.GET)
    found = desk.serve(user=request.user, after=form.cursor, at=timezone.now(), **form.values())
    if found is None:
        return go(request, editor.queue_url(form), say=NOTHING_LEFT)
    return redirect(editor.arrival_url(found, form))


@require_POST
@workbench
def later(request: HttpRequest, placement_id: int) -> HttpResponse:
    """Not now: keep what was typed as a draft, and lead to the next image."""
    placement = permissions.get_placement_or_404(user=request.user, placement_id=placement_id)
    form, now = forms.Act(request.POST), timezone.now()
    if form.is_valid() and editor.is_unsaved(placement, form.typed):
        desk.keep_draft(placement=placement, text=form.typed, seen=form.seen, by=request.user, at=now)
    desk.put_off(placement=placement, by=request.user, at=now)
    filters = forms.Filters.carried(request)
    found = desk.serve(user=request.user, after=placement.pk, at=now, **filters.values())
    said = f"{placement.image_name} on {placement.page_title} was put off."
    if found is None:
        return go(request, editor.queue_url(filters), say=f"{said} {NOTHING_LEFT}")
    return go(request, editor.arrival_url(found, filters), say=said)


@require_POST
@workbench
def discard(request: HttpRequest, placement_id: int) -> HttpResponse:
    """Throw the draft away; the box then holds what the site has, or what is offered."""
    placement = permissions.get_placement_or_404(user=request.user, placement_id=placement_id)
    desk.forget_draft(placement=placement, by=request.user)
    return respond(
        request,
        f"{PAGE}#editor",
        editor.context(request, placement),
        fallback=placement.get_absolute_url(),
        say="The draft was thrown away.",
        settled=placement.pk,
    )


@require_POST
@workbench
def release(request: HttpRequest, placement_id: int) -> HttpResponse:
    """Give one's own claim up; a lead may give up anybody's."""
    placement = permissions.get_placement_or_404(user=request.user, placement_id=placement_id)
    is_lead = permissions.may_see_dashboards(request.user)
    if not desk.release(placement=placement, by=None if is_lead else request.user) and not is_lead:
        raise PermissionDenied("Only a lead can release what somebody else has open.")
    return go(request, reverse("alttext:queue"), say=f"{placement.image_name} was released.")


@require_POST
@workbench
def comment(request: HttpRequest, placement_id: int) -> HttpResponse:
    """Say a word about the image to those who work on it."""
    placement = permissions.get_placement_or_404(user=request.user, placement_id=placement_id)
    form = forms.Comment(request.POST)
    context = {"placement": placement, "comment_form": form}
    if not form.is_valid():
        context |= editor.comments_context(placement)
        return respond(request, f"{PAGE}#comments", context, status=422, say="Not sent. Write a word first.")
    desk.comment(placement=placement, by=request.user, at=timezone.now(), text=form.cleaned_data["comment"])
    context = {"placement": placement, **editor.comments_context(placement)}
    return respond(
        request, f"{PAGE}#comments", context, fallback=placement.get_absolute_url(), say="Your comment stands there."
    )


@require_POST
@workbench
def save_filter(request: HttpRequest) -> HttpResponse:
    """Keep the filters of the queue under a name."""
    form, filters = forms.FilterName(request.POST), forms.Filters(request.POST)
    query, back = filters.query, editor.queue_url(filters)
    if not form.is_valid():
        return go(request, back, say="Not saved: give the filters a name of up to 60 characters.")
    if len(query) > desk.MOST_QUERY:
        return go(request, back, say="Not saved: the search is too long to be kept. Shorten it first.")
    try:
        desk.save_filter(by=request.user, name=form.cleaned_data["name"], query=query)
    except desk.TooManyFilters as error:
        return go(request, back, say=f"Not saved: {error}")
    return go(request, back, say=f"The filters were saved as “{form.cleaned_data['name']}”.")


@require_POST
@workbench
def forget_filter(request: HttpRequest) -> HttpResponse:
    """Remove saved filters."""
    desk.forget_filter(by=request.user, name=request.POST.get("name", "")[:60])
    return go(request, reverse("alttext:queue"), say="The saved filters were removed.")
