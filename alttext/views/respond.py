"""Fragment or page, redirect without htmx, and what is said in the status line. Knows no placement."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django_htmx.http import HttpResponseClientRedirect, trigger_client_event

from alttext.views.security import policy


def wants_fragment(request: HttpRequest) -> bool:
    """Whether htmx asked for a part of the page; on a history restore it wants all of it."""
    htmx = getattr(request, "htmx", None)
    return htmx is not None and bool(htmx) and not htmx.history_restore_request


def respond(
    request: HttpRequest,
    template: str,
    context: dict[str, Any],
    *,
    status: int = 200,
    fallback: str = "",
    say: str = "",
    settled: int | None = None,
) -> HttpResponse:
    """The fragment that `template` names ("page.html#part") to htmx; to others a redirect to `fallback`, or the page.

    :param fallback: where a plain form goes after it succeeded; empty: the page itself is the answer.
    :param say: news for the status line; follows a redirect as a message.
    :param settled: id of the placement whose draft in the browser is no longer needed.
    """
    if not wants_fragment(request):
        if fallback:
            _note(request, say)
            return redirect(fallback)
        page = template.partition("#")[0]
        response = render(request, page, {**context, "said": say}, status=status)
    else:
        response = render(request, template, context, status=status)
        _tell(response, say, settled, is_error=status >= 400)
    response["Content-Security-Policy"] = policy(context.get("image_urls", ()))
    return response


def go(request: HttpRequest, to: str, *, say: str = "", settled: int | None = None) -> HttpResponse:
    """Leave for another page, with or without htmx."""
    _note(request, say)
    if not wants_fragment(request):
        return redirect(to)
    response: HttpResponse = HttpResponseClientRedirect(to)
    _tell(response, "", settled)
    return response


def unchanged() -> HttpResponse:
    """Nothing new: htmx swaps nothing."""
    return HttpResponse(status=204)


def _tell(response: HttpResponse, say: str, settled: int | None, *, is_error: bool = False) -> None:
    if settled is not None:
        trigger_client_event(response, "alttext:settled", {"placement": settled})
    if say:
        trigger_client_event(response, "alttext:say", {"message": say, "isError": is_error}, after="settle")


def _note(request: HttpRequest, say: str) -> None:
    if say:
        messages.info(request, say, fail_silently=True)
