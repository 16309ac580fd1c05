"""Texts to a spreadsheet or a translation tool and back: download, upload, a preview that writes nothing, the acts."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from alttext import exchange, forms, queries, wording
from alttext.views import bulk
from alttext.views.respond import go, respond
from alttext.views.security import workbench

PAGE = "alttext/exchange.html"
MOST_CHANGES = 200  # acts in one request; each reads the image file, and a server waits half a minute at most
DAMAGED = "The page was damaged, or is not yours. Nothing was saved: send the file again."


@require_safe
@workbench
def show(request: HttpRequest) -> HttpResponse:
    """Where texts are downloaded and uploaded."""
    return respond(request, PAGE, _context(request))


@require_safe
@workbench
def sheet(request: HttpRequest) -> HttpResponseBase:
    """The spreadsheet of all texts that the person may edit, narrowed by language and state."""
    wanted = forms.Filters(request.GET).values()
    chosen = {"state": wanted.get("state", "all"), "language": wanted.get("language", "")}
    lines = exchange.sheet_lines(exchange.rows(user=request.user, **chosen))
    return _download(StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8"), "csv", chosen["language"])


@require_safe
@workbench
def xliff(request: HttpRequest) -> HttpResponseBase:
    """The file of one language for a translation tool."""
    known = queries.languages(request.user)
    language, source = request.GET.get("language", ""), request.GET.get("source", "")
    if language not in known or source not in known:
        return go(request, reverse("alttext:exchange"), say="Choose both languages from the lists.")
    found = exchange.xliff(user=request.user, language=language, source_language=source)
    return _download(HttpResponse(found.data, content_type="application/xliff+xml"), "xlf", language)


@require_POST
@workbench
def preview(request: HttpRequest) -> HttpResponse:
    """Show what the file would change, and what it cannot and why. Writes nothing."""
    form = forms.TextsFile(request.POST, request.FILES)
    if not form.is_valid():
        return _unreadable(request, "Choose a file first.")
    file = form.cleaned_data["file"]
    if file.size > exchange.MOST_BYTES:
        return _unreadable(request, f"The file is larger than {exchange.MOST_BYTES // 1_000_000} MB. Send it in parts.")
    try:
        lines = exchange.read(file.read())
    except exchange.Unreadable as error:
        return _unreadable(request, str(error))
    found = exchange.plan(lines, user=request.user, at=timezone.now())
    shown = found.changes[:MOST_CHANGES]
    heading = f"{len(found.changes)} change{'' if len(found.changes) == 1 else 's'} in {file.name[:80]}"
    context = _context(request) | {
        "stage": "preview",
        "heading": heading,
        "plan": found,
        "changes": shown,
        "further": len(found.changes) - len(shown),
        "packed": exchange.pack(shown, user=request.user) if shown else "",
        "image_urls": [change.image_url for change in shown],
    }
    return respond(request, PAGE, context, say=f"{heading}. Nothing is saved yet.")


@require_POST
@workbench
def carry_out(request: HttpRequest) -> HttpResponse:
    """Make the changes that were shown, one transaction each, and tell what was done and what was not."""
    try:
        changes = exchange.unpack(request.POST.get("plan", ""), user=request.user)
    except exchange.Damaged:
        return go(request, reverse("alttext:exchange"), say=DAMAGED)
    now = timezone.now()
    found = [_attempt(request, change, now) for change in changes]
    return bulk.result(request, found, noun="text", done="saved")


def _attempt(request: HttpRequest, change: exchange.Change, now: Any) -> bulk.Outcome:
    one = {
        "placement": change.placement_id,
        "name": f"Line {change.number}: {change.name}",
        "language": change.language,
        "text": change.text,
    }
    return bulk.attempt(request, one, lambda: exchange.carry_out(change, by=request.user, at=now))


def _unreadable(request: HttpRequest, problem: str) -> HttpResponse:
    return respond(
        request, PAGE, _context(request) | {"problem": problem}, status=422, say=f"Nothing was read. {problem}"
    )


def _context(request: HttpRequest) -> dict[str, Any]:
    languages = queries.languages(request.user)
    usual = settings.LANGUAGE_CODE
    return {
        "stage": "start",
        "heading": "Download and upload texts",
        "languages": languages,
        "source": usual if usual in languages else "",
        "states": sorted(wording.FILTERS.items(), key=lambda item: item[0] != "all"),
        "most_rows": exchange.MOST_ROWS,
        "most_megabytes": exchange.MOST_BYTES // 1_000_000,
        "most_changes": MOST_CHANGES,
    }


def _download(response: HttpResponseBase, ending: str, language: str) -> HttpResponseBase:
    day = timezone.localdate().isoformat()
    known = "".join(sign for sign in language if sign.isascii() and (sign.isalnum() or sign == "-"))
    name = "-".join(part for part in ("alttext", known, day) if part)
    response["Content-Disposition"] = f'attachment; filename="{name}.{ending}"'
    return response
