"""The content security policy of the workbench's own pages, and who gets in. Other pages of the site are left alone."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache

log = logging.getLogger("alttext.views")
HOST = re.compile(r"[a-z0-9.-]+(?::\d{1,5})?|\[[0-9a-f:]+\](?::\d{1,5})?", re.I)  # nothing that could end a directive


def policy(image_urls: Iterable[str] = ()) -> str:
    """The policy; images also come from the hosts of MEDIA_URL and of the images shown.

    Source: reliability page, section 9.
    """
    hosts = sorted({host for url in (str(settings.MEDIA_URL), *image_urls) if (host := _host(url))})
    images = " ".join(["'self'", "data:", *hosts])
    return (
        f"default-src 'self'; script-src 'self'; style-src 'self'; img-src {images}; object-src 'none'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'self'"
    )


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https", "") or not HOST.fullmatch(parts.netloc):
        return ""
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme else parts.netloc


def workbench(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A page of the workbench: signed in, not cached, under the policy, told apart by `HX-Request`."""

    @wraps(view)
    @never_cache
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        user = request.user
        response: HttpResponseBase
        if user.is_authenticated and user.is_active:
            try:
                response = view(request, *args, **kwargs)
            except OperationalError as error:
                log.warning("database: %s", error)
                response = _busy(request)
        else:
            response = _ask_to_sign_in(request, **kwargs)
        response.headers.setdefault("Content-Security-Policy", policy())
        patch_vary_headers(response, ["HX-Request"])
        return response

    return guarded


def _busy(request: HttpRequest) -> HttpResponse:
    """503 with words: htmx swaps nothing, so the typed text stays in its box; a plain form gets it back on the page."""
    if getattr(request, "htmx", False):
        response = HttpResponse("The database is busy. Press again in a moment.", content_type="text/plain")
    else:
        context = {"typed": request.POST.get("text", "")}
        response = HttpResponse(render_to_string("alttext/busy.html", context))
    response.status_code = 503
    response["Retry-After"] = "1"
    return response


def _ask_to_sign_in(request: HttpRequest, **kwargs: Any) -> HttpResponse:
    """401 to htmx, which swaps nothing, so the typed text stays; a redirect to anybody else, back to a page."""
    if getattr(request, "htmx", False):
        return HttpResponse("Your session has ended.", status=401, content_type="text/plain")
    back = request.get_full_path()
    if request.method != "GET":  # what takes a POST cannot be visited after signing in
        placement_id = kwargs.get("placement_id")
        back = reverse("alttext:placement", args=[placement_id]) if placement_id else reverse("alttext:queue")
    return redirect_to_login(back)
