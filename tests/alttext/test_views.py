"""The workbench over HTTP: who gets in, what each act answers with and without htmx, what is never lost or run."""

from __future__ import annotations

import hashlib
import re
import uuid
from pathlib import Path

import pytest
from django.urls import reverse
from django.utils import timezone

from alttext import wording
from alttext.models import Decision, Job, Placement, Suggestion
from alttext.operations import decisions
from tests.conftest import picture

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[2]
HTMX = {"HTTP_HX_REQUEST": "true"}


def url(name, placement=None, **params):
    found = reverse(f"alttext:{name}", args=[placement.pk] if placement else [])
    return found + ("?" + "&".join(f"{key}={value}" for key, value in params.items()) if params else "")


def fields(response):
    """The hidden fields of the editor's form, as a browser would send them."""
    page = response.content.decode()
    inputs = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page)
    return {name: value for name, value in inputs if name != "csrfmiddlewaretoken"}


def text_in_box(response):
    import html

    return html.unescape(re.search(r"<textarea id=\"text-.*?>\n(.*?)</textarea>", response.content.decode(), re.S)[1])


@pytest.fixture
def desk(client, author, make_placement, suggest):
    """An author signed in at a placement with a pending suggestion."""
    placement = make_placement(text_before="The ferry leaves at nine.", text_after="Tickets are sold on board.")
    suggestion = suggest(placement, "A red ferry", when=timezone.now())  # the views' clock is the real one
    client.force_login(author)
    return placement, suggestion


def post(client, name, placement, *, text="A red ferry", page=None, htmx=True, **extra):
    page = page or client.get(url("placement", placement))
    return client.post(url(name, placement), {**fields(page), "text": text, **extra}, **(HTMX if htmx else {}))


# who gets in

ACTS = ["save", "reject", "decorative", "undo", "request", "role", "check"]
LOOKS = ["placement", "suggestion"]


@pytest.mark.parametrize("name", [*ACTS, *LOOKS])
@pytest.mark.parametrize(
    ("role", "allowed"), [("author", True), ("lead", True), ("admin", True), ("outsider", False), ("inactive", False)]
)
def test_permissions(client, make_user, make_placement, role, allowed, name):
    placement = make_placement()
    user = make_user("author" if role == "inactive" else role)
    client.force_login(user)
    if role == "inactive":
        user.is_active = False
        user.save()
    response = client.post(url(name, placement), **HTMX) if name in ACTS else client.get(url(name, placement), **HTMX)
    refused = {401, 404}
    assert (response.status_code not in refused) == allowed
    assert placement.decisions.count() == 0


@pytest.mark.parametrize("name", [*ACTS, *LOOKS])
def test_an_expired_session_is_401_to_htmx_and_a_redirect_to_a_plain_request(client, make_placement, name):
    placement = make_placement()
    method = client.post if name in ACTS else client.get
    assert method(url(name, placement), **HTMX).status_code == 401
    plain = method(url(name, placement))
    assert plain.status_code == 302
    assert plain.url.startswith("/accounts/login/?next=")
    if name in ACTS:  # what takes a POST cannot be visited after signing in
        assert plain.url.endswith(url("placement", placement))


def test_unknown_and_foreign_placements_answer_alike(client, outsider, make_placement):
    client.force_login(outsider)
    foreign = client.get(url("placement", make_placement()))
    unknown = client.get(reverse("alttext:placement", args=[10**30]))
    assert (foreign.status_code, unknown.status_code) == (404, 404)


def test_a_placement_that_left_the_page_is_404(client, author, make_placement):
    placement = make_placement()
    Placement.objects.filter(pk=placement.pk).update(state="GONE")
    client.force_login(author)
    assert client.get(url("placement", placement)).status_code == 404


@pytest.mark.parametrize("name", ACTS)
def test_acts_cannot_be_visited(client, author, make_placement, name):
    client.force_login(author)
    assert client.get(url(name, make_placement())).status_code == 405


def test_acts_need_the_secret_of_the_form(author, make_placement):
    from django.test import Client

    client = Client(enforce_csrf_checks=True)
    client.force_login(author)
    placement = make_placement()
    page = client.get(url("placement", placement))
    data = {**fields(page), "text": "A red ferry"}
    assert client.post(url("save", placement), data).status_code == 403
    token = re.search(r'csrfmiddlewaretoken" value="(\w+)"', page.content.decode())[1]
    assert client.post(url("save", placement), {**data, "csrfmiddlewaretoken": token}).status_code == 302


# headers


def test_pages_carry_the_policy_and_are_told_apart_by_the_header(client, desk):
    placement, _ = desk
    for response in (
        client.get(url("queue")),
        client.get(url("placement", placement)),
        client.get(url("placement", placement), **HTMX),
        client.get(url("keys")),
    ):
        csp = response["Content-Security-Policy"]
        assert "script-src 'self';" in csp
        assert "unsafe" not in csp
        assert "HX-Request" in response["Vary"]
        assert "no-store" in response["Cache-Control"]


def test_pictures_of_another_host_are_allowed_by_that_host_only(client, author, make_placement):
    placement = make_placement()
    Placement.objects.filter(pk=placement.pk).update(image_url="https://media.example.org/a.png?x=1;script-src *")
    client.force_login(author)
    csp = client.get(url("placement", placement))["Content-Security-Policy"]
    assert "img-src 'self' data: https://media.example.org;" in csp
    assert "*" not in csp


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "https://a b/", "https://x;script-src *", "//", "https://[::1"]
)
def test_an_odd_address_of_a_picture_adds_nothing_to_the_policy(address):
    from alttext.views.security import policy

    assert "img-src 'self' data:;" in policy([address])


def test_other_pages_of_the_site_are_left_alone(client):
    assert "Content-Security-Policy" not in client.get("/accounts/login/")


# the queue


def test_the_queue_counts_and_lists_what_is_to_do(client, author, make_placement, suggest):
    open_one, offered, human = (
        make_placement(title="Open"),
        make_placement(title="Offered"),
        make_placement(alt_text="Old"),
    )
    suggest(offered, "A red ferry")
    client.force_login(author)
    page = client.get(url("queue")).content.decode()
    assert f"placement-row-{open_one.pk}" in page
    assert f"placement-row-{human.pk}" not in page
    assert "A red ferry" in page
    assert "Image 1 of 2, no alternative text yet" in page
    assert re.search(r'state=todo" aria-current="page">To do <span class="count">2<', page)
    done = client.get(url("queue", state="done")).content.decode()
    assert f"placement-row-{human.pk}" in done
    assert 'alt="Old"' in done


def test_the_queue_says_in_words_why_there_is_no_suggestion(client, author, make_placement, suggest):
    placement = make_placement()
    suggest(placement, reasons=["value_unverified"])
    client.force_login(author)
    assert "a wrong number would mislead readers" in client.get(url("queue", state="abstained")).content.decode()


def test_the_queue_pages_by_cursor_and_loses_nothing_when_rows_leave_it(client, author, make_placement, settings):
    settings.ALTTEXT = {**settings.ALTTEXT, "PAGE_SIZE": 2}
    rows = [make_placement() for _ in range(5)]
    client.force_login(author)
    first = client.get(url("queue"))
    Placement.objects.filter(pk=rows[0].pk).update(state="DONE")
    further = re.search(r'href="([^"]*after=\d+)"', first.content.decode())[1].replace("&amp;", "&")
    second = client.get(further).content.decode()
    assert [f"placement-row-{row.pk}" in second for row in rows] == [False, False, True, True, False]


@pytest.mark.parametrize(
    "query",
    ["state=nonsense", "after=x", "after=-1", f"after={10**30}", "role=%00", "search=%00", "language=" + "x" * 99],
)
def test_a_filter_that_means_nothing_is_left_out(client, author, make_placement, query):
    make_placement()
    client.force_login(author)
    assert client.get(f"{url('queue')}?{query}").status_code == 200


def test_filters_narrow_and_an_empty_queue_says_so(client, author, make_placement):
    german = make_placement(language="de", title="Hafen")
    make_placement(title="Harbour")
    client.force_login(author)
    page = client.get(url("queue", language="de")).content.decode()
    assert "Hafen" in page
    assert "Harbour" not in page
    assert 'lang="de"' in page or german.current_alt == ""
    assert "No image matches these filters." in client.get(url("queue", search="nowhere")).content.decode()
    assert "No image failed." in client.get(url("queue", state="failed")).content.decode()


def test_a_list_for_htmx_is_the_list_alone_but_a_restored_page_is_whole(client, author, make_placement):
    make_placement()
    client.force_login(author)
    part = client.get(url("queue"), **HTMX).content.decode()
    assert part.lstrip().startswith('<section id="placement-list"')
    whole = client.get(url("queue"), **HTMX, HTTP_HX_HISTORY_RESTORE_REQUEST="true").content.decode()
    assert "<!doctype html>" in whole


def test_the_queue_needs_as_many_queries_for_ten_rows_as_for_one(
    client, author, make_placement, suggest, django_assert_max_num_queries
):
    for _ in range(10):
        suggest(make_placement(), "A red ferry")
    client.force_login(author)
    with django_assert_max_num_queries(13):
        client.get(url("queue"))


def test_the_editor_needs_a_bounded_number_of_queries(client, desk, author, at, django_assert_max_num_queries):
    placement, suggestion = desk
    for number in range(5):
        placement.refresh_from_db()
        decisions.save_text(
            placement=placement, text=f"Text {number}", seen=decisions.seen(placement, suggestion), by=author, at=at
        )
    with django_assert_max_num_queries(22):
        client.get(url("placement", placement))


# the editor


def test_the_box_holds_the_suggestion_with_its_language(client, desk):
    placement, _ = desk
    response = client.get(url("placement", placement))
    assert text_in_box(response) == "A red ferry"
    page = response.content.decode()
    assert "The ferry leaves at nine." in page
    assert 'lang="en"' in page
    assert "11</span> characters" in page


def test_the_box_holds_the_current_text_where_there_is_one(client, author, make_placement, suggest):
    placement = make_placement(alt_text="An old text")
    suggest(placement, "A red ferry", by=author)
    client.force_login(author)
    response = client.get(url("placement", placement))
    assert text_in_box(response) == "An old text"
    assert 'data-use="A red ferry"' in response.content.decode()


def test_a_right_to_left_text_says_so(client, author, make_placement, suggest):
    placement = make_placement(language="ar")
    suggest(placement, "قارب أحمر")
    client.force_login(author)
    page = client.get(url("placement", placement)).content.decode()
    assert re.search(r'<textarea[^>]*dir="rtl"', page)
    assert re.search(r'<blockquote class="offered" lang="ar" dir="rtl">', page)


def test_every_reason_and_flag_is_told_in_words(client, author, make_placement, suggest):
    from captioner.prepare import flags
    from captioner.types import Reason

    assert set(wording.REASONS) == set(Reason)
    known = {value for name, value in vars(flags).items() if name.isupper() and isinstance(value, str)}
    known &= {"instruction_in_page", "instruction_in_image", "control_characters_in_page", "copied_from_page",
              "markup", "url", "email", "phone"}  # fmt: skip
    assert len(known) == 8
    assert known <= set(wording.FLAGS)
    placement = make_placement()
    suggest(placement, reasons=list(Reason))
    client.force_login(author)
    page = client.get(url("placement", placement)).content.decode()
    for reason in Reason:
        assert wording.reason(reason).what in page
        assert wording.reason(reason).can_do in page
    assert "Subject: who or what is it?" in page
    assert text_in_box(client.get(url("placement", placement))) == ""


def test_evidence_and_warnings_stand_beside_the_suggestion(client, author, make_placement, suggest):
    evidence = {
        "support": [{"phrase": "ferry", "source": "detector", "score": 0.91, "detail": ""}],
        "unverified": [{"phrase": "dog", "concept": "dog", "source": "tags", "score": 0.31}],
        "lines": [{"text": "Line 9", "confidence": 0.8}],
        "kinds": {"photo": 0.9, "art": 0.1},
        "missing": ["ocr"],
    }
    placement = make_placement()
    suggest(placement, "A ferry", evidence=evidence, flags=["instruction_in_page"])
    client.force_login(author)
    page = client.get(url("placement", placement)).content.decode()
    for words in (
        "“ferry”: found by the object detector (score 0.91)",
        "dog: named by the image classifier (score 0.31)",
        "<li>Line 9</li>",
        "Kind of image: photo",
        "Not installed here: the reader of words in images.",
        "words that read like instructions",
    ):
        assert words in page


@pytest.mark.parametrize(
    "shape", [{"support": "x", "unverified": {"a": 1}, "lines": 5, "kinds": []}, {"support": [None, 3, {}]}]
)
def test_evidence_of_any_shape_is_shown_or_left_out(client, author, make_placement, suggest, shape):
    placement = make_placement()
    suggest(placement, "A ferry", evidence=shape)
    client.force_login(author)
    assert client.get(url("placement", placement)).status_code == 200


def test_the_same_image_elsewhere_is_offered_and_not_taken_over(client, author, make_placement):
    data = picture()
    make_placement(title="The other page", alt_text="A text of the other page", data=data)
    here = make_placement(data=data)
    client.force_login(author)
    page = client.get(url("placement", here))
    assert "The other page" in page.content.decode()
    assert 'data-use="A text of the other page"' in page.content.decode()
    assert text_in_box(page) == ""


def test_find_leads_from_the_cms_to_the_editor(client, author, outsider, make_placement):
    placement = make_placement()
    address = reverse("alttext:find", args=["imagefields", placement.key])
    client.force_login(outsider)
    assert client.get(address).status_code == 404
    client.force_login(author)
    assert client.get(address).url == placement.get_absolute_url()
    assert client.get(reverse("alttext:find", args=["imagefields", "demo.illustration:99999:image"])).status_code == 404


# acts, with htmx


def test_saving_answers_with_the_saved_editor_and_the_way_on(client, desk, illustration_of, make_placement):
    placement, suggestion = desk
    following = make_placement(title="The next page")
    response = post(client, "save", placement, text="A red ferry at the quay", active_seconds="12.5")
    page = response.content.decode()
    assert response.status_code == 200
    assert page.lstrip().startswith(f'<section id="editor-{placement.pk}"')
    assert '<h2 tabindex="-1" autofocus>Saved</h2>' in page
    assert f'{url("next")}?after={placement.pk}">Next: {following.page_title}' in page
    assert "alttext:say" in response["HX-Trigger-After-Settle"]
    assert f'"placement": {placement.pk}' in response["HX-Trigger"]
    assert illustration_of(placement).alt_text == "A red ferry at the quay"
    decision = placement.decisions.get()
    assert (decision.outcome, decision.active_seconds) == ("EDITED", 12.5)
    suggestion.refresh_from_db()
    assert suggestion.state == "EDITED"


def test_save_and_next_leaves_for_the_next_image(client, desk, make_placement):
    placement, _ = desk
    following = make_placement()
    response = post(client, "save", placement, then="next")
    assert response["HX-Redirect"] == f"{following.get_absolute_url()}?arrived=1"
    arrived = client.get(response["HX-Redirect"]).content.decode()
    assert '<h1 tabindex="-1" autofocus>' in arrived
    assert f"Saved the text of {placement.image_name}" in arrived


def test_save_and_next_of_the_last_image_leads_to_the_queue(client, desk):
    placement, _ = desk
    assert post(client, "save", placement, then="next")["HX-Redirect"] == url("queue")


@pytest.mark.parametrize("text", ["", "   ", "\u00a0", "\u200b\n"])
def test_an_empty_text_is_422_and_names_the_way_to_leave_it_empty(client, desk, text, illustration_of):
    placement, _ = desk
    response = post(client, "save", placement, text=text)
    page = response.content.decode()
    assert response.status_code == 422
    assert "To leave it without text, choose “Mark as decorative”." in page
    assert 'aria-invalid="true"' in page
    assert f"error-{placement.pk}" in re.search(r'aria-describedby="([^"]*)"', page[page.index("<textarea") :])[1]
    assert placement.decisions.count() == 0
    assert illustration_of(placement).alt_text == ""


def test_an_illegal_character_is_422_and_the_text_stays(client, desk):
    placement, _ = desk
    response = post(client, "save", placement, text="A red\u202e ferry")
    assert response.status_code == 422
    assert text_in_box(response) == "A red\u202e ferry"
    assert "U+202E" in response.content.decode()


def test_warnings_never_keep_a_text_from_being_saved(client, desk, illustration_of):
    placement, _ = desk
    text = "image of " + "a very long text " * 30
    assert post(client, "save", placement, text=text).status_code == 200
    assert illustration_of(placement).alt_text == text.strip()


def test_line_ends_of_a_browser_are_stored_plain(client, desk, illustration_of):
    placement, _ = desk
    post(client, "save", placement, text="Two\r\nlines")
    assert illustration_of(placement).alt_text == "Two\nlines"


@pytest.mark.parametrize("damage", [{"version": "x"}, {"key": ""}, {"key": "1"}, {"suggestion": "x"}, {"version": ""}])
def test_a_damaged_form_is_422_and_the_text_stays(client, desk, damage):
    placement, _ = desk
    response = post(client, "save", placement, text="My words", **damage)
    assert response.status_code == 422
    assert text_in_box(response) == "My words"


@pytest.mark.parametrize("seconds", ["-1", "nan", "inf", "x", "1e9", ""])
def test_odd_seconds_do_not_keep_an_author_from_saving(client, desk, seconds):
    placement, _ = desk
    assert post(client, "save", placement, active_seconds=seconds).status_code == 200
    assert placement.decisions.get().active_seconds is None


def test_a_text_that_the_site_has_no_room_for_is_422_with_the_limit(client, desk, monkeypatch, illustration_of):
    placement, _ = desk
    field = type(illustration_of(placement))._meta.get_field("alt_text")
    monkeypatch.setattr(field, "max_length", 20)
    response = post(client, "save", placement, text="A text of more than twenty characters")
    assert response.status_code == 422
    assert "at most 20 characters" in response.content.decode()
    assert text_in_box(response) == "A text of more than twenty characters"


def test_rejecting_keeps_the_reason_and_empties_a_box_that_held_the_suggestion(client, desk):
    placement, suggestion = desk
    response = post(client, "reject", placement, reason="It is blue")
    assert response.status_code == 200
    assert text_in_box(response) == ""
    assert placement.decisions.get().reason == "It is blue"
    assert "Reason: It is blue" in response.content.decode()
    suggestion.refresh_from_db()
    assert suggestion.state == "REJECTED"


def test_rejecting_keeps_words_of_the_authors_own(client, desk):
    placement, _ = desk
    response = post(client, "reject", placement, text="My own words")
    assert text_in_box(response) == "My own words"
    assert "alttext:settled" not in response.get("HX-Trigger", "")


def test_rejecting_nothing_is_422(client, author, make_placement):
    placement = make_placement()
    client.force_login(author)
    response = post(client, "reject", placement, text="My words")
    assert response.status_code == 422
    assert text_in_box(response) == "My words"


def test_decorative_and_undo_bring_back_the_exact_text(client, author, make_placement, illustration_of):
    text = "  An  old text with\ttabs "
    placement = make_placement(alt_text=text)
    client.force_login(author)
    response = post(client, "decorative", placement, text=text.strip())
    assert "Marked as decorative" in response.content.decode()
    assert (illustration_of(placement).alt_text, illustration_of(placement).decorative) == ("", True)
    response = post(client, "undo", placement, text="")
    assert "The earlier text stands there again." in response.content.decode()
    assert (illustration_of(placement).alt_text, illustration_of(placement).decorative) == (text, False)


def test_undoing_nothing_is_422(client, desk):
    placement, _ = desk
    assert post(client, "undo", placement).status_code == 422


def test_asking_waits_with_a_poll_and_keeps_the_typed_text(client, author, make_placement):
    placement = make_placement()
    client.force_login(author)
    response = post(client, "request", placement, text="Half a sen")
    page = response.content.decode()
    assert 'hx-trigger="every 2s"' in page
    assert text_in_box(response) == "Half a sen"
    assert Job.objects.get().requested_by == author
    assert client.get(url("suggestion", placement), **HTMX).status_code == 204


def test_a_late_suggestion_comes_beside_the_box_and_stops_the_poll(client, author, make_placement):
    from alttext import workers

    placement = make_placement()
    client.force_login(author)
    post(client, "request", placement, text="")
    assert workers.drain(seconds=20) == 1
    response = client.get(url("suggestion", placement), **HTMX)
    page = response.content.decode()
    assert response.status_code == 200
    assert "every 2s" not in page
    assert "<textarea" not in page
    assert "autofocus" not in page
    suggestion = Suggestion.objects.get()
    assert f'name="suggestion" value="{suggestion.pk}" form="form-{placement.pk}"' in page
    assert "A suggestion has arrived" in response["HX-Trigger-After-Settle"]


def test_asking_for_a_decorative_image_is_422_and_says_why(client, author, make_placement):
    placement = make_placement(decorative=True)
    client.force_login(author)
    response = post(client, "request", placement)
    assert response.status_code == 422
    assert "marked this image as decorative" in response.content.decode()


def test_too_many_open_requests_are_refused_and_the_text_stays(client, author, make_placement, settings):
    settings.ALTTEXT = {**settings.ALTTEXT, "MAX_OPEN_JOBS_PER_USER": 1}
    client.force_login(author)
    post(client, "request", make_placement(), text="")
    response = post(client, "request", make_placement(), text="My words")
    assert response.status_code == 422
    assert "You have 1 open request" in response.content.decode()
    assert text_in_box(response) == "My words"


def test_a_new_role_is_recorded_and_a_suggestion_asked_for(client, desk):
    placement, suggestion = desk
    response = post(client, "role", placement, role="functional", text="My words")
    placement.refresh_from_db()
    assert (placement.role, placement.chosen_role, placement.state) == ("functional", "functional", "WAITING")
    assert text_in_box(response) == "My words"
    assert "Say where the link leads" in response.content.decode()
    suggestion.refresh_from_db()
    assert suggestion.state == "SUPERSEDED"


@pytest.mark.parametrize("role", ["decorative", "nonsense", ""])
def test_decorative_is_no_role_to_choose(client, desk, role):
    placement, _ = desk
    assert post(client, "role", placement, role=role).status_code == 422
    placement.refresh_from_db()
    assert placement.role == "unknown"


def test_findings_follow_the_text_and_store_nothing(client, desk):
    placement, _ = desk
    response = post(client, "check", placement, text="image of a dog")
    page = response.content.decode()
    assert page.lstrip().startswith(f'<div id="findings-{placement.pk}"')
    assert "The text begins with “image of”." in page
    assert "Would be:" in page
    assert "A dog" in page
    assert placement.decisions.count() == 0


# conflicts


def test_two_editors_the_second_sees_both_texts_and_keeps_the_typed_one(client, desk, other_author, illustration_of):
    placement, _ = desk
    from django.test import Client

    mine = client.get(url("placement", placement))
    others = Client()
    others.force_login(other_author)
    post(others, "save", placement, text="A ferry by the other author")
    response = post(client, "save", placement, text="A ferry in my words", page=mine)
    page = response.content.decode()
    assert response.status_code == 409
    assert text_in_box(response) == "A ferry in my words"
    assert "A ferry by the other author" in page
    assert other_author.get_username() in page
    assert re.search(r"<ins>.*my.*</ins>", page, re.S)
    assert illustration_of(placement).alt_text == "A ferry by the other author"
    again = client.post(url("save", placement), {**fields(response), "text": "A ferry in my words"}, **HTMX)
    assert again.status_code == 200
    assert illustration_of(placement).alt_text == "A ferry in my words"
    assert [row.final_text for row in placement.decisions.order_by("version")] == [
        "A ferry by the other author",
        "A ferry in my words",
    ]


@pytest.mark.parametrize("act", ["decorative", "reject", "undo"])
def test_every_act_notices_that_somebody_was_faster(client, desk, other_author, at, act):
    placement, suggestion = desk
    mine = client.get(url("placement", placement))
    decisions.save_text(
        placement=placement, text="Theirs", seen=decisions.seen(placement, suggestion), by=other_author, at=at
    )
    response = post(client, act, placement, text="My words", page=mine)
    assert response.status_code == 409
    assert text_in_box(response) == "My words"
    assert placement.decisions.count() == 1


def test_ones_own_second_save_is_no_conflict(client, desk, illustration_of):
    placement, _ = desk
    page = client.get(url("placement", placement))
    assert post(client, "save", placement, text="First", page=page).status_code == 200
    assert post(client, "save", placement, text="Second", page=page).status_code == 200
    assert illustration_of(placement).alt_text == "Second"


def test_a_double_click_is_one_decision(client, desk):
    placement, _ = desk
    page = client.get(url("placement", placement))
    answers = [post(client, "save", placement, text="Once", page=page) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert placement.decisions.count() == 1


def test_a_text_changed_on_the_site_itself_is_noticed(client, desk, illustration_of):
    placement, _ = desk
    page = client.get(url("placement", placement))
    row = illustration_of(placement)
    row.alt_text = "Written in the CMS"
    row.save()
    response = post(client, "save", placement, text="Mine", page=page)
    assert response.status_code == 409
    assert "written on the site itself" in response.content.decode()
    assert "Written in the CMS" in response.content.decode()
    assert text_in_box(response) == "Mine"


def test_changed_words_are_shown_beside_the_old_ones_and_a_second_press_saves(client, desk, illustration_of):
    placement, _ = desk
    page = client.get(url("placement", placement))
    row = illustration_of(placement)
    row.text_before = "The ferry leaves at ten."
    row.save()
    response = post(client, "save", placement, text="Mine", page=page)
    content = response.content.decode()
    assert response.status_code == 409
    assert "The ferry leaves at nine." in content
    assert "The ferry leaves at ten." in content
    assert placement.decisions.count() == 0
    again = client.post(url("save", placement), {**fields(response), "text": "Mine"}, **HTMX)
    assert again.status_code == 200
    assert illustration_of(placement).alt_text == "Mine"


def test_a_replaced_image_is_refused_shown_and_asked_about_again(client, desk, illustration_of):
    from django.core.files.base import ContentFile

    placement, _ = desk
    page = client.get(url("placement", placement))
    row = illustration_of(placement)
    row.image.save("new.png", ContentFile(picture(colour=(0, 0, 200))))
    response = post(client, "save", placement, text="Mine", page=page)
    content = response.content.decode()
    assert response.status_code == 409
    assert "new" in re.search(r'<figure class="subject">\s*<img src="([^"]*)"', content)[1]
    assert text_in_box(response) == "Mine"
    assert Job.objects.filter(placement=placement, state="QUEUED").count() == 1
    assert illustration_of(placement).alt_text == ""
    again = client.post(url("save", placement), {**fields(response), "text": "Mine"}, **HTMX)
    assert again.status_code == 200


def test_an_image_that_vanishes_while_one_writes_keeps_the_text(client, desk, illustration_of):
    placement, _ = desk
    page = client.get(url("placement", placement))
    illustration_of(placement).image.storage.delete(illustration_of(placement).image.name)
    response = post(client, "save", placement, text="My words", page=page)
    assert response.status_code == 422
    assert text_in_box(response) == "My words"


def test_a_back_button_page_with_another_text_is_a_new_act(client, desk, illustration_of):
    placement, _ = desk
    page = client.get(url("placement", placement))
    post(client, "save", placement, text="First", page=page, htmx=False)
    post(client, "save", placement, text="Second", page=page, htmx=False)
    assert illustration_of(placement).alt_text == "Second"
    assert placement.decisions.count() == 2


# without scripts


def test_the_whole_journey_works_without_scripts(client, desk, make_placement, illustration_of):
    placement, _ = desk
    following = make_placement()
    saved = post(client, "save", placement, text="A red ferry", htmx=False)
    assert saved.status_code == 302
    assert saved.url == placement.get_absolute_url()
    page = client.get(saved.url)
    assert "Saved. The suggestion was used as offered." in page.content.decode()
    undone = post(client, "undo", placement, page=page, htmx=False)
    assert illustration_of(placement).alt_text == ""
    page = client.get(undone.url)
    assert text_in_box(page) == "A red ferry"  # on offer again
    onward = post(client, "decorative", placement, page=page, htmx=False)
    assert onward.status_code == 302
    assert f"{url('next')}?after={placement.pk}" in client.get(onward.url).content.decode()
    assert client.get(url("next", after=placement.pk)).url == f"{following.get_absolute_url()}?arrived=1"


def test_without_scripts_an_error_is_the_whole_page_with_the_typed_text(client, desk):
    placement, _ = desk
    response = post(client, "save", placement, text="bell \x07 rings", htmx=False)
    assert response.status_code == 422
    assert "<!doctype html>" in response.content.decode()
    assert text_in_box(response) == "bell \x07 rings"


def test_without_scripts_asking_with_words_in_the_box_does_not_lose_them(client, author, make_placement):
    placement = make_placement()
    client.force_login(author)
    response = post(client, "request", placement, text="Half a sen", htmx=False)
    assert response.status_code == 200
    assert text_in_box(response) == "Half a sen"


def test_every_form_has_an_action_and_a_method_and_every_post_button_too(client, desk):
    placement, _ = desk
    for address in (url("queue"), url("placement", placement), url("keys")):
        page = client.get(address).content.decode()
        for form in re.findall(r"<form[^>]*>", page):
            assert "action=" in form
            assert "method=" in form
        for button in re.findall(r"<button[^>]*hx-post[^>]*>", page):
            action = re.search(r'formaction="([^"]*)"', button)[1]
            assert f'hx-post="{action}"' in button


# history


def test_history_tells_who_did_what_and_survives_a_deleted_account(client, desk, other_author, at):
    placement, suggestion = desk
    decisions.save_text(
        placement=placement, text="Theirs", seen=decisions.seen(placement, suggestion), by=other_author, at=at
    )
    assert other_author.get_username() in client.get(url("placement", placement)).content.decode()
    other_author.delete()
    page = client.get(url("placement", placement)).content.decode()
    assert "a deleted account" in page
    assert "Theirs" in page


def test_a_stale_text_carries_a_banner(client, author, make_placement):
    placement = make_placement(alt_text="Old")
    Placement.objects.filter(pk=placement.pk).update(stale=True)
    client.force_login(author)
    assert "Changed since:" in client.get(url("placement", placement)).content.decode()


def test_a_stale_text_that_still_fits_can_be_saved_as_it_is(client, desk, author):
    placement, _ = desk
    post(client, "save", placement, text="A red ferry")
    Placement.objects.filter(pk=placement.pk).update(stale=True)
    post(client, "save", placement, text="A red ferry")
    placement.refresh_from_db()
    assert not placement.stale


# hostile text

HOSTILE = '"><b hx-get="/x" hx-trigger="load">bold</b></textarea><script>alert(1)</script>{{ 7|add:7 }}\''


def test_hostile_text_is_shown_as_text_everywhere(client, author, make_placement, suggest):
    data = picture()
    make_placement(title=HOSTILE, alt_text=HOSTILE, data=data)
    placement = make_placement(
        title=HOSTILE, data=data, text_before=HOSTILE, text_after=HOSTILE, caption=HOSTILE, heading=HOSTILE,
        link_url="/x?" + HOSTILE[:40], link_label=HOSTILE[:200],
    )  # fmt: skip
    evidence = {
        "support": [{"phrase": HOSTILE, "source": HOSTILE}],
        "lines": [HOSTILE],
        "kinds": {HOSTILE: 1},
        "missing": [HOSTILE],
    }
    suggest(placement, HOSTILE, evidence=evidence, flags=[HOSTILE])
    client.force_login(author)
    pages = [
        client.get(url("queue")),
        client.get(url("placement", placement)),
        client.get(url("suggestion", placement), **HTMX),
        post(client, "check", placement, text=HOSTILE),
        post(client, "reject", placement, text=HOSTILE, reason=HOSTILE),
        post(client, "save", placement, text=HOSTILE),
        client.get(url("placement", placement)),
    ]
    for response in pages:
        page = response.content.decode()
        assert response.status_code == 200
        assert "<b hx-get" not in page
        assert "<script>alert" not in page
        assert "14" not in re.findall(r"script&gt;(\d+)", page)
    assert text_in_box(pages[-1]) == HOSTILE


def test_templates_hold_nothing_that_runs_or_is_not_escaped():
    templates = sorted((ROOT / "templates" / "alttext").rglob("*.html"))
    assert len(templates) >= 6
    forbidden = re.compile(
        r"\|\s*safe\b|mark_safe|autoescape\s+off|hx-on|\bjs:|javascript:|\son\w+\s*=|<style|\sstyle\s*=|hx-vals"
        r"|<script(?![^>]*\bsrc=)[^>]*>",
        re.I,
    )
    for template in templates:
        assert not forbidden.search(template.read_text()), template.name


def test_scripts_build_no_markup_from_strings():
    scripts = sorted((ROOT / "static" / "alttext").glob("*.js"))
    assert len(scripts) >= 3
    for script in scripts:
        found = re.search(
            r"innerHTML|outerHTML\s*=|insertAdjacentHTML|document\.write|\beval\(|new Function", script.read_text()
        )
        assert not found, script.name


def test_the_code_behind_the_pages_marks_nothing_as_safe():
    for module in [*(ROOT / "alttext" / "views").glob("*.py"), *(ROOT / "alttext" / "templatetags").glob("*.py")]:
        assert not re.search(r"mark_safe|SafeString|is_safe", module.read_text()), module.name


def test_htmx_is_the_vendored_file_whose_sum_is_recorded():
    import django_htmx

    folder = ROOT / "static" / "alttext" / "vendor"
    for line in (folder / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split()
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    shipped = Path(django_htmx.__file__).parent / "static" / "django_htmx" / "htmx-2.min.js"
    assert (folder / "htmx.min.js").read_bytes() == shipped.read_bytes()
    assert 'version:"2.0.' in (folder / "htmx.min.js").read_text()


def test_every_page_is_valid_html_with_ids_that_are_there_once(client, desk, other_author, make_placement, suggest):
    import html5lib

    placement, _ = desk
    abstained = make_placement(link_url="/tickets/", link_label="Tickets", text_before="word " * 200)
    suggest(abstained, reasons=["text_unverified"], evidence={"lines": ["OPEN"]}, flags=["url"])
    mine = client.get(url("placement", placement))
    other = type(client)()
    other.force_login(other_author)
    pages = [
        mine,
        client.get(url("queue", state="all")),
        client.get(url("keys")),
        client.get(url("placement", abstained)),
        post(other, "save", placement, text="Theirs", htmx=False),
        post(client, "save", placement, text="Mine", page=mine, htmx=False),
        post(client, "save", placement, text="", htmx=False),
        client.get(url("placement", placement)),
    ]
    assert [page.status_code for page in pages] == [200, 200, 200, 200, 302, 409, 422, 200]
    for page in pages:
        if page.status_code == 302:
            continue
        content = page.content.decode()
        html5lib.HTMLParser(strict=True).parse(content)
        ids = re.findall(r'\sid="([^"]*)"', content)
        assert len(ids) == len(set(ids))
        assert content.count(" autofocus") <= 1
        for attribute in ("aria-describedby", "aria-labelledby", "for", "form"):
            for value in re.findall(rf'\s{attribute}="([^"]*)"', content):
                assert set(value.split()) <= set(ids), (attribute, value)


def test_keys_are_new_with_every_page(client, desk):
    placement, _ = desk
    keys = {fields(client.get(url("placement", placement)))["key"] for _ in range(2)}
    assert len(keys) == 2
    assert all(uuid.UUID(key) for key in keys)


def test_every_shortcut_of_the_help_page_is_on_a_button_and_the_other_way_round(client, desk, author, make_placement):
    placement, _ = desk
    make_placement()
    before = client.get(url("placement", placement)).content.decode()
    after = post(client, "save", placement).content.decode()
    on_page = set(re.findall(r'data-shortcut="([^"]*)"', before + after))
    assert on_page == {keys for keys, _ in wording.SHORTCUTS}
    assert not any(len(keys) == 1 for keys in on_page)


def test_decisions_come_from_people_only(client, desk):
    placement, _ = desk
    client.get(url("placement", placement))
    client.get(url("suggestion", placement), **HTMX)
    post(client, "check", placement, text="x")
    post(client, "request", placement)
    assert Decision.objects.count() == 0
    placement.refresh_from_db()
    assert placement.current_alt == ""


# a database that is busy


@pytest.fixture
def busy(monkeypatch):
    from django.db import OperationalError

    from alttext.operations import decisions

    def locked(**kwargs):
        raise OperationalError("database is locked")

    monkeypatch.setattr(decisions, "save_text", locked)


def test_a_busy_database_is_told_to_htmx_which_swaps_nothing(client, desk, busy):
    placement, _ = desk
    answer = post(client, "save", placement, text="My words")
    assert answer.status_code == 503
    assert "busy" in answer.content.decode()


def test_a_busy_database_gives_a_plain_form_its_words_back(client, desk, busy):
    placement, _ = desk
    answer = post(client, "save", placement, text="My <b>words</b>", htmx=False)
    assert answer.status_code == 503
    assert "My &lt;b&gt;words&lt;/b&gt;" in answer.content.decode()
