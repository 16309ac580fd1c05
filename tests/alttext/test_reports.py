"""Figures of a cohort, counted by hand on a made-up site and once on the real operations."""

from __future__ import annotations

from datetime import timedelta

import pytest

from alttext import rates, reports
from alttext.operations import decisions
from tests.alttext.made_up import Site, small_period

pytestmark = pytest.mark.django_db


@pytest.fixture
def look(lead, at):
    """The figures that a lead sees of the last `days`."""

    def overview(days=28, **chosen):
        return reports.overview(user=lead, since=days and at - timedelta(days=days), until=at, **chosen)

    return overview


@pytest.fixture
def records(lead, at):
    def found(**chosen):
        return list(reports.edit_records(user=lead, cohort=reports.Cohort(None, at, **chosen)))

    return found


def test_the_four_rates_of_the_small_period(look, at):
    """Kept 14, changed 4; reviewed 14+2+1; offered 17+3; answers 20+4+2."""
    small_period(at)
    found = look()
    assert found.acts.edit_rate == 4 / 14
    assert found.acts.not_used == 3 / 17
    assert found.abstain == 4 / 26
    assert found.coverage == 17 / 20
    assert (found.authors, found.still_open) == (5, 3)
    assert (found.superseded, found.superseded_by_author) == (2, 1)


def test_the_interval_and_the_bounds_of_the_small_period(look, at):
    """Author rates .2 .25 0 .5 1: mean .39, sd .3847, t(.975, 4) 2.7764, half width .4777, clipped at 0."""
    small_period(at)
    acts = look().acts
    assert acts.means.authors == 5
    assert acts.means.mean == pytest.approx(0.39)
    assert acts.means.interval.low == 0
    assert acts.means.interval.high == pytest.approx(0.8677, abs=1e-4)
    assert acts.bounds == rates.Interval(4 / 17, 7 / 17)


def test_the_sizes_of_the_small_period(look, at):
    """Distances 1, 1, 9, 19, all by insertion; in words 1, 1, 1, 4."""
    small_period(at)
    sizes = look().acts.sizes
    assert [bucket.count for bucket in sizes.graphemes.buckets] == [2, 1, 1, 0, 0]
    assert (sizes.graphemes.p10, sizes.graphemes.p50, sizes.graphemes.p90) == (1, 1, 19)
    assert [bucket.count for bucket in sizes.words.buckets] == [3, 0, 1, 0, 0]
    assert (sizes.small, sizes.large) == (0.5, 0)
    assert (sizes.inserted, sizes.deleted, sizes.substituted) == (1, 0, 0)


def test_care_in_reading_of_the_small_period(look, at):
    """1 of 10 as-is texts is trivial; of 4 with a known time 2 took less than 0.75 s."""
    small_period(at)
    acts = look().acts
    assert acts.trivial == 0.1
    assert acts.rubber_stamps == reports.RubberStamps(share=0.5, timed=4)


def test_reasons_are_counted_one_by_one(look, at):
    small_period(at)
    assert [(row.code, row.count, row.share) for row in look().abstentions] == [
        ("samples_disagree", 3, 0.75),
        ("generic_text", 1, 0.25),
        ("text_unverified", 1, 0.25),
    ]


def test_failures_enter_no_rate(look, at):
    site = small_period(at)
    before = look()
    assert [(row.code, row.count) for row in before.failures] == [("unreadable", 2), ("hung", 1)]
    site.failure("empty")
    after = look()
    assert after.failed == before.failed + 1
    assert (after.abstain, after.coverage, after.acts.edit_rate) == (
        before.abstain,
        before.coverage,
        before.acts.edit_rate,
    )


def test_a_cohort_is_what_was_suggested_in_the_period(look, at):
    small_period(at)
    assert look(90).offered == look(28).offered + 2
    assert look(None).acts.counts.expired == 2
    assert look(1).answered == 0


def test_nothing_suggested_means_no_figures(look):
    found = look()
    assert (found.abstain, found.coverage) == (None, None)
    assert (found.acts.edit_rate, found.acts.not_used, found.acts.bounds) == (None, None, None)
    assert (found.acts.means.mean, found.acts.trivial, found.acts.rubber_stamps.share) == (None, None, None)
    assert (found.acts.sizes.graphemes.p50, found.acts.sizes.small, found.acts.sizes.inserted) == (None, None, None)


@pytest.mark.parametrize(("authors", "shown"), [(4, False), (5, True)])
def test_a_part_of_the_site_shows_acts_from_five_authors_up(look, at, authors, shown):
    site = Site(at)
    for person in site.authors(authors):
        site.kept("A red cats", by=person, language="de")
        site.kept("A red cat", by=person)
    for found in (look(language="de"), look(captioner_version=site.version)):
        assert (found.acts is not None) == shown
        assert found.coverage == 1
    assert look().acts is not None


def test_the_whole_site_shows_figures_but_no_interval_with_few_authors(look, at):
    site = Site(at)
    for number, person in enumerate(site.authors(4)):
        site.kept("A red cat", by=person)
        site.kept("A red cats" if number else "A red cat", by=person)
    acts = look().acts
    assert acts.edit_rate == 3 / 8
    assert acts.means.interval is None


def test_the_number_of_authors_is_a_setting(look, at, settings):
    settings.ALTTEXT = {**settings.ALTTEXT, "MIN_AUTHORS": 8}
    small_period(at)
    assert look().acts.means.interval is None
    assert look(language="en").acts is None


def test_a_part_is_counted_by_itself(look, at):
    site = Site(at)
    other = site.another_version("starter", "v2")
    for person in site.authors(5):
        site.kept("A red cat", by=person)
        site.kept("A red cats", by=person, version=other)
        site.kept("A red cats", by=person, language="de")
    assert look().acts.edit_rate == 10 / 15
    assert look(captioner_version=other).acts.edit_rate == 1
    assert look(captioner_version=site.version, language="en").acts.edit_rate == 0
    assert look(language="de").acts.counts.edited == 5


def test_only_leads_get_figures(at, author, admin, outsider):
    small_period(at)
    for user, answers in [(author, 0), (outsider, 0), (admin, 26)]:
        found = reports.overview(user=user, since=at - timedelta(days=28), until=at)
        assert (found.answered, found.failed) == (answers, 3 if answers else 0)
        assert len(list(reports.edit_records(user=user, cohort=reports.Cohort(None, at)))) == (14 if answers else 0)


def test_the_last_text_inside_the_window_counts_once(records, at):
    site = Site(at)
    one, two = site.authors(2)
    suggestion = site.suggestion("EDITED", days_ago=60)
    site.act(suggestion, "SAVE", by=one, final="A red cat", hours=1)
    site.act(suggestion, "SAVE", by=two, final="A red cats", hours=2)
    site.act(suggestion, "SAVE", by=one, final="A big red cat asleep", hours=24 * 29)
    (found,) = records()
    assert (found.author_id, found.final_text, found.distance) == (two.pk, "A red cats", 1)


def test_a_text_that_was_taken_back_does_not_count(records, at):
    site = Site(at)
    one, two = site.authors(2)
    suggestion = site.suggestion("AS_IS")
    site.act(suggestion, "SAVE", by=one, final="A red cat", hours=1)
    second = site.act(suggestion, "SAVE", by=two, final="A red cats", hours=2)
    site.act(suggestion, "UNDO", by=two, hours=3, undoes=second)
    (found,) = records()
    assert (found.author_id, found.outcome) == (one.pk, "AS_IS")


def test_taking_back_after_the_window_changes_no_record(records, at):
    site = Site(at)
    (one,) = site.authors(1)
    suggestion = site.suggestion("EDITED", days_ago=60)
    saved = site.act(suggestion, "SAVE", by=one, final="A red cats", hours=1)
    site.act(suggestion, "UNDO", by=one, hours=24 * 30, undoes=saved)
    assert [found.distance for found in records()] == [1]


def test_an_author_whose_account_is_gone_still_counts(look, at):
    site = Site(at)
    people = site.authors(5)
    for number, person in enumerate(people):
        site.kept("A red cats" if number else "A red cat", by=person)
    people[0].delete()
    found = look()
    assert found.authors == 5
    assert found.acts.means.mean == pytest.approx(0.8)


def test_text_without_spaces_is_read_by_the_character(look, at):
    """20 characters take at least 1 s; as a single word it would be 0.25 s."""
    site = Site(at)
    text = "一只红色的猫在花园里睡觉旁边有一只狗站着"
    assert len(text) == 20
    for person, seconds in zip(site.authors(5), [0.3, 0.9, 1.1, 5, 5], strict=True):
        site.kept(text, by=person, text=text, language="zh-hans", seconds=seconds)
    assert look().acts.rubber_stamps.share == 2 / 5


def test_four_queries_give_all_figures(look, at, django_assert_num_queries, lead):
    small_period(at)
    lead.has_perm("alttext.view_dashboards")  # permissions are cached on the user
    with django_assert_num_queries(4):
        look()


def test_figures_follow_what_authors_really_do(look, make_placement, suggest, make_user, at):
    """Through the operations: as is, edited, edited and taken back, rejected, decorative; one abstention."""
    placed = [make_placement() for _ in range(6)]
    offered = [suggest(placement, "A red cat") for placement in placed[:5]]
    suggest(placed[5], reasons=["samples_disagree"])
    people = [make_user("author") for _ in range(5)]
    as_is, edited, undone, rejected, decorative = zip(placed, offered, people, strict=False)

    def act(verb, who, **more):
        placement, suggestion, by = who
        verb(placement=placement, seen=decisions.seen(placement, suggestion), by=by, at=at, **more)
        placement.refresh_from_db()

    act(decisions.save_text, as_is, text="A red cat", active_seconds=0.1)
    act(decisions.save_text, edited, text="A red cats")
    act(decisions.save_text, undone, text="Something else entirely")
    act(decisions.undo, undone)
    act(decisions.reject, rejected)
    act(decisions.mark_decorative, decorative)
    found = look()
    assert found.acts.counts == rates.Counts(as_is=1, edited=1, rejected=1, decorative=1, pending=1, abstained=1)
    assert (found.acts.edit_rate, found.acts.not_used, found.coverage) == (0.5, 0.5, 0.8)
    assert (found.abstain, found.authors, found.acts.rubber_stamps.share) == (1 / 6, 2, 1)
    assert [bucket.count for bucket in found.acts.sizes.graphemes.buckets] == [1, 0, 0, 0, 0]
