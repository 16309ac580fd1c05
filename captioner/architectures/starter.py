"""The starter: speaks only from evidence. Kind first, then things, words or a destination, and otherwise silence.

Eyes see, the router picks a way to speak, the wording room says it, the gate lets it go or not. Each step is a pure
function over plain values but for the eyes; nothing here generates a word that no evidence holds.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from typing import Any

from captioner.architectures import evidence, ways
from captioner.architectures.ways import Draft, Silence
from captioner.prepare import flags, images, pagewords, routing, safety
from captioner.prepare.pagewords import PageWords
from captioner.prepare.reading import Reading
from captioner.prepare.routing import Route, Way
from captioner.prepare.safety import SafetyClassifier, load_classifier
from captioner.rooms.decode import wording
from captioner.rooms.encode.eyes import Eyes
from captioner.rooms.gate import verdict
from captioner.rooms.gate.verdict import Thresholds
from captioner.types import VERSION, Abstention, Caption, CaptionRequest, Outcome, Reason, Role, Sight

JOINTS = frozenset({"a", "an", "and", "of", "the", "with"})  # words that a free order of the same things needs


class Starter:
    """A captioner without a language model: closed vocabulary, quoted words, reasons where evidence is missing."""

    name = "starter"

    def __init__(
        self, eyes: Any, thresholds: Thresholds | None = None, *, classifier: SafetyClassifier | None = None
    ) -> None:
        """:param eyes: anything with `look(image, text=)` that gives a `Sight`, and `versions`.

        :param classifier: looks at each picture first; what it refuses is not described.
        """
        self.eyes, self.classifier = eyes, classifier
        self.thresholds = thresholds or Thresholds()
        self.versions: Mapping[str, str] = {
            "captioner": self.name,
            "package": VERSION,
            "wording": wording.VERSION,
            "words": evidence.words_digest(),
            "gate": self.thresholds.version(),
            **{f"eyes.{part}": version for part, version in eyes.versions.items()},
            **({"safety": safety.version(classifier)} if classifier else {}),
        }

    @classmethod
    def load(cls, *, safety: str = "") -> Starter:
        """:param safety: "package.module:Class" of a classifier.

        :raises WeightsMissing: run `python -m captioner fetch starter`.
        :raises CaptionerUnavailable: the classifier cannot be had.
        """
        return cls(Eyes.load(), classifier=load_classifier(safety))

    def describe(self, requests: Sequence[CaptionRequest]) -> list[Outcome]:
        """One outcome a request, in order."""
        return [self._describe(request) for request in requests]

    def _describe(self, request: CaptionRequest) -> Outcome:
        context = request.context
        page = pagewords.read(context)
        visit = Visit(request, page, flags.page_flags(context, page), self.versions)
        if request.role is Role.DECORATIVE:
            return visit.silent(Silence(Reason.DECLARED_DECORATIVE, "Declared decorative by a person; not looked at."))
        if answer := self._from_link(visit):
            return answer
        if not visit.speaks and request.role not in (Role.TEXT, Role.FUNCTIONAL):
            return visit.silent(ways.unspoken(context.language))
        try:
            picture = images.open_derivative(request.image)
        except images.ImageUnreadable as error:
            return visit.silent(Silence(Reason.IMAGE_REFUSED, str(error)))
        visit.picture = picture
        if refusal := safety.screen(self.classifier, picture):
            return visit.silent(Silence(Reason.SAFETY_REFUSED, refusal.detail))
        visit.see(self.eyes.look(picture, text=True if request.role in (Role.TEXT, Role.FUNCTIONAL) else None))
        return self._from_picture(visit)

    def _from_link(self, visit: Visit) -> Outcome | None:
        """What the link alone answers; None where the picture must be looked at."""
        answer = ways.linked(visit.request, visit.page, speaks=visit.speaks)
        return visit.answer(answer) if answer else None

    def _from_picture(self, visit: Visit) -> Outcome:
        assert visit.sight is not None
        if refusal := safety.refuse(visit.sight, visit.page):
            return visit.silent(Silence(Reason.SAFETY_REFUSED, refusal.detail))
        if visit.request.role is Role.FUNCTIONAL:
            return visit.answer(ways.button_words(visit.reading))
        if not visit.speaks:
            return visit.answer(ways.bare_words(visit.reading))
        visit.route = routing.choose(visit.sight, visit.request.role)
        return visit.answer(self._speak(visit, visit.route))

    def _speak(self, visit: Visit, route: Route) -> Draft | Silence:
        assert visit.sight is not None
        language = visit.request.context.language
        if route.way is Way.WORDS:
            return ways.words(visit.reading, language)
        if route.way is Way.GRAPHIC:
            return ways.graphic(visit.sight, visit.reading, route, language)
        if route.way is Way.SCREEN:
            return ways.screen(visit.sight, visit.reading, route, language)
        return self._things(visit, route)

    def _things(self, visit: Visit, route: Route) -> Draft | Silence:
        assert visit.sight is not None
        visit.look_up()
        visit.seen = verdict.weigh(
            visit.sight,
            evidence.VOCABULARY(),
            named=visit.words.named,
            mentioned=visit.words.mentioned,
            strict=route.strict,
            thresholds=self.thresholds,
        )
        language = visit.request.context.language
        mentions = visit.words.mentions
        return ways.things(visit.seen, visit.sight, visit.reading, mentions, visit.page.everything, language)


class Visit:
    """One request on its way through the rooms: what is known so far, and how an answer is put together."""

    def __init__(
        self, request: CaptionRequest, page: PageWords, page_flags: tuple[str, ...], versions: Mapping[str, str]
    ) -> None:
        self.request, self.page, self.flags, self.versions = request, page, page_flags, versions
        self.speaks = wording.primary_language(request.context.language) in wording.LANGUAGES
        self.sight: Sight | None = None
        self.reading = Reading()
        self.route: Route | None = None
        self.seen = verdict.Seen()
        self.words = evidence.Vocables()
        self.picture: Any = None
        self.extra: dict[str, Any] = {}  # evidence that a captioner adds of its own
        self._started = self._looked = time.perf_counter()

    def see(self, sight: Sight) -> None:
        """Take in what the eyes gave."""
        self.sight, self._looked = sight, time.perf_counter()
        self.reading = ways.read(sight)
        self.flags += flags.image_flags(sight.lines)

    def look_up(self) -> None:
        """Find the vocabulary on the page."""
        self.words = evidence.look_up(self.page, self.request.context.language)

    def answer(self, said: Draft | Silence) -> Outcome:
        """An outcome for `said`: a draft leaves only if the gate has no objection."""
        if isinstance(said, Silence):
            return self.silent(said)
        frame = wording.lexicon(self.request.context.language).frame_words if self.speaks else frozenset()
        if said.worded:
            frame = frame | JOINTS
        page = PageWords() if said.from_page else self.page
        found = verdict.objections(said.text, said.supports, frame, page, quoted=said.quoted)
        if found:
            reasons, details = zip(*found, strict=True)
            return self.silent(Silence(reasons[0], " ".join(details)), withheld=said)
        marks = flags.text_flags(said.text, self.page, from_page=said.from_page or bool(said.quoted))
        return Caption(
            self.request.request_id, said.text, **self._shared(said.supports, tuple(dict.fromkeys(self.flags + marks)))
        )

    def silent(self, silence: Silence, *, withheld: Draft | None = None) -> Outcome:
        """An abstention that says which evidence was missing."""
        supports = withheld.supports if withheld else ()
        return Abstention(
            self.request.request_id, silence.reason, detail=silence.detail, **self._shared(supports, self.flags)
        )

    def _shared(self, supports: Sequence[Any], marks: tuple[str, ...]) -> dict[str, Any]:
        now = time.perf_counter()
        return {
            "language": self.request.context.language,
            "evidence": {
                "support": [dataclasses.asdict(support) for support in supports],
                **evidence.gather(
                    self.sight, self.seen, self.route, self.page, self.words.mentions, self.request.context.language
                ),
                **self.extra,
            },
            "flags": marks,
            "versions": self.versions,
            "timings": {"look": self._looked - self._started, "write": now - self._looked},
        }
