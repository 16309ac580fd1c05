"""What authors do in the editor of django CMS, in a real browser: from the upload to what readers get."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from cms.api import add_plugin
from cms.models import CMSPlugin
from cms.toolbar.utils import get_object_edit_url, get_object_structure_url
from django.test import Client
from djangocms_versioning.models import Version
from filer.models import Image

from alttext import workers
from alttext.contrib.djangocms import editing
from alttext.models import Decision, Job, Placement
from tests.browser.conftest import SHOTS, browser, tab_of  # noqa: F401
from tests.browser.test_journeys import press_until
from tests.conftest import picture
from tests.contrib.djangocms.desk import (
    add_url,
    draft,
    edit_url,
    editor,
    forget_types,
    library_image,
    newest,
    publish,
    words,
)

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
PATIENCE_MS = 60_000  # the editor loads a megabyte of scripts
DROP = """(zone, [data, name]) => {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const files = new DataTransfer();
  files.items.add(new File([bytes], name, { type: "image/png" }));
  zone.dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
}"""
CHOOSE = """([id, value]) => {
  const input = document.getElementById(id);
  input.value = value;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}"""  # what the library's window does in the form that opened it


@pytest.fixture
def user(transactional_db):
    forget_types()
    return editor()


@pytest.fixture
def tab(tab_of, user):  # noqa: F811
    made = tab_of(user)
    made.page.set_default_timeout(PATIENCE_MS)
    return made


def keep(tab, name):
    """Pictures of the page, wide and narrow, where a folder for them is named."""
    if SHOTS:
        for width in (1280, 360):
            tab.page.set_viewport_size({"width": width, "height": 900})
            tab.page.screenshot(path=str(Path(SHOTS) / f"djangocms-{name}-{width}.png"), full_page=True)
        tab.page.set_viewport_size({"width": 1280, "height": 900})


def choose(page, image, field="picture"):
    """Take an image of the library."""
    page.evaluate(CHOOSE, [f"id_{field}", str(image.pk)])


def box_in(page):
    """The field of the form, not the panel beside it."""
    return page.get_by_role("textbox", name="Alternative text")


def get_suggestion(page):
    """Wait until one was asked for, let the worker answer, and give the text."""
    page.get_by_text("The captioner is at work").wait_for()
    assert workers.drain(seconds=30) == 1
    page.get_by_role("button", name="Use this text").first.wait_for()
    return page.locator(".alttext-panel .offered").inner_text()


def saved(page, plugin_type):
    """Press Save in a form that fills the window; the plugin."""
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator("#data-bridge").wait_for(state="attached")
    return CMSPlugin.objects.filter(plugin_type=plugin_type).order_by("-pk").first().get_bound_plugin()


def as_readers_see(page_of_site, language="en"):
    """The HTML of the public page."""
    answer = Client().get(page_of_site.get_absolute_url(language))
    assert answer.status_code == 200
    return answer.content.decode()


def test_from_the_upload_to_the_public_page(tab, user):
    content = draft(user)
    words(content, "The ferry leaves the old quay at nine. It is painted red.")
    page = tab.open(path=get_object_structure_url(content.source, "en"))
    page.locator(".cms-dragarea .cms-dragbar .cms-submenu-add").first.click()
    page.locator(".cms-modal .cms-submenu-item a[href='PicturePlugin']").first.click()
    form = page.frame_locator(".cms-modal-iframe iframe")
    data = base64.b64encode(picture()).decode()
    form.locator(".js-filer-dropzone").evaluate(DROP, [data, "boat.png"])
    suggested = get_suggestion(form)
    form.get_by_role("button", name="Use this text").click()
    box = box_in(form)
    assert box.input_value() == suggested
    form.locator(".alttext-status", has_text="The suggestion stands in the field").wait_for()
    box.press("End")
    box.press_sequentially(" of the ferry")
    page.locator(".cms-modal-buttons").get_by_text("Save").click()
    page.locator(".cms-modal").wait_for(state="hidden")
    page.wait_for_load_state("networkidle")
    plugin = CMSPlugin.objects.get(plugin_type="PicturePlugin").get_bound_plugin()
    assert plugin.picture == Image.objects.get(original_filename="boat.png")
    assert plugin.attributes == {"alt": f"{suggested} of the ferry"}
    decision = Decision.objects.get()
    assert (decision.outcome, decision.by, decision.placement.key) == ("EDITED", user, editing.key_of(plugin))
    assert decision.suggestion.text == suggested
    page.get_by_text("Publish", exact=True).click()
    page.wait_for_load_state("networkidle")
    public = as_readers_see(content.source.page)
    assert public.count("<img") == 1
    assert public.count(f'alt="{suggested} of the ferry"') == 1
    assert public.count(" alt=") == 1


def test_decorative_in_the_second_language_is_an_empty_alt_there_and_nowhere_else(tab, user):
    english = draft(user)
    image = library_image("wave.png", default="A wave", owner=user)
    shown = {"picture": {"model": "filer.image", "pk": image.pk}, "attributes": {"alt": "A wave between two dots"}}
    add_plugin(english, "ImagePlugin", "en", config=shown).initialize_from_form().save()
    german = draft(user, title="Fähre zur Insel", language="de", page=english.source.page)
    page = tab.open(path=add_url(german, "ImagePlugin", language="de"))
    box, tick = box_in(page), page.get_by_label("Decorative")
    box.fill("Eine Welle")
    tick.check()
    assert box.evaluate("(box) => box.readOnly")
    tick.uncheck()
    assert (box.evaluate("(box) => box.readOnly"), box.input_value()) == (False, "Eine Welle")
    tick.check()
    choose(page, image)
    page.get_by_text("The captioner is at work").wait_for()
    assert workers.drain(seconds=30) == 1
    page.get_by_text("does not write in the language of this page").wait_for()
    assert box.input_value() == "Eine Welle"
    plugin = saved(page, "ImagePlugin")
    assert plugin.config["attributes"] == {"alt": ""}
    publish(german.source.page, user)
    publish(german.source.page, user, "de")
    assert as_readers_see(german.source.page, "de").count(' alt=""') == 1
    assert ' alt="A wave between two dots"' in as_readers_see(german.source.page, "en")
    decision = Placement.objects.get(key=editing.key_of(plugin)).decisions.get()
    assert (decision.act, decision.final_decorative) == (Decision.Act.DECORATIVE, True)


def test_the_image_of_the_component_library_is_suggested_for_used_and_shown_once(tab, user):
    content = draft(user)
    page = tab.open(path=add_url(content, "ImagePlugin"))
    choose(page, library_image("boat.png", owner=user))
    suggested = get_suggestion(page)
    keep(tab, "component-form")
    page.get_by_role("button", name="Use this text").click()
    plugin = saved(page, "ImagePlugin")
    assert plugin.config["attributes"] == {"alt": suggested}
    decision = Placement.objects.get(key=editing.key_of(plugin)).decisions.get()
    assert (decision.outcome, decision.final_text) == ("AS_IS", suggested)
    publish(content.source.page, user)
    public = as_readers_see(content.source.page)
    assert public.count(f'alt="{suggested}"') == public.count(" alt=") == public.count("<img") == 1


def test_another_image_has_another_panel_and_the_saved_one_has_its_own_again(tab, user):
    content = draft(user)
    first, second = library_image("first.png", owner=user), library_image("second.png", owner=user)
    plugin = add_plugin(content, "PicturePlugin", "en", picture=first)
    page = tab.open(path=edit_url(plugin))
    container = page.locator("[data-alttext-field]")
    own = container.get_attribute("data-alttext-url")
    assert own.endswith(f"{editing.key_of(plugin)}/")
    choose(page, second)
    get_suggestion(page)
    assert "/new:" in container.get_attribute("data-alttext-url")
    page.locator(".filerClearer").first.click()
    page.wait_for_function("() => document.querySelector('[data-alttext-field]').dataset.alttextUrl === ''")
    assert page.locator(".alttext-panel").count() == 0
    choose(page, first)
    page.locator(".alttext-panel").wait_for()
    assert container.get_attribute("data-alttext-url") == own
    assert page.locator("#id_alttext_text_key").input_value() == ""


def test_a_new_draft_of_a_published_page_asks_nothing_anew(tab, user, at):
    content = draft(user)
    page = tab.open(path=add_url(content, "PicturePlugin"))
    choose(page, library_image("boat.png", owner=user))
    suggested = get_suggestion(page)
    page.get_by_role("button", name="Use this text").click()
    plugin = saved(page, "PicturePlugin")
    placement, jobs = Placement.objects.get(key=editing.key_of(plugin)), Job.objects.count()
    publish(content.source.page, user)
    Version.objects.get_for_content(newest(content.source.page)).copy(user)
    copy = CMSPlugin.objects.filter(plugin_type="PicturePlugin").order_by("-pk").first()
    assert copy.pk != plugin.pk
    page = tab.open(path=edit_url(copy))
    page.locator(".alttext-panel .offered", has_text=suggested).wait_for()
    assert box_in(page).input_value() == suggested
    assert editing.key_of(copy) == placement.key
    assert Job.objects.count() == jobs
    assert Placement.objects.filter(adapter="djangocms", key__startswith="page:").count() == 1


def test_an_error_in_the_form_loses_neither_the_text_nor_the_panel(tab, user):
    content = draft(user)
    page = tab.open(path=add_url(content, "PicturePlugin"))
    choose(page, library_image("boat.png", owner=user))
    suggested = get_suggestion(page)
    page.get_by_role("button", name="Use this text").click()
    page.get_by_text("Advanced settings").first.click()
    page.locator("#id_width").evaluate("(input) => { input.type = 'text'; input.value = 'wide'; }")
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator(".errorlist").first.wait_for(state="attached")
    page.locator(".alttext-panel .offered", has_text=suggested).wait_for()
    assert box_in(page).input_value() == suggested
    page.locator("#id_width").evaluate("(input) => { input.value = ''; }")
    tab.forgive('"wide" cannot be parsed')  # put there by the form itself, as it was posted
    plugin = saved(page, "PicturePlugin")
    assert Placement.objects.get(key=editing.key_of(plugin)).decisions.get().outcome == "AS_IS"


def test_the_form_by_keyboard_only_and_axe_finds_nothing_in_our_part(tab, user):
    from axe_playwright_python.sync_playwright import Axe

    content = draft(user)
    plugin = add_plugin(content, "PicturePlugin", "en", picture=library_image("boat.png", owner=user))
    page = tab.open(path=edit_url(plugin))
    page.get_by_role("button", name="Get a suggestion").focus()
    page.keyboard.press("Enter")
    suggested = get_suggestion(page)
    press_until(tab, "id_external_picture", key="Shift+Tab")
    press_until(tab, "id_alttext_text")
    press_until(tab, "Use this text")
    page.keyboard.press("Enter")
    assert tab.focused()[1] == "id_alttext_text"
    page.keyboard.press("End")
    page.keyboard.type("!")
    page.locator("[data-alttext-count]", has_text=str(len(suggested) + 1)).wait_for()
    press_until(tab, "id_alttext_decorative")
    page.keyboard.press("Space")
    assert page.get_by_label("Decorative").is_checked()
    page.get_by_role("button", name="Use this text").click()
    page.get_by_text("the field is switched off").wait_for()
    assert box_in(page).input_value() == f"{suggested}!"
    page.get_by_label("Decorative").focus()
    page.keyboard.press("Space")
    keep(tab, "picture-form")
    found = {}
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 900})
        found[width] = [
            (violation["id"], [node["target"] for node in violation["nodes"]])
            for violation in Axe().run(page, context=".alttext-stack").response["violations"]
        ]
        assert page.locator(".alttext-stack").evaluate("(e) => e.getBoundingClientRect().right") <= width
    assert found == {1280: [], 360: []}
    page.locator("#id_alttext_text").focus()
    page.set_viewport_size({"width": 1280, "height": 900})
    page.get_by_role("button", name="Save", exact=True).focus()
    page.keyboard.press("Enter")
    page.locator("#data-bridge").wait_for(state="attached")
    plugin.refresh_from_db()
    assert plugin.attributes == {"alt": f"{suggested}!"}


def test_the_toolbar_leads_to_the_open_placement_and_back_to_nothing_to_do(tab, user):
    content = draft(user)
    plugin = add_plugin(content, "PicturePlugin", "en", picture=library_image("boat.png", owner=user))
    placement = Placement.objects.get(key=editing.key_of(plugin))
    page = tab.open(path=get_object_edit_url(content.source, "en"))
    menu = page.get_by_text("Alternative texts (1)")
    menu.click()
    keep(tab, "toolbar-menu")
    page.get_by_text("boat.png: no text yet").click()
    workbench = page.frame_locator(".cms-sideframe-frame iframe")
    workbench.get_by_label("Alternative text", exact=True).fill("A red boat")
    workbench.get_by_role("button", name="Save", exact=True).click()
    workbench.get_by_role("heading", name="Saved", exact=True).wait_for()
    plugin.refresh_from_db()
    assert plugin.attributes == {"alt": "A red boat"}
    assert placement.decisions.get().outcome in (None, "")
    tab.open(path=get_object_edit_url(content.source, "en"))
    page.get_by_text("Alternative texts (0)").wait_for()
