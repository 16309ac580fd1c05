"""An adapter without its content system: a system check names what is missing, and nothing else breaks."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.core.checks import run_checks

from alttext import adapters


@pytest.mark.skipif(apps.is_installed("cms") or apps.is_installed("wagtail"), reason="about a site without either")
@pytest.mark.parametrize(
    ("app", "expected", "named"),
    [
        ("alttext.contrib.djangocms", "alttext.E009", ["cms", "filer"]),
        ("alttext.contrib.wagtail", "alttext.E010", ["wagtail", "wagtail.admin", "wagtail.images"]),
    ],
)
def test_an_adapter_without_its_cms_is_named_and_breaks_nothing(settings, app, expected, named):
    settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, app]
    hints = [message.hint for message in run_checks(tags=["alttext"]) if message.id == expected]
    assert [hint.split('"')[1] for hint in hints] == named
    assert not any(app in path for path in adapters.paths())
