"""System checks: each wrong or missing line is named, with its id."""

from __future__ import annotations

from types import ModuleType

import pytest
from django.core.checks import run_checks
from django.urls import include, path, re_path

from alttext import checks


def ids() -> set[str]:
    return {message.id for message in run_checks(tags=["alttext"]) if message.id}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"NO_SUCH_KEY": 1}, "alttext.E001"),
        ({"ADAPTERS": ["no.such.Adapter"]}, "alttext.E003"),
        ({"IMAGE_FIELDS": [{"model": "demo.Nothing", "image": "image", "alt": "alt_text"}]}, "alttext.E005"),
        ({"PAGE_SIZE": "25"}, "alttext.E007"),
        ({"LEASE_SECONDS": "sixty"}, "alttext.E007"),
        ({"LEASE_SECONDS": -1}, "alttext.E007"),
        ({"MIN_AUTHORS": None}, "alttext.E007"),
        ({"AUTOMATIC": 1}, "alttext.E007"),
        ({"ADAPTERS": ()}, "alttext.E007"),
        ({"WAKE": "celry"}, "alttext.E007"),
        ({"IMAGE_FIELDS": []}, "alttext.W003"),
        ({"RULES_OFF": ["no-such-rule"]}, "alttext.E012"),
        ({"RULES_OFF": ["text-control"]}, "alttext.E012"),
        ({"RULES_OFF": ["text-prefix"]}, "alttext.W010"),
    ],
)
def test_a_wrong_setting_is_named(settings, change, expected):
    assert expected not in ids()
    settings.ALTTEXT = {**settings.ALTTEXT, **change}
    assert expected in ids()


def test_a_setting_that_is_no_dict_is_named(settings):
    settings.ALTTEXT = []
    assert "alttext.E007" in ids()


def test_a_missing_middleware_is_named(settings):
    settings.MIDDLEWARE = [path for path in settings.MIDDLEWARE if "htmx" not in path]
    assert "alttext.E002" in ids()


def test_a_missing_app_is_named(settings):
    settings.INSTALLED_APPS = [name for name in settings.INSTALLED_APPS if name != "template_partials"]
    assert "alttext.E004" in ids()


def test_sqlite_without_immediate_transactions_is_named(monkeypatch):
    from django.db import connection

    if connection.vendor != "sqlite":
        pytest.skip("a check about SQLite")
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "transaction_mode", "DEFERRED")
    assert "alttext.W001" in ids()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("filesystem://", "alttext.E006"),
        ("redis://127.0.0.1/0", "alttext.W002"),
        ("amqp://127.0.0.1//", "alttext.W002"),
    ],
)
def test_a_broker_that_loses_messages_or_has_no_time_limit_is_named(settings, monkeypatch, url, expected):
    from celery import current_app

    settings.ALTTEXT = {**settings.ALTTEXT, "WAKE": "celery"}
    monkeypatch.setitem(current_app.conf, "broker_url", url)
    monkeypatch.setitem(current_app.conf, "broker_transport_options", {})
    assert expected in ids()


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], "alttext.W004"),
        (["catch_all", "ours"], "alttext.E008"),
        (["ours"], "alttext.W006"),
        (["ours", "sign_in"], None),
        (["ours", "sign_in", "catch_all"], None),
    ],
)
def test_an_address_that_is_missing_shadowed_or_leads_nowhere_is_named(settings, lines, expected):
    known = {
        "ours": path("alttext/", include("alttext.urls")),
        "sign_in": path("accounts/login/", lambda request: None),
        "catch_all": re_path(r"^(?P<slug>.*)/$", lambda request, slug: None),
    }
    urlconf = ModuleType("urls_of_a_test")
    urlconf.urlpatterns = [known[name] for name in lines]
    settings.ROOT_URLCONF = urlconf
    found = ids() & {"alttext.W004", "alttext.W006", "alttext.E008"}
    assert found >= {expected} if expected else found == set()


@pytest.mark.parametrize(
    ("login", "leads"),
    [("https://id.example/in", True), ("admin:login", True), ("no-such-name", False), ("/nowhere/", False)],
)
def test_a_sign_in_page_that_does_not_exist_is_named(settings, login, leads):
    settings.LOGIN_URL = login
    assert ("alttext.W006" not in ids()) is leads


def test_heic_without_its_package_is_named(settings, monkeypatch):
    settings.ALTTEXT = {**settings.ALTTEXT, "HEIC": True}
    monkeypatch.setattr(checks, "find_spec", lambda name: None)
    assert "alttext.W009" in ids()


def test_a_cms_that_the_workbench_does_not_see_is_named(monkeypatch):
    monkeypatch.setattr(checks, "CMS", (("A CMS", "django.contrib.auth", "alttext.contrib.none"),))
    assert "alttext.W005" in ids()
