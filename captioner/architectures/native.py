"""The native prefix captioner at work: encode -> reduce -> project -> decode. One encode and one prefill a request.

A writer: it gives drafts, the gate decides what leaves. Image tokens are kept by content hash for the next page.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor

from captioner.architectures import bridge, checkpoint
from captioner.architectures.bridge import Frame
from captioner.architectures.checkpoint import Native
from captioner.prepare import prompts
from captioner.prepare.prompts import Prompt
from captioner.rooms.decode import constrained, search
from captioner.rooms.decode.contrastive import Contrasted
from captioner.rooms.decode.search import Steps, Written
from captioner.rooms.encode import shelf, vision
from captioner.rooms.encode.vision import VisionTower
from captioner.types import Drafts

SAMPLES, TEMPERATURE, TOP_P = 3, 0.8, 0.9
MAX_TOKENS = 32  # short by default: false objects grow with length
KEPT = 64  # pictures whose tokens stay in memory, about 20 kB each


class NativeWriter:
    """Tower, bridge and language model put together.

    :ivar contrast: use visual contrastive decoding; costs a second row.
    """

    def __init__(self, native: Native, tower: VisionTower, *, digest: str = "", contrast: bool = False) -> None:
        self.native, self.tower, self.contrast = native, tower, contrast
        self.model, self.name = native.model, native.config.name
        self.special = self.model.control_tokens
        self.count = functools.lru_cache(maxsize=50_000)(self.model.count)
        self.versions: Mapping[str, str] = {
            "writer": f"{self.name} {digest}",
            "prompts": f"{prompts.VERSION} budget={native.config.budget}",
            "decode": f"greedy max={MAX_TOKENS} samples={SAMPLES} t={TEMPERATURE} p={TOP_P} contrast={contrast}",
        }
        self._seen: OrderedDict[str, Tensor] = OrderedDict()
        self._blank: Tensor | None = None

    @classmethod
    def load(cls, folder: Path, *, weights: Path | None = None, contrast: bool = False) -> NativeWriter:
        """The captioner saved in `folder`.  :raises WeightsMissing: see `checkpoint.load`."""
        weights = weights or shelf.weights_folder()
        native = checkpoint.load(folder, weights)
        native.model.merge_lora()
        tower = vision.build(native.config.encode, shelf.starter_folder(weights))
        return cls(native, tower, digest=checkpoint.digest(folder), contrast=contrast)

    def draft(
        self, image: Image.Image | None, prompt: Prompt, *, samples: int = SAMPLES, seed: int = 0, key: str = ""
    ) -> Drafts:
        """Greedy text and samples from one prefill, and the evidence gap. `image` None writes blind.

        :param key: content hash, for keeping image tokens.
        """
        frame = self.frame(prompt, image=image is not None)
        picture = self.picture(image, key) if image is not None else None
        contrast = self.contrast and picture is not None
        rows = [picture, self.blank()] if contrast else [picture]
        start = self.model.start([bridge.splice(self.model, frame, one) for one in rows])
        steps: Steps = Contrasted(start) if contrast else start
        heats = [0.0, *[TEMPERATURE] * samples]
        steps.repeat(len(heats))
        generator = torch.Generator().manual_seed(seed)
        greedy, *drawn = search.draw(
            steps, self.model.end, temperatures=heats, max_tokens=MAX_TOKENS, top_p=TOP_P, generator=generator
        )
        return self._drafts(frame, picture, greedy, drawn)

    def choose(self, image: Image.Image, prompt: Prompt, texts: Sequence[str], *, key: str = "") -> Drafts:
        """The likeliest of `texts`: constrained writing. :raises ValueError: there is none."""
        if not texts:
            raise ValueError("nothing to choose from")
        frame, picture = self.frame(prompt), self.picture(image, key)
        steps = self.model.start([bridge.splice(self.model, frame, picture)])
        [best, *_] = constrained.choose(steps, [self.model.ids(text) for text in texts], self.model.end)
        return self._drafts(frame, picture, best, ())

    def frame(self, prompt: Prompt, *, image: bool = True) -> Frame:
        """Token ids around the image."""
        return bridge.frame(self.model, prompt, image=image)

    @torch.inference_mode()
    def picture(self, image: Image.Image, key: str = "") -> Tensor:
        """(T, D) image tokens, encoded once a content hash."""
        if key and key in self._seen:
            self._seen.move_to_end(key)
            return self._seen[key]
        tokens = self.native.bridge(self.tower.tokens([image]))[0]
        if key:
            self._seen[key] = tokens
            while len(self._seen) > KEPT:
                self._seen.popitem(last=False)
        return tokens

    @torch.inference_mode()
    def blank(self) -> Tensor:
        """(T, D) tokens of the blank picture, made once."""
        if self._blank is None:
            self._blank = self.native.bridge(self.tower.blank())[0]
        return self._blank

    @torch.inference_mode()
    def gap(self, frame: Frame, picture: Tensor, tokens: Sequence[int]) -> float:
        """Mean over `tokens` of log p(token | image, page) - log p(token | blank, page), nats."""
        rows = bridge.collate(self.model, [frame, frame], [picture, self.blank()], [tokens, tokens])
        seen, blank = bridge.log_probabilities(self.model, rows).tolist()
        return float(seen - blank) / max(1, len(tokens))

    def _drafts(self, frame: Frame, picture: Tensor | None, greedy: Written, drawn: Sequence[Written]) -> Drafts:
        counts = {
            "image": len(picture) if picture is not None else 0,
            "prompt": len(frame.before) + len(frame.after),
            "text": len(greedy.tokens),
        }
        return Drafts(
            text=self.model.text(greedy.tokens),
            samples=tuple(self.model.text(one.tokens) for one in drawn),
            mean_log_probability=round(greedy.mean, 4),
            gap=round(self.gap(frame, picture, greedy.tokens), 4) if picture is not None and greedy.tokens else None,
            tokens=counts,
        )


def prompt_for(writer: Any, request: Any, *, notes: Sequence[str] = (), budget: int | None = None) -> Prompt:
    """The prompt of one request, within the budget that the writer was trained with."""
    size = writer.native.config.budget if budget is None else budget
    return prompts.render(
        request.context, request.role, count=writer.count, budget=size, special=writer.special, notes=notes
    )
