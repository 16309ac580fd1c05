"""A captioner around any writer: nothing that a language model wrote leaves without the gate.

What a person declared and what a link answers needs no writer. It knows writers by their flags, eyes by what they see,
and neither a model family nor a server.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

from PIL import Image

from captioner.architectures import evidence, walked, ways
from captioner.architectures.capabilities import OutOfTime, Writer
from captioner.architectures.opened import Opened
from captioner.architectures.ways import Draft
from captioner.prepare import destinations, flags, pagewords, phrases, prompts, routing, safety
from captioner.prepare.pagewords import PageWords
from captioner.prepare.phrases import Phraser
from captioner.prepare.prompts import Prompt
from captioner.prepare.safety import Refusal, SafetyClassifier
from captioner.rooms import line
from captioner.rooms.decode import wording
from captioner.rooms.encode import text_presence
from captioner.rooms.gate import calibration as calibrations
from captioner.rooms.gate import freetext, verdict
from captioner.rooms.gate.calibration import Calibration
from captioner.rooms.gate.freetext import Decided, Limits
from captioner.rooms.gate.score import Score
from captioner.rooms.line import Walk
from captioner.types import (
    VERSION,
    Abstention,
    Caption,
    CaptionError,
    CaptionRequest,
    Drafts,
    Outcome,
    Reason,
    Role,
    Sight,
    Support,
)

ABSENT = "absent"
SAMPLES = 3
LEFT = 0.95  # of a deadline is for the writer: the rest lets its own error come before the clock that kills


class Gated:
    """Eyes, a writer and the gate put together.

    :ivar phraser: of English; None only for a writer that writes none.
    """

    def __init__(
        self,
        name: str,
        eyes: Any,
        writer: Writer,
        phraser: Phraser | None,
        limits: Limits | None = None,
        calibration: Sequence[Calibration] | None = None,
        safety: SafetyClassifier | None = None,
        open_vocabulary: Opened | None = None,
        *,
        score: Score | None = None,
        samples: int = SAMPLES,
    ) -> None:
        """:param eyes: anything with `look(image, text=)` that gives a `Sight`, and `versions`; perhaps a `reader`."""
        self.name, self.eyes, self.writer, self.phraser = name, eyes, writer, phraser
        self.limits, self.score, self.samples = limits or Limits(), score, samples
        self.safety, self.open_vocabulary = safety, open_vocabulary
        self.calibrations = tuple(calibration or ())
        self.versions: Mapping[str, str] = self._made_of()
        self._key = calibrations.key_of(self.versions)

    @property
    def calibration(self) -> Mapping[str, Any] | None:
        """Coverage and risk by stratum, of the calibrations made for exactly this version; None where there is none."""
        own = [one.as_json() for one in self.calibrations if one.valid_for(self._key)]
        return {"calibrations": own} if own else None

    def describe(self, requests: Sequence[CaptionRequest]) -> list[Outcome]:
        """One outcome a request, in order.

        :raises OutOfTime: a request was not done before its deadline, counted from this call.
        :raises CaptionError: the writer or a part of the gate failed.
        """
        started = time.monotonic()
        return [self._describe(request, started + LEFT * request.deadline_seconds) for request in requests]

    def _describe(self, request: CaptionRequest, ends_at: float) -> Outcome:
        page, context = pagewords.read(request.context), request.context
        if request.role is Role.DECORATIVE:
            detail = "Declared decorative by a person; not looked at."
            return self._silent(request, page, (Reason.DECLARED_DECORATIVE,), detail)
        if answer := self._from_link(request, page):
            return answer
        if not self.writer.capabilities.writes(context.language):
            spoken = ", ".join(self.writer.capabilities.languages) or "none"
            detail = f"Cannot write {context.language or 'an unnamed language'}; only: {spoken}."
            return self._silent(request, page, (Reason.LANGUAGE_UNSUPPORTED,), detail)
        return self._told(line.walk(request, page, self, ends_at=ends_at))

    def _from_link(self, request: CaptionRequest, page: PageWords) -> Outcome | None:
        """What the link alone answers, as the starter does; None where the picture must be looked at."""
        speaks = wording.primary_language(request.context.language) in wording.LANGUAGES
        said = ways.linked(request, page, speaks=speaks)
        if said is None:
            return None
        if not isinstance(said, Draft):
            return self._silent(request, page, (said.reason,), said.detail)
        if found := verdict.objections(said.text, said.supports, frozenset(), PageWords()):
            return self._silent(request, page, (found[0][0],), found[0][1])
        marks = flags.text_flags(said.text, page, from_page=True)
        return Caption(request.request_id, said.text, **self._shared(request, page, said.supports, marks=marks))

    # the rooms, as `line` asks for them

    def screen(self, picture: Image.Image) -> Refusal | None:
        return safety.screen(self.safety, picture)

    def look(self, picture: Image.Image, *, text: bool | None) -> Sight:
        sight: Sight = self.eyes.look(picture, text=text)
        return sight

    def signs(self, picture: Image.Image) -> routing.TextSigns | None:
        return text_presence.look(picture, getattr(self.eyes, "reader", None))

    def prompt(self, request: CaptionRequest) -> Prompt:
        writer = self.writer
        return prompts.render(
            request.context, request.role, count=writer.count, budget=self._budget, special=writer.special
        )

    def draft(self, walk: Walk, prompt: Prompt, *, ends_at: float) -> Drafts:
        """:raises CaptionError: also where a number of the writer is none: it would pass any limit."""
        assert walk.picture is not None
        left = ends_at - time.monotonic()
        if left <= 0:
            raise OutOfTime("The deadline passed before the writer was asked.")
        seed = walked.seed_of(walk.request, prompt, self._key)
        drafts = self.writer.draft(walk.picture, prompt, samples=self.samples, seed=seed, deadline_seconds=left)
        if not all(math.isfinite(number or 0.0) for number in (drafts.gap, drafts.mean_log_probability)):
            raise CaptionError(f"{self.writer.name} gave a gap or a probability that is no number.")
        return drafts

    def decide(self, walk: Walk) -> Decided:
        """The gate for free text, with all the evidence that is installed."""
        assert walk.sight is not None
        assert walk.drafts is not None
        context, language = walk.request.context, wording.primary_language(walk.request.context.language)
        phraser = self.phraser if language == phrases.LANGUAGE else None
        opened = self._opened(walk, phraser) if phraser else {}
        stratum, threshold = self._threshold(walk, language, phraser is not None)
        decided = freetext.decide(
            walk.drafts,
            walk.sight,
            walk.page,
            role=walk.request.role,
            language=context.language,
            phraser=phraser,
            limits=self.limits,
            opened=opened,
            seen=walked.weigh(walk, self.limits.things)[0],
            destination=destinations.address_words(context.link_target),
            score=self.score,
            calibration=threshold,
            versions=self._key,
            stratum=stratum,
        )
        return walked.in_its_language(decided, walk)

    def _opened(self, walk: Walk, phraser: Phraser) -> Mapping[str, Any]:
        assert walk.picture is not None
        assert walk.drafts is not None
        if self.open_vocabulary is None or walk.request.role is Role.TEXT:
            return {}
        return self.open_vocabulary.find(walk.picture, phraser.read(walk.drafts.text))

    def _threshold(self, walk: Walk, language: str, checked: bool) -> tuple[str, Calibration | None]:
        """The narrowest calibration there is: lane and language, language, all; and its stratum.

        One over all pictures was made where phrases are checked, so it says nothing of a language without that.
        """
        strata = [walked.stratum_of(walk), language, *([""] if checked else [])]
        for stratum in strata:
            if found := calibrations.find(self.calibrations, self._key, stratum):
                return stratum, found
        return strata[0], next(iter(self.calibrations), None)  # void, which the gate says

    # what is told

    def _told(self, walk: Walk) -> Outcome:
        request, decided = walk.request, walk.decided
        supports = decided.supports if decided else ()
        if walk.text is None:
            return self._silent(request, walk.page, walk.reasons, walk.detail, walk=walk, supports=supports)
        repeats = request.role in (Role.FUNCTIONAL, Role.TEXT)  # the link's words, or words that are in the picture
        marks = flags.text_flags(walk.text, walk.page, from_page=repeats)
        return Caption(
            request.request_id, walk.text, **self._shared(request, walk.page, supports, walk=walk, marks=marks)
        )

    def _silent(
        self,
        request: CaptionRequest,
        page: PageWords,
        reasons: Sequence[Reason],
        detail: str,
        *,
        walk: Walk | None = None,
        supports: Sequence[Support] = (),
    ) -> Outcome:
        shared = self._shared(request, page, supports, walk=walk)
        return Abstention(request.request_id, *reasons, detail=detail, **shared)

    def _shared(
        self,
        request: CaptionRequest,
        page: PageWords,
        supports: Sequence[Support],
        *,
        walk: Walk | None = None,
        marks: Sequence[str] = (),
    ) -> dict[str, Any]:
        found = flags.page_flags(request.context, page)
        found += flags.image_flags(walk.sight.lines) if walk and walk.sight else ()
        return {
            "language": request.context.language,
            "evidence": {
                "support": [dataclasses.asdict(support) for support in supports],
                **(walked.known(walk, self.limits.things) if walk else {}),
            },
            "flags": tuple(dict.fromkeys((*found, *marks))),
            "versions": self.versions,
            "timings": walk.timings if walk else {},
        }

    @property
    def _budget(self) -> int:
        """Tokens of page text; a writer that was trained with a budget names it."""
        return int(getattr(self.writer, "budget", prompts.BUDGET))

    def _made_of(self) -> dict[str, str]:
        """A calibration is told, and left out of the key that it is valid for."""
        parts = {
            "captioner": self.name,
            "package": VERSION,
            **{
                f"writer.{part}".replace("writer.writer", "writer"): said for part, said in self.writer.versions.items()
            },
            "prompt": f"{prompts.VERSION} budget={self._budget}",
            "lanes": f"letters={routing.TEXT_LETTERS} plain={routing.PLAIN_TOKENS}",
            "samples": str(self.samples),
            **{f"eyes.{part}": version for part, version in self.eyes.versions.items()},
            "open_vocabulary": self.open_vocabulary.version if self.open_vocabulary else ABSENT,
            "phrases": self.phraser.version if self.phraser else ABSENT,
            "words": evidence.words_digest(),
            "gate": self.limits.version(),
            "safety": safety.version(self.safety),
            "score": self.score.version if self.score else ABSENT,
        }
        if self.calibrations:
            said = "".join(repr(one) for one in self.calibrations)
            parts[calibrations.SELF] = hashlib.sha256(said.encode()).hexdigest()[:12]
        return parts
