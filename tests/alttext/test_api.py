"""The REST API through HTTP: who may do what, conditional requests, repeats, hostile bodies, lists."""

from __future__ import annotations

import json
import uuid

import pytest
from django.core.cache import cache
from django.core.files.base import ContentFile
from django.db import OperationalError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from alttext.models import Decision, Job, Placement, Suggestion
from alttext.operations import decisions, suggestions
from alttext.project.demo.models import Illustration
from tests.conftest import picture

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_earlier_requests_are_counted():
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def sign_in():
    def client(user, **options):
        found = Client(**options)
        if user is not None:
            found.force_login(user)
        return found

    return client


@pytest.fixture
def api(sign_in, author):
    """The API as an author sees it."""
    return sign_in(author)


def at_placement(placement, part=""):
    return reverse("alttext:api-placement-detail", args=[placement.pk]) + part


def tag_of(client, placement):
    return client.get(at_placement(placement))["ETag"]


def decide(client, placement, tag=None, **body):
    headers = {"If-Match": tag} if tag else {}
    return client.post(at_placement(placement, "decisions/"), body, content_type="application/json", headers=headers)


def ask(client, placement, **body):
    return client.post(at_placement(placement, "request/"), body, content_type="application/json")


def alts():
    return sorted(Illustration.objects.values_list("pk", "alt_text", "decorative"))


def rows_of_own_articles(user):
    """Narrows what an editor may edit, as a site with sections would."""
    return Illustration.objects.filter(article__title=user.get_username())


# who may do what: role x endpoint x method

READS = [
    "placements/",
    "placements/{placement}/",
    "placements/{placement}/suggestions/",
    "placements/{placement}/decisions/",
    "suggestions/",
    "suggestions/{suggestion}/",
    "decisions/",
    "decisions/{decision}/",
    "jobs/{job}/",
    "schema/",
]
LISTS = ["placements/", "suggestions/", "decisions/", "schema/"]
WRITES = ["placements/{placement}/request/", "placements/{placement}/decisions/"]
REFUSED = {"anonymous", "inactive"}
FOREIGN = {"outsider", "editor of another section"}


def expected_status(role, method, path):
    if role in REFUSED:
        return 403
    if (method, path) not in [*(("get", path) for path in READS), *(("post", path) for path in WRITES)]:
        return 405
    if role in FOREIGN and path not in LISTS:
        return 404
    return {("post", WRITES[0]): 202, ("post", WRITES[1]): 428}.get((method, path), 200)


@pytest.mark.parametrize("role", ["author", "lead", "admin", *sorted(FOREIGN), *sorted(REFUSED)])
def test_each_role_gets_what_the_table_says(role, settings, make_user, make_placement, suggest, sign_in):
    entry = {**settings.ALTTEXT["IMAGE_FIELDS"][0], "editable": f"{__name__}.rows_of_own_articles"}
    settings.ALTTEXT = {**settings.ALTTEXT, "IMAGE_FIELDS": [entry]}
    writer = make_user("author", name="section")
    user = {
        "author": writer,
        "lead": None,
        "admin": make_user("admin"),
        "outsider": make_user("outsider"),
        "editor of another section": make_user("author", name="elsewhere"),
        "anonymous": None,
        "inactive": writer,
    }[role]
    if role == "lead":
        writer.delete()
        writer = user = make_user("lead", name="section")
    placement = make_placement(title="section")
    suggestion = suggest(placement)
    decision = decisions.reject(
        placement=placement, seen=decisions.seen(placement, suggestion), by=writer, at=placement.updated_at
    )
    suggestions.register_version(name="canned", key="newer", versions={}, at=timezone.now())  # so there is more to ask
    ids = {"placement": placement.pk, "suggestion": suggestion.pk, "decision": decision.pk, "job": suggestion.job_id}
    client = sign_in(user)
    if role == "inactive":
        user.is_active = False
        user.save()
    root = reverse("alttext:api-placement-list").removesuffix("placements/")
    paths = dict.fromkeys([*READS, *WRITES])
    table = {(method, path) for method in ("get", "post", "put", "patch", "delete") for path in paths}
    got = {
        (method, path): client.generic(
            method.upper(), root + path.format(**ids), json.dumps({"act": "undo"}), content_type="application/json"
        ).status_code
        for method, path in table
    }
    assert got == {(method, path): expected_status(role, method, path) for method, path in table}


@pytest.mark.parametrize("role", sorted(FOREIGN))
def test_lists_of_strangers_are_empty(role, settings, make_user, make_placement, suggest, sign_in, author, at):
    entry = {**settings.ALTTEXT["IMAGE_FIELDS"][0], "editable": f"{__name__}.rows_of_own_articles"}
    settings.ALTTEXT = {**settings.ALTTEXT, "IMAGE_FIELDS": [entry]}
    placement = make_placement()
    decisions.reject(placement=placement, seen=decisions.seen(placement, suggest(placement)), by=author, at=at)
    client = sign_in(make_user("outsider" if role == "outsider" else "author"))
    for name in ("placement", "suggestion", "decision"):
        assert client.get(reverse(f"alttext:api-{name}-list")).json() == {"next": None, "results": []}


def test_unknown_and_foreign_rows_answer_alike(make_placement, suggest, sign_in, outsider):
    placement = make_placement()
    suggest(placement)
    client = sign_in(outsider)
    for part in ("", "suggestions/", "decisions/"):
        foreign = client.get(at_placement(placement, part))
        unknown = client.get(at_placement(placement, part).replace(str(placement.pk), str(10**30)))
        assert foreign.status_code == unknown.status_code == 404
        assert foreign.json() == unknown.json()


def test_a_right_taken_away_between_reading_and_writing_stops_the_write(make_placement, author, sign_in):
    placement, client = make_placement(), sign_in(author)
    tag = tag_of(client, placement)
    author.user_permissions.clear()
    assert decide(client, placement, tag, act="save", text="Late").status_code == 404
    assert not Decision.objects.exists()


def test_a_placement_that_left_the_page_is_not_found(make_placement, api):
    placement = make_placement()
    Placement.objects.update(state=Placement.State.GONE)
    assert api.get(at_placement(placement)).status_code == 404
    assert api.get(reverse("alttext:api-placement-list")).json()["results"] == []


def test_a_write_without_the_csrf_token_is_refused_in_json(make_placement, author, sign_in):
    client = sign_in(author, enforce_csrf_checks=True)
    answer = ask(client, make_placement())
    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")


@pytest.mark.parametrize("path", ["", "nothing/", "placements", "placements/x/", "placements/1/nothing/"])
def test_an_address_that_is_no_route_answers_in_json(api, path):
    answer = api.get(reverse("alttext:api-placement-list").removesuffix("placements/") + path)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


# reading


def test_one_placement_shows_image_words_and_newest_suggestion(make_placement, suggest, api):
    placement = make_placement(heading="The harbour", text_before="Boats come in.", caption="At dusk")
    suggestion = suggest(placement, "Boats at dusk", flags=["url"], evidence={"support": [{"phrase": "boats"}]})
    shown = api.get(at_placement(placement)).json()
    assert shown["context"]["headings"] == ["The harbour"]
    assert shown["context"]["before"] == "Boats come in."
    assert shown["context"]["context_hash"] == placement.snapshot.context_hash
    assert shown["asset"]["content_hash"] == placement.asset.content_hash
    assert shown["state"] == "OFFERED"
    found = shown["suggestion"]
    assert (found["id"], found["text"], found["reasons"]) == (suggestion.pk, "Boats at dusk", [])
    assert (found["flags"], found["evidence"]) == (["url"], {"support": [{"phrase": "boats"}]})
    assert found["captioner"] == {"name": "canned", "key": "canned-1"}


def test_an_abstention_shows_its_reasons(make_placement, suggest, api):
    placement = make_placement()
    suggest(placement, reasons=("object_unsupported", "low_agreement"))
    found = api.get(at_placement(placement)).json()["suggestion"]
    assert (found["text"], found["reasons"]) == (None, ["object_unsupported", "low_agreement"])


def test_answers_are_not_kept_by_shared_caches(make_placement, api):
    assert set(api.get(at_placement(make_placement()))["Cache-Control"].split(", ")) == {"private", "no-cache"}


def test_the_tag_changes_with_anything_shown_and_with_nothing_else(make_placement, suggest, api, illustration_of):
    placement = make_placement()
    tags = [tag_of(api, placement)]
    assert tag_of(api, placement) == tags[0]
    suggestion = suggest(placement)
    tags.append(tag_of(api, placement))
    Suggestion.objects.filter(pk=suggestion.pk).update(state="EXPIRED")
    tags.append(tag_of(api, placement))
    decide(api, placement, tags[-1], act="save", text="Mine")
    tags.append(tag_of(api, placement))
    assert len(set(tags)) == 4


def test_reading_and_asking_change_no_published_text(make_placement, suggest, api):
    placements = [make_placement(alt_text="By a person"), make_placement(), make_placement(decorative=True)]
    suggestion = suggest(placements[1])
    before = alts()
    for placement in placements:
        ask(api, placement, again=True)
        for part in ("", "suggestions/", "decisions/"):
            assert api.get(at_placement(placement, part)).status_code == 200
    for name in ("placement", "suggestion", "decision"):
        assert api.get(reverse(f"alttext:api-{name}-list")).status_code == 200
    assert api.get(reverse("alttext:api-job-detail", args=[suggestion.job_id])).json()["suggestion"] == suggestion.pk
    assert alts() == before
    assert not Decision.objects.exists()


# lists


@pytest.mark.parametrize("name", ["placement", "suggestion", "decision"])
def test_a_list_costs_the_same_queries_for_three_rows_and_for_twelve(
    name, make_placement, suggest, author, at, sign_in, django_assert_max_num_queries, django_assert_num_queries
):
    def add():
        placement = make_placement()
        decisions.save_text(
            placement=placement,
            text="A boat",
            seen=decisions.seen(placement, suggest(placement)),
            by=author,
            at=at,
        )

    client = sign_in(author)
    for _ in range(3):
        add()
    with django_assert_max_num_queries(7) as few:
        assert len(client.get(reverse(f"alttext:api-{name}-list")).json()["results"]) == 3
    for _ in range(9):
        add()
    with django_assert_num_queries(len(few)):
        assert len(client.get(reverse(f"alttext:api-{name}-list")).json()["results"]) == 12


def test_one_placement_costs_a_bounded_number_of_queries(make_placement, suggest, api, django_assert_max_num_queries):
    placement = make_placement()
    suggest(placement)
    with django_assert_max_num_queries(6):
        api.get(at_placement(placement))


def test_no_row_is_skipped_when_rows_leave_the_list_between_pages(make_placement, api, author, at):
    placements = [make_placement() for _ in range(5)]
    first = api.get(reverse("alttext:api-placement-list"), {"state": "todo", "limit": 2}).json()
    for placement in placements[:3]:
        decisions.mark_decorative(placement=placement, seen=decisions.seen(placement), by=author, at=at)
    second = api.get(first["next"]).json()
    assert [row["id"] for row in first["results"]] == [placement.pk for placement in placements[:2]]
    assert [row["id"] for row in second["results"]] == [placement.pk for placement in placements[3:]]
    assert second["next"] is None


def test_filters_narrow_the_list_and_stay_in_the_next_address(make_placement, suggest, api):
    german = [make_placement(language="de", title="Hafentage") for _ in range(2)]
    make_placement(title="Harbour")
    suggest(german[0], reasons=("language_unsupported",))
    address = reverse("alttext:api-placement-list")

    def ids(**query):
        return [row["id"] for row in api.get(address, query).json()["results"]]

    assert ids(language="de") == [row.pk for row in german]
    assert ids(state="abstained") == [german[0].pk]
    assert ids(search="HAFEN") == [row.pk for row in german]
    assert ids(role="complex") == []
    assert "language=de" in api.get(address, {"language": "de", "limit": 1}).json()["next"]


def test_a_query_that_makes_no_sense_is_refused_by_name(api):
    wrong = [
        *(("state", "nonsense"), ("role", "nonsense"), ("search", "a\0b"), ("search", "x" * 201)),
        *(("after", "-1"), ("after", "x"), ("after", str(2**70)), ("limit", "0"), ("limit", "101")),
    ]
    for name, value in wrong:
        answer = api.get(reverse("alttext:api-placement-list"), {name: value})
        assert (answer.status_code, list(answer.json()["errors"])) == (400, [name]), (name, value)


def test_decisions_of_a_deleted_account_stay_in_the_history(make_placement, author, other_author, at, sign_in):
    placement = make_placement()
    decisions.save_text(placement=placement, text="Kept", seen=decisions.seen(placement), by=author, at=at)
    author.delete()
    [row] = sign_in(other_author).get(at_placement(placement, "decisions/")).json()["results"]
    assert (row["final_text"], row["by_name"]) == ("Kept", None)


def test_the_history_does_not_tell_how_long_a_colleague_took(make_placement, api):
    placement = make_placement()
    made = decide(api, placement, tag_of(api, placement), act="save", text="Mine", active_seconds=12.5).json()
    assert Decision.objects.get().active_seconds == 12.5
    assert "active_seconds" not in made["decision"]


# asking for a suggestion


def test_asking_answers_202_with_a_job_to_poll(make_placement, api, author):
    placement = make_placement()
    answer = ask(api, placement)
    job = Job.objects.get()
    assert (answer.status_code, answer.json()["id"], answer.json()["state"]) == (202, job.pk, "QUEUED")
    assert (job.placement, job.requested_by, job.prio) == (placement, author, Job.AUTHOR_WAITS)
    assert api.get(answer["Location"]).json() == answer.json()


def test_asking_needs_no_body(make_placement, api):
    assert api.generic("POST", at_placement(make_placement(), "request/")).status_code == 202


def test_asking_twice_meets_the_open_job(make_placement, api):
    placement = make_placement()
    first, second = (ask(api, placement).json()["id"] for _ in range(2))
    assert first == second


def test_asking_a_newer_captioner_overtakes_the_text_on_offer(make_placement, suggest, api):
    placement = make_placement()
    suggestion = suggest(placement)
    suggestions.register_version(name="canned", key="newer", versions={}, at=timezone.now())
    ask(api, placement, again=True)
    suggestion.refresh_from_db()
    assert suggestion.state == "SUPERSEDED"


def test_asking_the_same_captioner_the_same_again_is_told_and_counts_nothing(make_placement, suggest, api):
    placement = make_placement()
    suggestion = suggest(placement)
    answer = ask(api, placement, again=True)
    suggestion.refresh_from_db()
    assert (answer.status_code, answer.json()["code"]) == (409, "already_answered")
    assert suggestion.state == "PENDING"
    assert Job.objects.count() == 1


def test_a_decorative_image_is_not_asked_about(make_placement, api):
    answer = ask(api, make_placement(decorative=True))
    assert (answer.status_code, answer.json()["code"]) == (409, "nothing_to_ask")
    assert not Job.objects.exists()


def test_too_many_open_requests_are_refused_in_words(make_placement, api, settings):
    settings.ALTTEXT = {**settings.ALTTEXT, "MAX_OPEN_JOBS_PER_USER": 1}
    ask(api, make_placement())
    answer = ask(api, make_placement())
    assert (answer.status_code, answer.json()["code"]) == (429, "too_many_open_jobs")
    assert "1 open requests" in answer.json()["detail"]


def test_a_failed_job_tells_why_in_words(make_placement, api, at):
    placement = make_placement()
    address = ask(api, placement)["Location"]
    Job.objects.update(detail="internal", code="x")
    assert api.get(address).json()["detail"] == ""
    Job.objects.update(state="FAILED", finished_at=at, code="missing", detail="The image file is gone.")
    assert api.get(address).json()["detail"] == "The image file is gone."


# deciding


def test_a_saved_text_reaches_the_page_and_is_recorded(make_placement, suggest, api, author, illustration_of):
    placement = make_placement()
    suggestion = suggest(placement, "A red boat")
    answer = decide(api, placement, tag_of(api, placement), act="save", text="A red boat")
    assert answer.status_code == 201
    made = answer.json()
    assert illustration_of(placement).alt_text == "A red boat"
    assert (made["decision"]["outcome"], made["decision"]["suggestion"]) == ("AS_IS", suggestion.pk)
    assert (made["decision"]["by"], made["decision"]["by_name"]) == (author.pk, author.username)
    assert made["decision"]["captioner"]["key"] == "canned-1"
    assert (made["placement"]["state"], made["placement"]["version"]) == ("DONE", 1)
    assert answer["ETag"] == tag_of(api, placement)


def test_a_suggestion_that_arrived_unseen_is_no_conflict_and_not_counted(make_placement, suggest, api):
    placement = make_placement()
    tag = tag_of(api, placement)
    suggest(placement, "A red boat")
    made = decide(api, placement, tag, act="save", text="A red boat")
    assert (made.status_code, made.json()["decision"]["outcome"]) == (201, "")


def test_the_suggestion_on_screen_can_be_named(make_placement, suggest, api):
    placement = make_placement()
    tag = tag_of(api, placement)
    suggestion = suggest(placement, "A red boat")
    made = decide(api, placement, tag, act="save", text="A red boat at sea", suggestion=suggestion.pk)
    assert made.json()["decision"]["outcome"] == "EDITED"


def test_the_four_acts_follow_one_another_by_the_tags_of_their_answers(make_placement, suggest, api, illustration_of):
    placement = make_placement()
    suggest(placement, "A red boat")
    answer = decide(api, placement, tag_of(api, placement), act="reject", reason="It is a ship")
    assert answer.json()["decision"]["reason"] == "It is a ship"
    answer = decide(api, placement, answer["ETag"], act="decorative")
    assert illustration_of(placement).decorative
    answer = decide(api, placement, answer["ETag"], act="undo")
    assert not illustration_of(placement).decorative
    answer = decide(api, placement, answer["ETag"], act="save", text="A ship")
    assert illustration_of(placement).alt_text == "A ship"
    answer = decide(api, placement, answer["ETag"], act="undo")
    assert illustration_of(placement).alt_text == ""
    assert [row["act"] for row in api.get(at_placement(placement, "decisions/")).json()["results"]] == [
        "REJECT",
        "DECORATIVE",
        "UNDO",
        "SAVE",
        "UNDO",
    ]


@pytest.mark.parametrize(("act", "code"), [("undo", "nothing_to_undo"), ("reject", "nothing_to_reject")])
def test_an_act_with_nothing_to_act_on_is_a_conflict(make_placement, api, act, code):
    placement = make_placement()
    answer = decide(api, placement, tag_of(api, placement), act=act)
    assert (answer.status_code, answer.json()["code"]) == (409, code)


def test_a_repeat_gets_the_first_answer_and_counts_once(make_placement, suggest, api, illustration_of):
    placement = make_placement()
    suggest(placement, "A red boat")
    tag, key = tag_of(api, placement), str(uuid.uuid4())
    answers = [decide(api, placement, tag, act="save", text="A red boat", idempotency_key=key) for _ in range(10)]
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert Decision.objects.count() == 1


def test_saving_what_stands_there_records_nothing_new(make_placement, api):
    placement = make_placement()
    first = decide(api, placement, tag_of(api, placement), act="save", text="A boat")
    second = decide(api, placement, first["ETag"], act="save", text="A boat")
    assert (second.status_code, second.json()["decision"]["id"]) == (200, first.json()["decision"]["id"])


def test_a_key_used_elsewhere_is_refused(make_placement, api):
    key = str(uuid.uuid4())
    for placement, status in ((make_placement(), 201), (make_placement(), 422)):
        answer = decide(api, placement, tag_of(api, placement), act="save", text="A boat", idempotency_key=key)
        assert answer.status_code == status
    assert "idempotency_key" in answer.json()["errors"]


def test_a_suggestion_of_another_placement_is_refused(make_placement, suggest, api):
    placement, other = make_placement(), suggest(make_placement())
    answer = decide(api, placement, tag_of(api, placement), act="save", text="A boat", suggestion=other.pk)
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["suggestion"])


# conditional requests


def test_a_decision_without_a_tag_is_refused(make_placement, api):
    answer = decide(api, make_placement(), act="save", text="A boat")
    assert (answer.status_code, answer.json()["code"]) == (428, "precondition_required")
    assert not Decision.objects.exists()


@pytest.mark.parametrize("tag", ["*", '"x"', "plc-1-0", '"plc-1-0-zz-zz-zz-0-zz"', '"a", "b"', "\u0661", '""'])
def test_a_tag_that_we_never_gave_is_malformed(make_placement, api, tag):
    answer = decide(api, make_placement(), tag, act="save", text="A boat")
    assert (answer.status_code, answer.json()["code"]) == (400, "wrong_tag")
    assert not Decision.objects.exists()


def test_the_tag_of_another_placement_is_malformed(make_placement, api):
    answer = decide(api, make_placement(), tag_of(api, make_placement()), act="save", text="A boat")
    assert answer.status_code == 400


def test_a_tag_weakened_by_a_compressing_proxy_still_works(make_placement, api):
    placement = make_placement()
    assert decide(api, placement, f"W/{tag_of(api, placement)}", act="save", text="A boat").status_code == 201


def test_a_second_author_is_shown_both_texts(make_placement, sign_in, author, other_author, illustration_of):
    placement, first, second = make_placement(), sign_in(author), sign_in(other_author)
    tag = tag_of(first, placement)
    decide(first, placement, tag, act="save", text="First")
    answer = decide(second, placement, tag, act="save", text="Second")
    assert (answer.status_code, answer.json()["code"]) == (412, "text_changed")
    assert (answer.json()["placement"]["current_alt"], answer.json()["typed"]) == ("First", "Second")
    assert illustration_of(placement).alt_text == "First"
    assert decide(second, placement, answer["ETag"], act="save", text="Second").status_code == 201
    assert illustration_of(placement).alt_text == "Second"


def test_an_authors_own_second_save_is_no_conflict(make_placement, api, illustration_of):
    placement = make_placement()
    tag = tag_of(api, placement)
    assert decide(api, placement, tag, act="save", text="First").status_code == 201
    assert decide(api, placement, tag, act="save", text="Second").status_code == 201
    assert illustration_of(placement).alt_text == "Second"


def test_a_text_written_in_the_cms_meanwhile_is_not_overwritten(make_placement, api, illustration_of):
    placement = make_placement()
    tag = tag_of(api, placement)
    Illustration.objects.update(alt_text="By a colleague")
    answer = decide(api, placement, tag, act="save", text="Mine")
    assert answer.status_code == 412
    assert (answer.json()["placement"]["current_alt"], answer.json()["typed"]) == ("By a colleague", "Mine")
    assert illustration_of(placement).alt_text == "By a colleague"


def test_changed_words_are_shown_once_and_a_second_press_saves(make_placement, api, illustration_of):
    placement = make_placement(text_after="Old words")
    tag = tag_of(api, placement)
    Illustration.objects.update(text_after="New words")
    answer = decide(api, placement, tag, act="save", text="Mine")
    assert (answer.status_code, answer.json()["code"], answer.json()["typed"]) == (409, "context_changed", "Mine")
    assert answer.json()["placement"]["context"]["after"] == "New words"
    assert illustration_of(placement).alt_text == ""
    assert Job.objects.filter(state="QUEUED").count() == 1
    assert decide(api, placement, answer["ETag"], act="save", text="Mine").status_code == 201


def test_a_replaced_image_is_refused_and_asked_about_again(make_placement, api, illustration_of):
    placement = make_placement()
    tag, old = tag_of(api, placement), placement.asset.content_hash
    illustration_of(placement).image.save("new.png", ContentFile(picture(colour=(0, 0, 200))))
    answer = decide(api, placement, tag, act="save", text="Mine")
    assert (answer.status_code, answer.json()["code"], answer.json()["typed"]) == (412, "image_changed", "Mine")
    [job] = Job.objects.filter(state="QUEUED")
    assert job.content_hash == answer.json()["placement"]["asset"]["content_hash"] != old
    assert illustration_of(placement).alt_text == ""


def test_a_place_that_vanished_is_not_found(make_placement, api):
    placement = make_placement()
    tag = tag_of(api, placement)
    Illustration.objects.all().delete()
    assert decide(api, placement, tag, act="save", text="Mine").status_code == 404


# bodies


def raw(client, placement, body, content_type="application/json"):
    tag = tag_of(client, placement)
    return client.generic(
        "POST", at_placement(placement, "decisions/"), body, content_type=content_type, headers={"If-Match": tag}
    )


UNREADABLE = [
    *("", " \t\n", "\u00a0\u200b\ufeff", "a\0b", "a\u202eb", "a\u2066b", "a\x07b", "a\ud800b"),
    *(None, [], {}, True, "x" * 10_001),
]
READABLE = [
    *("Ein Schiff im Hafen: „Möwe“", "船が港にある", "👩‍👩‍👧 on a quay", "قارب أحمر", "می‌خواهم"),
    *("<b>&amp;</b> 1 < 2", "=1+1", "\u0301x", "\u200fABC", "\U0001f3f4\U000e0067\U000e0062\U000e007f"),
]


def test_a_text_that_cannot_be_read_is_refused(make_placement, api, illustration_of):
    placement = make_placement()
    for text in UNREADABLE:
        answer = raw(api, placement, json.dumps({"act": "save", "text": text}))
        assert (answer.status_code, list(answer.json()["errors"])) == (422, ["text"]), repr(text)[:30]
    assert illustration_of(placement).alt_text == ""


def test_any_readable_text_is_stored_as_it_is(make_placement, api, illustration_of):
    placement = make_placement()
    for text in READABLE:
        answer = decide(api, placement, tag_of(api, placement), act="save", text=text)
        assert answer.status_code == 201
        assert illustration_of(placement).alt_text == text == answer.json()["placement"]["current_alt"]


def test_a_text_wider_than_the_column_is_refused_with_its_limit(make_placement, api, monkeypatch):
    monkeypatch.setattr(Illustration._meta.get_field("alt_text"), "max_length", 20)
    placement = make_placement()
    answer = decide(api, placement, tag_of(api, placement), act="save", text="x" * 21)
    assert (answer.status_code, answer.json()["code"], answer.json()["limit"]) == (422, "text_does_not_fit", 20)
    assert not Decision.objects.exists()


BODIES = [
    ("{", 400),
    ("", 422),
    ("[]", 422),
    ("null", 422),
    ("NaN", 400),
    ('"save"', 422),
    ("\xff", 400),
    ("[" * 100_000, 400),
    ('{"act": "publish"}', 422),
    ('{"act": "save"}', 422),
    ('{"act": "undo", "active_seconds": "nan"}', 422),
    ('{"act": "undo", "active_seconds": 1e999}', 422),
    ('{"act": "undo", "active_seconds": 1%s}' % ("0" * 400), 422),
    ('{"act": "undo", "active_seconds": 1%s}' % ("0" * 5000), 400),
    ('{"act": "undo", "active_seconds": -1}', 422),
    ('{"act": "undo", "suggestion": 1%s}' % ("0" * 30), 422),
    ('{"act": "undo", "idempotency_key": "x"}', 422),
    ('{"act": "reject", "reason": "a\\u0000b"}', 422),
    ('{"act": "save", "text": "%s"}' % ("x" * 200_000), 422),
    ('{"act": "save", "text": "%s"}' % ("x" * 1_000_000), 413),
]


def test_a_body_that_makes_no_sense_gets_a_clear_refusal(make_placement, api):
    placement = make_placement()
    for body, status in BODIES:
        answer = raw(api, placement, body.encode("latin-1"))
        assert answer.status_code == status, body[:60]
        assert answer.json()["detail"]
    assert not Decision.objects.exists()


def test_a_body_that_is_not_declared_as_json_is_refused(make_placement, api):
    placement = make_placement()
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        answer = raw(api, placement, '{"act": "undo"}', content_type=kind)
        assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


# load


def test_requests_above_the_rate_are_refused_and_told_when_to_come_back(make_placement, author, sign_in, settings):
    settings.REST_FRAMEWORK = {
        **settings.REST_FRAMEWORK, "DEFAULT_THROTTLE_RATES": {"alttext": "2/min", "alttext-writes": "1/min"}
    }  # fmt: skip
    placement, client = make_placement(), sign_in(author)
    assert [client.get(at_placement(placement)).status_code for _ in range(3)] == [200, 200, 429]
    answers = [ask(client, placement) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 429]
    assert answers[1].json()["code"] == "throttled"
    assert 0 < int(answers[1]["Retry-After"]) <= 61


def test_a_site_that_sets_no_rates_has_ours(settings):
    from alttext.api import requests

    settings.REST_FRAMEWORK = {}
    assert (requests.Reads().rate, requests.Writes().rate) == ("600/min", "120/min")


def test_a_locked_database_is_named_and_can_be_retried(make_placement, api, monkeypatch):
    def locked(**given):
        raise OperationalError("database is locked")

    monkeypatch.setattr("alttext.tasks.suggestions.request", locked)
    answer = ask(api, make_placement())
    assert (answer.status_code, answer.json()["code"], answer["Retry-After"]) == (503, "database_busy", "1")
