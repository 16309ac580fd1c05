"""The parent's side: small processes that decode hostile pictures for us, watched by a clock and killed by it.

Each child is a fresh interpreter with Pillow and nothing else (importing torch alone takes three times the address
space a child may have), answers many files and is replaced after `FILES_EACH`, after a crash, or on reaching its
ceiling. Any thread may ask. One child's pipes are `cell`'s, pictures are `decoding`'s.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

from captioner.prepare import cell, wire
from captioner.prepare.cell import Child, Ended, Kind, TooSlow
from captioner.prepare.intake import REJECT, Intake, Limits, explain
from captioner.types import CaptionerUnavailable

CHILDREN = 2  # at a time; more threads wait. Each may take `Limits.memory_bytes`
FILES_EACH = 200
START_SECONDS = 30  # 0.15 s on an idle machine
WAIT_SECONDS = 120  # for a free child: a dozen files that each run into the clock


class SandboxUnavailable(CaptionerUnavailable):
    """No process for decoding could be had; says nothing about the file."""


class Pool:
    """The children of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free = threading.BoundedSemaphore(CHILDREN)
        self._idle: list[Child] = []
        self._all: set[Child] = set()
        # The kernel ends a child with the *thread* that started it, so one thread that stays starts them all.
        self._starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="image-sandbox")

    def ask(self, header: dict[str, object], data: bytes, limits: Limits) -> Intake:
        """:raises SandboxUnavailable: no child could be started, or all stayed busy."""
        if not self._free.acquire(timeout=WAIT_SECONDS):
            raise SandboxUnavailable("every image decoder is busy")
        try:
            try:
                return self._ask(header, data, limits)
            except Ended as ended:
                if ended.begun:
                    return _killed("crash", limits)
            try:  # it ended before it had the file, so the file is not to blame: once more
                return self._ask(header, data, limits)
            except Ended:
                return _killed("crash", limits)
        finally:
            self._free.release()

    def _ask(self, header: dict[str, object], data: bytes, limits: Limits) -> Intake:
        child = self._take(Kind(limits.memory_bytes, int(limits.heic)))
        try:
            intake = child.ask(header, data, limits.seconds)
        except TooSlow:
            self._drop(child)
            return _killed("clock", limits)
        except Ended as ended:
            closing = child.closed
            self._drop(child)
            if closing:
                raise SandboxUnavailable("the image sandbox was closed") from ended
            raise
        except BaseException:  # a time limit or Ctrl-C of the caller: the answer would be read by the next one
            self._drop(child)
            raise
        self._give_back(child, spent="killed" in intake.evidence)
        return intake

    def _take(self, kind: Kind) -> Child:
        with self._lock:
            fitting = [child for child in self._idle if child.kind == kind and child.alive]
            others = [child for child in self._idle if child not in fitting]
            chosen = fitting.pop() if fitting else None  # the last one used: its memory is warm
            self._idle = fitting
        for child in others:
            self._drop(child)
        return chosen or self._start(kind)

    def _start(self, kind: Kind) -> Child:
        try:
            task: Future[subprocess.Popen[bytes]] = self._starter.submit(cell.start, kind)
            child = Child(task.result(timeout=START_SECONDS), kind)
        except (OSError, RuntimeError, TimeoutError) as error:
            raise SandboxUnavailable("no process for decoding images could be started") from error
        with self._lock:
            self._all.add(child)
        try:
            child.receive(time.monotonic() + START_SECONDS)
        except (OSError, TooSlow, wire.Garbled) as error:
            self._drop(child)
            raise SandboxUnavailable("the process for decoding images did not get ready") from error
        return child

    def _give_back(self, child: Child, *, spent: bool) -> None:
        if spent or child.files >= FILES_EACH or not child.alive:
            self._drop(child)
            return
        with self._lock:
            self._idle.append(child)

    def _drop(self, child: Child) -> None:
        with self._lock:
            self._all.discard(child)
        child.kill()

    def close(self) -> None:
        with self._lock:
            children, self._all, self._idle = list(self._all), set(), []
        for child in children:
            child.kill()

    def forget(self) -> None:
        """After a fork: the children are the other process's; only drop our copies of the pipes."""
        for child in self._all:
            child.process.returncode = 0  # so that nobody here waits for it
            child.forget()


def _killed(why: str, limits: Limits) -> Intake:
    return Intake(REJECT, "corrupt", explain(why, limits), evidence={"killed": why})


_pool = Pool()


def _after_fork() -> None:
    global _pool
    _pool.forget()
    _pool = Pool()


def examine(data: bytes, format_name: str, flags: tuple[str, ...], limits: Limits) -> Intake:
    """`decoding.look_at` in a child process; one that does not end well is REJECT:corrupt with `killed` in evidence.

    :raises SandboxUnavailable: no child could be had; the file is not to blame.
    """
    header: dict[str, object] = {"format": format_name, "flags": list(flags), "limits": limits.as_json()}
    return _pool.ask(header, data, limits)


def close() -> None:
    """End all children of this process; the next file starts new ones."""
    _pool.close()


os.register_at_fork(after_in_child=_after_fork)
atexit.register(close)

if __name__ == "__main__":
    from captioner.prepare import child as confined

    confined.serve(*map(int, sys.argv[1:]))
