"""What is left of a model's answer: the bare text, and nothing where the model declined."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captioner.prepare import answers
from captioner.prepare.answers import clean, cut_to_sentence, is_other_language, is_refusal, language_of

WRAPPED = [
    "A dog on a red sofa.",
    "**Alt text:** A dog on a *red* sofa.",
    'Alt text: "A dog on a red sofa."',
    "Alt-Text: “A dog on a red sofa.”",
    "```\nA dog on a red sofa.\n```",
    '```json\n{"alt_text": "A dog on a red sofa."}\n```',
    '{"caption": "A dog on a red sofa.", "confidence": 0.9}',
    '<img src="dog.jpg" alt="A dog on a red sofa.">',
    'alt="A dog on a red sofa."',
    'Sure! Here is the alt text for the image:\n\n"A dog on a red sofa."\n\nLet me know if you need more.',
    "Here's a concise alt text: A dog on a red sofa.",
    "Certainly! Here you go:\n\nA dog on a red sofa.",
    "# Alt text\n\nA dog on a red sofa.\n\nThis alt text is short and clear.",
    "**Option 1 (short):** A dog on a red sofa.\n\n**Option 2:** A brown dog.",
    "- A dog on a red sofa.",
    "<think>The user wants alt text.</think>\nA dog on a red sofa.",
    "Reasoning without an opening tag</think>A dog on a red sofa.",
    "![A dog on a red sofa.](dog.jpg)",
    "A dog\non a red\u200b sofa.\n",
    "Alternativtext: A dog on a red sofa.",
    "Texte alternatif : «A dog on a red sofa.»",
    "Texto alternativo: A dog on a red sofa.",
    "Testo alternativo: A dog on a red sofa.",
    "Alternatieve tekst: A dog on a red sofa.",
]

KEPT = [
    "Sorry, we're closed",
    "I can't help falling in love with you",
    'A sign that says "Stop"',
    '"Stop" and "Go"',
    "5* Hotel and 3*4",
    "a snake_case_name",
    "Description of a process: mixing, then baking",
    "Captain: my captain",
    "1. Mix 2. Bake",
    "Nobody: a film poster",
    "No image is worth a thousand words",
    "None of the seats is taken",
    "Leider geschlossen",
    "Ich bin ein Berliner",
    "{not json",
]

REFUSED = [
    "I can't help with that.",
    "I’m sorry, but I can’t identify people in images.",
    "I'm unable to view images.",
    "As an AI language model, I cannot see images.",
    "Unfortunately, I cannot describe this.",
    "No image was provided.",
    "Please upload the image you would like described.",
    "Es tut mir leid, dabei kann ich nicht helfen.",
    "Ich kann diese Person nicht identifizieren.",
    "Je suis désolé, mais je ne peux pas vous aider.",
    "Lo siento, no puedo ayudar con eso.",
    "Mi dispiace, non posso aiutarti.",
    "Het spijt me, ik kan dat niet doen.",
    "Desculpe, não posso ajudar com isso.",
    '"I cannot assist with that request."',
    "N/A",
]


@pytest.mark.parametrize("raw", WRAPPED)
def test_the_text_comes_out_of_its_wrapping(raw):
    assert clean(raw) == answers.Answer("A dog on a red sofa.")


@pytest.mark.parametrize("text", KEPT)
def test_words_that_a_picture_may_show_stay(text):
    assert clean(text) == answers.Answer(text)


@pytest.mark.parametrize("raw", REFUSED)
def test_a_refusal_becomes_nothing(raw):
    assert clean(raw) == answers.Answer("", refused=True)


@pytest.mark.parametrize("raw", ["", "  \n", "```\n```", "<think>and then the limit came", '""', "[]", "{}"])
def test_an_empty_answer_is_empty_and_no_refusal(raw):
    assert clean(raw) == answers.Answer("")


def test_paragraphs_of_words_in_a_picture_are_all_kept():
    assert clean("# Sale\n\n50 % off\n\nToday only").text == "Sale 50 % off Today only"


@given(st.text(max_size=300))
def test_cleaning_gives_one_line_without_invisible_characters(raw):
    text = clean(raw).text
    assert text == " ".join(text.split())
    assert not answers.pagewords.INVISIBLE.search(text)


@pytest.mark.parametrize("raw", ["*" * 50_000, "<think>" * 9_000, "ik kan " + "geen " * 9_000, "_a_" * 20_000])
def test_a_hostile_answer_costs_no_time(raw):
    started = time.process_time()
    clean(raw)
    assert time.process_time() - started < 2


def test_an_answer_that_was_cut_ends_at_its_last_sentence():
    assert cut_to_sentence("A dog sits. It looks at the cam") == "A dog sits."
    assert cut_to_sentence("A 3.5 mm plug. And a") == "A 3.5 mm plug."
    assert cut_to_sentence("A dog on a") == "A dog on a"


SENTENCES = {
    "en": "A dog is sitting on the beach with a red ball.",
    "de": "Ein Hund sitzt mit einem roten Ball am Strand.",
    "fr": "Un chien est assis sur la plage avec un ballon.",
    "es": "Un perro sentado en la playa con una pelota y un niño.",
    "it": "Un cane è seduto sulla spiaggia con il pallone della bambina.",
    "nl": "Een hond zit met een rode bal op het strand.",
    "pt": "Um cão está sentado na praia com uma bola e dois meninos.",
}


@pytest.mark.parametrize("written", SENTENCES)
def test_a_plain_sentence_tells_its_language(written):
    assert language_of(SENTENCES[written]) == written
    assert [tag for tag in SENTENCES if not is_other_language(SENTENCES[written], tag)] == [written]


def test_a_language_tag_may_carry_a_region():
    assert not is_other_language(SENTENCES["de"], "de-AT")
    assert is_other_language(SENTENCES["de"], "en_GB")


@pytest.mark.parametrize("text", ["Stop", "Paris, 1998", "", "Golden Gate Bridge", "A sign reads “Rue de la Paix”"])
def test_what_cannot_be_told_is_not_marked(text):
    assert not is_other_language(text, "en")


def test_another_script_is_another_language():
    assert is_other_language("一只狗坐在沙滩上", "en")
    assert is_other_language("Собака на пляже", "fr")


def test_a_language_without_stop_words_here_is_never_marked():
    assert not is_other_language(SENTENCES["en"], "ja")


def test_a_refusal_inside_a_longer_text_is_no_refusal():
    assert not is_refusal("A poster with the words: I cannot help with that.")
