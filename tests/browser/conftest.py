"""Chromium for the browser tests: one browser a session, a fresh context a test, signed in without the login page."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import skip_unless

CHROMIUM = Path(os.environ.get("ALTTEXT_CHROMIUM", "/usr/bin/chromium"))
# Playwright's sync interface runs an event loop in this thread, which Django would take for asynchronous code
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"


@pytest.fixture(scope="session")
def browser():
    skip_unless(CHROMIUM.exists(), f"browser tests need chromium at {CHROMIUM} (Debian: apt-get install chromium)")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield running
        running.close()
