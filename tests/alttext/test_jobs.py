"""The job row: one open job, one worker a job, attempts, outages, leases."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule, run_state_machine_as_test

from alttext.models import Job, Placement, Suggestion
from alttext.operations import jobs, suggestions

pytestmark = pytest.mark.django_db
LEASE = timedelta(seconds=61)
ANSWER = suggestions.Answer(captioner="canned", versions_key="v1", text="A cat")


def ask(placement, at, **options):
    return suggestions.request(placement=placement, captioner="canned", prio=5, at=at, **options)


def test_a_second_request_meets_the_first(make_placement, at):
    placement = make_placement()
    first, second = ask(placement, at), ask(placement, at)
    assert first[0].pk == second[0].pk
    assert (first[1], second[1]) == (True, False)


def test_a_new_request_is_possible_after_the_answer(make_placement, suggest, at):
    placement = make_placement()
    suggest(placement)
    _, fresh = ask(placement, at)
    assert fresh


def test_an_author_who_waits_overtakes_the_backlog(make_placement, at):
    backlog, urgent = make_placement(), make_placement()
    ask(backlog, at)
    suggestions.request(placement=urgent, captioner="canned", prio=Job.AUTHOR_WAITS, at=at)
    assert Job.objects.get(pk=jobs.claim(at=at).id).placement == urgent


def test_a_claimed_job_is_not_claimed_again_until_its_lease_is_over(make_placement, at):
    ask(make_placement(), at)
    assert jobs.claim(at=at) is not None
    assert jobs.claim(at=at + timedelta(seconds=59)) is None
    assert jobs.claim(at=at + LEASE) is not None


def test_a_worker_that_lost_its_lease_cannot_answer(make_placement, at):
    ask(make_placement(), at)
    old, new = jobs.claim(at=at), jobs.claim(at=at + LEASE)
    assert suggestions.record(job_id=old.id, token=old.token, answer=ANSWER, at=at) is None
    assert not jobs.renew(id=old.id, token=old.token, at=at)
    assert suggestions.record(job_id=new.id, token=new.token, answer=ANSWER, at=at).text == "A cat"
    assert Suggestion.objects.count() == 1


def test_the_third_start_without_an_answer_makes_the_job_dead_and_tells_the_author(make_placement, at):
    placement = make_placement()
    ask(placement, at)
    for start in range(3):
        assert jobs.claim(at=at + start * LEASE) is not None
    assert jobs.claim(at=at + 3 * LEASE) is None
    jobs.sweep(at=at + 3 * LEASE)
    placement.refresh_from_db()
    assert Job.objects.get().state == Job.State.DEAD
    assert placement.state == Placement.State.FAILED
    assert "write the text yourself" in placement.problem


def test_the_sweeper_ends_a_job_that_has_used_up_its_starts(make_placement, at):
    ask(make_placement(), at)
    for start in range(3):
        jobs.claim(at=at + start * LEASE)
    jobs.sweep(at=at + 3 * LEASE)
    assert Job.objects.get().state == Job.State.DEAD


def test_an_outage_gives_the_start_back_and_never_makes_a_job_dead(make_placement, at):
    ask(make_placement(), at)
    now = at
    for _ in range(40):
        claim = jobs.claim(at=now)
        assert claim is not None
        jobs.give_back(id=claim.id, token=claim.token, at=now)
        now += timedelta(seconds=901)
    job = Job.objects.get()
    assert (job.state, job.attempts, job.outages) == (Job.State.QUEUED, 0, 40)


def test_outages_wait_longer_each_time_up_to_a_quarter_of_an_hour(make_placement, at):
    ask(make_placement(), at)
    for low, high in ((2.5, 5), (10, 20), (40, 80), (160, 320), (450, 900), (450, 900)):
        Job.objects.update(run_at=at)
        claim = jobs.claim(at=at)
        jobs.give_back(id=claim.id, token=claim.token, at=at)
        assert low <= (Job.objects.get().run_at - at).total_seconds() <= high


def test_the_sweeper_names_lanes_whose_wake_up_seems_lost(make_placement, at):
    ask(make_placement(), at)
    assert jobs.sweep(at=at + timedelta(seconds=2)) == []
    assert jobs.sweep(at=at + timedelta(seconds=4)) == ["plain"]


def test_one_person_cannot_fill_the_queue(make_placement, author, at, settings):
    settings.ALTTEXT = {**settings.ALTTEXT, "MAX_OPEN_JOBS_PER_USER": 2}
    for _ in range(2):
        ask(make_placement(), at, by=author)
    with pytest.raises(jobs.TooManyOpenJobs, match="2 open requests"):
        ask(make_placement(), at, by=author)
    assert Job.objects.count() == 2


def test_no_captioner_is_asked_about_a_decorative_image(make_placement, at):
    placement = make_placement(decorative=True)
    with pytest.raises(suggestions.NothingToAsk):
        ask(placement, at)


def test_asking_again_overtakes_the_pending_suggestion_by_the_author(make_placement, suggest, author, at):
    placement = make_placement()
    first = suggest(placement)
    ask(placement, at + timedelta(hours=1), by=author, again=True)
    first.refresh_from_db()
    assert (first.state, first.superseded_by_author) == ("SUPERSEDED", True)


def test_an_undecided_suggestion_expires_when_its_window_closes(make_placement, suggest, at):
    suggestion = suggest(make_placement())
    suggestions.expire(at=at + timedelta(days=28), before=at)
    suggestion.refresh_from_db()
    assert suggestion.state == "EXPIRED"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_eight_workers_claim_each_of_eighty_jobs_once(make_placement, at):
    for _ in range(80):
        ask(make_placement(), at)
    claimed, lock = [], threading.Lock()

    def work():
        try:
            while (claim := jobs.claim(at=at)) is not None:
                with lock:
                    claimed.append(claim.id)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(claimed) == len(set(claimed)) == 80


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_twenty_threads_that_ask_at_once_open_one_job(make_placement, at):
    placement = make_placement()
    fresh, barrier = [], threading.Barrier(20)

    def request():
        try:
            barrier.wait()
            fresh.append(ask(placement, at)[1])
        finally:
            connection.close()

    threads = [threading.Thread(target=request) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(fresh) == [False] * 19 + [True]
    assert Job.objects.count() == 1


class JobRow(RuleBasedStateMachine):
    """Any order of requests, claims, kills, answers and outages: no job is lost, none is answered twice."""

    claims = Bundle("claims")
    placements: list[Placement]  # set by the test; rows of jobs and suggestions are removed after each run
    start = None

    def __init__(self):
        super().__init__()
        self.now = type(self).start
        self.answered: list[int] = []

    @rule(index=st.integers(0, 2))
    def request(self, index):
        ask(self.placements[index], self.now)

    @rule(seconds=st.integers(1, 70))
    def wait(self, seconds):
        self.now += timedelta(seconds=seconds)

    @rule(target=claims)
    def claim(self):
        return jobs.claim(at=self.now)

    @rule(claim=claims)
    def answer(self, claim):
        if claim and suggestions.record(job_id=claim.id, token=claim.token, answer=ANSWER, at=self.now):
            self.answered.append(claim.id)

    @rule(claim=consumes(claims))
    def outage(self, claim):
        if claim:
            jobs.give_back(id=claim.id, token=claim.token, at=self.now)

    @rule(claim=consumes(claims))
    def break_down(self, claim):
        if claim:
            jobs.retry(id=claim.id, token=claim.token, at=self.now, code="error")

    @rule()
    def sweep(self):
        jobs.sweep(at=self.now)

    @invariant()
    def holds(self):
        assert len(self.answered) == len(set(self.answered))
        assert Job.objects.filter(state=Job.State.READY).count() == len(self.answered)
        assert not Job.objects.filter(attempts__gt=3).exists()
        for placement in self.placements:
            open_jobs = Job.objects.filter(placement=placement, state__in=["QUEUED", "RUNNING"]).count()
            assert open_jobs <= 1

    def teardown(self):
        """Whatever happened, every open job can still be brought to an end."""
        jobs.sweep(at=self.now)
        self.now += timedelta(seconds=901)  # above the longest lease and the longest outage
        while (claim := jobs.claim(at=self.now)) is not None:
            suggestions.record(job_id=claim.id, token=claim.token, answer=ANSWER, at=self.now)
        jobs.sweep(at=self.now)
        assert not Job.objects.filter(state__in=["QUEUED", "RUNNING"]).exists()
        Suggestion.objects.all().delete()
        Job.objects.all().delete()


@pytest.mark.slow
def test_any_order_of_events_keeps_the_job_row_sound(make_placement, at):
    suggestions.register_version(name="canned", key="v1", versions={}, at=at)
    JobRow.placements, JobRow.start = [make_placement() for _ in range(3)], at
    run_state_machine_as_test(
        JobRow,
        settings=settings(
            max_examples=20,
            stateful_step_count=25,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
