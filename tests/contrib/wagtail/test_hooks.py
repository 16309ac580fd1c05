"""What Wagtail's admin shows of the workbench, to whom, and what a save in its editor records."""

from __future__ import annotations

import json
import uuid

import pytest
from django.urls import reverse
from django.utils import timezone
from wagtail.test.utils.form_data import nested_form_data, rich_text, streamfield

from alttext.contrib.wagtail import keys
from alttext.models import Decision, Job, Placement
from alttext.operations import placements
from tests.conftest import AT


@pytest.fixture
def signed_in(client):
    def sign_in(user):
        client.force_login(user)
        return client

    return sign_in


@pytest.fixture
def editor(make_editor, home, collection):
    rights = dict.fromkeys(["add", "change", "publish"], home)
    return make_editor(pages=rights, images=dict.fromkeys(["add", "change", "choose"], collection))


def block(image, text="", *, decorative=False, kind="image"):
    return {
        "type": kind,
        "id": str(uuid.uuid4()),
        "value": {"image": image.pk, "alt_text": text, "decorative": decorative},
    }


def uses_of(client, page):
    at = reverse("wagtailadmin_pages:edit", args=[page.pk])
    return client.get(reverse("alttext_wagtail:uses"), {"at": at}).json()


# --- what is shown, and to whom


@pytest.mark.parametrize(("may", "expected"), [(True, 1), (False, 0)])
def test_menu_and_home_panel_are_for_those_who_may_change_something(
    signed_in, make_editor, make_page, make_library_image, adapter, home, may, expected
):
    make_page(hero=make_library_image())
    placements.scan(adapter=adapter, at=AT)
    client = signed_in(make_editor(pages={"change": home} if may else {}))
    shown = client.get(reverse("wagtailadmin_home")).content.decode()
    assert shown.count('"name": "alttext"') == expected  # the menu
    assert shown.count("1 image</strong> waits for you") == expected


def test_the_page_header_leads_to_the_images_of_the_page(signed_in, editor, make_page, make_library_image, adapter):
    page = make_page(title="The ferry", hero=make_library_image())
    make_page(title="The lighthouse", hero=make_library_image())
    client = signed_in(editor)
    edit = reverse("wagtailadmin_pages:edit", args=[page.pk])
    assert "state=all" not in client.get(edit).content.decode()  # nothing known yet: no button
    placements.scan(adapter=adapter, at=AT)
    known = Placement.objects.get(key=keys.page_key(page.pk, "hero"))
    url = f"{reverse('alttext:queue')}?state=all&page={known.pk}"
    assert url.replace("&", "&amp;") in client.get(edit).content.decode()
    listed = client.get(url).content.decode()
    assert "The ferry" in listed
    assert "The lighthouse" not in listed


def test_a_site_can_add_a_panel_with_the_images_of_the_page(rf, editor, make_page, make_library_image, adapter):
    from wagtail.admin.panels import ObjectList, TitleFieldPanel

    from alttext.contrib.wagtail.panels import AlttextPanel

    page = make_page(hero=make_library_image(name="hero.png"), body=json.dumps([block(make_library_image(), "A boat")]))
    placements.scan(adapter=adapter, at=AT)
    handler = ObjectList([TitleFieldPanel("title"), AlttextPanel()]).bind_to_model(type(page))
    request = rf.get("/")
    request.user = editor

    def shown(user):
        request.user = user
        form = handler.get_form_class()(instance=page, for_user=user)
        bound = handler.get_bound_panel(instance=page, request=request, form=form)
        return str(bound.render_html({"request": request}))

    html = shown(editor)
    assert "1 of 2 images on this page has no text yet" in html
    assert html.index("hero.png") < html.index("A boat")  # those without a text first
    editor.groups.clear()
    assert "no text yet" not in shown(type(editor).objects.get(pk=editor.pk))


# --- what the editor's script is told


def test_the_script_learns_where_each_image_of_the_saved_draft_stands(signed_in, editor, make_page, make_library_image):
    image, inner = make_library_image(), make_library_image()
    outer = {"type": "gallery", "id": str(uuid.uuid4()), "value": [block(inner, kind="item")]}
    page = make_page(hero=image, teaser=image, body=json.dumps([block(image, "A boat"), outer]))
    page.body = [*page.body.raw_data, block(inner)]
    page.save_revision()
    found = uses_of(signed_in(editor), page)
    ids = [item["id"] for item in page.get_latest_revision_as_object().body.raw_data]
    paths = [use["path"] for use in found["uses"]]
    assert paths == ["hero", f"body.{ids[0]}", f"body.{ids[1]}.{outer['value'][0]['id']}", f"body.{ids[2]}"]
    assert [use["image"] for use in found["uses"]] == [str(pk) for pk in (image.pk, image.pk, inner.pk, inner.pk)]
    assert found["uses"][0]["url"] == reverse("alttext:field", args=["wagtail", f"page:{page.pk}:hero"])
    assert found["library"].replace("{}", "7") == reverse("alttext:field", args=["wagtail", "image:7"])


def test_the_library_has_a_panel_for_the_description(signed_in, editor, make_library_image):
    image = make_library_image()
    at = reverse("wagtailimages:edit", args=[image.pk])
    found = signed_in(editor).get(reverse("alttext_wagtail:uses"), {"at": at}).json()
    assert found["fields"] == {"id_description": reverse("alttext:field", args=["wagtail", f"image:{image.pk}"])}


def test_who_may_not_edit_the_page_learns_nothing_of_it(signed_in, make_editor, make_page, make_library_image, home):
    page, other = make_page(hero=make_library_image()), make_page(hero=make_library_image())
    client = signed_in(make_editor(pages={"change": other}))
    assert uses_of(client, page)["uses"] == []
    assert uses_of(client, page)["closed"]
    image = reverse("wagtailimages:edit", args=[page.hero_id])
    assert client.get(reverse("alttext_wagtail:uses"), {"at": image}).json()["fields"] == {}
    client.logout()
    assert client.get(reverse("alttext_wagtail:uses"), {"at": "/"}).status_code == 302


@pytest.mark.parametrize(
    "at", ["", "/", "nonsense", "//example.org/", "/cms/pages/999999999999999999999/edit/", "/cms/pages/0/edit/", "\0"]
)
def test_odd_addresses_are_answered_with_nothing(signed_in, editor, at):
    answer = signed_in(editor).get(reverse("alttext_wagtail:uses"), {"at": at})
    assert answer.status_code == 200
    assert answer.json()["uses"] == []


def test_nothing_is_promised_on_a_page_that_is_not_saved_yet(signed_in, editor, home):
    at = reverse("wagtailadmin_pages:add", args=["wagtail_site", "articlepage", home.pk])
    found = signed_in(editor).get(reverse("alttext_wagtail:uses"), {"at": at}).json()
    assert (found["uses"], found.get("closed")) == ([], None)


# --- asking for many


@pytest.fixture
def ask_for(client, editor):
    def ask(images, user=None, **data):
        client.force_login(user or editor)
        url = reverse("wagtail_bulk_action", args=["wagtailimages", "image", "alttext_ask"])
        query = "&".join(f"id={image.pk}" for image in images)
        return client.post(f"{url}?{query}&next={reverse('wagtailimages:index')}", data, follow=True)

    return ask


def said(answer):
    return [str(message).strip() for message in answer.context["messages"]]


def test_asking_for_many_asks_and_says_what_was_skipped_and_why(ask_for, make_library_image):
    plain, described = make_library_image(), make_library_image(description="A red boat")
    assert said(ask_for([plain, described])) == ["Asked for 1 text. Skipped: 1 × has a description already."]
    job = Job.objects.get()
    assert (job.placement.key, job.prio) == (keys.image_key(plain.pk), Job.BULK)
    assert said(ask_for([plain])) == ["Asked for 0 texts. Skipped: 1 × waits for a text already."]
    assert said(ask_for([described], again="on")) == ["Asked for 1 text."]
    plain.refresh_from_db()
    described.refresh_from_db()
    assert (plain.description, described.description) == ("", "A red boat")


def test_asking_for_many_stops_at_the_limit_and_says_so(ask_for, make_library_image, settings):
    settings.ALTTEXT = {**settings.ALTTEXT, "MAX_OPEN_JOBS_PER_USER": 1}
    (told,) = said(ask_for([make_library_image(), make_library_image()]))
    assert told.startswith("Asked for 1 text. Skipped: 1 × over the limit of open requests")


def test_an_image_whose_file_is_gone_is_skipped(ask_for, make_library_image):
    image = make_library_image()
    image.file.storage.delete(image.file.name)
    assert said(ask_for([image])) == ["Asked for 0 texts. Skipped: 1 × needs no text, or its file is gone."]


def test_asking_needs_the_right_to_change_the_image(ask_for, client, make_editor, make_library_image, home, collection):
    image = make_library_image()
    reader = make_editor(pages={"change": home}, images={"choose": collection})
    ask_for([image], user=reader)
    assert Job.objects.count() == 0
    url = reverse("wagtail_bulk_action", args=["wagtailimages", "image", "alttext_ask"])
    assert "Ask for texts" not in client.get(f"{url}?id={image.pk}").content.decode()


def test_the_confirmation_says_that_nothing_is_published(client, editor, make_library_image):
    client.force_login(editor)
    url = reverse("wagtail_bulk_action", args=["wagtailimages", "image", "alttext_ask"])
    shown = client.get(f"{url}?id={make_library_image(title='A boat').pk}").content.decode()
    assert "Nothing is published" in shown
    assert "A boat" in shown
    assert Job.objects.count() == 0


# --- what a save records


def form_of(page, image, text):
    values = {
        "title": page.title,
        "slug": page.slug,
        "intro": rich_text("<p>Words</p>"),
        "hero": image.pk if image else "",
        "hero_alt": text,
        "teaser": "",
        "body": streamfield([]),
        "comments-TOTAL_FORMS": 0,
        "comments-INITIAL_FORMS": 0,
        "comment_notifications": False,
    }
    return nested_form_data(values)


@pytest.mark.parametrize(("accept", "acts"), [("text/html", 1), ("application/json", 0)])
def test_a_press_of_save_is_an_act_and_the_editors_timer_is_none(
    signed_in, editor, make_page, make_library_image, adapter, accept, acts, django_capture_on_commit_callbacks
):
    image = make_library_image()
    page = make_page(draft=True, hero=image)
    placements.scan(adapter=adapter, at=AT)
    client = signed_in(editor)
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post(
            reverse("wagtailadmin_pages:edit", args=[page.pk]),
            form_of(page, image, "A red boat"),
            headers={"accept": accept},
        )
    assert answer.status_code == (302 if acts else 200)
    saved = type(page).objects.get(pk=page.pk).get_latest_revision_as_object()
    assert saved.hero_alt == "A red boat"
    assert [decision.final_text for decision in Decision.objects.all()] == ["A red boat"] * acts
    assert {decision.by_id for decision in Decision.objects.all()} <= {editor.pk}


@pytest.mark.parametrize("number", [1, 3])
def test_publishing_records_each_text_and_then_closes_the_suggestions(
    signed_in, editor, make_page, make_library_image, adapter, suggest, number, django_capture_on_commit_callbacks
):
    blocks = [block(make_library_image()) for _ in range(number)]
    page = make_page(body=json.dumps(blocks))
    placements.scan(adapter=adapter, at=timezone.now())
    rows = Placement.objects.filter(key__startswith=keys.page_head(page.pk))
    for row in rows:
        suggest(row, "A red boat", when=timezone.now())
    written = [("image", {**item["value"], "alt_text": f"A red boat, number {at}"}) for at, item in enumerate(blocks)]
    data = form_of(page, None, "") | nested_form_data({"body": streamfield(written)}) | {"action-publish": "yes"}
    data |= {f"body-{at}-id": item["id"] for at, item in enumerate(blocks)}
    data = {name: "" if value is None else value for name, value in data.items() if not name.endswith("-decorative")}
    with django_capture_on_commit_callbacks(execute=True):
        answer = signed_in(editor).post(reverse("wagtailadmin_pages:edit", args=[page.pk]), data)
    assert answer.status_code == 302
    found = {(decision.outcome, decision.final_text) for decision in Decision.objects.all()}
    assert found == {("EDITED", f"A red boat, number {at}") for at in range(number)}
    assert all(row.suggestions.get().closed_at for row in rows)
