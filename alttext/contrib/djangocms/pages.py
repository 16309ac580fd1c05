"""The newest content of pages, and the plugins on it in document order, read with a bounded number of queries.

Newest is a draft, else what is published, else nothing: history is no use of an image. Knows no image; writes nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cms import constants
from cms.models import CMSPlugin, Page, PageContent, Placeholder
from cms.plugin_pool import plugin_pool
from cms.utils.placeholder import get_placeholders
from cms.utils.plugins import downcast_plugins
from django.apps import apps
from django.contrib.contenttypes.models import ContentType
from django.db.models import F, Q
from django.template import TemplateDoesNotExist, TemplateSyntaxError

CHUNK_PAGES = 50
DRAFT, PUBLISHED = "draft", "published"


@dataclass(frozen=True, slots=True)
class Slot:
    """One placeholder of a page content with its plugins of that language, parents before children."""

    content: PageContent
    placeholder: Placeholder
    plugins: list[Any]
    is_draft: bool


def is_versioned() -> bool:
    """Whether page contents have versions."""
    if not apps.is_installed("djangocms_versioning"):
        return False
    extension = apps.get_app_config("djangocms_versioning").cms_extension  # type: ignore[attr-defined]
    return bool(extension.is_content_model_versioned(PageContent))


def newest(**conditions: Any) -> list[tuple[PageContent, bool]]:
    """The newest content of each page and language that fits, and whether it is a draft; by page and language."""
    rows = PageContent.admin_manager.filter(page__is_page_type=False, **conditions).select_related("page")
    if not is_versioned():
        return [(content, False) for content in rows.order_by("page_id", "language", "pk")]
    rows = rows.filter(versions__state__in=(DRAFT, PUBLISHED)).annotate(state=F("versions__state"))
    found: dict[tuple[int, str], tuple[PageContent, bool]] = {}
    for content in rows.order_by("page_id", "language", "pk"):
        where, is_draft = (content.page_id, content.language), content.state == DRAFT
        if is_draft or where not in found:
            found[where] = (content, is_draft)
    return list(found.values())


def chunks(*, since: datetime | None = None) -> Iterator[list[tuple[PageContent, bool]]]:
    """The newest contents of all pages, some pages at a time and without an open cursor.

    :param since: only pages of which some version, or a plugin in it, was changed since.
    """
    after = 0
    wanted = Page.objects.filter(_changed(since)) if since else Page.objects.all()
    while pks := list(wanted.filter(pk__gt=after).order_by("pk").values_list("pk", flat=True)[:CHUNK_PAGES]):
        yield newest(page_id__in=pks)
        after = pks[-1]


def _changed(since: datetime) -> Q:
    plugins = CMSPlugin.objects.filter(changed_date__gte=since, placeholder__content_type=content_type())
    rows = PageContent.admin_manager.filter(
        Q(changed_date__gte=since) | Q(pk__in=plugins.values("placeholder__object_id"))
    )
    changed = Q(pk__in=rows.order_by().values("page_id"))
    if is_versioned():  # also what was published or taken back since, with all plugins as they were
        rows = PageContent.admin_manager.filter(versions__modified__gte=since)
        changed |= Q(pk__in=rows.order_by().values("page_id"))
    return changed


def slots(contents: Iterable[tuple[PageContent, bool]], *, only: set[int] | None = None) -> list[Slot]:
    """The slots of these contents, each in the order of its template.

    :param only: numbers of the placeholders that are wanted.
    """
    contents = list(contents)
    by_content: dict[int, list[Placeholder]] = defaultdict(list)
    rows = Placeholder.objects.filter(content_type=content_type(), object_id__in=[row.pk for row, _ in contents])
    for placeholder in rows.order_by("pk"):
        by_content[placeholder.object_id].append(placeholder)
    wanted: list[tuple[PageContent, bool, Placeholder]] = []
    for content, is_draft in contents:
        for placeholder in _in_order(content, by_content[content.pk]):
            if only is None or placeholder.pk in only:
                placeholder._state.fields_cache["source"] = content
                wanted.append((content, is_draft, placeholder))
    plugins = _plugins([(placeholder, content.language) for content, _, placeholder in wanted])
    return [Slot(content, placeholder, plugins[placeholder.pk], is_draft) for content, is_draft, placeholder in wanted]


def content_type() -> ContentType:
    """What placeholders of pages refer to."""
    return ContentType.objects.get_for_model(PageContent)


def _in_order(content: PageContent, placeholders: list[Placeholder]) -> list[Placeholder]:
    """Those that the template shows, in its order; all of them where the template is not known from the row alone."""
    is_inherited = not content.template or content.template == constants.TEMPLATE_INHERITANCE_MAGIC
    if is_inherited or content.page.application_urls:
        return placeholders
    try:
        declared = [found.slot for found in get_placeholders(content.template)]
    except (TemplateDoesNotExist, TemplateSyntaxError):
        return placeholders
    shown = [placeholder for placeholder in placeholders if placeholder.slot in declared]
    return sorted(shown, key=lambda placeholder: declared.index(placeholder.slot))


def _plugins(wanted: list[tuple[Placeholder, str]]) -> dict[int, list[Any]]:
    """The plugins of each placeholder in its language, in document order and as objects of their own models."""
    found: dict[int, list[Any]] = {placeholder.pk: [] for placeholder, _ in wanted}
    languages = {placeholder.pk: language for placeholder, language in wanted}
    placeholders = {placeholder.pk: placeholder for placeholder, _ in wanted}
    rows = CMSPlugin.objects.filter(placeholder_id__in=found).order_by("placeholder_id", "position", "pk")
    for plugin in downcast_plugins(_shown([row for row in rows if row.language == languages[row.placeholder_id]])):
        plugin._state.fields_cache["placeholder"] = placeholders[plugin.placeholder_id]
        found[plugin.placeholder_id].append(plugin)
    return found


def _shown(rows: list[CMSPlugin]) -> list[CMSPlugin]:
    """Without plugins whose code is no longer installed, and without what stands in them."""
    gone: set[int] = set()
    shown = []
    for row in rows:
        if row.plugin_type not in plugin_pool.plugins or row.parent_id in gone:
            gone.add(row.pk)
        else:
            shown.append(row)
    return shown
