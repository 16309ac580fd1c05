"""Where Wagtail's admin meets the workbench: menu, report, bulk act, home panel, editor script, saved pages.

Whoever may change no page and no image sees none of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import NoReverseMatch, include, path, reverse, reverse_lazy
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe
from wagtail import hooks
from wagtail.admin.menu import MenuItem
from wagtail.admin.widgets.button import Button

from alttext import conf
from alttext.contrib.wagtail import editing, panels, report, views
from alttext.contrib.wagtail.bulk_actions import AskBulkAction

hooks.register("register_bulk_action", AskBulkAction)


class WorkbenchMenuItem(MenuItem):
    """For those who may change something."""

    def is_shown(self, request: HttpRequest) -> bool:
        return _has_address() and report.may_edit_any(request.user)


def _has_address() -> bool:
    """Whether the site has our urls; without them Wagtail's own pages must go on working. A system check tells."""
    try:
        return bool(reverse("alttext:queue"))
    except NoReverseMatch:
        return False


@hooks.register("register_admin_urls")
def urls() -> list[Any]:
    own = [
        path("uses/", views.uses, name="uses"),
        path("report/", report.AlttextReportView.as_view(), name="report"),
        path("report/results/", report.AlttextReportView.as_view(results_only=True), name="report_results"),
    ]
    return [path("alttext/", include((own, "alttext_wagtail")))]


@hooks.register("register_admin_menu_item")
def menu_item() -> MenuItem:
    return WorkbenchMenuItem(
        "Alternative texts", reverse_lazy("alttext:queue"), name="alttext", icon_name="image", order=350
    )


@hooks.register("register_reports_menu_item")
def report_item() -> MenuItem:
    return WorkbenchMenuItem(
        "Alternative texts", reverse("alttext_wagtail:report"), name="alttext-report", icon_name="image", order=800
    )


@hooks.register("construct_homepage_panels")
def home_panel(request: HttpRequest, found: list[Any]) -> None:
    if _has_address() and report.may_edit_any(request.user):
        found.append(panels.HomePanel())


@hooks.register("register_page_header_buttons")
def header_button(page: Any, user: Any, view_name: str, next_url: str | None = None) -> Iterator[Button]:
    """To the images of this page in the workbench; none where it knows of none that `user` may edit."""
    images = panels.images_of(page, user=user) if _has_address() else []
    if images:
        url = f"{reverse('alttext:queue')}?state=all&page={images[0].pk}"
        yield Button("Alternative texts", url, icon_name="image", priority=67)


@hooks.register("insert_editor_js")
def editor_script() -> str:
    """The panels beside the alt inputs; modules, so that they run once Wagtail has built its form."""
    sheets = format_html_join(
        "", '<link rel="stylesheet" href="{}">', [(static(f"alttext/{name}.css"),) for name in ("field", "wagtail")]
    )
    script = (
        '{}<script type="module" src="{}" data-alttext-uses="{}"'
        ' data-alttext-panel="{}" data-alttext-htmx="{}"{}></script>'
    )
    return format_html(
        script,
        sheets,
        static("alttext/wagtail.js"),
        reverse("alttext_wagtail:uses"),
        static("alttext/field.js"),
        static("alttext/vendor/htmx.min.js"),
        mark_safe(" data-alttext-automatic") if conf.get("AUTOMATIC") else "",
    )


@hooks.register("after_create_page")
def record_new_page(request: HttpRequest, page: Any) -> None:
    """All texts on it are of whoever made it."""
    record_saved_page(request, page, is_new=True)


@hooks.register("after_edit_page")
def record_saved_page(request: HttpRequest, page: Any, *, is_new: bool = False) -> None:
    """What a person saved is recorded; what the editor's timer saved only brings new images to the workbench."""
    if editing.is_autosave(request):
        editing.note_new(page)
    else:
        editing.record_page(page, by=request.user, at=timezone.now(), is_new=is_new)


@hooks.register("after_publish_page")
def record_published_page(request: HttpRequest, page: Any) -> None:
    """First what was written, then the end of it: a text recorded later would be no edit of the suggestion."""
    at = timezone.now()
    editing.record_page(page, by=request.user, at=at)
    editing.close_page(page, at=at)
