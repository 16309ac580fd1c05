"""Images in links: the destination is named, not the picture (T5)."""

import pytest

from captioner.types import Reason, Role
from tests.captioner.policy.sights import Eyes, Starter, ask, line, seen, sight

CAT = sight("photo", seen("cat"))

NAMES = [
    ("the label", {"link_label": "Opening hours", "link_target": "/x"}, "Opening hours"),
    ("the label before the address", {"link_label": "Visit us", "link_target": "/opening-hours"}, "Visit us"),
    ("the address", {"link_target": "/visit/opening-hours.html"}, "Opening hours"),
    ("the address with escapes", {"link_target": "/%C3%B6ffnungszeiten", "language": "de"}, "Öffnungszeiten"),
    ("the address behind a generic label", {"link_label": "Click here", "link_target": "/contact_us/"}, "Contact us"),
    ("the last readable segment before an index", {"link_target": "https://example.org/about/index.html"}, "About"),
    ("the front page", {"link_target": "/"}, "Home page"),
    ("the front page in German", {"link_target": "/", "language": "de"}, "Startseite"),
    ("a label in a language it cannot write", {"link_label": "Godziny otwarcia", "language": "pl"}, "Godziny otwarcia"),
]


@pytest.mark.parametrize(("page", "expected"), [case[1:] for case in NAMES], ids=[case[0] for case in NAMES])
def test_the_destination_is_named_from(page, expected):
    outcome = ask(None, Role.FUNCTIONAL, **page)  # None: eyes that must not be asked
    assert (outcome.text, outcome.flags) == (expected, ())
    assert outcome.evidence["support"][0]["source"] == "link"


def test_visible_words_in_the_link_make_an_empty_alt_likely():
    outcome = ask(None, Role.FUNCTIONAL, link_label="Opening hours", link_text_visible=True)
    assert outcome.reasons == (Reason.ALREADY_SAID,)
    assert "you decide" in outcome.detail


NOTHING = [
    "/node/12345",
    "/p/8f3a9c2e1b",
    "#",
    "javascript:void(0)",
    "mailto:a@example.org",
    "/media/photo.jpg",
    "http://[",
]


@pytest.mark.parametrize("address", NOTHING)
def test_an_address_without_readable_words_is_not_read_out(address):
    outcome = ask(CAT, Role.FUNCTIONAL, link_target=address)
    assert outcome.reasons == (Reason.OBJECT_UNSUPPORTED,)
    assert "No words for the destination" in outcome.detail


def test_the_words_on_a_button_name_it_where_the_link_does_not():
    outcome = ask(sight("other", lines=[line("Subscribe")]), Role.FUNCTIONAL, link_target="#")
    assert outcome.text == "Subscribe"
    assert outcome.evidence["support"][0]["source"] == "ocr"


def test_an_unknown_role_in_a_link_is_functional():
    assert ask(None, link_label="Opening hours").text == "Opening hours"


def test_a_link_to_the_larger_picture_is_described_as_a_picture():
    assert ask(CAT, link_target="/media/cat-large.jpg").text == "A cat"


def test_a_label_that_repeats_the_page_is_not_flagged_as_copied():
    title = "All the opening hours of our museum"
    assert ask(None, Role.FUNCTIONAL, link_label=title, title=title, after=title).flags == ()


def test_a_label_is_never_cut():
    label = "word " * 80
    outcome = ask(CAT, Role.FUNCTIONAL, link_label=label.strip())
    assert outcome.text is None


def test_a_label_with_an_address_in_it_is_flagged():
    outcome = ask(None, Role.FUNCTIONAL, link_label="Write to desk@example.org")
    assert outcome.text == "Write to desk@example.org"
    assert "email" in outcome.flags


def test_a_decorative_image_is_not_looked_at():
    eyes = Eyes(None)
    assert ask(None, Role.DECORATIVE, link_label="x").reasons == (Reason.DECLARED_DECORATIVE,)
    assert eyes.looks == 0
    assert Starter(eyes).describe([]) == []
