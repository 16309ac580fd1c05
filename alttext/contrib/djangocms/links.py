"""Where links lead and where pages can be seen, looked up for many at once. Knows no image."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from cms.models import PageContent, PageUrl
from cms.toolbar.utils import get_object_preview_url
from django.apps import apps
from django.conf import settings
from django.urls import NoReverseMatch

log = logging.getLogger("alttext.djangocms")


class Links:
    """Addresses of pages, read with one query."""

    def __init__(self, *, pages: Iterable[int], references: Iterable[Any]) -> None:
        wanted = {*pages, *(number for reference in references if (number := _page(reference)))}
        self._urls: dict[int, dict[str, PageUrl]] = {}
        for url in PageUrl.objects.filter(page_id__in=wanted, path__isnull=False):
            self._urls.setdefault(url.page_id, {})[url.language] = url

    def page_url(self, content: PageContent, *, is_draft: bool) -> str:
        """Where an author sees this content: the page itself, or the preview of a draft."""
        url = self._urls.get(content.page_id, {}).get(content.language) if not is_draft else None
        found = url.get_absolute_url(language=content.language) if url else None
        return str(found or preview_url(content))

    def target(self, link: Any, *, language: str) -> str:
        """The address that a link leads to; empty where it leads nowhere now."""
        if not isinstance(link, dict):
            return str(link or "")
        number = _page(link)
        if number is None:
            return _elsewhere(link)
        urls = self._urls.get(number, {})
        url = urls.get(language) or urls.get(settings.LANGUAGE_CODE) or next(iter(urls.values()), None)
        found = url.get_absolute_url(language=url.language) if url else None
        return f"{found}{link.get('anchor', '')}" if found else ""


def preview_url(content: PageContent) -> str:
    """The editor's preview of one content; empty where the site has no such address."""
    try:
        return str(get_object_preview_url(content))
    except NoReverseMatch:
        return ""


def _page(reference: Any) -> int | None:
    said = reference.get("internal_link") if isinstance(reference, dict) else None
    model, _, pk = str(said or "").partition(":")
    return int(pk) if model.strip() == "cms.page" and pk.strip().isdecimal() and len(pk) < 12 else None


def _elsewhere(link: dict[str, Any]) -> str:
    """A link to a file or to an object of another app; looked up one by one, as there are few."""
    if not apps.is_installed("djangocms_link"):
        return ""
    from djangocms_link.helpers import get_link

    try:
        return str(get_link({key: value for key, value in link.items() if key != "__cache__"}) or "")
    except Exception:  # a model of the site computes its own address, and may fail in many ways
        log.warning("the address of a link cannot be told: %s", sorted(link), exc_info=True)
        return ""
