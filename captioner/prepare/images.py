"""The door for pictures: bytes in, an upright RGB derivative or a plain reason out. The only opener of images.

Checks what needs no decoder here; all decoding of foreign bytes happens in the processes of `sandbox`.
"""

from __future__ import annotations

import dataclasses
import io
import os
import pathlib
import stat
from collections.abc import Iterable
from typing import Any

from PIL import Image

from captioner.prepare import formats, hashes, sandbox
from captioner.prepare.intake import ABSTAIN, ACCEPT, EMBEDDED, REJECT, Intake, Limits, Refused, explain, refusal
from captioner.prepare.pixels import LARGE_PX, SMALL_PX
from captioner.prepare.sandbox import SandboxUnavailable

__all__ = [
    "ABSTAIN",
    "ACCEPT",
    "EMBEDDED",
    "LARGE_PX",
    "REJECT",
    "SMALL_PX",
    "ImageUnreadable",
    "Intake",
    "Limits",
    "SandboxUnavailable",
    "inspect_files",
    "open_derivative",
    "take_in",
]

# The segments of a JPEG that `pixels.as_jpeg` writes: APP0, tables, frame header, scan. No EXIF, no profile.
PLAIN_SEGMENTS = {0xE0, 0xDB, 0xC0, 0xC4}
START_OF_SCAN = 0xDA


class ImageUnreadable(Exception):
    """No pixels could be had from the bytes; the message is fit for an author."""


def take_in(data: bytes, *, name: str = "", content_type: str = "", limits: Limits = EMBEDDED) -> Intake:
    """Judge and normalise one file. No bytes make this raise, and none are decoded in this process.

    :raises SandboxUnavailable: this machine could start no process to decode in; says nothing about the file.
    """
    identity = hashes.content_hash(data)
    try:
        format_name, flags = _admit(data, name, content_type, limits)
    except Refused as refused:
        return refusal(refused, limits, content_hash=identity)
    return dataclasses.replace(sandbox.examine(data, format_name, flags, limits), content_hash=identity)


def _admit(data: bytes, name: str, content_type: str, limits: Limits) -> tuple[str, tuple[str, ...]]:
    """(format by content, flags).  :raises Refused: no decoder has to be asked."""
    if not data:
        raise Refused("empty")
    if len(data) > limits.max_bytes:
        raise Refused("too_big")
    if not formats.is_listed(name, heic=limits.heic):
        raise Refused("not_allowed", found=f"A .{formats.extension(name)} file")
    format_name, other = formats.sniff(data)
    if format_name == formats.HEIC and not limits.heic:
        raise Refused("not_allowed", found="A HEIC picture")
    if other:
        raise Refused("not_allowed", found=other)
    if not format_name:
        raise Refused("unreadable")
    claimed = formats.claims(name, content_type) - {format_name}
    if claimed and limits.refuse_mismatch:
        wrong = min(claimed)
        raise Refused("type_mismatch", claimed="no picture" if wrong == "other" else wrong, found=format_name)
    return format_name, ("type_mismatch",) if claimed else ()


def open_derivative(data: bytes) -> Image.Image:
    """Upright RGB of one of our own derivatives; any other bytes go through `take_in` first.

    :raises ImageUnreadable: they are refused, or hold nothing to describe.
    """
    if not _is_derivative(data):
        intake = take_in(data)
        if not intake.accepted:
            raise ImageUnreadable(intake.detail)
        data = intake.large
    image = Image.open(io.BytesIO(data), formats=["JPEG"])
    try:
        return image.convert("RGB")
    except (OSError, SyntaxError, ValueError) as error:
        raise ImageUnreadable(explain("corrupt", EMBEDDED)) from error


def _is_derivative(data: bytes) -> bool:
    """Whether a JPEG has the build of ours: baseline, three colours, at most 1,536 px, nothing but pixels in it."""
    at = 2
    while data[:2] == b"\xff\xd8" and at + 9 < len(data) and data[at] == 0xFF:
        kind = data[at + 1]
        if kind == START_OF_SCAN:
            return at > 2
        if kind not in PLAIN_SEGMENTS:
            return False
        if kind == 0xC0:
            height, width = (int.from_bytes(data[at + start : at + start + 2], "big") for start in (5, 7))
            if not 0 < width <= LARGE_PX or not 0 < height <= LARGE_PX or data[at + 9] != 3:
                return False
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return False


def inspect_files(paths: Iterable[str | os.PathLike[str]], *, limits: Limits = EMBEDDED) -> list[dict[str, Any]]:
    """One record a path, in order: file, outcome in the words of `Intake.words`, detail, flags."""
    return [_inspect(pathlib.Path(path), limits) for path in paths]


def _inspect(path: pathlib.Path, limits: Limits) -> dict[str, Any]:
    try:
        intake = _take_in_file(path, limits)
    except Refused as refused:
        intake = refusal(refused, limits)
    return {"file": str(path), "outcome": intake.words, "detail": intake.detail, "flags": list(intake.flags)}


def _take_in_file(path: pathlib.Path, limits: Limits) -> Intake:
    try:
        found = path.stat()
        if stat.S_ISDIR(found.st_mode):
            raise Refused("unreadable", reads="folder")
        if not stat.S_ISREG(found.st_mode):  # a pipe or a device would never end
            raise Refused("unreadable")
        if found.st_size > limits.max_bytes:
            raise Refused("too_big")
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise Refused("unreadable", reads="missing") from error
    except (OSError, ValueError) as error:
        raise Refused("unreadable", reads="denied") from error
    return take_in(data, name=path.name, limits=limits)
