"""The router: role first, then kind, then the share of text; doubt asks for more evidence, not for more words."""

from dataclasses import replace

import pytest

from captioner.prepare import routing
from captioner.prepare.routing import Route, Way
from captioner.types import Kind, Role
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
