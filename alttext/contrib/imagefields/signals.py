"""Saved and deleted rows of the configured models are told to `alttext.tasks` after the commit. Does no work itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.apps import apps
from django.db import models, transaction
from django.db.models.signals import post_delete, post_save

from alttext.contrib.imagefields import entries

_ignored: ContextVar[models.Model | None] = ContextVar("alttext_imagefields_ignored", default=None)


@contextmanager
def ignored(row: models.Model) -> Iterator[None]:
    """Saving `row` in here asks for nothing: it is the workbench that writes."""
    token = _ignored.set(row)
    try:
        yield
    finally:
        _ignored.reset(token)


def connect() -> None:
    """Listen to each configured model and its subclasses, once."""
    for entry in entries.usable():
        for model in apps.get_models():
            if issubclass(model, entry.model_class()):
                post_save.connect(saved, sender=model, dispatch_uid="alttext.imagefields")
                post_delete.connect(deleted, sender=model, dispatch_uid="alttext.imagefields")


def saved(sender: type[models.Model], instance: models.Model, raw: bool, using: str | None, **rest: Any) -> None:
    """Tell of each image of the row, or that it was taken away; ALTTEXT["AUTOMATIC"] is read by the task."""
    if raw or instance is _ignored.get():
        return
    for entry in entries.entries_of(sender):
        key = entries.key_of(entry, instance)
        _tell(_enqueue if getattr(instance, entry.image) else _forget, key, using)


def deleted(sender: type[models.Model], instance: models.Model, using: str | None, **rest: Any) -> None:
    """Forget each image of the row; its primary key is gone after this signal."""
    for entry in entries.entries_of(sender):
        _tell(_forget, entries.key_of(entry, instance), using)


def _tell(told: Callable[[str], None], key: str, using: str | None) -> None:
    # a lambda: where a robust callback fails, Django logs its __qualname__, which a partial lacks
    transaction.on_commit(lambda: told(key), using=using, robust=True)


def _enqueue(key: str) -> None:
    # imported late: `robust` then keeps a broken broker library away from the author's save as well
    from alttext import tasks

    tasks.enqueue_place(adapter=entries.NAME, key=key)


def _forget(key: str) -> None:
    from alttext import tasks

    tasks.forget_place(adapter=entries.NAME, key=key)
