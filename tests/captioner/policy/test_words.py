"""Pictures of words, and screenshots: what was read surely is quoted, the rest is left to a person."""

# ruff: noqa: E501  (a case a line)

import pytest

from captioner.prepare import pagewords, safety
from captioner.types import Reason, Role
from tests.captioner.policy.sights import ask, line, seen, sight

LONG = [line(f"Line {name} of a long page that goes on", top=0.02 + 0.08 * i) for i, name in enumerate("abcdefghijk")]

SAYS = [
    ("a sign", sight("text", lines=[line("No entry")]), {}, "Text: “No entry”"),
    ("German quotation marks", sight("text", lines=[line("Kein Zutritt")]), {"language": "de"}, "Text: „Kein Zutritt“"),
    ("rows from the left", sight("text", lines=[line("world", left=0.6, right=0.9), line("hello", left=0.1, right=0.4)]), {}, "Text: “hello world”"),
    ("top to bottom", sight("text", lines=[line("second", top=0.5), line("first", top=0.1)]), {}, "Text: “first second”"),
    ("nothing after a doubtful line", sight("text", lines=[line("No entry"), line("smudge", 0.7, top=0.5), line("today", top=0.7)]), {}, "Text beginning “No entry”"),
    ("a full stop stays", sight("text", lines=[line("Acme Inc.")]), {}, "Text: “Acme Inc.”"),
    ("inner quotation marks stay", sight("text", lines=[line('A sign reads "Stop."')]), {}, "Text: “A sign reads \"Stop.\"”"),
    ("much text of no kind", sight("", lines=[line("Welcome to the town", height=0.3)]), {}, "Text: “Welcome to the town”"),
    ("a screenshot by its heading", sight("screenshot", lines=[line("Save", top=0.02), line("New note", top=0.5)]), {}, "Screenshot beginning “Save”"),
    ("a screenshot by its first line", sight("screenshot", lines=[line("New note"), line("Save", top=0.9)]), {}, "Screenshot beginning “New note”"),
    ("a screenshot in German", sight("screenshot", lines=[line("Neue Notiz")]), {"language": "de"}, "Screenshot, beginnt mit „Neue Notiz“"),
    ("a doubtful screenshot", sight("screenshot", lines=[line("New note")], sure=0.5), {}, "Graphic beginning “New note”"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "page", "expected"), [case[1:] for case in SAYS], ids=[case[0] for case in SAYS])
def test_it_quotes(given, page, expected):
    assert ask(given, **page).text == expected


def test_the_role_text_quotes_words_on_a_photo():
    assert ask(sight("photo", seen("person"), lines=[line("MENU")]), Role.TEXT).text == "Text: “MENU”"


def test_words_in_a_language_it_cannot_write_are_given_as_they_are():
    assert ask(sight("text", lines=[line("Nie wchodzić")]), Role.TEXT, language="pl").text == "Nie wchodzić"


def test_a_long_page_is_named_by_its_heading():
    text = ask(sight("text", lines=LONG)).text
    assert text == "Page of text, beginning “Line a of a long page that goes on”"


def test_a_short_heading_takes_the_next_line_along():
    lines = [line("Menu", top=0.01), line("Soup of the day", top=0.05), *LONG[1:]]
    assert ask(sight("text", lines=lines)).text == "Page of text, beginning “Menu Soup of the day”"


def test_an_endless_first_line_is_cut_between_words():
    text = ask(sight("text", lines=[line("word " * 80)])).text
    assert text.endswith("word”")
    assert pagewords.graphemes(text) <= 160


COLUMNS = [
    line("Price list", top=0.02),
    *(line(t, top=0.3, left=x, right=x + 0.1) for t, x in (("Soup", 0.1), ("Bread", 0.6))),
]


def test_words_in_columns_are_not_read_across():
    assert ask(sight("text", lines=COLUMNS)).text == "Text beginning “Price list”"


def test_columns_without_a_heading_are_left_to_a_person():
    outcome = ask(sight("text", lines=[*COLUMNS[1:], line("daily", top=0.6)]))
    assert outcome.reasons == (Reason.TEXT_UNVERIFIED,)


def test_a_beginning_in_the_lower_half_is_none():
    assert ask(sight("screenshot", lines=[line("Operating profit", top=0.8)])).text is None


SILENT = [
    ("nothing read", sight("text"), {}, Reason.TEXT_UNVERIFIED, "No words were read"),
    ("nothing read surely", sight("text", lines=[line("smudge", 0.7)]), {}, Reason.TEXT_UNVERIFIED, "“smudge” 0.70"),
    ("a lone digit", sight("text", lines=[line("8")]), {}, Reason.TEXT_UNVERIFIED, "“8”"),
    ("the words stand beside it", sight("text", lines=[line("No entry")]), {"after": "There is NO ENTRY, sorry."}, Reason.ALREADY_SAID, "empty alt"),
    ("the words are the caption", sight("text", lines=[line("No entry")]), {"caption": "No entry"}, Reason.ALREADY_SAID, "empty alt"),
    ("a doubtful first line", sight("text", lines=[line("smudge", 0.7), line("today", top=0.7)]), {}, Reason.TEXT_UNVERIFIED, "“smudge” 0.70"),
    ("a screenshot without words", sight("screenshot"), {}, Reason.TEXT_UNVERIFIED, "No words"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "page", "reason", "words"), [case[1:] for case in SILENT], ids=[c[0] for c in SILENT]
)
def test_it_stays_silent(given, page, reason, words):
    outcome = ask(given, **page)
    assert (outcome.text, outcome.reasons) == (None, (reason,))
    assert words in outcome.detail


def test_words_far_away_on_the_page_do_not_count_as_beside_it():
    far = "No entry. " + "filler word " * 400
    assert ask(sight("text", lines=[line("No entry")]), before=far).text == "Text: “No entry”"


@pytest.mark.parametrize("words", ["Type the characters you see", "I'm not a robot"])
def test_a_captcha_is_refused_and_not_solved(words):
    outcome = ask(sight("text", lines=[line(words), line("xK3fQ", top=0.5)]), Role.TEXT)
    assert outcome.reasons == (Reason.SAFETY_REFUSED,)
    assert "xK3fQ" not in outcome.detail


def test_a_payment_card_number_is_not_repeated():
    outcome = ask(sight("text", lines=[line("VALID THRU"), line("4111 1111 1111 1111", top=0.5)]))
    assert outcome.reasons == (Reason.SAFETY_REFUSED,)
    assert "4111" not in outcome.detail


def test_a_row_of_years_is_no_card_whatever_its_check_digit():
    years = line("1949 1952 1955 1959", top=0.5)
    assert safety.is_card_number(years.text)  # by chance, as one in ten
    assert ask(sight("text", lines=[line("Members"), years])).text == "Text: “Members”"


def test_a_long_number_with_a_wrong_check_digit_is_no_card():
    assert ask(sight("text", lines=[line("Order"), line("4111 1111 1111 1112", top=0.5)])).text == "Text: “Order”"
