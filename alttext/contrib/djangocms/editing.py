"""What the plugin forms of django CMS call: keys of what is being edited, and the news that an author has saved.

Knows the places and the operations, no form and no request.
"""

from __future__ import annotations

import logging
from typing import Any

from cms.models import CMSPlugin, PageContent
from django.db import transaction
from django.utils import timezone

from alttext.adapters import NotThere
from alttext.contrib.djangocms import places
from alttext.contrib.djangocms.adapter import DjangoCMSAdapter
from alttext.contrib.djangocms.keys import new_key
from alttext.contrib.djangocms.places import Spot
from alttext.operations import decisions, placements

__all__ = ["after_save", "key_of", "keys_of", "new_key"]
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


def after_save(plugin: Any, *, by: Any, new_key: str = "") -> None:
    """An author has saved `plugin` in its own form: take history along, and record the text as the author's act.

    Call it inside the transaction that saved the plugin. It never raises: the author's save comes first.

    :param new_key: the key under which the image was known while the form was open.
    """
    adapter, at = DjangoCMSAdapter(), timezone.now()
    try:
        with transaction.atomic():
            found = keys_of(plugin)
            if new_key and found:
                placements.placed(adapter=adapter, key=new_key, into=found[0], at=at)
    except Exception:  # a savepoint was rolled back; the plugin is saved all the same
        log.exception("plugin %s was saved, and what was known of its image could not be taken along", plugin.pk)
        return
    for key in found:
        try:
            with transaction.atomic():
                decisions.record_written(adapter=adapter, key=key, by=by, at=at)
        except NotThere:
            continue  # the file is missing: there is nothing to describe
        except Exception:
            log.exception("the text of %s was saved in the CMS, and could not be recorded", key)


def _spots(plugin: Any) -> list[Spot]:
    """Where the images of this plugin stand, by what the database says of it now."""
    row = CMSPlugin.objects.select_related("placeholder").filter(pk=plugin.pk).first()
    source = row.placeholder.source if row and row.placeholder else None
    if not isinstance(source, PageContent) or row is None:
        return []
    slot = places.slot_of(row.placeholder_id, content=source, is_draft=True)
    return [spot for spot in places.spots(slot) if spot.plugin.pk == plugin.pk] if slot else []
