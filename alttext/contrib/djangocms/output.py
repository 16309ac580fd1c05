"""The plugin processor: CMS_PLUGIN_PROCESSORS = ["alttext.contrib.djangocms.output.normalise_alt"].

Gives the image of a picture, component image or carousel slide exactly one alt attribute: what was decided for this
use, where "decorative" wins over the file's default text; undecided, what the template printed, or an empty one.
All other bytes stay as they are. Asks no database.
"""

from __future__ import annotations

import logging
from typing import Any

from alttext.adapters import Alt
from alttext.contrib.djangocms import tags
from alttext.contrib.djangocms.holdings import SLIDE_ALT
from alttext.contrib.djangocms.stores import Attributes, ConfigKey, Store

log = logging.getLogger("alttext.djangocms")
STORES: dict[str, Store] = {
    "PicturePlugin": Attributes(),
    "ImagePlugin": Attributes(column="config", entry="attributes"),
    "CarouselSlidePlugin": ConfigKey(SLIDE_ALT),
}


def normalise_alt(instance: Any, placeholder: Any, content: str, context: Any) -> str:
    """`content` with one alt attribute on the plugin's own image; as it came where that cannot be told."""
    store = STORES.get(getattr(instance, "plugin_type", ""))
    if store is None:
        return content
    try:
        return normalised(instance, str(content), store.read(instance))
    except Exception:  # a page without its words is worse than one with a doubled attribute
        log.exception("the alt text of plugin %s could not be put in order", getattr(instance, "pk", None))
        return content


def normalised(instance: Any, content: str, alt: Alt) -> str:
    """`content` with `alt` on the plugin's own image."""
    tag = own_image(instance, content)
    if tag is None:
        return content
    if alt == Alt():  # nobody decided: what the template prints, once
        text = next(iter(tag.alts), "")
    else:
        text = alt.text
    return tags.replaced(content, tag, tags.with_alt(tag, text))


def own_image(instance: Any, content: str) -> tags.Tag | None:
    """The plugin's own <img>: the first with its address, else the first; a slide without an image has none."""
    found = tags.images(content)
    source = _source(instance)
    if source is None or not found:
        return None
    return next((tag for tag in found if source and tag.get("src") == source), found[0])


def _source(instance: Any) -> str | None:
    """The address that the stock template prints; empty where only the template knows, None without any image."""
    if instance.plugin_type == "CarouselSlidePlugin":
        image = instance.rel_image
        return str(image.url) if image is not None else None
    if instance.plugin_type == "ImagePlugin":
        return str(instance.__dict__.get("img_src") or "")  # only if the template has computed it
    return ""
