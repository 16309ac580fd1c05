"""Children that die, hang, swell, lie or outstay: the caller gets an answer, the next file works, nothing stays."""

from __future__ import annotations

import dataclasses
import io
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest
from PIL import Image

from captioner.prepare import cell, images, sandbox
from captioner.types import CaptionerUnavailable
from tests.captioner.prepare.pictures import encoded, png, scene

ROOT = pathlib.Path(sandbox.__file__).resolve().parents[2]  # where `captioner` can be imported from
JPEG = encoded(scene(), "JPEG")
LINUX = sys.platform.startswith("linux")
linux_only = pytest.mark.skipif(not LINUX, reason="RLIMIT_AS, /proc and PR_SET_PDEATHSIG are Linux's")


def test_one_child_serves_many_files_and_none_is_left_after_close(fresh_sandbox):
    assert images.take_in(JPEG).accepted
    [child] = fresh_sandbox()
    assert images.take_in(JPEG).accepted
    assert fresh_sandbox() == [child]
    sandbox.close()
    assert fresh_sandbox() == []
    assert images.take_in(JPEG).accepted


def test_files_that_need_no_decoder_start_no_child(fresh_sandbox):
    for data, name in ((b"", ""), (b"hello", "a.jpg"), (b"<svg/>", "a.svg"), (JPEG, "a.bmp")):
        images.take_in(data, name=name)
    assert fresh_sandbox() == []


def test_a_stopped_child_is_killed_by_the_clock_and_the_next_file_works(fresh_sandbox):
    images.take_in(JPEG)
    [child] = fresh_sandbox()
    child.send_signal(signal.SIGSTOP)
    started = time.monotonic()
    answer = images.take_in(JPEG, limits=dataclasses.replace(images.EMBEDDED, seconds=0.5))
    assert (answer.words, answer.evidence) == ("REJECT:corrupt", {"killed": "clock"})
    assert "0.5 seconds" in answer.detail
    assert 0.4 < time.monotonic() - started < 5
    assert not child.is_running()
    assert images.take_in(JPEG).accepted


def test_the_clock_also_runs_while_a_stopped_child_does_not_take_the_file(fresh_sandbox):
    """Two million bytes do not fit into a pipe: the parent is still writing when time is up."""
    images.take_in(JPEG)
    [child] = fresh_sandbox()
    child.send_signal(signal.SIGSTOP)
    answer = images.take_in(JPEG + bytes(2_000_000), limits=dataclasses.replace(images.EMBEDDED, seconds=0.5))
    assert answer.evidence == {"killed": "clock"}


@linux_only
def test_a_picture_that_needs_more_memory_than_the_ceiling_is_refused_and_the_next_file_works(fresh_sandbox):
    big = png(6000, 4000, colour=6, pixels=(b"\0" + bytes(range(200)) * 120) * 4000)
    tight = dataclasses.replace(images.EMBEDDED, memory_bytes=100_000_000)
    answer = images.take_in(big, limits=tight)
    assert (answer.words, answer.evidence) == ("REJECT:corrupt", {"killed": "memory"})
    assert "memory" in answer.detail
    assert images.take_in(JPEG, limits=tight).accepted
    assert images.take_in(big).accepted


@linux_only
@pytest.mark.parametrize(("side", "megabytes", "limits"), [(6324, 400, images.EMBEDDED), (8000, 640, images.Limits())])
def test_the_largest_pictures_stay_far_below_the_ceiling(fresh_sandbox, side, megabytes, limits):
    images.take_in(JPEG, limits=limits)
    [child] = fresh_sandbox()
    before = _peak_megabytes(child.pid)
    assert (
        images.take_in(png(side, side, colour=6, pixels=bytes(side * (4 * side + 1))), limits=limits).code
        == "transparent"
    )
    assert _peak_megabytes(child.pid) - before < megabytes


def test_a_child_killed_between_two_files_is_replaced_unnoticed(fresh_sandbox):
    images.take_in(JPEG)
    [child] = fresh_sandbox()
    child.kill()
    assert images.take_in(JPEG).accepted
    assert child not in fresh_sandbox()


def test_a_request_with_other_ceilings_gets_a_child_of_its_own(fresh_sandbox):
    images.take_in(JPEG)
    [first] = fresh_sandbox()
    images.take_in(JPEG, limits=dataclasses.replace(images.EMBEDDED, memory_bytes=1 << 29))
    [second] = fresh_sandbox()
    images.take_in(JPEG, limits=dataclasses.replace(images.EMBEDDED, memory_bytes=1 << 29, heic=True))
    [third] = fresh_sandbox()
    assert len({first.pid, second.pid, third.pid}) == 3
    if LINUX:
        assert third.rlimit(psutil.RLIMIT_AS) == (1 << 29, 1 << 29)


def test_a_child_is_replaced_after_its_share_of_files(fresh_sandbox, monkeypatch):
    monkeypatch.setattr(sandbox, "FILES_EACH", 2)
    seen = []
    for _ in range(5):
        images.take_in(JPEG)
        seen += [child.pid for child in fresh_sandbox() if child.pid not in seen]
    assert len(seen) == 3  # alive after the first, third and fifth file; gone after the second and fourth


# ---- children that misbehave on purpose: a script in place of the decoder, speaking the real protocol

MISBEHAVIOUR = {
    "crash": "os.abort()",
    "exit": "os._exit(0)",
    "no message": "os.write(1, b'hello, this is no message at all'); time.sleep(60)",
    "no JSON": "os.write(1, (4).to_bytes(4, 'big') + b'oops'); time.sleep(60)",
    "another verdict": "told = {'outcome': 'ACCEPT', 'code': 'blank', 'flags': [], 'words': ''}; "
    "wire.write(1, {'intake': told}, b'', b'')",
    "no pictures": "wire.write(1, {'intake': {'outcome': 'ACCEPT', 'flags': [], 'words': ''}})",
    "endless picture": "os.write(1, wire.pack({'state': 'done'}, bytes(1 << 25))); time.sleep(60)",
    "negative length": "os.write(1, (14).to_bytes(4, 'big') + b'{\"parts\":[-1]}'); time.sleep(60)",
}


@pytest.fixture
def impostor(monkeypatch, fresh_sandbox):
    """Gives a function that replaces the next children's program by one that does `deed` once it has the file."""

    def replace(deed: str) -> None:
        script = textwrap.dedent(f"""
            import os, time
            from captioner.prepare import wire
            wire.write(1, {{"state": "ready"}})
            while wire.read(0):
                wire.write(1, {{"state": "begun"}})
                {deed}
        """)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}

        def start(kind: cell.Kind) -> subprocess.Popen[bytes]:
            return subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, bufsize=0, **pipes)

        monkeypatch.setattr(cell, "start", start)

    yield replace
    monkeypatch.undo()


@pytest.mark.parametrize("kind", MISBEHAVIOUR)
def test_a_child_that_crashes_or_answers_nonsense_means_a_refusal(impostor, fresh_sandbox, kind):
    impostor(MISBEHAVIOUR[kind])
    answer = images.take_in(JPEG)
    assert (answer.words, answer.evidence) == ("REJECT:corrupt", {"killed": "crash"})
    assert fresh_sandbox() == []


def test_a_child_that_never_gets_ready_is_no_fault_of_the_file(monkeypatch, fresh_sandbox):
    monkeypatch.setattr(cell, "interpreter", lambda: "/bin/false")
    with pytest.raises(CaptionerUnavailable):
        images.take_in(JPEG)
    monkeypatch.setattr(cell, "interpreter", lambda: "/no/such/python")
    with pytest.raises(CaptionerUnavailable):
        images.take_in(JPEG)
    monkeypatch.undo()
    assert images.take_in(JPEG).accepted


def test_closing_while_a_file_is_being_decoded_blames_nobody(impostor):
    impostor("time.sleep(60)")
    with ThreadPoolExecutor(1) as threads:
        task = threads.submit(images.take_in, JPEG)
        _until(lambda: any(child.files for child in sandbox._pool._all))
        sandbox.close()
        with pytest.raises(CaptionerUnavailable):
            task.result(timeout=10)


# ---- threads and processes


def test_eight_threads_each_get_the_answer_to_their_own_file(fresh_sandbox):
    files = [encoded(scene(200 + 3 * number, 150), "PNG") for number in range(24)]
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(images.take_in, files))
    assert [answer.width_px for answer in answers] == [200 + 3 * number for number in range(24)]
    assert all(Image.open(io.BytesIO(answer.large)).width == answer.width_px for answer in answers)
    assert len(fresh_sandbox()) <= sandbox.CHILDREN


def test_a_child_outlives_the_thread_that_first_needed_it(fresh_sandbox):
    """On Linux the signal for a parent's death follows the thread that started the child."""
    thread = threading.Thread(target=images.take_in, args=(JPEG,))
    thread.start()
    thread.join()
    [child] = fresh_sandbox()
    time.sleep(0.2)
    assert child.is_running()
    assert child.status() != psutil.STATUS_ZOMBIE
    images.take_in(JPEG)
    assert fresh_sandbox() == [child]


def test_an_interrupted_caller_leaves_no_answer_for_the_next_one(impostor, fresh_sandbox, monkeypatch):
    monkeypatch.setattr(cell.Child, "receive", _interrupted_once(cell.Child.receive))
    with pytest.raises(KeyboardInterrupt):
        images.take_in(JPEG)
    assert fresh_sandbox() == []
    assert images.take_in(encoded(scene(64, 48), "PNG")).width_px == 64


@pytest.mark.parametrize(
    "deed", ["os.kill(os.getpid(), signal.SIGKILL)", "sys.exit()", "raise RuntimeError", "os._exit(1)"]
)
def test_no_child_outlives_its_parent(deed):
    pid = int(
        _script(f"images.take_in(JPEG); print([c.process.pid for c in sandbox._pool._all][0], flush=True); {deed}")
    )
    _until(lambda: _is_gone(pid))


@linux_only
def test_a_child_that_is_busy_dies_with_its_parent_too():
    """The parent is killed while its child is stopped; a stopped process can not notice a closed pipe."""
    deed = "images.take_in(JPEG); pid = [c.process.pid for c in sandbox._pool._all][0]; os.kill(pid, signal.SIGSTOP)"
    pid = int(_script(f"{deed}; print(pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)"))
    _until(lambda: _is_gone(pid))


def test_a_forked_process_starts_its_own_child_and_leaves_its_parents_alone():
    told = _script(
        """
        images.take_in(JPEG)
        [mine] = [child.process.pid for child in sandbox._pool._all]
        if not (forked := os.fork()):
            ok = images.take_in(JPEG).accepted
            [its] = [child.process.pid for child in sandbox._pool._all]
            sandbox.close()
            os._exit(0 if ok and its != mine else 1)
        status = os.waitpid(forked, 0)[1]
        again = images.take_in(JPEG).accepted
        print(status, again, [child.process.pid for child in sandbox._pool._all] == [mine])
        """
    )
    assert told.split() == ["0", "True", "True"]


# ---- what a child may do


def test_a_child_loads_neither_torch_nor_django_nor_numpy():
    heavy = {"torch", "django", "numpy", "transformers", "timm"}
    script = f"import captioner.prepare.child, sys; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", script], cwd=ROOT, text=True).strip() == "[]"


@linux_only
def test_a_child_sees_nothing_of_our_environment(monkeypatch, fresh_sandbox):
    monkeypatch.setenv("DATABASE_PASSWORD", "hunter2")
    images.take_in(JPEG)
    [child] = fresh_sandbox()
    assert "DATABASE_PASSWORD" not in child.environ()


FORBIDDEN = {
    "fork": "os.fork()",
    "program": "subprocess.run(['/bin/true'])",
    "shell": "os.system('true')",
    "spawn": "os.posix_spawn('/bin/true', ['true'], {})",
    "exec": "os.execv('/bin/true', ['true'])",
    "socket": "socket.socket()",
    "lookup": "socket.getaddrinfo('localhost', 80)",
    "write": "open('/tmp/should-not-be-here', 'w')",
    "append": "os.open('/tmp/should-not-be-here', os.O_WRONLY | os.O_CREAT)",
    "remove": "os.remove('/tmp/should-not-be-here')",
    "kill": "os.kill(os.getppid(), 0)",
}


@pytest.mark.parametrize("deed", FORBIDDEN)
def test_a_confined_process_may_not(deed):
    script = textwrap.dedent(f"""
        import os, socket, subprocess
        from captioner.prepare import child
        child.confine(1 << 30, 0, os.getppid())
        try:
            {FORBIDDEN[deed]}
        except OSError as error:
            print(type(error).__name__)
    """)
    told = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, text=True, capture_output=True, check=False, timeout=30
    )
    assert told.stdout.strip() == "PermissionError"


def test_every_format_decodes_where_not_even_a_thread_may_be_started():
    """Run as a user without rights where we are root: RLIMIT_NPROC does not bind root."""
    files = [(name, encoded(scene(), name)) for name in ("JPEG", "PNG", "GIF", "WEBP", "AVIF", "TIFF")]
    script = textwrap.dedent(f"""
        import os, sys
        from captioner.prepare import child, decoding
        from captioner.prepare.intake import EMBEDDED
        if os.getuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        child.confine(1 << 30, 0, os.getppid())
        print([decoding.look_at(data, name, (), EMBEDDED).words for name, data in {files!r}])
    """)
    told = subprocess.run(
        [sys.executable], input=script, cwd=ROOT, text=True, capture_output=True, check=False, timeout=30
    )
    assert told.stdout.strip() == str(["ACCEPT"] * 6), told.stderr


def _script(body: str) -> str:
    """Run lines in a fresh process that has a JPEG and the door; gives what it printed."""
    head = f"import os, signal, sys\nfrom captioner.prepare import images, sandbox\nJPEG = {JPEG!r}\n"
    arguments = [sys.executable, "-W", "ignore", "-c", head + textwrap.dedent(body)]
    return subprocess.run(arguments, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False, timeout=60).stdout  # fmt: skip


def _interrupted_once(real):
    """The second call (the first waits for "ready") is interrupted, as by Ctrl-C or a soft time limit."""
    calls = []

    def receive(self, deadline):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(self, deadline)

    return receive


def _peak_megabytes(pid: int) -> float:
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024


def _is_gone(pid: int) -> bool:
    """Ended; whether init has already taken note of it is no concern of ours."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _until(condition, seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)
