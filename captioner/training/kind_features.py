"""Pooled encoder features and pixel statistics of many pictures, cached on disk and resumable.

Knows no labels. The cache is plain npz parts of 256 pictures, so an interrupted run loses at most one part.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from captioner.rooms.encode import shelf
from captioner.rooms.encode.statistics import pixel_statistics
from captioner.rooms.encode.towers import Tower, bound_threads

PART = 256  # pictures: about 25 CPU-seconds


def features(paths: Sequence[Path], cache: Path, *, say: Callable[[str], object] = print) -> np.ndarray:
    """(N, 1280 + 18) float32 for `paths` in order: pooled vector, then pixel statistics."""
    bound_threads(1)  # a long run beside other work: two threads would wait for each other
    cache.mkdir(parents=True, exist_ok=True)
    tower: Tower | None = None
    parts = []
    for start in range(0, len(paths), PART):
        chunk = paths[start : start + PART]
        stored = cache / f"{_key(chunk)}.npz"
        if not stored.exists():
            tower = tower or Tower.load(shelf.starter_folder())
            _save(stored, np.stack([_row(tower, path) for path in chunk]))
            say(f"{start + len(chunk)} of {len(paths)}")
        parts.append(np.load(stored)["rows"].astype(np.float32))
    return np.concatenate(parts)


def _row(tower: Tower, path: Path) -> np.ndarray:
    with Image.open(path) as file:
        image = file.convert("RGB")
    return np.concatenate([tower.encode(image).pooled, pixel_statistics(image)]).astype(np.float32)


def _save(path: Path, rows: np.ndarray) -> None:
    unfinished = path.with_suffix(".part")
    with unfinished.open("wb") as file:
        np.savez(file, rows=rows)
    unfinished.replace(path)


def _key(paths: Sequence[Path]) -> str:
    return hashlib.sha256("\n".join(path.name for path in paths).encode()).hexdigest()[:16]
