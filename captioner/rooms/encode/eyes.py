"""From one upright RGB picture to a `Sight`: every part of the starter that looks, in one object.

Knows which parts are installed and in which versions; decides no word. Optional parts that are absent are named in
`Sight.missing` and as "absent" in `versions`; only the encoder must be there.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from PIL import Image

from captioner.rooms.encode import ocr, shelf
from captioner.rooms.encode.detector import Detector
from captioner.rooms.encode.kinds import KindClassifier
from captioner.rooms.encode.tags import Taxonomy
from captioner.rooms.encode.towers import Tower, bound_threads
from captioner.types import Sight, TextLine

ABSENT = "absent"
Part = TypeVar("Part")


class Eyes:
    """All that looks at a picture. Loading takes about a second; the object is not to be shared between threads."""

    def __init__(
        self,
        tower: Tower,
        taxonomy: Taxonomy,
        *,
        detector: Detector | None = None,
        reader: ocr.Reader | None = None,
        kinds: KindClassifier | None = None,
    ) -> None:
        self.tower, self.taxonomy, self.detector, self.reader, self.kinds = tower, taxonomy, detector, reader, kinds
        self.versions: dict[str, str] = {
            "tags": f"efficientnet-lite2 {shelf.TAGS.digest[:12]}",
            "detector": f"centernet {shelf.DETECTOR_WEIGHTS.digest[:12]}" if detector else ABSENT,
            "ocr": ocr.version() if reader else ABSENT,
            "kinds": kinds.version if kinds else ABSENT,
        }
        self.missing = tuple(sorted(part for part, version in self.versions.items() if version == ABSENT))

    @classmethod
    def load(cls, folder: Path | None = None) -> Eyes:
        """Everything that is installed, from `folder` or from `shelf.weights_folder()`.

        :raises WeightsMissing: the encoder's weights are absent, or any file that is there differs from its pin.
        """
        bound_threads()
        shelves = shelf.starter_folder(folder)
        detector = _optional(lambda: Detector.load(shelves), shelves, shelf.DETECTOR_WEIGHTS, shelf.DETECTOR_GRAPH)
        return cls(
            Tower.load(shelves),
            Taxonomy.load(),
            detector=detector,
            reader=ocr.Reader.load(),
            kinds=KindClassifier.load(),
        )

    def look(self, image: Image.Image, *, text: bool | None = None) -> Sight:
        """What is seen in `image`; the same picture gives an equal sight.

        `text` says whether to read text: True, False, or None to let a cheap probe decide.
        """
        picture = image.convert("RGB")
        encoding = self.tower.encode(picture)
        lines = self._read(picture, text)
        return Sight(
            width_px=picture.width,
            height_px=picture.height,
            kinds=self.kinds.classify(picture, encoding.pooled) if self.kinds else {},
            detections=self.detector.find(picture) if self.detector else (),
            tags=self.taxonomy.tags(encoding.probabilities),
            lines=lines,
            text_share=ocr.text_share(lines),
            missing=self.missing,
        )

    def _read(self, picture: Image.Image, wanted: bool | None) -> tuple[TextLine, ...]:
        if self.reader is None or wanted is False:
            return ()
        large = max(picture.size) > ocr.PROBE_PX  # below that, reading costs no more than the probe
        if wanted is None and large and not self.reader.probe(picture).promises_text:
            return ()
        return self.reader.read(picture)


def _optional(load: Callable[[], Part], folder: Path, *files: shelf.Shelved) -> Part | None:
    """None where none of the files is there; a part that is half there or wrong is an error, not an absence."""
    if not any((folder / file.file).exists() for file in files):
        return None
    return load()
