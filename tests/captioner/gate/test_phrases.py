"""Noun phrases of English texts: what is claimed, what is denied, what is one word, what is a name or a number."""

import subprocess
import sys

import pytest

from captioner.prepare import phrases
from captioner.prepare.phrases import PhraseKind


def lemmas(found, *kinds):
    return [phrase.lemma for phrase in (found.of(*kinds) if kinds else found.phrases)]


def test_one_chunk_with_a_verb_inside_gives_both_nouns(phraser):
    """spaCy reads "Smiling chef slicing tomatoes" as one chunk headed by tomatoes."""
    found = phraser.read("Smiling chef slicing tomatoes")
    assert lemmas(found) == ["chef", "tomato"]
    assert (found.attributes, found.actions) == (("smiling",), ("slicing",))


@pytest.mark.parametrize(
    ("text", "denied", "claimed"),
    [
        ("A street with no cars", ["car"], ["street"]),
        ("Three dogs without leashes or collars", ["leash", "collar"], ["dog", "three"]),
        ("A man and a woman, neither wearing a hat", ["hat"], ["man", "woman"]),
        ("There isn't a boat on the beach", ["boat"], ["beach"]),
        ("A man who doesn't have a dog", ["dog"], ["man"]),
        ("no cars and a dog", ["car"], ["dog"]),
    ],
)
def test_a_negated_noun_is_no_phrase(phraser, text, denied, claimed):
    found = phraser.read(text)
    assert [phrase.lemma for phrase in found.negated] == denied
    assert lemmas(found) == claimed


@pytest.mark.parametrize(
    ("text", "lemma", "concept"),
    [
        ("A red traffic light at night", "traffic light", "traffic light"),
        ("hot dogs on the grass", "hot dog", "hot dog"),
        ("Fire hydrant", "fire hydrant", "fire hydrant"),
        ("Golden Retriever on the lawn", "golden retriever", "golden retriever"),
        ("two buses at night", "bus", "bus"),
    ],
)
def test_the_longest_compound_is_one_head(phraser, text, lemma, concept):
    [phrase] = phraser.read(text).of(PhraseKind.OBJECT)
    assert (phrase.lemma, phrase.concepts) == (lemma, (concept,))


def test_without_the_forms_of_a_lexicon_the_vocabulary_gives_the_compounds(phraser):
    plain = phrases.load("en")
    assert plain is not None
    assert lemmas(plain.read("A traffic light")) == ["traffic light"]


def test_a_modifier_of_a_compound_is_an_attribute_and_its_head_a_phrase(phraser):
    found = phraser.read("A baseball player swinging a bat")
    assert lemmas(found) == ["player", "bat"]
    assert "baseball" in found.attributes


def test_the_phrase_keeps_its_adjectives_and_the_head_does_not(phraser):
    [phrase] = phraser.read("A red traffic light").phrases
    assert (phrase.text, phrase.head) == ("A red traffic light", "traffic light")


def test_a_word_for_people_claims_more_than_a_person(phraser):
    [chef] = phraser.read("A chef").phrases
    [person] = phraser.read("A person").phrases
    assert (chef.concepts, chef.claims_more) == (("person",), True)
    assert (person.concepts, person.claims_more) == (("person",), False)


@pytest.mark.parametrize(
    ("text", "name", "generic"),
    [
        ("Barack Obama speaking at a podium", "Barack Obama", "person"),
        ("The Eiffel Tower at night", "Eiffel Tower", "tower"),
        ("A Boeing 747 airplane on a runway", "Boeing 747", "airplane"),
        ("A cat named Max", "Max", None),
        ("A street in Paris", "Paris", None),
        ("A Swiss flag", "Swiss", None),
    ],
)
def test_a_proper_noun_is_a_name_and_knows_what_carries_it(phraser, text, name, generic):
    [phrase] = phraser.read(text).of(PhraseKind.NAME)
    assert phrase.head == name
    assert generic is None or generic in phrase.generic


def test_a_capital_at_the_start_makes_no_name(phraser):
    for text in ("Group of people", "Dog on a couch", "Skier on a slope", "Woman's hand"):
        assert not phraser.read(text).of(PhraseKind.NAME)


@pytest.mark.parametrize(
    "text", ["A sign reading “Stop here”", 'A sign says "Stop here"', "A sign that says Stop here"]
)
def test_words_said_to_stand_in_the_picture_are_text_and_no_things(phraser, text):
    found = phraser.read(text)
    assert lemmas(found, PhraseKind.TEXT) == ["stop here"]
    assert lemmas(found, PhraseKind.OBJECT) == ["sign"]


def test_an_apostrophe_opens_no_quotation(phraser):
    assert phraser.read("The dog's bowl beside the cat's toy").of(PhraseKind.TEXT) == ()


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Sales from 2010 to 2020, reaching 45%", ["2010", "2020", "45"]),
        ("Three dogs", ["three"]),
        ("A dozen eggs", ["dozen"]),
        ("One dog", []),
        ("Apollo 11 lands on the moon", []),
    ],
)
def test_numbers_are_phrases_unless_they_belong_to_a_name(phraser, text, numbers):
    assert lemmas(phraser.read(text), PhraseKind.NUMBER) == numbers


def test_words_of_the_frame_and_of_the_medium_have_kinds_of_their_own(phraser):
    found = phraser.read("A chart in the middle of a group of people in a field")
    kinds = {phrase.lemma: phrase.kind for phrase in found.phrases}
    assert kinds["chart"] is PhraseKind.MEDIUM
    assert kinds["group"] is PhraseKind.FRAME
    assert kinds["field"] is PhraseKind.SCENE
    assert kinds["people"] is PhraseKind.OBJECT


@pytest.mark.parametrize(
    ("text", "claimed"),
    [
        ("A bird pecks at fruit on a tree.", "bird"),
        ("A giraffe standing alone over some trees", "giraffe"),
        ("A refrigerator, oven and microwave sitting in a kitchen.", "microwave"),
        ("A kitchen with stove, window, and sink in it.", "sink"),
        ("Skier on a slope", "skier"),
    ],
)
def test_a_known_thing_is_claimed_though_the_tagger_mistakes_it(phraser, text, claimed):
    assert claimed in lemmas(phraser.read(text))


def test_a_synonym_names_its_concept_and_a_narrower_word_claims_more(phraser):
    [bike] = phraser.read("A bike").phrases
    [puppy] = phraser.read("A puppy").phrases
    assert (bike.concepts, bike.claims_more) == (("bicycle",), False)
    assert (puppy.concepts, puppy.claims_more) == (("dog",), True)


def test_capitals_alone_make_no_names(phraser):
    assert lemmas(phraser.read("A DOG ON A COUCH")) == ["dog", "couch"]


def test_a_close_up_is_a_frame(phraser):
    assert lemmas(phraser.read("A close-up of a dog"), PhraseKind.OBJECT) == ["dog"]


def test_an_empty_text_claims_nothing(phraser):
    assert phraser.read("") == phrases.Phrases()


def test_another_language_has_no_phraser():
    assert phrases.load("de-AT") is None
    assert phrases.load("fr") is None


def test_quotes_and_digits_are_found_in_any_language():
    found = phrases.bare("Ein Schild „Halt“ neben 3 Autos, 45 % teurer.")
    assert [(phrase.kind, phrase.head) for phrase in found.phrases] == [
        (PhraseKind.TEXT, "Halt"),
        (PhraseKind.NUMBER, "3"),
        (PhraseKind.NUMBER, "45"),
    ]


def test_a_machine_without_spacy_says_so(monkeypatch):
    phrases._model.cache_clear()
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(phrases.PhraserMissing, match="needs spaCy"):
        phrases.load("en")
    phrases._model.cache_clear()


def test_the_gate_is_imported_without_spacy_torch_or_numpy():
    code = (
        "import sys\n"
        "import captioner.prepare.phrases, captioner.rooms.gate.freetext, captioner.commands.calibrate\n"
        "assert not {'spacy', 'torch', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
