"""Pages and snippets as their editors see them: the newest revision, read in bulk, as the plain data that `walk` reads.

Knows no key and no alt text. An alias page is no document: it repeats another page word for word, and nobody edits it.
"""

from __future__ import annotations

import copy
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.db import connection, models
from django.db.models import Q
from django.urls import NoReverseMatch, reverse
from wagtail.fields import StreamField
from wagtail.models import AbstractPage, Page, Revision
from wagtail.snippets.models import get_snippet_models

from alttext.contrib.wagtail import keys, shapes

CHUNK_ROWS = 50


@dataclass
class Document:
    """One page or snippet with what its newest revision holds.

    :ivar row: the specific instance in the database; a draft may say something else.
    :ivar draft: the content is that of a revision which readers do not see.
    """

    row: Any
    data: dict[str, Any]
    draft: bool

    @property
    def model(self) -> type[models.Model]:
        return type(self.row)

    @property
    def is_page(self) -> bool:
        return isinstance(self.row, AbstractPage)

    @property
    def head(self) -> str:
        """What the keys of its images start with."""
        if self.is_page:
            return keys.page_head(self.row.pk)
        return keys.snippet_head(self.row._meta.label_lower, self.row.pk)

    @property
    def scope(self) -> str:
        """By which the permission to edit it is decided."""
        return self.head.rstrip(":")

    @cached_property
    def title(self) -> str:
        return str(self.data.get("title") or self.row) if self.is_page else str(self.row)

    @property
    def language(self) -> str:
        locale = getattr(self.row, "locale", None)
        return str(locale.language_code) if locale else settings.LANGUAGE_CODE

    @cached_property
    def url(self) -> str:
        """Where readers see it; where only editors do, or readers do on another host, the editor."""
        if self.is_page:
            url = self.row.get_url() if self.row.live else None
            return url if url and url.startswith("/") else _reverse("wagtailadmin_pages:edit", self.row.pk)
        viewset = getattr(type(self.row), "snippet_viewset", None)
        return _reverse(viewset.get_url_name("edit"), self.row.pk) if viewset else ""


def page(pk: str) -> Document | None:
    """One page; None where there is none, or it is an alias."""
    found = clean_pk(Page, pk)
    return next(iter(_pages([found])), None) if found is not None and keys.text_of(found) == pk else None


def snippet(label: str, pk: str) -> Document | None:
    """One snippet; None where there is none."""
    for model in snippet_models():
        if model._meta.label_lower == label:
            found = clean_pk(model, pk)
            if found is not None and keys.text_of(found) == pk:
                return next(iter(_snippets(model, [found])), None)
    return None


def of_row(row: Any) -> Document:
    """The document that an edit view has just saved, without asking the database for what is in memory."""
    revision = row.latest_revision if getattr(row, "has_unpublished_changes", True) else None
    if revision is None:
        return Document(row, row_data(row), draft=False)
    return Document(row, content_data(type(row), revision.content), draft=True)


def chunks(*, since: datetime | None = None) -> Iterator[list[Document]]:
    """All pages, then all snippets that can hold images, by primary key; a bounded number at a time.

    :param since: only pages saved or published from then on; snippets do not tell.
    """
    rows = Page.objects.filter(alias_of=None, depth__gt=1)
    if since is not None:
        saved = Q(latest_revision_created_at__gte=since)
        rows = rows.filter(saved | Q(first_published_at__gte=since) | Q(last_published_at__gte=since))
    for pks in _by_chunk(rows.order_by("pk").values_list("pk", flat=True)):
        yield _pages(pks)
    for model in snippet_models():
        for pks in _by_chunk(model._default_manager.order_by("pk").values_list("pk", flat=True)):
            yield _snippets(model, pks)


def snippet_models() -> list[type[models.Model]]:
    """Those registered models that can hold images; not the image model, whose rows are places themselves."""
    return [model for model in get_snippet_models() if shapes.can_hold_images(model)]


def clean_pk(model: type[models.Model], given: Any) -> Any:
    """A primary key that the database can be asked for; None for all else."""
    field = model._meta.pk
    while isinstance(field, models.OneToOneField):
        field = field.target_field
    try:
        pk = field.to_python(given)
    except (ValidationError, ValueError, TypeError, OverflowError):
        return None
    if isinstance(pk, int):
        low, high = connection.ops.integer_field_range(field.get_internal_type())
        if not (low or -(2**63)) <= pk <= (high or 2**63 - 1):
            return None
    return pk


def row_data(row: Any) -> dict[str, Any]:
    """The content of a row in the database."""
    found = _plain(row)
    _add_children(type(row), {row.pk: found})
    return found


def content_data(model: type[models.Model], content: dict[str, Any]) -> dict[str, Any]:
    """The content of a revision; a copy that may be changed."""
    found: dict[str, Any] = {key: content[key] for key in ("pk", "title") if key in content}
    for item in shapes.own_fields(model):
        if item.name in content:
            value = content[item.name]
            found[item.name] = _parsed(value) if isinstance(item, StreamField) else value
    for relation in shapes.child_relations(model):
        name = relation.get_accessor_name()
        rows = content.get(name)
        found[name] = [content_data(relation.related_model, row) for row in rows] if isinstance(rows, list) else []
    return found


def _pages(pks: list[Any]) -> list[Document]:
    kinds: dict[int, list[Any]] = defaultdict(list)
    for pk, kind in Page.objects.filter(pk__in=pks, alias_of=None, depth__gt=1).values_list("pk", "content_type_id"):
        kinds[kind].append(pk)
    rows = []
    for kind, members in kinds.items():
        model = ContentType.objects.get_for_id(kind).model_class()
        if model is not None:  # a page type that the site no longer has
            rows += list(model._default_manager.filter(pk__in=members).select_related("locale"))
    return _documents(rows)


def _snippets(model: type[models.Model], pks: list[Any]) -> list[Document]:
    rows = model._default_manager.filter(pk__in=pks)
    return _documents(list(rows.select_related("locale") if hasattr(model, "locale") else rows))


def _documents(rows: list[Any]) -> list[Document]:
    """The rows by primary key, with what their editors see."""
    drafts = {row.pk: row.latest_revision_id for row in rows if _is_draft(row)}
    content = dict(Revision.objects.filter(pk__in=drafts.values()).values_list("pk", "content")) if drafts else {}
    found: dict[Any, Document] = {}
    plain: dict[type[models.Model], dict[Any, dict[str, Any]]] = defaultdict(dict)
    for row in rows:
        revision = content.get(drafts.get(row.pk))
        if revision is not None:
            found[row.pk] = Document(row, content_data(type(row), revision), draft=True)
        else:
            found[row.pk] = Document(row, _plain(row), draft=False)
            plain[type(row)][row.pk] = found[row.pk].data
    for model, data in plain.items():
        _add_children(model, data)
    return [found[pk] for pk in sorted(found)]


def _is_draft(row: Any) -> bool:
    """As `get_latest_revision_as_object` decides: what is published is read from the row."""
    return bool(getattr(row, "latest_revision_id", None)) and getattr(row, "has_unpublished_changes", True)


def _plain(row: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"pk": row.pk}
    if isinstance(row, AbstractPage):
        found["title"] = row.title
    for item in shapes.own_fields(type(row)):
        if isinstance(item, StreamField):
            found[item.name] = copy.deepcopy(list(getattr(row, item.name).raw_data))
        else:
            found[item.name] = item.value_from_object(row)
    return found


def _add_children(model: type[models.Model], parents: dict[Any, dict[str, Any]]) -> None:
    """The rows of inline panels, one query a relation."""
    for relation in shapes.child_relations(model):
        name, link = relation.get_accessor_name(), relation.field
        for data in parents.values():
            data[name] = []
        rows = list(relation.related_model._default_manager.filter(**{f"{link.name}__in": list(parents)}))
        below = {}
        for row in rows:
            below[row.pk] = _plain(row)
            parents[getattr(row, link.attname)][name].append(below[row.pk])
        if below:
            _add_children(relation.related_model, below)


def _parsed(value: Any) -> list[Any]:
    """A stream as a revision keeps it: JSON within JSON."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return []
    return copy.deepcopy(value) if isinstance(value, list) else []


def _by_chunk(pks: models.QuerySet) -> Iterator[list[Any]]:
    """Primary keys in bounded numbers, without an open cursor: on SQLite it would keep writers out."""
    page = list(pks[:CHUNK_ROWS])
    while page:
        yield page
        page = list(pks.filter(pk__gt=page[-1])[:CHUNK_ROWS]) if len(page) == CHUNK_ROWS else []


def _reverse(name: str, pk: Any) -> str:
    try:
        return reverse(name, args=[pk])
    except NoReverseMatch:
        return ""


def in_bulk(model: type[models.Model], pks: Iterable[Any]) -> dict[str, Any]:
    """Rows by the text of their primary key, whatever stood in the content as one."""
    wanted = {clean_pk(model, pk) for pk in pks} - {None}
    return {keys.text_of(row.pk): row for row in model._default_manager.filter(pk__in=wanted)} if wanted else {}
