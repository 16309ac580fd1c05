"""A captioner in a process of its own: frames, deadlines, death, and no process left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest

from captioner import (
    CaptionerDied,
    CaptionerHung,
    CaptionError,
    CaptionerUnavailable,
    CaptionRequest,
    IsolatedCaptioner,
    PageContext,
    Reason,
    Role,
    load_captioner,
)
from captioner.loading import UnknownCaptioner
from captioner.types import Outcome
from tests.conftest import picture

pytestmark = pytest.mark.slow


@pytest.fixture
def isolated(monkeypatch):
    monkeypatch.setenv("ALTTEXT_CANNED_TRIGGERS", "1")
    with IsolatedCaptioner("canned") as captioner:
        yield captioner


def request(title="", **fields):
    fields = {"deadline_seconds": 20.0, **fields}
    return CaptionRequest("7", image=picture(kind="JPEG"), context=PageContext(title=title), **fields)


def test_it_answers_as_the_captioner_in_this_process_does(isolated):
    requests = [request(), request(role=Role.DECORATIVE), request("Menu")]
    assert isolated.describe(requests) == load_captioner("canned").describe(requests)
    assert dict(isolated.versions) == dict(load_captioner("canned").versions)


def test_an_outcome_survives_the_way_through_json(isolated):
    [outcome] = isolated.describe([request(role=Role.DECORATIVE)])
    assert outcome.reasons == (Reason.DECLARED_DECORATIVE,)
    assert Outcome.from_json(outcome.as_json()) == outcome


def test_an_error_of_the_captioner_comes_back_under_its_name_and_the_child_lives_on(isolated):
    isolated.describe([request()])
    child = isolated.pid
    with pytest.raises(CaptionerUnavailable, match="triggered"):
        isolated.describe([request("canned:unavailable")])
    with pytest.raises(CaptionError, match="ValueError: triggered"):
        isolated.describe([request("canned:raise")])
    assert isolated.describe([request()])[0].text
    assert isolated.pid == child


def test_a_captioner_that_hangs_is_killed_by_the_clock_and_the_next_request_works(isolated):
    isolated.describe([request()])
    child = isolated.pid
    started = time.monotonic()
    with pytest.raises(CaptionerHung):
        isolated.describe([request("canned:hang", deadline_seconds=0.5)])
    assert time.monotonic() - started < 10
    assert not psutil.pid_exists(child)
    assert isolated.describe([request()])[0].text


def test_a_frozen_child_is_killed_by_the_clock(isolated):
    isolated.describe([request()])
    os.kill(isolated.pid, signal.SIGSTOP)
    with pytest.raises(CaptionerHung):
        isolated.describe([request(deadline_seconds=0.5)])


def test_a_child_that_dies_is_told_and_replaced(isolated):
    with pytest.raises(CaptionerDied):
        isolated.describe([request("canned:die")])
    assert isolated.describe([request()])[0].text


def test_no_process_stays_after_close():
    captioner = IsolatedCaptioner("canned")
    captioner.describe([request()])
    child = captioner.pid
    captioner.close()
    assert not psutil.pid_exists(child)


def test_a_name_that_nobody_has_is_a_clear_error():
    with pytest.raises(UnknownCaptioner, match="canned, starter"):
        load_captioner("nobody")
    with IsolatedCaptioner("nobody") as captioner, pytest.raises(CaptionError, match="nobody"):
        captioner.versions  # noqa: B018


def test_several_threads_get_their_own_answers(isolated):
    answers = {}

    def ask(number):
        [outcome] = isolated.describe([CaptionRequest(str(number), image=picture(kind="JPEG"))])
        answers[number] = outcome.request_id

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {number: str(number) for number in range(6)}


def test_the_child_dies_with_a_parent_that_was_killed():
    code = (
        "import sys; from captioner import IsolatedCaptioner\n"
        "c = IsolatedCaptioner('canned'); c.versions; print(c.pid, flush=True); sys.stdin.read()"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdin.close()
    parent.stdout.close()
    deadline = time.monotonic() + 10
    while psutil.pid_exists(child) and psutil.Process(child).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_the_answer_of_an_interrupted_call_never_reaches_the_next_one(isolated, monkeypatch):
    isolated.describe([request()])

    class Interrupted(Exception):
        pass

    def interrupt(**kwargs):
        raise Interrupted

    with monkeypatch.context() as patch:
        patch.setattr(isolated, "_receive", interrupt)
        with pytest.raises(Interrupted):
            isolated.describe([CaptionRequest("first", image=picture(colour=(200, 0, 0), kind="JPEG"))])
    [outcome] = isolated.describe([CaptionRequest("second", image=picture(colour=(0, 0, 200), kind="JPEG"))])
    assert outcome.request_id == "second"
    assert "blue" in outcome.text


def test_a_frozen_child_that_takes_no_bytes_is_killed_by_the_clock(isolated):
    isolated.describe([request()])
    os.kill(isolated.pid, signal.SIGSTOP)
    large = CaptionRequest("1", image=bytes(2_000_000), deadline_seconds=0.5)
    started = time.monotonic()
    with pytest.raises(CaptionerHung):
        isolated.describe([large])
    assert time.monotonic() - started < 10


def test_the_child_gets_no_secrets_of_the_site(monkeypatch):
    monkeypatch.setenv("DJANGO_SECRET_KEY", "s3cret")
    monkeypatch.setenv("DATABASE_URL", "postgresql://user:s3cret@127.0.0.1/x")
    with IsolatedCaptioner("canned") as captioner:
        captioner.describe([request()])
        assert "s3cret" not in "".join(psutil.Process(captioner.pid).environ().values())
