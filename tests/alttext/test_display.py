"""How authors meet a suggestion: in the box, beside it, after they have written, or never, on control items."""

from __future__ import annotations

import pytest
from django.utils import timezone

from alttext.models import Placement, Suggestion
from alttext.operations import decisions
from alttext.reports.cohorts import Cohort
from tests.alttext.test_field import url as field_url
from tests.alttext.test_views import HTMX, post, text_in_box, url

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk_with(client, author, make_placement, suggest, settings):
    """A signed-in author with one image, whose suggestion is met in the given way."""

    def make(display, **shares):
        settings.ALTTEXT = {**settings.ALTTEXT, "SUGGESTION_DISPLAY": display, "DISPLAY_SHARES": shares}
        client.force_login(author)
        placement = make_placement()
        return placement, suggest(placement, "A red ferry", when=timezone.now(), flags=["hedged"])

    return make


def test_by_default_the_box_holds_it(client, desk_with):
    placement, suggestion = desk_with("prefilled")
    assert text_in_box(client.get(url("placement", placement))) == "A red ferry"
    assert suggestion.display == "prefilled"


def test_beside_an_empty_box_it_can_be_used(client, desk_with):
    placement, _ = desk_with("beside")
    page = client.get(url("placement", placement))
    assert text_in_box(page) == ""
    assert 'data-use="A red ferry"' in page.text


class TestAfter:
    @pytest.mark.parametrize("name", ["placement", "queue", "field", "suggestion"])
    def test_it_is_on_no_page_before_the_author_has_written(self, client, desk_with, name):
        placement, _ = desk_with("after")
        where = {"queue": url("queue"), "field": field_url("field", placement.key)}
        answer = client.get(where.get(name) or url(name, placement), **(HTMX if name == "field" else {}))
        assert "red ferry" not in answer.text
        assert "hedged" not in answer.text

    def test_nor_in_the_api(self, client, desk_with):
        placement, suggestion = desk_with("after")
        shown = client.get(f"/alttext/api/placements/{placement.pk}/").json()["suggestion"]
        assert (shown["text"], shown["shown"], shown["flags"]) == (None, False, [])
        assert client.get(f"/alttext/api/suggestions/{suggestion.pk}/").json()["text"] is None

    def test_an_empty_box_cannot_be_compared(self, client, desk_with):
        placement, suggestion = desk_with("after")
        answer = post(client, "compare", placement, text="  ")
        assert answer.status_code == 422
        assert "red ferry" not in answer.text
        suggestion.refresh_from_db()
        assert suggestion.shown_at is None

    def test_who_has_written_compares_and_keeps_the_text(self, client, desk_with):
        placement, suggestion = desk_with("after")
        answer = post(client, "compare", placement, text="A boat")
        assert text_in_box(answer) == "A boat"
        assert 'data-use="A red ferry"' in answer.text
        saved = post(client, "save", placement, text="A red boat")
        suggestion.refresh_from_db()
        assert saved.status_code == 200
        assert suggestion.state in ("EDITED", "REPLACED")

    def test_a_text_saved_without_comparing_is_no_edit_of_it(self, client, desk_with, lead):
        placement, suggestion = desk_with("after")
        post(client, "save", placement, text="A red ferry at sea")
        decision = placement.decisions.get()
        suggestion.refresh_from_db()
        assert (decision.suggestion, decision.outcome, suggestion.state) == (None, "", "SUPERSEDED")
        assert not Cohort(None, timezone.now()).suggestions(lead).exists()


class TestControl:
    def test_a_control_item_is_never_shown(self, client, desk_with):
        placement, suggestion = desk_with("prefilled", blank=1.0)
        page = client.get(url("placement", placement))
        assert suggestion.display == "blank"
        assert "red ferry" not in page.text
        assert "what people write unaided" in page.text
        assert "red ferry" not in post(client, "compare", placement, text="Mine").text
        post(client, "save", placement, text="Mine")
        assert placement.decisions.get().suggestion is None

    def test_a_text_written_in_the_cms_is_no_edit_of_it(self, client, desk_with, adapter, author, illustration_of):
        placement, _ = desk_with("prefilled", blank=1.0)
        row = illustration_of(placement)
        row.alt_text = "Mine"
        row.save()
        decision = decisions.record_written(adapter=adapter, key=placement.key, by=author, at=timezone.now())
        assert (decision.suggestion, decision.outcome) == (None, "")

    def test_the_way_is_drawn_once_for_each_image(self, make_placement, suggest, settings, at):
        settings.ALTTEXT = {**settings.ALTTEXT, "DISPLAY_SHARES": {"blank": 0.5}}
        placement = make_placement()
        drawn = {suggest(placement, f"Text {number}", version=f"v{number}").display for number in range(5)}
        assert len(drawn) == 1

    def test_the_share_is_kept(self, make_placement, settings):
        from alttext.operations import suggestions

        settings.ALTTEXT = {**settings.ALTTEXT, "DISPLAY_SHARES": {"blank": 0.1, "after": 0.2}}
        drawn = [suggestions._display(Placement(adapter="x", key=f"key {number}")) for number in range(2000)]
        # binomial: 3.5 standard deviations on either side
        assert 153 < drawn.count("blank") < 247
        assert 337 < drawn.count("after") < 463
        assert drawn.count("prefilled") == 2000 - drawn.count("blank") - drawn.count("after")


@pytest.mark.parametrize(
    "given",
    [
        {"SUGGESTION_DISPLAY": "blank"},
        {"SUGGESTION_DISPLAY": "sideways"},
        {"DISPLAY_SHARES": {"sideways": 0.1}},
        {"DISPLAY_SHARES": {"blank": 0.6, "after": 0.6}},
        {"DISPLAY_SHARES": {"blank": "many"}},
    ],
)
def test_settings_that_mean_nothing_are_named(settings, given):
    from alttext import conf

    settings.ALTTEXT = {**settings.ALTTEXT, **given}
    assert any(next(iter(given)) in problem for problem in conf.wrong_values())


def test_the_database_knows_the_ways(make_placement, suggest):
    from django.db import IntegrityError, transaction

    suggestion = suggest(make_placement())
    with pytest.raises(IntegrityError), transaction.atomic():
        Suggestion.objects.filter(pk=suggestion.pk).update(display="sideways")
