"""The author's desk: nobody is served what somebody else has open, drafts come back, and none of it decides."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from alttext.models import Claim, Comment, Decision, Draft, Placement, SavedFilter
from alttext.operations import decisions, desk
from tests.alttext.test_views import HTMX, fields, post, text_in_box, url

pytestmark = pytest.mark.django_db


class TestClaims:
    def test_opening_an_image_claims_it(self, client, author, make_placement):
        placement = make_placement()
        client.force_login(author)
        client.get(url("placement", placement))
        assert placement.claim.by == author

    def test_a_claimed_image_is_served_to_nobody_else(self, make_placement, author, other_author, at):
        first, second = make_placement(), make_placement()
        assert desk.serve(user=author, after=0, at=at) == first
        assert desk.serve(user=other_author, after=0, at=at) == second
        assert desk.serve(user=other_author, after=second.pk, at=at) is None

    def test_a_claim_ends_after_its_time(self, make_placement, author, other_author, at, settings):
        placement = make_placement()
        desk.claim(placement=placement, by=author, at=at)
        soon = at + timedelta(seconds=899)
        assert desk.claim(placement=placement, by=other_author, at=soon).by == author
        assert desk.serve(user=other_author, after=0, at=at + timedelta(seconds=901)) == placement
        assert placement.claim.by == other_author

    def test_ones_own_claim_is_renewed_and_keeps_its_start(self, make_placement, author, at):
        placement = make_placement()
        desk.claim(placement=placement, by=author, at=at)
        renewed = desk.claim(placement=placement, by=author, at=at + timedelta(seconds=600))
        assert (renewed.since, renewed.until) == (at, at + timedelta(seconds=1500))

    def test_the_second_author_is_told_who_has_it_open(self, client, make_placement, author, other_author):
        placement = make_placement()
        desk.claim(placement=placement, by=other_author, at=timezone.now())
        client.force_login(author)
        page = client.get(url("placement", placement)).text
        assert f"{other_author.get_username()} has this image open" in page
        assert "Release it" not in page
        assert f"{other_author.get_username()} has it open" in client.get(url("queue")).text

    def test_only_a_lead_releases_what_somebody_else_has_open(self, client, make_placement, author, lead, other_author):
        placement = make_placement()
        desk.claim(placement=placement, by=other_author, at=timezone.now())
        client.force_login(author)
        assert client.post(url("release", placement)).status_code == 403
        assert Claim.objects.exists()
        client.force_login(lead)
        assert "Release it" in client.get(url("placement", placement)).text
        assert client.post(url("release", placement)).status_code == 302
        assert not Claim.objects.exists()

    def test_a_saved_text_ends_the_claim(self, client, desk_of_author):
        placement = desk_of_author
        post(client, "save", placement)
        assert not Claim.objects.exists()

    def test_save_and_next_claims_the_next_image(self, client, author, desk_of_author, make_placement):
        following = make_placement()
        post(client, "save", desk_of_author, then="next")
        assert following.claim.by == author

    @pytest.mark.slow
    @pytest.mark.django_db(transaction=True)
    def test_of_200_images_none_is_served_twice_to_authors_at_work_at_once(self, make_placement, author, make_user, at):
        first = make_placement()
        rows = [Placement(pk=None, **_values(first, number)) for number in range(199)]
        Placement.objects.bulk_create(rows)
        users = [author, make_user("author"), make_user("author"), make_user("author")]
        barrier = threading.Barrier(len(users))

        def work(user) -> list[int]:
            barrier.wait(timeout=30)
            served, last = [], 0
            try:
                while (found := desk.serve(user=user, after=last, at=at)) and found.pk not in served:
                    served.append(last := found.pk)
            finally:
                connection.close()
            return served

        with ThreadPoolExecutor(len(users)) as threads:
            served = [pk for own in threads.map(work, users) for pk in own]
        assert len(served) == len(set(served)) == 200


def _values(placement, number):
    names = [field.attname for field in Placement._meta.concrete_fields if field.attname not in ("id", "key")]
    return {name: getattr(placement, name) for name in names} | {"key": f"demo.illustration:{10_000 + number}:image"}


@pytest.fixture
def desk_of_author(client, author, make_placement):
    client.force_login(author)
    return make_placement()


class TestDrafts:
    def test_what_is_typed_comes_back_on_another_machine(self, client, author, desk_of_author):
        placement = desk_of_author
        post(client, "check", placement, text="Half a senten")
        another = Client()
        another.force_login(author)
        page = another.get(url("placement", placement))
        assert text_in_box(page) == "Half a senten"
        assert "your draft of" in page.text

    def test_a_draft_is_its_authors_alone(self, client, other_author, desk_of_author):
        placement = desk_of_author
        post(client, "check", placement, text="Half a senten")
        client.force_login(other_author)
        assert "Half a senten" not in client.get(url("placement", placement)).text

    def test_a_draft_reaches_neither_the_cms_nor_the_decisions(self, client, desk_of_author, illustration_of):
        post(client, "check", desk_of_author, text="Half a senten")
        assert illustration_of(desk_of_author).alt_text == ""
        assert not Decision.objects.exists()

    def test_saving_puts_the_draft_away(self, client, desk_of_author):
        post(client, "check", desk_of_author, text="Half a senten")
        post(client, "save", desk_of_author, text="A whole sentence")
        assert not Draft.objects.exists()

    def test_the_suggestion_itself_and_the_text_in_force_are_no_drafts(self, client, desk_of_author, suggest):
        suggest(desk_of_author, "A red ferry")
        post(client, "check", desk_of_author, text="A red ferry")
        assert not Draft.objects.exists()

    def test_an_emptied_box_leaves_no_draft(self, client, desk_of_author):
        post(client, "check", desk_of_author, text="Half")
        post(client, "check", desk_of_author, text=" ")
        assert not Draft.objects.exists()

    def test_it_can_be_thrown_away(self, client, desk_of_author, suggest):
        suggest(desk_of_author, "A red ferry")
        post(client, "check", desk_of_author, text="Half a senten")
        answer = post(client, "discard", desk_of_author)
        assert text_in_box(answer) == "A red ferry"
        assert not Draft.objects.exists()

    def test_a_text_saved_meanwhile_by_somebody_else_is_noticed(self, client, desk_of_author, other_author, at):
        placement = desk_of_author
        post(client, "check", placement, text="Half a senten")
        decisions.save_text(
            placement=placement, text="Theirs", seen=decisions.seen(placement), by=other_author, at=timezone.now()
        )
        page = client.get(url("placement", placement))
        assert text_in_box(page) == "Half a senten"
        answer = post(client, "save", placement, text="Half a sentence", page=page)
        assert answer.status_code == 409
        assert "Theirs" in answer.text
        assert text_in_box(answer) == "Half a sentence"

    @pytest.mark.parametrize("text", ["x" * 20_000, "nul \0 byte", "bidi \u202e override"])
    def test_odd_texts_are_no_error(self, client, desk_of_author, text):
        assert post(client, "check", desk_of_author, text=text).status_code == 200


class TestWorkingThroughFilters:
    """Who came with filters is served what they let through, until nothing is left."""

    @pytest.fixture
    def german(self, client, author, make_placement):
        client.force_login(author)
        english = [make_placement() for _ in range(3)]
        return [make_placement(language="de") for _ in range(2)], english

    def test_the_queue_starts_with_them(self, client, german):
        (first, _), _ = german
        page = client.get(url("queue", language="de")).text
        assert f'href="{url("next")}?language=de">Start' in page
        assert client.get(url("next", language="de")).url == f"{first.get_absolute_url()}?arrived=1&language=de"

    @pytest.mark.parametrize("act", ["save", "later"])
    def test_every_way_on_keeps_them(self, client, german, act):
        (first, second), _ = german
        page = client.get(f"{first.get_absolute_url()}?arrived=1&language=de")
        answer = post(client, act, first, page=page, then="next")
        assert answer["HX-Redirect"] == f"{second.get_absolute_url()}?arrived=1&language=de"
        last = client.get(answer["HX-Redirect"])
        assert post(client, act, second, page=last, then="next")["HX-Redirect"] == f"{url('queue')}?language=de"

    def test_an_answer_of_htmx_keeps_them(self, client, german):
        (first, _), _ = german
        page = client.get(f"{first.get_absolute_url()}?language=de")
        saved = post(client, "save", first, page=page)
        assert f"?after={first.pk}&amp;language=de" in saved.text

    @pytest.mark.parametrize("filters", ["state=%00", "x" * 5000, "page=99999999999999999999999", "who=x&captioner=y"])
    def test_filters_that_mean_nothing_keep_nobody_from_saving(self, client, german, filters):
        (first, _), _ = german
        assert post(client, "save", first, filters=filters, then="next").status_code == 200


class TestLibrary:
    """Texts of the library, which stand wherever an image has none of its own."""

    def test_they_are_served_after_all_pages(self, make_placement, author, at):
        library, page = make_placement(), make_placement()
        Placement.objects.filter(pk=library.pk).update(in_library=True)
        assert desk.serve(user=author, after=0, at=at) == page
        assert desk.serve(user=author, after=page.pk, at=at) == library

    def test_the_queue_tells_them_apart(self, client, author, make_placement):
        library, page = make_placement(), make_placement()
        client.force_login(author)
        assert 'name="place"' not in client.get(url("queue")).text
        Placement.objects.filter(pk=library.pk).update(in_library=True)
        shown = client.get(url("queue", place="library")).text
        assert library.get_absolute_url() in shown
        assert page.get_absolute_url() not in shown
        assert page.get_absolute_url() in client.get(url("queue", place="page")).text


class TestNotNow:
    def test_it_serves_another_image_first_and_keeps_the_words(self, client, author, desk_of_author, make_placement):
        following = make_placement()
        answer = post(client, "later", desk_of_author, text="Half a senten")
        assert answer["HX-Redirect"] == f"{following.get_absolute_url()}?arrived=1"
        assert Draft.objects.get().text == "Half a senten"
        assert desk.serve(user=author, after=following.pk, at=timezone.now()) is None
        tomorrow = timezone.now() + timedelta(days=1, minutes=1)
        assert desk.serve(user=author, after=following.pk, at=tomorrow) == desk_of_author

    def test_others_are_served_it_at_once(self, client, other_author, desk_of_author):
        post(client, "later", desk_of_author)
        assert desk.serve(user=other_author, after=0, at=timezone.now()) == desk_of_author

    def test_it_is_no_decision(self, client, desk_of_author):
        post(client, "later", desk_of_author)
        assert not Decision.objects.exists()
        desk_of_author.refresh_from_db()
        assert desk_of_author.state == Placement.State.OPEN

    def test_with_nothing_else_to_do_it_says_so(self, client, desk_of_author):
        answer = post(client, "later", desk_of_author, htmx=False)
        assert answer.url == url("queue")
        assert "Nothing is left to do that nobody else has open." in client.get(answer.url).text


class TestComments:
    def test_a_comment_stands_under_the_image(self, client, author, desk_of_author):
        answer = client.post(url("comment", desk_of_author), {"comment": "Is this <b>the</b> old quay?"}, **HTMX)
        assert answer.status_code == 200
        assert answer.text.lstrip().startswith(f'<div id="comments-{desk_of_author.pk}"')
        assert "Is this &lt;b&gt;the&lt;/b&gt; old quay?" in answer.text
        assert Comment.objects.get().by == author

    @pytest.mark.parametrize("text", ["", "  ", "x" * 2001])
    def test_one_that_cannot_be_sent_keeps_its_words(self, client, desk_of_author, text):
        answer = client.post(url("comment", desk_of_author), {"comment": text}, **HTMX)
        assert answer.status_code == 422
        assert text in answer.text
        assert not Comment.objects.exists()

    def test_a_comment_of_a_deleted_account_stays(self, client, desk_of_author, other_author):
        desk.comment(placement=desk_of_author, by=other_author, at=timezone.now(), text="Ask the harbour office")
        other_author.delete()
        page = client.get(url("placement", desk_of_author)).text
        assert "Ask the harbour office" in page
        assert "a deleted account" in page

    def test_a_stranger_cannot_comment(self, client, outsider, make_placement):
        client.force_login(outsider)
        assert client.post(url("comment", make_placement()), {"comment": "x"}).status_code == 404


class TestFilters:
    def test_filters_are_saved_under_a_name_and_removed(self, client, desk_of_author):
        sent = {"name": "German ones", "state": "offered", "language": "de"}
        answer = client.post(url("save-filter"), sent)
        assert answer.url == f"{url('queue')}?state=offered&language=de"
        page = client.get(url("queue")).text
        assert "?state=offered&amp;language=de" in page
        assert "German ones" in page
        client.post(url("forget-filter"), {"name": "German ones"})
        assert not SavedFilter.objects.exists()

    def test_the_same_name_replaces_them(self, client, author, desk_of_author):
        for language in ("de", "en"):
            client.post(url("save-filter"), {"name": "Mine", "language": language})
        assert [row.query for row in SavedFilter.objects.all()] == ["language=en"]

    def test_saved_filters_are_ones_own(self, client, other_author, desk_of_author):
        desk.save_filter(by=other_author, name="Theirs", query="language=de")
        assert "Theirs" not in client.get(url("queue")).text
        client.post(url("forget-filter"), {"name": "Theirs"})
        assert SavedFilter.objects.exists()

    @pytest.mark.parametrize("name", ["", "x" * 61])
    def test_a_name_that_will_not_do_is_told(self, client, desk_of_author, name):
        answer = client.post(url("save-filter"), {"name": name, "language": "de"}, follow=True)
        assert "Not saved: give the filters a name" in answer.text

    def test_there_is_an_end_to_them(self, client, author, desk_of_author):
        for number in range(desk.MOST_FILTERS):
            desk.save_filter(by=author, name=str(number), query="language=de")
        answer = client.post(url("save-filter"), {"name": "one more", "language": "de"}, follow=True)
        assert "You have 20 saved filters already" in answer.text

    def test_the_images_of_one_page_alone(self, client, author, make_illustration, make_placement):
        placement, other = make_placement(title="Harbour"), make_placement(title="Lighthouse")
        client.force_login(author)
        page = client.get(url("queue", page=placement.pk)).text
        assert placement.get_absolute_url() in page
        assert other.get_absolute_url() not in page

    @pytest.mark.parametrize(("who", "shown"), [("mine", 0), ("others", 1), ("free", 2)])
    def test_what_is_open_at_whose_desk(self, client, author, other_author, make_placement, who, shown):
        placements = [make_placement(), make_placement(), make_placement()]
        desk.claim(placement=placements[0], by=author, at=timezone.now())
        desk.claim(placement=placements[1], by=other_author, at=timezone.now())
        client.force_login(author)
        page = client.get(url("queue", who=who)).text
        assert [item.get_absolute_url() in page for item in placements] == [number == shown for number in range(3)]

    def test_what_one_captioner_version_offers(self, client, author, make_placement, suggest):
        first, second = make_placement(), make_placement()
        one, _ = suggest(first, "A red ferry", version="canned-1"), suggest(second, "A blue ferry", version="canned-2")
        client.force_login(author)
        page = client.get(url("queue", captioner=one.captioner_version_id)).text
        assert first.get_absolute_url() in page
        assert second.get_absolute_url() not in page

    @pytest.mark.parametrize("query", ["page=999999", "page=x", "who=everybody", "captioner=0", "captioner=99"])
    def test_filters_that_mean_nothing_are_no_error(self, client, desk_of_author, query):
        assert client.get(f"{url('queue')}?{query}").status_code == 200


@pytest.mark.parametrize("name", ["later", "discard", "release", "comment"])
def test_a_stranger_has_no_desk_at_an_image(client, outsider, make_placement, name):
    client.force_login(outsider)
    assert client.post(url(name, make_placement()), {"comment": "x"}).status_code == 404


def test_the_next_image_is_nobodys_where_nothing_may_be_edited(client, outsider, make_placement):
    make_placement()
    client.force_login(outsider)
    assert client.get(reverse("alttext:next")).url == url("queue")
    assert not Claim.objects.exists()


def test_the_form_of_the_page_carries_the_drafts_own_hashes(client, desk_of_author):
    page = client.get(url("placement", desk_of_author))
    post(client, "check", desk_of_author, text="Half a senten", page=page)
    again = client.get(url("placement", desk_of_author))
    names = ("version", "content_hash", "context_hash", "alt_hash")
    assert {name: fields(again)[name] for name in names} == {name: fields(page)[name] for name in names}
