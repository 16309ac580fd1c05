"""System checks for sites in Wagtail: each names the line of the settings that is missing or wrong."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.shortcuts import resolve_url
from django.urls import NoReverseMatch, Resolver404, resolve

NEEDED = ("alttext", "wagtail", "wagtail.admin", "wagtail.images")
PAGES = ("wagtail_serve",)  # name of Wagtail's address that answers whatever is left


def is_usable() -> bool:
    """Whether the apps that the adapter is about are installed; without them nothing of it may be loaded."""
    return all(apps.is_installed(name) for name in NEEDED)


@register("alttext")
def check_apps(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """The CMS, its admin and its image library."""
    return [
        Error(
            f'"alttext.contrib.wagtail" needs the app {name!r}.',
            hint=f'Add "{name}" to INSTALLED_APPS, or take "alttext.contrib.wagtail" out.',
            id="alttext.E010",
        )
        for name in NEEDED
        if not apps.is_installed(name)
    ]


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
    try:
        match = resolve(resolve_url(settings.LOGIN_URL).partition("?")[0])
    except (NoReverseMatch, Resolver404):
        return []  # the core says so, if that leads nowhere
    if not is_usable() or match.url_name not in PAGES:
        return []
    return [
        Warning(
            f"LOGIN_URL is {settings.LOGIN_URL!r}, which Wagtail looks for among its pages.",
            hint='Set LOGIN_URL = "wagtailadmin_login", or to the sign-in page of your site.',
            id="alttext.W008",
        )
    ]
