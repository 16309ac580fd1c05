"""System checks: each wrong or missing line is named, with its id."""

from __future__ import annotations

import pytest
from django.core.checks import run_checks


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
        ({"RULES_OFF": ["no-such-rule"]}, "alttext.E008"),
        ({"RULES_OFF": ["text-control"]}, "alttext.E008"),
        ({"RULES_OFF": ["text-prefix"]}, "alttext.W004"),
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
