"""What authors do, by keyboard: where focus goes, what is announced, and that nothing typed is ever lost."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from alttext import workers
from alttext.operations import decisions

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def press_until(tab, name, *, key="Tab", most=40):
    """Press a key until the element with these words or this id has focus."""
    for _ in range(most):
        tab.page.keyboard.press(key)
        _, id, words = tab.focused()
        if name in (id, words) or words.startswith(name):
            return
    raise AssertionError(f"{name!r} was not reached by {key}")


def wait_for_focus(tab, tag, words=""):
    """Wait until an element of this tag, with these words, has focus."""
    tab.page.wait_for_function(
        "([tag, words]) => { const e = document.activeElement;"
        " return e.tagName.toLowerCase() === tag && e.innerText.includes(words) }",
        arg=[tag, words],
    )


def test_from_queue_to_saved_to_next_to_undone_with_the_keyboard_only(tab, desk, make_placement, illustration_of):
    placement, _ = desk
    following = make_placement(title="The lighthouse")
    page = tab.open(path=reverse("alttext:queue"))
    press_until(tab, "Ferry to the island")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{placement.get_absolute_url()}")
    press_until(tab, f"text-{placement.pk}")
    page.keyboard.press("End")
    page.keyboard.type(" in the morning")
    press_until(tab, f"next-{placement.pk}")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{following.get_absolute_url()}**")
    wait_for_focus(tab, "h1", "The lighthouse")
    page.get_by_text("Saved the text of").wait_for()
    assert illustration_of(placement).alt_text == "A red boat at a quay in the morning"
    page.go_back()
    page.wait_for_url(f"**{placement.get_absolute_url()}")
    page.get_by_role("heading", name="History").wait_for()
    press_until(tab, f"undo-{placement.pk}")
    page.keyboard.press("Enter")
    wait_for_focus(tab, "h2", "Undone")
    assert illustration_of(placement).alt_text == ""
    assert tab.box().input_value() == "A red boat at a quay"


def test_shortcuts_do_the_same_and_can_be_switched_off(tab, desk, make_placement, illustration_of):
    placement, _ = desk
    following = make_placement(title="The lighthouse")
    page = tab.open(path=reverse("alttext:keys"))
    page.get_by_role("button", name="Keyboard shortcuts: on").click()
    assert page.get_by_role("button", name="Keyboard shortcuts: off").get_attribute("aria-pressed") == "false"
    tab.open(placement)
    tab.box().focus()
    page.keyboard.press("Control+Enter")
    page.keyboard.press("Alt+Shift+D")
    page.wait_for_timeout(300)
    assert placement.decisions.count() == 0
    tab.open(path=reverse("alttext:keys"))
    page.get_by_role("button", name="Keyboard shortcuts: off").click()
    tab.open(placement)
    page.keyboard.press("Alt+Shift+D")
    wait_for_focus(tab, "h2", "Marked as decorative")
    page.keyboard.press("Alt+Shift+U")
    wait_for_focus(tab, "h2", "Undone")
    page.keyboard.press("Alt+Shift+E")
    assert tab.focused()[1] == f"text-{placement.pk}"
    page.keyboard.press("Control+Enter")
    page.wait_for_url(f"**{following.get_absolute_url()}**")
    assert illustration_of(placement).alt_text == "A red boat at a quay"


def test_no_act_leaves_focus_on_the_body(tab, desk, make_placement):
    placement, _ = desk
    make_placement()
    page = tab.open(placement)
    acts = [
        (lambda: page.get_by_role("button", name="Save", exact=True), "Saved"),
        (lambda: page.get_by_role("button", name="Undo"), "Undone"),
        (lambda: page.get_by_role("button", name="Mark as decorative"), "Marked as decorative"),
        (lambda: page.get_by_role("button", name="Undo"), "Undone"),
    ]
    for button, heading in acts:
        button().focus()
        page.keyboard.press("Enter")
        wait_for_focus(tab, "h2", heading)
    page.get_by_text("Reject the suggestion").click()
    page.get_by_role("button", name="Reject", exact=True).focus()
    page.keyboard.press("Enter")
    wait_for_focus(tab, "h2", "Suggestion rejected")
    tab.box().fill("")
    page.get_by_role("button", name="Save", exact=True).focus()
    page.keyboard.press("Enter")
    wait_for_focus(tab, "textarea")
    page.get_by_role("button", name="Get another suggestion").focus()
    page.keyboard.press("Enter")
    wait_for_focus(tab, "h2", "Suggestion")
    page.get_by_text("Role: not known yet").click()
    page.get_by_label("What is the image for").select_option("complex")
    page.get_by_role("button", name="Change the role").focus()
    page.keyboard.press("Enter")
    page.get_by_text("Role: complex").wait_for()
    wait_for_focus(tab, "h2", "Suggestion")


def test_a_late_suggestion_moves_no_focus_and_touches_no_typed_text(tab, make_placement):
    placement = make_placement()
    page = tab.open(placement)
    page.get_by_role("button", name="Get a suggestion").click()
    page.get_by_text("The captioner is at work").wait_for()
    tab.box().focus()
    page.keyboard.type("Half a sen")
    page.evaluate("() => document.activeElement.setSelectionRange(4, 4)")
    assert workers.drain(seconds=20) == 1
    page.get_by_role("button", name="Use this text").first.wait_for()
    assert tab.box().input_value() == "Half a sen"
    assert tab.focused()[1] == f"text-{placement.pk}"
    assert page.evaluate("() => document.activeElement.selectionStart") == 4
    page.wait_for_function("() => document.getElementById('status').innerText.includes('A suggestion has arrived')")
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.wait_for_timeout(2500)
    assert [url for url in requests if "suggestion" in url] == []  # the poll has stopped
    page.keyboard.press("Alt+Shift+Y")
    assert tab.box().input_value() == placement.suggestions.get().text
    page.keyboard.press("Control+z")
    assert tab.box().input_value() == "Half a sen"
    page.get_by_role("button", name="Save", exact=True).click()
    wait_for_focus(tab, "h2", "Saved")
    assert placement.decisions.get().suggestion == placement.suggestions.get()  # it was on the screen


def test_two_editors_the_second_keeps_the_typed_text(tab, tab_of, desk, other_author, illustration_of):
    placement, _ = desk
    page = tab.open(placement)
    other = tab_of(other_author)
    other.open(placement)
    other.box().fill("The other text")
    other.page.get_by_role("button", name="Save", exact=True).click()
    wait_for_focus(other, "h2", "Saved")
    tab.box().fill("My own text")
    page.get_by_role("button", name="Save", exact=True).click()
    wait_for_focus(tab, "h2", "Not saved yet")
    assert tab.box().input_value() == "My own text"
    assert page.get_by_text("The other text").count() >= 1
    page.wait_for_function("() => document.getElementById('status').innerText.includes('Not saved')")
    page.get_by_role("button", name="Save", exact=True).click()
    wait_for_focus(tab, "h2", "Saved")
    assert illustration_of(placement).alt_text == "My own text"


def test_a_draft_survives_a_reload_and_going_away_and_is_gone_once_saved(tab, desk, make_placement):
    placement, _ = desk
    other = make_placement()
    page = tab.open(placement)
    tab.box().fill("Half a thought")
    page.reload()
    assert tab.box().input_value() == "Half a thought"
    tab.open(other)
    assert tab.box().input_value() == ""
    tab.open(placement)
    assert tab.box().input_value() == "Half a thought"
    page.wait_for_function("() => document.getElementById('status').innerText.includes('Your unsaved text is back')")
    page.get_by_role("button", name="Save", exact=True).click()
    wait_for_focus(tab, "h2", "Saved")
    kept = page.evaluate("() => Object.keys(sessionStorage)")
    assert [key for key in kept if key.startswith("alttext")] == []


def test_a_draft_that_comes_back_does_not_overwrite_what_somebody_saved_meanwhile(
    tab, desk, other_author, illustration_of
):
    placement, suggestion = desk
    page = tab.open(placement)
    tab.box().fill("Half a thought")
    decisions.save_text(
        placement=placement,
        text="Theirs",
        seen=decisions.seen(placement, suggestion),
        by=other_author,
        at=timezone.now(),
    )
    page.reload()
    assert tab.box().input_value() == "Half a thought"
    page.get_by_role("button", name="Save", exact=True).click()
    wait_for_focus(tab, "h2", "Not saved yet")
    assert illustration_of(placement).alt_text == "Theirs"
    assert tab.box().input_value() == "Half a thought"


def test_an_ended_session_keeps_the_text_and_a_new_sign_in_saves_it(tab, desk, illustration_of):
    placement, _ = desk
    page = tab.open(placement)
    tab.box().fill("Written before the session ended")
    tab.sign_out()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("link", name="Sign in (new tab)").wait_for()
    assert "Your text is still in the box" in tab.status()
    assert placement.image_name in tab.status()
    assert tab.box().input_value() == "Written before the session ended"
    tab.context.clear_cookies()  # signing in makes a new secret for the forms, too
    tab.sign_in()
    page.evaluate("() => window.dispatchEvent(new Event('focus'))")
    page.wait_for_function("() => document.getElementById('status').innerText.includes('signed in again')")
    page.get_by_role("button", name="Save", exact=True).click()
    wait_for_focus(tab, "h2", "Saved")
    assert illustration_of(placement).alt_text == "Written before the session ended"
    tab.forgive("Response Status Error Code 403")  # a check of the text that was on its way when the cookies went
    tab.forgive("Response Status Error Code 401")


def test_a_dropped_connection_is_told_and_the_text_stays(tab, desk):
    placement, _ = desk
    page = tab.open(placement)
    page.route("**/save/", lambda route: route.abort())
    tab.box().fill("Written on a train")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_function("() => document.getElementById('status').innerText.includes('no connection')")
    assert tab.box().input_value() == "Written on a train"
    page.unroute("**/save/")
    page.get_by_role("button", name="Save", exact=True).click()
    wait_for_focus(tab, "h2", "Saved")
    tab.forgive("net::ERR_FAILED", "htmx:sendError", "htmx:afterRequest")


def test_a_broken_site_is_told_in_words(tab, desk):
    placement, _ = desk
    page = tab.open(placement)
    page.route("**/save/", lambda route: route.fulfill(status=500, body="<h1>boom</h1>"))
    tab.box().fill("My words")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_function("() => document.getElementById('status').innerText.includes('the site made a mistake')")
    assert tab.box().input_value() == "My words"
    assert "boom" not in page.content()
    tab.forgive("Response Status Error Code 500")


def test_who_lost_all_cookies_is_asked_to_sign_in_and_keeps_the_text(tab, desk):
    placement, _ = desk
    page = tab.open(placement)
    tab.box().fill("My words")
    tab.context.clear_cookies()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("link", name="Sign in (new tab)").wait_for()
    assert tab.box().input_value() == "My words"
    tab.forgive("Response Status Error Code 403")


def test_a_second_press_of_save_and_next_does_not_save_the_next_text_unread(tab, desk, make_placement, suggest):
    placement, _ = desk
    following = make_placement(title="The lighthouse")
    suggest(following, "Nobody has read this")
    page = tab.open(placement)
    tab.box().focus()
    page.keyboard.press("Control+Enter")
    page.wait_for_url(f"**{following.get_absolute_url()}**")
    page.keyboard.press("Control+Enter")
    page.wait_for_timeout(300)
    assert following.decisions.count() == 0


def test_a_draft_is_not_shown_to_the_next_person_in_the_same_tab(tab, desk, other_author):
    placement, _ = desk
    page = tab.open(placement)
    tab.box().fill("A private draft")
    tab.user = other_author
    tab.sign_in()
    tab.open(placement)
    assert "A private draft" not in tab.box().input_value()
    assert page.url.endswith(placement.get_absolute_url())


def test_what_is_typed_while_saving_is_not_lost(tab, desk, illustration_of):
    placement, _ = desk
    page = tab.open(placement)
    held = []
    page.route("**/save/", lambda route: held.append(route))
    tab.box().fill("First words")
    page.keyboard.press("Alt+Shift+S")
    page.wait_for_timeout(200)
    page.keyboard.type(", and more")
    held[0].continue_()
    page.get_by_role("heading", name="Saved", exact=True).wait_for()
    page.wait_for_function("() => document.activeElement.tagName === 'TEXTAREA'")
    assert tab.box().input_value() == "First words, and more"
    assert illustration_of(placement).alt_text == "First words"
    page.keyboard.type("!")
    assert tab.box().input_value() == "First words, and more!"


def test_a_double_click_sends_one_request_and_makes_one_decision(tab, desk):
    placement, _ = desk
    page = tab.open(placement)
    sent = []
    page.on("request", lambda request: sent.append(request.url) if request.url.endswith("/save/") else None)
    page.get_by_role("button", name="Save", exact=True).dblclick()
    wait_for_focus(tab, "h2", "Saved")
    assert placement.decisions.count() == 1
    assert len(sent) == 1


def test_counter_and_notes_follow_the_typing_and_are_tied_to_the_box(tab, desk):
    placement, _ = desk
    page = tab.open(placement)
    tab.box().fill("photo of 👨‍👩‍👧")
    assert page.locator(f"#count-{placement.pk}").inner_text().startswith("10 characters")
    page.get_by_text("The text begins with “photo of”.").wait_for()
    ids = tab.box().get_attribute("aria-describedby").split()
    assert f"findings-{placement.pk}" in ids
    assert all(page.locator(f"#{id}").count() == 1 for id in ids)
    assert tab.focused()[1] == f"text-{placement.pk}"


def test_active_seconds_and_an_emptied_box_are_recorded(tab, desk):
    placement, _ = desk
    page = tab.open(placement)
    tab.box().fill("")
    page.keyboard.type("A boat")
    page.wait_for_timeout(300)
    page.get_by_role("button", name="Save", exact=True).click()
    wait_for_focus(tab, "h2", "Saved")
    decision = placement.decisions.get()
    assert decision.cleared
    assert 0.2 <= decision.active_seconds < 60


def test_htmx_runs_with_the_settings_that_keep_it_harmless(tab, desk):
    placement, _ = desk
    page = tab.open(placement)
    config = page.evaluate("() => htmx.config")
    for name in (
        "allowEval",
        "allowScriptTags",
        "allowNestedOobSwaps",
        "includeIndicatorStyles",
        "historyRestoreAsHxRequest",
    ):
        assert config[name] is False, name
    assert config["selfRequestsOnly"] is True
    assert config["defaultSettleDelay"] == 0  # until it has settled, a new button would be sent without htmx
    swapped = {}
    for code in ("200", "204", "302", "401", "403", "404", "409", "422", "500"):
        rule = next(rule for rule in config["responseHandling"] if re.search(rule["code"], code))
        swapped[code] = rule["swap"]
    assert [code for code, swap in swapped.items() if swap] == ["200", "302", "409", "422"]
    assert page.evaluate("() => htmx.version").startswith("2.0.")


def test_hostile_text_runs_nothing_in_a_browser(tab, make_placement, suggest):
    hostile = (
        '"><b hx-get="/x" hx-trigger="load">x</b><img src=x onerror="document.title=1">'
        '<div hx-swap-oob="true" id="status">'
    )
    placement = make_placement(title=hostile[:190], text_before=hostile, caption=hostile)
    suggest(placement, hostile, when=timezone.now(), flags=[hostile], evidence={"lines": [hostile]})
    asked = []
    page = tab.page
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/x") else None)
    tab.open(placement)
    page.get_by_role("button", name="Save", exact=True).click()
    wait_for_focus(tab, "h2", "Saved")
    tab.open(path=f"{reverse('alttext:queue')}?state=all")
    assert asked == []
    assert page.title() != "1"
    assert page.locator("#status").count() == 1


def test_filters_change_the_list_keep_focus_and_can_be_gone_back_from(tab, desk, make_placement):
    make_placement(title="Leuchtturm", language="de")
    page = tab.open(path=reverse("alttext:queue"))
    page.get_by_label("Language").focus()
    page.get_by_label("Language").select_option("de")
    page.get_by_role("link", name="Ferry to the island").wait_for(state="detached")
    assert tab.focused()[1] == "filter-language"
    page.wait_for_function("() => document.getElementById('status').innerText.includes('1 image listed')")
    assert "language=de" in page.url
    page.get_by_label("Page, file or text").fill("nowhere")
    page.get_by_text("No image matches these filters.").wait_for()
    assert tab.focused()[1] == "filter-search"
    page.reload()
    page.get_by_text("No image matches these filters.").wait_for()
    page.get_by_role("link", name="Clear the filters").click()
    page.get_by_role("link", name="Ferry to the island").wait_for()


def test_the_editor_works_with_scripts_off(tab_of, author, desk, illustration_of):
    placement, _ = desk
    tab = tab_of(author, java_script_enabled=False)
    page = tab.open(placement)
    assert page.get_by_role("button", name="Use this text").count() == 0  # it would do nothing
    tab.box().fill("")
    page.get_by_role("button", name="Save", exact=True).click()
    assert page.get_by_text("To leave it without text").first.is_visible()
    tab.box().fill("Written without scripts")
    page.get_by_role("button", name="Save", exact=True).click()
    assert "Saved." in tab.status()
    assert illustration_of(placement).alt_text == "Written without scripts"
    page.get_by_role("button", name="Undo").click()
    assert illustration_of(placement).alt_text == ""


def test_the_second_save_of_one_author_is_no_conflict_and_decisions_are_seen_at_once(tab, desk, author):
    placement, suggestion = desk
    page = tab.open(placement)
    decisions.save_text(
        placement=placement,
        text="From a phone",
        seen=decisions.seen(placement, suggestion),
        by=author,
        at=timezone.now(),
    )
    tab.box().fill("From the desk")
    page.get_by_role("button", name="Save", exact=True).click()
    wait_for_focus(tab, "h2", "Saved")
    assert page.locator(".history li").count() == 2


def test_the_role_is_found_by_questions_with_the_keyboard_only(tab, desk):
    placement, _ = desk
    page = tab.open(placement)
    page.locator("summary", has_text="Role:").focus()
    page.keyboard.press("Enter")
    press_until(tab, f"ask-me-{placement.pk}")
    page.keyboard.press("Enter")
    wait_for_focus(tab, "h3", "Does the image contain words?")
    for question in ("only content of a link", "add something", "a chart", "say the same already"):
        press_until(tab, "No" if "add" not in tab.focused()[2] else "Yes")
        page.keyboard.press("Enter")
        wait_for_focus(tab, "h3", question)
    press_until(tab, "No")
    page.keyboard.press("Enter")
    wait_for_focus(tab, "h3", "Informative")
    press_until(tab, "Use this role")
    page.keyboard.press("Enter")
    page.get_by_text("The role was recorded").wait_for()
    placement.refresh_from_db()
    assert placement.chosen_role == "informative"
