"""System checks for sites in django CMS: each names the line of the settings that is missing or wrong."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Warning, register

from alttext.checks import missing_apps, sign_in_among

NEEDED = ("alttext", "cms", "filer")
PROCESSOR = "alttext.contrib.djangocms.output.normalise_alt"
PAGES = ("pages-root", "pages-details-by-slug")  # names of the CMS's addresses that answer whatever is left


def is_usable() -> bool:
    """Whether the apps that the adapter is about are installed; without them nothing of it may be loaded."""
    return all(apps.is_installed(name) for name in NEEDED)


@register("alttext")
def check_apps(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """The CMS and its image library."""
    return missing_apps("alttext.contrib.djangocms", NEEDED, id="alttext.E009")


@register("alttext")
def check_output(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Stock templates print two alt attributes, and hide that an image is decorative."""
    if not is_usable() or PROCESSOR in getattr(settings, "CMS_PLUGIN_PROCESSORS", ()):
        return []
    return [
        Warning(
            "Pages may print an image's alternative text twice, and not at all where it is decorative.",
            hint=f'Add CMS_PLUGIN_PROCESSORS = ["{PROCESSOR}"], or the path to the list that is there.',
            id="alttext.W007",
        )
    ]


@register("alttext")
def check_sign_in(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """LOGIN_URL that falls through to the CMS's pages ends in "page not found"."""
    if not is_usable():
        return []
    hint = 'Set LOGIN_URL = "admin:login", or to the sign-in page of your site.'
    return sign_in_among(PAGES, of="the CMS", hint=hint)
