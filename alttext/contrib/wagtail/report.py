"""The report on alternative texts in Wagtail's admin: uses of images that its reader may edit, with filters."""

from __future__ import annotations

from typing import Any

import django_filters
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from wagtail.admin.filters import WagtailFilterSet
from wagtail.admin.ui.tables import Column, TitleColumn
from wagtail.admin.views.reports import ReportView
from wagtail.images import get_image_model
from wagtail.models import Page
from wagtail.permissions import policy_registry

from alttext import exports, queries, wording
from alttext.contrib.wagtail import documents, keys
from alttext.models import Placement


class AlttextFilterSet(WagtailFilterSet):
    """By state, as the workbench's queue has it, and by language."""

    state = django_filters.ChoiceFilter(
        label="State",
        choices=[item for item in wording.FILTERS.items() if item[0] != "all"],
        method="in_state",
        empty_label="All",
    )
    language = django_filters.ChoiceFilter(label="Language", empty_label="All")

    class Meta:
        model = Placement
        fields = ["state", "language"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        codes = queries.languages(self.request.user)
        self.filters["language"].extra["choices"] = [(code, code) for code in codes]

    def in_state(self, rows: QuerySet[Placement], name: str, value: str) -> QuerySet[Placement]:
        return rows.filter(queries.FILTERS[value])


class TextColumn(Column):
    """The text as it stands in the CMS, in its own language; in words where there is none."""

    def get_value(self, instance: Placement) -> str:
        if instance.decorative:
            return "Decorative"
        text = instance.current_alt
        return format_html('<span lang="{}">{}</span>', instance.language, text) if text.strip() else "No text"


def state_words(placement: Placement) -> str:
    return "Decorative" if placement.decorative else wording.STATES.get(placement.state, placement.state)


class AlttextReportView(ReportView):
    """Uses of images on pages, in snippets and in the library."""

    page_title = "Alternative texts"
    header_icon = "image"
    index_url_name = "alttext_wagtail:report"
    index_results_url_name = "alttext_wagtail:report_results"
    model = Placement
    filterset_class = AlttextFilterSet
    is_searchable = False
    export_filename = "alternative-texts"
    list_export = ["image_name", "page_title", "page_url", "language", "state", "current_alt", "decorative"]
    export_headings = {
        "image_name": "Image",
        "page_title": "Page",
        "page_url": "Address",
        "language": "Language",
        "state": "State",
        "current_alt": "Alternative text",
        "decorative": "Decorative",
    }
    custom_value_preprocess = {
        **ReportView.custom_value_preprocess,
        str: {"csv": exports.neutralise, "xlsx": exports.neutralise},  # a text must not become a formula
    }
    columns = [
        TitleColumn("image_name", label="Image", width="20%", get_url=lambda row: row.get_absolute_url()),
        Column("page_title", label="Page"),
        Column("language", label="Language"),
        Column("state", label="State", accessor=state_words),
        TextColumn("current_alt", label="Alternative text", width="35%"),
    ]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not may_edit_any(request.user):
            raise PermissionDenied
        return super().dispatch(request, *args, **kwargs)

    def get_base_queryset(self) -> QuerySet[Placement]:
        return queries.queue(user=self.request.user, state="all").filter(adapter=keys.NAME)


def may_edit_any(user: Any) -> bool:
    """Whether `user` may change any page or image at all; who may not sees nothing of the workbench in Wagtail."""
    if not (user.is_authenticated and user.is_active):
        return False
    models = [Page, get_image_model(), *documents.snippet_models()]
    return any(policy_registry.get_by_type(model).user_has_permission(user, "change") for model in models)
