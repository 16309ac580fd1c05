"""The queue: which images need a person, with filters and a cursor; and the page that explains the keys."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from alttext import conf, forms, permissions, queries, roles, wording
from alttext.views.respond import respond, wants_fragment
from alttext.views.security import workbench


@require_safe
@workbench
def show(request: HttpRequest) -> HttpResponse:
    """Placements that the author may edit, some at a time."""
    form = forms.Filters(request.GET)
    wanted = form.values()
    now = timezone.now()
    rows = queries.queue(user=request.user, at=now, **wanted)
    found = queries.page(rows, after=form.cursor, size=conf.get("PAGE_SIZE"), at=now)
    counts = queries.counts(request.user)
    state = wanted.get("state", "todo")
    narrowed = {name: value for name, value in wanted.items() if name != "state"}
    context = {
        "page": found,
        "state": state,
        "state_name": wording.FILTERS[state],
        "empty": "No image matches these filters." if narrowed else wording.EMPTY[state],
        "tabs": [(name, label, counts[name]) for name, label in wording.FILTERS.items()],
        "wanted": wanted,
        "filters": form.query,
        "narrowed": urlencode(narrowed),
        "cursor": form.cursor,
        "further": urlencode({**wanted, "after": found.next_after}) if found.next_after else "",
        "languages": queries.languages(request.user),
        "who": queries.WHO.items(),
        "places": queries.PLACES.items() if queries.has_library(request.user) else (),
        "captioners": queries.captioners_offering(request.user),
        "saved_filters": [(row.name, row.query) for row in queries.saved_filters(request.user)],
        "is_lead": permissions.may_see_dashboards(request.user),
        "roles": [(role.value, label) for role, label in roles.LABELS.items()],
        "image_urls": [placement.image_url for placement in found.placements],
    }
    context["is_fragment"] = wants_fragment(request)
    say = _say(len(found.placements)) if wants_fragment(request) else ""
    return respond(request, "alttext/queue.html#placement-list", context, say=say)


def _say(number: int) -> str:
    return f"{number} image{'' if number == 1 else 's'} listed."


@require_safe
@workbench
def keys(request: HttpRequest) -> HttpResponse:
    """The keyboard shortcuts, and the switch that turns them off."""
    return respond(request, "alttext/keys.html", {"shortcuts": wording.SHORTCUTS})
