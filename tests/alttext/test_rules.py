"""Lint rules: what each finds, and the known false positives and misses of other checkers."""

from __future__ import annotations

import time

import pytest

from alttext import rules
from alttext.rules import Subject, check


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
    ],
)
def test_rules_speak_the_language_of_the_text(text, language, rule):
    assert rule in ids(text, language=language)


def test_a_blank_text_has_one_finding_only():
    assert ids("\u00a0\u200b") == ["alt-blank"]


def test_only_illegal_characters_and_blanks_are_errors():
    levels = {name: rule.level for name, rule in rules.RULES.items()}
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


def test_nothing_is_changed_in_a_text_that_only_looks_odd():
    text = 'A sign reads "Stop."'
    assert ids(text) == []


@pytest.mark.parametrize(
    "text", ["a " * 50_000, "<" * 100_000, "*" * 100_000, "é\n" * 50_000, "a-" * 50_000, "[" * 50_000 + "a" * 50_000]
)
def test_huge_texts_take_no_longer_than_their_length(text):
    started = time.process_time()
    check(Subject(text, role="functional", link_target="/" + "a" * 500))
    assert time.process_time() - started < 2
