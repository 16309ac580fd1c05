"""Room 1: the frozen image encoder. One pass gives class probabilities, the pooled vector and the token map.

The only file that builds a timm model for looking. Knows no words: what class 281 is called is in tags.py.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import timm
import torch
from PIL import Image
from torch import Tensor, nn

from captioner.rooms.encode import shelf
from captioner.rooms.encode.conversion import ENCODER
from captioner.types import WeightsMissing

SIDE_PX = 260
CLASSES = 1000
WIDTH = 1280  # C
TOKENS = 81  # P: 9 x 9 cells of about 29 px
THREADS = 2  # more gains nothing below 300 px, and workers share their cores


@dataclass(frozen=True, slots=True)
class Encoding:
    """What one pass gives.

    :ivar probabilities: (1000,) over the ImageNet-1k classes in the usual order; sums to 1.
    :ivar pooled: (1280,) mean of the token map.
    :ivar tokens: (81, 1280), row-major over a 9 x 9 grid.
    """

    probabilities: np.ndarray
    pooled: np.ndarray
    tokens: np.ndarray


def bound_threads(threads: int = THREADS) -> None:
    """Keep torch off the other cores of a shared machine.

    Whoever starts a process for the model should also set OMP_WAIT_POLICY=PASSIVE in its environment, so that idle
    threads sleep instead of spinning; OpenMP reads it while torch is imported, so here would be too late.
    """
    torch.set_num_threads(min(threads, os.cpu_count() or threads))


def pixels(image: Image.Image, side_px: int = SIDE_PX) -> Tensor:
    """(1, 3, side, side) in -1..1, the whole picture squashed to a square.

    Mean and deviation are 0.5, not ImageNet's: with ImageNet's the espresso of the test photo falls from .94 to .79.
    """
    square = image.convert("RGB").resize((side_px, side_px), Image.Resampling.BICUBIC)
    values = torch.from_numpy(np.array(square)).permute(2, 0, 1)[None]  # (1, 3, side, side)
    return (values.float() / 127.5 - 1).contiguous(memory_format=torch.channels_last)


class Tower:
    """EfficientNet-Lite2 (arXiv 1905.11946, Lite variant without squeeze-excite), frozen, in eval mode."""

    def __init__(self, model: nn.Module) -> None:
        self.model: Any = model.eval().requires_grad_(False).to(memory_format=torch.channels_last)

    @classmethod
    def load(cls, folder: Path) -> Tower:
        """:raises WeightsMissing: the weights are absent, differ from the pinned ones or do not fit the model."""
        state = {name: torch.from_numpy(array) for name, array in shelf.read_tensors(folder, shelf.TAGS).items()}
        model = timm.create_model(ENCODER, pretrained=False)
        try:
            model.load_state_dict(state, strict=True)
        except RuntimeError as error:
            raise WeightsMissing(f"{shelf.TAGS.file} does not fit {ENCODER}: {error}") from error
        return cls(model)

    def encode(self, image: Image.Image) -> Encoding:
        """About 75 CPU-ms for one RGB picture of any size."""
        with torch.inference_mode():
            grid = self.model.forward_features(pixels(image))  # (1, C, 9, 9)
            pooled = grid.mean(dim=(2, 3))  # (1, C)
            probabilities = self.model.get_classifier()(pooled).softmax(-1)  # (1, 1000)
        return Encoding(probabilities[0].numpy(), pooled[0].numpy(), grid[0].flatten(1).T.numpy())
