"""The funnel counts what it drops; draws are fixed; a tiny open_clip model gives the cosines."""

from __future__ import annotations

import dataclasses
import random

import pytest
from scipy.stats import binom

from captioner.funnel import filters, splits
from captioner.funnel.records import Record
from captioner.types import PageContext
from tests.conftest import picture


def record(number, **fields):
    whole = {
        "name": f"item {number}", "image": None, "content_hash": f"{number:064x}", "context": PageContext(),
        "target": f"A picture of number {number}", "source": "made up", "licence": "CC0",
    }  # fmt: skip
    return Record(**(whole | fields))


def by_number(records):
    """A stand-in for a model: cosine .00, .01, ... .99 by the number of the record."""
    return [int(item.content_hash, 16) % 100 / 100 for item in records]


def without_flags(records):
    return [dataclasses.replace(item, flags=()) for item in records]


def test_the_cosine_filter_keeps_from_the_threshold_on_and_counts_the_rest():
    """.00 to .27 are 28 records below .28; .28 itself goes on: 72 of 100."""
    funnel = filters.Funnel([filters.cosine(by_number)], unfiltered_share=0, salt="s")
    kept = list(funnel.run(record(number) for number in range(100)))
    assert [int(item.content_hash, 16) for item in kept] == list(range(28, 100))
    count = funnel.report()["filters"]["cosine of at least 0.28"]
    assert (count["came"], count["went_on"], count["spared"]) == (100, 72, 0)
    assert count["reasons"] == {
        "cosine under 0.28": {"count": 28, "examples": [f"item {number}" for number in range(5)]}
    }


def test_the_unfiltered_sample_is_kept_flagged_and_as_large_as_stated():
    """4,000 records that all fail, share 5 %: those kept lie within the central 99.99 % of Binomial(4000, .05)."""
    funnel = filters.Funnel([filters.cosine(lambda items: [0.0] * len(items))], unfiltered_share=0.05, salt="s")
    kept = list(funnel.run(record(number) for number in range(4000)))
    low, high = binom.interval(0.9999, 4000, 0.05)
    assert low <= len(kept) <= high
    assert {item.flags for item in kept} == {(filters.UNFILTERED,)}
    assert funnel.counts["cosine of at least 0.28"].spared == len(kept)
    assert funnel.report()["unfiltered_share"] == 0.05


def test_the_sample_is_drawn_before_the_filter_and_not_by_what_it_says():
    def sample(threshold):
        funnel = filters.Funnel([filters.cosine(by_number, threshold)], unfiltered_share=0.2, salt="s")
        return {item.name for item in funnel.run(record(n) for n in range(500)) if filters.UNFILTERED in item.flags}

    assert sample(0.1) == sample(2.0) != set()


def test_the_sample_passes_by_quality_and_not_by_law():
    funnel = filters.Funnel(
        [filters.licensed(lambda text: text == "CC0"), filters.has_image()], unfiltered_share=1, salt="s"
    )
    assert list(funnel.run([record(1, licence="secret"), record(2)])) == []
    report = funnel.report()["filters"]
    assert report["licence"]["reasons"]["licence: secret"]["count"] == 1
    assert report["has an image"]["reasons"]["no image"]["count"] == 1


def test_each_filter_gets_what_the_one_before_let_through_and_the_numbers_add_up():
    funnel = filters.Funnel(
        [filters.cosine(by_number), filters.repeated(2), filters.has_image()], unfiltered_share=0.1, salt="s"
    )
    kept = list(funnel.run(record(number, target=f"Text number {number % 7}") for number in range(1000)))
    counts = list(funnel.counts.values())
    assert [count.came for count in counts] == [1000, counts[0].went_on, counts[1].went_on]
    assert counts[-1].went_on == len(kept) == 0
    assert all(count.came == count.went_on + count.reasons.total() for count in counts)


def test_order_and_batches_change_neither_sample_nor_decision():
    source = [record(number) for number in range(700)]
    shuffled = random.Random(3).sample(source, len(source))

    def run(records):
        return set(filters.Funnel([filters.cosine(by_number)], unfiltered_share=0.1, salt="s").run(records))

    assert run(source) == run(shuffled)


def test_a_text_that_fits_many_pictures_is_kept_a_few_times():
    funnel = filters.Funnel([filters.repeated(2)], unfiltered_share=0, salt="s")
    texts = ["A man smiles", "a man smiles", "A man smiles", "A dog runs"]
    kept = list(funnel.run(record(number, target=text) for number, text in enumerate(texts)))
    assert [item.target for item in kept] == ["A man smiles", "a man smiles", "A dog runs"]


def test_a_picture_without_a_cosine_is_dropped_under_that_name():
    funnel = filters.Funnel([filters.cosine(lambda items: [float("nan")] * len(items))], unfiltered_share=0, salt="s")
    assert list(funnel.run([record(1)])) == []
    assert funnel.counts["cosine of at least 0.28"].reasons == {"no cosine": 1}


def test_a_model_that_answers_for_too_few_is_an_error():
    funnel = filters.Funnel([filters.cosine(lambda items: [1.0])], unfiltered_share=0, salt="s")
    with pytest.raises(filters.WrongLength, match="1 answers for 2 records"):
        list(funnel.run([record(1), record(2)]))


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_shares_outside_0_to_1_are_refused(share):
    with pytest.raises(splits.WrongShares):
        filters.Funnel([], unfiltered_share=share, salt="s")
    with pytest.raises(splits.WrongShares):
        list(filters.mixed([record(1)], {}, salt="s", share=share))


def test_four_of_five_texts_are_synthetic_within_a_binomial_interval():
    """5,000 records with a synthetic text each: the central 99.99 % of Binomial(5000, .8) is 3,889 to 4,109."""
    source = [record(number) for number in range(5000)]
    synthetic = {item.pair_id: f"Synthetic {item.name}" for item in source}
    mixed = list(filters.mixed(source, synthetic, salt="s"))
    flagged = [item for item in mixed if filters.SYNTHETIC in item.flags]
    low, high = binom.interval(0.9999, 5000, filters.SYNTHETIC_SHARE)
    assert low <= len(flagged) <= high
    assert len(mixed) == len(source)
    assert all(item.target == f"Synthetic {item.name}" for item in flagged)


def test_the_mix_does_not_change_with_the_order_or_the_captioner():
    source = [record(number) for number in range(300)]
    first = {item.pair_id: "One text" for item in source}
    second = {item.pair_id: "Another text" for item in source}

    def drawn(records, texts):
        return {item.name for item in filters.mixed(records, texts, salt="s") if filters.SYNTHETIC in item.flags}

    assert drawn(source, first) == drawn(source[::-1], second)
    assert drawn(source, first) != drawn(source, {})


def test_a_record_without_a_synthetic_text_keeps_its_own():
    source = [record(number) for number in range(50)]
    assert list(filters.mixed(source, {}, salt="s")) == source


def test_the_mix_and_the_unfiltered_sample_are_drawn_independently():
    """Of 4,000 records with share .5 each, a quarter is both: within the central 99.99 % of Binomial(4000, .25)."""
    source = [record(number) for number in range(4000)]
    funnel = filters.Funnel([], unfiltered_share=0.5, salt="s")
    kept = list(funnel.run(source))
    synthetic = {item.pair_id: "A text" for item in source}
    both = [item for item in filters.mixed(kept, synthetic, salt="s", share=0.5) if len(item.flags) == 2]
    low, high = binom.interval(0.9999, 4000, 0.25)
    assert low <= len(both) <= high
    assert without_flags(kept) == source


@pytest.fixture(scope="module")
def tiny_clip():
    """A random open_clip model of width 32 with the real tokenizer and transform."""
    import open_clip
    import torch

    torch.manual_seed(0)
    model = open_clip.CLIP(
        embed_dim=16,
        vision_cfg=open_clip.CLIPVisionCfg(layers=1, width=32, head_width=16, patch_size=16, image_size=32),
        text_cfg=open_clip.CLIPTextCfg(context_length=77, vocab_size=49408, width=32, heads=2, layers=1),
    )
    transform = open_clip.image_transform(32, is_train=False)
    return model, transform, open_clip.SimpleTokenizer()


def test_cosines_of_an_open_clip_model_are_those_of_its_own_logits(tiny_clip, tmp_path):
    """The model's own forward gives unit features; their product is the cosine. A missing picture has none."""
    import torch

    from captioner.funnel.cosines import OpenClipCosines
    from captioner.prepare import images

    model, transform, tokenizer = tiny_clip
    items = []
    for number in range(3):
        (tmp_path / f"{number}.png").write_bytes(picture(colour=(60 * number, 90, 200), seed=number))
        items.append(record(number, image=tmp_path / f"{number}.png"))
    found = OpenClipCosines(model, transform, tokenizer)([*items, record(9), record(8, image=tmp_path / "none.png")])
    assert all(value != value for value in found[3:])
    with torch.inference_mode():
        pixels = torch.stack([transform(images.open_derivative(item.image.read_bytes())) for item in items])
        seen, said, _ = model(pixels, tokenizer([item.target for item in items]))
    assert found[:3] == pytest.approx((seen @ said.T).diagonal().tolist(), abs=1e-6)


def test_the_filter_works_with_an_open_clip_model(tiny_clip, tmp_path):
    from captioner.funnel.cosines import OpenClipCosines

    items = []
    for number in range(6):
        (tmp_path / f"{number}.png").write_bytes(picture(colour=(40 * number, 200 - 30 * number, 90), seed=number))
        items.append(record(number, image=tmp_path / f"{number}.png"))
    cosines = OpenClipCosines(*tiny_clip)
    values = cosines(items)
    threshold = sorted(values)[3]
    funnel = filters.Funnel([filters.cosine(cosines, threshold)], unfiltered_share=0, salt="s")
    kept = list(funnel.run(items))
    assert kept == [item for item, value in zip(items, values, strict=True) if value >= threshold]
    assert 0 < len(kept) < 6
