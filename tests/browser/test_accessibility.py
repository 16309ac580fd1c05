"""Each page in each state: axe without a violation, wide and narrow, light and dark; reflow at 320 px."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.urls import reverse
from django.utils import timezone

from alttext.models import Placement
from alttext.operations import decisions
from tests.browser.conftest import SHOTS

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WIDTHS = {"wide": {"width": 1280, "height": 900}, "narrow": {"width": 360, "height": 780}}


def look(tab, name):
    """Every violation that axe finds on the page as it is; in the dark only colours can be different."""
    from axe_playwright_python.sync_playwright import Axe

    tab.page.emulate_media(color_scheme="light")
    keep(tab, f"{name}-light")
    light = Axe().run(tab.page).response["violations"]
    tab.page.emulate_media(color_scheme="dark")
    keep(tab, f"{name}-dark")
    dark = tab.page.evaluate("async () => (await axe.run({ runOnly: ['color-contrast'] })).violations")
    return [
        (name, scheme, violation["id"], [node["target"] for node in violation["nodes"]])
        for scheme, violations in (("light", light), ("dark", dark))
        for violation in violations
    ]


def keep(tab, name):
    """A picture of the whole page, where a folder for such pictures is named."""
    if SHOTS:
        width = tab.page.viewport_size["width"]
        tab.page.screenshot(path=str(Path(SHOTS) / f"{name}-{width}.png"), full_page=True)


def overflow(tab):
    """By how many pixels the page is wider than the window."""
    return tab.page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")


@pytest.fixture
def states(make_placement, suggest, author, other_author, desk):
    """One placement in every state that the editor shows."""
    now = timezone.now()
    offered, _ = desk
    abstained = make_placement(
        title="Visitors by month", language="de", heading="Zahlen", name="IMG_2044_final_final_2.png"
    )
    lines = {"lines": [{"text": "January 204", "confidence": 0.7}], "kinds": {"chart": 0.8}, "missing": ["detector"]}
    suggest(
        abstained,
        reasons=["value_unverified", "text_unverified"],
        when=now,
        evidence=lines,
        flags=["instruction_in_image"],
    )
    failed = make_placement(title="A broken file")
    Placement.objects.filter(pk=failed.pk).update(state="FAILED", problem="The file is cut off in the middle.")
    waiting = make_placement(title="Just uploaded")
    Placement.objects.filter(pk=waiting.pk).update(state="WAITING")
    done = make_placement(title="The market hall")
    for number, (text, by) in enumerate([("A hall", author), ("A market hall of glass and iron", other_author)]):
        done.refresh_from_db()
        decisions.save_text(placement=done, text=text, seen=decisions.seen(done), by=by, at=now)
        assert done.decisions.count() == number + 1
    Placement.objects.filter(pk=done.pk).update(stale=True)
    decorative = make_placement(title="Ornament", decorative=True)
    link = make_placement(
        title="Home",
        link_url="/tickets/",
        link_label="Tickets and prices",
        role="functional",
        text_before="word " * 200,
    )
    return {"offered": offered, "abstained": abstained, "failed": failed, "waiting": waiting, "done": done,
            "decorative": decorative, "link": link}  # fmt: skip


@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing_on_any_page(tab_of, lead, states, width):
    tab = tab_of(lead, viewport=WIDTHS[width])
    found = []
    for state in ("todo", "all", "failed"):
        tab.open(path=f"{reverse('alttext:queue')}?state={state}")
        found += look(tab, f"queue-{state}")
    tab.open(path=reverse("alttext:keys"))
    found += look(tab, "keys")
    for name, placement in states.items():
        tab.open(placement)
        for summary in tab.page.locator("summary").all():
            summary.click()
        found += look(tab, f"editor-{name}")
    assert found == []


@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing_after_an_act(tab_of, author, other_author, desk, width, make_placement, illustration_of):
    placement, suggestion = desk
    make_placement(title="The next page")
    tab = tab_of(author, viewport=WIDTHS[width])
    tab.open(placement)
    tab.box().fill("image of a boat")
    tab.page.get_by_text("The text begins with").wait_for()
    found = look(tab, "editor-findings")
    tab.box().fill(" ")
    tab.page.get_by_role("button", name="Save", exact=True).click()
    tab.page.get_by_text("To leave it without text").first.wait_for()
    found += look(tab, "editor-invalid")
    decisions.save_text(
        placement=placement,
        text="A boat of the other author",
        seen=decisions.seen(placement, suggestion),
        by=other_author,
        at=timezone.now(),
    )
    tab.box().fill("A red boat in my own words")
    tab.page.get_by_role("button", name="Save", exact=True).click()
    tab.page.get_by_role("heading", name="Not saved yet").wait_for()
    found += look(tab, "editor-conflict")
    tab.page.get_by_role("button", name="Save", exact=True).click()
    tab.page.get_by_role("heading", name="Saved", exact=True).wait_for()
    found += look(tab, "editor-saved")
    row = illustration_of(placement)
    row.text_before = "The ferry leaves at ten."
    row.save()
    tab.box().fill("A red boat, again")
    tab.page.get_by_role("button", name="Save", exact=True).click()
    tab.page.get_by_role("heading", name="Not saved yet").wait_for()
    found += look(tab, "editor-words")
    assert found == []


def test_nothing_scrolls_sideways_at_320_pixels(tab_of, author, states, make_placement):
    long = make_placement(title="Donaudampfschifffahrtsgesellschaft" * 4, text_before="x" * 300, caption="y" * 300)
    tab = tab_of(author, viewport={"width": 320, "height": 640})
    wide = {}
    tab.open(path=f"{reverse('alttext:queue')}?state=all")
    wide["queue"] = overflow(tab)
    tab.open(path=reverse("alttext:keys"))
    wide["keys"] = overflow(tab)
    for name, placement in {**states, "long": long}.items():
        tab.open(placement)
        for summary in tab.page.locator("summary").all():
            summary.click()
        wide[name] = overflow(tab)
    assert {name: pixels for name, pixels in wide.items() if pixels > 0} == {}


def test_every_target_is_at_least_24_pixels(tab_of, author, states):
    tab = tab_of(author)
    small = []
    for path in [f"{reverse('alttext:queue')}?state=all", states["offered"].get_absolute_url()]:
        tab.open(path=path)
        small += tab.page.evaluate(
            """() => [...document.querySelectorAll("button, a, select, summary, input, textarea")]
                .filter((e) => e.checkVisibility() && e.type !== "hidden")
                .filter((e) => !e.matches(".skip, p.crumbs a, .reading > p a"))
                .map((e) => [e.outerHTML.slice(0, 80), e.getBoundingClientRect()])
                .filter(([, box]) => box.width < 24 || box.height < 24)
                .map(([html, box]) => `${html} ${box.width}x${box.height}`)"""
        )
    assert small == []
