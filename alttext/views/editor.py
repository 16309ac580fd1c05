"""What the editor shows of one placement, as a plain dict for its template. Reads only."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from alttext import edits, forms, permissions, queries, roles, rules, wording
from alttext.models import Claim, ContextSnapshot, Decision, Placement, Suggestion
from alttext.operations import decisions

HISTORY = 20  # decisions shown; all of them are kept


@dataclass(frozen=True, slots=True)
class Conflict:
    """Somebody or something was faster: what stands there now, and what the author had seen.

    :ivar kind: "text", "words" or "image".
    """

    kind: str
    message: str
    decision: Decision | None = None
    words_before: ContextSnapshot | None = None
    typed: str = ""
    saves: bool = True  # the author pressed Save; False: another act, which a second press repeats


@dataclass(frozen=True, slots=True)
class Done:
    """An act that was just recorded."""

    heading: str
    detail: str = ""
    offer_next: bool = True


def context(
    request: HttpRequest,
    placement: Placement,
    *,
    typed: str | None = None,
    problem: str = "",
    done: Done | None = None,
    conflict: Conflict | None = None,
    asked: bool = False,
    claim: Claim | None = None,
) -> dict[str, Any]:
    """Everything the editor's template names.

    :param typed: what the author has in the box; None: the current text, or else the pending suggestion.
    :param problem: why nothing was saved, in a sentence.
    """
    now, filters = timezone.now(), forms.Filters.carried(request)
    suggestion = queries.suggestion_of(placement)
    draft = queries.draft_of(placement, user=request.user) if typed is None and done is None else None
    if draft is not None:
        typed = draft.text
    text = initial_text(placement, suggestion) if typed is None else typed
    elsewhere = queries.elsewhere(placement, user=request.user)
    last_act = queries.undoable(placement)
    on_screen = decisions.seen(placement, _countable(suggestion, placement))
    if typed is not None and draft is None and done is None and conflict is None:
        on_screen = _still_seen(request, on_screen)
    return {
        "placement": placement,
        "snapshot": placement.snapshot,
        "position": queries.position(placement),
        "text": text,
        "problem": problem,
        "done": done,
        "conflict": conflict,
        "asked": asked,
        # a draft keeps what was on screen when it was written: a text saved meanwhile by somebody else is noticed
        "seen": draft or on_screen,
        "draft": draft,
        "claim": claim or queries.claim_of(placement, at=now),
        "is_lead": permissions.may_see_dashboards(request.user),
        "key": uuid.uuid4(),
        "history": list(queries.history(placement)[:HISTORY]),
        "may_undo": last_act is not None,
        "last_act": last_act,
        "prefilled": typed is None and suggestion is not None and text == suggestion.text != placement.current_alt,
        "elsewhere": elsewhere,
        "following": queries.following(user=request.user, after=placement.pk, at=now, **filters.values()),
        "filters": filters.query,
        "roles": [(role.value, roles.LABELS[role]) for role in forms.CHOOSABLE],
        "image_urls": [placement.image_url, *(other.image_url for other in elsewhere)],
        "arrived": "arrived" in request.GET,
        **comments_context(placement),
        **suggestion_context(placement, suggestion),
        **text_context(placement, text),
    }


def arrival_url(placement: Placement, filters: forms.Filters) -> str:
    """The page of the next image, for an author who came with these filters."""
    return f"{placement.get_absolute_url()}?arrived=1" + (f"&{filters.query}" if filters.query else "")


def queue_url(filters: forms.Filters) -> str:
    """The queue, narrowed as it was."""
    return reverse("alttext:queue") + (f"?{filters.query}" if filters.query else "")


def comments_context(placement: Placement) -> dict[str, Any]:
    """What people said to each other about the image."""
    return {"comments": list(queries.comments(placement))}


def suggestion_context(placement: Placement, suggestion: Suggestion | None) -> dict[str, Any]:
    """The part that changes while an author waits."""
    evidence = wording.evidence(suggestion.evidence) if suggestion else wording.Evidence()
    return {
        "placement": placement,
        "suggestion": suggestion,
        "waiting": placement.state == Placement.State.WAITING,
        "countable": _countable(suggestion, placement),
        "help": wording.role_help(placement.role, kind=evidence.kind),
        "evidence": evidence,
    }


def text_context(placement: Placement, text: str) -> dict[str, Any]:
    """The part that changes while an author types."""
    return {
        "placement": placement,
        "count": len(edits.graphemes(text)),
        "findings": rules.check(subject(placement, text)),
        "aim": rules.AIM,
    }


def initial_text(placement: Placement, suggestion: Suggestion | None) -> str:
    """What the box starts with: the text in force, else what is offered."""
    if placement.current_alt:
        return placement.current_alt
    pending = suggestion is not None and suggestion.state == Suggestion.State.PENDING
    if suggestion is not None and suggestion.display != Suggestion.Display.PREFILLED:
        return ""
    return (suggestion.text or "") if suggestion and pending and not placement.decorative else ""


def is_unsaved(placement: Placement, typed: str) -> bool:
    """Whether the box holds words of the author's own that are stored nowhere yet."""
    if not typed.strip() or typed == placement.current_alt or "\0" in typed:
        return False
    return not placement.suggestions.filter(text=typed).exists()


def subject(placement: Placement, text: str) -> rules.Subject:
    """What the lint rules get to know."""
    return rules.Subject.in_place(
        text,
        words=placement.snapshot or ContextSnapshot(),
        language=placement.language,
        role=placement.role,
        image_name=placement.image_name,
    )


def _still_seen(request: HttpRequest, now: decisions.Seen) -> decisions.Seen:
    """What was on screen when the words in the box were written: an answer that tells of no conflict hides none."""
    form = forms.Act(request.POST)
    if not form.is_valid():
        return now
    sent = form.seen
    return replace(now, version=sent.version, content_hash=sent.content_hash, alt_hash=sent.alt_hash)


def _countable(suggestion: Suggestion | None, placement: Placement) -> Suggestion | None:
    """The suggestion that the next act is about; silence, what was overtaken and what another image got are not."""
    if suggestion is None or suggestion.text is None or suggestion.state == Suggestion.State.SUPERSEDED:
        return None
    if not suggestion.is_shown:
        return None
    return suggestion if decisions.still_about(suggestion, placement) else None
