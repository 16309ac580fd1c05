"""A few numbers about the pixels of a picture that tell drawn ones from photographed ones. Knows no model."""

from __future__ import annotations

import numpy as np
from PIL import Image

LONG_SIDE_PX = 336  # the training pictures are scaled to this; a larger picture must look the same to the numbers
NAMES = (
    "log_aspect",
    "log_colours",
    "top_colour",
    "top_four_colours",
    "flat",
    "white",
    "black",
    "grey",
    "saturation",
    "saturation_spread",
    "edges",
    "strong_edges",
    "light_spread",
    "light_entropy",
    "one_colour_rows",
    "border",
    "ruled_rows",
    "ruled_columns",
)


def pixel_statistics(image: Image.Image) -> np.ndarray:
    """(18,) float32 in the order of `NAMES`, most of them shares 0..1; about 4 CPU-ms."""
    small = image.convert("RGB")
    small.thumbnail((LONG_SIDE_PX, LONG_SIDE_PX), Image.Resampling.BILINEAR)
    rgb = np.asarray(small).astype(np.int16)  # (H, W, 3)
    values = (
        np.log(image.width / image.height),
        *_colours(rgb),
        *_tones(rgb),
        *_edges(rgb),
        *_light(rgb),
        *_layout(rgb),
    )
    return np.array(values, dtype=np.float32)


def _colours(rgb: np.ndarray) -> tuple[float, ...]:
    """Log of the number of distinct 5-bit colours, share of the commonest one and of the four commonest."""
    five_bit = (rgb >> 3).reshape(-1, 3)
    counts = np.bincount((five_bit[:, 0] << 10) | (five_bit[:, 1] << 5) | five_bit[:, 2])
    counts = np.sort(counts[counts > 0])[::-1]
    return float(np.log(len(counts))), counts[0] / counts.sum(), counts[:4].sum() / counts.sum()


def _tones(rgb: np.ndarray) -> tuple[float, ...]:
    """Shares of flat neighbours, white, black and grey; mean and deviation of saturation."""
    flat = np.abs(np.diff(rgb, axis=1)).max(axis=2) <= 2 if rgb.shape[1] > 1 else np.ones(1)
    high, low = rgb.max(axis=2), rgb.min(axis=2)
    saturation = (high - low) / np.maximum(high, 1)
    return (
        float(flat.mean()),
        float((low > 245).mean()),
        float((high < 12).mean()),
        float((high - low < 12).mean()),
        float(saturation.mean()),
        float(saturation.std()),
    )


def _edges(rgb: np.ndarray) -> tuple[float, ...]:
    """Shares of steps over 24 and over 96 grey levels between vertical neighbours."""
    steps = np.abs(np.diff(rgb.mean(axis=2), axis=0))
    return (float((steps > 24).mean()), float((steps > 96).mean())) if steps.size else (0.0, 0.0)


def _light(rgb: np.ndarray) -> tuple[float, ...]:
    """Deviation of lightness (1 = full range) and entropy of its 32-bin histogram (1 = uniform)."""
    light = rgb.mean(axis=2)
    shares = np.bincount((light // 8).astype(int).ravel(), minlength=32) / light.size
    shares = shares[shares > 0]
    return float(light.std() / 128), float(-(shares * np.log(shares)).sum() / np.log(32))


def _layout(rgb: np.ndarray) -> tuple[float, ...]:
    """Shares of one-coloured rows and of border pixels in the border's median colour; longest ruled row and column."""
    spread = rgb.max(axis=1) - rgb.min(axis=1)  # (H, 3)
    border = np.concatenate([rgb[0], rgb[-1], rgb[:, 0], rgb[:, -1]])
    uniform = np.abs(border - np.median(border, axis=0)).max(axis=1) <= 8
    light = rgb.mean(axis=2)
    down, across = np.abs(np.diff(light, axis=0)) > 24, np.abs(np.diff(light, axis=1)) > 24
    return (
        float((spread.max(axis=1) <= 8).mean()),
        float(uniform.mean()),
        float(down.mean(axis=1).max()) if down.size else 0.0,
        float(across.mean(axis=0).max()) if across.size else 0.0,
    )
