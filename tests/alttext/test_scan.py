"""Scans of existing sites: idempotent, resumable, bounded, and never in the way of a person's text."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.db.models import Q
from django.test.utils import CaptureQueriesContext

from alttext.adapters import Alt, Context, NotThere, Place
from alttext.contrib.imagefields.adapter import ImageFieldsAdapter
from alttext.models import Asset, Job, Placement, ScanCheckpoint, Suggestion
from alttext.operations import checkpoints, decisions, placements, surveys
from alttext.project.demo.models import Illustration
from tests.conftest import key_of

ROOT = Path(__file__).resolve().parents[2]


class Watched(ImageFieldsAdapter):
    """The adapter of the demonstration site, with counts of what it is asked, and fingerprints as a test wants."""

    reads: list[str] = []
    asked: list[str] = []
    fingerprints: dict[str, str] = {}
    stops_after: int | None = None
    later: list[str] = []

    def places(self) -> Iterator[Place]:
        for number, place in enumerate(super().places()):
            if number == self.stops_after:
                raise RuntimeError("a row of the CMS is odd")
            yield self._marked(place)

    def place(self, key: str) -> Place:
        self.asked.append(key)
        return self._marked(super().place(key))

    def read_image(self, key: str) -> bytes:
        self.reads.append(key)
        return super().read_image(key)

    def _marked(self, place: Place) -> Place:
        return replace(place, fingerprint=self.fingerprints.get(place.key, ""), kind="illustration")


class Dated(Watched):
    """One that knows when its pages changed."""

    def places_since(self, when: datetime) -> Iterator[Place]:
        return (place for place in self.places() if place.key in self.later)


@pytest.fixture
def watched(settings):
    """`Watched` as the adapter of the site, untouched by earlier tests."""
    for name in ("reads", "asked", "later"):
        setattr(Watched, name, [])
    Watched.fingerprints, Watched.stops_after = {}, None
    settings.ALTTEXT = {**settings.ALTTEXT, "ADAPTERS": [f"{__name__}.Watched"]}
    return Watched()


def scan(*arguments: str) -> tuple[str, str]:
    """What the command says on its two channels."""
    out, err = io.StringIO(), io.StringIO()
    call_command("alttext_scan", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def writes(queries: Any) -> list[str]:
    words = ("INSERT", "UPDATE", "DELETE")
    return [query["sql"] for query in queries if query["sql"].lstrip().upper().startswith(words)]


def texts() -> list[dict[str, Any]]:
    return list(Illustration.objects.order_by("pk").values())


# ---- what a scan finds and leaves alone ----


def test_a_scan_finds_each_use_and_asks_where_no_text_stands(make_illustration):
    make_illustration()
    make_illustration(alt_text="A person's words")
    make_illustration(decorative=True)
    said, _ = scan("--request")
    assert "imagefields: 3 found, 3 new, 0 changed, 0 gone, 0 without a readable file; 3 files read" in said
    assert "1 suggestions asked for" in said
    assert sorted(Placement.objects.values_list("state", flat=True)) == ["DONE", "HUMAN", "WAITING"]


def test_a_second_scan_writes_nothing_and_asks_for_nothing(make_illustration):
    for alt in ("", "", "A person's words"):
        make_illustration(alt_text=alt)
    scan("--request")
    with CaptureQueriesContext(connection) as second:
        said, _ = scan("--request")
    assert writes(second) == []
    assert "3 found, 0 new, 0 changed, 0 gone" in said
    assert "0 suggestions asked for" in said
    assert Job.objects.count() == 2


def test_a_second_scan_takes_few_queries_however_many_places_there_are(make_illustration, adapter, at):
    make_illustration()
    placements.scan(adapter, at=at)
    with CaptureQueriesContext(connection) as one:
        placements.scan(adapter, at=at)
    for _ in range(4):
        make_illustration()
    placements.scan(adapter, at=at)
    with CaptureQueriesContext(connection) as five:
        placements.scan(adapter, at=at)
    reading = 2 * 4  # the imagefields adapter looks a row up to read its file, and another of the demo follows
    assert len(five) <= len(one) + reading


def test_no_scan_touches_what_stands_in_the_cms(make_illustration):
    make_illustration(alt_text="  A person's\u00a0words, e\u0301 and all  ")
    make_illustration(decorative=True)
    make_illustration()
    before = texts()
    scan("--request")
    scan("--request", "--reread")
    assert texts() == before


def test_a_text_that_a_person_wrote_in_the_cms_leaves_nothing_to_ask(make_illustration):
    row = make_illustration()
    scan("--no-request")
    row.alt_text = "Written in the CMS"
    row.save()
    assert "0 suggestions asked for" in scan("--request")[0]
    assert Placement.objects.get().state == Placement.State.HUMAN


def test_an_answered_picture_is_not_asked_about_again(make_placement, suggest, author, at):
    placement = make_placement()
    seen = decisions.seen(placement, suggest(placement))
    decisions.reject(placement=placement, reason="wrong", seen=seen, by=author, at=at)
    assert "0 suggestions asked for" in scan("--request")[0]


def test_without_automatic_nothing_is_asked_unless_told_so(make_illustration):
    make_illustration()
    assert "--request asks all the same" in scan()[0]
    assert not Job.objects.exists()
    assert "suggestions" not in scan("--no-request")[0]
    assert "1 suggestions asked for" in scan("--request")[0]


def test_with_automatic_a_scan_asks(settings, make_illustration):
    settings.ALTTEXT = {**settings.ALTTEXT, "AUTOMATIC": True}
    make_illustration()
    assert "1 suggestions asked for" in scan()[0]


# ---- files are not read for nothing ----


def test_a_known_file_with_the_same_fingerprint_is_not_read_again(watched, make_illustration, at):
    key = key_of(make_illustration())
    watched.fingerprints[key] = "sha1:1"
    assert placements.scan(watched, at=at).read == 1
    watched.reads.clear()
    seen = placements.scan(watched, at=at)
    assert (seen.found, seen.read, watched.reads) == (1, 0, [])


@pytest.mark.parametrize("again", ["other fingerprint", "no fingerprint", "reread"])
def test_a_file_is_read_again_where_nobody_vouches_for_it(watched, make_illustration, make_image, at, again):
    row = make_illustration()
    key = key_of(row)
    watched.fingerprints[key] = "sha1:1"
    placements.scan(watched, at=at)
    with row.image.storage.open(row.image.name, "wb") as file:
        file.write(make_image())
    if again != "reread":
        watched.fingerprints[key] = "sha1:2" if again == "other fingerprint" else ""
    seen = placements.scan(watched, at=at, reread=again == "reread")
    assert (seen.read, seen.changed) == (1, 1)
    assert Asset.objects.count() == 2


def test_a_file_replaced_while_it_is_read_is_read_again_by_the_next_scan(watched, make_illustration, make_image, at):
    row = make_illustration()
    key = key_of(row)
    watched.fingerprints[key] = "sha1:1"

    class Replaces(Watched):
        def read_image(self, key: str) -> bytes:
            data = super().read_image(key)
            self.fingerprints[key] = "sha1:2"  # the next bytes are there, the old ones were read
            return data

    placements.scan(Replaces(), at=at)
    with row.image.storage.open(row.image.name, "wb") as file:
        file.write(make_image())
    assert placements.scan(watched, at=at).changed == 1


def test_a_new_fingerprint_of_the_same_bytes_is_kept_without_a_trace(watched, make_illustration, at):
    key = key_of(make_illustration())
    placements.scan(watched, at=at)
    watched.fingerprints[key] = "sha1:1"
    seen = placements.scan(watched, at=at + timedelta(days=1))
    placement = Placement.objects.get()
    assert (seen.read, seen.changed, placement.fingerprint, placement.updated_at) == (1, 0, "sha1:1", at)
    assert placements.scan(watched, at=at).read == 0


def test_a_fingerprint_that_is_too_long_is_none(watched, make_illustration, at):
    watched.fingerprints[key_of(make_illustration())] = "x" * 201
    placements.scan(watched, at=at)
    assert placements.scan(watched, at=at).read == 1
    assert Placement.objects.get().fingerprint == ""


def test_new_words_around_a_known_file_are_noticed_without_reading_it(watched, make_illustration, at):
    row = make_illustration(text_before="Old words.")
    watched.fingerprints[key_of(row)] = "sha1:1"
    placements.scan(watched, at=at)
    row.text_before = "New words."
    row.save()
    seen = placements.scan(watched, at=at)
    assert (seen.read, seen.changed) == (0, 1)
    assert Placement.objects.get().snapshot.before == "New words."


# ---- gone ----


def test_only_what_was_not_seen_is_asked_for_before_it_counts_as_gone(watched, make_illustration, at):
    rows = [make_illustration() for _ in range(3)]
    placements.scan(watched, at=at)
    rows[1].delete()
    watched.asked.clear()
    assert placements.scan(watched, at=at).gone == 1
    assert watched.asked == [key_of_deleted(rows)]


def key_of_deleted(rows: list[Illustration]) -> str:
    [gone] = set(Placement.objects.values_list("key", flat=True)) - {key_of(row) for row in rows if row.pk}
    return gone


def test_a_place_that_comes_back_is_open_again(watched, make_illustration, at):
    row = make_illustration()
    make_illustration()
    watched.fingerprints[key_of(row)] = "sha1:1"
    placements.scan(watched, at=at)
    Placement.objects.filter(key=key_of(row)).update(state=Placement.State.GONE)
    assert placements.scan(watched, at=at).changed == 1
    assert Placement.objects.get(key=key_of(row)).state == Placement.State.OPEN


@pytest.mark.parametrize("how", ["limit", "broken"])
def test_a_scan_that_did_not_see_all_takes_nothing_as_gone(watched, make_illustration, at, how):
    make_illustration()
    second = make_illustration()
    placements.scan(watched, at=at)
    second.delete()
    Watched.stops_after = 0 if how == "broken" else None
    seen = placements.scan(watched, at=at, limit=1 if how == "limit" else None)
    assert seen.gone == 0
    assert not Placement.objects.filter(state=Placement.State.GONE).exists()


# ---- odd places ----


@pytest.mark.parametrize("key", ["", "x" * 201, "nul\x00", "half \ud800"], ids=["empty", "long", "nul", "surrogate"])
def test_a_key_that_no_database_takes_is_counted_and_passed_over(settings, at, db, key):
    adapter = Listed(3, odd={1: key})
    seen = placements.scan(adapter, at=at)
    assert (seen.found, seen.new, seen.unreadable) == (3, 2, 1)


def test_a_lost_file_keeps_no_other_place_from_being_found(watched, make_illustration, at):
    lost = make_illustration()
    make_illustration()
    lost.image.storage.delete(lost.image.name)
    seen = placements.scan(watched, at=at)
    assert (seen.found, seen.new, seen.unreadable) == (2, 1, 1)


def test_an_adapter_that_breaks_off_is_told_and_the_others_go_on(settings, watched, make_illustration, db):
    make_illustration()
    make_illustration()
    Watched.stops_after = 1
    settings.ALTTEXT = {**settings.ALTTEXT, "ADAPTERS": [f"{__name__}.Watched", f"{__name__}.Two"]}
    out, err = io.StringIO(), io.StringIO()
    with pytest.raises(CommandError, match="imagefields"):
        call_command("alttext_scan", "--no-request", stdout=out, stderr=err)
    assert "broke off after 1 places: RuntimeError: a row of the CMS is odd" in err.getvalue()
    assert "listed: 2 found, 2 new" in out.getvalue()
    with pytest.raises(CommandError):
        call_command("alttext_scan", "--dry-run", stdout=out, stderr=err)


def test_a_database_that_is_away_ends_the_scan(watched, make_illustration, at, monkeypatch):
    make_illustration()

    def away(*args: Any, **kwargs: Any) -> None:
        raise OperationalError("gone away")

    monkeypatch.setattr(placements, "sync", away)
    with pytest.raises(OperationalError):
        placements.scan(watched, at=at)


# ---- interrupted and gone on with ----


def test_a_whole_scan_leaves_no_checkpoint(watched, make_illustration, at):
    make_illustration()
    placements.scan(watched, at=at)
    assert not ScanCheckpoint.objects.exists()


def test_resume_reads_only_beyond_the_checkpoint(watched, make_illustration, at):
    rows = [make_illustration() for _ in range(4)]
    placements.scan(watched, at=at)
    checkpoints.save(adapter="imagefields", last_key=key_of(rows[1]), found=2, since=None, at=at)
    watched.reads.clear()
    seen = placements.scan(watched, at=at, resume=True)
    assert watched.reads == [key_of(rows[2]), key_of(rows[3])]
    assert (seen.found, seen.gone) == (4, 0)
    assert not ScanCheckpoint.objects.exists()


def test_a_place_that_is_new_before_the_checkpoint_is_found(watched, make_illustration, at):
    rows = [make_illustration() for _ in range(3)]
    placements.scan(watched, at=at)
    Placement.objects.filter(key=key_of(rows[0])).update(key="demo.illustration:0:image")
    checkpoints.save(adapter="imagefields", last_key=key_of(rows[1]), found=2, since=None, at=at)
    seen = placements.scan(watched, at=at, resume=True)
    assert (seen.found, seen.new, seen.gone) == (3, 1, 1)


def test_a_checkpoint_whose_place_is_gone_starts_from_the_beginning(watched, make_illustration, at):
    rows = [make_illustration() for _ in range(3)]
    placements.scan(watched, at=at)
    checkpoints.save(adapter="imagefields", last_key="demo.illustration:0:image", found=2, since=None, at=at)
    watched.reads.clear()
    seen = placements.scan(watched, at=at, resume=True)
    assert watched.reads == [key_of(row) for row in rows]
    assert seen.found == 3
    assert not ScanCheckpoint.objects.exists()


def test_batches_of_a_limit_go_on_one_after_the_other(watched, make_illustration):
    rows = [make_illustration() for _ in range(5)]
    seen = []
    for _ in range(3):
        watched.reads.clear()
        said, _ = scan("--limit", "2", "--resume", "--no-request")
        seen.append([key_of(row) for row in rows if key_of(row) in watched.reads])
    assert [len(keys) for keys in seen] == [2, 2, 1]
    assert "going on after 4 places" in said
    assert Placement.objects.count() == 5
    assert "no scan was interrupted" in scan("--resume", "--no-request")[0]


def test_resume_keeps_the_date_of_the_interrupted_scan(settings, watched, make_illustration, at):
    settings.ALTTEXT = {**settings.ALTTEXT, "ADAPTERS": [f"{__name__}.Dated"]}
    rows = [make_illustration() for _ in range(4)]
    watched.later += [key_of(rows[2]), key_of(rows[3])]
    scan("--since", "2026-01-01", "--limit", "1", "--no-request")
    assert ScanCheckpoint.objects.get().since.date() == datetime(2026, 1, 1, tzinfo=UTC).date()
    scan("--resume", "--no-request")
    assert set(Placement.objects.values_list("key", flat=True)) == {key_of(rows[2]), key_of(rows[3])}


@pytest.mark.parametrize(("minutes", "words"), [(1, "another scan may be at work"), (60, "--resume goes on there")])
def test_an_interrupted_scan_is_told_to_the_next(make_illustration, minutes, words):
    key = key_of(make_illustration())
    then = datetime.now(UTC) - timedelta(minutes=minutes)
    checkpoints.save(adapter="imagefields", last_key=key, found=1, since=None, at=then)
    assert words in scan("--no-request")[0]


CHILD = """
import os, django
os.environ["DJANGO_SETTINGS_MODULE"] = "alttext.project.settings"
django.setup()
from django.conf import settings
settings.MEDIA_ROOT = {media!r}
settings.ALTTEXT["ADAPTERS"] = ["tests.alttext.test_scan.Slow"]
settings.ALTTEXT["CAPTIONER"] = "canned"
from django.core.management import call_command
call_command("alttext_scan", "--no-request", *{arguments!r})
"""


class Slow(Watched):
    """A storage far away."""

    def read_image(self, key: str) -> bytes:
        time.sleep(0.02)
        return super().read_image(key)


def child(settings: Any, *arguments: str) -> subprocess.Popen[str]:
    """The command in a process of its own, on the database and the files of the test."""
    database = connection.settings_dict
    address = f"sqlite:///{database['NAME']}"
    if connection.vendor == "postgresql":
        place = f"{database['HOST'] or '127.0.0.1'}:{database['PORT'] or 5432}"
        address = f"postgresql://{database['USER']}:{database['PASSWORD']}@{place}/{database['NAME']}"
    return subprocess.Popen(
        [sys.executable, "-c", CHILD.format(media=str(settings.MEDIA_ROOT), arguments=arguments)],
        cwd=ROOT, env={**os.environ, "DATABASE_URL": address, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_scan_killed_without_warning_goes_on_where_it_came_to(settings, make_illustration):
    row = make_illustration()
    rows = [Illustration(article=row.article, position=row.position + n, image=row.image.name) for n in range(1, 260)]
    Illustration.objects.bulk_create(rows)
    Placement.objects.all().delete()  # that of the first row, made by its signal
    first = child(settings)
    deadline = time.monotonic() + 60
    while not ScanCheckpoint.objects.exists() and first.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert first.poll() is None, first.communicate()
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    left = ScanCheckpoint.objects.get()
    assert left.found in (100, 200)
    known = Placement.objects.count()
    assert 100 <= known < 260
    second = child(settings, "--resume")
    said, errors = second.communicate(timeout=120)
    assert second.returncode == 0, errors
    assert f"going on after {left.found} places" in said
    assert f"260 found, {260 - known} new, 0 changed, 0 gone" in said
    assert f"{260 - left.found} files read" in said
    assert Placement.objects.count() == 260
    assert not ScanCheckpoint.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_scans_at_once_end_with_each_place_once(make_illustration, adapter, at):
    for _ in range(30):
        make_illustration()
    problems: list[BaseException] = []

    def run() -> None:
        try:
            placements.scan(adapter, at=at)
        except BaseException as error:
            problems.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert Placement.objects.filter(state=Placement.State.OPEN).count() == 30


# ---- parts of a site ----


def test_since_looks_only_at_changed_pages_where_the_adapter_can_tell(settings, watched, make_illustration):
    settings.ALTTEXT = {**settings.ALTTEXT, "ADAPTERS": [f"{__name__}.Dated"]}
    old, new = make_illustration(), make_illustration()
    scan("--no-request")
    old.delete()
    watched.later.append(key_of(new))
    watched.reads.clear()
    said, _ = scan("--since", "2026-01-31T08:00", "--no-request")
    assert "1 found" in said
    assert "0 gone" in said
    assert watched.reads == [key_of(new)]


def test_since_looks_at_all_where_the_adapter_cannot_tell_and_says_so(make_illustration):
    make_illustration()
    said, _ = scan("--since", "2026-01-31", "--no-request")
    assert "cannot tell which pages changed since then; looking at all" in said
    assert "1 found, 1 new" in said


def test_one_adapter_can_be_named(settings, make_illustration, watched):
    settings.ALTTEXT = {**settings.ALTTEXT, "ADAPTERS": [f"{__name__}.Watched", f"{__name__}.Two"]}
    make_illustration()
    said, _ = scan("--adapter", "listed", "--no-request")
    assert "imagefields" not in said
    assert "listed: 2 found" in said


def test_a_limit_bounds_the_requests_too(make_illustration):
    for _ in range(3):
        make_illustration()
    scan("--no-request")
    assert "2 suggestions asked for" in scan("--limit", "2", "--request")[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--adapter", "none"], "No adapter is called 'none'; there are: imagefields."),
        (["--limit", "0"], "'0' is no number above 0"),
        (["--limit", "-3"], "'-3' is no number above 0"),
        (["--limit", "many"], "'many' is no number above 0"),
        (["--since", "31.3.2026"], "'31.3.2026' is no date such as 2026-03-31"),
        (["--since", "2999-01-01"], "'2999-01-01' lies in the future"),
        (["--since", "2026-01-01", "--resume"], "not allowed with"),
    ],
)
@pytest.mark.django_db
def test_a_wrong_argument_is_named(arguments, words):
    with pytest.raises(CommandError, match=words.replace("(", r"\(")):
        scan(*arguments)


# ---- counting first ----


def test_a_dry_run_counts_kinds_and_states_and_writes_nothing(watched, make_illustration):
    make_illustration()
    make_illustration(alt_text="A person's words")
    make_illustration(decorative=True)
    with CaptureQueriesContext(connection) as queries:
        said, _ = scan("--dry-run")
    assert writes(queries) == []
    assert watched.reads == []
    assert "imagefields: 3 images" in said
    assert "illustration: 1 without a text, 1 with a text, 1 decorative" in said
    assert "state: 3 not known yet" in said
    assert "1 suggestions to ask for" in said
    assert "Nothing was written." in said


def test_a_dry_run_foretells_what_the_scan_asks_for(watched, make_illustration, make_placement, suggest, at):
    make_illustration()
    make_illustration(alt_text="A person's words")
    suggest(make_placement())  # answered
    changed = make_placement()
    suggest(changed)
    Illustration.objects.filter(pk=changed.key.split(":")[1]).update(text_before="New words around it.")
    foretold, _ = scan("--dry-run")
    asked, _ = scan("--request")
    assert "2 suggestions to ask for" in foretold
    assert "2 suggestions asked for" in asked
    assert "0 suggestions to ask for" in scan("--dry-run")[0]


def test_a_dry_run_of_a_part_counts_the_part(settings, watched, make_illustration):
    rows = [make_illustration() for _ in range(3)]
    assert "imagefields: 2 images" in scan("--dry-run", "--limit", "2")[0]
    settings.ALTTEXT = {**settings.ALTTEXT, "ADAPTERS": [f"{__name__}.Dated"]}
    watched.later.append(key_of(rows[0]))
    assert "imagefields: 1 images" in scan("--dry-run", "--since", "2026-01-01")[0]


@pytest.mark.django_db
def test_the_estimate_says_what_it_assumes(settings, watched):
    settings.ALTTEXT = {**settings.ALTTEXT, "ADAPTERS": [f"{__name__}.Many"], "CAPTIONER": "starter"}
    said, _ = scan("--dry-run")
    assert "7200 suggestions to ask for, about 1.0 hours of one worker" in said  # 7,200 x 0.5 s
    assert "0.5 s an image as measured on two shared cores; nothing was measured here yet" in said


@pytest.mark.django_db
def test_no_time_is_made_up_for_a_captioner_that_nobody_has_measured(settings):
    settings.ALTTEXT = {**settings.ALTTEXT, "ADAPTERS": [f"{__name__}.Two"]}
    said, _ = scan("--dry-run")
    assert '2 suggestions to ask for with the captioner "canned": its speed is known after' in said


def test_the_estimate_follows_what_was_measured_here(settings, make_placement, suggest):
    """Four answers of 1 s and one of 6 s: 2 s an image, so 1,800 images are an hour."""
    for _ in range(5):
        suggest(make_placement())
    last = Suggestion.objects.order_by("pk").last()
    Suggestion.objects.update(seconds=1.0)
    Suggestion.objects.filter(pk=last.pk).update(seconds=6.0)
    settings.ALTTEXT = {**settings.ALTTEXT, "ADAPTERS": [f"{__name__}.Many"]}
    said, _ = scan("--dry-run", "--limit", "1800")
    assert "1800 suggestions to ask for, about 1.0 hours of one worker" in said
    assert "2 s an image, the mean of 5 answers of this captioner on this site" in said


# ---- progress ----


def test_progress_goes_to_stderr_when_asked_for(make_illustration):
    make_illustration()
    assert "imagefields: 1 places, 1 new, 1 files read" in scan("--progress", "--no-request")[1]


@pytest.mark.parametrize("arguments", [["--no-progress"], []])
def test_nobody_is_told_who_does_not_look(make_illustration, arguments):
    make_illustration()
    assert scan("--no-request", *arguments)[1] == ""


# ---- size ----


class Words(str):
    """Text of a page that is counted while it is held."""

    alive = peak = 0

    def __init__(self, *args: Any) -> None:
        Words.alive += 1
        Words.peak = max(Words.peak, Words.alive)

    def __del__(self) -> None:
        Words.alive -= 1


class Listed:
    """Places that exist while they are looked at."""

    name = "listed"

    def __init__(self, count: int = 2, odd: dict[int, str] | None = None) -> None:
        self.count, self.odd = count, odd or {}

    def places(self) -> Iterator[Place]:
        return (self._place(number) for number in range(self.count))

    def place(self, key: str) -> Place:
        if not key.isdigit() or int(key) >= self.count:
            raise NotThere(key)
        return self._place(int(key))

    def read_image(self, key: str) -> bytes:
        return f"bytes {key}".encode()

    def editable(self, user: Any) -> Q:
        return Q(pk__in=[])

    def _place(self, number: int) -> Place:
        return Place(
            key=self.odd.get(number, str(number)), scope="page", page_title="Page", page_url="/", language="en",
            image_name="a.png", image_url="", alt=Alt(), context=Context(before=Words(f"Page {number}.")),
        )  # fmt: skip


class Two(Listed):
    """The fewest that are more than one."""


class Many(Listed):
    """An hour's work at half a second each."""

    def __init__(self) -> None:
        super().__init__(7200)


@pytest.mark.parametrize("count", [120, 250])
@pytest.mark.django_db
def test_memory_does_not_grow_with_the_number_of_places(at, count):
    Words.alive = Words.peak = 0
    placements.scan(Listed(count), at=at)
    placements.scan(Listed(count), at=at)
    assert 100 <= Words.peak <= 110  # a hundred are held while they are compared, and those at hand
    surveys.survey(Listed(count), Listed(count).places())
    assert Words.peak <= 210  # the next hundred come while the last are still there
