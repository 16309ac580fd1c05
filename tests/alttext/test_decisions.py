"""Acts of authors through the operations: outcomes, compare-and-set, undo, what reaches the CMS."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.core.files.base import ContentFile
from django.db import DatabaseError, connection, transaction

from alttext import adapters
from alttext.models import AppendOnly, Decision, Job, Placement, Suggestion
from alttext.operations import decisions, placements, suggestions
from tests.conftest import key_of, picture

pytestmark = pytest.mark.django_db


def test_saving_unchanged_text_counts_as_accepted(make_placement, suggest, author, at, illustration_of):
    placement = make_placement()
    suggestion = suggest(placement, "A red cat")
    row = decisions.save_text(
        placement=placement, text="A red cat", seen=decisions.seen(placement, suggestion), by=author, at=at
    )
    suggestion.refresh_from_db()
    assert (row.outcome, row.distance, suggestion.state) == ("AS_IS", 0, "AS_IS")
    assert illustration_of(placement).alt_text == "A red cat"


@pytest.mark.parametrize(
    ("final", "outcome"),
    [("A red cat.", "AS_IS"), ("A red cat sleeps", "EDITED"), ("Two boats in the harbour", "REPLACED")],
)
def test_the_text_itself_tells_the_outcome(make_placement, suggest, author, at, final, outcome):
    placement = make_placement()
    suggestion = suggest(placement, "A red cat")
    row = decisions.save_text(
        placement=placement, text=final, seen=decisions.seen(placement, suggestion), by=author, at=at
    )
    assert row.outcome == outcome
    assert row.final_text == final


def test_clearing_the_box_first_counts_as_replaced(make_placement, suggest, author, at):
    placement = make_placement()
    suggestion = suggest(placement, "A red cat")
    row = decisions.save_text(
        placement=placement,
        text="A red cat!",
        seen=decisions.seen(placement, suggestion),
        by=author,
        at=at,
        cleared=True,
    )
    assert row.outcome == "REPLACED"


def test_a_text_without_a_suggestion_has_no_outcome(make_placement, author, at):
    placement = make_placement()
    row = decisions.save_text(placement=placement, text="Mine", seen=decisions.seen(placement), by=author, at=at)
    placement.refresh_from_db()
    assert (row.outcome, row.suggestion) == ("", None)
    assert placement.state == Placement.State.DONE


def test_a_second_author_is_refused_and_nothing_is_written(
    make_placement, suggest, author, other_author, at, illustration_of
):
    placement = make_placement()
    suggestion = suggest(placement)
    screen = decisions.seen(placement, suggestion)
    decisions.save_text(placement=placement, text="First", seen=screen, by=author, at=at)
    with pytest.raises(decisions.TextChanged) as refusal:
        decisions.save_text(placement=placement, text="Second", seen=screen, by=other_author, at=at)
    assert refusal.value.placement.current_alt == "First"
    assert illustration_of(placement).alt_text == "First"
    assert placement.decisions.count() == 1


def test_own_second_save_is_no_conflict(make_placement, suggest, author, at, illustration_of):
    placement = make_placement()
    screen = decisions.seen(placement, suggest(placement))
    decisions.save_text(placement=placement, text="First", seen=screen, by=author, at=at)
    decisions.save_text(placement=placement, text="Better", seen=screen, by=author, at=at)
    assert illustration_of(placement).alt_text == "Better"


def test_editing_five_times_leaves_one_counted_suggestion(make_placement, suggest, author, at):
    placement = make_placement()
    suggestion = suggest(placement, "A red cat")
    for text in ("A red cat sits", "A red cat lies", "A cat", "A red cat on a mat", "A red cat"):
        placement.refresh_from_db()
        decisions.save_text(
            placement=placement, text=text, seen=decisions.seen(placement, suggestion), by=author, at=at
        )
    suggestion.refresh_from_db()
    assert suggestion.state == "AS_IS"
    assert Suggestion.objects.count() == 1


def test_a_repeated_request_gets_the_first_answer(make_placement, suggest, author, at):
    placement = make_placement()
    screen, key = decisions.seen(placement, suggest(placement)), uuid.uuid4()
    first = decisions.save_text(placement=placement, text="Once", seen=screen, by=author, at=at, key=key)
    again = decisions.save_text(placement=placement, text="Once", seen=screen, by=author, at=at, key=key)
    assert first.pk == again.pk
    assert placement.decisions.count() == 1


def test_saving_what_stands_there_already_writes_no_row(make_placement, author, at):
    placement = make_placement()
    decisions.save_text(placement=placement, text="Same", seen=decisions.seen(placement), by=author, at=at)
    placement.refresh_from_db()
    decisions.save_text(placement=placement, text="Same", seen=decisions.seen(placement), by=author, at=at)
    assert placement.decisions.count() == 1


def test_text_changed_in_the_cms_is_noticed_before_saving(make_placement, suggest, author, at, illustration_of):
    placement = make_placement()
    screen = decisions.seen(placement, suggest(placement))
    row = illustration_of(placement)
    row.alt_text = "Written in the page"
    row.save()
    with pytest.raises(decisions.TextChanged) as refusal:
        decisions.save_text(placement=placement, text="From the workbench", seen=screen, by=author, at=at)
    assert refusal.value.placement.current_alt == "Written in the page"
    assert illustration_of(placement).alt_text == "Written in the page"


def test_a_text_changed_in_the_cms_after_own_save_is_not_overwritten(make_placement, author, at, illustration_of):
    placement = make_placement()
    screen = decisions.seen(placement)
    decisions.save_text(placement=placement, text="Mine", seen=screen, by=author, at=at)
    row = illustration_of(placement)
    row.alt_text = "A colleague's, in the page"
    row.save()
    with pytest.raises(decisions.TextChanged):
        decisions.save_text(placement=placement, text="Mine again", seen=screen, by=author, at=at)
    assert illustration_of(placement).alt_text == "A colleague's, in the page"


def test_changed_page_words_are_told_once_and_a_second_press_saves(
    make_placement, suggest, author, at, illustration_of
):
    placement = make_placement()
    screen = decisions.seen(placement, suggest(placement))
    row = illustration_of(placement)
    row.text_before = "Now about something else."
    row.save()
    with pytest.raises(decisions.ContextChanged) as refusal:
        decisions.save_text(placement=placement, text="Still right", seen=screen, by=author, at=at)
    now = decisions.seen(refusal.value.placement)
    decisions.save_text(placement=placement, text="Still right", seen=now, by=author, at=at)
    assert illustration_of(placement).alt_text == "Still right"


def test_a_replaced_image_is_refused_and_the_suggestion_overtaken(make_placement, suggest, author, at, illustration_of):
    placement = make_placement()
    suggestion = suggest(placement)
    screen = decisions.seen(placement, suggestion)
    illustration_of(placement).image.save("other.png", ContentFile(picture(colour=(0, 90, 0))))
    with pytest.raises(decisions.ImageChanged):
        decisions.save_text(placement=placement, text="Old image", seen=screen, by=author, at=at)
    suggestion.refresh_from_db()
    assert suggestion.state == "SUPERSEDED"
    assert illustration_of(placement).alt_text == ""


def test_a_replaced_image_makes_a_decided_text_stale(make_placement, author, at, adapter, illustration_of):
    placement = make_placement()
    decisions.save_text(placement=placement, text="A cat", seen=decisions.seen(placement), by=author, at=at)
    illustration_of(placement).image.save("other.png", ContentFile(picture(colour=(0, 90, 0))))
    found, _ = placements.refresh(adapter, adapter.place(placement.key), at=at)
    assert (found.stale, found.current_alt) == (True, "A cat")


def test_decorative_on_and_off_brings_the_text_back_to_the_byte(make_placement, author, at, illustration_of):
    text = "Un cafe\u0301 \u2013 kept"
    placement = make_placement()
    decisions.save_text(placement=placement, text=text, seen=decisions.seen(placement), by=author, at=at)
    placement.refresh_from_db()
    decisions.mark_decorative(placement=placement, seen=decisions.seen(placement), by=author, at=at)
    row = illustration_of(placement)
    assert (row.alt_text, row.decorative) == ("", True)
    placement.refresh_from_db()
    assert not placement.stale
    decisions.undo(placement=placement, seen=decisions.seen(placement), by=author, at=at)
    row = illustration_of(placement)
    assert (row.alt_text, row.decorative) == (text, False)


def test_undo_gives_the_suggestion_its_prior_state_back(make_placement, suggest, author, at):
    placement = make_placement()
    suggestion = suggest(placement, "A red cat")
    decisions.save_text(placement=placement, text="A cat", seen=decisions.seen(placement, suggestion), by=author, at=at)
    placement.refresh_from_db()
    decisions.undo(placement=placement, seen=decisions.seen(placement), by=author, at=at)
    suggestion.refresh_from_db()
    placement.refresh_from_db()
    assert suggestion.state == "PENDING"
    assert placement.state == Placement.State.OFFERED
    with pytest.raises(decisions.NothingToUndo):
        decisions.undo(placement=placement, seen=decisions.seen(placement), by=author, at=at)


def test_undo_walks_back_act_by_act(make_placement, author, at, illustration_of):
    placement = make_placement()
    for text in ("One", "Two"):
        decisions.save_text(placement=placement, text=text, seen=decisions.seen(placement), by=author, at=at)
        placement.refresh_from_db()
    found = []
    for _ in range(2):
        decisions.undo(placement=placement, seen=decisions.seen(placement), by=author, at=at)
        placement.refresh_from_db()
        found.append(illustration_of(placement).alt_text)
    assert found == ["One", ""]


def test_rejecting_leaves_the_published_text_alone(make_placement, suggest, author, at, illustration_of):
    placement = make_placement(alt_text="Human words")
    suggestion = suggest(placement, "Machine words", by=author)
    decisions.reject(
        placement=placement, seen=decisions.seen(placement, suggestion), by=author, at=at, reason="Wrong cat"
    )
    suggestion.refresh_from_db()
    placement.refresh_from_db()
    assert suggestion.state == "REJECTED"
    assert illustration_of(placement).alt_text == "Human words"
    assert placement.decisions.get().reason == "Wrong cat"
    with pytest.raises(decisions.NothingToReject):
        decisions.reject(placement=placement, seen=decisions.seen(placement, suggestion), by=author, at=at)


def test_a_commit_after_the_window_does_not_move_the_record(make_placement, suggest, author, at, illustration_of):
    placement = make_placement()
    suggestion = suggest(placement, "A red cat")
    late = at + timedelta(days=29)
    decisions.save_text(
        placement=placement, text="A cat", seen=decisions.seen(placement, suggestion), by=author, at=late
    )
    suggestion.refresh_from_db()
    assert suggestion.state != "EDITED"
    assert illustration_of(placement).alt_text == "A cat"


def test_a_text_too_long_for_the_cms_is_told_and_kept_out(make_placement, author, at, monkeypatch, illustration_of):
    placement = make_placement()
    found = adapters.get("imagefields")

    def too_narrow(*args, **kwargs):
        raise adapters.TextDoesNotFit(255)

    monkeypatch.setattr(type(found), "apply", too_narrow)
    with pytest.raises(adapters.TextDoesNotFit, match="255"):
        decisions.save_text(placement=placement, text="x" * 300, seen=decisions.seen(placement), by=author, at=at)
    assert placement.decisions.count() == 0
    assert illustration_of(placement).alt_text == ""


def test_a_decision_cannot_be_changed_or_deleted(make_placement, author, at):
    placement = make_placement()
    row = decisions.save_text(placement=placement, text="A", seen=decisions.seen(placement), by=author, at=at)
    row.final_text = "B"
    with pytest.raises(AppendOnly):
        row.save()
    with pytest.raises(AppendOnly):
        row.delete()
    with pytest.raises(DatabaseError), transaction.atomic():
        Decision.objects.filter(pk=row.pk).update(final_text="B")
    if connection.vendor == "postgresql":
        with pytest.raises(DatabaseError), transaction.atomic():
            Decision.objects.filter(pk=row.pk)._raw_delete(Decision.objects.db)


def test_a_deleted_account_leaves_its_decisions(make_placement, author, at):
    placement = make_placement()
    decisions.save_text(placement=placement, text="A", seen=decisions.seen(placement), by=author, at=at)
    key = author.pk
    author.delete()
    assert placement.decisions.get().by_id == key


def test_a_decision_overtakes_the_open_job_and_its_late_answer(make_placement, author, at, illustration_of):
    from alttext.operations import jobs

    placement = make_placement()
    suggestions.request(placement=placement, captioner="canned", prio=1, at=at)
    claim = jobs.claim(at=at)
    decisions.save_text(placement=placement, text="Mine", seen=decisions.seen(placement), by=author, at=at)
    answer = suggestions.Answer(captioner="canned", versions_key="v", text="Late")
    assert suggestions.record(job_id=claim.id, token=claim.token, answer=answer, at=at) is None
    assert illustration_of(placement).alt_text == "Mine"
    assert Job.objects.get().state == "SUPERSEDED"
    assert Suggestion.objects.count() == 0


def test_constraints_hold_in_the_database(make_placement, suggest, at):
    placement = make_placement()
    suggestion = suggest(placement)
    broken = [
        lambda: Placement.objects.filter(pk=placement.pk).update(decorative=True, current_alt="text"),
        lambda: Suggestion.objects.filter(pk=suggestion.pk).update(reasons="object_unsupported"),
        lambda: Suggestion.objects.filter(pk=suggestion.pk).update(text=None),
        lambda: Suggestion.objects.filter(pk=suggestion.pk).update(state="ABSTAINED"),
        lambda: Suggestion.objects.filter(pk=suggestion.pk).update(state="NEVER_HEARD"),
        lambda: Job.objects.update(state="RUNNING"),
        lambda: Job.objects.update(finished_at=None),
        lambda: Placement.objects.create(
            adapter=placement.adapter, key=placement.key, alt_hash="", created_at=at, updated_at=at
        ),
    ]
    for change in broken:
        with pytest.raises(DatabaseError), transaction.atomic():
            change()


def test_the_same_bytes_on_two_pages_have_two_snapshots(make_illustration, adapter, at):
    data = picture(seed=7)
    found = []
    for before in ("The shelter looks for homes.", "A shallow depth of field."):
        row = make_illustration(data=data, text_before=before)
        found.append(placements.refresh(adapter, adapter.place(key_of(row)), at=at)[0])
    assert found[0].asset == found[1].asset
    assert found[0].snapshot != found[1].snapshot


def test_two_hundred_thousand_characters_of_page_text_are_trimmed(make_placement):
    placement = make_placement(text_before="word " * 40_000, text_after="x" * 200_000)
    assert len(placement.snapshot.before) <= 2000
    assert placement.snapshot.before.endswith("word")
    assert len(placement.snapshot.after) == 2000


def test_a_chosen_role_is_kept_by_the_next_scan(make_placement, adapter, at):
    placement = make_placement()
    placements.choose_role(placement=placement, role="complex", at=at)
    found, _ = placements.refresh(adapter, adapter.place(placement.key), at=at)
    assert found.role == "complex"
    assert found.snapshot.role == "complex"


def test_a_site_that_shows_no_image_at_all_loses_no_placement(make_placement, at, adapter, illustration_of):
    placement = make_placement()
    illustration_of(placement).delete()
    assert placements.scan(adapter, at=at).gone == 0
    placement.refresh_from_db()
    assert placement.state == Placement.State.OPEN


def test_a_removed_image_leaves_the_queue_and_keeps_its_history(make_placement, author, at, adapter, illustration_of):
    placement, _ = make_placement(), make_placement()
    decisions.save_text(placement=placement, text="A cat", seen=decisions.seen(placement), by=author, at=at)
    illustration_of(placement).delete()
    placements.scan(adapter, at=at)
    placement.refresh_from_db()
    assert placement.state == Placement.State.GONE
    assert placement.decisions.count() == 1


def test_a_look_at_the_page_that_is_older_than_a_decision_changes_nothing(make_placement, adapter, author, at):
    placement = make_placement()
    old_look = adapter.place(placement.key)
    decisions.save_text(placement=placement, text="Mine", seen=decisions.seen(placement), by=author, at=at)
    found, changed = placements.refresh(adapter, old_look, at=at)
    assert (found.current_alt, found.state, changed) == ("Mine", Placement.State.DONE, False)


def replace_image(illustration):
    illustration.image.save("other.png", ContentFile(picture(colour=(0, 90, 0))))


def test_undo_never_removes_a_text_that_somebody_wrote_in_the_page_since(make_placement, author, at, illustration_of):
    placement = make_placement()
    decisions.save_text(placement=placement, text="Mine", seen=decisions.seen(placement), by=author, at=at)
    row = illustration_of(placement)
    row.alt_text = "A colleague's, in the page"
    row.save()
    found, _ = placements.refresh(adapters.get("imagefields"), adapters.get("imagefields").place(placement.key), at=at)
    with pytest.raises(decisions.NothingToUndo, match="changed in the page"):
        decisions.undo(placement=found, seen=decisions.seen(found), by=author, at=at)
    assert illustration_of(placement).alt_text == "A colleague's, in the page"


def test_undoing_a_rejection_leaves_the_text_in_the_page_alone(make_placement, suggest, author, at, illustration_of):
    placement = make_placement()
    suggestion = suggest(placement)
    decisions.reject(placement=placement, seen=decisions.seen(placement, suggestion), by=author, at=at)
    row = illustration_of(placement)
    row.alt_text = "Human, in the page"
    row.save()
    found, _ = placements.refresh(adapters.get("imagefields"), adapters.get("imagefields").place(placement.key), at=at)
    decisions.undo(placement=found, seen=decisions.seen(found), by=author, at=at)
    assert illustration_of(placement).alt_text == "Human, in the page"


def test_undo_does_not_offer_the_old_images_text_for_the_new_image(
    make_placement, suggest, author, at, adapter, illustration_of
):
    placement = make_placement()
    suggestion = suggest(placement, "A red cat")
    decisions.save_text(
        placement=placement, text="A red cat", seen=decisions.seen(placement, suggestion), by=author, at=at
    )
    replace_image(illustration_of(placement))
    found, _ = placements.refresh(adapter, adapter.place(placement.key), at=at)
    decisions.undo(placement=found, seen=decisions.seen(found), by=author, at=at)
    suggestion.refresh_from_db()
    found.refresh_from_db()
    assert (suggestion.state, found.state) == ("SUPERSEDED", Placement.State.OPEN)


def test_a_text_for_a_new_image_is_no_edit_of_the_old_images_suggestion(
    make_placement, suggest, author, at, adapter, illustration_of
):
    placement = make_placement()
    suggestion = suggest(placement, "A red cat")
    decisions.save_text(
        placement=placement, text="A red cat", seen=decisions.seen(placement, suggestion), by=author, at=at
    )
    replace_image(illustration_of(placement))
    found, _ = placements.refresh(adapter, adapter.place(placement.key), at=at)
    row = decisions.save_text(
        placement=found, text="A green boat", seen=decisions.seen(found, suggestion), by=author, at=at
    )
    suggestion.refresh_from_db()
    assert (suggestion.state, row.outcome) == ("AS_IS", "")


def test_rejecting_and_undoing_do_not_take_the_stale_mark_off(
    make_placement, suggest, author, at, adapter, illustration_of
):
    placement = make_placement()
    decisions.save_text(placement=placement, text="Old image", seen=decisions.seen(placement), by=author, at=at)
    replace_image(illustration_of(placement))
    placement, _ = placements.refresh(adapter, adapter.place(placement.key), at=at)
    suggestion = suggest(placement, "Machine words", by=author)
    decisions.reject(placement=placement, seen=decisions.seen(placement, suggestion), by=author, at=at)
    placement.refresh_from_db()
    assert placement.stale
    decisions.save_text(placement=placement, text="New image", seen=decisions.seen(placement), by=author, at=at)
    placement.refresh_from_db()
    assert not placement.stale
    decisions.undo(placement=placement, seen=decisions.seen(placement), by=author, at=at)
    placement.refresh_from_db()
    assert (placement.current_alt, placement.stale) == ("Old image", True)


def test_a_chosen_role_comes_back_when_decorative_is_undone(make_placement, author, at):
    placement = make_placement()
    placement = placements.choose_role(placement=placement, role="complex", at=at)
    decisions.mark_decorative(placement=placement, seen=decisions.seen(placement), by=author, at=at)
    placement.refresh_from_db()
    assert placement.role == "decorative"
    decisions.undo(placement=placement, seen=decisions.seen(placement), by=author, at=at)
    placement.refresh_from_db()
    assert placement.role == "complex"


def test_a_text_typed_after_a_rejection_counts_as_replaced(make_placement, suggest, author, at):
    placement = make_placement()
    suggestion = suggest(placement, "A red cat")
    decisions.reject(placement=placement, seen=decisions.seen(placement, suggestion), by=author, at=at)
    placement.refresh_from_db()
    row = decisions.save_text(
        placement=placement, text="A red cat!", seen=decisions.seen(placement, suggestion), by=author, at=at
    )
    assert row.outcome == "REPLACED"


def test_a_save_after_the_window_leaves_the_record_expired(make_placement, suggest, author, at):
    placement = make_placement()
    suggestion = suggest(placement, "A red cat")
    decisions.save_text(
        placement=placement,
        text="A cat",
        seen=decisions.seen(placement, suggestion),
        by=author,
        at=at + timedelta(days=29),
    )
    suggestion.refresh_from_db()
    assert suggestion.state == "EXPIRED"


def test_a_key_that_came_with_another_text_is_refused(make_placement, author, at):
    placement, key = make_placement(), uuid.uuid4()
    screen = decisions.seen(placement)
    decisions.save_text(placement=placement, text="One", seen=screen, by=author, at=at, key=key)
    with pytest.raises(decisions.KeyReused):
        decisions.save_text(placement=placement, text="Two", seen=screen, by=author, at=at, key=key)


def test_a_repeat_is_told_when_another_text_has_been_saved_since(make_placement, author, other_author, at):
    placement, key = make_placement(), uuid.uuid4()
    screen = decisions.seen(placement)
    decisions.save_text(placement=placement, text="One", seen=screen, by=author, at=at, key=key)
    placement.refresh_from_db()
    decisions.save_text(placement=placement, text="Two", seen=decisions.seen(placement), by=other_author, at=at)
    with pytest.raises(decisions.TextChanged):
        decisions.save_text(placement=placement, text="One", seen=screen, by=author, at=at, key=key)


def test_saving_the_same_text_settles_a_placement_that_waits_for_nothing(make_placement, suggest, author, at):
    placement = make_placement()
    decisions.save_text(placement=placement, text="Final", seen=decisions.seen(placement), by=author, at=at)
    placement.refresh_from_db()
    suggest(placement, reasons=("object_unsupported",), by=author)
    assert placement.state == Placement.State.DONE


def test_a_text_that_the_sites_own_model_refuses_is_told_and_nothing_is_written(
    make_placement, author, at, monkeypatch, illustration_of
):
    from django.core.exceptions import ValidationError

    from alttext.project.demo.models import Illustration

    placement = make_placement()

    def refuse(self, *args, **kwargs):
        raise ValidationError("Our house style wants a verb.")

    monkeypatch.setattr(Illustration, "save", refuse)
    with pytest.raises(adapters.Refused, match="wants a verb"):
        decisions.save_text(placement=placement, text="A cat", seen=decisions.seen(placement), by=author, at=at)
    assert placement.decisions.count() == 0
    assert illustration_of(placement).alt_text == ""


def test_decorative_can_be_undone_where_the_site_has_no_field_for_it(
    make_placement, author, at, settings, illustration_of
):
    entry = {name: value for name, value in settings.ALTTEXT["IMAGE_FIELDS"][0].items() if name != "decorative"}
    settings.ALTTEXT = {**settings.ALTTEXT, "IMAGE_FIELDS": [entry]}
    placement = make_placement()
    decisions.save_text(placement=placement, text="A cat", seen=decisions.seen(placement), by=author, at=at)
    placement.refresh_from_db()
    decisions.mark_decorative(placement=placement, seen=decisions.seen(placement), by=author, at=at)
    placement.refresh_from_db()
    assert (placement.decorative, illustration_of(placement).alt_text) == (True, "")
    decisions.undo(placement=placement, seen=decisions.seen(placement), by=author, at=at)
    placement.refresh_from_db()
    assert (placement.decorative, illustration_of(placement).alt_text) == (False, "A cat")
    decisions.mark_decorative(placement=placement, seen=decisions.seen(placement), by=author, at=at)
    placement.refresh_from_db()
    decisions.save_text(placement=placement, text="Not so", seen=decisions.seen(placement), by=author, at=at)
    assert illustration_of(placement).alt_text == "Not so"
