"""What may stand in ALTTEXT["IMAGE_FIELDS"], and what is wrong with what stands there; reads no row.

An entry is a dict of these keys; a value is a dotted attribute path from the object ("article.title"), where
callables are called without arguments, or a literal after "=" ("=en").

model, image, alt    required: "app.Model", and the names of its image field and its alt text field
decorative           a BooleanField of the same model; without one the choice "decorative" is stored as an empty text
title, url           of the page; default: str() of the object, and its get_absolute_url()
language             BCP 47; default: settings.LANGUAGE_CODE
role                 a role of `alttext.roles`; anything else counts as not declared
headings             a list, or one string with a heading a line
before, after        text around the image, plain or HTML
caption, link_target, link_label, link_text_visible
filter               a dict of lookups; rows outside are no uses of an image
editable             dotted path of a callable (user) -> queryset of the model: narrows who may edit what
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.core.exceptions import FieldDoesNotExist
from django.db import models
from django.utils.module_loading import import_string

from alttext import conf

REQUIRED = ("model", "image", "alt")
PATHS = (
    *("title", "url", "language", "role", "headings", "before", "after"),
    *("caption", "link_target", "link_label", "link_text_visible"),
)
OTHERS = ("decorative", "filter", "editable")


def problems() -> list[str]:
    """One sentence for each thing wrong with the setting."""
    found, seen = [], set()
    for number, given in enumerate(conf.get("IMAGE_FIELDS"), start=1):
        name = f"IMAGE_FIELDS entry {number}"
        found += [f"{name} {wrong}" for wrong in wrong_with(given)]
        place = (str(given.get("model")).lower(), str(given.get("image"))) if isinstance(given, dict) else None
        if place and place in seen:
            found.append(f"{name} names the same image field as an earlier one.")
        seen.add(place)
    return found


def wrong_with(given: Any) -> Iterator[str]:
    """What is wrong with one entry, each as the rest of a sentence."""
    if not isinstance(given, dict):
        yield "is not a dict."
        return
    known = {*REQUIRED, *PATHS, *OTHERS}
    yield from (f"has the unknown key {key!r}." for key in sorted(set(given) - known, key=str))
    yield from (f"lacks the key {key!r}." for key in REQUIRED if not given.get(key))
    yield from (
        f"has no string under {key!r}."
        for key, value in given.items()
        if key != "filter" and not isinstance(value, str)
    )
    if not set(given) <= known or not all(isinstance(given.get(key), str) and given[key] for key in REQUIRED):
        return
    try:
        model = apps.get_model(given["model"])
    except (LookupError, ValueError):
        yield f"names the model {given['model']!r}, which is not installed."
        return
    yield from _wrong_fields(given, model)
    for key in PATHS:
        path = given.get(key, "")
        if isinstance(path, str) and (wrong := _wrong_path(model, path)):
            yield f"has the path {path!r} under {key!r}: {wrong}."
    yield from _wrong_rest(given)


def _wrong_fields(given: dict[str, Any], model: type[models.Model]) -> Iterator[str]:
    wanted: dict[str, Any] = {
        "image": models.FileField,
        "alt": (models.CharField, models.TextField),
        "decorative": models.BooleanField,
    }
    for key, kinds in wanted.items():
        name = given.get(key, "")
        if not name:
            continue
        try:
            column = model._meta.get_field(name)
        except FieldDoesNotExist:
            yield f"names {name!r} as {key!r}, which {given['model']} does not have."
            continue
        if not isinstance(column, kinds):
            yield f"names {name!r} as {key!r}, but that field is a {type(column).__name__}."


def _wrong_rest(given: dict[str, Any]) -> Iterator[str]:
    if not isinstance(given.get("filter", {}), dict):
        yield "has a filter that is not a dict."
    if path := given.get("editable", ""):
        try:
            found = import_string(path)
        except ImportError:
            yield f"names {path!r} as 'editable', which cannot be imported."
        else:
            if not callable(found):
                yield f"names {path!r} as 'editable', which cannot be called."


def _wrong_path(model: type[models.Model], path: str) -> str:
    """Why a path cannot be walked, as far as the models tell; empty if it can."""
    if not path or path.startswith("="):
        return ""
    here: type[models.Model] | None = model
    for part in path.split("."):
        if here is None:
            return ""  # beyond the models: only a row can tell
        if not hasattr(here, part):
            return f"{here.__name__} has no {part!r}"
        if getattr(getattr(here, part), "alters_data", False):
            return f"{part!r} changes data"
        here = forward(here, part)
    return ""


def forward(model: type[models.Model], name: str) -> type[models.Model] | None:
    """The model that a relation to one object leads to; None for everything else."""
    try:
        column = model._meta.get_field(name)
    except FieldDoesNotExist:
        return None
    to_one = column.is_relation and (column.many_to_one or column.one_to_one)
    other = column.related_model if to_one else None  # None too for a generic foreign key
    return other if isinstance(other, type) and issubclass(other, models.Model) else None
