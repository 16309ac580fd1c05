"""Fitting the visibility table on made pages whose habits are known."""

import itertools
import json
import random

import numpy as np
import pytest
from PIL import Image

from captioner.prepare.hashes import content_hash
from captioner.prepare.phrases import PhraseKind
from captioner.prepare.vocabulary import vocabulary
from captioner.rooms.gate.visibility import FEATURES, Visibility
from captioner.training import corpus, features
from captioner.training import visibility as training
from captioner.training.features import Seen
from captioner.training.visibility import Question
from tests.captioner.starter_lm.worlds import name, noun

TREE = vocabulary()


def question(lemma, named, *, place="caption", group="Book", rank=0):
    return Question(f"{group}.png", noun(lemma, places=(place,), rank=rank), {}, named, group)


def habits(seed=0, size=400):
    """ "statue" is named in nine of ten, "economy" in one of ten, forty other words in three of ten."""
    draw = random.Random(seed)
    shares = {"statue": 0.9, "economy": 0.1, **{f"word{chr(97 + i % 26)}{i // 26}": 0.3 for i in range(40)}}
    lemmas = list(shares)
    picked = [draw.choice([*lemmas, *["statue", "economy"] * 10]) for _ in range(size)]
    return [question(lemma, draw.random() < shares[lemma], rank=draw.randrange(3)) for lemma in picked]


def test_a_word_that_is_often_named_gets_a_higher_chance():
    table = training.fit(habits(), TREE)
    statue, unknown, economy = (table.chance(noun(lemma), {}, TREE) for lemma in ("statue", "zeppelin", "economy"))
    assert statue > 0.7 > unknown > economy
    assert economy < 0.25


def test_the_counts_are_those_of_the_questions_and_rare_words_have_none():
    asked = [question("statue", True)] * 2 + [question("statue", False), question("rare", True), question("rare", True)]
    table = training.fit(asked, TREE)
    assert table.counts == {"statue": (3, 2)}
    assert table.base == 4 / 5


def test_the_weights_are_where_the_penalised_likelihood_is_highest():
    """There the slope of each weight is 0: sum of (truth - chance) x equals the ridge times the weight.

    Weights are rounded to four places, so the slope may be off by .00005 times the curve, about .1 for 400 rows.
    """
    asked = habits()
    table = training.fit(asked, TREE)
    rows = np.array([training._row(one, table, TREE, own=True) for one in asked])
    weights = np.array([table.weights[feature] for feature in FEATURES])
    chance = 1 / (1 + np.exp(-rows @ weights))
    slope = rows.T @ (np.array([one.named for one in asked]) - chance) - training.RIDGE * weights
    assert np.abs(slope).max() < 0.2


def test_a_word_does_not_learn_from_its_own_outcome():
    """200 words, each three times, with all eight threes of outcomes equally often: what two rows of a word say of the
    third is exactly nothing, so the weight is 0. A prior that held the row's own outcome would get a large one.
    """
    threes = list(itertools.product([True, False], repeat=3)) * 25
    letters = itertools.product("abcdefghij", "abcdefghij", "ab")
    asked = [
        question(f"w{''.join(word)}", named) for word, three in zip(letters, threes, strict=True) for named in three
    ]
    table = training.fit(asked, TREE)
    assert len(table.counts) == 200
    assert abs(table.weights["prior"]) < 0.01


def test_a_row_leaves_its_own_outcome_out_only_while_fitting():
    table = Visibility(dict.fromkeys(FEATURES, 0.0), {"statue": (8, 6)}, 0.1, {})
    one, at = question("statue", True), FEATURES.index("prior")
    assert training._row(one, table, TREE, own=True)[at] == pytest.approx(np.log(5.4 / 5.6))
    assert training._row(one, table, TREE, own=False)[at] == pytest.approx(np.log(6.4 / 5.6))
    rare = question("zeppelin", True)
    assert training._row(rare, table, TREE, own=True) == training._row(rare, table, TREE, own=False)


def test_a_book_is_held_out_whole_and_about_a_quarter_are():
    """Of 2,000 titles 500 are expected, with a deviation of sqrt(2000 * .25 * .75) = 19."""
    titles = [f"Book {number}" for number in range(2000)]
    held = {title for title in titles if training.is_held_out(title)}
    assert 420 < len(held) < 580
    assert held == {title for title in titles if training.is_held_out(title)}
    assert not training.is_held_out("Book 1", 0.0)
    assert training.is_held_out("Book 1", 1.0)


def test_the_measures_are_those_of_a_hand():
    """Chances are all .5 (weights 0): the loss is log 2 = .6931. Two of three named: base .6667, loss .6365."""
    table = Visibility(dict.fromkeys(FEATURES, 0.0), {}, 0.5, {})
    asked = [question("statue", True), question("dog", False), Question("b.png", name("Mark Twain"), {}, True, "B")]
    found = training.measures(table, asked, TREE)
    assert (found["n"], found["pages"], found["named"]) == (3, 2, 0.6667)
    assert (found["log_loss"], found["log_loss_of_base_rate"]) == (0.6931, 0.6365)
    assert (found["names_from_0.5"], found["words_from_0.5"], found["words_from_0.6"]) == ([1, 1], [1, 2], [0, 0])


@pytest.mark.parametrize(
    ("candidate", "said", "concepts", "named"),
    [
        (noun("statue"), {"statue"}, set(), True),
        (noun("statue"), {"bronze statue"}, set(), True),
        (noun("statue"), {"statue base"}, set(), False),
        (noun("dog", "dog"), {"beagle"}, {"beagle"}, True),
        (noun("nurse", "person"), {"man"}, {"person"}, False),
        (name("Mark Twain"), {"twain"}, set(), True),
        (name("Mark Twain"), {"mark"}, set(), False),
        (noun("park", kind=PhraseKind.SCENE), set(), set(), False),
    ],
    ids=["lemma", "compound", "other compound", "narrower", "nurse of a man", "last name", "first name", "silence"],
)
def test_what_counts_as_named(candidate, said, concepts, named):
    assert training.is_named(candidate, dict.fromkeys(said), concepts, TREE) is named


def picture_seen() -> Seen:
    """Of a picture that the kind classifier calls photo or art: other kinds are written about by rules."""
    for seed in range(200):
        draw = np.random.default_rng(seed)
        pooled = np.abs(draw.standard_normal(1280)).astype(np.float16)
        one = Seen(np.zeros((9, 1280), np.float16), pooled, np.full(1000, 0.001, np.float16), np.zeros(18, np.float32))
        if corpus.kind_of(one) in corpus.PICTURES:
            return one
    pytest.fail("no random vector is a photo")


@pytest.mark.slow
def test_a_file_of_pages_becomes_a_table_with_whole_books_held_out(phraser, tmp_path, capsys):
    """40 books of one page each; a farmer in the caption is always named, the field never."""
    folder, cache, lines = tmp_path / "set", tmp_path / "cache", []
    folder.mkdir()
    for number in range(40):
        Image.new("RGB", (8, 8), (number, 0, 0)).save(folder / f"{number}.png")
        page = {"page_title": f"Book {number}", "caption": "A farmer stands in a field."}
        lines.append({"image": f"{number}.png", "alt": "A farmer at work in the morning.", **page})
    (folder / "train.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    (cache / "set_train").mkdir(parents=True)
    names = [f"{number}.png" for number in range(40)]
    keys = [content_hash((folder / name).read_bytes()) for name in names]
    features._save(cache / "set_train" / "0-40.npz", keys, names, [picture_seen()] * 40)
    out = tmp_path / "visibility.json"
    training.main([str(folder / "train.jsonl"), "--features", str(cache), "--out", str(out)])
    table = Visibility.from_json(json.loads(out.read_text("utf-8")))
    held = sum(training.is_held_out(f"Book {number}") for number in range(40))
    assert 0 < held < 40
    assert table.card["held_out_books"]["pages"] == held
    assert table.card["fitted_on"]["pages"] == 40 - held
    assert table.counts["farmer"] == (40 - held, 40 - held)
    assert table.counts["field"] == (40 - held, 0)
    caption = {"rank": 0, "places": ("caption",)}
    assert table.chance(noun("farmer", "person", **caption), {}, TREE) > 0.8
    assert table.chance(noun("field", kind=PhraseKind.SCENE, rank=1), {}, TREE) < 0.2
    assert json.loads(capsys.readouterr().out)["held_out_books"]["pages"] == held
