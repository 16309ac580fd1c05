"""Lint rules: what each finds, and the known false positives and misses of other checkers."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alttext import edits, rules
from alttext.adapters import Context
from alttext.rules import Subject, check, languages

ROOT = Path(__file__).resolve().parents[2]


def ids(text, **about):
    return [finding.rule for finding in check(Subject(text, **about))]


MUST_NOT_FIRE = [
    ("Picturesque village", "en"),
    ("Photosynthesis diagram", "en"),
    ("Graphic novel cover", "en"),
    ("A mirror image", "en"),
    ("Iconic bridge", "en"),
    ("Two photographers at work", "en"),
    ("Diagram of the HTTP request cycle", "en"),
    ("user_id column", "en"),
    ("一只狗。", "zh"),
    ("一只狗坐在草地上,旁边有一个红色的球,后面是一座房子。", "zh"),
    ("هل هذا كلب؟", "ar"),
    ("Screenshot of a menu; New repository is outlined", "en"),
    ("Map of Norway", "en"),
    ("Donaudampfschifffahrtsgesellschaft", "de"),
    ("Rhein-Main-Donau-Kanal", "de"),
    ("Bildungszentrum am Hafen", "de"),
    ("Photographers of the harbour festival", "en"),
    ("Family 👨‍👩‍👧 at the beach", "en"),
    ("می‌خواهم", "fa"),
    ('A sign reads "Sorry, we\'re closed"', "en"),
    ("Here is where the bridge stood", "en"),
    ("Acme Inc.", "en"),
    ("A < B and C > D on a blackboard", "en"),
    ("Windows XP 2001 start screen", "en"),
    ("The Picture of Dorian Gray, cover of the first edition", "en"),
    ("The thesis is true because ________.", "en"),
    ("Colours of the pixels in the file cat.jpg", "en"),
    ("Museo Nacional del Prado at night", "en"),
    ("A sign that says “Bitte nicht auf den Rasen treten, der ist frisch gesät”", "en"),
    ("Das Plakat zum Film „The Lord of the Rings“ an der Wand", "de"),
    ("Ein Hund und eine Katze schlafen auf dem Sofa", "de"),
    ("Un perro y un gato duermen en el sofá", "es"),
    ("En röd båt ligger i hamnen", "sv"),  # its small words are not listed: nothing is said
    ("Den røde båd, der ligger i havnen", "da"),
    ("Microsoft, Redmond, Washington", "ru"),
    ("Two women and a man read in a library", "en"),
    ("A white horse and an old house behind a young tree", "en"),
    ("Mitosis stages: Prophase, Prometaphase, Metaphase, Anaphase, and Telophase", "en"),
    ("Apples, pears, plums and grapes on a table, in a bowl, beside bread, cheese and a jug", "en"),
    ("Caption contest winner", "en"),
    ("Figure 1.1", "en"),
    ("Social media icons, including Pinterest, Snapchat, Vimeo, Twitter, Facebook, and Instagram", "en"),
    ("A sign reads “No cycling, busking, littering, loitering, skating, spitting”", "en"),
    ("An infant, a toddler and a young child", "en"),
    ("The Chinese People’s Congress in session", "en"),
    ("هل هذا كلب أبيض صغير في الحديقة؟", "ar"),
    ("क्या यह कुत्ता है? हाँ, यह एक कुत्ता है।", "hi"),
]


@pytest.mark.parametrize(("text", "language"), MUST_NOT_FIRE)
def test_good_texts_that_other_checkers_flag_have_no_finding(text, language):
    assert ids(text, language=language) == []


def test_an_empty_text_has_no_finding_whether_chosen_or_not_yet_written():
    assert check(Subject("")) == []


MUST_FIRE = [
    ("\u00a0", "alt-blank"),
    (" ", "alt-blank"),
    ("\u200b", "alt-blank"),
    ("\ufeff", "alt-blank"),
    ("IMG_1234", "text-filename"),
    ("DSC0001", "text-filename"),
    ("Screenshot-2024", "text-filename"),
    ("Screenshot 2024-03-01 at 10.11.12", "text-filename"),
    ("photo.jpg", "text-filename"),
    ("photo.jpg.", "text-filename"),
    ("sunset.heic", "text-filename"),
    ("team.AVIF", "text-filename"),
    ("image", "text-placeholder"),
    ("Photo.", "text-placeholder"),
    ("picture 1", "text-placeholder"),
    ("untitled", "text-placeholder"),
    ("A chart.", "text-placeholder"),
    ("https://example.org/a.php?id=3", "text-code"),
    ("d41d8cd98f00b204e9800998ecf8427e", "text-code"),
    ("3f2504e0-4f89-11d3-9a0c-0305e82c3301", "text-code"),
    ("20240311", "text-code"),
    ("800x600", "text-code"),
    ("node--block", "text-code"),
    ("fgh_banner_2024_final", "text-code"),
    ("image of a dog", "text-prefix"),
    ("A photo of a dog", "text-prefix"),
    ("Picture showing two boats", "text-prefix"),
    ("x" * 161, "text-long"),
    ("ab", "text-short"),
    ("A <b>red</b> boat", "text-markup"),
    ("A **red** boat", "text-markup"),
    ("[a boat](https://example.org)", "text-markup"),
    ("A boat\nin the harbour", "text-markup"),
    ("boat =======> harbour", "text-markup"),
    ("🚀🚀", "text-markup"),
    ("a\u202eb is here", "text-control"),
    ("bell \x07 rings", "text-control"),
    ("I'm sorry, but I can't see the image", "text-meta"),
    ("I cannot describe this image.", "text-meta"),
    ("Here is a short alt text: a boat", "text-meta"),
    ("Alt text: a boat", "text-meta"),
    ("A boat in the harbour (AI-generated)", "text-meta"),
    ("As an AI language model, a boat", "text-meta"),
    ("A picture containing a boat. Description automatically generated", "text-meta"),
    ("team photo final.JPG", "text-filename"),
    ("Screen Shot 2014-05-06 at 3.45.12 PM.png", "text-filename"),
    ("phylomap|617x494", "text-code"),
    ("Ein Hund und eine Katze schlafen auf dem Sofa", "text-language"),
    ("Un perro y un gato duermen en el sofá", "text-language"),
    ("Красная лодка стоит в гавани", "text-language"),
    ("一只狗坐在草地上,旁边有一个红色的球,后面是一座房子。", "text-language"),
    ("A young woman reads", "text-person"),
    ("Two African American men in uniform", "text-person"),
    ("A man looks sad", "text-person"),
    ("developer tools, inspector, HTML, CSS, JavaScript, debugging", "text-keywords"),
    ("Ellen Ochoa in a suit — space, NASA, inspiration, leadership, women in science", "text-keywords"),
]


@pytest.mark.parametrize(("text", "rule"), MUST_FIRE)
def test_bad_texts_are_found(text, rule):
    assert rule in ids(text)


@pytest.mark.parametrize(
    ("text", "language", "rule"),
    [
        ("Bild eines Hundes.", "de", "text-prefix"),
        ("Das Foto zeigt einen Hund", "de", "text-prefix"),
        ("Image d’un chien", "fr", "text-prefix"),
        ("Imagen de un perro", "es", "text-prefix"),
        ("Zdjęcie przedstawiające psa", "pl", "text-prefix"),
        ("Foto di un cane", "it", "text-prefix"),
        ("Afbeelding van een hond", "nl", "text-prefix"),
        ("Foto de um cão", "pt-BR", "text-prefix"),
        ("Bild", "de", "text-placeholder"),
        ("Ohne Titel", "de-AT", "text-placeholder"),
        ("Capture d'écran", "fr", "text-placeholder"),
        ("sin título", "es", "text-placeholder"),
        ("Zdjęcie", "pl", "text-placeholder"),
        ("Es tut mir leid, das kann ich nicht", "de", "text-meta"),
        ("Désolé, je ne peux pas", "fr", "text-meta"),
        ("Hier ist ein Alternativtext: ein Boot", "de", "text-meta"),
        ("Ein Boot im Hafen (KI-generiert)", "de", "text-meta"),
        ("Ein Boot im Hafen. Automatisch generierte Beschreibung", "de", "text-meta"),
        ("Two boats lie in the harbour of the old town", "de", "text-language"),
        ("Two boats lie in the harbour of the old town", "ja", "text-language"),
        ("Eine junge Frau liest", "de", "text-person"),
        ("Ein Kind wirkt traurig", "de", "text-person"),
        ("Hafen, Boote, Urlaub, Sonne, Ostsee, Strand", "de", "text-keywords"),
    ],
)
def test_rules_speak_the_language_of_the_text(text, language, rule):
    assert rule in ids(text, language=language)


def test_a_blank_text_has_one_finding_only():
    assert ids("\u00a0\u200b") == ["alt-blank"]


def test_only_illegal_characters_and_blanks_are_errors():
    levels = {name: rule.level for name, rule in rules.RULES.items() if rule.on_text}
    assert {name for name, level in levels.items() if level == "error"} == {"alt-blank", "text-control"}


@pytest.mark.parametrize(
    ("length", "expected"), [(125, []), (160, []), (161, ["info"]), (250, ["info"]), (251, ["warn"]), (300, ["warn"])]
)
def test_length_is_advice_in_graphemes(length, expected):
    word = "é" * 10 + "\u0301"  # 10 graphemes, 11 code points
    text = (word * 40)[: length + length // 10]
    assert len(text) > length or length < 10
    assert [finding.level for finding in check(Subject(text)) if finding.rule == "text-long"] == expected


def test_a_family_emoji_counts_as_one_character():
    text = "👨‍👩‍👧" * 160
    assert "text-long" not in [finding.rule for finding in check(Subject(text))]


def test_short_texts_are_fine_where_the_image_is_text_or_the_script_is_dense():
    assert ids("OK", role="text") == []
    assert ids("狗", language="zh") == []
    assert "text-short" in ids("OK")


def test_the_files_own_name_is_found_with_dashes_as_spaces_but_a_plain_word_is_not():
    assert "text-filename" in ids("harbour 2 final", image_name="harbour-2_final.png")
    assert "text-filename" in ids("harbour-2", image_name="harbour-2.png")
    assert ids("Harbour", image_name="harbour.png") == []


def test_a_code_is_fine_where_the_image_shows_exactly_that():
    assert "text-code" in ids("20240311")
    assert ids("20240311", role="text") == []


def test_a_prefix_stays_where_the_page_speaks_of_the_medium():
    assert ids("Photo of the old harbour", title="Photos that won the prize") == []
    [finding] = check(Subject("Photo of the old harbour", title="The harbour"))
    assert finding.repaired == "The old harbour"
    assert finding.span == (0, 9)


def test_a_text_equal_to_what_stands_beside_it_is_found_whatever_case_and_stop():
    assert "alt-equals-adjacent" in ids("The old harbour.", adjacent=("the Old Harbour",))
    assert "alt-equals-adjacent" in ids("Cafe\u0301 Lux", adjacent=("Café Lux",))
    assert ids("The old harbour at night", adjacent=("The old harbour",)) == []


def test_a_link_text_that_names_no_word_of_its_destination_is_found():
    link = {"role": "functional", "link_label": "Prices and tickets", "link_target": "/tickets/"}
    assert "text-function" in ids("A red boat", **link)
    assert ids("Buy a ticket", **link) == []
    assert ids("A red boat", role="functional") == []
    assert ids("A red boat", role="informative", link_label="Tickets") == []
    assert (
        ids("Startseite", role="functional", language="de", link_target="https://www.example.de/startseite.html") == []
    )


def test_every_finding_says_how_to_decide_and_what_to_do():
    for rule in rules.RULES.values():
        assert rule.decide.endswith(".")
        assert rule.repair.endswith(".")


def test_mechanical_repairs_leave_no_finding_of_their_rule():
    for text in ("A photo of two boats", "a\u202eboat is here", "A boat\nin the harbour"):
        for finding in check(Subject(text)):
            if finding.repaired:
                assert finding.rule not in ids(finding.repaired)


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        ("A photo of a picture of a boat", "A boat"),
        ("A <b>red</b> boat", "A red boat"),
        ("A **red** [boat](https://example.org) with `sails`", "A red boat with sails"),
        ("Alt text: a boat", "A boat"),
        ("Here is a short description of the image: a boat", "A boat"),
        ("A boat in the harbour (AI-generated)", "A boat in the harbour"),
        ("KI-generiert: Ein Boot", "Ein Boot"),
    ],
)
def test_a_mechanical_repair_keeps_the_words_about_the_image(text, repaired):
    assert check(Subject(text))[0].repaired == repaired


def test_no_repair_is_offered_where_nothing_would_be_left():
    for text in ("Alt text:", "<br>", "image of"):
        assert [item.repaired for item in check(Subject(text)) if item.repaired is not None] == []


def test_typed_words_that_are_those_of_the_file_are_no_file_name():
    assert ids("Melina Vidoni", image_name="melina-vidoni.jpg") == []
    assert "text-filename" in ids("melina-vidoni", image_name="melina-vidoni.jpg")
    assert "text-filename" in ids("beach party", image_name="beach_party.png")


def test_a_person_may_be_told_as_the_page_tells_them():
    assert ids("An elderly woman reads", adjacent=("Reading for the elderly",)) == []
    assert ids("An elderly woman reads", title="Prices and tickets") == ["text-person"]


def test_a_name_is_asked_about_only_where_the_whole_page_is_known_and_lacks_it():
    name = "Angela Merkel at a desk"
    assert ids(name, title="Harbour Days") == []
    assert ids(name, title="Harbour Days", around="A town by the sea") == ["text-person"]
    assert ids(name, around="Chancellor Merkel visits the town") == []
    assert ids(name, around="A town by the sea", image_name="merkel_2.jpg") == []
    assert ids("Senator Barbara Ann Mikulski speaks", around="A speech of Mikulski") == []
    assert ids("Mount Everest and the Golden Gate Bridge", around="Travel") == []


def test_the_language_is_not_judged_in_short_texts_and_words_of_the_image():
    short = "Der Hund und das Boot"[:19]
    assert ids(short) == []
    assert ids("Der Hund und das Boot im Hafen", role="text") == []
    assert "text-language" not in ids("https://example.org/Xde-la_Yel/uNl-der=das-ist/i-w/na/z?o=os")
    assert "text-language" in ids("Der Hund und das Boot im Hafen")


@pytest.mark.parametrize("language", sorted(languages.VOTERS))
def test_small_words_of_a_language_are_no_foreign_words_in_it(language):
    text = languages.SMALL_WORDS[language]
    assert languages.other_than(text, language) == ""
    assert languages.other_than(text, "de" if language != "de" else "en") == languages.NAMES[language]


def test_a_finding_keeps_its_key_while_its_words_stay():
    def keys(text):
        return {item.rule: item.key for item in check(Subject(text))}

    first, longer, other = keys("Photo of a boat"), keys("Photo of a boat at sea"), keys("Picture of a boat")
    assert first["text-prefix"] == longer["text-prefix"] == keys("PHOTO of a boat")["text-prefix"]
    assert first["text-prefix"] != other["text-prefix"]
    assert keys("ab")["text-short"] != keys("cd")["text-short"]
    assert first["text-prefix"].startswith("text-prefix:")


def test_findings_about_one_text_have_different_keys():
    found = check(Subject("image of <b>x</b>\n=======> a\u202eb " + "y" * 300))
    assert len(found) > 4
    assert len({item.key for item in found}) == len(found)


def test_a_rule_that_the_site_switched_off_says_nothing(settings):
    settings.ALTTEXT = {**settings.ALTTEXT, "RULES_OFF": ["text-prefix", "text-control", "no-such-rule"]}
    assert ids("A photo of a boat") == []
    assert "text-control" in ids("a\u202eb is here")  # the form and the database refuse it anyway
    assert rules.switched_off() == {"text-prefix", "no-such-rule"}
    assert rules.wrongly_off() == ["text-control", "no-such-rule"]


@pytest.mark.parametrize("value", [None, "text-prefix", 3, {"text-prefix": True}, [None, ["x"]]])
def test_a_setting_that_is_no_list_of_names_switches_nothing_off(settings, value):
    settings.ALTTEXT = {**settings.ALTTEXT, "RULES_OFF": value}
    assert "text-prefix" in ids("A photo of a boat")


def test_all_rules_are_on_by_default():
    assert rules.switched_off() == frozenset()
    assert rules.wrongly_off() == []


def test_a_text_among_its_words_knows_what_stands_beside_it():
    words = Context(
        title="Harbour Days", headings=("Programme", "Boats"), before="First.\nLast before", after="First after\nMore",
        caption="The old harbour", link_target="/boats/", link_label="All boats", link_text_visible=True,
    )  # fmt: skip
    subject = Subject.in_place("x", words=words, language="en", role="informative", image_name="boat.png")
    assert subject.adjacent == ("The old harbour", "Boats", "Last before", "First after", "All boats")
    assert subject.around.split("\n") == [
        *("Harbour Days", "Programme", "Boats", "First.", "Last before", "First after", "More"),
        *("The old harbour", "All boats"),
    ]


def test_every_rule_is_in_the_documents_with_its_level_and_number():
    page = (ROOT / "docs/rules.md").read_text()
    for rule in rules.RULES.values():
        assert f"| `{rule.id}` | {rule.level} | {rule.checklist} |" in page


def test_every_number_of_the_checklist_is_answered_in_the_documents_by_things_that_exist():
    page = (ROOT / "docs/rules.md").read_text()
    rows = dict(re.findall(r"^\| (T\d+) \| (.*) \|$", page, re.M))
    assert list(rows) == [f"T{number}" for number in range(1, 23)]
    tests = "".join(file.read_text() for file in (ROOT / "tests").rglob("test_*.py"))
    for number, row in rows.items():
        for name in re.findall(r"`([^`]+)`", row):
            assert name in rules.RULES or f"def {name}(" in tests, (number, name)
        assert number not in {part for rule in rules.RULES.values() for part in rule.checklist.split(", ")} or any(
            rule.id in row for rule in rules.RULES.values()
        ), number


odd_pieces = [
    *(
        "image of ",
        "a photo of ",
        "Alt text: ",
        "AI-generated",
        "young man",
        "John Smith",
        "I'm sorry, I ",
        "A",
        "b",
        "1",
    ),
    *("**", "`", "<b>", "</b>", "&amp;", "[a](b)", "__", "(", ")", "-", ":-)", ".jpg", "\n", " ", ", "),
    *("\u202e", "\ufeff", "\u00a0", "\u200b", "e\u0301", "\ud800", "“", "”"),
]
anything = st.text(st.characters(), max_size=200) | st.lists(st.sampled_from(odd_pieces), max_size=12).map("".join)
places = st.fixed_dictionaries(
    {
        "language": st.sampled_from(["en", "de", "fr", "pl", "zh-Hans", "ar", "xx", ""]),
        "role": st.sampled_from(["unknown", "functional", "text", "complex", "informative"]),
        "image_name": anything,
        "around": anything,
        "link_target": anything,
        "adjacent": st.lists(anything, max_size=2).map(tuple),
    }
)


@settings(max_examples=150, deadline=None)
@given(anything, places)
def test_no_rule_fails_whatever_the_text_and_its_place(text, place):
    for finding in check(Subject(text, **place)):
        assert finding.rule in rules.RULES
        assert finding.message
        assert re.fullmatch(rf"{finding.rule}:[0-9a-f]{{16}}", finding.key)
        if finding.span:
            start, end = finding.span
            assert 0 <= start < end <= len(text)


@settings(max_examples=150, deadline=None)
@given(anything, places)
def test_a_mechanical_repair_is_free_of_the_rule_that_offered_it(text, place):
    for finding in check(Subject(text, **place)):
        if finding.repaired is not None:
            assert finding.rule not in ids(finding.repaired, **place)


@settings(max_examples=150, deadline=None)
@given(anything)
def test_normalising_twice_is_normalising_once(text):
    assert edits.normalise(edits.normalise(text)) == edits.normalise(text)


def test_nothing_is_changed_in_a_text_that_only_looks_odd():
    text = 'A sign reads "Stop."'
    assert ids(text) == []


@pytest.mark.parametrize(
    "text",
    [
        *("a " * 50_000, "<" * 100_000, "*" * 100_000, "é\n" * 50_000, "a-" * 50_000, "[" * 50_000 + "a" * 50_000),
        *("a" + "!" * 100_000 + "a", "a" + " " * 100_000 + "b", "photo of " * 10_000, "a, " * 30_000, "“" * 100_000),
        *("young " * 20_000, "John " * 20_000, "&" * 100_000, "aa" * 50_000, "_" * 100_000, "'a " * 30_000),
    ],
    ids=lambda text: f"{text[:4]!r} and on",
)
def test_huge_texts_take_no_longer_than_their_length(text):
    started = time.process_time()
    check(Subject(text, role="functional", link_target="/" + "a" * 500))
    assert time.process_time() - started < 2
