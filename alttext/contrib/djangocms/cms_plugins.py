"""Plugins with an alternative text: the stock ones registered anew with our form, and the workbench in plugin menus.

A site's own plugin takes `PanelMixin`, or `AltTextMixin` where it keeps the text in HTML attributes. With
ALTTEXT_DJANGOCMS_FORMS = False in the settings no stock plugin is touched.
"""

from __future__ import annotations

from typing import Any, ClassVar

from cms.models import CMSPlugin, PageContent, Placeholder
from cms.plugin_base import CMSPluginBase, PluginMenuItem
from cms.plugin_pool import plugin_pool
from cms.utils.urlutils import admin_reverse
from django.apps import apps
from django.conf import settings
from django.contrib.admin import site
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import path
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from alttext.adapters import NotThere
from alttext.contrib.djangocms import editing, forms, holdings, keys, library, rights
from alttext.contrib.djangocms.adapter import DjangoCMSAdapter
from alttext.contrib.djangocms.holdings import SLIDE_ALT
from alttext.contrib.djangocms.stores import Attributes, ConfigKey, Store
from alttext.models import Placement
from alttext.operations import placements

NEW_KEY_URL, OPEN_URL = "alttext_new_key", "alttext_open"


class PanelMixin:
    """Mix-in for a plugin whose form is a `forms.Panel`: tells it where it stands, and passes on what was saved."""

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """The form class of this request, with its seat."""
        form = super().get_form(request, obj, change, **kwargs)  # type: ignore[misc]
        form.seat = _seat(self, obj, form.image_field)
        return form

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Within the transaction of the request."""
        stood = editing.standing(obj) if change else {}
        super().save_model(request, obj, form, change)  # type: ignore[misc]
        editing.after_save(obj, by=request.user, new_key=form.new_key, stood=stood)


class AltTextMixin(PanelMixin):
    """Mix-in for a plugin whose form is a `forms.AltText`: puts its two fields below the image."""

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Those of the plugin, with our fields after the image."""
        fieldsets = super().get_fieldsets(request, obj)  # type: ignore[misc]
        image = self.form.image_field  # type: ignore[attr-defined]
        ours = [self.form.alt_field, self.form.decorative_field]  # type: ignore[attr-defined]
        return _with_fields(fieldsets, ours, after=[image, "external_picture"])


def _seat(plugin: Any, obj: Any, image_field: str) -> forms.Seat:
    if obj is not None and obj.pk:
        placeholder, language, position = obj.placeholder_id, obj.language, obj.position
        key, file = editing.key_of(obj, image_field), _file_of(obj, image_field)
    else:
        given = plugin._cms_initial_attributes
        placeholder = getattr(given.get("placeholder"), "pk", 0)
        language, position, key, file = given.get("language", ""), given.get("position") or 1, "", None
    plugin_type = type(plugin).__name__
    query = urlencode(
        {"placeholder": placeholder, "language": language, "position": position, "plugin_type": plugin_type}
    )
    return forms.Seat(
        placeholder=placeholder,
        language=language,
        plugin_type=plugin_type,
        key=key,
        new_key_url=f"{admin_reverse(NEW_KEY_URL)}?{query}" if placeholder else "",
        file=file,
    )


def _file_of(plugin: Any, image_field: str) -> int | None:
    config = getattr(plugin, "config", None)
    if isinstance(config, dict):
        return library.reference(config.get(image_field))
    return getattr(plugin, f"{image_field}_id", None)


def _with_fields(fieldsets: Any, ours: list[str], *, after: list[str]) -> list[Any]:
    """`fieldsets` with our fields below the last of the rows `after` in the first set that has one; else at the end."""
    result = [(name, dict(options)) for name, options in fieldsets]
    for _, options in result:
        rows = list(options.get("fields", ()))
        places = [place for place, row in enumerate(rows) if any(name in after for name in _names(row))]
        if places:
            options["fields"] = [*rows[: places[-1] + 1], *ours, *rows[places[-1] + 1 :]]
            return result
    result[0][1]["fields"] = [*result[0][1].get("fields", ()), *ours]
    return result


def _names(row: Any) -> list[str]:
    return [row] if isinstance(row, str) else list(row)


# ---- the workbench in menus, and the address that the add form asks -------------------------------------------------


@plugin_pool.register_plugin
class AlternativeTextPlugin(CMSPluginBase):
    """No plugin to be placed: it carries the menu entry of all others, and one address of ours."""

    name = "Alternative text"
    system = True
    render_plugin = False
    allowed_models: ClassVar[list[str]] = []  # nowhere to be added

    @classmethod
    def get_extra_plugin_menu_items(cls, request: HttpRequest, plugin: CMSPlugin) -> list[PluginMenuItem] | None:
        """An entry for each plugin with an image. Asks no database: which placement it is, is found out on a click."""
        if not plugin.pk or not holdings.of(plugin) or not rights.may_change_plugins(request.user, plugin.plugin_type):
            return None
        return [PluginMenuItem(cls.name, admin_reverse(OPEN_URL, args=[plugin.pk]), action="sideframe")]

    def get_plugin_urls(self) -> list[Any]:
        """Below the admin of pages."""
        return [
            path("new-key/", site.admin_view(new_key), name=NEW_KEY_URL),
            path("open/<int:plugin_id>/", site.admin_view(open_placement), name=OPEN_URL),
        ]


@require_safe
@never_cache
def open_placement(request: HttpRequest, plugin_id: int) -> HttpResponse:
    """Go to the workbench's page of the first image of a plugin. An image that no scan has seen yet is brought in.

    :raises Http404: there is none, or the user may not edit it.
    """
    plugin = CMSPlugin.objects.filter(pk=plugin_id, placeholder__isnull=False).first()
    if plugin is None or not plugin.placeholder.has_change_plugin_permission(request.user, plugin):
        raise Http404("No such plugin.")
    key = editing.key_of(plugin)
    if not key:
        raise Http404("No image of this plugin is known here.")
    adapter = DjangoCMSAdapter()
    if not Placement.objects.filter(adapter=adapter.name, key=key).exists():
        try:
            placements.refresh(adapter, adapter.place(key), at=timezone.now())
        except NotThere as error:
            raise Http404("The image is no longer there.") from error
    return redirect("alttext:find", adapter=adapter.name, key=key)


@require_safe
@never_cache
def new_key(request: HttpRequest) -> JsonResponse:
    """The key and the panel of an image that was just chosen in a plugin form.

    :raises Http404: unknown, foreign and malformed values alike.
    """
    given = request.GET
    numbers = [given.get(name, "") for name in ("placeholder", "position", "file")]
    if not all(number.isascii() and number.isdigit() and len(number) < 12 for number in numbers):
        raise Http404("No such place.")
    placeholder_id, position, file_id = (int(number) for number in numbers)
    plugin_type = given.get("plugin_type", "")
    placeholder = Placeholder.objects.filter(pk=placeholder_id).first()
    if placeholder is None or plugin_type not in plugin_pool.plugins or not _may_edit(request.user, placeholder):
        raise Http404("No such place.")
    if not isinstance(placeholder.source, PageContent):
        raise Http404("Only images on pages are known here.")
    image: Any = library.image_model()._base_manager.filter(pk=file_id).first()
    if image is None or not (image.is_public or image.has_read_permission(request)):
        raise Http404("No such image.")
    key = editing.new_key(
        placeholder_id=placeholder_id,
        language=given.get("language", ""),
        position=position,
        plugin_type=plugin_type,
        file_id=file_id,
        at=timezone.now(),
    )
    try:
        keys.parse(key)
    except keys.NoKey as error:
        raise Http404("No such place.") from error
    return JsonResponse({"key": key, "url": forms.panel_url(key)})


def _may_edit(user: Any, placeholder: Placeholder) -> bool:
    return bool(placeholder.has_change_permission(user) and placeholder.check_source(user))


# ---- the stock plugins ----------------------------------------------------------------------------------------------


STOCK: dict[str, tuple[str, Store, str]] = {
    "PicturePlugin": ("djangocms_picture", Attributes(), "picture"),
    "ImagePlugin": (
        "djangocms_frontend.contrib.image",
        Attributes(column="config", entry="attributes"),
        "picture",
    ),
    "CarouselSlidePlugin": ("djangocms_frontend.contrib.carousel", ConfigKey(SLIDE_ALT), "carousel_image"),
}


def take_over(name: str, app: str, store: Store, image_field: str) -> type[CMSPluginBase] | None:
    """Register the plugin anew with our form; whatever class is registered under its name is built upon.

    None: it is not installed, or its form has no such image.
    """
    if not apps.is_installed(app):
        return None
    __import__(f"{app}.cms_plugins")
    base = plugin_pool.plugins.get(name)
    if base is None or issubclass(base, PanelMixin) or image_field not in getattr(base.form, "base_fields", {}):
        return base
    form = forms.with_alt_text(base.form, store=store, image_field=image_field)
    ours = type(name, (AltTextMixin, base), {"form": form, "__module__": __name__, "__doc__": base.__doc__})
    plugin_pool.unregister_plugin(base)
    return plugin_pool.register_plugin(ours)


if getattr(settings, "ALTTEXT_DJANGOCMS_FORMS", True):
    for _name, (_app, _store, _image_field) in STOCK.items():
        take_over(_name, _app, _store, _image_field)
