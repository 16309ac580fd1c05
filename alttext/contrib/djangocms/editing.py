"""What the plugin forms of django CMS call: keys of what is being edited, and the news that an author has saved.

Knows the places and the operations, no form and no request.
"""

from __future__ import annotations

import logging
from typing import Any

from cms.models import CMSPlugin, PageContent
from django.db import transaction
from django.utils import timezone

from alttext.adapters import Alt, NotThere
from alttext.contrib.djangocms import holdings, places
from alttext.contrib.djangocms.adapter import DjangoCMSAdapter
from alttext.contrib.djangocms.keys import NewKey, new_key, parse
from alttext.contrib.djangocms.places import Spot
from alttext.operations import decisions, placements

__all__ = ["after_save", "key_of", "keys_of", "new_key", "standing"]
log = logging.getLogger("alttext.djangocms")


def keys_of(plugin: Any) -> list[str]:
    """The keys of all images of a saved plugin; empty where it has none, or stands on no page."""
    return [str(spot.key) for spot in _spots(plugin)]


def key_of(plugin: Any, part: str = "") -> str:
    """The key of one image of a saved plugin; empty where there is none.

    :param part: name of the image field or config entry; for an image within a rich text its number there, from "1".
        Empty: the first image of the plugin.
    """
    return next((str(spot.key) for spot in _spots(plugin) if part in ("", spot.holding.name)), "")


def standing(plugin: Any) -> dict[str, Alt]:
    """What stands in the database for each image of a plugin, by name of field or entry; ask before it is saved."""
    try:
        with transaction.atomic():
            row = CMSPlugin.objects.filter(pk=plugin.pk).first() if plugin.pk else None
            saved = row.get_bound_plugin() if row else None
            return {found.name: found.store.read(saved) for found in holdings.of(saved)} if saved is not None else {}
    except Exception:
        log.exception("what stood in plugin %s could not be read", plugin.pk)
        return {}


def after_save(plugin: Any, *, by: Any, new_key: str = "", stood: dict[str, Alt] | None = None) -> None:
    """An author has saved `plugin` in its own form: take history along, and record the text as the author's act.

    Call it inside the transaction that saved the plugin. It never raises: the author's save comes first.

    :param new_key: the key under which the image was known while the form was open.
    :param stood: `standing` before the save.
    """
    adapter, at = DjangoCMSAdapter(), timezone.now()
    try:
        with transaction.atomic():
            found = _spots(plugin)
            into = _of_new(found, new_key)
            if into:
                placements.placed(adapter=adapter, key=new_key, into=into, at=at)
    except Exception:  # a savepoint was rolled back; the plugin is saved all the same
        log.exception("plugin %s was saved, and what was known of its image could not be taken along", plugin.pk)
        return
    for spot in found:
        key, before = str(spot.key), (stood or {}).get(spot.holding.name)
        try:
            with transaction.atomic():
                decisions.record_written(adapter=adapter, key=key, by=by, at=at, stood=before)
        except NotThere:
            continue  # the file is missing: there is nothing to describe
        except Exception:
            log.exception("the text of %s was saved in the CMS, and could not be recorded", key)


def _of_new(found: list[Spot], new_key: str) -> str:
    """The key of that image of the plugin which the form was about."""
    key = parse(new_key) if new_key else None
    return next((str(spot.key) for spot in found if isinstance(key, NewKey) and spot.key.file == key.file), "")


def _spots(plugin: Any) -> list[Spot]:
    """Where the images of this plugin stand, by what the database says of it now."""
    row = CMSPlugin.objects.select_related("placeholder").filter(pk=plugin.pk).first()
    source = row.placeholder.source if row and row.placeholder else None
    if not isinstance(source, PageContent) or row is None:
        return []
    slot = places.slot_of(row.placeholder_id, content=source, is_draft=True)
    return [spot for spot in places.spots(slot) if spot.plugin.pk == plugin.pk] if slot else []
