"""Room 1 for the native captioner: frozen open_clip and timm towers that give patch tokens. (B, P, C), row-major.

Beside `towers.py` the only file that builds vision models. Knows no words and no language model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from captioner.rooms.encode import shelf, towers
from captioner.types import WeightsMissing


@dataclass(frozen=True, slots=True)
class EncodeConfig:
    """:ivar library: "starter" (the packaged EfficientNet-Lite2), "open_clip" or "timm".

    :ivar model: a name of the library; ViT-L-14-336 needs its "-quickgelu" form, without it open_clip only warns and
        the embeddings are wrong.
    :ivar weights: path of a local safetensors file, or a tag of open_clip; "" for random weights (tests).
    :ivar side_px: of the square input; 0 takes the model's own.
    """

    library: str = "starter"
    model: str = "efficientnet-lite2"
    weights: str = ""
    side_px: int = 0


class VisionTower(Protocol):
    """Frozen, in eval mode."""

    width: int  # C
    patches: int  # P

    def tokens(self, images: Sequence[Image.Image]) -> Tensor:
        """(B, P, C) float32."""
        ...

    def blank(self) -> Tensor:
        """(1, P, C) of an image that is zero after normalisation."""
        ...


class StarterTower:
    """The encoder of the starter: 9 x 9 tokens of width 1280."""

    width, patches = towers.WIDTH, towers.TOKENS

    def __init__(self, tower: towers.Tower) -> None:
        self.tower = tower

    def tokens(self, images: Sequence[Image.Image]) -> Tensor:
        return torch.from_numpy(np.stack([self.tower.encode(image).tokens for image in images]))

    def blank(self) -> Tensor:
        grey = Image.new("RGB", (towers.SIDE_PX, towers.SIDE_PX), (127, 127, 127))  # 0 once mean and deviation are .5
        return self.tokens([grey])


class OpenClipTower:
    """Tokens of the second-last block without the class token, as LLaVA reads them."""

    def __init__(self, model: Any, preprocess: Any, side_px: int) -> None:
        self.visual: Any = model.visual.eval().requires_grad_(False)
        self.preprocess, self.side_px = preprocess, side_px
        probe = self._walk(torch.zeros(1, 3, side_px, side_px))
        self.patches, self.width = int(probe.shape[1]), int(probe.shape[2])

    @torch.inference_mode()
    def tokens(self, images: Sequence[Image.Image]) -> Tensor:
        return self._walk(torch.stack([self.preprocess(image) for image in images]))

    @torch.inference_mode()
    def blank(self) -> Tensor:
        return self._walk(torch.zeros(1, 3, self.side_px, self.side_px))

    def _walk(self, pixels: Tensor) -> Tensor:
        # an integer index would mean the last N blocks, and the default layout is NCHW
        found = self.visual.forward_intermediates(
            pixels, indices=[-2], output_fmt="NLC", normalize_intermediates=False, intermediates_only=True
        )
        return found["image_intermediates"][0].float()


class TimmTower:
    """Any timm model whose `forward_features` is a grid (B, C, H, W) or tokens (B, N, C) with prefix tokens."""

    def __init__(self, model: Any, transform: Any, side_px: int) -> None:
        self.model: Any = model.eval().requires_grad_(False)
        self.transform, self.side_px = transform, side_px
        probe = self._walk(torch.zeros(1, 3, side_px, side_px))
        self.patches, self.width = int(probe.shape[1]), int(probe.shape[2])

    @torch.inference_mode()
    def tokens(self, images: Sequence[Image.Image]) -> Tensor:
        return self._walk(torch.stack([self.transform(image.convert("RGB")) for image in images]))

    @torch.inference_mode()
    def blank(self) -> Tensor:
        return self._walk(torch.zeros(1, 3, self.side_px, self.side_px))

    def _walk(self, pixels: Tensor) -> Tensor:
        found = self.model.forward_features(pixels)
        if found.ndim == 4:
            return found.flatten(2).transpose(1, 2).float()
        return found[:, getattr(self.model, "num_prefix_tokens", 0) :].float()


def build(config: EncodeConfig, folder: Path | None = None) -> VisionTower:
    """The tower that `config` describes; `folder` holds the starter's weights.

    :raises WeightsMissing: the weights are not on this machine or do not fit.  :raises ValueError: unknown library.
    """
    if config.library == "starter":
        return StarterTower(towers.Tower.load(folder or shelf.starter_folder()))
    if config.library == "open_clip":
        return _open_clip(config)
    if config.library == "timm":
        return _timm(config)
    raise ValueError(f"no tower of {config.library!r}; there are: starter, open_clip, timm")


def _open_clip(config: EncodeConfig) -> OpenClipTower:
    import open_clip

    try:
        model, _, preprocess = open_clip.create_model_and_transforms(
            config.model,
            pretrained=config.weights or None,
            force_image_size=config.side_px or None,
            weights_only=True,  # no pickle
        )
    except (RuntimeError, OSError) as error:
        raise WeightsMissing(f"open_clip {config.model}: {error}") from error
    side = model.visual.image_size
    return OpenClipTower(model, preprocess, side[0] if isinstance(side, tuple | list) else side)


def _timm(config: EncodeConfig) -> TimmTower:
    import timm
    from safetensors.torch import load_file
    from timm.data import create_transform, resolve_model_data_config

    model = timm.create_model(config.model, pretrained=False)
    if config.weights:
        try:
            model.load_state_dict(load_file(config.weights), strict=True)
        except (RuntimeError, OSError) as error:
            raise WeightsMissing(f"timm {config.model}: {error}") from error
    data = resolve_model_data_config(model)
    side = config.side_px or data["input_size"][-1]
    data["input_size"] = (3, side, side)
    return TimmTower(model, create_transform(**data, is_training=False), side)
