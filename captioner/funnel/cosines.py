"""Cosine of picture and text by any open_clip model: the callable that the cosine filter takes. Loads no weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from PIL import Image
from torch import Tensor

from captioner.funnel.records import Record
from captioner.prepare import images


class OpenClipCosines:
    """Cosines of one model, in eval mode, a batch a call.

    :param transform: picture -> (3, H, W), as the model was trained with.
    :param tokenizer: texts -> (B, context length); what is longer is cut, which for 40 words is next to nothing.
    """

    def __init__(
        self, model: Any, transform: Callable[[Image.Image], Tensor], tokenizer: Callable[[list[str]], Tensor]
    ) -> None:
        self.model, self.transform, self.tokenizer = model.eval(), transform, tokenizer
        self.device = next(model.parameters()).device

    @torch.inference_mode()
    def __call__(self, records: Sequence[Record]) -> list[float]:
        """One cosine a record, -1..1; nan where the picture cannot be opened."""
        pictures = [_picture(record) for record in records]
        there = [index for index, picture in enumerate(pictures) if picture is not None]
        found = [float("nan")] * len(records)
        if there:
            pixels = torch.stack([self.transform(pictures[index]) for index in there])  # type: ignore[arg-type]
            texts = self.tokenizer([records[index].target for index in there])
            seen = self.model.encode_image(pixels.to(self.device), normalize=True)  # (B, D), length 1
            said = self.model.encode_text(texts.to(self.device), normalize=True)  # (B, D), length 1
            for index, value in zip(there, (seen * said).sum(dim=1).tolist(), strict=True):
                found[index] = value
        return found


def _picture(record: Record) -> Image.Image | None:
    if record.image is None:
        return None
    try:
        return images.open_derivative(record.image.read_bytes())
    except (OSError, images.ImageUnreadable):
        return None
