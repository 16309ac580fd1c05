"""What happens in the CMS is noted while it happens, and followed up once after the commit; handlers ask nothing.

One note a transaction, however many plugins were saved: 300 images of a draft copy are one look at nothing new.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from asgiref.local import Local
from django.apps import apps
from django.db import models, router, transaction
from django.db.models.signals import post_delete, post_save

log = logging.getLogger("alttext.djangocms")
UID = "alttext.djangocms"
_ignored: ContextVar[bool] = ContextVar("alttext_djangocms_ignored", default=False)
_thread = Local(thread_critical=True)  # as Django keeps its connections


@dataclass
class Note:
    """What a transaction touched."""

    slots: set[int] = field(default_factory=set)  # placeholders
    pages: set[tuple[int, str]] = field(default_factory=set)  # page and language
    published: set[tuple[int, str]] = field(default_factory=set)
    moved: set[int] = field(default_factory=set)  # contents that took over from another version with the same images
    images: set[int] = field(default_factory=set)
    gone_images: set[int] = field(default_factory=set)


@contextmanager
def ignored() -> Iterator[None]:
    """Nothing is noted in here: it is the workbench that writes."""
    token = _ignored.set(True)
    try:
        yield
    finally:
        _ignored.reset(token)


def connect() -> None:
    """Listen to plugins, page contents, the library and versions; can be called again."""
    from cms.models import CMSPlugin, PageContent
    from cms.signals import post_placeholder_operation

    post_save.connect(saved, dispatch_uid=UID)  # plugin models appear as late as plugins are discovered
    post_delete.connect(plugin_deleted, sender=CMSPlugin, dispatch_uid=UID)  # sent for the base row of each plugin
    post_delete.connect(content_deleted, sender=PageContent, dispatch_uid=UID)
    post_placeholder_operation.connect(placeholder_changed, dispatch_uid=UID)
    from alttext.contrib.djangocms import library

    for model in apps.get_models():
        if issubclass(model, library.image_model()):
            post_delete.connect(image_deleted, sender=model, dispatch_uid=UID)
    if apps.is_installed("djangocms_versioning"):
        from djangocms_versioning.signals import post_version_operation

        post_version_operation.connect(version_changed, dispatch_uid=UID)


def saved(sender: type[models.Model], instance: Any, raw: bool = False, created: bool = False, **rest: Any) -> None:
    """A plugin, a page content or an image was saved; all other models are none of our business."""
    from cms.models import CMSPlugin, PageContent

    from alttext.contrib.djangocms import library

    if raw or _ignored.get():
        return
    if issubclass(sender, CMSPlugin):
        if sender is not CMSPlugin and instance.placeholder_id:
            with _note() as note:
                note.slots.add(instance.placeholder_id)
    elif sender is PageContent:
        if not created:  # a new one has no plugins yet
            with _note() as note:
                note.pages.add((instance.page_id, instance.language))
    elif issubclass(sender, library.image_model()):
        with _note() as note:
            note.images.add(instance.pk)


def plugin_deleted(sender: type[models.Model], instance: Any, **rest: Any) -> None:
    """A plugin was deleted, alone or with all that stood around it."""
    if instance.placeholder_id and not _ignored.get():
        with _note() as note:
            note.slots.add(instance.placeholder_id)


def content_deleted(sender: type[models.Model], instance: Any, **rest: Any) -> None:
    """A page, one of its languages or one version was deleted."""
    with _note() as note:
        note.pages.add((instance.page_id, instance.language))


def image_deleted(sender: type[models.Model], instance: Any, **rest: Any) -> None:
    """An image left the library."""
    with _note() as note:
        note.gone_images.add(instance.pk)


def placeholder_changed(sender: Any, **given: Any) -> None:
    """Plugins were moved, cut or pasted; the CMS tells only where its URL names the page."""
    names = ("placeholder", "source_placeholder", "target_placeholder")
    with _note() as note:
        note.slots.update(given[name].pk for name in names if given.get(name) is not None)


def version_changed(sender: type[models.Model], operation: str, obj: Any, **rest: Any) -> None:
    """A version was made, published, taken back or archived."""
    from cms.models import PageContent, Placeholder
    from djangocms_versioning import constants

    if not issubclass(sender, PageContent):
        return
    content = obj.content
    where = (content.page_id, content.language)
    with _note() as note:
        if operation == constants.OPERATION_PUBLISH:
            note.published.add(where)
        if operation == constants.OPERATION_DRAFT and obj.source_id and obj.source.state == constants.PUBLISHED:
            # the copies stand for the same images: what was noted while they were made is no news
            copies = Placeholder.objects.get_for_obj(content).values_list("pk", flat=True)
            note.slots.difference_update(copies)
            note.moved.add(content.pk)
        elif rest.get("to_be_published") is None:  # else the one that is published tells
            note.pages.add(where)


@contextmanager
def _note() -> Iterator[Note]:
    """The note of what is going on in this thread; followed up with the commit, without a transaction at once.

    What was rolled back stays noted until the next commit: one look too many, at what is as it was.
    """
    from cms.models import CMSPlugin

    yield _noted()
    transaction.on_commit(_follow, using=router.db_for_write(CMSPlugin), robust=True)


def _noted() -> Note:
    if not hasattr(_thread, "note"):
        _thread.note = Note()
    return _thread.note


def _follow() -> None:
    """Registered once for each signal; the first of a transaction does the work of all."""
    # imported late: `robust` then keeps a broken broker library away from the author's save as well
    from alttext.contrib.djangocms import following

    note, _thread.note = _noted(), Note()
    if note != Note():
        following.follow(note)
