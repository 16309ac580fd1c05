"""The router: from role, kind and text share to the way a picture is spoken about. Pure policy.

It decides the kind before anything in the picture is named, because detectors are fooled by what is not a photo.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from captioner.types import Kind, Role, Sight

GRAPHIC_KINDS = (Kind.CHART, Kind.DIAGRAM, Kind.MAP)
SURE_KIND = 0.6  # the kind may be said in the text from here on
SURE_MAP = 0.9  # engravings and folders were called maps at .57-.87
MUCH_TEXT = 0.12  # share of the picture under sure lines; a slide or page has more, a photo with a sign has less
MOSTLY_TEXT = 0.3  # words that were read weigh more than a guessed kind; a scanned page was called a photo at .60

MANY_LINES = 3  # a stop sign that fills the picture has one


class Way(StrEnum):
    """How a picture is spoken about."""

    THINGS = "things"  # name what is seen
    WORDS = "words"  # quote what is read
    GRAPHIC = "graphic"  # chart, diagram, map: short identity
    SCREEN = "screen"  # screenshot: its first words
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Route:
    """:ivar medium: the kind that may be said, None where it is not sure.  :ivar strict: ask for more evidence."""

    way: Way
    medium: Kind | None = None
    strict: bool = False


def choose(sight: Sight, role: Role = Role.UNKNOWN) -> Route:
    """The way to speak. A person's role wins over the kind that was guessed."""
    kinds = {Kind(name): share for name, share in sight.kinds.items()}
    graphic = max(GRAPHIC_KINDS, key=lambda kind: kinds.get(kind, 0.0))
    medium = graphic if kinds.get(graphic, 0.0) >= (SURE_MAP if graphic is Kind.MAP else SURE_KIND) else None
    if role is Role.TEXT:
        return Route(Way.WORDS)
    if role is Role.COMPLEX:
        return Route(Way.GRAPHIC, medium)
    if not kinds:
        return Route(Way.WORDS, strict=True) if sight.text_share >= MUCH_TEXT else Route(Way.THINGS, strict=True)
    kind = sight.kind
    if kind in GRAPHIC_KINDS:
        return Route(Way.GRAPHIC, medium)
    if kind is Kind.SCREENSHOT:
        return Route(Way.SCREEN, kind if kinds[kind] >= SURE_KIND else None)
    if kind is Kind.TEXT or (sight.text_share >= MOSTLY_TEXT and len(sight.lines) >= MANY_LINES):
        return Route(Way.WORDS)
    if kind is Kind.PHOTO:
        return Route(Way.THINGS, strict=kinds[kind] < SURE_KIND)
    if kind is Kind.ART:
        return Route(Way.THINGS, strict=True)
    return Route(Way.WORDS) if sight.text_share >= MUCH_TEXT else Route(Way.THINGS, strict=True)
