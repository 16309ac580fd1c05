"""Which images a plugin holds, and where the alt text of each stands. Knows the plugin's model, no page.

Stock plugins are known by name of their fields; any other plugin is looked through for image fields and for a text
beside them: <field>_alt_text or <field>_alt, and where it is the plugin's only image alt_text, alt or "attributes".
Images without such a place are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from django import forms
from django.apps import apps
from django.core.exceptions import FieldDoesNotExist
from django.db import models

from alttext.contrib.djangocms import library
from alttext.contrib.djangocms.keys import TEXT, short
from alttext.contrib.djangocms.stores import Attributes, Column, ConfigKey, Inline, Store, inline_images

SLIDE_ALT = "carousel_image_alt"  # ours: the slide's form keeps entries that it does not know


@dataclass(frozen=True, slots=True)
class Holding:
    """One image of one plugin."""

    part: str  # as it stands in a key
    name: str  # of the field or config entry
    file: int
    store: Store


def of(plugin: Any) -> list[Holding]:
    """The images of a plugin in order."""
    found = [*_columns(plugin), *_config(plugin), *_inline(plugin)]
    return found if not _shown_from_elsewhere(plugin) else [holding for holding in found if holding.part == TEXT]


def model_of(plugin: Any) -> Any:
    """The model of a plugin object."""
    return type(plugin)


@cache
def may_hold(model: Any) -> bool:
    """Whether plugins of this model can hold images at all."""
    return bool(_image_columns(model)) or is_component(model) or is_text(model)


def has_column(model: Any, part: str) -> bool:
    """Whether `part` is an image column of the model."""
    return any(name == part for name, _ in _image_columns(model))


def knows_decorative(plugin_type: str) -> bool:
    """Whether plugins of this kind can keep the choice "decorative"."""
    from cms.plugin_pool import plugin_pool

    model = plugin_pool.plugins[plugin_type].model
    columns = _image_columns(model)
    if columns:
        return columns[0][1].knows_decorative
    return not is_text(model)


@cache
def is_component(model: Any) -> bool:
    """Whether the model is a component of djangocms-frontend: its values stand in a JSON column "config"."""
    if not apps.is_installed("djangocms_frontend"):
        return False
    from djangocms_frontend.models import AbstractFrontendUIItem

    return issubclass(model, AbstractFrontendUIItem)


@cache
def is_text(model: Any) -> bool:
    """Whether the model is a rich text of djangocms-text."""
    if not apps.is_installed("djangocms_text"):
        return False
    from djangocms_text.models import AbstractText

    return issubclass(model, AbstractText)


def _shown_from_elsewhere(plugin: Any) -> bool:
    """Both picture plugins show the external address, where one is given, and not the image of the library."""
    if is_component(model_of(plugin)):
        return bool((plugin.config or {}).get("external_picture"))
    return bool(getattr(plugin, "external_picture", None))


def _columns(plugin: Any) -> Iterator[Holding]:
    for name, store in _image_columns(model_of(plugin)):
        file = getattr(plugin, f"{name}_id")
        if file:
            yield Holding(short(name), name, int(file), store)


@cache
def _image_columns(model: Any) -> tuple[tuple[str, Store], ...]:
    names = [field.name for field in model._meta.get_fields() if _is_image_column(field)]
    stores = ((name, _column_store(model, name, alone=len(names) == 1)) for name in names)
    return tuple((name, store) for name, store in stores if store is not None)


def _is_image_column(field: Any) -> bool:
    related = getattr(field, "related_model", None)
    to_one = getattr(field, "many_to_one", False) and getattr(field, "concrete", False)
    return bool(to_one and isinstance(related, type) and issubclass(related, library.image_model()))


def _column_store(model: type[models.Model], name: str, *, alone: bool) -> Store | None:
    """:param alone: the plugin has this image only, so that a text without the image's name is about it."""
    for wanted in _names(name, alone=alone):
        field = _field(model, wanted)
        if isinstance(field, models.CharField | models.TextField):
            marks = (f"{name}_decorative", *(("decorative", "is_decorative") if alone else ()))
            mark = next((mark for mark in marks if isinstance(_field(model, mark), models.BooleanField)), "")
            return Column(wanted, field.max_length, mark)
    attributes = _field(model, "attributes") if alone else None
    return Attributes() if attributes is not None and attributes.get_internal_type() in JSON else None


def _names(name: str, *, alone: bool) -> tuple[str, ...]:
    return (f"{name}_alt_text", f"{name}_alt", *(("alt_text", "alt") if alone else ()))


JSON = ("JSONField", "TextField")  # djangocms-attributes-field keeps a dict in either


def _field(model: type[models.Model], name: str) -> Any:
    try:
        return model._meta.get_field(name)
    except FieldDoesNotExist:
        return None


def _config(plugin: Any) -> Iterator[Holding]:
    if not is_component(model_of(plugin)) or not isinstance(plugin.config, dict):
        return
    given = {name: file for name, value in plugin.config.items() if (file := _file(value))}
    for name, file in given.items():
        store = _config_store(plugin.plugin_type, name, alone=len(given) == 1)
        if store is not None:
            yield Holding(short(name), name, file, store)


def _file(value: Any) -> int | None:
    return library.reference(value) if isinstance(value, dict) else None


def _config_store(plugin_type: str, name: str, *, alone: bool) -> Store | None:
    if plugin_type == "CarouselSlidePlugin":
        return ConfigKey(SLIDE_ALT)
    fields = config_fields(plugin_type)
    for wanted in _names(name, alone=alone) if plugin_type != "ImagePlugin" else ():
        if isinstance(fields.get(wanted), forms.CharField):
            return ConfigKey(wanted, knows_decorative=False, most_chars=fields[wanted].max_length)
    return Attributes(column="config", entry="attributes") if alone and "attributes" in fields else None


def config_fields(plugin_type: str) -> dict[str, Any]:
    """The form fields that a component keeps in its config, by name and in order."""
    from cms.plugin_pool import plugin_pool

    form = getattr(plugin_pool.plugins.get(plugin_type), "form", None)
    names = getattr(getattr(form, "_meta", None), "entangled_fields", {}).get("config", ())
    fields = getattr(form, "base_fields", {})
    return {name: fields[name] for name in names if fields.get(name) is not None}


def _inline(plugin: Any) -> Iterator[Holding]:
    if not is_text(model_of(plugin)) or "data-cms-src" not in (plugin.body or ""):
        return
    for number, tag in enumerate(inline_images(plugin.body)):
        said = tag.get("data-cms-src") or ""
        file = library.reference(said)
        if file:
            yield Holding(TEXT, str(number + 1), file, Inline(number, said))
