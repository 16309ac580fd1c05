"""Where the starter's weights lie on this machine, under which names, and what they must contain.

Knows no torch and no network: `captioner.fetching` fills the shelf, the modules beside this one read from it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from captioner.types import WeightsMissing

FOLDER_VARIABLE = "ALTTEXT_WEIGHTS"
HINT = "run `python -m captioner fetch starter`"


@dataclass(frozen=True, slots=True)
class Shelved:
    """One file on the shelf.

    :ivar part: the part of the starter it belongs to; the key in `Eyes.versions`.
    :ivar digest: sha256, of the tensors for safetensors (see `digest_of`), of the bytes for all else.
    """

    part: str
    file: str
    digest: str


TAGS = Shelved(
    part="tags",
    file="efficientnet-lite2.safetensors",
    digest="db1ed5548013c8585052f7df6d09285ca652e0ff4aa909d165b045ed6c3f1998",
)
DETECTOR_WEIGHTS = Shelved(
    part="detector",
    file="centernet.safetensors",
    digest="9f04ccd9d2261722f306fe4361cb355f9b006f834238a2abf7e40ebb26f15589",
)
DETECTOR_GRAPH = Shelved(
    part="detector",
    file="centernet.json",
    digest="bfb942eaacc5becf738d536663bc4580a0ae9e560722306e6d4dd7fe4a09de05",
)


def weights_folder() -> Path:
    """The folder of all fetched weights: `ALTTEXT_WEIGHTS` where set, else `alttext/weights` in the user's cache.

    The cache is `XDG_CACHE_HOME` or `~/.cache`. The folder need not exist. One subfolder per captioner ("starter").
    """
    if named := os.environ.get(FOLDER_VARIABLE):
        return Path(named).expanduser()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "alttext" / "weights"


def starter_folder(folder: Path | None = None) -> Path:
    """Where the starter's files lie inside `folder`, or inside `weights_folder()`."""
    return (folder or weights_folder()) / "starter"


def digest_of(tensors: Mapping[str, np.ndarray]) -> str:
    """sha256 over names, dtypes, shapes and little-endian values, in order of names.

    Unlike a hash of the file it does not change when a later safetensors writes its header differently.
    """
    total = hashlib.sha256()
    for name in sorted(tensors):
        array = tensors[name]
        total.update(f"{name}|{array.dtype.str}|{array.shape}|".encode())
        total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


def file_digest(path: Path) -> str:
    """sha256 of the bytes, 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_tensors(folder: Path, shelved: Shelved) -> dict[str, np.ndarray]:
    """The checked tensors of one safetensors file.

    :raises WeightsMissing: the file is absent, unreadable or holds other values than those pinned.
    """
    path = _existing(folder, shelved)
    try:
        tensors = load_file(path)
    except (SafetensorError, OSError, ValueError) as error:
        raise WeightsMissing(f"{path} cannot be read: {error}; delete it and {HINT}") from error
    _compare(path, digest_of(tensors), shelved.digest)
    return tensors


def read_bytes(folder: Path, shelved: Shelved) -> bytes:
    """The checked bytes of one file that is not safetensors.

    :raises WeightsMissing: the file is absent or differs from the pinned sha256.
    """
    path = _existing(folder, shelved)
    content = path.read_bytes()
    _compare(path, hashlib.sha256(content).hexdigest(), shelved.digest)
    return content


def _existing(folder: Path, shelved: Shelved) -> Path:
    path = folder / shelved.file
    if not path.is_file():
        raise WeightsMissing(f"{path} is not there; {HINT}")
    return path


def _compare(path: Path, found: str, pinned: str) -> None:
    if found != pinned:
        raise WeightsMissing(f"{path} has sha256 {found[:12]}…, expected {pinned[:12]}…; delete it and {HINT}")
