"""The panel in a form that is not ours, on the example of Django's admin: by keyboard, without touching the form."""

from __future__ import annotations

import pytest
from django.urls import reverse
from django.utils import timezone

from alttext import workers
from alttext.models import Decision

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def form_tab(tab_of, admin):
    return tab_of(admin)


def open_form(tab, placement):
    page = tab.open(path=reverse("admin:demo_illustration_change", args=[placement.key.split(":")[1]]))
    page.locator(".alttext-panel").wait_for()
    return page


def test_a_suggestion_is_used_edited_and_saved_with_the_form(form_tab, make_placement, suggest, illustration_of):
    placement = make_placement()
    suggest(placement, "A red boat at a quay", when=timezone.now())
    page = open_form(form_tab, placement)
    field = page.locator("#id_alt_text")
    assert field.input_value() == ""
    page.get_by_role("button", name="Use this text").focus()
    page.keyboard.press("Enter")
    assert field.input_value() == "A red boat at a quay"
    assert form_tab.focused()[1] == "id_alt_text"
    assert "saved with this form" in page.locator(".alttext-status").inner_text()
    assert illustration_of(placement).alt_text == ""
    page.keyboard.press("End")
    page.keyboard.type(" in the morning")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url("**/demo/illustration/")
    assert illustration_of(placement).alt_text == "A red boat at a quay in the morning"
    assert Decision.objects.get().outcome == "EDITED"


def test_what_was_typed_comes_back_with_the_browsers_undo(form_tab, make_placement, suggest):
    placement = make_placement()
    suggest(placement, "A red boat", when=timezone.now())
    page = open_form(form_tab, placement)
    page.locator("#id_alt_text").fill("My own words")
    page.get_by_role("button", name="Use this text").click()
    page.keyboard.press("Control+z")
    assert page.locator("#id_alt_text").input_value() == "My own words"


def test_one_asks_and_the_answer_arrives_without_touching_the_field(form_tab, make_placement):
    placement = make_placement()
    page = open_form(form_tab, placement)
    page.locator("#id_alt_text").fill("Half a sen")
    page.get_by_role("button", name="Get a suggestion").focus()
    page.keyboard.press("Enter")
    page.get_by_text("The captioner is at work.").wait_for()
    workers.drain(lanes=["plain", "text"], seconds=20)
    page.locator(".alttext-panel .offered, .alttext-panel .reason").first.wait_for()
    assert page.locator("#id_alt_text").input_value() == "Half a sen"
    assert (
        "Your text was not touched" in page.locator(".alttext-status").inner_text()
        or page.locator(".alttext-panel .reason").count()
    )
    assert page.url.endswith("/change/")


def test_notes_about_the_text_follow_what_is_typed(form_tab, make_placement, suggest):
    placement = make_placement()
    suggest(placement, "A red boat", when=timezone.now())
    page = open_form(form_tab, placement)
    page.locator("#id_alt_text").press_sequentially("IMG_2031.jpg")
    page.locator(".alttext-panel .finding").first.wait_for()


def test_a_field_that_is_switched_off_is_not_written(form_tab, make_placement, suggest):
    placement = make_placement()
    suggest(placement, "A red boat", when=timezone.now())
    page = open_form(form_tab, placement)
    page.evaluate("document.getElementById('id_alt_text').disabled = true")
    page.get_by_role("button", name="Use this text").click()
    assert page.locator("#id_alt_text").input_value() == ""
    assert "switched off" in page.locator(".alttext-status").inner_text()


def test_another_address_loads_another_panel_and_an_empty_one_shows_none(form_tab, make_placement, suggest):
    first, second = make_placement(), make_placement()
    suggest(first, "A red boat", when=timezone.now())
    suggest(second, "A blue boat", when=timezone.now())
    page = open_form(form_tab, first)
    page.get_by_text("A red boat").first.wait_for()
    address = reverse("alttext:field", args=["imagefields", second.key])
    page.evaluate(f"document.querySelector('[data-alttext-field]').dataset.alttextUrl = '{address}'")
    page.get_by_text("A blue boat").first.wait_for()
    assert page.get_by_text("A red boat").count() == 0
    page.evaluate("document.querySelector('[data-alttext-field]').dataset.alttextUrl = ''")
    page.locator(".alttext-panel").wait_for(state="detached")


def test_a_container_that_comes_later_asks_by_itself_once(form_tab, make_placement):
    placement = make_placement()
    page = open_form(form_tab, placement)
    address = reverse("alttext:field", args=["imagefields", placement.key])
    page.evaluate(
        f"""() => {{
          const late = document.createElement("div");
          late.dataset.alttextField = "id_caption";
          late.dataset.alttextUrl = "{address}";
          late.dataset.alttextAsk = "";
          document.querySelector("#content").append(late);
        }}"""
    )
    page.locator("[data-alttext-field=id_caption]").get_by_text("The captioner is at work.").wait_for()
    assert placement.jobs.count() == 1
