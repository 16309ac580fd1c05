"""The child's side of the sandbox: give up what decoding does not need, then answer one file after the other.

Loads Pillow and nothing else. Talks over two pipes; what it is asked and what it answers is in `wire`.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
from contextlib import suppress
from typing import Any

from captioner.prepare import decoding, wire
from captioner.prepare.intake import REJECT, Intake, Limits, explain

GRACE_SECONDS = 2  # the parent's clock comes first; the child's own is for the day the parent is gone
PR_SET_PDEATHSIG = 1
NEVER = ("socket.", "subprocess.", "pty.", "os.fork", "os.exec", "os.spawn", "os.posix_spawn", "os.system", "os.kill")
NEVER_FILES = ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def serve(memory_bytes: int, threads: int, parent_id: int) -> None:
    """Answer requests on standard input until it ends."""
    replies = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)  # a decoder that prints must not be taken for an answer
    confine(memory_bytes, threads, parent_id)
    wire.write(replies, {"state": "ready"})
    while (request := wire.read(0)) is not None:
        header, (data,) = request
        limits = Limits(**header["limits"])
        signal.alarm(int(limits.seconds) + GRACE_SECONDS)
        wire.write(replies, {"state": "begun"})
        intake, spent = _answer(data, header, limits)
        signal.alarm(0)
        wire.write(replies, wire.from_intake(intake), intake.small, intake.large)
        if spent:
            return
        del request, data, intake
        gc.collect()  # a failed decode leaves cycles that hold whole pictures


def _answer(data: bytes, header: dict[str, Any], limits: Limits) -> tuple[Intake, bool]:
    """(answer, whether this process should end).  The outermost layer: any error is an answer about the file."""
    try:
        return decoding.look_at(data, header["format"], tuple(header["flags"]), limits), False
    except MemoryError:
        return Intake(REJECT, "corrupt", explain("memory", limits), evidence={"killed": "memory"}), True
    except Exception as error:
        # The class only: the message may quote the file.
        return Intake(REJECT, "corrupt", explain("corrupt", limits), evidence={"error": type(error).__name__}), False


def confine(memory_bytes: int, threads: int, parent_id: int) -> None:
    """Take away memory beyond the ceiling, files to write, processes, sockets, and life after the parent.

    RLIMIT_AS does not bind on macOS and RLIMIT_NPROC not for root; the audit hook stops Python code for everybody.
    RLIMIT_NPROC counts threads too, all of the user's, so it can only be set where none is needed.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which closes our input
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process even inside a long C call
    _die_with(parent_id)
    ceilings = {resource.RLIMIT_CORE: 0, resource.RLIMIT_FSIZE: 0, resource.RLIMIT_AS: memory_bytes}
    for limit, value in (ceilings if threads else ceilings | {resource.RLIMIT_NPROC: 0}).items():
        with suppress(ValueError, OSError):  # not known here, or a lower one is already in force
            resource.setrlimit(limit, (value, value))
    sys.addaudithook(_refuse)


def _die_with(parent_id: int) -> None:
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent_id:  # it ended before we asked
        os._exit(0)


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event.startswith(NEVER) or event in NEVER_FILES:
        raise PermissionError(event)
    if event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITING:
        raise PermissionError(event)
