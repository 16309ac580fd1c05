"""Articles, plurals and lists in both languages; every word that can be said is well formed."""

import pytest

from captioner.prepare.vocabulary import vocabulary
from captioner.rooms.decode import wording

GERMAN = [
    ("person", "eine Person", "Personen"),
    ("dog", "ein Hund", "Hunde"),
    ("cat", "eine Katze", "Katzen"),
    ("horse", "ein Pferd", "Pferde"),
    ("boat", "ein Boot", "Boote"),
    ("bench", "eine Bank", "Bänke"),
    ("book", "ein Buch", "Bücher"),
    ("clock", "eine Uhr", "Uhren"),
    ("kite", "ein Drachen", "Drachen"),
    ("scissors", "eine Schere", "Scheren"),
    ("skis", "Skier", "Skier"),
    ("broccoli", "Brokkoli", "Brokkoli"),
    ("bread", "Brot", "Brot"),
    ("food", "Essen", "Essen"),
    ("clothing", "Kleidung", "Kleidung"),
    ("furniture", "ein Möbelstück", "Möbel"),
    ("german shepherd", "ein Deutscher Schäferhund", "Deutsche Schäferhunde"),
    ("giant panda", "ein Großer Panda", "Große Pandas"),
    ("sunglasses", "eine Sonnenbrille", "Sonnenbrillen"),
    ("seashore", "ein Strand", "Strände"),
    ("tv", "ein Bildschirm", "Bildschirme"),
    ("cell phone", "ein Handy", "Handys"),
]
ENGLISH = [
    ("person", "a person", "people"),
    ("umbrella", "an umbrella", "umbrellas"),
    ("orange", "an orange", "oranges"),
    ("unicycle", "a unicycle", None),
    ("sheep", "a sheep", "sheep"),
    ("knife", "a knife", "knives"),
    ("mouse", "a computer mouse", "computer mice"),
    ("scissors", "scissors", "scissors"),
    ("skis", "skis", "skis"),
    ("broccoli", "broccoli", "broccoli"),
    ("espresso", "an espresso", "espressos"),
    ("hourglass", "an hourglass", "hourglasses"),
    ("golden retriever", "a golden retriever", "golden retrievers"),
]


@pytest.mark.parametrize(("concept", "one", "many"), GERMAN)
def test_german_has_the_right_article_and_plural(concept, one, many):
    book = wording.lexicon("de")
    assert (book.say(concept), book.say(concept, many=True)) == (one, many)


@pytest.mark.parametrize(("concept", "one", "many"), ENGLISH)
def test_english_has_the_right_article_and_plural(concept, one, many):
    book = wording.lexicon("en")
    assert (book.say(concept), book.say(concept, many=True)) == (one, many)


@pytest.mark.parametrize(
    ("phrases", "language", "expected"),
    [
        (["a cat"], "en", "A cat"),
        (["a cat", "a dog"], "en", "A cat and a dog"),
        (["a cat", "a dog", "people"], "en", "A cat, a dog and people"),
        (["ein Hund", "Personen"], "de", "Ein Hund und Personen"),
        (["ein Hund", "eine Katze", "Brot"], "de-CH", "Ein Hund, eine Katze und Brot"),
    ],
)
def test_a_list_reads_like_one(phrases, language, expected):
    assert wording.listing(phrases, language) == expected


@pytest.mark.parametrize("language", wording.LANGUAGES)
def test_every_class_of_the_detector_has_a_word_and_a_plural(language):
    book = wording.lexicon(language)
    classes = [concept.name for concept in vocabulary().concepts.values() if concept.coco]
    assert len(classes) == 80
    assert [name for name in classes if not book.say(name) or not book.say(name, many=True)] == []


@pytest.mark.parametrize("language", wording.LANGUAGES)
def test_every_word_of_a_lexicon_belongs_to_the_vocabulary(language):
    assert set(wording.lexicon(language).names) <= set(vocabulary().concepts)


def test_german_nouns_are_capitalised_and_have_a_known_article():
    for one, many in wording.lexicon("de").names.values():
        article, _, noun = one.rpartition(" ") if one.startswith(("ein ", "eine ")) else ("", "", one)
        assert noun[0].isupper(), one
        assert many[0].isupper(), many
        assert article.split(" ")[0] in ("", "ein", "eine"), one


def test_english_articles_follow_the_sound():
    silent_h, consonant_u = ("hour",), ("uni", "euro", "one")
    for one, _ in wording.lexicon("en").names.values():
        article, _, noun = one.partition(" ")
        if article not in ("a", "an"):
            continue
        low = noun.lower()
        vowel = (low[0] in "aeiou" or low.startswith(silent_h)) and not low.startswith(consonant_u)
        assert (article == "an") is vowel, one


def test_nothing_that_can_be_said_tells_sex_age_or_origin_of_people():
    told = {
        "man",
        "woman",
        "boy",
        "girl",
        "child",
        "baby",
        "mann",
        "frau",
        "junge",
        "mädchen",
        "kind",
        "abaya",
        "groom",
    }
    for language in wording.LANGUAGES:
        for forms in wording.lexicon(language).names.values():
            assert not told & {word for form in forms for word in form.lower().split()}


def test_a_language_without_a_lexicon_is_an_error_for_whoever_asks():
    with pytest.raises(KeyError):
        wording.lexicon("fr")


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("one two three", 7, "one two"),
        ("one two three", 100, "one two three"),
        ("unbreakable", 3, "unbreakable"),
        ("a é b", 3, "a é"),
    ],
)
def test_a_beginning_ends_with_a_whole_word(text, limit, expected):
    assert wording.beginning(text, limit) == expected
