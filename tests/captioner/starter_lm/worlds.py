"""Pages, sights and tables made by hand. Everything is real but the writer, which picks by place, not by model."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace

from captioner.architectures.sayable import Limits
from captioner.architectures.starter import Starter
from captioner.architectures.starter_lm import StarterLM
from captioner.prepare.candidates import Candidate
from captioner.prepare.phrases import PhraseKind
from captioner.rooms.gate.visibility import FEATURES, Visibility
from captioner.types import CaptionRequest, Drafts, Outcome, PageContext, Role, Sight
from tests.captioner.policy.sights import Eyes, picture

BUDGET = 64


class Writer:
    """Chooses by a rule over the list; remembers what it was asked."""

    versions = {"writer": "test", "prompts": "1", "decode": "choose"}
    native = SimpleNamespace(config=SimpleNamespace(budget=BUDGET))
    special = ()

    def __init__(self, pick: Callable[[Sequence[str]], str] = lambda texts: texts[0]) -> None:
        self.pick, self.asked = pick, []  # type: ignore[var-annotated]

    def count(self, text: str) -> int:
        return len(text.split())

    def choose(self, image, prompt, texts, *, key="") -> Drafts:
        self.asked.append((image, prompt, tuple(texts), key))
        return Drafts(self.pick(texts), mean_log_probability=-0.5, gap=0.25)


def last(texts: Sequence[str]) -> str:
    return texts[-1]


def table(bias: float = 3.0, **weights: float) -> Visibility:
    """Every page word has the same chance: 1 / (1 + exp(-3)) = .953 unless told otherwise."""
    return Visibility({**dict.fromkeys(FEATURES, 0.0), "bias": bias, **weights}, {}, 0.1, {})


def model(
    given: Sight | None, phraser, *, writer: Writer | None = None, visibility=None, limits: Limits | None = None
) -> StarterLM:
    return StarterLM(Eyes(given), writer or Writer(), phraser, visibility or table(), limits)


def request(role: Role = Role.UNKNOWN, **page) -> CaptionRequest:
    return CaptionRequest("1", image=picture(), content_hash="hash", context=PageContext(**page), role=role)


def ask(given: Sight | None, phraser, *, role: Role = Role.UNKNOWN, writer=None, visibility=None, **page) -> Outcome:
    """What the starter with a trained model says of `given` on a page made of the fields of `PageContext`."""
    [outcome] = model(given, phraser, writer=writer, visibility=visibility).describe([request(role, **page)])
    return outcome


def plain(given: Sight | None, role: Role = Role.UNKNOWN, **page) -> Outcome:
    """What the starter alone says of it."""
    [outcome] = Starter(Eyes(given)).describe([request(role, **page)])
    return outcome


def among(outcome: Outcome) -> set[str]:
    """The texts that the writer could choose from; the text alone where it was not asked."""
    choice = outcome.evidence.get("choice")
    return set(choice["among"]) if choice else {outcome.text or ""}


def noun(lemma: str, *concepts: str, said: str = "", places=("caption",), rank=0, kind=PhraseKind.OBJECT) -> Candidate:
    """A candidate of one noun; in the plural where `said` is another form."""
    said = said or lemma
    return Candidate(lemma, said, kind, tuple(places), rank, said != lemma, concepts)


def name(said: str, places=("caption",)) -> Candidate:
    return Candidate(said.casefold(), said, PhraseKind.NAME, tuple(places), 0)
