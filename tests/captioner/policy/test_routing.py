"""The routers: role first, then kind, then text; doubt asks for more evidence, not for more words."""

from dataclasses import replace

import pytest

from captioner.prepare import routing
from captioner.prepare.routing import Route, TextSigns, Way
from captioner.prepare.tiles import PixelBox
from captioner.types import Kind, Lane, Role
from tests.captioner.policy.sights import line, sight

ROUTES = [
    ("photo", 0.9, Role.UNKNOWN, Route(Way.THINGS)),
    ("photo", 0.55, Role.UNKNOWN, Route(Way.THINGS, strict=True)),
    ("art", 0.9, Role.UNKNOWN, Route(Way.THINGS, strict=True)),
    ("other", 0.9, Role.UNKNOWN, Route(Way.THINGS, strict=True)),
    ("chart", 0.9, Role.UNKNOWN, Route(Way.GRAPHIC, Kind.CHART)),
    ("map", 0.55, Role.UNKNOWN, Route(Way.GRAPHIC)),
    ("screenshot", 0.9, Role.UNKNOWN, Route(Way.SCREEN, Kind.SCREENSHOT)),
    ("text", 0.9, Role.UNKNOWN, Route(Way.WORDS)),
    ("", 1.0, Role.UNKNOWN, Route(Way.THINGS, strict=True)),
    ("photo", 0.9, Role.TEXT, Route(Way.WORDS)),
    ("photo", 0.9, Role.COMPLEX, Route(Way.GRAPHIC)),
    ("diagram", 0.9, Role.COMPLEX, Route(Way.GRAPHIC, Kind.DIAGRAM)),
    ("chart", 0.9, Role.INFORMATIVE, Route(Way.GRAPHIC, Kind.CHART)),
]


@pytest.mark.parametrize(("kind", "sure", "role", "expected"), ROUTES)
def test_a_picture_is_routed_by_role_and_kind(kind, sure, role, expected):
    assert routing.choose(sight(kind, sure=sure), role) == expected


@pytest.mark.parametrize("kind", ["other", ""])
def test_much_text_of_no_clear_kind_is_quoted(kind):
    given = replace(sight(kind), text_share=routing.MUCH_TEXT)
    assert routing.choose(given).way is Way.WORDS


@pytest.mark.parametrize("kind", ["photo", "art", "other", ""])
def test_a_picture_that_is_mostly_words_is_quoted_whatever_its_guessed_kind(kind):
    lines = [line("words", top=0.3 * i) for i in range(routing.MANY_LINES)]
    given = replace(sight(kind, lines=lines, sure=0.6), text_share=routing.MOSTLY_TEXT)
    assert routing.choose(given).way is Way.WORDS


@pytest.mark.parametrize("kind", ["chart", "screenshot"])
def test_a_chart_full_of_words_stays_a_chart(kind):
    given = replace(sight(kind), text_share=routing.MOSTLY_TEXT)
    assert routing.choose(given).way is not Way.WORDS


def test_one_large_word_makes_no_page_of_a_photo():
    given = replace(sight("photo", lines=[line("STOP", height=0.5)]), text_share=0.5)
    assert routing.choose(given).way is Way.THINGS


MUCH = TextSigns(regions=4, letters=routing.TEXT_LETTERS)
LITTLE = TextSigns(regions=1, letters=routing.TEXT_LETTERS - 0.1)

LANES = [
    (None, Lane.AUTO, Role.UNKNOWN, Lane.PLAIN),
    (LITTLE, Lane.AUTO, Role.UNKNOWN, Lane.PLAIN),
    (MUCH, Lane.AUTO, Role.UNKNOWN, Lane.TEXT),
    (MUCH, Lane.PLAIN, Role.TEXT, Lane.PLAIN),  # who asks wins over signs and role
    (LITTLE, Lane.TEXT, Role.UNKNOWN, Lane.TEXT),
    (LITTLE, Lane.AUTO, Role.TEXT, Lane.TEXT),
    (None, Lane.AUTO, Role.COMPLEX, Lane.TEXT),
    (MUCH, Lane.AUTO, Role.INFORMATIVE, Lane.TEXT),
]


@pytest.mark.parametrize(("signs", "asked", "role", "expected"), LANES)
def test_the_lane_is_the_one_asked_for_then_the_roles_then_the_signs(signs, asked, role, expected):
    choice = routing.lane_of(800, 600, signs, asked=asked, role=role)
    assert choice.lane is expected
    assert choice.why


def test_the_plain_lane_sees_the_whole_picture_with_64_tokens():
    choice = routing.lane_of(800, 600, LITTLE)
    assert (choice.token_budget, choice.tiles) == (64, (PixelBox(0, 0, 800, 600),))


def test_the_text_lane_pays_for_the_tiles_it_needs():
    """800 x 600 needs four tiles and an overview: 5 x 576 = 2,880; 300 x 200 fits into one square: 576."""
    assert routing.lane_of(800, 600, MUCH).token_budget == 2880
    assert routing.lane_of(300, 200, MUCH).token_budget == 576
    assert len(routing.lane_of(800, 600, MUCH).tiles) == 5


def test_a_missing_detector_is_said_not_hidden():
    assert routing.lane_of(800, 600, None).why == "no text detector is installed"


def test_the_reason_gives_the_numbers():
    assert routing.lane_of(8, 8, TextSigns(3, 41.6)).why == "room for about 42 letters in 3 regions; 20 make a text"
