"""Hedging on made-up distributions over a made-up and over the shipped taxonomy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from captioner.rooms.encode.tags import Taxonomy, said
from captioner.training.taxonomy import ROOT, Synset, prune, read_names, read_wordnet

SMALL = {
    "classes": [["n1", "tabby cat"], ["n2", "Siamese cat"], ["n3", "collie"], ["n4", "espresso"]],
    "ancestors": [[ROOT, "", [0, 1, 2, 3]], ["n8", "cat", [0, 1]], ["n9", "animal", [0, 1, 2]]],
}
VAGUE = (
    "communication",
    "seat",
    "artifact",
    "instrumentality",
    "device",
    "structure",
    "container",
    "covering",
    "placental",
)


def chances(**named: float) -> np.ndarray:
    order = ("tabby", "siamese", "collie", "espresso")
    return np.array([named.get(name, 0.0) for name in order], dtype=np.float32)


@pytest.fixture(scope="module")
def shipped() -> Taxonomy:
    return Taxonomy.load()


def test_a_likely_class_is_said_by_name():
    tag = said(Taxonomy(SMALL).tags(chances(tabby=0.85, siamese=0.1, collie=0.05)))
    assert (tag.label, tag.leaf, tag.probability) == ("tabby cat", True, 0.85)


def test_two_half_likely_cats_are_a_cat():
    """.45 + .40 = .85 passes; the narrow name wins over "animal" at .95."""
    tags = Taxonomy(SMALL).tags(chances(tabby=0.45, siamese=0.4, collie=0.1, espresso=0.05))
    assert [(tag.label, tag.probability) for tag in tags[:2]] == [("cat", 0.85), ("animal", 0.95)]
    assert said(tags) == tags[0]


def test_an_undecided_picture_gets_no_name():
    tags = Taxonomy(SMALL).tags(chances(tabby=0.24, collie=0.24, espresso=0.45))
    assert said(tags) is None
    assert tags[0].label == "espresso"
    assert tags[0].leaf


def test_single_classes_follow_as_evidence_for_page_words():
    tags = Taxonomy(SMALL).tags(chances(tabby=0.5, siamese=0.1, collie=0.1, espresso=0.3))
    assert [tag.label for tag in tags if tag.leaf] == ["tabby cat", "espresso", "Siamese cat", "collie"]


def test_classes_of_one_name_add_up(shipped):
    laptops = [index for index, (_, name) in enumerate(shipped.classes) if name == "laptop computer"]
    assert len(laptops) == 2
    probabilities = np.zeros(1000, dtype=np.float32)
    probabilities[laptops], probabilities[0] = 0.45, 0.1
    tag = said(shipped.tags(probabilities))
    assert (tag.label, tag.probability) == ("laptop computer", 0.9)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), sharpness=st.floats(0.1, 8))
def test_everything_adds_up_to_one_at_the_root(seed, sharpness):
    taxonomy = Taxonomy.load()
    logits = np.random.default_rng(seed).normal(size=1000) * sharpness
    probabilities = np.exp(logits) / np.exp(logits).sum()
    sums = dict(zip((synset for synset, _ in taxonomy.ancestors), taxonomy.sums(probabilities), strict=True))
    assert sums[ROOT] == pytest.approx(1, abs=1e-5)
    assert all(0 <= value <= 1 + 1e-5 for value in sums.values())


def test_vague_and_technical_ancestors_are_never_said(shipped):
    names = {name for _, name in shipped.ancestors} - {""}
    assert names.isdisjoint(VAGUE)
    assert {"dog", "bird", "vehicle", "food"} <= names


def test_a_picture_of_seats_is_furniture_not_a_seat(shipped):
    seats = [index for index, (_, name) in enumerate(shipped.classes) if name in ("park bench", "toilet seat", "desk")]
    probabilities = np.zeros(1000, dtype=np.float32)
    probabilities[seats] = 1 / 3  # bench and toilet seat are seats, 2/3; bench and desk are furniture, 2/3
    assert said(shipped.tags(probabilities)).label == "furniture"


def test_a_toilet_is_not_furniture(shipped):
    probabilities = np.zeros(1000, dtype=np.float32)
    probabilities[[name for _, name in shipped.classes].index("toilet seat")] = 0.7
    assert said(shipped.tags(probabilities)) is None


def test_the_shipped_names_are_plain(shipped):
    assert len(shipped.classes) == 1000
    assert [shipped.classes[index][1] for index in (281, 967, 805)] == ["tabby cat", "espresso", "soccer ball"]
    assert not [name for _, name in shipped.classes if set(name) & set("_,()")]


def test_wordnet_lines_become_synsets_with_all_parents():
    lines = [
        "  1 This software and database is being provided to you\n",
        "02084071 05 n 03 dog 0 domestic_dog 0 Canis_familiaris 0 003 "
        "@ 02083346 n 0000 @ 01317541 n 0000 ~ 01322604 n 0000 | a member of the genus Canis\n",
    ]
    assert read_wordnet(lines) == {"n02084071": Synset("dog", ("n02083346", "n01317541"))}


def test_pruning_keeps_the_root_and_spoken_ancestors_only():
    wordnet = {
        "n1": Synset("tabby", ("n8",)),
        "n8": Synset("true cat", ("n7", "n9")),
        "n7": Synset("placental", ("n9",)),
        "n9": Synset("creature", (ROOT,)),
        ROOT: Synset("entity", ()),
    }
    pruned = prune(wordnet, ["n1"], read_names(["# by hand\n", "n8\tcat\n", "n9\tanimal\n"]))
    assert pruned["classes"] == [["n1", "tabby"]]
    assert pruned["ancestors"] == [[ROOT, "", [0]], ["n8", "cat", [0]], ["n9", "animal", [0]]]
