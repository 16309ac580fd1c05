"""System checks alttext.E001..: each names the line that is missing or wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from importlib.util import find_spec
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.db import connections
from django.shortcuts import resolve_url
from django.urls import NoReverseMatch, Resolver404, is_valid_path, resolve, reverse
from django.utils.module_loading import import_string

from alttext import adapters, conf, rules


@register("alttext")
def check_settings(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """The ALTTEXT dict."""
    found: list[CheckMessage] = [
        Error(f"ALTTEXT has the unknown key {key!r}.", hint="See the settings table in the README.", id="alttext.E001")
        for key in conf.unknown_keys()
    ]
    found += [
        Error(problem, hint="See the settings table in the README.", id="alttext.E007")
        for problem in conf.wrong_values()
    ]
    if "django_htmx.middleware.HtmxMiddleware" not in settings.MIDDLEWARE:
        found.append(
            Error(
                "The htmx middleware is missing.",
                hint='Add "django_htmx.middleware.HtmxMiddleware" to MIDDLEWARE.',
                id="alttext.E002",
            )
        )
    for path in adapters.paths():
        found += _check_adapter(path)
    others = any("imagefields" not in path for path in adapters.paths())
    if any("imagefields" in path for path in conf.get("ADAPTERS")) and not conf.get("IMAGE_FIELDS") and not others:
        hint = (
            'Name the models of your site in ALTTEXT["IMAGE_FIELDS"], or take the adapter out of ALTTEXT["ADAPTERS"].'
        )
        found.append(Warning("No image of this site is known to the workbench.", hint=hint, id="alttext.W003"))
    for name in ("django_htmx", "template_partials", "rest_framework"):
        if not apps.is_installed(name):
            found.append(
                Error(f"The app {name!r} is missing.", hint=f'Add "{name}" to INSTALLED_APPS.', id="alttext.E004")
            )
    return found


def _check_adapter(path: str) -> list[CheckMessage]:
    try:
        adapter = import_string(path)()
    except ImportError as error:
        hint = 'Correct the dotted path in ALTTEXT["ADAPTERS"], or install the package it needs.'
        return [Error(f"The adapter {path!r} does not load: {error}", hint=hint, id="alttext.E003")]
    return [
        Error(problem, hint='Correct the entry in ALTTEXT["IMAGE_FIELDS"].', id="alttext.E005")
        for problem in getattr(adapter, "problems", list)()
    ]


@register("alttext")
def check_databases(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """SQLite without immediate transactions answers "database is locked" under load."""
    found: list[CheckMessage] = []
    for alias in connections:
        database = connections[alias].settings_dict
        options = database.get("OPTIONS", {})
        if "sqlite" in database["ENGINE"] and options.get("transaction_mode") != "IMMEDIATE":
            hint = f'Set DATABASES["{alias}"]["OPTIONS"]["transaction_mode"] = "IMMEDIATE".'
            found.append(Warning("SQLite runs with deferred transactions.", hint=hint, id="alttext.W001"))
    return found


@register("alttext")
def check_broker(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Brokers that lose messages, and publishing without a time limit."""
    if conf.get("WAKE") != "celery":
        return []
    from celery import current_app

    url, options = str(current_app.conf.broker_url or ""), current_app.conf.broker_transport_options or {}
    if url.startswith(("filesystem", "sqla", "sqlalchemy", "django")):
        hint = "Use redis:// or amqp://, or the embedded worker (WAKE empty)."
        return [Error("This Celery broker loses messages when a worker is killed.", hint=hint, id="alttext.E006")]
    if (url.startswith("redis") and "socket_timeout" not in options) or (
        url.startswith("amqp") and "read_timeout" not in options
    ):
        hint = "Copy broker_transport_options from alttext/project/celery.py."
        return [Warning("A frozen broker may hold up uploads: no time limit is set.", hint=hint, id="alttext.W002")]
    return []


@register("alttext")
def check_rules(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Lint rules that are switched off: a choice of the site, but no silent one."""
    hint = 'docs/rules.md lists the rules; correct ALTTEXT["RULES_OFF"].'
    found: list[CheckMessage] = [
        Error(f"{name!r} is no lint rule that can be switched off.", hint=hint, id="alttext.E012")
        for name in rules.wrongly_off()
    ]
    if off := sorted(rules.switched_off() & set(rules.RULES)):
        hint = 'Take them out of ALTTEXT["RULES_OFF"] to switch them on.'
        found.append(Warning(f"Lint rules are switched off: {', '.join(off)}.", hint=hint, id="alttext.W010"))
    return found


CMS = (("django CMS", "cms", "alttext.contrib.djangocms"), ("Wagtail", "wagtail", "alttext.contrib.wagtail"))
INCLUDE = 'path("alttext/", include("alttext.urls"))'


@register("alttext")
def check_cms(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """A CMS whose images the workbench does not see."""
    return [
        Warning(
            f"{name} is installed, but the workbench does not see its images.",
            hint=f'Add "{ours}" to INSTALLED_APPS.',
            id="alttext.W005",
        )
        for name, theirs, ours in CMS
        if apps.is_installed(theirs) and not apps.is_installed(ours)
    ]


@register("alttext")
def check_addresses(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """The address of the workbench, and that of the page to sign in."""
    found: list[CheckMessage] = []
    try:
        address = reverse("alttext:queue")
    except NoReverseMatch:
        found.append(Warning("The workbench has no address.", hint=f"Add {INCLUDE} to urlpatterns.", id="alttext.W004"))
    else:
        if not _is_ours(address):
            hint = f"Move {INCLUDE} above the line of the CMS, which answers whatever is left."
            found.append(Error(f"Another line of urlpatterns answers {address}.", hint=hint, id="alttext.E008"))
    try:
        target = resolve_url(settings.LOGIN_URL)
    except NoReverseMatch:
        target = ""
    if target.startswith("/"):
        path = target.partition("?")[0]
        # LocaleMiddleware redirects to the address with the language
        leads = bool(is_valid_path(path) or is_valid_path(f"/{settings.LANGUAGE_CODE}{path}"))
    else:
        leads = "://" in target
    if not leads:
        hint = 'Set it to a page of your site that signs people in; "admin:login" will do.'
        found.append(
            Warning(f"LOGIN_URL is {settings.LOGIN_URL!r}, which leads nowhere.", hint=hint, id="alttext.W006")
        )
    return found


def _is_ours(address: str) -> bool:
    try:
        return "alttext" in resolve(address).namespaces
    except Resolver404:
        return False


@register("alttext")
def check_heic(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """HEIC is switched on, and nothing can read it."""
    if not conf.get("HEIC") or find_spec("pillow_heif"):
        return []
    hint = 'Install pillow-heif 1.8.1 or later, or set ALTTEXT["HEIC"] to False.'
    return [Warning("HEIC pictures cannot be read.", hint=hint, id="alttext.W009")]


def missing_apps(ours: str, needed: Iterable[str], *, id: str) -> list[CheckMessage]:
    """For an adapter's own check: the apps that the installed app `ours` is about and that are not installed."""
    return [
        Error(
            f'"{ours}" needs the app {name!r}.',
            hint=f'Add "{name}" to INSTALLED_APPS, or take "{ours}" out.',
            id=id,
        )
        for name in needed
        if not apps.is_installed(name)
    ]


def sign_in_among(pages: Collection[str], *, of: str, hint: str) -> list[CheckMessage]:
    """For an adapter's own check: LOGIN_URL falls through to the pages of a CMS, and ends in "page not found".

    :param pages: names of the CMS's addresses that answer whatever is left.
    """
    try:
        match = resolve(resolve_url(settings.LOGIN_URL).partition("?")[0])
    except (NoReverseMatch, Resolver404):
        return []  # `check_addresses` says so, if that leads nowhere
    if match.url_name not in pages:
        return []
    problem = f"LOGIN_URL is {settings.LOGIN_URL!r}, which {of} looks for among its pages."
    return [Warning(problem, hint=hint, id="alttext.W008")]
