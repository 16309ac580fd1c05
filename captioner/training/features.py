"""What the frozen encoder gives for each picture, cached on disk: training reads it many times, encoding costs most.

Resumable in parts, known by the hash of the file's bytes: a picture that was replaced under its name is looked at anew.
Holds image tokens after parameter-free pooling, the pooled vector, class probabilities and pixel statistics. Knows no
text.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from captioner.architectures.checkpoint import NativeConfig
from captioner.prepare import hashes
from captioner.rooms.encode import shelf, vision
from captioner.rooms.encode.statistics import pixel_statistics
from captioner.rooms.encode.towers import WIDTH, Tower, bound_threads
from captioner.rooms.reduce import GridPool

PART = 256  # pictures: half a minute of work at most is lost
SIDE = 3  # 9 x 9 cells pooled to 3 x 3
UNREADABLE = (OSError, ValueError, SyntaxError, EOFError, struct.error, Image.DecompressionBombError)  # Pillow's
ARRAYS = ("tokens", "pooled", "probabilities", "statistics")


@dataclass(frozen=True, slots=True)
class Seen:
    """Of one picture: tokens (9, 1280), pooled (1280,), probabilities (1000,), statistics (18,).

    Of another encoder: tokens (T, C), pooled (C,), probabilities (0,).
    """

    tokens: np.ndarray
    pooled: np.ndarray
    probabilities: np.ndarray
    statistics: np.ndarray


def load(cache: Path) -> dict[str, Seen]:
    """Content hash -> what was seen, for every picture in `cache`; {} where the folder is not there.

    Parts of an earlier version, which knew pictures by their names, are left aside: names do not say what was seen.
    """
    known: dict[str, Seen] = {}
    for part in sorted(cache.glob("*.npz")):
        with np.load(part) as stored:
            if "hashes" in stored:
                seen = map(Seen, *(stored[array] for array in ARRAYS))
                known.update(zip(stored["hashes"].tolist(), seen, strict=True))
    return known


def find(seen: Mapping[str, Seen], image: Path | None) -> Seen | None:
    """What was seen in the very bytes that `image` has now; None where they were not looked at or are not there."""
    try:
        return seen.get(hashes.content_hash(image.read_bytes())) if image else None
    except OSError:
        return None


def fill(
    paths: Sequence[Path], cache: Path, *, config: NativeConfig | None = None, say: Callable[[str], object] = print
) -> dict[str, Seen]:
    """Cache what is missing and load all. About 0.1 CPU-seconds a picture; unreadable ones are told and left out.

    :param config: of the captioner that is trained; None is the starter's. One cache folder an encoder.
    """
    cache.mkdir(parents=True, exist_ok=True)
    known = load(cache)
    wanted = {key: path for path, key in _keys(paths, say) if key not in known}
    if not wanted:
        return known
    bound_threads(1)
    look = looker(config)
    queue = list(wanted.items())
    for start in range(0, len(queue), PART):
        chunk = [(key, path, seen) for key, path in queue[start : start + PART] if (seen := _look(look, path, say))]
        if not chunk:
            continue
        keys = [key for key, _, _ in chunk]
        _save(cache / f"{part_name(keys)}.npz", keys, [path.name for _, path, _ in chunk], [seen for *_, seen in chunk])
        known.update((key, seen) for key, _, seen in chunk)
        say(f"{cache.name}: {start + len(chunk)} of {len(queue)}")
    return known


def pooled_grid(tokens: np.ndarray) -> np.ndarray:
    """(81, C) of a 9 x 9 grid -> (9, C): the mean of 3 x 3 cells, as `reduce.GridPool` gives it."""
    step = 9 // SIDE
    return tokens.reshape(SIDE, step, SIDE, step, WIDTH).mean(axis=(1, 3)).reshape(SIDE * SIDE, WIDTH)


def part_name(keys: Sequence[str]) -> str:
    """12 hex digits over the hashes in a part: another part never takes its place."""
    return hashlib.sha256("\n".join(keys).encode()).hexdigest()[:12]


def looker(config: NativeConfig | None) -> Callable[[Image.Image], Seen]:
    """What looks at a picture: the starter's tower, or that of `config` with its tokens pooled as its reducer does.

    Another tower has no classes, so its pictures come without tags. For a Perceiver all patches are kept.
    """
    if config is None or config.encode.library == "starter":
        starter = Tower.load(shelf.starter_folder())
        return lambda image: _starter(starter, image)
    tower = vision.build(config.encode)
    pool = GridPool(config.bridge.reduce.side) if config.bridge.reduce.method == "pool" else None

    def look(image: Image.Image) -> Seen:
        patches = tower.tokens([image])
        tokens = (pool(patches) if pool is not None else patches)[0].numpy()
        return Seen(
            tokens.astype(np.float16),
            tokens.mean(0).astype(np.float16),
            np.zeros(0, dtype=np.float16),
            pixel_statistics(image).astype(np.float32),
        )

    return look


def _starter(tower: Tower, image: Image.Image) -> Seen:
    found = tower.encode(image)
    return Seen(
        pooled_grid(found.tokens).astype(np.float16),
        found.pooled.astype(np.float16),
        found.probabilities.astype(np.float16),
        pixel_statistics(image).astype(np.float32),
    )


def _keys(paths: Sequence[Path], say: Callable[[str], object]) -> Iterator[tuple[Path, str]]:
    """Each file with its content hash; one that cannot be read is told and left out."""
    for path in dict.fromkeys(paths):
        try:
            yield path, hashes.content_hash(path.read_bytes())
        except OSError as error:
            say(f"{path.name}: skipped, {error}")


def _look(look: Callable[[Image.Image], Seen], path: Path, say: Callable[[str], object]) -> Seen | None:
    try:
        with Image.open(path) as file:
            image = file.convert("RGB")
    except UNREADABLE as error:
        say(f"{path.name}: skipped, {error}")
        return None
    return look(image)


def _save(path: Path, keys: Sequence[str], names: Sequence[str], seen: Sequence[Seen]) -> None:
    """`names` are only for a person who opens the file."""
    unfinished = path.with_suffix(".part")
    with unfinished.open("wb") as file:
        arrays = {array: np.stack([getattr(one, array) for one in seen]) for array in ARRAYS}
        np.savez(file, allow_pickle=False, hashes=np.array(keys), names=np.array(names), **arrays)
    os.replace(unfinished, path)


def main(arguments: Sequence[str] | None = None) -> None:
    """`python -m captioner.training.features DATA.jsonl CACHE`."""
    from captioner.metrics import rows

    parser = argparse.ArgumentParser(prog="captioner.training.features", description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("cache", type=Path)
    options = parser.parse_args(arguments)
    skipped = rows.Skipped()
    fill([row.image for row in rows.read(options.data, skipped)], options.cache)


if __name__ == "__main__":
    main()
