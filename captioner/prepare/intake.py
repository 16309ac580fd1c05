"""What an image intake is allowed to take (`Limits`), what it answers (`Intake`), and its words for an author.

Plain values: no decoder, no process, no file is known here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ACCEPT, ABSTAIN, REJECT = "ACCEPT", "ABSTAIN", "REJECT"

NOTHING_TO_DESCRIBE = frozenset({"tiny", "blank", "transparent"})
REFUSALS = frozenset(
    {"empty", "too_big", "not_allowed", "type_mismatch", "aspect", "pixels", "unreadable", "truncated", "corrupt"}
)

SAVE_AS = "Save the picture as JPEG, PNG, GIF, WebP, AVIF or TIFF and upload that."
SAVE_AGAIN = "Open it in an image editor, save it again and upload the copy."
DECORATIVE = "it may be decorative."

# One plain sentence for what is wrong, one for what the author can do.
WORDS = {
    "empty": "The file is empty. Upload the picture again.",
    "too_big": "The file is larger than {megabytes} MB. Save a smaller copy and upload that.",
    "not_allowed": "{found} cannot be read here. " + SAVE_AS,
    "type_mismatch": "The file is named like {claimed} but holds {found}. Rename it or save it as named.",
    "aspect": "The picture is too long or too narrow: a side may have {side} pixels and be {ratio} times the other. "
    "Crop it; if it is only a dividing line, it may be decorative.",
    "pixels": "The picture has more than {megapixels} million pixels. Save a smaller copy and upload that.",
    "frames": "All frames together have more than {frame_megapixels} million pixels. "
    "Save a smaller or shorter animation, or a single picture.",
    "unreadable": "No picture can be found in the file. Check that it opens on your computer and upload it again.",
    "truncated": "The file ends before the picture does, so the upload was probably cut off. Upload it again.",
    "corrupt": "The file is damaged and cannot be decoded. " + SAVE_AGAIN,
    "clock": "Decoding took longer than {seconds} seconds and was stopped. " + SAVE_AGAIN,
    "memory": "Decoding needed more memory than a picture may have and was stopped. " + SAVE_AGAIN,
    "crash": "The file made the image decoder crash, which was stopped. " + SAVE_AGAIN,
    "tiny": "The picture is only {found} pixels, like a spacer or a tracking pixel: " + DECORATIVE,
    "blank": "The picture is one even colour: " + DECORATIVE,
    "transparent": "Every pixel is transparent: " + DECORATIVE,
    "missing": "There is no file here. Check the name.",
    "folder": "This is a folder, not a picture. Name the files in it.",
    "denied": "The file cannot be opened for reading. Check its permissions.",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """What an image may be. Each number can be lowered or raised by an operator.

    :ivar max_ratio: longer side over shorter side.
    :ivar max_frame_pixels: width x height x frames of an animation or a multi-page file.
    :ivar smallest_side_px: below it there is nothing to describe.
    :ivar memory_bytes: address space of the child that decodes; binds on Linux, not on macOS.
    :ivar heic: read HEIC, where pillow-heif is installed too.
    :ivar refuse_mismatch: refuse a file whose name and content disagree, as at an upload door of our own;
        otherwise go by content and set the flag `type_mismatch`, as for a file that the CMS has already taken.
    """

    max_bytes: int = 20_000_000
    max_pixels: int = 64_000_000
    max_side_px: int = 20_000
    max_ratio: int = 100
    max_frame_pixels: int = 256_000_000
    max_frames_looked_at: int = 10
    smallest_side_px: int = 8
    seconds: float = 10
    memory_bytes: int = 1 << 30
    heic: bool = False
    refuse_mismatch: bool = False

    def as_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


EMBEDDED = Limits(max_pixels=40_000_000)  # one machine that also holds the models


@dataclass(frozen=True, slots=True)
class Intake:
    """The answer to one file.

    :ivar code: why not accepted: one of `REFUSALS` or of `NOTHING_TO_DESCRIBE`; "" where accepted.
    :ivar detail: what is wrong and what an author can do about it, in plain words; "" where accepted.
    :ivar format: real format, by content ("JPEG", "PNG", ...); "" where unknown.
    :ivar width_px: of the upright original; 0 where unknown. `height_px` likewise.
    :ivar content_hash: sha256 of the bytes as hex.
    :ivar perceptual_hash: 16 hex digits, see `hashes.perceptual_hash`; "" for flat pictures.
    :ivar small: upright RGB as JPEG, at most 512 px a side, without any metadata; may be empty unless accepted.
    :ivar large: the same at 1536 px.
    :ivar evidence: JSON types: frame, ground, alpha, stretch, profile, orientation, what killed the decoder.
    """

    outcome: str
    code: str = ""
    detail: str = ""
    flags: tuple[str, ...] = ()
    format: str = ""
    width_px: int = 0
    height_px: int = 0
    content_hash: str = ""
    perceptual_hash: str = ""
    small: bytes = field(default=b"", repr=False)
    large: bytes = field(default=b"", repr=False)
    evidence: Mapping[str, Any] = field(default_factory=dict)

    @property
    def accepted(self) -> bool:
        return self.outcome == ACCEPT

    @property
    def words(self) -> str:
        """ACCEPT, ACCEPT:<first flag>, ABSTAIN or REJECT:<code>."""
        if self.outcome == REJECT:
            return f"{REJECT}:{self.code}"
        return ":".join([self.outcome, *self.flags[:1]]) if self.accepted else self.outcome

    def as_json(self) -> dict[str, Any]:
        """JSON types, without the two pictures."""
        named = {entry.name: getattr(self, entry.name) for entry in dataclasses.fields(self)}
        del named["small"], named["large"]
        return named | {"flags": list(self.flags), "evidence": dict(self.evidence), "words": self.words}


class Refused(Exception):
    """A file is not taken; holds the code, the words and what was found."""

    def __init__(self, code: str, *, reads: str = "", **found: str) -> None:
        """`reads` names the entry of WORDS where it is not the code's own."""
        super().__init__(code)
        self.code, self.reads, self.found = code, reads or code, found


def explain(key: str, limits: Limits, **found: str) -> str:
    """Plain words for one key of WORDS."""
    facts = {
        "megabytes": f"{limits.max_bytes / 1e6:g}",
        "megapixels": f"{limits.max_pixels / 1e6:g}",
        "frame_megapixels": f"{limits.max_frame_pixels / 1e6:g}",
        "side": f"{limits.max_side_px}",
        "ratio": f"{limits.max_ratio}",
        "seconds": f"{limits.seconds:g}",
        "found": "This kind of file",
        "claimed": "another format",
    }
    return WORDS[key].format(**(facts | found))


def refusal(refused: Refused, limits: Limits, **rest: Any) -> Intake:
    """The answer that a `Refused` stands for: REJECT, or ABSTAIN where there is nothing to describe."""
    outcome = ABSTAIN if refused.code in NOTHING_TO_DESCRIBE else REJECT
    return Intake(outcome, refused.code, explain(refused.reads, limits, **refused.found), **rest)
