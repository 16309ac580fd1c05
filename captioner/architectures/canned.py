"""A deterministic captioner without weights: for development, demonstrations and most tests of the app.

It says only what four numbers of the picture tell. It knows nothing of objects and is no substitute for a model.
With ALTTEXT_CANNED_TRIGGERS=1 a page title such as "canned:hang" makes it misbehave, for tests of the app.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping, Sequence

from captioner.prepare import images
from captioner.types import (
    Abstention,
    Caption,
    CaptionerUnavailable,
    CaptionRequest,
    Outcome,
    Reason,
    Role,
)

COLOURS = {
    "red": (200, 40, 40),
    "green": (40, 160, 60),
    "blue": (40, 90, 200),
    "yellow": (220, 200, 50),
    "white": (240, 240, 240),
    "grey": (128, 128, 128),
    "black": (20, 20, 20),
    "brown": (120, 80, 50),
}
SPREAD_OF_NOTHING = 3  # between the darkest and the lightest level, 0..255


class Canned:
    """Says the main colour and the shape of a picture."""

    name = "canned"
    versions: Mapping[str, str] = {"captioner": "canned", "wording": "2"}

    @classmethod
    def load(cls) -> Canned:
        return cls()

    def describe(self, requests: Sequence[CaptionRequest]) -> list[Outcome]:
        """One outcome a request, in order.  :raises CaptionerUnavailable: only where a test triggered it."""
        return [self._describe(request) for request in requests]

    def _describe(self, request: CaptionRequest) -> Outcome:
        time.sleep(float(os.environ.get("ALTTEXT_CANNED_SECONDS", "0")))
        if os.environ.get("ALTTEXT_CANNED_TRIGGERS") and request.context.title.startswith("canned:"):
            return self._misbehave(request)
        common = {"versions": self.versions, "language": request.context.language}
        if request.role is Role.DECORATIVE:
            return Abstention(request.request_id, Reason.DECLARED_DECORATIVE, **common)
        if request.context.language.partition("-")[0] != "en":
            return Abstention(request.request_id, Reason.LANGUAGE_UNSUPPORTED, **common)
        picture = images.open_derivative(request.image)
        mean = picture.resize((1, 1)).tobytes()  # three levels, 0..255
        levels = picture.convert("L").tobytes()
        if max(levels) - min(levels) < SPREAD_OF_NOTHING:
            return Abstention(request.request_id, Reason.OBJECT_UNSUPPORTED, **common)
        colour = min(COLOURS, key=lambda name: sum((a - b) ** 2 for a, b in zip(COLOURS[name], mean, strict=True)))
        shape = "wide" if picture.width > picture.height else "tall" if picture.height > picture.width else "square"
        support = [{"phrase": f"mostly {colour}", "source": "pixels", "score": 1.0, "detail": ""}]
        return Caption(
            request.request_id, f"A {shape} picture, mostly {colour}", evidence={"support": support}, **common
        )

    def _misbehave(self, request: CaptionRequest) -> Outcome:
        what = request.context.title.removeprefix("canned:").split()[0]
        if what == "raise":
            raise ValueError("triggered")
        if what == "unavailable":
            raise CaptionerUnavailable("triggered")
        if what == "hang":
            time.sleep(600)
        if what == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        texts = {
            "markup": '<b hx-get="/x" hx-trigger="load">bold</b>',
            "empty": "",
            "long": "word " * 600,
            "control": "a\u202eb",
            "nocaption": "Plain text",
        }
        return Caption(request.request_id, texts[what], versions=self.versions, language=request.context.language)
