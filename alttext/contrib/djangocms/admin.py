"""The library's form of an image, with the panel beside the default text. Builds on whatever is registered."""

from __future__ import annotations

import importlib
import logging
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from alttext.adapters import NotThere
from alttext.contrib.djangocms import checks, forms, library
from alttext.contrib.djangocms.adapter import DjangoCMSAdapter
from alttext.contrib.djangocms.keys import FileKey
from alttext.operations import decisions

FIELD = "default_alt_text"
log = logging.getLogger("alttext.djangocms")


class PanelAdminMixin:
    """Mix-in for the admin of library images."""

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """The form class of this request, with its seat."""
        form = super().get_form(request, obj, change, **kwargs)  # type: ignore[misc]
        form.seat = forms.Seat(key=str(FileKey(obj.pk)) if obj is not None and obj.pk else "")
        return form

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """What a person wrote here is that person's act. A workbench that fails keeps nobody from saving."""
        super().save_model(request, obj, form, change)  # type: ignore[misc]
        if FIELD not in form.changed_data:
            return
        try:
            with transaction.atomic():  # PostgreSQL: a failed statement must not take the save along
                decisions.record_written(
                    adapter=DjangoCMSAdapter(), key=str(FileKey(obj.pk)), by=request.user, at=timezone.now()
                )
        except NotThere:
            return  # the file is missing: there is nothing to describe
        except Exception:
            log.exception("the default text of image %s was saved, and could not be recorded", obj.pk)


def take_over() -> None:
    """Register the library's admin anew with our form, where it has a field for the default text."""
    importlib.import_module("filer.admin")
    model = library.image_model()
    base = type(admin.site._registry[model]) if model in admin.site._registry else None
    if base is None or issubclass(base, PanelAdminMixin):
        return
    names: dict[str, Any] = {"alt_field": FIELD, "decorative_field": "", "image_field": "", "__module__": __name__}
    names["Meta"] = type("Meta", (getattr(base.form, "Meta", object),), {})
    metaclass: Any = type(base.form)
    form = metaclass(base.form.__name__, (forms.Panel, base.form), names)
    ours = type(base.__name__, (PanelAdminMixin, base), {"form": form, "__module__": __name__})
    admin.site.unregister(model)
    admin.site.register(model, ours)


if checks.is_usable() and getattr(settings, "ALTTEXT_DJANGOCMS_FORMS", True):
    take_over()
