"""Texts that a person saves in the CMS's own editor: recorded as the same acts, once, and closed by publishing."""

from __future__ import annotations

from datetime import timedelta

import pytest

from alttext.adapters import ABOUT_TO_BE, NotThere
from alttext.models import Decision, Placement
from alttext.operations import decisions, placements
from alttext.reports import edit_records
from alttext.reports.cohorts import Cohort

pytestmark = pytest.mark.django_db


@pytest.fixture
def save_in_cms(illustration_of, adapter, author, at):
    """Save the row as its own editor would, and record it."""

    def save(placement, *, by=author, when=at, **fields):
        row = illustration_of(placement)
        for name, value in fields.items():
            setattr(row, name, value)
        row.save()
        decision = decisions.record_written(adapter=adapter, key=placement.key, by=by, at=when)
        placement.refresh_from_db()
        return decision

    return save


@pytest.mark.parametrize(
    ("text", "outcome"),
    [("A red cat", "AS_IS"), ("A red cat sleeps", "EDITED"), ("Two boats in the harbour", "REPLACED")],
)
def test_a_text_saved_in_the_cms_counts_as_what_became_of_the_suggestion(
    make_placement, suggest, save_in_cms, author, text, outcome
):
    placement = make_placement()
    suggestion = suggest(placement, "A red cat")
    row = save_in_cms(placement, alt_text=text)
    suggestion.refresh_from_db()
    assert (row.outcome, row.final_text, row.prior_text, row.by) == (outcome, text, "", author)
    assert suggestion.state == outcome
    assert (placement.state, placement.current_alt, placement.version) == (Placement.State.DONE, text, 1)


def test_decorative_in_the_cms_is_the_same_act_as_in_the_workbench(make_placement, suggest, save_in_cms):
    placement = make_placement()
    suggestion = suggest(placement, "A red cat")
    row = save_in_cms(placement, decorative=True)
    suggestion.refresh_from_db()
    assert (row.act, row.final_decorative, suggestion.state) == ("DECORATIVE", True, "DECORATIVE")
    assert placement.decorative


def test_saving_again_without_a_new_text_records_nothing(make_placement, suggest, save_in_cms):
    placement = make_placement()
    suggest(placement, "A red cat")
    save_in_cms(placement, alt_text="A cat")
    assert save_in_cms(placement, caption="Another caption") is None
    assert Decision.objects.count() == 1


def test_a_text_that_was_there_before_is_no_act_of_the_person_who_saves_the_page(make_placement, save_in_cms):
    placement = make_placement(alt_text="Written years ago")
    assert save_in_cms(placement, caption="New") is None
    assert placement.state == Placement.State.HUMAN


def test_words_edited_in_the_same_save_do_not_hide_what_became_of_the_suggestion(make_placement, suggest, save_in_cms):
    placement = make_placement()
    suggestion = suggest(placement, "A red cat")
    row = save_in_cms(placement, alt_text="A red cat sleeps", text_before="Other words around it")
    suggestion.refresh_from_db()
    assert (row.suggestion, row.outcome, suggestion.state) == (suggestion, "EDITED", "EDITED")
    assert not placement.stale


def test_a_text_for_another_picture_is_no_edit_of_the_suggestion(
    make_placement, suggest, save_in_cms, make_image, illustration_of
):
    from django.core.files.base import ContentFile

    placement = make_placement()
    suggestion = suggest(placement, "A red cat")
    illustration_of(placement).image.save("other.png", ContentFile(make_image()))
    row = save_in_cms(placement, alt_text="A red cat sleeps")
    suggestion.refresh_from_db()
    assert (row.suggestion, row.outcome, suggestion.state) == (None, "", "SUPERSEDED")


def test_an_emptied_text_is_no_decision_and_opens_the_image_again(make_placement, save_in_cms):
    placement = make_placement(alt_text="Words")
    assert save_in_cms(placement, alt_text="  ") is None
    assert placement.state == Placement.State.OPEN


def test_an_image_that_the_workbench_did_not_know_is_recorded_with_its_text(make_illustration, adapter, author, at):
    from tests.conftest import key_of

    row = make_illustration(alt_text="Typed at once")
    decision = decisions.record_written(adapter=adapter, key=key_of(row), by=author, at=at)
    assert (decision.final_text, decision.suggestion) == ("Typed at once", None)


def test_a_place_that_is_gone_is_told(make_placement, illustration_of, adapter, author, at):
    placement = make_placement()
    illustration_of(placement).delete()
    with pytest.raises(NotThere):
        decisions.record_written(adapter=adapter, key=placement.key, by=author, at=at)


def test_publishing_closes_the_record_and_a_later_text_changes_no_figure(
    make_placement, suggest, save_in_cms, lead, at
):
    placement = make_placement()
    suggestion = suggest(placement, "A red cat")
    save_in_cms(placement, alt_text="A red cat")
    assert decisions.close(placements=[placement], at=at + timedelta(hours=1)) == 1
    save_in_cms(placement, alt_text="Something else altogether", when=at + timedelta(hours=2))
    suggestion.refresh_from_db()
    assert suggestion.state == "AS_IS"
    cohort = Cohort(since=None, until=at)
    assert [(row.outcome, row.final_text) for row in edit_records(user=lead, cohort=cohort)] == [("AS_IS", "A red cat")]


def test_publishing_leaves_a_suggestion_open_that_nobody_decided_on(make_placement, suggest, save_in_cms, at):
    placement = make_placement()
    suggestion = suggest(placement, "A red cat")
    assert decisions.close(placements=[placement], at=at) == 0
    save_in_cms(placement, alt_text="A red cat", when=at + timedelta(hours=2))
    suggestion.refresh_from_db()
    assert suggestion.state == "AS_IS"


class TestPlaced:
    def test_what_was_suggested_before_the_first_save_goes_along(self, make_placement, suggest, adapter, at):
        placement = make_placement()
        suggestion = suggest(placement, "A red cat")
        final = placement.key
        Placement.objects.update(key=f"{ABOUT_TO_BE}1")
        assert placements.placed(adapter=adapter, key=f"{ABOUT_TO_BE}1", into=final, at=at)
        assert Placement.objects.get(key=final).suggestions.get() == suggestion

    def test_a_place_with_a_history_of_its_own_keeps_it(self, make_placement, adapter, at):
        known, about_to_be = make_placement(), make_placement()
        Placement.objects.filter(pk=about_to_be.pk).update(key=f"{ABOUT_TO_BE}1")
        assert not placements.placed(adapter=adapter, key=f"{ABOUT_TO_BE}1", into=known.key, at=at)
        about_to_be.refresh_from_db()
        assert about_to_be.state == Placement.State.GONE

    def test_an_unknown_key_changes_nothing(self, adapter, at):
        assert not placements.placed(adapter=adapter, key=f"{ABOUT_TO_BE}9", into="x", at=at)

    def test_an_image_in_an_editor_that_is_not_saved_is_not_in_the_queue(self, client, author, make_placement):
        from alttext import queries

        placement = make_placement()
        Placement.objects.update(key=f"{ABOUT_TO_BE}1:image")
        assert list(queries.queue(user=author, state="all")) == []
        assert queries.counts(author)["all"] == 0
        assert queries.find(user=author, adapter="imagefields", key=f"{ABOUT_TO_BE}1:image") == placement
