"""System checks for sites in Wagtail: each names the line of the settings that is missing or wrong."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from alttext.checks import missing_apps, sign_in_among

NEEDED = ("alttext", "wagtail", "wagtail.admin", "wagtail.images")
PAGES = ("wagtail_serve",)  # name of Wagtail's address that answers whatever is left


def is_usable() -> bool:
    """Whether the apps that the adapter is about are installed; without them nothing of it may be loaded."""
    return all(apps.is_installed(name) for name in NEEDED)


@register("alttext")
def check_apps(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """The CMS, its admin and its image library."""
    return missing_apps("alttext.contrib.wagtail", NEEDED, id="alttext.E010")


@register("alttext")
def check_search(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Both search apps together pass Django's own checks, and fail at the first image that is saved."""
    if not {"modelsearch", "wagtail.search"} <= set(settings.INSTALLED_APPS):
        return []
    return [
        Error(
            'With "modelsearch" beside "wagtail.search" no image can be saved.',
            hint='Take "modelsearch" out of INSTALLED_APPS; "wagtail.search" brings it along.',
            id="alttext.E011",
        )
    ]


@register("alttext")
def check_sign_in(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """LOGIN_URL that falls through to Wagtail's pages ends in "page not found"."""
    if not is_usable():
        return []
    hint = 'Set LOGIN_URL = "wagtailadmin_login", or to the sign-in page of your site.'
    return sign_in_among(PAGES, of="Wagtail", hint=hint)
