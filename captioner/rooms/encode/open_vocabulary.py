"""Side door of room 1: is there something in the picture that a phrase names? OWLv2 or Grounding DINO, by phrase.

A detector says yes too often, and each on a scale of its own: so thresholds come in with the question, and a phrase is
also compared with nouns that nobody mentioned. Knows nothing of texts: phrases come in, evidence goes out.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor
from transformers import AutoConfig, AutoModelForZeroShotObjectDetection, AutoProcessor

from captioner.types import Box, CaptionError, WeightsMissing

OWL = frozenset({"owlv2"})
DINO = frozenset({"grounding-dino", "mm-grounding-dino"})
DISTRACTORS = (  # K nouns over the things of the world; one that shares a word with a phrase is left out
    *("airplane", "anchor", "banana", "bathtub", "bicycle", "cactus", "camel", "chandelier", "clock", "crab"),
    *("drum", "envelope", "flamingo", "hammer", "helicopter", "kettle", "ladder", "lighthouse", "mushroom", "piano"),
    *("scissors", "submarine", "tent", "zebra"),
)
LEAST_DISTRACTORS = 5  # below that a mean and a spread say nothing
LEAST_SPREAD = 0.25  # in log-odds; an even floor of scores must not turn a whisper into a large z
FEWEST, MOST = 1e-6, 1 - 1e-6  # scores are kept inside for log-odds
OWL_TOKENS = 16  # positions of its text tower; the rest of a longer phrase cannot be read
PHRASES_A_PASS = 12  # Grounding DINO reads all phrases as one text of at most 256 tokens


class DetectorFailed(CaptionError):
    """The detector gave no answer; that says nothing about the picture."""


class PhraseUnreadable(CaptionError):
    """A phrase holds no word, or more than the detector can read."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What counts as seen for one detector; no default, since the scales differ.

    :ivar score: on the detector's own scale, 0..1.
    :ivar z: least lead over the distractors in their standard deviations, on log-odds; None to leave it out.
    """

    score: float
    z: float | None = None


@dataclass(frozen=True, slots=True)
class Grounded:
    """Best place for one phrase, however bad. `score` 0..1, no probability; `z` None with too few distractors."""

    phrase: str
    score: float
    box: Box
    z: float | None

    def passes(self, thresholds: Thresholds) -> bool:
        """Whether the phrase counts as seen; a threshold on `z` is not passed where there is none."""
        if self.score < thresholds.score:
            return False
        return thresholds.z is None or (self.z is not None and self.z >= thresholds.z)


class OpenVocabulary:
    """Phrases in, their best places out."""

    def __init__(self, model: Any, processor: Any, revision: str, distractors: Sequence[str] = DISTRACTORS) -> None:
        """:raises DetectorFailed: the model is of a family that is not known here."""
        self.model, self.processor, self.distractors = model.eval(), processor, tuple(distractors)
        self.family: str = model.config.model_type
        if self.family not in OWL | DINO:
            raise DetectorFailed(f"{self.family} is none of {', '.join(sorted(OWL | DINO))}.")
        self.version = f"{self.family}:{revision}:{len(self.distractors)}"

    @classmethod
    def load(cls, model: str, *, revision: str = "", download: bool = False, device: str = "cpu") -> OpenVocabulary:
        """From a folder or, with a commit hash as `revision`, a hub id. Safetensors only, no code of the checkpoint.

        :raises WeightsMissing: it is not whole on this machine.
        :raises DetectorFailed: it is no detector of a known family.
        """
        folder = Path(model).expanduser()
        name = str(folder) if folder.is_dir() else model
        where: dict[str, Any] = {"trust_remote_code": False, "local_files_only": folder.is_dir() or not download}
        where |= {"revision": revision} if revision else {}
        if folder.is_dir() and not (folder / "config.json").is_file():
            raise WeightsMissing(f"{model} holds no config.json.")
        try:
            family = AutoConfig.from_pretrained(name, **where).model_type
            if family not in OWL | DINO:
                raise DetectorFailed(f"{family} is none of {', '.join(sorted(OWL | DINO))}.")
            processor = AutoProcessor.from_pretrained(name, **where)
            network, report = AutoModelForZeroShotObjectDetection.from_pretrained(
                name, dtype=torch.float32, use_safetensors=True, output_loading_info=True, **where
            )
        except OSError as error:
            raise WeightsMissing(f"{model} is not whole on this machine: {str(error)[:300]}") from error
        except (ValueError, KeyError, ImportError) as error:
            raise DetectorFailed(f"{model} cannot be used: {str(error)[:300]}") from error
        if absent := sorted([*report["missing_keys"], *report["mismatched_keys"]], key=str):
            raise WeightsMissing(f"{model} lacks {len(absent)} weights, such as {absent[0]}.")
        return cls(network.to(device), processor, revision or folder.name)

    def find(self, image: Image.Image, phrases: Sequence[str]) -> tuple[Grounded, ...]:
        """One `Grounded` a phrase, in order. `image` is upright RGB.

        :raises PhraseUnreadable: a phrase holds no word, or too many.
        :raises DetectorFailed: the network failed or gave numbers that are none.
        """
        asked = [tidy(phrase) for phrase in phrases]
        if not asked:
            return ()
        others = [noun for noun in self.distractors if not any(_share_a_word(noun, phrase) for phrase in asked)]
        try:
            scores, boxes = self._look(image, asked, others)
        except (RuntimeError, ValueError, TypeError, IndexError, MemoryError) as error:
            raise DetectorFailed(f"{self.family} failed: {str(error)[:300]}") from error
        if not all(0 <= score <= 1 for score in scores):  # also False for not-a-number
            raise DetectorFailed(f"{self.family} gave scores outside 0..1.")
        found = []
        for at, phrase in enumerate(phrases):
            found.append(Grounded(phrase, scores[at], boxes[at], z_score(scores[at], scores[len(phrases) :])))
        return tuple(found)

    def _look(self, image: Image.Image, asked: list[str], others: list[str]) -> tuple[list[float], list[Box]]:
        """Scores and boxes of `asked` and then of `others`."""
        if self.family in OWL:
            return self._owl(image, asked + others)
        scores: list[float] = []
        boxes: list[Box] = []
        rivals: list[float] = []
        for start in range(0, len(asked), PHRASES_A_PASS):
            part = asked[start : start + PHRASES_A_PASS]
            found, places = self._dino(image, part + others)
            scores, boxes = scores + found[: len(part)], boxes + places[: len(part)]
            rivals = rivals or found[len(part) :]  # their scores in the first pass: one yardstick for all phrases
        return scores + rivals, boxes

    @torch.inference_mode()
    def _owl(self, image: Image.Image, asked: list[str]) -> tuple[list[float], list[Box]]:
        """Each phrase is a text of its own. Boxes are shares of a square over the longer side, padded on the right."""
        texts = [f"a photo of {phrase}" for phrase in asked]
        for text in texts:
            if len(self.processor.tokenizer(text)["input_ids"]) > OWL_TOKENS:
                raise PhraseUnreadable(f"{text!r} is too long for {self.family}.")
        inputs = self.processor(images=image, text=[texts], return_tensors="pt").to(self.model.device)
        output = self.model(**inputs)
        scores = output.logits[0].float().sigmoid()  # (boxes, phrases)
        longer = max(image.size)
        return _best(scores, output.pred_boxes[0].float(), longer / image.width, longer / image.height)

    @torch.inference_mode()
    def _dino(self, image: Image.Image, asked: list[str]) -> tuple[list[float], list[Box]]:
        """One text, lower case, each phrase ended by "."; a phrase scores the mean over its tokens."""
        text, spans = joined(asked)
        tokens = self.processor.tokenizer(text, return_offsets_mapping=True)
        if len(tokens["input_ids"]) > self.model.config.max_text_len:
            raise PhraseUnreadable(f"{len(asked)} phrases are too long for {self.family}.")
        inputs = self.processor(images=image, text=text, return_tensors="pt").to(self.model.device)
        output = self.model(**inputs)
        by_token = output.logits[0].float().sigmoid()  # (boxes, tokens); 0 beyond the text
        columns = []
        for start, end in spans:
            of_phrase = [
                at for at, (left, right) in enumerate(tokens["offset_mapping"]) if start <= left < right <= end
            ]
            columns.append(by_token[:, of_phrase].mean(1))
        return _best(torch.stack(columns, 1), output.pred_boxes[0].float(), 1.0, 1.0)


def tidy(phrase: str) -> str:
    """Lower case, no full stop inside (it would end the phrase), single spaces.  :raises PhraseUnreadable: no word."""
    plain = re.sub(r"[\s.]+", " ", phrase).strip().lower()
    if not re.search(r"\w", plain):
        raise PhraseUnreadable(f"{phrase!r} holds no word.")
    return plain


def joined(phrases: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """Grounding DINO's text, "a cat. a dog.", and where each phrase stands in it without its full stop."""
    spans, text = [], ""
    for phrase in phrases:
        text += " " if text else ""
        spans.append((len(text), len(text) + len(phrase)))
        text += f"{phrase}."
    return text, spans


def z_score(score: float, rivals: Sequence[float]) -> float | None:
    """Lead of `score` over the mean of `rivals` in their standard deviations, on log-odds."""
    if len(rivals) < LEAST_DISTRACTORS:
        return None
    odds = [log_odds(rival) for rival in rivals]
    return (log_odds(score) - statistics.fmean(odds)) / max(statistics.stdev(odds), LEAST_SPREAD)


def log_odds(score: float) -> float:
    """ln(p / (1 - p)), finite at 0 and 1."""
    return float(torch.logit(torch.tensor(score, dtype=torch.float64), eps=FEWEST))


def _best(scores: Tensor, boxes: Tensor, stretch_x: float, stretch_y: float) -> tuple[list[float], list[Box]]:
    """For each column of `scores` (boxes, phrases) its best value and box; `boxes` are centre and size in shares."""
    best = scores.max(0)
    centre_x, centre_y, width, height = boxes[best.indices].T
    edges = torch.stack([centre_x - width / 2, centre_y - height / 2, centre_x + width / 2, centre_y + height / 2], 1)
    shares = (edges * torch.tensor([stretch_x, stretch_y] * 2, device=edges.device)).clamp(0, 1)
    return best.values.tolist(), [Box(*(round(edge, 4) for edge in box)) for box in shares.tolist()]


def _share_a_word(one: str, other: str) -> bool:
    return bool({word.removesuffix("s") for word in one.split()} & {word.removesuffix("s") for word in other.split()})
