"""Eyes that remember on disk: a picture is looked at once, whatever number of captioners are compared on it.

For evaluation only; the answer of an equal picture under equal versions is the stored one. Knows no captioner.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PIL import Image

from captioner.types import Box, Detection, Sight, Tag, TextLine, versions_key


class RememberingEyes:
    """Same interface as `Eyes`."""

    def __init__(self, eyes: Any, folder: Path) -> None:
        self.eyes, self.versions = eyes, eyes.versions
        self.tower = eyes.tower
        self.folder = folder / versions_key(eyes.versions)
        self.folder.mkdir(parents=True, exist_ok=True)

    def look(self, image: Image.Image, *, text: bool | None = None) -> Sight:
        """The stored sight of an equal picture, or a fresh one that is stored."""
        key = hashlib.sha256(f"{image.size} {image.mode} {text}".encode() + image.tobytes()).hexdigest()[:32]
        place = self.folder / f"{key}.json"
        if place.is_file():
            return sight_from(json.loads(place.read_text("utf-8")))
        sight = self.eyes.look(image, text=text)
        unfinished = place.with_suffix(f".{os.getpid()}")
        unfinished.write_text(json.dumps(dataclasses.asdict(sight)), "utf-8")
        unfinished.replace(place)
        return sight


def sight_from(data: Mapping[str, Any]) -> Sight:
    """The sight that `dataclasses.asdict` made `data` of."""
    return Sight(
        **{
            **data,
            "detections": tuple(Detection(**{**one, "box": Box(**one["box"])}) for one in data["detections"]),
            "tags": tuple(Tag(**one) for one in data["tags"]),
            "lines": tuple(TextLine(**{**one, "box": Box(**one["box"])}) for one in data["lines"]),
            "missing": tuple(data["missing"]),
        }
    )
