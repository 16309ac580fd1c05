"""Suggestions beside the alt field in Django's admin, and a record of what was saved there.

class PhotoAdmin(SuggestionsMixin, admin.ModelAdmin): ...
"""

from __future__ import annotations

import copy
import logging
from typing import Any

from django import forms
from django.db import models, transaction
from django.forms.widgets import Script
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from alttext.adapters import NotThere
from alttext.contrib.imagefields import entries
from alttext.contrib.imagefields.adapter import ImageFieldsAdapter
from alttext.operations import decisions

log = logging.getLogger("alttext.imagefields")


class SuggestionsMixin:
    """Puts the workbench's panel below the alt field of each image in ALTTEXT["IMAGE_FIELDS"]. Stands before
    `ModelAdmin` among the bases. Rows that are not saved yet have no panel: there is no image to look at.
    """

    class Media:
        css = {"all": ["alttext/field.css"]}
        js = ["alttext/vendor/htmx.min.js", Script("alttext/field.js", type="module")]

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change=change, **kwargs)  # type: ignore[misc]
        for entry in entries.entries_of(form._meta.model):
            if obj is not None and getattr(obj, entry.image) and entry.alt in form.base_fields:
                field = form.base_fields[entry.alt]
                field.widget = with_panel(field.widget, entries.key_of(entry, obj))
        return form

    def save_model(self, request: HttpRequest, obj: models.Model, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)  # type: ignore[misc]
        for key in entries.keys_of(obj):
            _record(key, by=request.user)


class PanelBelow:
    """Mixed into the class of a text widget: the panel below it; all else is the widget's own."""

    alttext_key = ""

    def render(self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None) -> SafeString:
        panel = format_html(
            '<div data-alttext-field="{}" data-alttext-url="{}"></div>',
            (attrs or {}).get("id", ""),
            reverse("alttext:field", args=[entries.NAME, self.alttext_key]),
        )
        return format_html('<div class="alttext-stack">{}{}</div>', super().render(name, value, attrs, renderer), panel)  # type: ignore[misc]


def with_panel(widget: forms.Widget, key: str) -> forms.Widget:
    """A copy of `widget` that shows the panel of the place called `key`."""
    made = copy.copy(widget)
    made.__class__ = type(type(widget).__name__, (PanelBelow, type(widget)), {"alttext_key": key})
    return made


def _record(key: str, *, by: Any) -> None:
    """The author's save is worth more than our record of it: what goes wrong here is logged."""
    try:
        with transaction.atomic():
            decisions.record_written(adapter=ImageFieldsAdapter(), key=key, by=by, at=timezone.now())
    except NotThere as error:
        log.info("%s: %s", key, error)
    except Exception:
        log.exception("no record of the text saved at %s", key)
