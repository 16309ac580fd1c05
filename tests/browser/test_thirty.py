"""Thirty mixed images, worked through by keyboard alone, and once more by roles and names, as a screen reader has them.

Prints key presses and seconds for each image (`pytest -s`). Seconds are the machine's, not a person's.
"""

from __future__ import annotations

import time

import pytest
from django.urls import reverse
from django.utils import timezone

from alttext.models import Decision, Later, Placement, Suggestion

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
READING_MS = 2000  # keys that act are deaf at first, so that no press meant for the last image meets this one
KINDS = ("accept", "edit", "write", "decorative", "reject", "later")


@pytest.fixture
def thirty(make_placement, suggest):
    """Five images of each kind; what is to be done with one stands in its page title."""
    made = []
    for number in range(30):
        kind = KINDS[number % len(KINDS)]
        placement = make_placement(title=f"{kind} {number}")
        if kind == "write":
            suggest(placement, reasons=["nothing_supported"], when=timezone.now())
        else:
            suggest(placement, f"A red boat, number {number}", when=timezone.now())
        made.append(placement)
    return made


class Keys:
    """A keyboard that counts."""

    def __init__(self, page) -> None:
        self.page, self.count = page, 0

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)
        self.count += 1

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)
        self.count += len(text)


def wait_for_page(page, after: str) -> str:
    """The title of the page that comes after `after`; empty once the queue is shown."""
    page.wait_for_function("after => document.querySelector('h1')?.innerText !== after", arg=after)
    page.wait_for_load_state()
    title = page.locator("h1").inner_text()
    return "" if title == "Queue" else title


def check_what_came_of_it(thirty) -> None:
    for placement in thirty:
        kind, number = placement.page_title.split()
        placement.refresh_from_db()
        suggestion = Suggestion.objects.filter(placement=placement).latest("pk")
        if kind == "accept":
            assert (placement.current_alt, suggestion.state) == (f"A red boat, number {number}", "AS_IS")
        elif kind == "edit":
            assert (placement.current_alt, suggestion.state) == (f"A red boat, number {number} today", "EDITED")
        elif kind == "write":
            assert placement.current_alt == "A boat"
        elif kind == "decorative":
            assert (placement.decorative, suggestion.state) == (True, "DECORATIVE")
        elif kind == "reject":
            assert (placement.current_alt, suggestion.state) == ("Gulls above grey roofs", "REPLACED")
        else:
            assert (placement.state, placement.version) == (Placement.State.OFFERED, 0)
    assert Decision.objects.count() == 25
    assert Later.objects.count() == 5


def test_by_keyboard_alone(tab, thirty):
    tab.page.clock.install()
    page = tab.open(path=reverse("alttext:next"))
    keys, title, begun, used = Keys(page), page.locator("h1").inner_text(), time.perf_counter(), {}
    while title:
        kind, before = title.split()[0], keys.count
        page.clock.fast_forward(READING_MS)
        if kind == "later":
            keys.press("Alt+Shift+K")
        elif kind == "decorative":
            keys.press("Alt+Shift+D")
            page.get_by_role("heading", name="Marked as decorative").wait_for()
            keys.press("Alt+Shift+K")
        else:
            keys.press("Alt+Shift+E")
            if kind == "edit":
                keys.press("End")
                keys.type(" today")
            elif kind == "write":
                keys.type("A boat")
            elif kind == "reject":
                keys.press("Control+a")
                keys.type("Gulls above grey roofs")
            keys.press("Control+Enter")
        used.setdefault(kind, []).append(keys.count - before)
        title = wait_for_page(page, title)
    seconds = (time.perf_counter() - begun) / len(thirty)
    presses = ", ".join(f"{kind} {sum(counts) / len(counts):.0f}" for kind, counts in used.items())
    print(f"\n{keys.count / len(thirty):.1f} key presses an image ({presses}); {seconds:.2f} s an image")
    check_what_came_of_it(thirty)


def test_by_roles_and_names_alone(tab, thirty):
    page = tab.open(path=reverse("alttext:queue"))
    page.get_by_role("link", name="Start with the first image").click()
    title, begun = wait_for_page(page, "Queue"), time.perf_counter()
    while title:
        kind = title.split()[0]
        assert page.get_by_role("heading", name=title, level=1).is_visible()
        box = page.get_by_role("textbox", name="Alternative text", exact=True)
        if kind == "later":
            page.get_by_role("button", name="Not now").click()
        elif kind == "decorative":
            page.get_by_role("button", name="Mark as decorative").click()
            page.get_by_role("link", name="Next:").or_(page.get_by_role("link", name="Back to the queue")).click()
        else:
            if kind == "edit":
                box.fill(box.input_value() + " today")
            elif kind == "write":
                assert page.get_by_text("No suggestion this time.").is_visible()
                box.fill("A boat")
            elif kind == "reject":
                box.fill("Gulls above grey roofs")
            page.get_by_role("button", name="Save and next").click()
        title = wait_for_page(page, title)
    print(f"\n{(time.perf_counter() - begun) / len(thirty):.2f} s an image by roles and names")
    check_what_came_of_it(thirty)
