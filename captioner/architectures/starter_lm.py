"""The starter with a trained language model: it may only choose among texts that evidence allows.

Links, words, charts and screenshots are answered as the starter answers them; where things are named, the page may
narrow what was seen, and the trained model picks the wording that fits picture and page best.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from captioner.architectures import evidence, native, sayable, ways
from captioner.architectures.native import NativeWriter
from captioner.architectures.sayable import Limits, Sayable
from captioner.architectures.starter import Starter, Visit
from captioner.architectures.ways import Draft, Silence
from captioner.prepare import candidates, phrases
from captioner.prepare.candidates import Candidate
from captioner.prepare.phrases import Phraser
from captioner.prepare.routing import Route
from captioner.prepare.safety import SafetyClassifier, load_classifier
from captioner.rooms.decode import wording
from captioner.rooms.encode.eyes import Eyes
from captioner.rooms.gate import verdict
from captioner.rooms.gate.visibility import Visibility
from captioner.types import Reason

SHIPPED = "data/starter_lm"
NOTED = 0.1  # probability from which a tag is written into the prompt
MOST_NOTES = 4


class StarterLM(Starter):
    """Evidence, page and a trained language model.

    :ivar writer: anything with `choose` as `NativeWriter` has it; None takes the page's likeliest word by rule, which
        shows in an evaluation what the language model adds.
    """

    name = "starter-lm"

    def __init__(
        self,
        eyes: Any,
        writer: Any,
        phraser: Phraser | None,
        visibility: Visibility,
        limits: Limits | None = None,
        *,
        classifier: SafetyClassifier | None = None,
    ) -> None:
        super().__init__(eyes, classifier=classifier)
        self.writer, self.phraser, self.visibility = writer, phraser, visibility
        self.limits = limits or Limits()
        self.versions = {
            **self.versions,
            **(writer.versions if writer else {"writer": "rule"}),
            "candidates": candidates.VERSION,
            "phrases": phraser.version if phraser else "absent",
            "visibility": f"{self.limits.version()} {visibility.version()}",
        }

    @classmethod
    def load(cls, *, safety: str = "") -> StarterLM:
        """:raises WeightsMissing: run `python -m captioner fetch starter-lm`.  :raises PhraserMissing: no spaCy."""
        folder = Path(str(resources.files("captioner"))) / SHIPPED
        writer = NativeWriter.load(folder)
        return cls(Eyes.load(), writer, load_phraser(), Visibility.load(), classifier=load_classifier(safety))

    @property
    def calibration(self) -> Mapping[str, Any] | None:
        """Coverage and risk that were measured for this version; None where nobody has."""
        place = resources.files("captioner").joinpath("data/starter_lm_calibration.json")
        return json.loads(place.read_text("utf-8")) if place.is_file() else None

    def _things(self, visit: Visit, route: Route) -> Draft | Silence:
        """The starter's own answer, or a better wording of it that evidence allows."""
        plain = super()._things(visit, route)
        language = visit.request.context.language
        if wording.primary_language(language) != "en" or self.phraser is None or not self._may_rewrite(plain, visit):
            return plain
        assert visit.sight is not None
        said = ways.said(visit.seen.sure, visit.mentions, language)
        caption = candidates.without_credit(visit.page.caption)
        texts = sayable.texts(said, visit.sight, self._scored(visit), caption, evidence.VOCABULARY(), self.limits)
        return self._chosen(texts, visit) if texts else plain

    def _may_rewrite(self, plain: Draft | Silence, visit: Visit) -> bool:
        """Texts that quote a sign stay as they are; silence for want of a thing may end where a medium is known."""
        if isinstance(plain, Silence):
            return plain.reason is Reason.OBJECT_UNSUPPORTED
        return not any(support.source == "ocr" for support in plain.supports)

    def _scored(self, visit: Visit) -> list[tuple[Candidate, float]]:
        """Nouns and names of the page with their chances of being in the picture."""
        assert visit.sight is not None
        assert self.phraser is not None
        tree = evidence.VOCABULARY()
        chances = verdict.tag_chances(visit.sight, tree)
        found = candidates.find(visit.page, self.phraser)
        return [(one, self.visibility.chance(one, chances, tree)) for one in found]

    def _chosen(self, texts: Sequence[Sayable], visit: Visit) -> Draft:
        """The text that the trained model finds likeliest, with what it thought of it as evidence.

        One text is no choice: the model is not asked, which saves a second.
        """
        if self.writer is None or len(texts) == 1:
            best = by_rule(texts)
            return Draft(best.text, best.supports, worded=True)
        prompt = native.prompt_for(self.writer, visit.request, notes=notes(visit.sight))
        drafts = self.writer.choose(
            visit.picture, prompt, [f"{one.text}." for one in texts], key=visit.request.content_hash
        )
        best = next((one for one in texts if f"{one.text}." == drafts.text), texts[0])
        visit.extra["choice"] = {
            "among": [one.text for one in texts],
            "mean_log_probability": drafts.mean_log_probability,
            "gap": drafts.gap,
        }
        return Draft(best.text, best.supports, worded=True)


def by_rule(texts: Sequence[Sayable]) -> Sayable:
    """The text whose words from the page are likeliest in the mean; the first where the page offers none."""

    def trust(one: Sayable) -> float:
        chances = [support.score for support in one.supports if support.source == "page"]
        return sum(chances) / len(chances) if chances else 0.0

    return max(texts, key=trust)


def notes(sight: Any) -> tuple[str, ...]:
    """The likeliest tags in words, () where none is likely enough; as in training."""
    names = [tag.label for tag in sight.tags if tag.probability >= NOTED][:MOST_NOTES]
    return (f"Seen: {', '.join(names)}.",) if names else ()


def load_phraser() -> Phraser | None:
    """The English phraser with the starter's own words."""
    return phrases.load(forms=dict(wording.lexicon("en").forms))
