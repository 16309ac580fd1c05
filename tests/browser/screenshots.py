"""Takes the pictures of `docs/screenshots`: `make screenshots`. The demonstration site with the starter captioner; the
dashboard shows made-up decisions of seven authors (`made_up`).
"""

from __future__ import annotations

import os
import random
import sys
import time
import urllib.request

from tests.reliability.services import free_port
from tests.reliability.site import ROOT, Site

FOLDER = ROOT / "docs/screenshots"
WIDTHS = (1280, 360)
WORDS = [
    "A",
    "grey",
    "tabby",
    "cat",
    "with",
    "green",
    "eyes",
    "looks",
    "into",
    "the",
    "camera",
    "from",
    "a",
    "wooden",
    "bench",
    "by",
    "the",
    "harbour",
]


def main() -> int:
    from playwright.sync_api import sync_playwright

    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    name = os.environ.get("ALTTEXT_CAPTIONER", "starter")
    FOLDER.mkdir(parents=True, exist_ok=True)
    site = Site(database="sqlite", lease_seconds=60)
    site.environment["ALTTEXT_CAPTIONER"] = name
    with site, sync_playwright() as playwright:
        from django.core.management import call_command

        call_command("alttext_demo", once=True)
        port = free_port()
        server = site.start("manage.py", "runserver", f"127.0.0.1:{port}", "--noreload")
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        try:
            _wait(port)
            for width in WIDTHS:
                _workbench(browser, f"http://127.0.0.1:{port}", width)
            for width in WIDTHS:  # afterwards, as these change what the others show
                _conflict(browser, f"http://127.0.0.1:{port}", width)
            made_up(site)
            for width in WIDTHS:
                page = _page(browser, f"http://127.0.0.1:{port}", width, "lead")
                page.goto(f"http://127.0.0.1:{port}/alttext/dashboards/")
                _keep(page, f"dashboard-{width}")
        finally:
            browser.close()
            server.kill()
            server.wait()
    return 0


def _workbench(browser, base: str, width: int) -> None:
    from alttext.models import Placement

    page = _page(browser, base, width, "author")
    page.goto(f"{base}/alttext/queue/")
    _keep(page, f"queue-{width}")
    page.goto(base + _cat().get_absolute_url())
    _keep(page, f"editor-{width}")
    abstained = Placement.objects.filter(state="ABSTAINED").first()
    page.goto(base + abstained.get_absolute_url())
    _keep(page, f"abstention-{width}")


def _cat():
    from alttext.models import Placement

    return Placement.objects.get(page_title__contains="looking for a home")


def _conflict(browser, base: str, width: int) -> None:
    """Two people open the same image; the second one to save sees both texts."""
    placement = _cat()
    page = _page(browser, base, width, "author")
    page.goto(base + placement.get_absolute_url())
    other = _page(browser, base, width, "lead")
    other.goto(base + placement.get_absolute_url())
    theirs = f"A tabby cat looks {'up' if width == WIDTHS[0] else 'to the right'}"  # the same text again is no new act
    for tab, text in ((other, theirs), (page, "A cat with green eyes, close up")):
        tab.get_by_role("textbox", name="Alternative text").fill(text)
        tab.get_by_role("button", name="Save", exact=True).click()
        tab.wait_for_load_state("networkidle")
        time.sleep(0.5)
    _keep(page, f"conflict-{width}")


def _page(browser, base: str, width: int, name: str):
    page = browser.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce").new_page()
    page.goto(f"{base}/accounts/login/")
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password").fill(name)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_load_state("networkidle")
    return page


def _keep(page, name: str) -> None:
    width = page.viewport_size["width"]
    height = page.evaluate("document.documentElement.scrollHeight")
    page.set_viewport_size(
        {"width": width, "height": min(height, 2800)}
    )  # lazy images load, a fixed bar covers nothing
    page.wait_for_load_state("networkidle")
    page.screenshot(path=FOLDER / f"{name}.png")
    page.set_viewport_size({"width": width, "height": 900})
    print(FOLDER / f"{name}.png")


def made_up(site: Site) -> None:
    """Invented decisions of seven authors on 300 invented suggestions, through the operations."""
    from datetime import timedelta

    from django.contrib.auth import get_user_model
    from django.utils import timezone

    from alttext.operations import decisions, jobs, suggestions

    chance = random.Random(7)
    authors = [get_user_model().objects.create_user(f"made-up-{number}") for number in range(7)]
    care = [chance.uniform(0.1, 0.6) for _ in authors]
    now = timezone.now()
    for placement in site.placements(300):
        at = now - timedelta(days=chance.uniform(0, 25))
        suggestions.request(placement=placement, captioner="starter", prio=1, at=at)
        claim = jobs.claim(at=at)
        text = " ".join(WORDS[: chance.randrange(4, len(WORDS))])
        silent = chance.random() < 0.2
        answer = suggestions.Answer(
            captioner="starter", versions_key="made-up", text=None if silent else text,
            reasons=("object_unsupported",) if silent else (), language="en", versions={"made-up": "1"},
        )  # fmt: skip
        suggestion = suggestions.record(job_id=claim.id, token=claim.token, answer=answer, at=at)
        placement.refresh_from_db()
        index = chance.randrange(len(authors))
        if silent or chance.random() < 0.25:
            continue
        seen = decisions.seen(placement, suggestion)
        if chance.random() < 0.08:
            decisions.reject(placement=placement, seen=seen, by=authors[index], at=at)
            continue
        final = text
        if chance.random() < care[index]:
            cut = chance.randrange(1, 4)
            final = " ".join(text.split()[:-cut]) + chance.choice(["", " asleep", " on the quay in the morning light"])
        decisions.save_text(placement=placement, text=final, seen=seen, by=authors[index], at=at)


def _wait(port: int) -> None:
    for _ in range(100):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=2)  # noqa: S310
            return
        except OSError:
            time.sleep(0.2)


if __name__ == "__main__":
    sys.exit(main())
