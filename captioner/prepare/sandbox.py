"""The parent's side: small processes that decode hostile pictures for us, watched by a clock and killed by it.

Each child is a fresh interpreter with Pillow and nothing else (importing torch alone takes three times the address
space a child may have), answers many files and is replaced after `FILES_EACH`, after a crash, or on reaching its
ceiling. Any thread may ask. POSIX only. Knows pipes and processes; pictures are `decoding`'s.
"""

from __future__ import annotations

import atexit
import os
import pathlib
import select
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor

import PIL

from captioner.prepare import wire
from captioner.prepare.intake import REJECT, Intake, Limits, explain
from captioner.types import CaptionerUnavailable

CHILDREN = 2  # at a time; more threads wait. Each may take `Limits.memory_bytes`
FILES_EACH = 200
START_SECONDS = 30  # 0.15 s on an idle machine
WAIT_SECONDS = 120  # for a free child: a dozen files that each run into the clock
HEADER, PART = wire.HEADER_BYTES, 16 << 20  # most of an answer that is read: a 1,536 px JPEG of noise has 5 MB


class SandboxUnavailable(CaptionerUnavailable):
    """No process for decoding could be had; says nothing about the file."""


class Ended(Exception):
    """The child ended or talked nonsense. `begun`: it had the whole file by then."""

    def __init__(self, begun: bool = False) -> None:
        super().__init__()
        self.begun = begun


class TooSlow(Exception):
    """The clock ran out."""


class Child:
    """One process and its two pipes; used by one thread at a time."""

    def __init__(self, process: subprocess.Popen[bytes], memory_bytes: int) -> None:
        assert process.stdin
        assert process.stdout
        self.process, self.memory_bytes, self.files = process, memory_bytes, 0
        self.closed = False
        self._into, self._from = process.stdin.fileno(), process.stdout.fileno()
        os.set_blocking(self._into, False)
        os.set_blocking(self._from, False)

    @property
    def alive(self) -> bool:
        return not self.closed and self.process.poll() is None

    def ask(self, header: dict[str, object], data: bytes, seconds: float) -> Intake:
        """:raises Ended, TooSlow: instead of an answer; kill this child then."""
        deadline, begun = time.monotonic() + seconds, False
        self.files += 1
        try:
            for part in (wire.pack(header, data), data):
                self._send(memoryview(part), deadline)
            begun = self.receive(deadline)[0].get("state") == "begun"
            return wire.to_intake(*self.receive(deadline))
        except (OSError, wire.Garbled) as error:
            raise Ended(begun) from error

    def receive(self, deadline: float) -> tuple[dict[str, object], list[bytes]]:
        length = int.from_bytes(self._exactly(4, deadline), "big")
        if length > HEADER:
            raise wire.Garbled
        header = wire.unpack(self._exactly(length, deadline))
        if any(size > PART for size in header["parts"]) or len(header["parts"]) > 2:
            raise wire.Garbled
        return header, [self._exactly(size, deadline) for size in header["parts"]]

    def _send(self, rest: memoryview, deadline: float) -> None:
        while rest:
            self._wait(self._into, select.POLLOUT, deadline)
            rest = rest[os.write(self._into, rest[: wire.PIECE]) :]

    def _exactly(self, count: int, deadline: float) -> bytes:
        found = bytearray()
        while len(found) < count:
            self._wait(self._from, select.POLLIN, deadline)
            piece = os.read(self._from, min(wire.PIECE, count - len(found)))
            if not piece:
                raise BrokenPipeError
            found += piece
        return bytes(found)

    def _wait(self, descriptor: int, event: int, deadline: float) -> None:
        poll = select.poll()
        poll.register(descriptor, event)
        left = deadline - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            raise TooSlow

    def kill(self) -> None:
        """End it, stopped or not, and leave neither zombie nor pipe."""
        self.closed = True
        self.process.kill()
        self.process.wait()
        self.forget()

    def forget(self) -> None:
        """Close our ends of the pipes only."""
        self.closed = True
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                pipe.close()


class Pool:
    """The children of this process."""

    def __init__(self) -> None:
        self.owner = os.getpid()
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
        child = self._take(limits.memory_bytes)
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

    def _take(self, memory_bytes: int) -> Child:
        with self._lock:
            fitting = [child for child in self._idle if child.memory_bytes == memory_bytes and child.alive]
            others = [child for child in self._idle if child not in fitting]
            chosen = fitting.pop() if fitting else None  # the last one used: its memory is warm
            self._idle = fitting
        for child in others:
            self._drop(child)
        return chosen or self._start(memory_bytes)

    def _start(self, memory_bytes: int) -> Child:
        try:
            task: Future[subprocess.Popen[bytes]] = self._starter.submit(_start, memory_bytes)
            child = Child(task.result(timeout=START_SECONDS), memory_bytes)
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


def _start(memory_bytes: int) -> subprocess.Popen[bytes]:
    """A confined interpreter; none of our environment goes along, it may hold secrets."""
    roots = dict.fromkeys(str(pathlib.Path(file).resolve().parents[level]) for file, level in _homes())
    kept = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME", "VIRTUAL_ENV")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment |= {"PYTHONPATH": os.pathsep.join(roots), "LC_ALL": "C.UTF-8", "MALLOC_ARENA_MAX": "1"}
    arguments = ["-P", "-s", "-m", "captioner.prepare.sandbox", str(memory_bytes), str(os.getpid())]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([_interpreter(), *arguments], **pipes, env=environment, cwd="/", bufsize=0)  # type: ignore[call-overload]


def _homes() -> Iterable[tuple[str, int]]:
    """Files and how far above them the folder lies that a child has to import from."""
    assert PIL.__file__
    return (__file__, 2), (PIL.__file__, 1)


def _interpreter() -> str:
    """`sys.executable`, unless Python is embedded in a server that has put its own name there."""
    named = pathlib.Path(sys.executable or "")
    beside = (pathlib.Path(sys.prefix, "bin", name) for name in ("python3", "python"))
    return str(named if named.name.startswith(("python", "pypy")) else next(filter(pathlib.Path.exists, beside), named))


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

    confined.serve(int(sys.argv[1]), int(sys.argv[2]))
