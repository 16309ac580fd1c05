"""A run that learns, that may stop at any moment, and that is not mixed with another."""

from __future__ import annotations

import dataclasses
import json
import os

import pytest
import torch

from captioner.training import examples as data
from captioner.training import loop
from captioner.training.loop import Run, RunMismatch
from captioner.types import CaptionError
from tests.captioner.training import tiny


def begin(tmp_path, folder, *, seed=1, run=None, **stage):
    """Equal models at each call, as a process that starts again has them."""
    model = tiny.lora(tiny.language_model(tmp_path / "lm"), fresh=True)
    return Run(
        model,
        tiny.bridge(),
        tiny.stage(**stage),
        tmp_path / folder,
        seed=seed,
        every=3,
        say=lambda line: None,
        **(run or {}),
    )


def weights(run):
    return {name: values.detach().clone() for name, values in run._trained()}


def equal(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def test_the_loss_falls_on_four_pictures(tmp_path):
    run = begin(tmp_path, "run", steps=60, batch=4, learning_rate=5e-3, lora_rate=5e-3)
    examples = tiny.four(run.model)
    before = loop.measure(run.model, run.bridge, examples)["right"]
    loop.teach(run, examples)
    after = loop.measure(run.model, run.bridge, examples)
    assert before > 3  # ln 25 = 3.2 is to know nothing; random weights are surer and wrong
    assert after["right"] < 0.5 * before
    assert after["gap"] > 0.5
    notes = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    assert [note["step"] for note in notes] == list(range(3, 61, 3))
    assert notes[-1]["loss"] < notes[0]["loss"]


def test_an_interrupted_run_ends_with_the_weights_of_one_that_was_not(tmp_path):
    whole = begin(tmp_path, "whole")
    loop.teach(whole, tiny.four(whole.model))
    first = begin(tmp_path, "parts")
    loop.teach(first, tiny.four(first.model), until=4)
    assert first.step == 4
    second = begin(tmp_path, "parts")
    assert second.resume() == 4
    assert equal(weights(first), weights(second))
    loop.teach(second, tiny.four(second.model))
    assert second.step == whole.step == 8
    assert equal(weights(whole), weights(second))
    assert not equal(weights(first), weights(second))


@pytest.mark.parametrize("other", [{"seed": 2}, {"learning_rate": 0.5}, {"steps": 9}, {"bridge": False}])
def test_another_setting_in_the_same_folder_is_refused(tmp_path, other):
    run = begin(tmp_path, "run", steps=3)
    loop.teach(run, tiny.four(run.model))
    with pytest.raises(RunMismatch, match="other settings") as caught:
        begin(tmp_path, "run", **{"steps": 3, **other}).resume()
    assert isinstance(caught.value, CaptionError)  # the command line tells it in one line


def test_a_run_on_other_data_is_not_gone_on_with(tmp_path):
    """One picture was replaced, one text changed, one record is new: each is other data, and the message says so."""
    model = tiny.language_model(tmp_path / "words")
    examples = tiny.four(model)
    seen_anew = [dataclasses.replace(examples[0], tokens=tiny.picture(9)), *examples[1:]]
    said_anew = [dataclasses.replace(examples[0], target=examples[1].target), *examples[1:]]
    more = [*examples, tiny.example(model, "a dog", seed=7)]
    names = [data.digest(found) for found in (examples, seen_anew, said_anew, more)]
    assert len(set(names)) == 4
    assert data.digest(tiny.four(model)) == names[0]
    run = begin(tmp_path, "run", run={"data": names[0]}, steps=3)
    loop.teach(run, examples)
    for other in names[1:]:
        with pytest.raises(RunMismatch, match="data was '4 examples .* and is '[45] examples .*; take another folder"):
            begin(tmp_path, "run", run={"data": other}, steps=3).resume()
    assert begin(tmp_path, "run", run={"data": names[0]}, steps=3).resume() == 3


def test_learning_in_bfloat16_keeps_float32_weights_and_ends_near(tmp_path):
    """A step in bfloat16 differs by rounding: weights 1e-2 apart at most after 8 steps of Adam at 4e-4."""
    exact, rounded = begin(tmp_path, "exact"), begin(tmp_path, "rounded", run={"bfloat16": True})
    rounded.model.attend_plainly()
    for run in (exact, rounded):
        loop.teach(run, tiny.four(run.model))
    pairs = [(weights(exact)[name], values) for name, values in weights(rounded).items()]
    assert {values.dtype for _, values in pairs} == {torch.float32}
    assert not equal(weights(exact), weights(rounded))
    assert max(float((one - other).abs().max()) for one, other in pairs) < 1e-2
    with pytest.raises(RunMismatch, match="bfloat16 was True and is False"):
        begin(tmp_path, "rounded").resume()


def test_a_folder_without_a_checkpoint_starts_from_the_beginning(tmp_path):
    assert begin(tmp_path, "nothing").resume() == 0


def test_a_checkpoint_that_was_not_finished_is_never_taken(tmp_path, monkeypatch):
    """The machine stops while the moments are written: the checkpoint before is the one to go on from."""
    run = begin(tmp_path, "run")
    loop.teach(run, tiny.four(run.model), until=3)
    kept, real, calls = weights(run), loop.save_file, []

    def stops(tensors, path):
        calls.append(path)
        if len(calls) == 2:
            path.write_bytes(b"half")
            raise KeyboardInterrupt
        real(tensors, path)

    monkeypatch.setattr(loop, "save_file", stops)
    with pytest.raises(KeyboardInterrupt):
        loop.teach(run, tiny.four(run.model))
    monkeypatch.undo()
    assert (tmp_path / "run" / "checkpoint.new" / "moments.safetensors").read_bytes() == b"half"
    again = begin(tmp_path, "run")
    assert again.resume() == 3
    assert equal(weights(again), kept)
    loop.teach(again, tiny.four(again.model))
    assert begin(tmp_path, "run").resume() == 8
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["checkpoint", "log.jsonl"]


def test_a_stop_between_the_old_and_the_new_checkpoint_loses_neither(tmp_path, monkeypatch):
    run = begin(tmp_path, "run")
    loop.teach(run, tiny.four(run.model), until=3)
    kept, real = weights(run), os.replace

    def stops(source, target):
        if source.name == "checkpoint.new":
            raise KeyboardInterrupt
        real(source, target)

    monkeypatch.setattr(loop.os, "replace", stops)
    with pytest.raises(KeyboardInterrupt):
        loop.teach(run, tiny.four(run.model), until=6)
    monkeypatch.undo()
    again = begin(tmp_path, "run")
    assert again.resume() == 3
    assert equal(weights(again), kept)
    loop.teach(again, tiny.four(again.model))
    assert begin(tmp_path, "run").resume() == 8
