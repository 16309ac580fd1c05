"""System checks for sites in Wagtail: each missing or wrong line is named."""

from __future__ import annotations

from types import ModuleType

import pytest
from django.core.checks import run_checks
from django.urls import path, re_path


def ids() -> set[str]:
    return {message.id for message in run_checks(tags=["alttext"]) if message.id}


def test_the_example_site_has_nothing_to_name():
    assert ids() <= {"alttext.W001"}


@pytest.mark.parametrize(("name", "expected"), [("wagtail_serve", {"alttext.W008"}), ("a-page-of-the-site", set())])
def test_a_sign_in_page_that_the_cms_answers_is_named(settings, name, expected):
    urlconf = ModuleType("urls_of_a_test")
    urlconf.urlpatterns = [
        path("real/login/", lambda request: None, name="real"),
        re_path(r"^(?P<slug>.*)/$", lambda request, slug: None, name=name),
    ]
    settings.ROOT_URLCONF = urlconf
    settings.LOGIN_URL = "/accounts/login/?next=/"
    assert ids() & {"alttext.W008"} == expected
    settings.LOGIN_URL = "real"
    assert "alttext.W008" not in ids()


def test_a_second_search_app_is_named(monkeypatch):
    # only the list: loading both is what the check warns of
    monkeypatch.setattr("alttext.contrib.wagtail.checks.settings.INSTALLED_APPS", ["modelsearch", "wagtail.search"])
    assert "alttext.E011" in ids()
