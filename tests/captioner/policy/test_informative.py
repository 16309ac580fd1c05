"""Photos and art: things are named from evidence alone, in the order that the page gives them."""

# ruff: noqa: E501  (a case a line)

import json

import pytest

from captioner.types import Box, Reason, Role
from tests.captioner.policy.sights import ask, box, line, seen, sight, tag

LEFT, RIGHT = box(0.0, 0.1, 0.4, 0.9), box(0.6, 0.1, 1.0, 0.9)
SMALL = box(0.0, 0.0, 0.1, 0.1)

SAYS = [
    ("one thing", sight("photo", seen("cat")), {}, "A cat"),
    ("an article before a vowel", sight("photo", seen("umbrella")), {}, "An umbrella"),
    (
        "two things, the larger first",
        sight("photo", seen("dog", 0.8, SMALL), seen("person", 0.8)),
        {},
        "A person and a dog",
    ),
    ("three things", sight("photo", seen("cat"), seen("bed", 0.7), seen("book", 0.6)), {}, "A cat, a bed and a book"),
    ("one box is one person", sight("photo", seen("person")), {}, "A person"),
    ("boxes apart are a plural", sight("photo", seen("person", 0.8, LEFT), seen("person", 0.7, RIGHT)), {}, "People"),
    ("boxes on each other are no plural", sight("photo", seen("cat", 0.8, LEFT), seen("cat", 0.7, LEFT)), {}, "A cat"),
    (
        "a doubtful second box is no plural",
        sight("photo", seen("cat", 0.8, LEFT), seen("cat", 0.3, RIGHT)),
        {},
        "A cat",
    ),
    ("a mass noun has no article", sight("photo", seen("broccoli")), {}, "Broccoli"),
    ("scissors have no article", sight("photo", seen("scissors")), {}, "Scissors"),
    ("a sure leaf tag alone", sight("photo", tags=[tag("espresso", 0.9)]), {}, "An espresso"),
    ("a hedged tag alone", sight("photo", tags=[tag("bread", 0.8, leaf=False)]), {}, "Bread"),
    ("agreement of both at a low score", sight("photo", seen("dog", 0.32), tags=[tag("beagle", 0.5)]), {}, "A dog"),
    (
        "the narrower name that the page gives",
        sight("photo", seen("dog"), tags=[tag("beagle", 0.6)]),
        {"title": "Beagles"},
        "A beagle",
    ),
    ("no breed without the page", sight("photo", seen("dog"), tags=[tag("beagle", 0.95)]), {}, "A dog"),
    ("a wider tag adds nothing", sight("photo", seen("dog"), tags=[tag("dog", 0.9, leaf=False)]), {}, "A dog"),
    (
        "a sign whose words the page has",
        sight("photo", seen("bus"), lines=[line("AIRPORT EXPRESS")]),
        {"before": "The express bus to the airport"},
        "A bus; text: “AIRPORT EXPRESS”",
    ),
    (
        "a sign that the page does not confirm is not quoted",
        sight("photo", seen("bus"), lines=[line("SRUPT")]),
        {},
        "A bus",
    ),
    (
        "a sign with a doubtful line is not quoted",
        sight("photo", seen("bus"), lines=[line("AIRPORT"), line("EXPRESS", 0.8, top=0.5)]),
        {},
        "A bus",
    ),
    (
        "tiny words on a photo are not quoted",
        sight("photo", seen("bus"), lines=[line("AIRPORT", right=0.3, height=0.01)]),
        {},
        "A bus",
    ),
    ("a lone character is no sign", sight("photo", seen("bus"), lines=[line("8")]), {}, "A bus"),
    (
        "what the page names comes first",
        sight("photo", seen("person"), seen("dog", 0.8, SMALL)),
        {"caption": "Our dog"},
        "A dog and a person",
    ),
    (
        "what the page is about comes first",
        sight("photo", seen("person"), seen("cup", 0.8, SMALL)),
        {"title": "Coffee"},
        "A cup and a person",
    ),
    (
        "the page lowers the bar of its word",
        sight("photo", tags=[tag("espresso", 0.45)]),
        {"title": "How to make espresso"},
        "An espresso",
    ),
    ("German", sight("photo", seen("dog", 0.8), seen("cat", 0.7)), {"language": "de"}, "Ein Hund und eine Katze"),
    ("Austrian German", sight("photo", seen("person")), {"language": "de-AT"}, "Eine Person"),
    (
        "German plural",
        sight("photo", seen("chair", 0.8, LEFT), seen("chair", 0.7, RIGHT)),
        {"language": "de"},
        "Stühle",
    ),
    (
        "German falls back to the wider word",
        sight("photo", seen("cat"), tags=[tag("tabby", 0.9)]),
        {"language": "de", "caption": "tabby"},
        "Eine Katze",
    ),
]


@pytest.mark.parametrize(("given", "page", "expected"), [case[1:] for case in SAYS], ids=[case[0] for case in SAYS])
def test_it_says(given, page, expected):
    outcome = ask(given, **page)
    assert (outcome.text, outcome.flags) == (expected, ())


SILENT = [
    ("nothing seen", sight("photo"), {}, Reason.OBJECT_UNSUPPORTED, "Nothing was seen"),
    ("only a doubtful box", sight("photo", seen("cat", 0.41)), {}, Reason.OBJECT_UNSUPPORTED, "cat 0.41 (detector)"),
    ("only a doubtful tag", sight("photo", tags=[tag("espresso", 0.45)]), {}, Reason.OBJECT_UNSUPPORTED, "espresso 0.45"),
    ("a rare name without the page", sight("photo", tags=[tag("tabby", 0.5)]), {}, Reason.OBJECT_UNSUPPORTED, "not sure"),
    ("the caption says it", sight("photo", seen("cat")), {"caption": "A CAT."}, Reason.ALREADY_SAID, "caption"),
    ("a language it cannot write", sight("photo", seen("cat")), {"language": "pl"}, Reason.LANGUAGE_UNSUPPORTED, "pl"),
    ("no kind and a middling score", sight("", seen("cat", 0.55)), {}, Reason.OBJECT_UNSUPPORTED, "Kind not decided"),
    ("art without agreement", sight("art", seen("kite", 0.7)), {}, Reason.OBJECT_UNSUPPORTED, "kite 0.70"),
    ("no detector and a middling tag", sight("photo", tags=[tag("espresso", 0.85)], missing=["detector"]), {}, Reason.OBJECT_UNSUPPORTED, "Not installed: detector"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "page", "reason", "words"), [case[1:] for case in SILENT], ids=[c[0] for c in SILENT]
)
def test_it_stays_silent_and_says_what_was_missing(given, page, reason, words):
    outcome = ask(given, **page)
    assert outcome.text is None
    assert outcome.reasons == (reason,)
    assert words in outcome.detail


def test_a_page_full_of_absent_things_adds_none_of_them():
    given = sight("photo", seen("cat"), tags=[tag("tabby", 0.2), tag("pizza", 0.05)])
    page = "A dog, a horse, pizza, an espresso, a beagle, broccoli and the president ride a bicycle in Paris."
    assert ask(given, title=page, before=page, after=page, caption=page).text == "A cat"


def test_one_image_on_two_pages_gets_two_texts():
    given = sight("photo", seen("person"), seen("bicycle", 0.7))
    texts = {ask(given, title=title).text for title in ("Cycling to work", "Our staff")}
    assert texts == {"A bicycle and a person", "A person and a bicycle"}


def test_art_is_named_where_page_and_detector_agree():
    given = sight("art", seen("horse", 0.7))
    assert ask(given, caption="The horse, oil on canvas, 1911").text == "A horse"


def test_two_names_for_one_place_leave_the_surer_one():
    same = Box(0.1, 0.1, 0.9, 0.9)
    outcome = ask(sight("photo", seen("truck", 0.8, same), seen("car", 0.6, same)))
    assert outcome.text == "A truck"
    assert [thing["concept"] for thing in outcome.evidence["unverified"]] == ["car"]


def test_things_under_the_threshold_are_listed_as_unverified_for_the_author():
    outcome = ask(sight("photo", seen("cat"), seen("book", 0.42, SMALL)))
    assert outcome.text == "A cat"
    assert [(thing["phrase"], thing["score"]) for thing in outcome.evidence["unverified"]] == [("a book", 0.42)]


def test_names_of_people_are_offered_for_confirmation_and_never_written():
    outcome = ask(sight("photo", seen("person")), caption="Ada Lovelace speaks at the opening", role=Role.INFORMATIVE)
    assert outcome.text == "A person"
    assert "Ada Lovelace" in outcome.evidence["names_on_page"]


def test_an_informative_outcome_goes_through_json_unchanged():
    outcome = ask(sight("photo", seen("cat"), tags=[tag("tabby", 0.3)], lines=[line("MENU")]), title="Cats")
    assert type(outcome).from_json(json.loads(json.dumps(outcome.as_json()))).as_json() == outcome.as_json()
    assert outcome.evidence["page_words"] == {"cat": "cats"}
    assert set(outcome.timings) == {"look", "write"}
