"""One job from claim to answer, through intake and the captioner; and everything that can go wrong on the way."""

from __future__ import annotations

import threading

import pytest
from django.db import OperationalError

from alttext import captioning, tasks, workers
from alttext.models import Asset, Job, Placement, Suggestion
from alttext.operations import suggestions
from captioner.types import (
    Caption,
    CaptionerDied,
    CaptionerHung,
    CaptionerUnavailable,
    MalformedOutput,
    Outcome,
    Reason,
)
from tests.conftest import picture

pytestmark = pytest.mark.django_db


class Scripted:
    """A captioner that answers, or raises, what a test tells it to."""

    name = "canned"
    versions = {"captioner": "scripted"}

    def __init__(self, *answers):
        self.answers, self.requests = list(answers), []

    def describe(self, requests):
        self.requests += requests
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return [answer if isinstance(answer, Outcome) else Caption(requests[0].request_id, answer)]


def script(*answers):
    captioner = Scripted(*answers)
    captioning.use(captioner)
    return captioner


def work(placement):
    tasks.enqueue_suggestion(placement=placement)
    result = workers.work_once()
    placement.refresh_from_db()
    return result


def test_an_image_becomes_a_pending_suggestion_and_the_page_stays_as_it_is(make_placement, illustration_of):
    placement = make_placement()
    assert work(placement) == "ready"
    suggestion = Suggestion.objects.get()
    assert suggestion.state == "PENDING"
    assert suggestion.text
    assert placement.state == Placement.State.OFFERED
    assert illustration_of(placement).alt_text == ""
    asset = Asset.objects.get()
    assert (asset.intake, asset.format, asset.width_px) == ("ACCEPT", "PNG", 320)


def test_a_worker_never_changes_a_published_text(make_placement, illustration_of, author):
    placement = make_placement(alt_text="Human words")
    tasks.enqueue_suggestion(placement=placement, by=author)
    workers.drain(seconds=10)
    assert illustration_of(placement).alt_text == "Human words"
    assert Suggestion.objects.get().state == "PENDING"


def test_the_captioner_gets_the_page_words_and_never_the_old_alt(make_placement):
    captioner = script("A cat")
    placement = make_placement(text_before="The shelter.", caption="Mia", alt_text="SECRET OLD ALT", link_url="/adopt/")
    work(placement)
    [request] = captioner.requests
    assert request.context.caption == "Mia"
    assert "The shelter." in request.context.before
    assert request.role == "functional"
    assert "SECRET OLD ALT" not in repr(request)


def test_an_abstention_is_recorded_with_its_reasons(make_placement):
    script(Outcome("1", reasons=(Reason.OBJECT_UNSUPPORTED,), detail="Nothing was recognised."))
    placement = make_placement()
    assert work(placement) == "abstained"
    suggestion = Suggestion.objects.get()
    assert (suggestion.text, suggestion.reasons) == (None, "object_unsupported")
    assert placement.state == Placement.State.ABSTAINED


def test_a_blank_image_is_an_abstention_without_a_captioner_call(make_placement):
    import io

    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", (400, 300), "white").save(buffer, "PNG")
    captioner = script()
    placement = make_placement(data=buffer.getvalue())
    assert work(placement) == "abstained"
    assert captioner.requests == []
    assert Suggestion.objects.get().reasons == "image_refused"


@pytest.mark.parametrize("data", [b"not an image", picture(seed=1)[:300]])
def test_an_unreadable_image_fails_with_words_and_blocks_nobody(make_placement, illustration_of, data, at, author):
    from alttext.operations import decisions

    placement = make_placement(data=data)
    assert work(placement) == "failed"
    assert placement.state == Placement.State.FAILED
    assert placement.problem
    assert Suggestion.objects.count() == 0
    decisions.save_text(placement=placement, text="By hand", seen=decisions.seen(placement), by=author, at=at)
    assert illustration_of(placement).alt_text == "By hand"


def test_a_missing_file_fails_with_words(make_placement, illustration_of):
    placement = make_placement()
    tasks.enqueue_suggestion(placement=placement)
    row = illustration_of(placement)
    row.image.storage.delete(row.image.name)
    assert workers.work_once() == "failed"
    assert Job.objects.get().code == "missing"


@pytest.mark.parametrize("bad", ["", "   ", "word " * 3000, "a\u202eb", "line\nbreak", "nul\x00"])
def test_a_malformed_answer_fails_and_nothing_is_cut_or_stripped(make_placement, bad):
    script(bad)
    placement = make_placement()
    assert work(placement) == "failed"
    assert Job.objects.get().code == "malformed"
    assert Suggestion.objects.count() == 0


def test_markup_is_stored_as_it_is_and_flagged(make_placement):
    script("<b>bold</b>")
    work(make_placement())
    suggestion = Suggestion.objects.get()
    assert suggestion.text == "<b>bold</b>"
    assert "markup" in suggestion.flags


@pytest.mark.parametrize("quoted", ['A sign reads "Stop."', "Acme Inc.", "Family 👨‍👩‍👧‍👦", "می‌خواهم"])
def test_a_text_is_stored_unchanged(make_placement, quoted):
    script(quoted)
    work(make_placement())
    assert Suggestion.objects.get().text == quoted


def test_an_outage_is_not_counted_as_a_start(make_placement):
    script(CaptionerUnavailable("server down"))
    placement = make_placement()
    assert work(placement) == "given back"
    job = Job.objects.get()
    assert (job.state, job.attempts, job.outages) == ("QUEUED", 0, 1)
    assert placement.state == Placement.State.WAITING


@pytest.mark.parametrize(
    ("error", "code"),
    [(CaptionerHung("slow"), "hung"), (CaptionerDied("gone"), "killed"), (ValueError("bug"), "error"),
     (MemoryError(), "error")],
)  # fmt: skip
def test_three_starts_without_an_answer_end_in_dead_with_words(make_placement, error, code):
    script(error, error, error)
    placement = make_placement()
    tasks.enqueue_suggestion(placement=placement)
    for _ in range(3):
        Job.objects.update(run_at=placement.created_at)
        workers.work_once()
    placement.refresh_from_db()
    job = Job.objects.get()
    assert (job.state, job.code, job.attempts) == ("DEAD", code, 3)
    assert "write the text yourself" in placement.problem


def test_a_malformed_outcome_object_fails_the_job(make_placement):
    script(MalformedOutput("both"))
    assert work(make_placement()) == "failed"


def test_the_other_jobs_go_on_beside_a_poisonous_one(make_placement):
    poison, *others = (make_placement() for _ in range(4))
    script(CaptionerDied("gone"), "A", "B", "C")
    tasks.enqueue_suggestion(placement=poison)
    for placement in others:
        tasks.enqueue_suggestion(placement=placement)
    workers.drain(seconds=10)
    assert Suggestion.objects.count() == 3


def test_a_token_that_is_not_ours_does_nothing(make_placement):
    job = tasks.enqueue_suggestion(placement=make_placement())
    assert workers.process_job(job.pk, "stolen") == "not ours"


def test_an_image_replaced_before_the_job_ran_is_looked_at_anew(make_placement, illustration_of):
    from django.core.files.base import ContentFile

    placement = make_placement()
    tasks.enqueue_suggestion(placement=placement)
    row = illustration_of(placement)
    row.image.storage.delete(row.image.name)
    row.image.storage.save(row.image.name, ContentFile(picture(colour=(0, 90, 0))))
    assert workers.work_once() == "superseded"
    old = placement.asset_id
    placement.refresh_from_db()
    assert placement.asset_id != old


def test_equal_bytes_in_equal_words_are_captioned_once(make_placement):
    data = picture(seed=3)
    captioner = script("A cat", "never asked")
    fields = {"title": "Same", "text_before": "Same words", "data": data}
    first = make_placement(**fields)
    work(first)
    second = make_placement(**fields)
    work(second)
    assert len(captioner.requests) == 1
    assert second.suggestions.get().text == "A cat"


def test_the_worker_stops_when_it_is_told_to(make_placement):
    stop = threading.Event()
    stop.set()
    tasks.enqueue_suggestion(placement=make_placement())
    assert workers.run(stop=stop) == 0


def test_the_worker_goes_on_when_the_database_was_away(make_placement, monkeypatch):
    tasks.enqueue_suggestion(placement=make_placement())
    real, calls = workers.work_once, []

    def shaky(**options):
        calls.append(1)
        if len(calls) == 1:
            raise OperationalError("database is locked")
        return real(**options)

    monkeypatch.setattr(workers, "work_once", shaky)
    monkeypatch.setattr(workers, "DATABASE_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(workers.connection, "close", lambda: None)
    monkeypatch.setattr(workers, "close_old_connections", lambda: None)
    assert workers.run(stop=threading.Event(), until_empty=True) == 1


def test_saving_an_image_in_the_cms_asks_for_a_suggestion(
    make_illustration, django_capture_on_commit_callbacks, settings
):
    settings.ALTTEXT = {**settings.ALTTEXT, "AUTOMATIC": True}
    with django_capture_on_commit_callbacks(execute=True):
        make_illustration()
    assert Placement.objects.get().state == Placement.State.WAITING
    assert Job.objects.get().prio == Job.NEW_UPLOAD


def test_saving_an_image_with_a_human_text_asks_for_nothing(
    make_illustration, django_capture_on_commit_callbacks, settings
):
    settings.ALTTEXT = {**settings.ALTTEXT, "AUTOMATIC": True}
    with django_capture_on_commit_callbacks(execute=True):
        make_illustration(alt_text="Mine")
    assert Placement.objects.get().state == Placement.State.HUMAN
    assert Job.objects.count() == 0


def test_automatic_requests_can_be_switched_off(make_illustration, django_capture_on_commit_callbacks, settings):
    settings.ALTTEXT = {**settings.ALTTEXT, "AUTOMATIC": False}
    with django_capture_on_commit_callbacks(execute=True):
        make_illustration()
    assert Job.objects.count() == 0


def test_a_wake_up_that_fails_is_logged_and_reaches_nobody(settings, monkeypatch, caplog):
    settings.ALTTEXT = {**settings.ALTTEXT, "WAKE": "celery"}
    calls = []

    def refuse(**options):
        calls.append(options)
        raise ConnectionError("refused")

    monkeypatch.setattr(tasks.drain, "apply_async", refuse)
    monkeypatch.setattr(tasks, "_silent_until", 0.0)
    assert tasks.wake("plain") is False
    assert tasks.wake("plain") is False
    assert len(calls) == 1  # the breaker keeps the second one off the broker
    assert "no wake-up" in caplog.text


def test_a_suggestion_survives_a_version_that_is_seen_again(make_placement, at):
    first = suggestions.register_version(name="canned", key="k", versions={}, at=at)
    assert suggestions.register_version(name="canned", key="k", versions={}, at=at).pk == first.pk
    assert suggestions.active_versions_key("canned") == "k"
    assert suggestions.active_versions_key("unseen") == "unseen"


def test_an_answer_to_words_that_changed_meanwhile_is_dropped_and_asked_anew(make_placement, at):
    from alttext.operations import jobs, placements

    placement = make_placement()
    tasks.enqueue_suggestion(placement=placement)
    claim = jobs.claim()
    type(placement).objects.filter(pk=placement.pk).update(
        snapshot=placements.snapshot(placements.Context(title="Other"), language="en", role="functional", at=at)
    )
    answer = suggestions.Answer(captioner="canned", versions_key="v", text="For other words")
    assert suggestions.record(job_id=claim.id, token=claim.token, answer=answer, at=at) is None
    placement.refresh_from_db()
    assert (Suggestion.objects.count(), placement.state) == (0, Placement.State.OPEN)


def test_a_replaced_image_gets_its_own_job_from_the_worker(make_placement, illustration_of):
    from django.core.files.base import ContentFile

    placement = make_placement()
    tasks.enqueue_suggestion(placement=placement)
    row = illustration_of(placement)
    row.image.storage.delete(row.image.name)
    row.image.storage.save(row.image.name, ContentFile(picture(colour=(0, 90, 0))))
    workers.drain(seconds=10)
    placement.refresh_from_db()
    assert placement.state == Placement.State.OFFERED
    assert placement.suggestions.get().asset_id == placement.asset_id


def test_an_answer_after_an_undo_is_shown(make_placement, author, at):
    from alttext.operations import decisions

    placement = make_placement()
    decisions.save_text(placement=placement, text="Mine", seen=decisions.seen(placement), by=author, at=at)
    placement.refresh_from_db()
    tasks.enqueue_suggestion(placement=placement, by=author)
    placement.refresh_from_db()
    decisions.undo(placement=placement, seen=decisions.seen(placement), by=author, at=at)
    placement.refresh_from_db()
    assert placement.state == Placement.State.WAITING
    workers.drain(seconds=10)
    placement.refresh_from_db()
    assert placement.state == Placement.State.OFFERED


def test_a_failure_for_an_image_that_has_a_text_leaves_it_settled(make_placement, author):
    placement = make_placement(alt_text="Human", data=b"broken")
    tasks.enqueue_suggestion(placement=placement, by=author)
    assert workers.work_once() == "failed"
    placement.refresh_from_db()
    assert placement.state == Placement.State.HUMAN
    assert placement.problem


@pytest.mark.parametrize("evidence", [{"score": float("nan")}, {"line": "a\x00b"}, {"object": object()}])
def test_evidence_that_no_database_takes_is_a_named_failure(make_placement, evidence):
    script(Caption("1", "A cat", evidence=evidence))
    assert work(make_placement()) == "failed"
    assert Job.objects.get().code == "malformed"


def test_a_version_seen_only_by_reuse_does_not_become_the_newest(at):
    from datetime import timedelta

    suggestions.register_version(name="canned", key="old", versions={}, at=at)
    suggestions.register_version(name="canned", key="new", versions={}, at=at + timedelta(hours=1))
    late = at + timedelta(hours=2)
    suggestions.register_version(name="canned", key="old", versions={}, at=late, at_work=False)
    assert suggestions.active_versions_key("canned") == "new"


def test_an_outage_stops_the_drain_of_the_lane(make_placement):
    captioner = script(*(CaptionerUnavailable("down") for _ in range(5)))
    for _ in range(5):
        tasks.enqueue_suggestion(placement=make_placement())
    assert workers.drain(seconds=10) == 1
    assert len(captioner.requests) == 1


def test_one_odd_place_does_not_keep_the_others_from_being_found(make_illustration, adapter, at, monkeypatch):
    from alttext.operations import placements

    odd, good = make_illustration(), make_illustration()
    real = placements.refresh

    def refresh(found, place, *, at):
        if place.key.split(":")[1] == str(odd.pk):
            raise ValueError("odd")
        return real(found, place, at=at)

    monkeypatch.setattr(placements, "refresh", refresh)
    seen = placements.scan(adapter, at=at)
    assert (seen.found, seen.unreadable) == (2, 1)
    assert Placement.objects.get().key.split(":")[1] == str(good.pk)
