"""The order of the rooms: how one picture gets from its bytes to a text that may be offered, or to a reason for none.

It knows the order only: what looks, what writes and what judges comes in. No tensor passes here.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from PIL import Image

from captioner.prepare import images, routing, safety
from captioner.prepare.pagewords import PageWords
from captioner.prepare.prompts import Prompt
from captioner.prepare.routing import LaneChoice, TextSigns
from captioner.prepare.safety import Refusal
from captioner.rooms.gate.freetext import Decided
from captioner.types import CaptionRequest, Drafts, Lane, Reason, Role, Sight

READ_FOR = (
    Role.TEXT,
    Role.FUNCTIONAL,
    Role.COMPLEX,
)  # words decide there; elsewhere a cheap probe says whether to read


@dataclass
class Walk:
    """How far one picture came, and all that was found out on the way.

    :ivar reasons: why nothing is offered; empty where `decided` lets the text pass.
    :ivar seconds: spent in each room.
    """

    request: CaptionRequest
    page: PageWords
    picture: Image.Image | None = None
    sight: Sight | None = None
    lane: LaneChoice | None = None
    drafts: Drafts | None = None
    decided: Decided | None = None
    reasons: tuple[Reason, ...] = ()
    detail: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    _clock: float = field(default_factory=time.perf_counter)

    @property
    def text(self) -> str | None:
        """What may be offered."""
        return None if self.reasons or self.drafts is None else self.drafts.text

    @property
    def timings(self) -> Mapping[str, float]:
        return dict(self.seconds)

    def stop(self, reason: Reason, detail: str) -> Walk:
        """End here."""
        self.reasons, self.detail = (reason,), detail
        return self

    def leave(self, room: str) -> None:
        """Book the time since the last room to `room`."""
        now = time.perf_counter()
        self.seconds[room] = now - self._clock
        self._clock = now


class Rooms(Protocol):
    """A choice for each room. Failures raise a `CaptionError`; none is a reason to stay silent."""

    def screen(self, picture: Image.Image) -> Refusal | None:
        """What must not be described, before anything in it is named."""
        ...

    def look(self, picture: Image.Image, *, text: bool | None) -> Sight:
        """All scores 0..1. `text`: read words, do not, or let a probe decide."""
        ...

    def signs(self, picture: Image.Image) -> TextSigns | None:
        """Signs of text, None where nothing looks for them."""
        ...

    def prompt(self, request: CaptionRequest) -> Prompt:
        """The words for the writer, page text fenced."""
        ...

    def draft(self, walk: Walk, prompt: Prompt, *, ends_at: float) -> Drafts:
        """Encode, reduce, project, decode. `ends_at` is on the clock of `time.monotonic`."""
        ...

    def decide(self, walk: Walk) -> Decided:
        """The gate."""
        ...


def walk(request: CaptionRequest, page: PageWords, rooms: Rooms, *, ends_at: float) -> Walk:
    """Lead one request through the rooms.

    :raises CaptionError: a room failed.
    """
    way = Walk(request, page)
    try:
        picture = way.picture = images.open_derivative(request.image)  # RGB, upright
    except images.ImageUnreadable as error:
        return way.stop(Reason.IMAGE_REFUSED, str(error))
    if refusal := rooms.screen(picture):
        return way.stop(Reason.SAFETY_REFUSED, refusal.detail)
    way.sight = rooms.look(picture, text=True if request.role in READ_FOR or request.lane is Lane.TEXT else None)
    if refusal := safety.refuse(way.sight, page):
        return way.stop(Reason.SAFETY_REFUSED, refusal.detail)
    way.lane = routing.lane_of(*picture.size, rooms.signs(picture), asked=request.lane, role=request.role)
    way.leave("look")
    way.drafts = rooms.draft(way, rooms.prompt(request), ends_at=ends_at)
    way.leave("write")
    way.decided = rooms.decide(way)
    way.leave("gate")
    way.reasons, way.detail = way.decided.reasons, way.decided.detail
    return way
