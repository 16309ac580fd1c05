"""Charts, diagrams and maps: a short identity from sure words, values never (T8)."""

# ruff: noqa: E501  (a case a line)

import pytest

from captioner.types import Box, Reason, Role, TextLine
from tests.captioner.policy.sights import ask, line, sight

TITLE = line("Visitors per month", top=0.03)
LONG_TITLE = line("Visitors per month since 2019", top=0.03)
BOTTOM = line("Month", top=0.92, left=0.45, right=0.55)
SIDE = TextLine("Visitors", 0.97, Box(0.01, 0.3, 0.05, 0.6))
TICKS = [line(str(value), top=0.2 + value / 100, left=0.08, right=0.12) for value in (10, 20, 40)]
LABELS = [
    line(text, top=0.2 + 0.1 * i, left=0.1 * i, right=0.1 * i + 0.15)
    for i, text in enumerate(["Nucleus", "Wall", "Pore"])
]

SAYS = [
    ("title and axes", sight("chart", lines=[TITLE, BOTTOM, SIDE, *TICKS]), {}, "Chart titled “Visitors per month”; axes: Month, Visitors"),
    ("title alone", sight("chart", lines=[TITLE, *TICKS]), {}, "Chart titled “Visitors per month”"),
    ("both axes alone", sight("chart", lines=[BOTTOM, SIDE, *TICKS]), {}, "Chart with axes: Month, Visitors"),
    ("German", sight("chart", lines=[TITLE, *TICKS]), {"language": "de"}, "Diagramm mit dem Titel „Visitors per month“"),
    ("labels of a diagram", sight("diagram", lines=LABELS), {}, "Diagram with labels: “Nucleus”, “Wall”, “Pore”"),
    ("labels of a map", sight("map", lines=LABELS[:2]), {}, "Map with labels: “Nucleus”, “Wall”"),
    ("a kind that is not sure is not said", sight("chart", lines=[LONG_TITLE, *TICKS], sure=0.55), {}, "Graphic titled “Visitors per month since 2019”"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "page", "expected"), [case[1:] for case in SAYS], ids=[case[0] for case in SAYS])
def test_it_identifies(given, page, expected):
    assert ask(given, **page).text == expected


def test_the_role_complex_wins_over_the_guessed_kind():
    outcome = ask(sight("photo", lines=[LONG_TITLE, *TICKS]), Role.COMPLEX)
    assert outcome.text == "Graphic titled “Visitors per month since 2019”"


def test_lines_of_one_box_are_one_label():
    lines = [line("Social", top=0.3), line("Factors", top=0.37), line("Family", top=0.7)]
    assert ask(sight("diagram", lines=lines)).text == "Diagram with labels: “Social Factors”, “Family”"


def test_a_label_with_a_doubtful_line_is_no_label():
    lines = [line("Social", top=0.3), line("Factcrs", 0.8, top=0.37), line("Family", top=0.6), line("Roles", top=0.8)]
    assert ask(sight("diagram", lines=lines)).text == "Diagram with labels: “Family”, “Roles”"


def test_a_title_of_two_lines_is_read_whole():
    lines = [line("Jobs created by young firms,", top=0.02), line("March 1994 to March 2015", top=0.09), *TICKS]
    expected = "Chart titled “Jobs created by young firms, March 1994 to March 2015”"
    assert ask(sight("chart", lines=lines)).text == expected


def test_the_heads_of_columns_are_no_part_of_the_title():
    heads = [line("Growth", top=0.09, left=0.45, right=0.55), line("Decline", top=0.09, left=0.7, right=0.8)]
    assert ask(sight("chart", lines=[TITLE, *heads])).text == "Chart titled “Visitors per month”"


@pytest.mark.parametrize("first", ["1. Define the problem first", "Spending on research as"])
def test_the_first_box_of_a_diagram_is_no_title(first):
    outcome = ask(sight("diagram", lines=[line(first, top=0.03), *LABELS]))
    assert outcome.text.startswith("Diagram with labels")


def test_a_second_line_is_no_title_where_the_first_is_doubtful():
    lines = [line("Jobs created by young firms,", 0.8, top=0.02), line("March 1994 to March 2015", top=0.09), *TICKS]
    assert ask(sight("chart", lines=lines)).text is None


@pytest.mark.parametrize(
    "text", ["Ptop, new", "Back pressure = hpg", "DNA molecules)", "Mg", "dry", "Position × (m)", "H2O"]
)
def test_a_formula_or_a_scrap_is_no_label(text):
    outcome = ask(sight("diagram", lines=[*LABELS[:2], line(text, top=0.6)]))
    assert outcome.text == "Diagram with labels: “Nucleus”, “Wall”"


SILENT = [
    ("only values", sight("chart", lines=TICKS), Reason.VALUE_UNVERIFIED, "values are never read"),
    ("nothing read", sight("chart"), Reason.TEXT_UNVERIFIED, "No title"),
    ("a doubtful title", sight("chart", lines=[line("Visitors per month", 0.8)]), Reason.TEXT_UNVERIFIED, "0.80"),
    (
        "a legend where an axis could be",
        sight(
            "chart",
            lines=[line("White", top=0.92, left=0.4, right=0.5), SIDE, line("Other", top=0.92, left=0.5, right=0.6)],
        ),
        Reason.TEXT_UNVERIFIED,
        "No title",
    ),
    ("one axis alone", sight("chart", lines=[BOTTOM]), Reason.TEXT_UNVERIFIED, "No title"),
    (
        "running text at the top of a diagram",
        sight("diagram", lines=[line("to describe, or to inform the reader", top=0.03)]),
        Reason.TEXT_UNVERIFIED,
        "labels",
    ),
    ("one label of a diagram", sight("diagram", lines=[line("Pore", top=0.5)]), Reason.TEXT_UNVERIFIED, "labels"),
]


@pytest.mark.parametrize(("given", "reason", "words"), [case[1:] for case in SILENT], ids=[case[0] for case in SILENT])
def test_it_stays_silent(given, reason, words):
    outcome = ask(given)
    assert (outcome.text, outcome.reasons) == (None, (reason,))
    assert words in outcome.detail


@pytest.mark.parametrize("kind", ["chart", "diagram", "map"])
def test_no_value_that_was_read_gets_into_a_text(kind):
    outcome = ask(sight(kind, lines=[TITLE, *TICKS, *LABELS]))
    assert not any(letter.isdigit() for letter in outcome.text)


def test_a_chart_is_named_although_its_title_stands_beside_it_too():
    outcome = ask(sight("chart", lines=[TITLE, *TICKS]), caption="Visitors per month, 2024")
    assert outcome.text.startswith("Chart titled")
    assert "copied_from_page" not in outcome.flags
