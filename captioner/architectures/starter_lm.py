"""The starter with a trained language model: it may only choose among texts that evidence and page allow.

What may be said is decided in `starter_page`; here the trained model picks the wording that fits picture and page best.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from captioner.architectures import native
from captioner.architectures.native import NativeWriter
from captioner.architectures.sayable import Limits, Sayable
from captioner.architectures.starter import Visit
from captioner.architectures.starter_page import StarterPage, load_phraser
from captioner.architectures.ways import Draft
from captioner.prepare import prompts
from captioner.prepare.phrases import Phraser
from captioner.prepare.safety import SafetyClassifier, load_classifier
from captioner.rooms.encode.eyes import Eyes
from captioner.rooms.gate.visibility import Visibility

SHIPPED = "data/starter_lm"


class StarterLM(StarterPage):
    """Evidence, page and a trained language model.  :ivar writer: anything with `choose` as `NativeWriter` has it."""

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
        super().__init__(eyes, phraser, visibility, limits, classifier=classifier)
        self.writer = writer
        self.versions: Mapping[str, str] = {**self.versions, **writer.versions}

    @classmethod
    def load(cls, *, safety: str = "") -> StarterLM:
        """:raises WeightsMissing: run `python -m captioner fetch starter-lm`.  :raises PhraserMissing: no spaCy."""
        writer = NativeWriter.load(Path(str(resources.files("captioner"))) / SHIPPED)
        return cls(Eyes.load(), writer, load_phraser(), Visibility.load(), classifier=load_classifier(safety))

    def _chosen(self, texts: Sequence[Sayable], visit: Visit) -> Draft:
        """The text that the trained model finds likeliest, with what it thought of it as evidence.

        One text is no choice: the model is not asked, which saves a second.
        """
        if len(texts) == 1:
            return super()._chosen(texts, visit)
        assert visit.sight is not None
        prompt = native.prompt_for(self.writer, visit.request, notes=prompts.notes(visit.sight.tags))
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
