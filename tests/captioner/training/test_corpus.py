"""Rows that cannot be trained on are skipped, counted and named; where none is left the command says so."""

from __future__ import annotations

import json

import numpy as np
import pytest
import timm
import torch
from PIL import Image

from captioner.__main__ import main
from captioner.commands.train import NothingToTrain
from captioner.rooms.encode.conversion import ENCODER
from captioner.rooms.encode.towers import Tower
from captioner.training import corpus, features
from captioner.types import CaptionError

ALT = "A red bus stands on a street"


@pytest.fixture
def untrained(monkeypatch):
    """The encoder with random weights in place of those that have to be fetched."""
    torch.manual_seed(0)
    tower = Tower(timm.create_model(ENCODER, pretrained=False))
    monkeypatch.setattr(features.Tower, "load", lambda folder: tower)


def write(folder, *rows):
    """A data file; `good.png` is a picture, `broken.png` says that it is."""
    pixels = np.random.default_rng(0).integers(0, 255, (40, 60, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(folder / "good.png")
    (folder / "broken.png").write_bytes((folder / "good.png").read_bytes()[:200])
    path = folder / "train.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_rows_without_image_file_or_alt_are_skipped_counted_and_named(tmp_path, untrained):
    path = write(
        tmp_path,
        {"image": "good.png", "alt": ALT},
        {"alt": ALT},
        {"image": "gone.png", "alt": ALT},
        {"image": "broken.png", "alt": ALT},
        {"image": "good.png"},
        {"image": "good.png", "alt": "bus"},
    )
    said = []
    found = corpus.gather([path], tmp_path / "cache", say=said.append)
    name = f"{tmp_path.name}/train.jsonl"
    assert [record.target for record in found.records] == [ALT]
    assert found.dropped.rows == {
        "names no image": [f"{name}:2"],
        "image file missing": [f"{name}:3"],
        "no features": [f"{name}:4: text 1"],
        "no human text": [f"{name}:5"],
        "text: under the least words": [f"{name}:6: text 1"],
    }
    assert any(line.startswith("broken.png: skipped") for line in said)
    good = features.find(found.seen, tmp_path / "good.png")
    assert good.tokens.shape == (9, 1280)

    again = corpus.gather([path], tmp_path / "cache", cached_only=True, say=said.append)
    assert again.dropped.rows == found.dropped.rows
    assert np.array_equal(features.find(again.seen, tmp_path / "good.png").tokens, good.tokens)


def test_pictures_to_be_sampled_need_no_human_text_and_bring_their_labels(tmp_path, untrained):
    """A labelled picture without captions is dropped where a text is learned, and taken where one is sampled."""
    path = write(
        tmp_path,
        {"image": "good.png", "objects": ["bus"], "captions": ["A dog on a bus"]},
        {"image": "broken.png", "objects": ["cat"]},
    )
    Image.new("RGB", (8, 8), "red").save(tmp_path / "broken.png")
    found = corpus.gather([path], tmp_path / "cache", described=False, say=lambda _: None)
    assert [(record.image.name, record.target) for record in found.records] == [("good.png", ""), ("broken.png", "")]
    assert len(corpus.gather([path], tmp_path / "cache", say=lambda _: None).records) == 1
    known = corpus.labels([path])
    assert [known[record.content_hash] for record in found.records] == [{"bus", "dog"}, {"cat"}]


def test_features_are_the_mean_of_three_by_three_cells():
    """Cells are numbered row by row; the first bin has 0 1 2, 9 10 11, 18 19 20: mean 10."""
    tokens = np.repeat(np.arange(81, dtype=np.float32)[:, None], 1280, axis=1)
    assert features.pooled_grid(tokens)[:, 0].tolist() == [10, 13, 16, 37, 40, 43, 64, 67, 70]


def test_nothing_to_train_on_is_one_line_and_status_2(capsys, tmp_path):
    assert issubclass(NothingToTrain, CaptionError)
    path = tmp_path / "gone.jsonl"
    for arguments, message in (
        (["--stage", "projector"], "name the training records with --data"),
        (["--stage", "dpo"], "stage dpo learns from --pairs; --make-pairs makes them"),
        (["--stage", "lora", "--make-pairs", "--data", str(path)], "--make-pairs belongs to stage dpo, not to lora"),
        (["--stage", "dpo", "--make-pairs", "--data", str(path)], "--make-pairs writes one file"),
        (["--stage", "dpo", "--picture-pairs", "5"], "--picture-pairs belongs to stage dpo and takes its texts from"),
        (["--stage", "sft", "--picture-pairs", "5", "--data", str(path)], "--picture-pairs belongs to stage dpo"),
    ):
        assert main(["train", "--run", str(tmp_path), *arguments]) == 2
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.startswith(f"captioner train: {message}")
        assert told.err.count("\n") == 1
