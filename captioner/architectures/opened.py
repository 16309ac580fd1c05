"""An open-vocabulary detector as evidence: which phrases of a text it is asked about, and what counts as seen.

Knows no detector family: anything with `find` and `version` will do. Its thresholds are the site's, none is assumed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PIL import Image

from captioner.architectures import configuration
from captioner.architectures.capabilities import Misconfigured
from captioner.prepare.phrases import PhraseKind, Phrases
from captioner.rooms.gate.support import Found


@dataclass(frozen=True, slots=True)
class OpenedConfig:
    """The object `open_vocabulary` of a gate.

    :ivar model, revision, download, device: see `OpenVocabulary.load`.
    :ivar score: from which on a phrase counts as seen, on the detector's own scale; calibrate it, there is no default.
    :ivar z: least lead over the distractors, in standard deviations; null leaves it out.
    """

    model: str
    score: float
    z: float | None = None
    revision: str = ""
    download: bool = False
    device: str = "cpu"

    def __post_init__(self) -> None:
        if not 0 < self.score < 1:
            raise Misconfigured(f"score: must lie between 0 and 1, not {self.score}")


class Opened:
    """A detector with its thresholds.  :ivar version: of both; other thresholds void a calibration."""

    def __init__(self, detector: Any, thresholds: Any) -> None:
        self.detector, self.thresholds = detector, thresholds
        z = "none" if thresholds.z is None else f"{thresholds.z:g}"
        self.version = f"{detector.version} score={thresholds.score:g} z={z}"

    @classmethod
    def load(cls, mapping: Mapping[str, Any]) -> Opened:
        """:raises Misconfigured: a key does not fit.  :raises WeightsMissing: the detector is not on this machine."""
        from captioner.rooms.encode.open_vocabulary import OpenVocabulary, Thresholds

        config = configuration.read(OpenedConfig, mapping)
        detector = OpenVocabulary.load(
            config.model, revision=config.revision, download=config.download, device=config.device
        )
        return cls(detector, Thresholds(config.score, config.z))

    def find(self, image: Image.Image, said: Phrases) -> dict[str, Found]:
        """Verdicts by casefolded head, of things and of what carries a name; scenes are no boxes and are not asked.

        :raises CaptionError: the detector failed, which is never taken for "not seen".
        """
        heads = [phrase.head.casefold() for phrase in said.of(PhraseKind.OBJECT)]
        heads += [concept.casefold() for phrase in said.of(PhraseKind.NAME) for concept in phrase.generic]
        asked = list(dict.fromkeys(heads))
        if not asked:
            return {}
        source = f"open:{self.detector.family}"
        found = self.detector.find(image, asked)
        return {one.phrase: Found(one.passes(self.thresholds), one.score, source) for one in found}
