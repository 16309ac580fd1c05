"""What is saved, published, copied, moved and deleted in Wagtail is told to `editing` after the commit. Does no work.

Signals carry no person: of an edit view the request tells who acted, elsewhere Wagtail's own log context.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.apps import apps
from django.db import transaction
from django.db.models.signals import post_delete, post_save
from django.http import HttpRequest
from django.utils import timezone
from wagtail import hooks
from wagtail.images import get_image_model
from wagtail.log_actions import get_active_log_context
from wagtail.models import AbstractPage, Page
from wagtail.signals import (
    copy_for_translation_done,
    page_published,
    page_unpublished,
    post_page_move,
    published,
)

from alttext.contrib.wagtail import documents, keys

SAVED = ("after_create_snippet", "after_edit_snippet")  # those of pages: wagtail_hooks
# of a saved image; other columns are written by Wagtail's own jobs
TELLING = frozenset({"file", "title", "description", "collection"})
MOVED_AT_ONCE = 50
_ignored: ContextVar[str] = ContextVar("alttext_wagtail_ignored", default="")
_connected: set[str] = set()


@contextmanager
def ignored(key: str) -> Iterator[None]:
    """Saving in here asks nothing for `key`: it is the workbench that writes."""
    token = _ignored.set(key)
    try:
        yield
    finally:
        _ignored.reset(token)


def connect() -> None:
    """Listen, once. Rows of ours are no references to what they name, so that "used n times" stays true."""
    for model in apps.get_app_config("alttext").get_models():
        model.wagtail_reference_index_ignore = True  # type: ignore[attr-defined]
    for name, heard in [*((name, saved_in_editor) for name in SAVED), ("after_delete_snippet", snippets_deleted)]:
        if name not in _connected:  # hooks, unlike signals, take the same function twice
            hooks.register(name, heard)
            _connected.add(name)
    uid = "alttext.wagtail"
    page_published.connect(was_published, dispatch_uid=uid)
    published.connect(snippet_published, dispatch_uid=uid)
    page_unpublished.connect(was_unpublished, dispatch_uid=uid)
    post_page_move.connect(was_moved, dispatch_uid=uid)
    copy_for_translation_done.connect(was_translated, dispatch_uid=uid)
    for model in apps.get_models():
        if issubclass(model, AbstractPage):
            post_save.connect(page_saved, sender=model, dispatch_uid=uid)
    post_delete.connect(page_deleted, sender=Page, dispatch_uid=uid)
    post_save.connect(image_saved, sender=get_image_model(), dispatch_uid=uid)
    post_delete.connect(image_deleted, sender=get_image_model(), dispatch_uid=uid)


def saved_in_editor(request: HttpRequest, row: Any) -> None:
    """A snippet was saved in Wagtail's editor: by a press, or by the editor's timer."""
    if _is_ours(row):
        _tell(lambda editing: _saved(editing, request, row))


def was_published(sender: Any, instance: Any, revision: Any = None, **rest: Any) -> None:
    """Its texts are those of whoever saved the revision; then nothing more is an edit of what was suggested.

    Copies are published too: texts of images that were unknown are no acts of anybody here.
    """
    if not _is_ours(instance):
        return
    by = getattr(revision, "user", None) or get_active_log_context().user

    def tell(editing: Any) -> None:
        at = timezone.now()
        editing.record_page(instance, by=by, at=at, also_new=False)
        editing.close_page(instance, at=at)

    _tell(tell)


def snippet_published(sender: Any, instance: Any, revision: Any = None, **rest: Any) -> None:
    """The same for a snippet; pages send this signal as well."""
    if not isinstance(instance, AbstractPage):
        was_published(sender, instance, revision)


def was_unpublished(sender: Any, instance: Any, **rest: Any) -> None:
    """Readers no longer find it at its address."""
    if _is_ours(instance) and instance.pk is not None:
        _tell(lambda editing: _again(editing, [instance]))


def was_moved(sender: Any, instance: Any, **rest: Any) -> None:
    """It and all below have new addresses."""
    _tell(lambda editing: _moved(editing, instance.pk))


def was_translated(sender: Any, source_obj: Any, target_obj: Any, **rest: Any) -> None:
    """A copy in another language: its images are uses of their own."""
    if _is_ours(target_obj):
        _tell(lambda editing: editing.note_new(target_obj))


def page_saved(sender: Any, instance: Any, created: bool, raw: bool = False, **rest: Any) -> None:
    """A new page: made by hand, copied, or imported."""
    if created and not raw and _is_ours(instance):
        _tell(lambda editing: _look(editing, instance.pk))


def page_deleted(sender: Any, instance: Any, **rest: Any) -> None:
    """Its placements are forgotten; its primary key is gone after this signal."""
    _forget(keys.page_head(instance.pk))


def snippets_deleted(request: HttpRequest, instances: Iterable[Any]) -> None:
    """The same for snippets. A hook: a signal would slow down deletions of everything else on the site."""
    for instance in instances:
        if _is_ours(instance) and instance.pk is not None:
            _forget(keys.snippet_head(instance._meta.label_lower, instance.pk))


def image_saved(
    sender: Any, instance: Any, raw: bool = False, update_fields: Iterable[str] | None = None, **rest: Any
) -> None:
    """An image is new, was described, or has another file."""
    if raw or (update_fields is not None and not TELLING & set(update_fields)):
        return
    pk, own = instance.pk, _ignored.get()
    by = None if own else get_active_log_context().user  # the workbench has recorded its own act
    _tell(lambda editing: editing.record_image(pk, by=by, at=timezone.now(), own=own))


def image_deleted(sender: Any, instance: Any, **rest: Any) -> None:
    """Its description and its uses are gone."""
    pk = instance.pk
    _tell(lambda editing: editing.forget_image(pk, at=timezone.now()))


def _forget(head: str) -> None:
    _tell(lambda editing: editing.forget(head, at=timezone.now()))


def _is_ours(row: Any) -> bool:
    """Whether it can hold images, and is edited by people at all."""
    if isinstance(row, AbstractPage):
        return row.alias_of_id is None and not _ignored.get()
    return type(row) in documents.snippet_models()


def _saved(editing: Any, request: HttpRequest, row: Any) -> None:
    if editing.is_autosave(request):
        editing.note_new(row)
    else:
        editing.record_page(row, by=request.user, at=timezone.now())


def _look(editing: Any, pk: Any) -> None:
    document = documents.page(keys.text_of(pk))
    if document is not None:
        editing.note_new(document.row)


def _again(editing: Any, rows: list[Any]) -> None:
    for row in rows:
        editing.record_page(row, by=None, at=timezone.now())


def _moved(editing: Any, pk: Any) -> None:
    top = Page.objects.filter(pk=pk).first()
    below = top.get_descendants(inclusive=True).filter(alias_of=None).order_by("pk") if top else None
    while below is not None and (rows := list(below.specific()[:MOVED_AT_ONCE])):
        _again(editing, rows)
        below = below.filter(pk__gt=rows[-1].pk)


def _tell(act: Callable[[Any], None]) -> None:
    # a lambda: where a robust callback fails, Django logs its __qualname__, which a partial lacks
    transaction.on_commit(lambda: act(_editing()), robust=True)


def _editing() -> Any:
    # imported late: `robust` then keeps a broken broker library away from the author's save as well
    from alttext.contrib.wagtail import editing

    return editing
