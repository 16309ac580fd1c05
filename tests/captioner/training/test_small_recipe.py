"""A frozen language model learns to see through a bridge: the whole recipe at a size that a CPU does in seconds."""

from __future__ import annotations

import itertools
import random
import time

import numpy as np
import pytest
import torch

from captioner.architectures.bridge import Frame
from captioner.training import examples as data
from captioner.training import loop
from captioner.training.examples import Example
from captioner.training.loop import Run
from captioner.training.stages import Stage
from tests.captioner.training import tiny

COLOURS = ("red", "green", "blue", "black", "white", "brown")
THINGS = ("dog", "cat", "bus", "boat", "kite")
PLACES = ("on", "under", "beside")
SLOTS = (COLOURS, THINGS, PLACES, COLOURS, THINGS)  # 25 attributes: 6 + 5 + 3 + 6 + 5
WORDS = ["a", *COLOURS, *THINGS, *PLACES]  # 15; with <s> and </s> 17 are used
TRAIN, HELD_OUT = 1600, 400
STEPS_A, STEPS_B = 200, 250


def scenes():
    """Distinct scenes in a random order, of the 2,700 there are."""
    everything = list(itertools.product(*(range(len(slot)) for slot in SLOTS)))
    return random.Random(5).sample(everything, TRAIN + HELD_OUT)


def encoder(seed):
    """A fixed random map of the 25 attributes to (4, 32) tokens."""
    generator = np.random.default_rng(seed)
    weights = generator.standard_normal((25, tiny.PATCHES * tiny.CHANNELS)) / 5**0.5
    starts = np.cumsum([0, *map(len, SLOTS)])[:-1]

    def look(scene):
        seen = np.zeros(25)
        seen[[start + value for start, value in zip(starts, scene, strict=True)]] = 1
        return (seen @ weights).reshape(tiny.PATCHES, tiny.CHANNELS).astype(np.float16)

    return look


def made(model, look):
    """ "a red dog on a blue bus": 8 tokens with the end, 5 of which only the picture tells."""
    frame, found = Frame((1,), ()), []
    for scene in scenes():
        first, thing, place, second, other = (slot[value] for slot, value in zip(SLOTS, scene, strict=True))
        target = (*model.ids(f"a {first} {thing} {place} a {second} {other}"), model.end)
        found.append(Example(str(scene), look(scene), frame, frame, target))
    return found[:TRAIN], found[TRAIN:]


def teach_both(model, bridge, examples):
    """Stage A, which no stage of the product is: language model and bridge together."""
    model.model.requires_grad_(True)
    optimiser = torch.optim.AdamW([*model.model.parameters(), *bridge.parameters()], lr=2e-3)
    epochs = (data.batches(examples, 64, epoch=epoch, seed=1) for epoch in itertools.count())
    for chunk in itertools.islice(itertools.chain.from_iterable(epochs), STEPS_A):
        loop.weighted_loss(model, bridge, chunk).backward()
        optimiser.step()
        optimiser.zero_grad()
    model.model.requires_grad_(False)


@pytest.mark.slow
def test_a_new_bridge_on_a_frozen_model_that_can_look_learns_to_see(tmp_path):
    """Gap over 2 nats with bit-equal language model weights. A loss would prove nothing: a model that cannot see
    reaches (2 ln 6 + 2 ln 5 + ln 3) / 8 = 0.988 nats a token.
    """
    started = time.process_time()
    model = tiny.language_model(tmp_path / "lm", words=WORDS, family="gpt2")
    train, held_out = made(model, encoder(1))
    first = tiny.bridge()
    teach_both(model, first, train)
    seeing = loop.measure(model, first, held_out, size=100)
    frozen = {name: values.clone() for name, values in model.model.state_dict().items()}

    train, held_out = made(model, encoder(2))
    second = tiny.bridge(seed=2)
    unseeing = loop.measure(model, second, held_out, size=100)
    stage = Stage("projector", bridge=True, lora=False, steps=STEPS_B, batch=64, learning_rate=5e-3)
    loop.teach(Run(model, second, stage, tmp_path / "run", every=50), train)
    measured = loop.measure(model, second, held_out, size=100)

    print("stage A", seeing, "untrained", unseeing, "stage B", measured, f"{time.process_time() - started:.1f} CPU-s")
    assert len(set(WORDS)) + 2 == 17
    assert seeing["gap"] > 2
    assert abs(unseeing["gap"]) < 0.5
    assert measured["gap"] > 2
    after = model.model.state_dict()
    assert all(torch.equal(values, after[name]) for name, values in frozen.items())
    assert time.process_time() - started < 120
