"""What sort of picture it is: a small classifier over the encoder's pooled vector and a few pixel numbers.

Runs in numpy. How it was trained and how often it is right stands in `captioner/data/kinds.json` and in
`captioner.training.kinds`. Knows no labels but `captioner.types.Kind`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import as_file, files
from typing import Any

import numpy as np
from PIL import Image
from safetensors.numpy import load_file

from captioner.rooms.encode.statistics import pixel_statistics

PLACE = files("captioner") / "data"


class KindClassifier:
    """Standardise, one hidden layer with ReLU, softmax at a temperature fitted on held-out books.

    :ivar tensors: mean and deviation (F,), hidden.weight (H, F), hidden.bias (H,), out.weight (K, H), out.bias (K,);
        F = 1280 + 18, K kinds in the order of `classes`.
    :ivar card: what ships beside the weights: classes, temperature, version, training data and measures.
    """

    def __init__(self, tensors: Mapping[str, np.ndarray], card: Mapping[str, Any]) -> None:
        self.tensors = {name: array.astype(np.float32) for name, array in tensors.items()}
        self.card = card
        self.classes: tuple[str, ...] = tuple(card["classes"])

    @classmethod
    def load(cls) -> KindClassifier:
        """The classifier that ships with the package."""
        with as_file(PLACE / "kinds.safetensors") as path:
            return cls(load_file(path), json.loads((PLACE / "kinds.json").read_text(encoding="utf-8")))

    @property
    def version(self) -> str:
        return str(self.card["version"])

    def classify(self, image: Image.Image, pooled: np.ndarray) -> dict[str, float]:
        """Probability of each kind, sums to 1; `pooled` is `Encoding.pooled` of the same picture."""
        row = np.concatenate([pooled, pixel_statistics(image)]).astype(np.float32)
        chances = self.probabilities(row[None])[0]
        return {name: round(float(chance), 4) for name, chance in zip(self.classes, chances, strict=True)}

    def probabilities(self, rows: np.ndarray) -> np.ndarray:
        """(N, F) features to (N, K) probabilities."""
        logits = self.logits(rows) / self.card["temperature"]
        exponents = np.exp(logits - logits.max(axis=1, keepdims=True))
        return exponents / exponents.sum(axis=1, keepdims=True)

    def logits(self, rows: np.ndarray) -> np.ndarray:
        """(N, F) features to (N, K) scores before temperature."""
        part = self.tensors
        scaled = (rows - part["mean"]) / part["deviation"]
        hidden = np.maximum(scaled @ part["hidden.weight"].T + part["hidden.bias"], 0)  # (N, H)
        return hidden @ part["out.weight"].T + part["out.bias"]
