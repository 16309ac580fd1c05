"""Pooled encoder features and pixel statistics of many pictures, cached on disk and resumable.

Knows no labels. The cache is npz parts of names and rows, so an interrupted run loses at most one part, and a picture
is found again whatever list it stands in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from captioner.rooms.encode import shelf
from captioner.rooms.encode.statistics import pixel_statistics
from captioner.rooms.encode.towers import Tower, bound_threads

PART = 256  # pictures: about 25 CPU-seconds


def features(paths: Sequence[Path], cache: Path, *, say: Callable[[str], object] = print) -> np.ndarray:
    """(N, 1280 + 18) float32 for `paths` in order: pooled vector, then pixel statistics.

    Pictures are known by file name; one cache folder per picture folder.
    """
    cache.mkdir(parents=True, exist_ok=True)
    known = _read(cache)
    wanted = [path for path in paths if path.name not in known]
    if wanted:
        bound_threads(1)  # a long run beside other work: two threads would wait for each other
        tower = Tower.load(shelf.starter_folder())
        for start in range(0, len(wanted), PART):
            chunk = wanted[start : start + PART]
            rows = np.stack([_row(tower, path) for path in chunk])
            _save(cache / f"{chunk[0].stem}-{len(chunk)}.npz", [path.name for path in chunk], rows)
            known.update(zip((path.name for path in chunk), rows, strict=True))
            say(f"{cache.name}: {start + len(chunk)} of {len(wanted)}")
    return np.stack([known[path.name] for path in paths]).astype(np.float32)


def known_names(cache: Path) -> set[str]:
    """File names of the pictures whose features the cache holds."""
    return set(_read(cache))


def _read(cache: Path) -> dict[str, np.ndarray]:
    known: dict[str, np.ndarray] = {}
    for part in sorted(cache.glob("*.npz")):
        with np.load(part) as stored:
            known.update(zip(stored["names"].tolist(), stored["rows"], strict=True))
    return known


def _row(tower: Tower, path: Path) -> np.ndarray:
    with Image.open(path) as file:
        image = file.convert("RGB")
    return np.concatenate([tower.encode(image).pooled, pixel_statistics(image)]).astype(np.float32)


def _save(path: Path, names: list[str], rows: np.ndarray) -> None:
    unfinished = path.with_suffix(".part")
    with unfinished.open("wb") as file:
        np.savez(file, names=np.array(names), rows=rows)
    unfinished.replace(path)
