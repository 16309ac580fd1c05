"""Panels for Wagtail's screens: the images of one page in its editor, and how many wait on the admin's home page.

`AlttextPanel` is for a site's own page models: `content_panels = [..., AlttextPanel()]`. Both show what the workbench
knows; neither writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.urls import reverse
from django.utils.functional import cached_property
from wagtail.admin.panels import Panel
from wagtail.admin.ui.components import Component
from wagtail.models import AbstractPage

from alttext import queries
from alttext.contrib.wagtail import keys
from alttext.models import Placement


def images_of(row: Any, *, user: Any) -> list[Placement]:
    """The uses of images on a page or in a snippet that the workbench knows and `user` may edit."""
    is_page = isinstance(row, AbstractPage)
    head = keys.page_head(row.pk) if is_page else keys.snippet_head(row._meta.label_lower, row.pk)
    rows = queries.queue(user=user, state="all").filter(adapter=keys.NAME, key__startswith=head)
    return list(rows)


class AlttextPanel(Panel):
    """The images of the page that is edited, those without a text first. Shown to who may edit them."""

    def __init__(self, heading: str = "Alternative texts", **kwargs: Any) -> None:
        super().__init__(heading=heading, **kwargs)

    class BoundPanel(Panel.BoundPanel):
        template_name = "alttext/wagtail/panel.html"

        @cached_property
        def placements(self) -> list[Placement]:
            if self.instance is None or self.instance.pk is None:
                return []
            found = images_of(self.instance, user=self.request.user)
            return sorted(found, key=lambda placement: placement.is_settled)

        def is_shown(self) -> bool:
            return bool(super().is_shown() and self.placements)

        def get_context_data(self, parent_context: Mapping[str, Any] | None = None) -> dict[str, Any]:
            without = [placement for placement in self.placements if not placement.is_settled]
            return super().get_context_data(parent_context) | {"placements": self.placements, "without": without}


class HomePanel(Component):
    """How many images wait for whom, on the admin's home page. Says nothing to who may edit none."""

    name = "alttext"
    template_name = "alttext/wagtail/home_panel.html"
    order = 150

    def render_html(self, parent_context: Any = None) -> str:
        user = parent_context["request"].user
        counts = queries.counts(user)
        if not counts["all"]:
            return ""
        return super().render_html({**parent_context.flatten(), "counts": counts})

    def get_context_data(self, parent_context: Any) -> dict[str, Any]:
        return {
            "counts": parent_context["counts"],
            "queue_url": reverse("alttext:queue"),
            "report_url": reverse("alttext_wagtail:report"),
        }
