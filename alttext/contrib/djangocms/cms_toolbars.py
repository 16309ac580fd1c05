"""The toolbar menu "Alternative texts": what is open on the page, for those who may edit it."""

from __future__ import annotations

from typing import Any

from cms.models import PageContent
from cms.toolbar_base import CMSToolbar
from cms.toolbar_pool import toolbar_pool
from django.db.models import QuerySet
from django.urls import NoReverseMatch, reverse
from django.utils.text import Truncator

from alttext import queries
from alttext.contrib.djangocms import rights
from alttext.contrib.djangocms.keys import NAME
from alttext.models import Placement

MENU = "alttext"
MOST_ITEMS = 20
NAME_CHARS = 40


def open_on(content: PageContent, user: Any) -> QuerySet[Placement]:
    """Placements of the page in this language that wait for somebody, and that `user` may edit."""
    here = Placement.objects.filter(adapter=NAME, key__startswith=f"page:{content.page_id}:{content.language}:")
    return here.filter(queries.FILTERS["todo"], rights.editable(user)).order_by("pk")


@toolbar_pool.register
class AlternativeTextsToolbar(CMSToolbar):
    """One menu with an entry for each open placement; two queries at most."""

    def populate(self) -> None:
        """Only on pages, and only for those who may edit them."""
        content, user = self.toolbar.obj, self.request.user
        if not isinstance(content, PageContent) or not user.is_staff or not content.page.has_change_permission(user):
            return
        try:
            queue = reverse("alttext:queue")
        except NoReverseMatch:  # the project has no routes of the workbench
            return
        found = list(open_on(content, user)[: MOST_ITEMS + 1])
        more = len(found) > MOST_ITEMS
        count = open_on(content, user).count() if more else len(found)
        menu = self.toolbar.get_or_create_menu(MENU, f"Alternative texts ({count})")
        for placement in found[:MOST_ITEMS]:
            menu.add_sideframe_item(_label(placement), url=placement.get_absolute_url())
        if not found:
            menu.add_link_item("Nothing open on this page", url="#", disabled=True)
        menu.add_break("alttext-queue")
        of_page = f"{queue}?page={found[0].pk}" if found else queue
        menu.add_sideframe_item(f"All {count} in the queue" if more else "Queue", url=of_page if more else queue)


def _label(placement: Placement) -> str:
    state = {"OFFERED": "suggestion waits", "FAILED": "failed", "WAITING": "being looked at"}
    said = "check again" if placement.stale else state.get(placement.state, "no text yet")
    return f"{Truncator(placement.image_name or 'Image').chars(NAME_CHARS)}: {said}"
