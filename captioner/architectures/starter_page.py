"""The starter that reads the page: a word of the page may narrow what was seen, and adds nothing.

Links, words, charts and screenshots are answered as the starter answers them. No language model is needed; `starter_lm`
lets one choose among the same texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from captioner.architectures import evidence, sayable, ways
from captioner.architectures.sayable import Limits, Phrased, Sayable
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


class StarterPage(Starter):
    """Evidence, and the nouns and names of the page with their chances of being in the picture."""

    name = "starter-page"

    def __init__(
        self,
        eyes: Any,
        phraser: Phraser | None,
        visibility: Visibility,
        limits: Limits | None = None,
        *,
        classifier: SafetyClassifier | None = None,
    ) -> None:
        super().__init__(eyes, classifier=classifier)
        self.phraser, self.visibility = phraser, visibility
        self.limits = limits or Limits()
        self.versions: Mapping[str, str] = {
            **self.versions,
            "candidates": candidates.VERSION,
            "sayable": sayable.VERSION,
            "phrases": phraser.version if phraser else "absent",
            "visibility": f"{self.limits.version()} {visibility.version()}",
        }

    @classmethod
    def load(cls, *, safety: str = "") -> StarterPage:
        """:raises WeightsMissing: run `python -m captioner fetch starter`.  :raises PhraserMissing: no spaCy."""
        return cls(Eyes.load(), load_phraser(), Visibility.load(), classifier=load_classifier(safety))

    def _things(self, visit: Visit, route: Route) -> Draft | Silence:
        """The starter's own answer, or a narrower one that evidence allows."""
        plain = super()._things(visit, route)
        language = visit.request.context.language
        if wording.primary_language(language) != "en" or self.phraser is None or not self._may_rewrite(plain):
            return plain
        assert visit.sight is not None
        said = ways.said(visit.seen.sure, visit.words.mentions, language)
        caption = candidates.without_credit(visit.page.caption)
        scored = self._scored(visit) if _fits(said, visit) else ()
        texts = sayable.texts(said, visit.sight, scored, caption, evidence.VOCABULARY(), self.limits)
        return self._chosen(texts, visit) if texts else plain

    def _may_rewrite(self, plain: Draft | Silence) -> bool:
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
        """The text with the page's likeliest words."""
        best = by_rule(texts)
        return Draft(best.text, best.supports, worded=True)


def _fits(said: Phrased, visit: Visit) -> bool:
    """Whether the page has a word for each thing that was seen surely: if not, it may be about another picture.

    People and what they wear are at home on every page.
    """
    tree, mentioned = evidence.VOCABULARY(), visit.words.mentioned or frozenset()
    things = [thing.concept for thing in said.values() if not tree.wider(thing.concept) & {"person", "clothing"}]
    return all(tree.wider(concept) & mentioned for concept in things)


def by_rule(texts: Sequence[Sayable]) -> Sayable:
    """The text whose words from the page are likeliest in the mean; the first where the page offers none."""

    def trust(one: Sayable) -> float:
        chances = [support.score for support in one.supports if support.source == "page"]
        return sum(chances) / len(chances) if chances else 0.0

    return max(texts, key=trust)


def load_phraser() -> Phraser | None:
    """The English phraser with the starter's own words."""
    return phrases.load(forms=dict(wording.lexicon("en").forms))
