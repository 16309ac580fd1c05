"""The plain values that cross the seam: requests, outcomes, evidence, reason codes and errors.

Nothing here knows Django, torch or how a picture is opened. Every value serialises to JSON and back unchanged,
apart from the image bytes of a request.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

VERSION = "0.1.0"  # of the package; part of every captioner's versions


class Role(StrEnum):
    """What an image is for in its place: the W3C WAI decision tree, 2024-01-15."""

    UNKNOWN = "unknown"
    INFORMATIVE = "informative"
    FUNCTIONAL = "functional"
    TEXT = "text"
    COMPLEX = "complex"
    DECORATIVE = "decorative"


class Lane(StrEnum):
    """Which queue of workers a request belongs to."""

    AUTO = "auto"
    PLAIN = "plain"
    TEXT = "text"


class Reason(StrEnum):
    """Why a captioner stays silent. An abstention is an answer, not an error."""

    DECLARED_DECORATIVE = "declared_decorative"
    IMAGE_REFUSED = "image_refused"
    SAFETY_REFUSED = "safety_refused"
    LANGUAGE_UNSUPPORTED = "language_unsupported"
    OBJECT_UNSUPPORTED = "object_unsupported"
    SAMPLES_DISAGREE = "samples_disagree"
    IMAGE_NOT_USED = "image_not_used"
    COPIED_FROM_PAGE = "copied_from_page"
    TEXT_UNVERIFIED = "text_unverified"
    NAME_UNVERIFIED = "name_unverified"
    VALUE_UNVERIFIED = "value_unverified"
    GENERIC_TEXT = "generic_text"
    SCORE_BELOW_THRESHOLD = "score_below_threshold"
    NOT_CALIBRATED = "not_calibrated"
    ALREADY_SAID = "already_said"  # visible link text or caption says it: an empty alt may be right, a person decides


class Kind(StrEnum):
    """What sort of picture it is, decided before anything in it is named."""

    PHOTO = "photo"
    ART = "art"  # paintings, drawings, illustrations
    CHART = "chart"
    DIAGRAM = "diagram"
    MAP = "map"
    SCREENSHOT = "screenshot"
    TEXT = "text"  # a page, sign or slide that is mostly words; also tables and formulas
    OTHER = "other"


class CaptionError(Exception):
    """The captioner could not answer; the request may be tried again."""


class CaptionerUnavailable(CaptionError):
    """A server, a weight file or a process that the captioner needs is not there now; the attempt does not count."""


class CaptionerDied(CaptionError):
    """The process that holds the model ended without an answer."""


class CaptionerHung(CaptionError):
    """The process that holds the model gave no answer before the deadline and was killed."""


class MalformedOutput(CaptionError):
    """The captioner returned something that is not one plain string within the limits."""


class WeightsMissing(CaptionError):
    """Weights are not on this machine, or differ from the pinned sha256."""


@dataclass(frozen=True, slots=True)
class PageContext:
    """The words around one image on one page. Plain text, NFC, empty instead of None.

    :ivar before: text in reading order that ends where the image stands.
    :ivar after: text in reading order that starts where the image stands.
    :ivar link_label: visible words of the link or button that holds the image, or the title of its destination.
    :ivar link_text_visible: the link shows words beside the image (WCAG technique H2).
    :ivar language: BCP 47 tag of the page; the text must come back in it.
    """

    title: str = ""
    headings: tuple[str, ...] = ()
    before: str = ""
    after: str = ""
    caption: str = ""
    link_target: str = ""
    link_label: str = ""
    link_text_visible: bool = False
    language: str = "en"


@dataclass(frozen=True, slots=True)
class CaptionRequest:
    """One image in one place.

    :ivar request_id: opaque, echoed, never interpreted.
    :ivar image: encoded image bytes, normally a derivative made by `captioner.prepare.images`.
    :ivar content_hash: sha256 of the original bytes; key for cached image work only, never for text.
    """

    request_id: str
    image: bytes = field(repr=False)
    content_hash: str = ""
    context: PageContext = PageContext()
    role: Role = Role.UNKNOWN
    lane: Lane = Lane.AUTO
    deadline_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Box:
    """Left, top, right, bottom as shares of width and height, 0..1."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def area(self) -> float:
        """Share of the picture, 0..1."""
        return max(0.0, self.right - self.left) * max(0.0, self.bottom - self.top)


@dataclass(frozen=True, slots=True)
class Detection:
    """One object found by a detector. `label` is a COCO class name; `score` 0..1, not a probability."""

    label: str
    score: float
    box: Box


@dataclass(frozen=True, slots=True)
class Tag:
    """One name for the whole picture. `probability` 0..1; `synset` is the WordNet 3.0 id, e.g. n02123045.

    A hedged tag is an ancestor whose probability is the sum over its leaves; `leaf` tells which it is.
    """

    label: str
    probability: float
    synset: str
    leaf: bool


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line that OCR read. `confidence` 0..1."""

    text: str
    confidence: float
    box: Box


@dataclass(frozen=True, slots=True)
class Sight:
    """All that was seen in one picture, before any word about it is chosen.

    :ivar kinds: probability of each kind, sums to 1; empty where no kind classifier is installed.
    :ivar text_share: share of the picture covered by confident text lines, 0..1.
    :ivar missing: names of optional parts that are not installed ("detector", "ocr", ...).
    """

    width_px: int
    height_px: int
    kinds: Mapping[str, float] = field(default_factory=dict)
    detections: tuple[Detection, ...] = ()
    tags: tuple[Tag, ...] = ()
    lines: tuple[TextLine, ...] = ()
    text_share: float = 0.0
    missing: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind | None:
        """The most probable kind, None where nothing decided it."""
        return Kind(max(self.kinds, key=lambda name: self.kinds[name])) if self.kinds else None


@dataclass(frozen=True, slots=True)
class Support:
    """Why one word or phrase of a text may be said.

    :ivar source: "detector", "tags", "ocr", "link", "kind" or "page".
    :ivar score: the source's own scale, 0..1.
    """

    phrase: str
    source: str
    score: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Drafts:
    """What a language model wrote for one picture on one page, before the gate reads it. No tensors.

    :ivar text: the greedy text, the one that would be shown; stripped, may be empty.
    :ivar samples: texts drawn at a temperature from the same prompt; () where none were drawn.
    :ivar mean_log_probability: of the tokens of `text`, nats per token; None where the backend does not tell.
    :ivar gap: mean over the tokens of `text` of log p(token | image, page) - log p(token | blank, page), nats;
        near 0 means that the page or the prior wrote it. None where it was not measured.
    :ivar blank_text: the text written from a blank picture, for servers that give no probabilities.
    :ivar tokens: counts for evidence and cost: "image", "prompt", "text".
    """

    text: str
    samples: tuple[str, ...] = ()
    mean_log_probability: float | None = None
    gap: float | None = None
    blank_text: str | None = None
    tokens: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Exactly one of a text or one or more reasons, with the evidence for it.

    :raises MalformedOutput: both or neither of `text` and `reasons` are given.
    """

    request_id: str
    text: str | None = None
    reasons: tuple[Reason, ...] = ()
    detail: str = ""
    language: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)  # seconds

    def __post_init__(self) -> None:
        if (self.text is None) == (not self.reasons):
            raise MalformedOutput("an outcome holds either a text or at least one reason")

    @property
    def abstained(self) -> bool:
        return self.text is None

    def as_json(self) -> dict[str, Any]:
        """A dict of JSON types; `from_json` gives the same outcome back."""
        return dataclasses.asdict(self) | {
            "reasons": [str(reason) for reason in self.reasons],
            "flags": list(self.flags),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Outcome:
        return cls(
            **{**data, "reasons": tuple(Reason(name) for name in data["reasons"]), "flags": tuple(data["flags"])}
        )


def Caption(request_id: str, text: str, **rest: Any) -> Outcome:  # noqa: N802  (reads as the record it makes)
    """An outcome that speaks."""
    return Outcome(request_id=request_id, text=text, **rest)


def Abstention(request_id: str, *reasons: Reason, **rest: Any) -> Outcome:  # noqa: N802
    """An outcome that stays silent and says why."""
    return Outcome(request_id=request_id, reasons=reasons, **rest)


def versions_key(versions: Mapping[str, str]) -> str:
    """16 hex digits over the sorted JSON of `versions`; a new key voids a calibration."""
    return hashlib.sha256(json.dumps(dict(versions), sort_keys=True).encode()).hexdigest()[:16]


@runtime_checkable
class Captioner(Protocol):
    """What `load_captioner` gives."""

    name: str

    @property
    def versions(self) -> Mapping[str, str]:
        """What it is made of; see `versions_key`."""
        ...

    def describe(self, requests: Sequence[CaptionRequest]) -> list[Outcome]:
        """Same length and order as `requests`.

        :raises CaptionError: infrastructure failed; never used for a picture that cannot be described.
        """
        ...
