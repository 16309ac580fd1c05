"""Train the kind classifier: `python -m captioner.training.kinds --data FOLDER`.

Labels come from `kind_labels`, features from `kind_features`. Rows whose label the other folds contradict are
dropped, rows without a label join once when the first model is sure of them. The held-out book split chooses and
calibrates; the test split is not read here.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save_file
from torch import nn

from captioner.rooms.encode.kinds import KindClassifier
from captioner.rooms.encode.statistics import NAMES
from captioner.rooms.encode.towers import bound_threads
from captioner.training import kind_labels, kind_pages
from captioner.training.kind_features import features, known_names
from captioner.types import Kind

CLASSES = tuple(str(kind) for kind in Kind)
HIDDEN = 32
STEPS = 600
BATCH = 256
LEARNING_RATE = 2e-3
WEIGHT_DECAY = 0.1
DROPOUT = 0.4
FOLDS = 4
CONTRADICTED_BELOW = 0.05  # the other folds give the row's own label less than this: the label is wrong
ADOPTED_AT = 0.97
TEXT_PAGES = 450
UNKNOWN = -1
DATA = Path(__file__).parent.parent / "data"
LABELS_FROM = (
    "guessed from alt texts of OpenStax books (CC BY 4.0), openstax_screens, web_context and coco_subset train, "
    "checked by pixels and by cross-validation; drawn pages for text"
)


@dataclass(frozen=True)
class Rows:
    """Features (N, F) and labels (N,), an index into `CLASSES` or `UNKNOWN`."""

    features: np.ndarray
    labels: np.ndarray

    def take(self, chosen: np.ndarray) -> Rows:
        return Rows(self.features[chosen], self.labels[chosen])

    def plus(self, other: Rows) -> Rows:
        return Rows(np.concatenate([self.features, other.features]), np.concatenate([self.labels, other.labels]))


def train(rows: Rows, *, seed: int = 0) -> dict[str, np.ndarray]:
    """Tensors of a `KindClassifier`: one hidden layer, weighted cross-entropy, AdamW.

    Weights are the inverse square root of class counts: full balance would make rare kinds common.
    """
    torch.manual_seed(seed)
    mean, deviation = rows.features.mean(axis=0), rows.features.std(axis=0) + 1e-3
    inputs = torch.from_numpy((rows.features - mean) / deviation).float()
    targets = torch.from_numpy(rows.labels).long()
    counts = torch.bincount(targets, minlength=len(CLASSES)).clamp(min=1).float()
    loss = nn.CrossEntropyLoss(weight=(counts.max() / counts).sqrt(), label_smoothing=0.02)
    hidden, out = nn.Linear(inputs.shape[1], HIDDEN), nn.Linear(HIDDEN, len(CLASSES))
    model = nn.Sequential(hidden, nn.ReLU(), nn.Dropout(DROPOUT), out)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    for _ in range(STEPS):
        batch = torch.randint(len(targets), (BATCH,))
        optimizer.zero_grad()
        loss(model(inputs[batch]), targets[batch]).backward()
        optimizer.step()
    return {
        "mean": mean.astype(np.float32),
        "deviation": deviation.astype(np.float32),
        "hidden.weight": hidden.weight.detach().numpy(),
        "hidden.bias": hidden.bias.detach().numpy(),
        "out.weight": out.weight.detach().numpy(),
        "out.bias": out.bias.detach().numpy(),
    }


def classifier(tensors: Mapping[str, np.ndarray], temperature: float = 1.0) -> KindClassifier:
    return KindClassifier(tensors, {"classes": CLASSES, "temperature": temperature, "version": "in training"})


def uncontradicted(rows: Rows) -> np.ndarray:
    """(N,) bool: the model of the other folds finds the row's label possible."""
    fold = np.random.default_rng(0).integers(FOLDS, size=len(rows.labels))
    kept = np.ones(len(rows.labels), dtype=bool)
    for number in range(FOLDS):
        held = fold == number
        chances = classifier(train(rows.take(~held), seed=number)).probabilities(rows.features[held])
        kept[held] = chances[np.arange(held.sum()), rows.labels[held]] >= CONTRADICTED_BELOW
    # book tables look like spreadsheets on screens to the other folds, and their words are plain: they stay
    return kept | (rows.labels == CLASSES.index("text"))


def adopted(model: KindClassifier, unlabelled: np.ndarray) -> Rows:
    """Rows without a label of whose kind the model is sure."""
    chances = model.probabilities(unlabelled)
    sure = chances.max(axis=1) >= ADOPTED_AT
    return Rows(unlabelled[sure], chances[sure].argmax(axis=1))


def fit_temperature(model: KindClassifier, rows: Rows) -> float:
    """The temperature of least cross-entropy on `rows`, by search over a grid (Guo et al., arXiv 1706.04599)."""
    logits = torch.from_numpy(model.logits(rows.features))
    targets = torch.from_numpy(rows.labels).long()
    grid = np.geomspace(0.5, 4.0, 60)
    return float(min(grid, key=lambda value: float(nn.functional.cross_entropy(logits / float(value), targets))))


def accuracy(model: KindClassifier, rows: Rows) -> dict[str, float]:
    """Accuracy, mean of class recalls, expected calibration error (10 bins) and n."""
    chances = model.probabilities(rows.features)
    told, right = chances.argmax(axis=1), chances.argmax(axis=1) == rows.labels
    recalls = [right[rows.labels == label].mean() for label in np.unique(rows.labels)]
    bins = np.minimum((chances.max(axis=1) * 10).astype(int), 9)
    gaps = [
        abs(chances.max(axis=1)[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean() for b in set(bins)
    ]
    measures = {"accuracy": right.mean(), "mean_recall": np.mean(recalls), "calibration_error": sum(gaps)}
    return {name: round(float(value), 3) for name, value in measures.items()} | {"n": len(told)}


@dataclass(frozen=True)
class Source:
    """Where pictures and their features come from.

    :ivar most: rows of each guessed kind and file at most; None takes what the cache holds and computes nothing.
    """

    data: Path
    cache: Path
    most: int | None

    def read(self, name: str, kind_of: Callable[[Mapping[str, Any], float], Kind | None]) -> Rows:
        """Features and labels of one jsonl of the data folder, e.g. "openstax/val"."""
        file = self.data / f"{name}.jsonl"
        records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        cache = self.cache / file.parent.name
        if self.most is None:
            known = known_names(cache)
            records = [record for record in records if Path(record["image"]).name in known]
        else:
            records = _some(records, self.most)
        rows = features([file.parent / record["image"] for record in records], cache)
        flat = rows[:, 1280 + NAMES.index("flat")]
        kinds = [kind_of(record, float(share)) for record, share in zip(records, flat, strict=True)]
        return Rows(rows, np.array([UNKNOWN if kind is None else CLASSES.index(str(kind)) for kind in kinds]))


def _some(records: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """The same rows each time, spread over the file."""
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for record in random.Random(0).sample(records, len(records)):  # noqa: S311  (no secret)
        by_kind.setdefault(record.get("kind", ""), []).append(record)
    return [record for group in by_kind.values() for record in group[:most]]


def textbook(record: Mapping[str, Any], flat_share: float) -> Kind | None:
    return kind_labels.textbook_kind(record)


def text_pages(source: Source) -> Rows:
    """Drawn pages whose words come from the books."""
    rng = random.Random(0)  # noqa: S311
    faces, folder = kind_pages.fonts(), source.cache / "drawn"
    folder.mkdir(parents=True, exist_ok=True)
    with (source.data / "openstax" / "train.jsonl").open(encoding="utf-8") as file:
        words = [text for line in file if len(text := json.loads(line)["text_before"]) > 80]
    paths = [folder / f"page-{index:03}.png" for index in range(TEXT_PAGES)]
    for path in paths:
        picture = kind_pages.page(rng.choice(words), rng, faces)
        if not path.exists():
            picture.save(path)
    return Rows(features(paths, source.cache / "text_pages"), np.full(TEXT_PAGES, CLASSES.index("text")))


def gather(source: Source) -> Rows:
    """All training rows. COCO's val split and the books' val and test splits stay out."""
    return (
        source.read("openstax/train", textbook)
        .plus(source.read("openstax_screens/data", kind_labels.screen_kind))
        .plus(source.read("web_context/data", lambda record, _: kind_labels.web_kind(record)))
        .plus(source.read("coco_subset/train", lambda *_: Kind.PHOTO))
        .plus(text_pages(source))
    )


def fit(rows: Rows, held_out: Rows) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Tensors and card: train, drop contradicted labels, adopt sure rows, train again, calibrate on `held_out`."""
    labelled, unlabelled = rows.take(rows.labels != UNKNOWN), rows.features[rows.labels == UNKNOWN]
    clean = labelled.take(uncontradicted(labelled))
    more = adopted(classifier(train(clean)), unlabelled)
    tensors = train(clean.plus(more))
    temperature = fit_temperature(classifier(tensors), held_out)
    counts = Counter(CLASSES[label] for label in clean.plus(more).labels)
    card = {
        "classes": list(CLASSES),
        "temperature": round(temperature, 3),
        "rows": {"labelled": len(labelled.labels), "contradicted": len(labelled.labels) - len(clean.labels)}
        | {"adopted": len(more.labels), "by_kind": dict(sorted(counts.items()))},
        "held_out_books": accuracy(classifier(tensors, temperature), held_out),
    }
    return tensors, card


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the kind classifier of the starter.")
    parser.add_argument("--data", type=Path, required=True, help="the folder with openstax/, coco_subset/ and so on")
    parser.add_argument("--cache", type=Path, default=Path("var/kinds"), help="features of pictures seen before")
    parser.add_argument("--most", type=int, default=1_600, help="rows per guessed kind and file")
    parser.add_argument("--known-only", action="store_true", help="train on what the cache holds, compute no features")
    parser.add_argument("--to", type=Path, default=DATA)
    options = parser.parse_args()
    bound_threads(1)
    source = Source(options.data, options.cache, None if options.known_only else options.most)
    held_out, rows = source.read("openstax/val", textbook), gather(source)
    tensors, card = fit(rows, held_out.take(held_out.labels != UNKNOWN))
    card |= {"version": f"kinds {date.today():%Y-%m-%d}", "labels": LABELS_FROM}
    save_file(tensors, options.to / "kinds.safetensors")
    (options.to / "kinds.safetensors").chmod(0o644)  # safetensors writes 0600
    (options.to / "kinds.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
