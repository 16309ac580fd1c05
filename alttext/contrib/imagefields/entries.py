"""One image field of one model: how its values are read from a row, and the stable key of each use."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any

from django.apps import apps
from django.core.exceptions import ObjectDoesNotExist
from django.db import models

from alttext import conf
from alttext.contrib.imagefields import setting

NAME = "imagefields"


class WrongEntry(ValueError):
    """An entry of ALTTEXT["IMAGE_FIELDS"] cannot be used."""


@dataclass(frozen=True)
class Entry:
    """One image field of one model; what the keys mean: `setting`."""

    model: str
    image: str
    alt: str
    decorative: str = ""
    title: str = ""
    url: str = ""
    language: str = ""
    role: str = ""
    headings: str = ""
    before: str = ""
    after: str = ""
    caption: str = ""
    link_target: str = ""
    link_label: str = ""
    link_text_visible: str = ""
    filter: dict[str, Any] = field(default_factory=dict)
    editable: str = ""

    @property
    def scope(self) -> str:
        """The model's label in lower case, "app.model"."""
        return self.model.lower()

    def model_class(self) -> type[models.Model]:
        """:raises LookupError: no such app or model.  :raises ValueError: not of the form app.Model."""
        return apps.get_model(self.model)

    def value(self, row: models.Model, name: str) -> Any:
        """What the path under the key `name` gives for `row`; None without a path or where a relation is empty."""
        path = getattr(self, name)
        if path.startswith("="):
            return path[1:]
        return follow(row, path) if path else None

    def related(self) -> list[str]:
        """Forward relations that the paths walk through, as select_related wants them."""
        found = (_relations(self.model_class(), getattr(self, name)) for name in setting.PATHS)
        return sorted({path for paths in found for path in paths})


def follow(start: Any, path: str) -> Any:
    """Walk a dotted path; callables on the way are called, None ends the walk.

    :raises WrongEntry: the path names a method that changes data.
    """
    value = start
    for part in path.split("."):
        try:
            value = getattr(value, part)
        except ObjectDoesNotExist:  # the other side of a one-to-one
            return None
        if callable(value):
            if getattr(value, "alters_data", False):
                raise WrongEntry(f"{path!r} would change data")
            value = value()
        if value is None:
            return None
    return value


def all_entries() -> list[Entry]:
    """The entries of the setting.  :raises WrongEntry: one cannot be used."""
    found = conf.get("IMAGE_FIELDS")
    if wrong := setting.problems():
        raise WrongEntry(wrong[0])
    return [Entry(**given) for given in found]


def usable() -> list[Entry]:
    """Those entries of the setting that can be used."""
    return [Entry(**given) for given in conf.get("IMAGE_FIELDS") if not any(setting.wrong_with(given))]


def keys_of(row: models.Model) -> list[str]:
    """The keys of all image fields of `row` that hold a file, in the order of the setting."""
    return [key_of(entry, row) for entry in entries_of(type(row)) if getattr(row, entry.image)]


def entries_of(model: type[models.Model]) -> list[Entry]:
    """The usable entries for a model, its parents and what it is a proxy of."""
    return [entry for entry in usable() if issubclass(model, entry.model_class())]


def key_of(entry: Entry, row: models.Model) -> str:
    """The stable key of one image field of `row`."""
    pk = row.pk.hex if isinstance(row.pk, uuid.UUID) else row.pk
    return f"{entry.scope}:{pk}:{entry.image}"


def _relations(model: type[models.Model], path: str) -> list[str]:
    """Each prefix of a path that consists of relations to one object, with "__" between its parts."""
    found: list[str] = []
    here: type[models.Model] | None = model
    for part in path.split("."):
        here = setting.forward(here, part) if here else None
        if here:
            found.append("__".join([*found[-1:], part]))
    return found
