"""CHAIR's question: which of 80 classes does a text name?"""

import pytest

from captioner.metrics.objects import mentioned, plural


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("A man and two women ride bikes.", ["person", "person", "bicycle"]),
        ("A hot dog on a bun", ["hot dog"]),
        ("Two dogs and hotdogs", ["dog", "hot dog"]),
        ("A teddy bear on a bed", ["teddy bear", "bed"]),
        ("A grizzly bear", ["bear", "bear"]),
        ("A baseball bat and a baseball glove", ["baseball bat", "baseball glove"]),
        ("A baseball game", []),
        ("Knives, buses and sheep", ["knife", "bus", "sheep"]),
        ("A motor bike", ["motorcycle"]),
        ("A train car", ["train"]),
        ("Category theory, carpets and doggerel", []),
        ("TRAFFIC LIGHT", ["traffic light"]),
        ("a cell-phone", []),
        ("", []),
    ],
)
def test_classes_are_found_by_whole_words_longest_first(text, classes):
    assert mentioned(text) == classes


@pytest.mark.parametrize(
    ("one", "many"), [("cat", "cats"), ("bus", "buses"), ("cherry", "cherries"), ("toy", "toys"), ("bench", "benches")]
)
def test_plurals_are_regular(one, many):
    assert plural(one) == many
