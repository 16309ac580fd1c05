"""A captioner in a process of its own: the parent never imports torch, and can kill a model that hangs.

Parent and child speak frames over the child's stdin and stdout: four bytes of length, then JSON. The child is started
as a fresh interpreter, never forked: a fork after a multi-threaded torch operation hangs, and CUDA cannot be used in
one. Celery's own time limits do not stop a solo worker; this clock does.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import dataclasses
import json
import os
import queue
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO, Any

from captioner import types
from captioner.loading import load_captioner
from captioner.types import CaptionerDied, CaptionerHung, CaptionError, CaptionRequest, Outcome, PageContext

START_SECONDS = 120.0  # loading weights from a cold disk on two cores took 9 s; a large model may take a minute
LENGTH = struct.Struct(">I")
SECRETS = ("DJANGO_SECRET", "DATABASE_", "CELERY_", "PGPASS")  # no business of a model, nor of what it might be told


class IsolatedCaptioner:
    """Same interface as any captioner; the work happens in a child process that is started when first needed.

    Safe to call from several threads: requests are answered one after the other.
    """

    def __init__(self, name: str, *, safety: str = "", start_seconds: float = START_SECONDS) -> None:
        self.name, self.safety = name, safety
        self.start_seconds = start_seconds
        self._versions: Mapping[str, str] | None = None
        self._calibration: Mapping[str, Any] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._frames: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._lock = threading.RLock()

    @property
    def versions(self) -> Mapping[str, str]:
        """The child's versions; starts the child.  :raises CaptionError: it does not start."""
        with self._lock:
            if self._versions is None:
                self._start()
            assert self._versions is not None
            return self._versions

    @property
    def calibration(self) -> Mapping[str, Any] | None:
        """What the child's captioner says of its risk, as JSON types; None: nothing, or nothing that JSON holds.

        Starts the child.  :raises CaptionError: it does not start.
        """
        with self._lock:
            if self._versions is None:
                self._start()
            return self._calibration

    @property
    def pid(self) -> int | None:
        """Process id of the child, None while none runs."""
        return self._process.pid if self._process else None

    def describe(self, requests: Sequence[CaptionRequest]) -> list[Outcome]:
        """Same length and order as `requests`.

        :raises CaptionerHung: no answer within the largest `deadline_seconds` of the requests; the child is killed.
        :raises CaptionerDied: the child ended without an answer.
        :raises CaptionError: what the captioner itself raised, under its own name where we know it.
        """
        deadline = max((request.deadline_seconds for request in requests), default=1.0)
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._start()
            try:
                answer = self._ask({"requests": [_pack(request) for request in requests]}, seconds=deadline)
            except CaptionError:  # a whole answer was read, or the child is closed already
                raise
            except BaseException:  # interrupted while waiting: the next call must not read this one's answer
                self.close()
                raise
            outcomes = [Outcome.from_json(item) for item in answer["outcomes"]]
            if [outcome.request_id for outcome in outcomes] != [request.request_id for request in requests]:
                self.close()
                raise CaptionerDied("The captioner answered another request.")
        return outcomes

    def close(self) -> None:
        """End the child, waiting for it so that no zombie stays."""
        with self._lock:
            process, self._process = self._process, None
            if process is None:
                return
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe:
                    with contextlib.suppress(OSError):
                        pipe.close()

    def __enter__(self) -> IsolatedCaptioner:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _start(self) -> None:
        self.close()
        self._frames = queue.Queue()
        command = [sys.executable, "-m", "captioner", "serve", "--captioner", self.name]
        command += ["--safety", self.safety] if self.safety else []
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(SECRETS)}
        environment = {"OMP_WAIT_POLICY": "PASSIVE", **inherited, "ALTTEXT_PARENT": str(os.getpid())}
        if threading.current_thread() is threading.main_thread():  # the signal comes when the starting *thread* ends
            environment["ALTTEXT_DIE_WITH_PARENT"] = "1"
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # Ctrl+C and a supervisor's SIGTERM reach the parent, which ends its job first
        )
        assert self._process.stdout is not None
        threading.Thread(target=_pump, args=(self._process.stdout, self._frames), daemon=True).start()
        hello = self._receive(seconds=self.start_seconds)
        self._versions, self._calibration = hello["versions"], hello.get("calibration")

    def _ask(self, message: dict[str, Any], *, seconds: float) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdin is not None
        # a child that is frozen takes no bytes: the clock must run while they are written, too
        threading.Thread(target=_write_or_leave, args=(self._process.stdin, message), daemon=True).start()
        return self._receive(seconds=seconds)

    def _receive(self, *, seconds: float) -> dict[str, Any]:
        try:
            frame = self._frames.get(timeout=seconds)
        except queue.Empty:
            self.close()
            raise CaptionerHung(f"No answer from the captioner within {seconds:g} s.") from None
        if frame is None:
            self.close()
            raise CaptionerDied("The captioner's process ended without an answer.")
        if "error" in frame:
            known = getattr(types, frame["error"], None)
            kind = known if isinstance(known, type) and issubclass(known, CaptionError) else CaptionError
            raise kind(frame["detail"])
        return frame


def serve(name: str, *, safety: str = "") -> int:
    """Body of the child: load the captioner called `name`, answer frames until stdin ends. Returns an exit status."""
    _die_with_parent()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # a library that prints must not break the frames
    try:
        captioner = load_captioner(name, safety=safety)
    except CaptionError as error:
        _write(answers, {"error": _name_of(error), "detail": str(error)})
        return 1
    _write(answers, {"versions": dict(captioner.versions), "calibration": _calibration_of(captioner)})
    while (message := _read(sys.stdin.buffer)) is not None:
        try:
            outcomes = captioner.describe([_unpack(item) for item in message["requests"]])
            answer: dict[str, Any] = {"outcomes": [outcome.as_json() for outcome in outcomes]}
        except Exception as error:  # outermost layer of the child: the parent gets the name and records it on the row
            answer = {"error": _name_of(error), "detail": f"{type(error).__name__}: {error}"}
        _write(answers, answer)
    return 0


def _name_of(error: BaseException) -> str:
    """The nearest class that the parent knows: a broken checkpoint is missing weights there, no phraser an outage."""
    known = (one.__name__ for one in type(error).__mro__ if getattr(types, one.__name__, None) is one)
    return next(known, type(error).__name__)


def _calibration_of(captioner: types.Captioner) -> dict[str, Any] | None:
    """The calibration of a captioner that has one. One that cannot be sent is told on stderr, and is none."""
    given = getattr(captioner, "calibration", None)
    if given is None:
        return None
    try:
        found = dict(given)
        json.dumps(found, allow_nan=False)
    except (TypeError, ValueError) as error:
        print(f"captioner {captioner.name}: its calibration is no plain JSON object: {error}", file=sys.stderr)  # noqa: T201
        return None
    return found


def _pump(pipe: IO[bytes], frames: queue.Queue[dict[str, Any] | None]) -> None:
    with contextlib.suppress(OSError, ValueError):
        while (frame := _read(pipe)) is not None:
            frames.put(frame)
    frames.put(None)


def _write_or_leave(pipe: IO[bytes], message: dict[str, Any]) -> None:
    with contextlib.suppress(OSError, ValueError):  # the child has ended; the reader of its answers tells
        _write(pipe, message)


def _pack(request: CaptionRequest) -> dict[str, Any]:
    return dataclasses.asdict(request) | {"image": base64.b64encode(request.image).decode()}


def _unpack(item: dict[str, Any]) -> CaptionRequest:
    context = PageContext(**{**item["context"], "headings": tuple(item["context"]["headings"])})
    role, lane = types.Role(item["role"]), types.Lane(item["lane"])
    image = base64.b64decode(item["image"])
    return CaptionRequest(**{**item, "context": context, "role": role, "lane": lane, "image": image})


def _write(pipe: IO[bytes], message: dict[str, Any]) -> None:
    body = json.dumps(message).encode()
    pipe.write(LENGTH.pack(len(body)) + body)
    pipe.flush()


def _read(pipe: IO[bytes]) -> dict[str, Any] | None:
    header = pipe.read(LENGTH.size)
    if len(header) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(header)
    body = pipe.read(length)
    return json.loads(body) if len(body) == length else None


def _die_with_parent() -> None:
    """End this process soon after its parent, also in the middle of a job: a SIGKILL gives the parent no last word."""
    parent = int(os.environ.get("ALTTEXT_PARENT") or os.getppid())
    if sys.platform == "linux" and os.environ.get("ALTTEXT_DIE_WITH_PARENT"):
        pr_set_pdeathsig = 1
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
