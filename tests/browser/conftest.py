"""Chromium for the browser tests: one browser a session, a fresh context a test, signed in without the login page."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.test import Client

from tests.conftest import skip_unless

CHROMIUM = Path(os.environ.get("ALTTEXT_CHROMIUM", "/usr/bin/chromium"))
SHOTS = os.environ.get("ALTTEXT_SHOTS", "")  # a folder: each page that axe looks at is kept there as a picture
# Playwright's sync interface runs an event loop in this thread, which Django would take for asynchronous code
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"


@pytest.fixture(scope="session")
def browser():
    skip_unless(CHROMIUM.exists(), f"browser tests need chromium at {CHROMIUM} (Debian: apt-get install chromium)")
    skip_unless(importlib.util.find_spec("playwright"), "browser tests need playwright (pip install -e '.[dev]')")
    from playwright import sync_api

    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield running
        running.close()


class Tab:
    """A browser tab of one signed-in user, and all that its console complained about."""

    def __init__(self, browser, live_server, user, **options):
        self.base, self.user = live_server.url, user
        self.context = browser.new_context(base_url=self.base, reduced_motion="reduce", **options)
        self.sign_in()
        self.page = self.context.new_page()
        self.page.set_default_timeout(10_000)
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self._hear(message.type, f"{message.text} [{message.location}]"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _hear(self, kind, text):
        # Chromium logs every answer of 4xx; those are ours, and told in words
        if kind in ("error", "warning") and "the server responded with a status of" not in text:
            self.complaints.append(text)

    def forgive(self, *words):
        """Take complaints that the test itself caused off the list."""
        self.complaints[:] = [text for text in self.complaints if not any(word in text for word in words)]

    def sign_in(self):
        client = Client()
        client.force_login(self.user)
        name = django_settings.SESSION_COOKIE_NAME
        self.context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": self.base}])

    def sign_out(self):
        self.context.clear_cookies(name=django_settings.SESSION_COOKIE_NAME)

    def open(self, placement=None, path=""):
        self.page.goto(self.base + (placement.get_absolute_url() if placement else path))
        return self.page

    def focused(self):
        """Tag and id of the focused element, and the start of its words."""
        return self.page.evaluate(
            "() => { const e = document.activeElement;"
            " return [e.tagName.toLowerCase(), e.id, e.tagName === 'BODY' ? '' : e.innerText.trim().slice(0, 60)] }"
        )

    def status(self):
        return self.page.locator("#status").inner_text().strip()

    def box(self):
        return self.page.get_by_label("Alternative text", exact=True)


@pytest.fixture
def tab_of(browser, live_server, transactional_db):
    """A tab for a user: `tab_of(author, viewport={...})`. No tab may have had anything to complain about."""
    tabs = []

    def make(user, **options):
        options.setdefault("viewport", {"width": 1280, "height": 900})
        tabs.append(Tab(browser, live_server, user, **options))
        return tabs[-1]

    yield make
    complaints = [text for tab in tabs for text in tab.complaints]
    for tab in tabs:
        tab.context.close()
    assert complaints == [] or SHOTS  # taking a picture adds a style of Playwright's own


@pytest.fixture
def tab(tab_of, author):
    return tab_of(author)


@pytest.fixture
def desk(make_placement, suggest):
    """A placement with a pending suggestion of just now."""
    from django.utils import timezone

    placement = make_placement(
        title="Ferry to the island",
        heading="The crossing",
        text_before="The ferry leaves the old quay at nine. It is painted red and can be seen from afar.",
        text_after="Tickets are sold on board. Bicycles travel free of charge.",
        caption="The Aurora, in service since 1987",
    )
    evidence = {
        "support": [{"phrase": "boat", "source": "detector", "score": 0.91, "detail": ""}],
        "unverified": [{"phrase": "dog", "source": "tags", "score": 0.31}],
    }
    return placement, suggest(placement, "A red boat at a quay", when=timezone.now(), evidence=evidence)
