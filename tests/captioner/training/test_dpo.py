"""Direct preference optimisation: where it starts, what it moves, and what it is measured from."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from captioner.funnel.preferences import Preference
from captioner.funnel.records import Skipped
from captioner.prepare.hashes import content_hash
from captioner.training import dpo, loop
from captioner.training.dpo import Pair
from captioner.training.features import Seen
from captioner.training.loop import Run, RunMismatch
from captioner.types import PageContext, Role
from tests.captioner.training import tiny

LN2 = math.log(2)


def begin(tmp_path, folder="run", **stage):
    """A run of stage dpo on a model whose low-rank weights are those of a stage before."""
    model = tiny.lora(tiny.language_model(tmp_path / "lm"))
    settings = {"steps": 8, "lora_rate": 5e-3, **stage}
    return Run(
        model,
        tiny.bridge(),
        tiny.stage("dpo", bridge=False, **settings),
        tmp_path / folder,
        every=4,
        say=lambda line: None,
    )


def separable(model):
    """The better text names a dog, the worse one a cat, whatever the picture; other lengths, other openings."""
    openings = ("a", "the", "a small", "the red", "a black")
    return [
        Pair(
            tiny.example(model, f"{opening} dog on grass", seed=seed),
            tiny.example(model, f"{opening} cat in the snow", seed=seed),
            -1,
        )
        for seed, opening in enumerate(openings)
    ]


def test_the_loss_and_the_margin_by_hand():
    """Chosen gained 3 nats, rejected lost 1: margin 0.1 * (3 + 1) = 0.4, loss ln(1 + e^-0.4) = 0.51302.
    The other way round: margin -0.4, loss ln(1 + e^0.4) = 0.91302. Mean 0.71302.
    """
    policy = torch.tensor([[-7.0, -11.0], [-21.0, -17.0]])
    reference = torch.tensor([[-10.0, -10.0], [-20.0, -20.0]])
    value, margins = dpo.loss(policy, reference, beta=0.1)
    assert margins.tolist() == pytest.approx([0.4, -0.4])
    assert float(value) == pytest.approx(0.71302, abs=1e-5)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.floats(-90, 0), st.floats(-90, 0)), min_size=1, max_size=8))
def test_the_loss_is_ln_2_where_nothing_was_learned(sums):
    policy = torch.tensor(sums).T
    value, margins = dpo.loss(policy, policy)
    assert float(value) == pytest.approx(LN2, abs=1e-6)
    assert not margins.any()


def test_the_first_loss_is_ln_2_after_a_stage_that_trained_low_rank_weights(tmp_path):
    """Measured from the start of the stage. From the bare model it would not be: the low-rank weights are not 0."""
    run = begin(tmp_path)
    pairs = separable(run.model)
    before = dpo.reference(run, pairs, origin="start")
    assert dpo.measure(run, pairs, before)["loss"] == pytest.approx(LN2, abs=1e-4)
    with run.model.without_lora(), torch.no_grad():
        bare = dpo.log_probabilities(run.model, run.bridge, pairs)
    at_start = torch.stack([before[pair] for pair in pairs], dim=1)
    assert float(dpo.loss(at_start, bare)[1].abs().max()) > 1e-3


def test_with_fresh_low_rank_weights_the_reference_is_the_model_without_them(tmp_path):
    model = tiny.lora(tiny.language_model(tmp_path / "lm"), fresh=True)
    run = Run(model, tiny.bridge(), tiny.stage("dpo", bridge=False), tmp_path / "run", say=lambda line: None)
    pairs = separable(model)
    before = dpo.reference(run, pairs, origin="start")
    with model.without_lora(), torch.no_grad():
        bare = dpo.log_probabilities(model, run.bridge, pairs)
    for column, pair in enumerate(pairs):
        assert before[pair].tolist() == pytest.approx(bare[:, column].tolist(), abs=1e-4)


def test_steps_on_separable_pairs_raise_the_margin_and_leave_the_reference(tmp_path):
    run = begin(tmp_path, steps=24)
    pairs = separable(run.model)
    before = dpo.reference(run, pairs, origin="start")
    kept = {pair: values.clone() for pair, values in before.items()}
    frozen = {name: values.clone() for name, values in run.model.model.state_dict().items() if "lora_" not in name}
    bridge = {name: values.clone() for name, values in run.bridge.state_dict().items()}
    dpo.prefer(run, pairs, before)

    after = dpo.measure(run, pairs, before)
    assert after["loss"] < 0.6 < LN2
    assert after["margin"] > 0.2
    assert after["accuracy"] == 1.0
    assert after["longer"] == -1
    assert not dpo.collapsed(after)
    assert all(torch.equal(values, before[pair]) for pair, values in kept.items())
    again = dpo.reference(run, pairs, origin="start")  # from disk, though the model is another by now
    assert all(torch.equal(again[pair], values) for pair, values in kept.items())
    now = run.model.model.state_dict()
    assert all(torch.equal(values, now[name]) for name, values in frozen.items())
    assert all(torch.equal(values, run.bridge.state_dict()[name]) for name, values in bridge.items())

    first, *_, last = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    assert {"loss", "margin", "accuracy", "chosen", "chosen_before", "rejected", "longer"} <= first.keys()
    assert last["margin"] > first["margin"]


def test_an_interrupted_run_has_the_reference_of_its_start_and_ends_with_equal_weights(tmp_path):
    def walk(folder, *stops):
        for until in stops:
            run = begin(tmp_path, folder)
            pairs = separable(run.model)
            before = dpo.reference(run, pairs, origin="start")
            run.resume()
            dpo.prefer(run, pairs, before, until=until)
        return {name: values.detach() for name, values in run._trained()}

    whole, parts = walk("whole", 8), walk("parts", 3, 8)
    assert all(torch.equal(values, parts[name]) for name, values in whole.items())


@pytest.mark.parametrize("change", [{"origin": "another"}, {"beta": 0.3}, {"fewer": 1}])
def test_other_pairs_or_another_start_in_the_same_folder_are_refused(tmp_path, change):
    run = begin(tmp_path, steps=1)
    pairs = separable(run.model)
    dpo.prefer(run, pairs, dpo.reference(run, pairs, origin="start"))
    fewer = change.pop("fewer", 0)
    with pytest.raises(RunMismatch, match="other pairs or from another start"):
        dpo.reference(run, pairs[fewer:], **{"origin": "start", **change})


def test_a_reference_that_was_cut_off_is_gone_on_with(tmp_path, monkeypatch):
    run = begin(tmp_path)
    pairs = separable(run.model)
    whole = dpo.reference(run, pairs, origin="start")
    place = tmp_path / "run" / "reference.jsonl"
    lines = place.read_text().splitlines(keepends=True)
    place.write_text("".join(lines[:2]) + lines[2][:20])
    asked, real = [], dpo.log_probabilities
    monkeypatch.setattr(dpo, "log_probabilities", lambda *rest: asked.extend(rest[2]) or real(*rest))
    again = dpo.reference(run, pairs, origin="start")
    assert len(asked) == 3
    for pair in pairs:
        assert again[pair].tolist() == pytest.approx(whole[pair].tolist(), abs=1e-4)
    assert len(place.read_text().splitlines()) == 5


def seen():
    numbers = np.random.default_rng(0).random(1000).astype(np.float32)
    probabilities = numbers / numbers.sum()  # nothing is likely: no notes
    return Seen(tiny.picture(1), np.zeros(1280, np.float16), probabilities.astype(np.float16), np.zeros(18, np.float32))


def preference(tmp_path, chosen, **fields):
    """About `one.png`, whose bytes are its name."""
    (tmp_path / "one.png").write_bytes(b"one")
    whole = {
        "name": chosen, "image": tmp_path / "one.png", "content_hash": "1" * 64, "context": PageContext(),
        "role": Role.UNKNOWN, "chosen": chosen, "rejected": "a cat", "source": "detector", "licence": "own",
    }  # fmt: skip
    return Preference(**{**whole, **fields})


def test_a_long_pair_is_left_out_whole_and_told(model, tmp_path):
    """A cut could go through the picture. Both pairs have equal prompts; only the texts differ."""
    items = [preference(tmp_path, "a dog"), preference(tmp_path, " ".join(["dog"] * 90))]
    dropped = Skipped()
    [short] = dpo.make(items[:1], {content_hash(b"one"): seen()}, model, dropped, budget=8)
    dropped = Skipped()
    [kept] = dpo.make(items, {content_hash(b"one"): seen()}, model, dropped, budget=8, longest=short.size + 50)
    assert (kept.chosen.target, kept.chosen.paged) == (short.chosen.target, short.chosen.paged)
    assert dropped.rows == {"too long": [items[1].name]}


def test_both_texts_stand_after_the_same_prompt_which_knows_the_role(model, tmp_path):
    [text], [plain] = (
        dpo.make([preference(tmp_path, "a dog", role=role)], {content_hash(b"one"): seen()}, model, Skipped(), budget=8)
        for role in (Role.TEXT, Role.UNKNOWN)
    )
    assert text.chosen.paged == text.rejected.paged
    assert text.chosen.paged != plain.chosen.paged
    assert text.chosen.target[-1] == text.rejected.target[-1] == model.end
    assert text.longer == 0


def test_a_pair_without_a_seen_picture_is_told(model, tmp_path):
    dropped = Skipped()
    items = [preference(tmp_path, "a", image=None), preference(tmp_path, "b", image=tmp_path / "two.png")]
    assert dpo.make(items, {content_hash(b"one"): seen()}, model, dropped, budget=8) == []
    assert dropped.rows == {"no features": ["a", "b"]}


def test_one_text_with_two_pictures_makes_a_pair_that_only_looking_can_tell(model):
    examples = tiny.four(model)
    pairs = dpo.of_pictures(examples, most=10, seed=1)
    assert {pair.chosen.name for pair in pairs} == {one.name for one in examples}
    for pair in pairs:
        assert (pair.chosen.target, pair.chosen.paged) == (pair.rejected.target, pair.rejected.paged)
        assert not np.array_equal(pair.chosen.tokens, pair.rejected.tokens)
        assert pair.longer == 0
    assert len(dpo.of_pictures(examples, most=2, seed=1)) == 2
    assert dpo.of_pictures(examples[:1], most=5, seed=1) == []  # nobody to swap with
    keys = {dpo._key(pair, "start") for pair in pairs}
    moved = [Pair(pair.chosen, dataclasses.replace(pair.rejected, tokens=tiny.picture(99)), 0) for pair in pairs]
    assert not keys & {dpo._key(pair, "start") for pair in moved}


def test_pairs_of_pictures_widen_the_gap_between_right_and_wrong_ones(tmp_path):
    run = begin(tmp_path, steps=24)
    examples = tiny.four(run.model)
    pairs = dpo.of_pictures(examples, most=4, seed=1)
    before, gap = dpo.reference(run, pairs, origin="start"), loop.measure(run.model, run.bridge, examples)["gap"]
    dpo.prefer(run, pairs, before)
    assert dpo.measure(run, pairs, before)["accuracy"] == 1.0
    assert loop.measure(run.model, run.bridge, examples)["gap"] > gap + 0.1


def test_batches_of_pairs_show_each_once_an_epoch_and_come_back_equal(model):
    pairs = separable(model)
    first = [next_ for next_, _ in zip(dpo.endless(pairs, 2, seed=1), range(6), strict=False)]
    again = [next_ for next_, _ in zip(dpo.endless(pairs, 2, seed=1), range(6), strict=False)]
    assert first == again
    assert [len(chunk) for chunk in first] == [2, 2, 1, 2, 2, 1]
    assert {id(pair) for chunk in first[:3] for pair in chunk} == {id(pair) for pair in pairs}


def test_a_collapse_is_called_one():
    assert dpo.collapsed({"chosen": -2.6, "chosen_before": -2.0})
    assert not dpo.collapsed({"chosen": -2.4, "chosen_before": -2.0})
    assert not dpo.collapsed({})
