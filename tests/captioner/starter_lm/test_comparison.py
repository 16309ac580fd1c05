"""The table of systems, over rows that can be counted by hand."""

import csv
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from captioner.architectures.native import NativeWriter
from captioner.metrics.rows import Row
from captioner.training import comparison, systems
from captioner.training.systems import Answers, Seen
from captioner.types import PageContext
from tests.captioner.native import tiny
from tests.captioner.policy.sights import line, seen, sight, tag


def row(number, given, *, kind="photo", caption="", objects=None, references=(), content_hash="", pooled=None):
    name = f"line {number}: {number}.png"
    page = PageContext(caption=caption)
    made = Row(name, Path(f"{number}.png"), page, kind=kind, references=tuple(references), objects=objects)
    vector = np.ones(4) if pooled is None else np.array(pooled, dtype=float)
    return Seen(made, b"", content_hash or str(number), Image.new("RGB", (4, 4)), given, vector)


DOG, CAT, PERSON = (sight("photo", seen(label)) for label in ("dog", "cat", "person"))
ROWS = [
    row(1, DOG, caption="A puppy sleeps", references=["A dog on a rug."], objects=frozenset({"dog"})),
    row(2, CAT, caption="A castle", references=["A cat on a rug."], objects=frozenset({"cat"})),
    row(3, PERSON, caption="Mark Twain writes", references=["A man writes."], objects=frozenset({"person"})),
    row(4, sight("chart"), kind="chart", caption="Sales rise", references=["A bar chart."]),
]


def answers(*texts) -> Answers:
    return Answers("x", "by hand", list(texts), 2.0)


def test_a_line_counts_what_was_said(phraser):
    """Three of four rows have a text. "A dog" is right; "A horse" is in no human text; "A person" stands for the man.

    Lengths: "A dog" 5, "A horse" 7, "A person" 8 graphemes; mean 20 / 3 = 6.7. 2 s over four rows are .5 s a row.
    """
    line_ = comparison.line(answers("A dog", "A horse", "A person", None), ROWS, phraser)
    assert (line_["n"], line_["coverage"]["k"], line_["coverage"]["n"]) == (4, 3, 4)
    assert (line_["unmentioned"]["k"], line_["unmentioned"]["n"]) == (1, 3)
    assert (line_["graphemes"], line_["seconds"]) == (6.7, 0.5)
    assert (line_["distinct"]["k"], line_["distinct"]["n"]) == (3, 3)
    assert (line_["chair_s"]["k"], line_["chair_s"]["n"]) == (1, 3)  # the horse, among three labelled rows with a text


def test_a_system_that_is_silent_divides_by_nothing(phraser):
    line_ = comparison.line(answers(None, None, None, None), ROWS, phraser)
    assert line_["coverage"]["share"] == 0
    assert (line_["graphemes"], line_["unmentioned"]["share"], line_["cider_offered"]) == (None, None, None)


def test_a_copied_caption_is_counted_as_repeated(phraser):
    """All word trigrams of "Mark Twain writes" stand in its caption; "A dog" has none."""
    line_ = comparison.line(answers("A dog", None, "Mark Twain writes", None), ROWS, phraser)
    assert (line_["caption_repeated"]["k"], line_["caption_repeated"]["n"]) == (1, 2)


def test_texts_that_say_the_same_are_not_distinct(phraser):
    line_ = comparison.line(answers("A dog", "A dog", None, None), ROWS, phraser)
    assert (line_["distinct"]["k"], line_["distinct"]["n"]) == (1, 2)


def test_pages_are_swapped_inside_a_kind_and_nobody_keeps_their_own():
    partners = comparison.swap(ROWS).partners
    assert sorted(partners[:3]) == [0, 1, 2]
    assert all(place != partner for place, partner in enumerate(partners))
    assert partners[3] is None
    contexts = comparison.swapped_contexts(ROWS)
    assert contexts[3] == ROWS[3].row.context
    assert [one.caption for one in contexts[:3]] == [ROWS[partner].row.context.caption for partner in partners[:3]]


def test_one_picture_on_two_pages_does_not_meet_itself():
    rows = [row(1, DOG, content_hash="a"), row(2, DOG, content_hash="a"), row(3, CAT), row(4, CAT)]
    assert set(comparison.swap(rows).partners[:2]) == {2, 3}


def test_the_swap_is_the_same_on_every_run():
    assert comparison.swap(ROWS) == comparison.swap(list(ROWS))


PAGES = [PageContext(caption=caption) for caption in ("A castle", "Mark Twain writes", "A puppy sleeps")]


@pytest.mark.parametrize(
    ("texts", "copied", "written"),
    [
        (("A castle", "A cat", "A person"), 1, 3),
        (("A castle", "Mark Twain", "A puppy"), 3, 3),
        (("A dog", "A cat", "A person"), 0, 3),
        (("A castle", None, None), 1, 1),
        (("A dog", "A castle", "A person"), 0, 3),
    ],
    ids=["a castle of the swapped page", "all", "none", "silent rows", "a word of the own page"],
)
def test_a_text_with_a_word_of_the_swapped_page_is_a_copy(texts, copied, written, phraser):
    """Row 1 sees a dog under the page of a castle, row 2 a cat under Mark Twain's, row 3 a person under the puppy's."""
    found = comparison.copied(answers(*texts), PAGES, ROWS[:3], phraser)
    assert (found["k"], found["n"]) == (copied, written)


@pytest.mark.parametrize(
    "given",
    [
        sight("photo", seen("horse", 0.3)),
        sight("photo", tags=[tag("beagle", 0.9)], lines=[line("Horse")]),
    ],
    ids=["seen", "read"],
)
def test_what_was_seen_or_read_is_no_copy(given, phraser):
    pair, pages = [row(1, given), row(2, sight("photo", seen("cat")))], [PageContext(caption="A horse"), PageContext()]
    found = comparison.copied(answers("A horse", None), pages, pair, phraser)
    assert (found["k"], found["n"]) == (0, 1)


def test_what_was_hardly_seen_excuses_no_copy(phraser):
    pair = [row(1, sight("photo", seen("horse", 0.29))), row(2, sight("photo", seen("cat")))]
    pages = [PageContext(caption="A horse"), PageContext()]
    found = comparison.copied(answers("A horse", None), pages, pair, phraser)
    assert (found["k"], found["words"]) == (1, {"horse": 1})


def test_an_improbable_kind_excuses_no_copy(phraser):
    """The picture is a photo by .95; that the classifier also lists "map" makes no map."""
    given = sight("photo", seen("dog"))
    given = type(given)(**{**{k: getattr(given, k) for k in given.__slots__}, "kinds": {"photo": 0.95, "map": 0.001}})
    pair, pages = (
        [row(1, given), row(2, sight("photo", seen("cat")))],
        [PageContext(caption="A map of Rome"), PageContext()],
    )
    found = comparison.copied(answers("A map", None), pages, pair, phraser)
    assert found["k"] == 1


def test_a_row_without_a_partner_is_left_out_of_the_copy_rate(phraser):
    """Row 4 is the only chart; `Swap.alone` says that such places are left out of every rate."""
    found = comparison.copied(answers("A", "A", "A", "A chart"), comparison.swapped_contexts(ROWS), ROWS, phraser)
    assert found["n"] == 3


def test_nouns_are_the_words_of_names_and_the_last_words_of_nouns(phraser):
    assert comparison.nouns("Mark Twain holds two dogs beside a fire hydrant", phraser) >= {
        "mark", "twain", "dog", "hydrant"}  # fmt: skip


def test_the_caption_is_copied_without_its_credit():
    rows = [row(1, DOG, caption="A puppy (credit: Ada)"), row(2, DOG, caption="(credit: Ada)"), row(3, DOG)]
    assert systems.captions(rows).texts == ["A puppy", None, None]


def test_the_nearest_text_is_that_of_the_smallest_angle():
    """Cosine and not distance: (10, 1) is nearer to (1, 0) than (0, 1) is, though further away."""
    rows = [row(1, DOG, pooled=[1, 0]), row(2, DOG, pooled=[0, 3])]
    known = np.array([[10.0, 1.0], [0.0, 1.0]])
    assert systems.nearest(rows, known, ["far along", "up"]).texts == ["far along", "up"]


@pytest.fixture(scope="module")
def writer(tmp_path_factory):
    weights = tmp_path_factory.mktemp("weights")
    with torch.random.fork_rng():
        tiny.llama(weights / "llama")
        return NativeWriter(tiny.native(weights, "llama"), tiny.Patches())


def test_without_the_page_a_text_is_as_likely_on_any_page(writer):
    """Two rows with one picture and one text on two pages: equal without the page, different with it."""
    rows = [row(1, DOG, caption="A puppy sleeps"), row(2, DOG, caption="A castle")]
    for page, equal in ((False, True), (True, False)):
        (one, _), (other, _) = systems.losses(rows, ["A dog.", "A dog."], [0, 1], writer, tags=True, page=page)
        assert (one == pytest.approx(other, abs=1e-4)) is equal


def test_the_gap_is_measured_with_and_without_the_page(writer):
    found = [comparison.gap(ROWS[:3], writer, page=page) for page in (True, False)]
    assert [one["n"] for one in found] == [3, 3]
    assert found[0]["right"] != found[1]["right"]
    assert comparison.gap(ROWS[:1], writer) is None


@pytest.mark.parametrize(
    ("text", "ended", "kept"),
    [("A dog. A ca", False, "A dog."), ("A dog. A ca", True, "A dog. A ca"), ("A dog and a", False, "A dog and a")],
)
def test_a_text_that_was_cut_keeps_its_whole_sentences(text, ended, kept):
    assert systems.finished(text, ended=ended) == kept


def test_every_system_has_a_column(tmp_path):
    place = tmp_path / "texts.csv"
    comparison.write(place, ROWS, [answers("A dog", None, "A, b", None)])
    with place.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    assert lines[0] == ["row", "image", "kind", "seen_kind", "caption", "x"]
    assert [one[5] for one in lines[1:]] == ["A dog", "", "A, b", ""]
    assert lines[4][2:5] == ["chart", "chart", "Sales rise"]
