"""Captions sampled from a model, judged by what a detector found, and kept on disk as pairs."""

from __future__ import annotations

import dataclasses
import json

import pytest
import torch
from PIL import Image

from captioner.funnel.records import DataUnreadable, Record, Skipped
from captioner.metrics import hallucination
from captioner.prepare.hashes import content_hash
from captioner.rooms.encode.detector import LABELS
from captioner.training import pairs
from captioner.training.corpus import Corpus
from captioner.training.loop import RunMismatch
from captioner.types import Box, Detection, PageContext, Role
from tests.captioner.training import tiny
from tests.captioner.training.test_dpo import seen

BOX = Box(0, 0, 1, 1)


class DogFinder:
    """A detector that finds a dog everywhere; a picture costs a look."""

    def __init__(self):
        self.looks = 0

    def find(self, image):
        self.looks += 1
        return (Detection("dog", 0.8, BOX),)


def corpus(tmp_path, count=3):
    """Pictures on disk, each with two human texts on one page."""
    found, records = {}, []
    (tmp_path / "data").mkdir()
    for number in range(count):
        path = tmp_path / "data" / f"{number}.png"
        Image.new("RGB", (8, 8), (number, 0, 0)).save(path)
        found[content_hash(path.read_bytes())] = dataclasses.replace(seen(), tokens=tiny.picture(number))
        records += [
            Record(f"{number} {text}", path, f"{number:064x}", PageContext(title="dog"), text, "own", "own")
            for text in ("a dog", "the dog")
        ]
    return Corpus(records, found, Skipped())


def mind(tmp_path):
    """A captioner that says dog, cat or nothing more, each with a third of the probability."""
    native = tiny.native(tmp_path / "lm", with_lora=False)
    likely = native.model.ids("dog cat </s>")
    output = native.model.model.get_output_embeddings()

    def forward(hidden):
        logits = torch.full((*hidden.shape[:-1], output.out_features), -9.0)
        logits[..., likely] = 0
        return logits

    output.forward = forward
    return native


def make(tmp_path, found, finder, **options):
    said = []
    whole = {"origin": "abc", "seed": 1, "say": said.append, **options}
    counts = pairs.make(mind(tmp_path), found, finder, tmp_path / "out" / "pairs.jsonl", **whole)
    return counts, said


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("A dog on grass", True),
        ("Two dogs and a cup", False),  # the cup scored .29
        ("A dog with a frisbee", True),  # .3 is enough
        ("A cat", False),
        ("A mountain at sunset", None),  # names no COCO object
        ("", None),
    ],
)
def test_a_text_is_clean_where_all_that_it_names_was_found(text, clean):
    found = [Detection("dog", 0.9, BOX), Detection("cup", 0.29, BOX), Detection("frisbee", 0.3, BOX)]
    assert pairs.verdict(text, pairs.sure(found)) is clean


def test_words_and_detector_call_the_objects_the_same():
    assert hallucination.classes() == set(LABELS)


def test_pairs_prefer_what_was_found_and_come_back_from_disk(tmp_path):
    counts, _ = make(tmp_path, corpus(tmp_path), DogFinder())
    dropped = Skipped()
    found = pairs.read([tmp_path / "out" / "pairs.jsonl"], dropped)
    assert counts["pairs"] == len(found) > 0
    assert dropped.count == 0
    for pair in found:
        assert hallucination.mentioned(pair.chosen)
        assert set(hallucination.mentioned(pair.chosen)) == {"dog"}
        assert set(hallucination.mentioned(pair.rejected)) - {"dog"}
        assert pair.image.is_file()
        assert (pair.context, pair.role, pair.source) == (PageContext(title="dog"), Role.UNKNOWN, "detector")


def test_labels_of_people_go_before_the_detector_which_is_not_asked(tmp_path):
    """The detector finds a dog everywhere; people say that there is a cat in two of three pictures."""
    found, finder = corpus(tmp_path), DogFinder()
    cats = {record.content_hash: frozenset({"cat"}) for record in found.records[:4]}
    make(tmp_path, found, finder, labels=cats)
    assert finder.looks == 1
    for pair in pairs.read([tmp_path / "out" / "pairs.jsonl"], Skipped()):
        right = "cat" if pair.content_hash in cats else "dog"
        assert set(hallucination.mentioned(pair.chosen)) == {right}
    with pytest.raises(RunMismatch, match="other settings"):
        make(tmp_path, found, finder)


def test_a_picture_is_sampled_once_a_page_and_not_again(tmp_path):
    found, finder = corpus(tmp_path), DogFinder()
    make(tmp_path, found, finder)
    assert finder.looks == 3
    place = tmp_path / "out" / "pairs.samples.jsonl"
    whole = place.read_text()
    pairs_made = (tmp_path / "out" / "pairs.jsonl").read_text()
    lines = whole.splitlines(keepends=True)
    assert len(lines) == 1 + 3
    place.write_text("".join(lines[:2]) + lines[2][:30])  # stopped within a line
    (tmp_path / "out" / "pairs.jsonl").unlink()
    _, said = make(tmp_path, found, finder)
    assert finder.looks == 3 + 2
    assert said[0] == "pairs: 1 pictures are sampled, 2 to go"
    assert place.read_text() == whole
    assert (tmp_path / "out" / "pairs.jsonl").read_text() == pairs_made


@pytest.mark.parametrize("other", [{"origin": "xyz"}, {"seed": 2}])
def test_samples_of_another_model_or_seed_are_not_mixed(tmp_path, other):
    found = corpus(tmp_path, 1)
    make(tmp_path, found, DogFinder())
    with pytest.raises(RunMismatch, match="other settings"):
        make(tmp_path, found, DogFinder(), **other)


def test_a_broken_picture_gives_no_samples_and_no_error(tmp_path):
    found = corpus(tmp_path, 1)
    found.records[0].image.write_bytes(b"no picture")
    counts, _ = make(tmp_path, found, DogFinder())
    assert counts == {"pairs": 0, "no samples": 1}


def test_a_learning_export_gives_its_pairs_too(tmp_path):
    Image.new("RGB", (8, 8)).save(tmp_path / "one.png")
    line = {
        "schema": 1, "id": 7, "image": "one.png", "content_hash": "0" * 64, "perceptual_hash": "",
        "context": dataclasses.asdict(PageContext()), "role": "informative", "outcome": "EDITED",
        "suggested_text": "A cat", "final_text": "A dog", "same_image": True, "same_context": True,
        "author": "a1", "captioner": "starter", "versions_key": "k", "licence": "own",
    }  # fmt: skip
    (tmp_path / "export.jsonl").write_text(json.dumps(line) + "\n" + json.dumps({**line, "outcome": "AS_IS"}) + "\n")
    dropped = Skipped()
    [pair] = pairs.read([tmp_path / "export.jsonl"], dropped)
    assert (pair.chosen, pair.rejected, pair.author) == ("A dog", "A cat", "a1")
    assert list(dropped.rows) == ["no pair: as_is"]


def test_a_malformed_pair_is_told_and_a_missing_file_is_an_error(tmp_path):
    (tmp_path / "pairs.jsonl").write_text('{"chosen": "A dog"}\n')
    dropped = Skipped()
    assert pairs.read([tmp_path / "pairs.jsonl"], dropped) == []
    assert dropped.rows == {"malformed pair": ["pairs.jsonl:1"]}
    with pytest.raises(DataUnreadable, match="No such file"):
        pairs.read([tmp_path / "gone.jsonl"], dropped)
