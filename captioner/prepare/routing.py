"""Two routers, pure policy: how a picture is spoken about (`choose`), and with how many tokens it is seen (`lane_of`).

The first decides the kind before anything in the picture is named, because detectors are fooled by what is not a
photo. The second decides before the encoder runs, from signs of text alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from captioner.prepare import tiles
from captioner.prepare.tiles import PixelBox
from captioner.types import Kind, Lane, Role, Sight

GRAPHIC_KINDS = (Kind.CHART, Kind.DIAGRAM, Kind.MAP)
SURE_KIND = 0.6  # the kind may be said in the text from here on
SURE_MAP = 0.9  # engravings and folders were called maps at .57-.87
MUCH_TEXT = 0.12  # share of the picture under sure lines; a slide or page has more, a photo with a sign has less
MOSTLY_TEXT = 0.3  # words that were read weigh more than a guessed kind; a scanned page was called a photo at .60

MANY_LINES = 3  # a stop sign that fills the picture has one

PLAIN_TOKENS = 64  # 24 x 24 patches pooled 3 x 3
TEXT_LETTERS = 20  # expected ones; a sign or a shirt has fewer, and 64 tokens show it. Measured in docs/routing.md
TEXT_ROLES = (Role.TEXT, Role.COMPLEX)  # a person said so: words, or a chart with labels


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


@dataclass(frozen=True, slots=True)
class TextSigns:
    """What a look without reading promises.

    :ivar regions: number of line-like regions.
    :ivar letters: how many letters they have room for.
    """

    regions: int
    letters: float


@dataclass(frozen=True, slots=True)
class LaneChoice:
    """With how much attention a picture is seen.

    :ivar lane: PLAIN or TEXT, never AUTO.
    :ivar token_budget: image tokens at most: 64, or 576 a tile.
    :ivar tiles: what the encoder looks at, the whole picture first.
    :ivar why: in words, for the evidence.
    """

    lane: Lane
    token_budget: int
    tiles: tuple[PixelBox, ...]
    why: str


def lane_of(
    width_px: int,
    height_px: int,
    signs: TextSigns | None = None,
    *,
    asked: Lane = Lane.AUTO,
    role: Role = Role.UNKNOWN,
) -> LaneChoice:
    """The lane for one picture. The lane that was asked for wins, then a person's role, then the signs of text.

    `signs` is None where no text detector is installed: the picture is then plain, and says so.
    """
    lane, why = _lane(signs, asked, role)
    if lane is Lane.PLAIN:
        return LaneChoice(lane, PLAIN_TOKENS, (PixelBox(0, 0, width_px, height_px),), why)
    tiling = tiles.tile(width_px, height_px)
    return LaneChoice(lane, tiling.tokens, tiling.boxes, why)


def _lane(signs: TextSigns | None, asked: Lane, role: Role) -> tuple[Lane, str]:
    if asked is not Lane.AUTO:
        return asked, "asked for"
    if role in TEXT_ROLES:
        return Lane.TEXT, f"role {role}"
    if signs is None:
        return Lane.PLAIN, "no text detector is installed"
    lane = Lane.TEXT if signs.letters >= TEXT_LETTERS else Lane.PLAIN
    return lane, f"room for about {signs.letters:.0f} letters in {signs.regions} regions; {TEXT_LETTERS} make a text"
