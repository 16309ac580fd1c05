"""The dashboard in a browser: no finding of axe at both widths and in the dark, no sideways scrolling, keys only."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import reverse
from django.utils import timezone

from tests.alttext.made_up import Site, small_period

pytestmark = pytest.mark.browser


@pytest.fixture
def site(transactional_db) -> Site:
    return small_period(timezone.now())


def findings(page) -> list[str]:
    return [f"{item['id']}: {item['nodes'][0]['html']}" for item in Axe().run(page).response["violations"]]


@pytest.mark.parametrize("width", [1280, 360])
def test_axe_finds_nothing_on_the_dashboard(tab_of, lead, site, width):
    page = tab_of(lead, viewport={"width": width, "height": 900}).open(path=reverse("alttext:dashboards"))
    assert page.get_by_role("img", name="Characters changed").is_visible()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert findings(page) == []


@pytest.mark.parametrize("query", ["", "?language=tlh"])
def test_axe_finds_nothing_without_data_or_with_a_wrong_choice(tab_of, lead, query):
    page = tab_of(lead).open(path=reverse("alttext:dashboards") + query)
    assert findings(page) == []


def test_axe_finds_nothing_on_the_refusal(tab_of, author):
    page = tab_of(author).open(path=reverse("alttext:dashboards"))
    assert page.get_by_text("Only leads can see").is_visible()
    assert findings(page) == []


@pytest.mark.parametrize("width", [360, 320])
def test_nothing_is_wider_than_a_small_screen(tab_of, lead, site, width):
    page = tab_of(lead, viewport={"width": width, "height": 800}).open(path=reverse("alttext:dashboards"))
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scripts", [True, False])
def test_a_period_is_chosen_by_keyboard_with_and_without_scripts(tab_of, lead, site, scripts):
    page = tab_of(lead, java_script_enabled=scripts).open(path=reverse("alttext:dashboards"))
    page.get_by_label("Suggested in").focus()
    page.keyboard.press("ArrowDown")
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**period=90**")
    assert page.get_by_role("heading", name="Last 90 days, all captioners, all languages").is_visible()
    assert "17 reviewed of 22 offered texts" in page.locator(".cards").inner_text()


def test_bars_are_as_high_as_their_numbers(tab_of, lead, site):
    page = tab_of(lead).open(path=reverse("alttext:dashboards"))
    chart = page.get_by_role("img", name="Characters changed")
    heights = [box.bounding_box()["height"] for box in chart.locator("rect").all()]
    assert heights[0] == pytest.approx(2 * heights[1], abs=1)
    assert heights[1] == pytest.approx(heights[2], abs=1)
    assert heights[3] == heights[4] == 0
