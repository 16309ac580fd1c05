"""What authors do in Wagtail's own editor, in a browser: suggestions beside each alt text, never in the way."""

from __future__ import annotations

import json
import time
import uuid

import html5lib
import pytest
from django.apps import apps
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from alttext import adapters, workers
from alttext.models import Decision, Placement, Suggestion
from alttext.operations import placements
from tests.browser.conftest import SHOTS, browser, tab_of  # noqa: F401

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
ALT = 'input[id$="alt_text"]'


@pytest.fixture(autouse=True)
def _asks_by_itself(settings, live_server, home, collection):
    from wagtail.models import Site

    if apps.is_installed("django.contrib.sites"):  # django CMS wants one at each request
        from django.contrib.sites.models import Site as Host

        Host.objects.get_or_create(pk=1, defaults={"domain": "localhost", "name": "localhost"})
    settings.ALTTEXT = {**settings.ALTTEXT, "AUTOMATIC": True}
    settings.WAGTAIL_ENABLE_UPDATE_CHECK = False
    settings.WAGTAIL_ENABLE_WHATS_NEW_BANNER = False
    settings.WAGTAILADMIN_BASE_URL = live_server.url
    Site.objects.update(hostname="localhost")


@pytest.fixture
def editor(make_editor, home, collection):
    """May write and publish, and change the images of the library."""
    rights = dict.fromkeys(["add", "change", "publish"], home.get_parent())  # of both languages
    return make_editor(pages=rights, images=dict.fromkeys(["add", "change", "choose"], collection))


@pytest.fixture
def desk(tab_of, editor):  # noqa: F811
    """A tab of the editor, and what its requests failed with."""
    tab = tab_of(editor)
    tab.page.set_default_timeout(30_000)
    tab.refused = []

    def hear(answer):
        if answer.status >= 400:
            tab.refused.append((answer.status, answer.url))

    tab.page.on("response", hear)
    yield tab
    assert tab.refused == []


@pytest.fixture
def offer(adapter, suggest):
    """A suggestion that waits for each image of a page, by the end of its key."""

    def make(page, text="A red boat at a quay", ending=""):
        placements.scan(adapter=adapter, at=timezone.now())
        (placement,) = Placement.objects.filter(key__startswith=f"page:{page.pk}:", key__endswith=ending)
        return suggest(placement, text, when=timezone.now())

    return make


def edit(tab, page):
    """Open a page in the editor and wait until the script has looked around."""
    with tab.page.expect_response("**/alttext/uses/**"):
        tab.open(path=reverse("wagtailadmin_pages:edit", args=[page.pk]))
    return settled(tab)


def settled(tab):
    """Wait until Wagtail has taken note of the form as it was opened, two seconds after that: what is changed sooner
    counts as how it was, and is not autosaved. People are not that fast.
    """
    tab.page.wait_for_function(
        "() => window.wagtail.app.getControllerForElementAndIdentifier("
        "document.querySelector('form[data-edit-form]'), 'w-unsaved')?.initialFormData"
    )
    return tab.page


def image_block(image, *, text="", decorative=False, kind="image"):
    value = {"image": image.pk, "alt_text": text, "decorative": decorative}
    return {"type": kind, "value": value, "id": str(uuid.uuid4())}


def block(kind, value):
    return {"type": kind, "value": value, "id": str(uuid.uuid4())}


def insert_image_block(shown, image):
    shown.get_by_role("button", name="Insert a block").last.click()
    shown.get_by_role("option", name="Image", exact=True).click()
    shown.locator(".image-chooser").last.get_by_role("button", name="Choose an image").click()
    choose(shown, image)


def choose(shown, image):
    shown.locator(".modal-body").get_by_role("link", name=image.title).click()
    shown.locator(".modal-body").wait_for(state="detached")


def work():
    """What a worker does meanwhile."""
    assert workers.drain(seconds=20) > 0


def until(condition, seconds=20.0):
    """Wait for what the site does by itself."""
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, "it did not happen"
        time.sleep(0.1)


def publish(tab):
    tab.page.get_by_role("button", name="More actions").click()
    tab.page.get_by_role("button", name="Publish", exact=True).click()
    tab.page.wait_for_url(lambda url: "/edit/" not in url, wait_until="commit")


def public(page, language="en"):
    """The alt texts that readers get."""
    page = type(page).objects.get(pk=page.pk)
    answer = Client().get(page.get_url(), headers={"accept-language": language}, follow=True)
    tree = html5lib.parse(answer.content.decode(), namespaceHTMLElements=False)
    return [image.get("alt") for image in tree.iter("img")]


def draft(page):
    return type(page).objects.get(pk=page.pk).get_latest_revision_as_object()


def test_an_image_that_is_chosen_gets_a_suggestion_which_is_edited_and_published(desk, make_page, make_library_image):
    image = make_library_image(title="IMG_0001")
    page = make_page(draft=True, title="Ferry to the island")
    shown = edit(desk, page)
    insert_image_block(shown, image)
    shown.get_by_text("The captioner is at work").wait_for()  # the draft was saved and asked about by itself
    field = shown.locator(ALT).last
    assert field.input_value() == "IMG_0001"  # as Wagtail fills it in
    work()
    shown.get_by_role("button", name="Use this text").click()
    offered = Suggestion.objects.filter(placement__key__startswith="page:").latest("pk").text
    assert field.input_value() == offered
    assert desk.focused()[1] == field.get_attribute("id")
    shown.get_by_text("The suggestion stands in the field").wait_for()
    shown.keyboard.press("End")
    shown.keyboard.type(", seen from the quay")
    until(lambda: draft(page).body[0].value.contextual_alt_text == f"{offered}, seen from the quay")
    publish(desk)
    assert public(page) == [f"{offered}, seen from the quay"]
    decision = Decision.objects.get()
    assert (decision.outcome, decision.by, decision.suggestion.text) == ("EDITED", desk.user, offered)


def test_a_page_that_is_being_created_gets_its_panel_once_it_is_saved(desk, home, make_library_image):
    from alttext.project.wagtail_site.models import ArticlePage

    image = make_library_image(title="IMG_0002")
    desk.open(path=reverse("wagtailadmin_pages:add", args=["wagtail_site", "articlepage", home.pk]))
    shown = settled(desk)
    shown.locator("#id_title").fill("The lighthouse")
    insert_image_block(shown, image)
    shown.get_by_text("The captioner is at work").wait_for()
    assert ArticlePage.objects.get(title="The lighthouse").live is False


def test_a_decorative_image_gets_no_text_and_exactly_an_empty_alt(desk, make_page, make_library_image, offer):
    page = make_page(body=json.dumps([image_block(make_library_image())]))
    page.save_revision()
    offer(page)
    shown = edit(desk, page)
    shown.get_by_role("button", name="Use this text").wait_for()
    shown.get_by_label("Image is decorative").check()
    shown.get_by_role("button", name="Use this text").click()
    shown.get_by_text("Not written: the field is switched off").wait_for()
    assert shown.locator(ALT).last.input_value() == ""
    publish(desk)
    assert public(page) == [""]
    assert [decision.act for decision in Decision.objects.all()] == ["DECORATIVE"]


def test_blocks_in_columns_and_lists_have_panels_of_their_own(desk, make_page, make_library_image, offer):
    inner, listed = image_block(make_library_image()), image_block(make_library_image(), kind="item")
    body = [block("columns", {"left": [inner], "right": []}), block("gallery", [listed])]
    page = make_page(body=json.dumps(body), hero=make_library_image())
    offer(page, "In a column", inner["id"])
    offer(page, "In a list", listed["id"])
    offer(page, "On top", "hero")
    shown = edit(desk, page)
    for text in ("On top", "In a column", "In a list"):
        panel = shown.locator(".alttext-field", has_text=text)
        panel.get_by_role("button", name="Use this text").click()
        field = shown.locator(f"[id='{panel.get_attribute('data-alttext-field')}']")
        assert field.input_value() == text
    publish(desk)
    assert public(page) == ["On top", "In a column", "In a list"]
    assert {decision.outcome for decision in Decision.objects.all()} == {"AS_IS"}


def test_an_image_in_rich_text_has_its_suggestion_in_the_dialog(desk, make_page, make_library_image, offer):
    image = make_library_image(title="Boat")
    embed = f'<p>Before</p><embed embedtype="image" id="{image.pk}" format="fullwidth" alt="Boat"/><p>After</p>'
    page = make_page(intro=embed)
    offer(page, ending="#" + f"{image.pk}.1")
    shown = edit(desk, page)
    shown.locator(".Draftail-Editor img").click()
    shown.get_by_role("button", name="Edit", exact=True).click()
    field = shown.locator("#id_image-chooser-insertion-alt_text")
    field.wait_for()
    assert field.input_value() == "Boat"
    shown.locator(".modal-body").get_by_role("button", name="Use this text").click()
    assert field.input_value() == "A red boat at a quay"
    shown.get_by_role("button", name="Insert image").click()
    field.wait_for(state="detached")
    # the rich text writes itself into the form a moment later
    shown.wait_for_function("() => document.querySelector('[name=intro]').value.includes('A red boat at a quay')")
    publish(desk)
    assert public(page) == ["A red boat at a quay"]
    assert Decision.objects.get().outcome == "AS_IS"


def test_an_image_new_in_rich_text_has_the_suggestion_for_the_library(desk, make_page, make_library_image, suggest):
    image = make_library_image(title="Boat")
    placement, _ = placements.refresh(*of_library(image), at=timezone.now())
    suggest(placement, "A red boat", when=timezone.now())
    shown = edit(desk, make_page(intro="<p>Before</p>"))
    shown.locator(".Draftail-Editor [contenteditable=true]").first.click()
    shown.keyboard.press("Control+End")
    shown.keyboard.press("Enter")
    shown.keyboard.type("/ima")
    shown.get_by_role("option", name="Image").click()
    shown.locator(".modal-body").get_by_role("link", name="Boat").click()
    shown.locator(".modal-body").get_by_role("button", name="Use this text").click()
    assert shown.locator("#id_image-chooser-insertion-alt_text").input_value() == "A red boat"


def of_library(image):
    adapter = adapters.get("wagtail")
    return adapter, adapter.place(f"image:{image.pk}")


def test_a_page_in_another_language_is_offered_a_text_in_it(desk, home, make_page, make_library_image, offer):
    from wagtail.models import Locale

    german, _ = Locale.objects.get_or_create(language_code="de")
    page = make_page(body=json.dumps([image_block(make_library_image())]))
    offer(page, "A red boat")
    home.copy_for_translation(german).save_revision().publish()
    copy = page.copy_for_translation(german)
    offered = offer(copy, "Ein rotes Boot")
    assert offered.placement.language == "de"
    shown = edit(desk, copy)
    assert shown.locator(".offered").get_attribute("lang") == "de"
    shown.get_by_role("button", name="Use this text").click()
    publish(desk)
    assert public(copy, "de") == ["Ein rotes Boot"]
    assert public(page) == [""]  # the text of one language is not that of another


def test_a_worker_that_answers_while_one_types_is_never_in_the_way(desk, make_page, make_library_image):
    page = make_page(draft=True, body=json.dumps([image_block(make_library_image())]))
    shown = edit(desk, page)
    shown.get_by_text("The captioner is at work").wait_for()
    field = shown.locator(ALT).last
    field.focus()
    shown.keyboard.type("Half a sen")
    work()
    shown.keyboard.type("tence")
    shown.get_by_role("button", name="Use this text").wait_for()
    assert field.input_value() == "Half a sentence"
    assert desk.focused()[1] == field.get_attribute("id")
    shown.keyboard.type(", and more")
    until(lambda: draft(page).body[0].value.contextual_alt_text == "Half a sentence, and more")
    assert "overwrite a newer version" not in shown.content()
    assert Decision.objects.count() == 0  # drafts that save themselves are no acts
    publish(desk)
    assert public(page) == ["Half a sentence, and more"]
    assert Decision.objects.get().by == desk.user


def test_it_can_all_be_done_with_the_keyboard(desk, make_page, make_library_image, offer):
    page = make_page(body=json.dumps([image_block(make_library_image())]))
    offer(page)
    shown = edit(desk, page)
    shown.get_by_role("button", name="Use this text").wait_for()
    field = shown.locator(ALT).last
    field.focus()
    tab_to(desk, "Use this text")
    shown.keyboard.press("Enter")
    assert desk.focused()[1] == field.get_attribute("id")
    assert field.input_value() == "A red boat at a quay"
    for words in ("Use this text", "Get another suggestion", "Open in the workbench"):
        tab_to(desk, words)


def tab_to(tab, words):
    """Press the tab key until what has these words has focus; Wagtail puts a button for comments in between."""
    for _ in range(4):
        tab.page.keyboard.press("Tab")
        if tab.focused()[2].startswith(words):
            return
    raise AssertionError(f"{words!r} is not within reach")


def test_the_librarys_description_has_a_panel_and_is_recorded(desk, make_library_image, suggest):
    image = make_library_image(title="Boat")
    placement, _ = placements.refresh(*of_library(image), at=timezone.now())
    suggest(placement, "A red boat", when=timezone.now())
    with desk.page.expect_response("**/alttext/uses/**"):
        desk.open(path=reverse("wagtailimages:edit", args=[image.pk]))
    shown = desk.page
    shown.get_by_role("button", name="Use this text").click()
    assert shown.locator("#id_description").input_value() == "A red boat"
    shown.get_by_role("button", name="Save", exact=True).click()
    shown.wait_for_url(lambda url: "/edit/" not in url and not url.rstrip("/").endswith(str(image.pk)))
    image.refresh_from_db()
    assert image.description == "A red boat"
    assert Decision.objects.get().outcome == "AS_IS"


@pytest.mark.parametrize("width", [1280, 360])
def test_the_panel_is_accessible_and_fits_at(desk, make_page, make_library_image, offer, width):
    from axe_playwright_python.sync_playwright import Axe

    page = make_page(body=json.dumps([image_block(make_library_image())]), hero=make_library_image())
    offer(page, ending="hero")
    desk.page.set_viewport_size({"width": width, "height": 900})
    shown = edit(desk, page)
    shown.get_by_role("button", name="Use this text").wait_for()
    found = Axe().run(shown, context={"include": [[".alttext-field"]]})
    assert [item["id"] for item in found.response["violations"]] == []
    overflow = shown.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0
    if SHOTS:
        shown.locator(".alttext-field").first.scroll_into_view_if_needed()
        shown.screenshot(path=f"{SHOTS}/wagtail-editor-{width}.png")
