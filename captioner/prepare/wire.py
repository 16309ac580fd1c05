"""Messages between the sandbox and its child: a JSON header of known length, then byte strings as it announces.

Both sides read with a bound on every length, because the child's answers are no more to be trusted than the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from captioner.prepare.intake import ABSTAIN, ACCEPT, NOTHING_TO_DESCRIBE, REFUSALS, REJECT, Intake

HEADER_BYTES = 1 << 16
PART_BYTES = 1 << 30
PIECE = 1 << 20


class Garbled(Exception):
    """The other side wrote something that is not a message."""


def pack(header: Mapping[str, Any], *parts: bytes) -> bytes:
    """The beginning of a message; the parts follow it unchanged."""
    text = json.dumps({**header, "parts": [len(part) for part in parts]}).encode()
    return len(text).to_bytes(4, "big") + text


def unpack(text: bytes) -> dict[str, Any]:
    """The header.  :raises Garbled: it is not JSON of the right shape."""
    try:
        header = json.loads(text)
        sizes = header["parts"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Garbled from error
    if not isinstance(sizes, list) or not all(isinstance(size, int) and 0 <= size <= PART_BYTES for size in sizes):
        raise Garbled
    return header


def write(descriptor: int, header: Mapping[str, Any], *parts: bytes) -> None:
    for part in (pack(header, *parts), *parts):
        rest = memoryview(part)
        while rest:
            rest = rest[os.write(descriptor, rest[:PIECE]) :]


def read(descriptor: int) -> tuple[dict[str, Any], list[bytes]] | None:
    """The next message, waiting for it; None where the other side has closed or broken off."""
    try:
        length = int.from_bytes(_exactly(descriptor, 4), "big")
        header = unpack(_exactly(descriptor, length))
        return header, [_exactly(descriptor, size) for size in header["parts"]]
    except EOFError:
        return None


def _exactly(descriptor: int, count: int) -> bytes:
    found = bytearray()
    while len(found) < count:
        piece = os.read(descriptor, min(PIECE, count - len(found)))
        if not piece:
            raise EOFError
        found += piece
    return bytes(found)


def from_intake(intake: Intake) -> dict[str, Any]:
    return {"state": "done", "intake": intake.as_json()}


def to_intake(header: Mapping[str, Any], parts: list[bytes]) -> Intake:
    """The child's answer, checked for shape.  :raises Garbled: it is none."""
    try:
        told = dict(header["intake"])
        del told["words"]
        small, large = parts
        intake = Intake(**{**told, "flags": tuple(told["flags"]), "small": small, "large": large})
    except (KeyError, TypeError, ValueError) as error:
        raise Garbled from error
    codes = {ACCEPT: {""}, ABSTAIN: NOTHING_TO_DESCRIBE, REJECT: REFUSALS}
    if intake.code not in codes.get(intake.outcome, ()):
        raise Garbled
    return intake
