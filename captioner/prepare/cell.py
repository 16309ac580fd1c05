"""One decoding process: how it is started, asked with an eye on the clock, and ended. POSIX only.

Knows pipes and processes; when to start and end which is `sandbox`'s, and what the process does is `child`'s.
"""

from __future__ import annotations

import os
import pathlib
import select
import subprocess
import sys
import time
from collections.abc import Iterable
from typing import NamedTuple

import PIL

from captioner.prepare import wire
from captioner.prepare.intake import Intake

HEADER, PART = wire.HEADER_BYTES, 16 << 20  # most of an answer that is read: a 1,536 px JPEG of noise has 5 MB


class Kind(NamedTuple):
    """What a child is allowed; the decoder for HEIC cannot work without a thread of its own."""

    memory_bytes: int
    threads: int  # 0 or 1


class Ended(Exception):
    """The child ended or talked nonsense. `begun`: it had the whole file by then."""

    def __init__(self, begun: bool = False) -> None:
        super().__init__()
        self.begun = begun


class TooSlow(Exception):
    """The clock ran out."""


class Child:
    """One process and its two pipes; used by one thread at a time."""

    def __init__(self, process: subprocess.Popen[bytes], kind: Kind) -> None:
        assert process.stdin
        assert process.stdout
        self.process, self.kind = process, kind
        self.files, self.closed = 0, False
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


def start(kind: Kind) -> subprocess.Popen[bytes]:
    """A confined interpreter; none of our environment goes along, it may hold secrets."""
    roots = dict.fromkeys(str(pathlib.Path(file).resolve().parents[level]) for file, level in _homes())
    kept = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME", "VIRTUAL_ENV")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment |= {"PYTHONPATH": os.pathsep.join(roots), "LC_ALL": "C.UTF-8", "MALLOC_ARENA_MAX": "1"}
    arguments = ["-P", "-s", "-m", "captioner.prepare.sandbox", *map(str, kind), str(os.getpid())]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([interpreter(), *arguments], **pipes, env=environment, cwd="/", bufsize=0)  # type: ignore[call-overload]


def _homes() -> Iterable[tuple[str, int]]:
    """Files and how far above them the folder lies that a child has to import from."""
    assert PIL.__file__
    return (__file__, 2), (PIL.__file__, 1)


def interpreter() -> str:
    """`sys.executable`, unless Python is embedded in a server that has put its own name there."""
    named = pathlib.Path(sys.executable or "")
    beside = (pathlib.Path(sys.prefix, "bin", name) for name in ("python3", "python"))
    return str(named if named.name.startswith(("python", "pypy")) else next(filter(pathlib.Path.exists, beside), named))
