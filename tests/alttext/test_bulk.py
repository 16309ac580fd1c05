"""Several images at once: nothing is written by looking, each is one recorded act, what cannot be done says why."""

from __future__ import annotations

import html
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from alttext import reports
from alttext.contrib.imagefields.adapter import ImageFieldsAdapter
from alttext.models import Claim, Decision, Draft, Placement, Suggestion
from alttext.operations import decisions, desk
from tests.alttext.test_views import url

pytestmark = pytest.mark.django_db


@pytest.fixture
def offered(make_placement, suggest):
    """A placement with a pending suggestion of just now."""

    def make(text="A red ferry", *, flags=(), **fields):
        placement = make_placement(**fields)
        suggest(placement, text, when=timezone.now(), flags=flags)
        return placement

    return make


@pytest.fixture
def three(offered):
    return [offered(f"A red ferry, number {number}") for number in range(3)]


def ticked(page, name="item"):
    """The values of the ticked boxes, or of hidden fields, called `name`."""
    return [html.unescape(value) for value in re.findall(rf'name="{name}" value="([^"]+)"', page.text)]


def look(client, verb, placements, **more):
    return client.post(url("bulk"), {"verb": verb, "item": [row.pk for row in placements], **more})


def confirm(client, verb, page, items=None, **more):
    return client.post(url("bulk-confirm"), {"verb": verb, "item": ticked(page) if items is None else items, **more})


def do(client, verb, placements, **more):
    return confirm(client, verb, look(client, verb, placements), **more)


def undo_all(client, page):
    return client.post(url("bulk-undo"), {"made": ticked(page, "made")})


def words(page):
    """The page as it reads."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page.text)))


def texts_of(placements, illustration_of):
    return [illustration_of(row).alt_text for row in placements]


class TestTheQueue:
    def test_every_row_can_be_ticked_and_the_form_works_without_scripts(self, client, author, three):
        client.force_login(author)
        page = client.get(url("queue")).text
        for row in three:
            assert re.search(rf'<input type="checkbox"[^>]* name="item" value="{row.pk}" form="bulk">', page)
        assert f'<form id="bulk" class="bulk" method="post" action="{url("bulk")}">' in page

    def test_all_of_the_page_is_what_was_listed(self, client, author, three, make_placement):
        client.force_login(author)
        listed = ticked(client.get(url("queue")), "listed")
        later = make_placement(title="Came later")
        page = client.post(url("bulk"), {"verb": "decorative", "all": "yes", "listed": listed})
        assert "Mark as decorative: 3 images" in words(page)
        assert later.page_title not in page.text

    def test_the_way_back_keeps_filters_and_page(self, client, author, three):
        client.force_login(author)
        page = look(client, "accept", three, state="offered", language="en", after="0")
        assert f'{url("queue")}?state=offered&amp;language=en"' in page.text
        result = confirm(client, "accept", page, state="offered", language="en")
        assert f'{url("queue")}?state=offered&amp;language=en"' in result.text


class TestLooking:
    @pytest.mark.parametrize("verb", ["accept", "reject", "decorative"])
    def test_looking_writes_nothing(self, client, author, three, illustration_of, verb):
        before = list(Placement.objects.order_by("pk").values())
        client.force_login(author)
        page = look(client, verb, three)
        assert page.status_code == 200
        assert "Nothing is written yet." in page.text
        assert list(Placement.objects.order_by("pk").values()) == before
        assert not Decision.objects.exists()
        assert not Claim.objects.exists()
        assert texts_of(three, illustration_of) == ["", "", ""]

    def test_each_image_shows_its_text_language_and_findings(self, client, author, offered):
        arabic = offered("صورة قارب", language="ar")
        vague = offered("image of a boat")
        client.force_login(author)
        page = look(client, "accept", [arabic, vague])
        assert '<span class="offered" lang="ar" dir="rtl">صورة قارب</span>' in page.text
        assert "The text begins with" in page.text
        assert "Image 1 of 2, no alternative text yet" in page.text

    def test_the_number_of_queries_does_not_grow_with_the_images(
        self, client, author, offered, django_assert_max_num_queries
    ):
        rows = [offered() for _ in range(10)]
        client.force_login(author)
        with django_assert_max_num_queries(9):
            look(client, "accept", rows)

    def test_texts_are_escaped(self, client, author, offered):
        client.force_login(author)
        page = look(client, "accept", [offered("<script>x</script>")])
        assert "<script>x" not in page.text

    @pytest.mark.parametrize(
        ("sent", "said"),
        [
            ({"verb": "accept"}, "no image was chosen"),
            ({"verb": "accept", "item": "x"}, "no image was chosen"),
            ({"verb": "explode", "item": "1"}, "press one of the three buttons"),
            ({"item": "1"}, "press one of the three buttons"),
            ({"verb": "accept", "item": [str(number) for number in range(1, 27)]}, "at most 25 images at once"),
            ({"verb": "accept", "item": ["9" * 30]}, "no image was chosen"),
        ],
    )
    def test_a_choice_that_means_nothing_leads_back_with_words(self, client, author, sent, said):
        client.force_login(author)
        answer = client.post(url("bulk"), sent, follow=True)
        assert answer.redirect_chain == [(url("queue"), 302)]
        assert said in answer.text

    def test_what_is_gone_or_foreign_is_counted_and_not_named(self, client, author, three, offered):
        gone = offered(title="Secret page")
        Placement.objects.filter(pk=gone.pk).update(state="GONE")
        client.force_login(author)
        page = client.post(url("bulk"), {"verb": "accept", "item": [three[0].pk, gone.pk, 999_999]})
        assert "2 of the chosen images are gone, or you may not edit them" in words(page)
        assert "Secret page" not in page.text


class TestWhatSpeaksAgainst:
    def reason(self, client, verb, placement):
        page = look(client, verb, [placement])
        assert ticked(page) == []
        assert "Left out: 1" in page.text
        return words(page)

    @pytest.fixture(autouse=True)
    def _signed_in(self, client, author):
        client.force_login(author)

    @pytest.mark.parametrize("verb", ["accept", "reject"])
    def test_no_suggestion(self, client, make_placement, suggest, verb):
        assert "No suggestion is pending." in self.reason(client, verb, make_placement())
        silent = make_placement()
        suggest(silent, reasons=["value_unverified"])
        assert "No suggestion is pending." in self.reason(client, verb, silent)

    @pytest.mark.parametrize("verb", ["accept", "reject"])
    @pytest.mark.parametrize("display", ["after", "blank"])
    def test_a_hidden_suggestion_is_neither_used_nor_shown(self, client, offered, settings, verb, display):
        settings.ALTTEXT = {**settings.ALTTEXT, "DISPLAY_SHARES": {display: 1.0}}
        page = self.reason(client, verb, offered("A secret ferry"))
        assert "No suggestion is shown for it" in page
        assert "secret ferry" not in page

    def test_a_marked_suggestion_is_looked_at_on_its_own(self, client, offered):
        assert "words that read like instructions" in self.reason(
            client, "accept", offered(flags=["instruction_in_page"])
        )

    def test_a_marked_suggestion_can_be_rejected_with_others(self, client, offered):
        placement = offered(flags=["instruction_in_page"])
        assert "1 suggestion rejected" in do(client, "reject", [placement]).text

    def test_a_text_of_a_person_stays(self, client, author, make_placement, suggest):
        placement = make_placement(alt_text="Theirs")
        suggest(placement, "A red ferry", by=author)
        for verb in ("accept", "decorative"):
            assert "Theirs" in self.reason(client, verb, placement)

    def test_what_is_decorative_already(self, client, make_placement):
        assert "marked as decorative already" in self.reason(client, "decorative", make_placement(decorative=True))

    def test_the_only_content_of_a_link_needs_a_text(self, client, make_placement):
        link = make_placement(link_url="/tickets/", role="functional")
        assert "so it needs a text" in self.reason(client, "decorative", link)

    @pytest.mark.parametrize("verb", ["accept", "reject", "decorative"])
    def test_what_somebody_else_has_open(self, client, offered, other_author, verb):
        placement = offered()
        desk.claim(placement=placement, by=other_author, at=timezone.now())
        assert f"{other_author.get_username()} has it open." in self.reason(client, verb, placement)

    def test_an_expired_claim_or_ones_own_is_none(self, client, author, offered, other_author):
        expired, own = offered(), offered()
        desk.claim(placement=expired, by=other_author, at=timezone.now() - timedelta(hours=1))
        desk.claim(placement=own, by=author, at=timezone.now())
        assert len(ticked(look(client, "accept", [expired, own]))) == 2

    @pytest.mark.parametrize("verb", ["accept", "decorative"])
    def test_a_draft_of_ones_own_would_be_lost(self, client, author, offered, verb):
        placement = offered()
        desk.keep_draft(
            placement=placement, text="Half a senten", seen=decisions.seen(placement), by=author, at=timezone.now()
        )
        assert "You have a draft of your own" in self.reason(client, verb, placement)
        assert Draft.objects.get().text == "Half a senten"

    def test_rejecting_keeps_the_draft(self, client, author, offered):
        placement = offered()
        desk.keep_draft(
            placement=placement, text="Half a senten", seen=decisions.seen(placement), by=author, at=timezone.now()
        )
        do(client, "reject", [placement])
        assert Draft.objects.get().text == "Half a senten"

    def test_a_suggestion_about_another_image(self, client, offered, make_placement):
        placement, other = offered(), make_placement()
        Placement.objects.filter(pk=placement.pk).update(asset=other.asset)  # as between a scan's steps
        assert "changed since the suggestion was made" in self.reason(client, "accept", placement)

    def test_a_text_with_signs_that_nobody_sees(self, client, offered):
        placement = offered()
        Suggestion.objects.filter(placement=placement).update(text="A red \u202e ferry")
        assert "Left out" in self.reason(client, "accept", placement)


class TestDoing:
    def test_each_accepted_suggestion_is_one_act_of_the_person(self, client, author, three, illustration_of):
        client.force_login(author)
        page = do(client, "accept", three)
        assert '<h1 tabindex="-1" autofocus>3 suggestions accepted</h1>' in page.text
        assert re.search(r'role="status"[^>]*><p>3 suggestions accepted\.</p>', page.text)
        assert texts_of(three, illustration_of) == [f"A red ferry, number {number}" for number in range(3)]
        rows = list(Decision.objects.order_by("placement"))
        assert [(row.placement_id, row.act, row.outcome, row.by, row.distance) for row in rows] == [
            (placement.pk, "SAVE", "AS_IS", author, 0) for placement in three
        ]
        assert all(row.suggestion.state == "AS_IS" and row.snapshot_id and row.asset_id for row in rows)

    def test_a_row_looks_like_one_of_a_single_act(self, client, author, offered):
        single, several = offered(), offered()
        client.force_login(author)
        decisions.save_text(
            placement=single,
            text="A red ferry",
            seen=decisions.seen(single, single.suggestions.get()),
            by=author,
            at=timezone.now(),
        )
        do(client, "accept", [several])
        own = {
            "id",
            "placement_id",
            "suggestion_id",
            "at",
            "idempotency_key",
            "asset_id",
            "snapshot_id",
            "active_seconds",
        }
        one, other = (
            {name: value for name, value in row.items() if name not in own}
            for row in Decision.objects.order_by("pk").values()
        )
        assert one == other

    @pytest.mark.parametrize(("seconds", "each", "too_fast"), [(1.5, 0.5, 1.0), (30.0, 10.0, 0.0), (3600.0, 30.0, 0.0)])
    def test_time_on_the_preview_is_shared_out_so_that_rubber_stamps_show(
        self, client, author, lead, three, monkeypatch, seconds, each, too_fast
    ):
        """Five words take 1.25 s to read; nobody looks at one image for more than 30 s without a pause."""
        started = timezone.now()
        monkeypatch.setattr(timezone, "now", lambda: started)
        client.force_login(author)
        shown = look(client, "accept", three)
        monkeypatch.setattr(timezone, "now", lambda: started + timedelta(seconds=seconds))
        confirm(client, "accept", shown)
        seen = set(Decision.objects.values_list("active_seconds", flat=True))
        assert sorted(seen) == pytest.approx([each] * len(seen), abs=0.4)  # the signature carries the real clock
        stamps = reports.overview(user=lead, since=None, until=timezone.now()).acts.rubber_stamps
        assert (stamps.share, stamps.timed) == (too_fast, 3)

    def test_rejecting_dismisses_with_the_reason_and_leaves_the_text(self, client, author, three, illustration_of):
        client.force_login(author)
        page = do(client, "reject", three, reason="Not red")
        assert "3 suggestions rejected" in page.text
        assert set(Decision.objects.values_list("act", "reason")) == {("REJECT", "Not red")}
        assert set(Suggestion.objects.values_list("state", flat=True)) == {"REJECTED"}
        assert texts_of(three, illustration_of) == ["", "", ""]

    def test_marking_decorative_writes_the_mark(self, client, author, three, illustration_of):
        client.force_login(author)
        page = do(client, "decorative", three)
        assert "3 images marked as decorative" in page.text
        assert all(illustration_of(row).decorative for row in three)

    def test_what_was_unticked_is_left_alone(self, client, author, three, illustration_of):
        client.force_login(author)
        shown = look(client, "accept", three)
        page = confirm(client, "accept", shown, items=ticked(shown)[:1])
        assert "1 suggestion accepted" in page.text
        assert texts_of(three, illustration_of)[1:] == ["", ""]

    def test_sent_twice_it_does_nothing_twice(self, client, author, three):
        client.force_login(author)
        shown = look(client, "accept", three)
        first = confirm(client, "accept", shown)
        again = confirm(client, "accept", shown)
        assert Decision.objects.count() == 3
        assert "3 suggestions accepted" in again.text
        assert len(ticked(again, "made")) == len(ticked(first, "made")) == 3

    def test_a_box_that_is_sent_twice_counts_once(self, client, author, three):
        client.force_login(author)
        shown = look(client, "accept", three)
        page = confirm(client, "accept", shown, items=ticked(shown)[:1] * 3)
        assert "1 suggestion accepted" in page.text
        assert Decision.objects.count() == 1

    def test_sent_again_after_it_was_taken_back_it_says_so(self, client, author, three):
        client.force_login(author)
        for verb in ("accept", "reject", "decorative"):
            shown = look(client, verb, three)
            undo_all(client, confirm(client, verb, shown))
            number = Decision.objects.count()
            assert words(confirm(client, verb, shown)).count("taken back since") == 3
            assert Decision.objects.count() == number

    def test_the_note_of_the_cms_is_passed_on(self, client, author, three, monkeypatch):
        real = ImageFieldsAdapter.apply
        monkeypatch.setattr(
            ImageFieldsAdapter, "apply", lambda self, key, **given: real(self, key, **given) or "Saved in a draft."
        )
        client.force_login(author)
        assert do(client, "accept", three).text.count("Saved in a draft.") == 3


class TestPartialFailure:
    @pytest.fixture(autouse=True)
    def _signed_in(self, client, author):
        client.force_login(author)

    def test_one_that_somebody_else_decided_is_skipped_with_both_texts(
        self, client, three, other_author, illustration_of
    ):
        shown = look(client, "accept", three)
        placement = three[1]
        decisions.save_text(
            placement=placement, text="Theirs", seen=decisions.seen(placement), by=other_author, at=timezone.now()
        )
        page = confirm(client, "accept", shown)
        assert "2 suggestions accepted, 1 skipped" in page.text
        assert placement.get_absolute_url() in page.text
        assert texts_of(three, illustration_of)[1] == "Theirs"

    def test_one_whose_text_was_changed_in_the_cms_is_skipped_with_both_texts(self, client, three, illustration_of):
        shown = look(client, "accept", three)
        row = illustration_of(three[0])
        row.alt_text = "Typed in the CMS"
        type(row).objects.filter(pk=row.pk).update(alt_text="Typed in the CMS")  # no signal: known only by looking
        page = confirm(client, "accept", shown)
        assert "2 suggestions accepted, 1 skipped" in page.text
        assert "Typed in the CMS" in page.text
        assert "A red ferry, number 0" in page.text
        assert illustration_of(three[0]).alt_text == "Typed in the CMS"

    def test_one_whose_page_changed_is_skipped_and_a_new_suggestion_asked_for(self, client, three, illustration_of):
        shown = look(client, "accept", three)
        row = illustration_of(three[0])
        type(row).objects.filter(pk=row.pk).update(text_before="Other words")
        page = confirm(client, "accept", shown)
        assert "The words around the image changed meanwhile" in page.text
        assert three[0].jobs.filter(state="QUEUED").exists()
        assert Decision.objects.count() == 2

    def test_ones_own_newer_text_is_not_overwritten(self, client, author, three, illustration_of):
        shown = look(client, "accept", three)
        decisions.save_text(
            placement=three[0], text="My own", seen=decisions.seen(three[0]), by=author, at=timezone.now()
        )
        page = confirm(client, "accept", shown)
        assert "2 suggestions accepted, 1 skipped" in page.text
        assert illustration_of(three[0]).alt_text == "My own"

    def test_one_that_was_opened_by_somebody_else_meanwhile_is_skipped(self, client, three, other_author):
        shown = look(client, "accept", three)
        desk.claim(placement=three[2], by=other_author, at=timezone.now())
        page = confirm(client, "accept", shown)
        assert f"{other_author.get_username()} has it open." in page.text
        assert Decision.objects.count() == 2

    @pytest.mark.parametrize(
        ("problem", "said"),
        [
            ("TextDoesNotFit", "stores at most 10 characters here"),
            ("Refused", "Not on a Sunday."),
            ("NotThere", "The place is gone."),
            ("OperationalError", "The database was busy."),
            ("ZeroDivisionError", "The site made a mistake with this one."),
        ],
    )
    def test_what_one_image_meets_stops_no_other(self, client, three, monkeypatch, problem, said, illustration_of):
        from django.db import OperationalError

        from alttext import adapters

        errors = {
            "TextDoesNotFit": adapters.TextDoesNotFit(10),
            "Refused": adapters.Refused("Not on a Sunday."),
            "NotThere": adapters.NotThere("The place is gone."),
            "OperationalError": OperationalError("database is locked"),
            "ZeroDivisionError": ZeroDivisionError(),
        }
        real, key = ImageFieldsAdapter.apply, three[1].key

        def apply(self, where, **given):
            if where == key:
                raise errors[problem]
            return real(self, where, **given)

        shown = look(client, "accept", three)
        monkeypatch.setattr(ImageFieldsAdapter, "apply", apply)
        page = confirm(client, "accept", shown)
        assert "2 suggestions accepted, 1 skipped" in page.text
        assert said in page.text
        assert Decision.objects.count() == 2
        assert texts_of(three, illustration_of)[1] == ""

    def test_lost_permission_is_told_and_the_image_not_linked(self, client, author, three):
        shown = look(client, "accept", three)
        author.user_permissions.clear()
        page = confirm(client, "accept", shown)
        assert "0 suggestions accepted, 3 skipped" in page.text
        assert "you may no longer edit it" in page.text
        assert three[0].get_absolute_url() not in page.text
        assert not Decision.objects.exists()


class TestUndoingAll:
    @pytest.fixture(autouse=True)
    def _signed_in(self, client, author):
        client.force_login(author)

    @pytest.mark.parametrize("verb", ["accept", "reject", "decorative"])
    def test_it_brings_back_what_stood_there(self, client, three, illustration_of, verb):
        before = [(row.alt_text, row.decorative) for row in map(illustration_of, three)]
        page = undo_all(client, do(client, verb, three))
        assert '<h1 tabindex="-1" autofocus>3 acts taken back</h1>' in page.text
        assert [(row.alt_text, row.decorative) for row in map(illustration_of, three)] == before
        assert set(Suggestion.objects.values_list("state", flat=True)) == {"PENDING"}
        assert Decision.objects.filter(act="UNDO").count() == 3

    def test_it_takes_back_only_what_is_still_in_force(self, client, author, other_author, three, illustration_of):
        done = do(client, "accept", three)
        mine, theirs, left = (Placement.objects.get(pk=row.pk) for row in three)
        for placement, by in ((mine, author), (theirs, other_author)):
            decisions.save_text(
                placement=placement, text="Newer", seen=decisions.seen(placement), by=by, at=timezone.now()
            )
        page = undo_all(client, done)
        assert "1 act taken back, 2 skipped" in page.text
        assert texts_of([mine, theirs, left], illustration_of) == ["Newer", "Newer", ""]

    def test_a_text_changed_in_the_cms_since_stays(self, client, three, illustration_of):
        done = do(client, "accept", three)
        row = illustration_of(three[0])
        type(row).objects.filter(pk=row.pk).update(alt_text="Typed in the CMS")
        page = undo_all(client, done)
        assert "2 acts taken back, 1 skipped" in page.text
        assert illustration_of(three[0]).alt_text == "Typed in the CMS"

    def test_sent_twice_it_takes_nothing_more_back(self, client, three):
        done = do(client, "accept", three)
        undo_all(client, done)
        again = undo_all(client, done)
        assert Decision.objects.filter(act="UNDO").count() == 3
        assert "3 acts taken back" in again.text
        assert not ticked(again, "made")

    def test_what_was_undone_on_its_own_page_is_told(self, client, author, three):
        done = do(client, "accept", three)
        placement = Placement.objects.get(pk=three[0].pk)
        decisions.undo(placement=placement, seen=decisions.seen(placement), by=author, at=timezone.now())
        page = undo_all(client, done)
        assert "It was taken back already." in page.text
        assert "2 acts taken back, 1 skipped" in page.text

    def test_only_who_did_it_can_send_it(self, three, other_author, client):
        done = do(client, "accept", three)
        stranger = Client()
        stranger.force_login(other_author)
        answer = undo_all(stranger, done)
        assert answer.status_code == 302
        assert not Decision.objects.filter(act="UNDO").exists()


class TestDamage:
    @pytest.mark.parametrize(
        "change", [lambda value: value[:-1], lambda value: "x" + value, lambda value: "", str.upper]
    )
    def test_a_changed_field_is_refused_as_a_whole(self, client, author, three, change):
        client.force_login(author)
        items = ticked(look(client, "accept", three))
        answer = confirm(client, "accept", None, items=[*items[:2], change(items[2])])
        assert answer.status_code == 302
        assert not Decision.objects.exists()

    def test_another_act_than_the_one_shown_is_refused(self, client, author, three):
        client.force_login(author)
        answer = confirm(client, "decorative", look(client, "accept", three))
        assert answer.status_code == 302
        assert not Decision.objects.exists()

    def test_a_field_shown_to_somebody_else_is_refused(self, client, author, other_author, three):
        client.force_login(author)
        items = ticked(look(client, "accept", three))
        client.force_login(other_author)
        assert confirm(client, "accept", None, items=items).status_code == 302
        assert not Decision.objects.exists()

    def test_a_field_of_the_result_is_none_of_the_preview(self, client, author, three):
        client.force_login(author)
        made = ticked(do(client, "accept", three), "made")
        assert confirm(client, "accept", None, items=made).status_code == 302
        assert client.post(url("bulk-undo"), {"made": ticked(look(client, "accept", three))}).status_code == 302


VIEWS = ["bulk", "bulk-confirm", "bulk-undo"]


@pytest.mark.parametrize("name", VIEWS)
def test_they_cannot_be_visited(client, author, name):
    client.force_login(author)
    assert client.get(url(name)).status_code == 405


@pytest.mark.parametrize("name", VIEWS)
def test_they_need_the_secret_of_the_form(author, name):
    client = Client(enforce_csrf_checks=True)
    client.force_login(author)
    assert client.post(url(name), {"verb": "accept", "item": "1"}).status_code == 403


@pytest.mark.parametrize("name", VIEWS)
def test_who_is_not_signed_in_is_led_to_the_queue_after_signing_in(client, name):
    assert client.post(url(name)).url.endswith(f"?next={url('queue')}")


@pytest.mark.parametrize("verb", ["accept", "reject", "decorative"])
@pytest.mark.parametrize(
    ("role", "allowed"), [("author", True), ("lead", True), ("admin", True), ("outsider", False), ("inactive", False)]
)
def test_permissions(client, author, make_user, three, role, allowed, verb, illustration_of):
    user = make_user("author" if role == "inactive" else role)
    client.force_login(user)
    if role == "inactive":
        user.is_active = False
        user.save()
    page = look(client, verb, three)
    assert (page.status_code == 200 and len(ticked(page)) == 3) == allowed
    confirm(client, verb, page)
    assert Decision.objects.count() == (3 if allowed else 0)
