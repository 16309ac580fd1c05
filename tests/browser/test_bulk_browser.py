"""Several images at once by keyboard, and the pages of files: focus, what is announced, axe, 320 pixels."""

from __future__ import annotations

import pytest
from django.urls import reverse
from django.utils import timezone

from alttext import exchange
from alttext.models import Decision, Placement
from tests.browser.test_accessibility import WIDTHS, look, overflow
from tests.browser.test_journeys import press_until, wait_for_focus

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
QUEUE = reverse("alttext:queue")


@pytest.fixture
def four(make_placement, suggest):
    """Four images with a suggestion each; the last one's is marked for a second look."""
    names = ("The ferry", "The quay", "The lighthouse", "Donaudampfschifffahrtsgesellschaftskapitän" * 2)
    rows = [make_placement(title=name) for name in names]
    for number, row in enumerate(rows):
        suggest(row, f"image of a red boat, number {number}", when=timezone.now(), flags=["url"] if number == 3 else ())
    return rows


def tick(tab, placements):
    for placement in placements:
        press_until(tab, f"pick-{placement.pk}")
        tab.page.keyboard.press("Space")


def arrive(tab, heading):
    """Wait for the next page; its heading has focus."""
    tab.page.get_by_role("heading", name=heading, exact=True).wait_for()
    wait_for_focus(tab, "h1", heading)


def test_three_are_chosen_looked_at_accepted_and_taken_back_with_the_keyboard_only(tab, four, illustration_of):
    page = tab.open(path=QUEUE)
    tick(tab, four[:3])
    press_until(tab, "bulk-accept")
    page.keyboard.press("Enter")
    arrive(tab, "Accept suggestions: 3 images")
    tab.page.get_by_role("status").get_by_text("Nothing is written yet.").wait_for()
    assert not Decision.objects.exists()
    press_until(tab, "bulk-confirm")
    page.keyboard.press("Enter")
    arrive(tab, "3 suggestions accepted")
    tab.page.get_by_role("status").get_by_text("3 suggestions accepted.").wait_for()
    assert [illustration_of(row).alt_text for row in four] == [
        *(f"image of a red boat, number {number}" for number in range(3)),
        "",
    ]
    press_until(tab, "bulk-undo")
    page.keyboard.press("Enter")
    arrive(tab, "3 acts taken back")
    assert [illustration_of(row).alt_text for row in four] == [""] * 4
    press_until(tab, "bulk-back")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Queue", exact=True).wait_for()
    assert Decision.objects.count() == 6


def test_without_scripts_all_of_the_page_are_chosen_by_one_box(tab_of, author, four, illustration_of):
    tab = tab_of(author, java_script_enabled=False)
    page = tab.open(path=QUEUE)
    page.get_by_label("Choose all 4 on this page").check()
    page.get_by_role("button", name="Accept suggestions").click()
    page.get_by_role("heading", name="Left out: 1").wait_for()
    page.get_by_label("Include image 2").uncheck()
    page.get_by_role("button", name="Accept the ticked suggestions").click()
    page.get_by_role("heading", name="2 suggestions accepted").wait_for()
    assert [bool(illustration_of(row).alt_text) for row in four] == [True, False, True, False]


@pytest.mark.parametrize("width", [*WIDTHS, "smallest"])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(tab_of, author, four, width, tmp_path):
    tab = tab_of(author, viewport=WIDTHS.get(width, {"width": 320, "height": 640}))
    page, found, wide = tab.page, [], {}

    def see(name):
        wide[name] = overflow(tab)
        if width != "smallest":
            found.extend(look(tab, name))

    tab.open(path=QUEUE)
    see("bulk-queue")
    page.get_by_label("Choose all 4 on this page").check()
    page.get_by_role("button", name="Reject suggestions").click()
    page.get_by_label("What is wrong with them?").wait_for()
    see("bulk-reject")
    tab.open(path=QUEUE)
    page.get_by_label("Choose all 4 on this page").check()
    page.get_by_role("button", name="Accept suggestions").click()
    page.get_by_role("heading", name="Left out: 1").wait_for()
    see("bulk-preview")
    Placement.objects.filter(pk=four[0].pk).update(current_alt="Theirs", state="DONE")
    page.get_by_role("button", name="Accept the ticked suggestions").click()
    page.get_by_role("heading", name="2 suggestions accepted, 1 skipped").wait_for()
    see("bulk-result")
    tab.open(path=reverse("alttext:exchange"))
    see("exchange")
    file = tmp_path / "texts.csv"
    text = "".join(exchange.sheet_lines(exchange.rows(user=author)))
    file.write_text(text.replace(",no,", ",NO ,"), encoding="utf-8", newline="")
    page.get_by_label("File").set_input_files(file)
    page.get_by_role("button", name="Show what would change").click()
    page.get_by_role("heading", name="0 changes in texts.csv").wait_for()
    see("exchange-unchanged")
    file.write_text("nothing of ours", encoding="utf-8")
    tab.open(path=reverse("alttext:exchange"))
    page.get_by_label("File").set_input_files(file)
    page.get_by_role("button", name="Show what would change").click()
    page.get_by_text("Nothing was read:").wait_for()
    see("exchange-unreadable")
    assert found == []
    assert {name: pixels for name, pixels in wide.items() if pixels > 0} == {}


def test_every_box_and_button_is_at_least_24_pixels(tab, four):
    small = []
    page = tab.open(path=QUEUE)
    for step in ("queue", "preview"):
        small += page.evaluate(
            """(step) => [...document.querySelectorAll("main button, main input, main .pick a")]
                .filter((e) => e.checkVisibility() && e.type !== "hidden")
                .map((e) => [step + e.outerHTML.slice(0, 80), e.getBoundingClientRect()])
                .filter(([, box]) => box.width < 24 || box.height < 24).map(([html]) => html)""",
            step,
        )
        if step == "queue":
            page.get_by_label("Choose all 4 on this page").check()
            page.get_by_role("button", name="Accept suggestions").click()
            page.get_by_role("heading", name="Left out: 1").wait_for()
    assert small == []


def test_a_file_with_a_change_and_a_refusal_is_shown_without_a_violation_and_saved(
    tab, author, four, make_placement, tmp_path, illustration_of
):
    from tests.alttext.test_exchange import table, written

    rows = table("".join(exchange.sheet_lines(exchange.rows(user=author))).encode())
    rows[0]["text"], rows[1]["text"], rows[1]["seen"] = "A ferry in a storm", "Another", "damaged"
    file = tmp_path / "texts.csv"
    file.write_bytes(written(rows))
    page = tab.open(path=reverse("alttext:exchange"))
    page.get_by_label("File").set_input_files(file)
    page.get_by_role("button", name="Show what would change").click()
    arrive(tab, "1 change in texts.csv")
    assert look(tab, "exchange-preview") == []
    press_until(tab, "exchange-confirm")
    page.keyboard.press("Enter")
    arrive(tab, "1 text saved")
    assert illustration_of(four[0]).alt_text == "A ferry in a storm"
    press_until(tab, "bulk-undo")
    page.keyboard.press("Enter")
    arrive(tab, "1 act taken back")
    assert illustration_of(four[0]).alt_text == ""
