"""CIDEr-D by hand and against pycocoevalcap 1.2; CLIPScore by hand."""

import json
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captioner.metrics.similarity import Frequencies, cider_d, clip_score, tokens

VOCABULARY = ["a", "the", "man", "dog", "red", "ball", "on", "in", "street", "runs", "bus", "cat", "with", "two"]


def fixture(seed, images, references):
    """Random captions and 1 to `references` references an image."""
    generator = random.Random(seed)

    def sentence():
        return " ".join(generator.choice(VOCABULARY) for _ in range(generator.randint(1, 14)))

    texts = [sentence() for _ in range(images)]
    return texts, [[sentence() for _ in range(generator.randint(1, references))] for _ in range(images)]


# printed by pycocoevalcap 1.2, Cider().compute_score, numpy 2.4.6, on `fixture`
FROZEN = [
    ((1, 12, 5), 0.5046177076398064, [0.24510500405117341, 0.3956269514044466, 0.13280037154947777]),
    ((2, 5, 1), 0.2617626623667656, [0.17683881358779835, 0.025993659880865508, 0.11604255425630838]),
    ((3, 30, 5), 0.47515681590650727, [0.5193241718257562, 0.8030074511274528, 0.0]),
    ((4, 1, 3), 0.0, [0.0]),
    ((5, 2, 2), 0.3574824483777771, [0.2029077920989686, 0.5120571046565856]),
]


@pytest.mark.parametrize(("sizes", "score", "scores"), FROZEN)
def test_it_gives_the_numbers_that_pycocoevalcap_gave(sizes, score, scores):
    found = cider_d(*fixture(*sizes), cut=str.split)
    assert found.score == pytest.approx(score, abs=1e-12)
    assert found.scores[: len(scores)] == pytest.approx(scores, abs=1e-12)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(10, 20))
def test_it_agrees_with_pycocoevalcap_itself(seed):
    library = pytest.importorskip("pycocoevalcap.cider.cider", reason="pycocoevalcap is not installed")
    texts, references = fixture(seed, 15, 5)
    score, scores = library.Cider().compute_score(dict(enumerate(references)), {n: [t] for n, t in enumerate(texts)})
    found = cider_d(texts, references, cut=str.split)
    assert found.score == pytest.approx(float(score), abs=1e-12)
    assert found.scores == pytest.approx([float(one) for one in scores], abs=1e-12)


def test_two_images_come_out_as_worked_by_hand():
    """Two documents, nothing shared: every n-gram weighs ln 2. "red dog" against "red dog runs".

    1-grams: (1+1)/(√2·√3) = .8165; 2-grams: 1/(1·√2) = .7071; longer: 0. Lengths in bigrams 1 and 2: e^(-1/72) = .9862.
    10 · .9862 · (.8165 + .7071)/4 = 3.7565.
    """
    found = cider_d(["red dog", "x"], [["red dog runs"], ["blue sky"]])
    by_hand = 10 * math.exp(-1 / 72) * (2 / math.sqrt(6) + 1 / math.sqrt(2)) / 4
    assert found.scores == (pytest.approx(by_hand, abs=1e-12), 0.0)
    assert by_hand == pytest.approx(3.7565, abs=5e-5)


def test_a_long_enough_copy_of_the_only_reference_scores_ten():
    found = cider_d(["a red dog runs", "b"], [["a red dog runs"], ["one two three four"]])
    assert found.scores[0] == pytest.approx(10, abs=1e-12)


def test_one_image_scores_nothing_without_a_table():
    assert cider_d(["red dog"], [["red dog"]]).score == 0


def test_a_fixed_table_makes_parts_compare_with_the_whole():
    texts, references = fixture(6, 10, 4)
    table = Frequencies.of(references)
    whole = cider_d(texts, references, frequencies=table)
    parts = [cider_d([text], [own], frequencies=table).scores[0] for text, own in zip(texts, references, strict=True)]
    assert whole.scores == tuple(parts)
    assert cider_d(texts[:5], references[:5]).scores != whole.scores[:5]
    assert whole.documents == 10


def test_a_table_survives_json():
    table = Frequencies.of([["The dog's bone, red", "a dog"], ["a cat"]])
    again = Frequencies.from_json(json.loads(json.dumps(table.as_json())))
    assert again == table
    assert table.counts[("a",)] == 2
    assert table.counts[("dog's", "bone", "red")] == 1


def test_tokens_drop_case_and_punctuation_and_keep_inner_apostrophes():
    assert tokens("A man's “Hat”, size 12-B!") == ["a", "man's", "hat", "size", "12", "b"]


@given(st.integers(0, 10_000))
def test_scores_stay_in_range_and_do_not_depend_on_the_order_of_references(seed):
    texts, references = fixture(seed, 4, 4)
    found = cider_d(texts, references)
    assert all(0 <= score <= 10 + 1e-9 for score in found.scores)
    turned = cider_d(texts, [own[::-1] for own in references])
    assert found.scores == pytest.approx(turned.scores, abs=1e-12)


@pytest.mark.parametrize("references", [[["x"]], [["x"], []]])
def test_a_text_without_references_is_refused(references):
    with pytest.raises(ValueError, match="at least one"):
        cider_d(["x", "y"], references)


def test_clip_score_is_two_and_a_half_times_the_cosine_and_never_negative():
    """cos((3,4),(4,3)) = 24/25 = .96, so 2.4; opposite rows give 0, not -2.5; mean 1.2."""
    found = clip_score([(3, 4), (1, 0)], [(4, 3), (-2, 0)], model="ViT-B/32")
    assert found.scores == (pytest.approx(2.4), 0.0)
    assert found.score == pytest.approx(1.2)
    assert (found.weight, found.prefix, found.model) == (2.5, "A photo depicts ", "ViT-B/32")


def test_the_length_of_a_row_does_not_matter():
    one = clip_score([(1.0, 2.0, 3.0)], [(0.5, 0.1, 0.2)], model="any")
    other = clip_score([(10.0, 20.0, 30.0)], [(5.0, 1.0, 2.0)], model="any")
    assert one.scores == pytest.approx(other.scores)


@pytest.mark.parametrize(("images", "texts"), [([(0, 0)], [(1, 0)]), ([(1, 0)], [(1, 0, 0)]), ([(1, 0)], [])])
def test_rows_that_do_not_match_are_refused(images, texts):
    with pytest.raises(ValueError, match="zeros|shorter|longer"):
        clip_score(images, texts, model="any")
