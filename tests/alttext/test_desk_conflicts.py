"""Words of two authors, two windows, late requests: no text is lost without being told, no draft hides one."""

from __future__ import annotations

import html
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from alttext.models import Claim, Draft, Placement, SavedFilter
from alttext.operations import decisions
from tests.alttext.test_field import url as field_url
from tests.alttext.test_views import HTMX, post, text_in_box, url

pytestmark = pytest.mark.django_db


def save(placement, text, by):
    """Save as somebody does in a window of their own."""
    placement = Placement.objects.select_related("asset", "snapshot").get(pk=placement.pk)
    return decisions.save_text(placement=placement, text=text, seen=decisions.seen(placement), by=by, at=timezone.now())


@pytest.fixture
def opened(client, author, make_placement):
    """An image, and its page as the author has it open."""
    placement = make_placement()
    client.force_login(author)
    return placement, client.get(url("placement", placement))


@pytest.mark.parametrize("htmx", [True, False])
@pytest.mark.parametrize(
    ("name", "sent"),
    [("request", {}), ("save", {"text": " "}), ("save", {"text": "a\u202eb"}), ("role", {"role": "informative"})],
    ids=["request", "blank", "control", "role"],
)
def test_an_answer_in_between_does_not_hide_that_somebody_else_saved(client, opened, other_author, name, sent, htmx):
    placement, page = opened
    save(placement, "Theirs", other_author)
    answer = post(client, name, placement, page=page, htmx=htmx, **{"text": "Mine", **sent})
    answer = client.get(answer.url) if answer.status_code == 302 else answer
    told = "Theirs" in answer.text
    again = post(client, "save", placement, page=answer, htmx=htmx, text="Mine")
    placement.refresh_from_db()
    assert told or (again.status_code, placement.current_alt) == (409, "Theirs")


def test_comparing_does_not_hide_that_somebody_else_saved(client, opened, other_author, suggest, settings):
    settings.ALTTEXT = {**settings.ALTTEXT, "SUGGESTION_DISPLAY": "after"}
    placement, _ = opened
    suggest(placement, "A red ferry", when=timezone.now())
    page = client.get(url("placement", placement))
    save(placement, "Theirs", other_author)
    answer = post(client, "compare", placement, page=page, text="Mine")
    post(client, "save", placement, page=answer, text="Mine")
    placement.refresh_from_db()
    assert placement.current_alt == "Theirs"


def test_undo_in_a_second_window_takes_no_colleagues_text_away(client, author, other_author, make_placement):
    placement = make_placement()
    save(placement, "Theirs", other_author)
    save(placement, "Mine", author)
    client.force_login(author)
    first, second = (client.get(url("placement", placement)) for _ in range(2))
    post(client, "undo", placement, page=first, text="Mine")
    assert post(client, "undo", placement, page=second, text="Mine").status_code == 409
    placement.refresh_from_db()
    assert placement.current_alt == "Theirs"


class TestDrafts:
    def test_going_back_to_the_saved_text_leaves_none(self, client, author, make_placement):
        placement = make_placement()
        save(placement, "Old", author)
        client.force_login(author)
        page = client.get(url("placement", placement))
        for text in ("Old but new", "Old"):
            post(client, "check", placement, page=page, text=text)
        assert not Draft.objects.exists()

    def test_going_back_to_the_suggestion_leaves_none(self, client, opened, suggest):
        placement, _ = opened
        suggest(placement, "A red ferry", when=timezone.now())
        page = client.get(url("placement", placement))
        for text in ("A blue ferry", "A red ferry"):
            post(client, "check", placement, page=page, text=text)
        assert text_in_box(client.get(url("placement", placement))) == "A red ferry"

    @pytest.mark.parametrize(("saved", "checked"), [("A b c", "A b"), ("A b c ", "A b c ")])
    def test_a_check_that_comes_after_the_save_hides_nothing(self, client, opened, saved, checked):
        placement, page = opened
        post(client, "save", placement, page=page, text=saved)
        post(client, "check", placement, page=page, text=checked)
        assert not Draft.objects.exists()

    def test_another_role_is_no_other_page(self, client, opened):
        placement, page = opened
        post(client, "check", placement, page=page, text="Mine words")
        post(client, "role", placement, page=page, text="Mine words", role="complex")
        page = client.get(url("placement", placement))
        assert post(client, "save", placement, page=page, text="Mine words").status_code == 200

    def test_typed_words_are_back_once_decorative_is_undone(self, client, opened):
        placement, page = opened
        post(client, "check", placement, page=page, text="Mine words")
        post(client, "decorative", placement, page=page, text="Mine words")
        post(client, "undo", placement, page=client.get(url("placement", placement)), text="")
        assert text_in_box(client.get(url("placement", placement))) == "Mine words"


def test_a_claim_lasts_while_its_author_types(client, opened):
    placement, page = opened
    Claim.objects.update(until=timezone.now() + timedelta(seconds=5))
    post(client, "check", placement, page=page, text="typing away")
    assert Claim.objects.get().until > timezone.now() + timedelta(seconds=60)


def test_a_list_that_was_narrowed_starts_where_it_was_narrowed(client, author, make_placement):
    make_placement(language="de")
    client.force_login(author)
    assert f"{url('next')}?language=de" in client.get(url("queue", language="de"), **HTMX).text


def test_filters_too_long_to_be_carried_break_nothing(client, opened):
    placement, _ = opened
    search = "渡" * 60
    page = client.get(f"{url('placement', placement)}?search={search}&page={placement.pk}")
    assert post(client, "save", placement, page=page, then="next").status_code == 200
    client.post(url("save-filter"), {"name": "x", "search": "渡" * 200})
    assert all(len(row.query) <= 500 for row in SavedFilter.objects.all())


@pytest.mark.parametrize("where", ["queue", "next"])
@pytest.mark.parametrize(
    "query", ["captioner=" + "9" * 20, "page=" + "9" * 20, "after=" + "9" * 20, "captioner=9223372036854775808"]
)
def test_numbers_that_no_database_holds_are_no_error(client, opened, query, where):
    assert client.get(f"{url(where)}?{query}").status_code < 400


@pytest.mark.parametrize("name", ["check", "save", "reject", "undo", "later", "compare", "request", "discard"])
@pytest.mark.parametrize(
    "sent",
    [{"suggestion": "9" * 25}, {"version": "9" * 25}, {"version": "9" * 12}, {"content_hash": "\0"}],
    ids=["suggestion", "version", "far", "nul"],
)
def test_a_damaged_form_is_no_error(client, opened, name, sent):
    placement, page = opened
    assert post(client, name, placement, page=page, text="Mine", **sent).status_code < 500


def test_the_panel_of_a_cms_offers_no_comparison_that_it_cannot_make(client, opened, suggest, settings):
    settings.ALTTEXT = {**settings.ALTTEXT, "SUGGESTION_DISPLAY": "after"}
    placement, _ = opened
    asked = client.post(field_url("field-ask", placement.key), **HTMX).text
    poll = html.unescape(re.search(r'hx-get="([^"]*suggestion/[^"]*)"', asked)[1])
    suggest(placement, "A red ferry", when=timezone.now())
    shown = client.get(poll, **HTMX).text
    assert "Compare with" not in shown
    assert "red ferry" not in shown
