"""System checks for sites in django CMS: each names the line of the settings that is missing or wrong."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.shortcuts import resolve_url
from django.urls import NoReverseMatch, Resolver404, resolve

NEEDED = ("alttext", "cms", "filer")
PROCESSOR = "alttext.contrib.djangocms.output.normalise_alt"
PAGES = ("pages-root", "pages-details-by-slug")  # names of the CMS's addresses that answer whatever is left


def is_usable() -> bool:
    """Whether the apps that the adapter is about are installed; without them nothing of it may be loaded."""
    return all(apps.is_installed(name) for name in NEEDED)


@register("alttext")
def check_apps(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """The CMS and its image library."""
    return [
        Error(
            f'"alttext.contrib.djangocms" needs the app {name!r}.',
            hint=f'Add "{name}" to INSTALLED_APPS, or take "alttext.contrib.djangocms" out.',
            id="alttext.E009",
        )
        for name in NEEDED
        if not apps.is_installed(name)
    ]


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
    try:
        match = resolve(resolve_url(settings.LOGIN_URL).partition("?")[0])
    except (NoReverseMatch, Resolver404):
        return []  # the core says so, if that leads nowhere
    if not is_usable() or match.url_name not in PAGES:
        return []
    return [
        Warning(
            f"LOGIN_URL is {settings.LOGIN_URL!r}, which the CMS looks for among its pages.",
            hint='Set LOGIN_URL = "admin:login", or to the sign-in page of your site.',
            id="alttext.W008",
        )
    ]
