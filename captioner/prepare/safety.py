"""The pre-filter: what must not be described, decided from what was seen, from the page, and from scores. Pure policy.

It knows no model: a site may name a classifier of its own ("package.module:Class"); none is shipped. A refusal is an
answer: the author gets an empty box and the reason.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from PIL import Image

from captioner.prepare import pagewords
from captioner.prepare.pagewords import PageWords
from captioner.types import CaptionError, CaptionerUnavailable, Sight

TEST_WORDS = re.compile(r"\b(captcha|recaptcha|hcaptcha)\b|\bnot a robot\b|\bkein roboter\b", re.I)
TEST_TASK = re.compile(r"\b(type|enter|retype)\b.{0,30}\b(characters|letters|text you see|code you see)\b", re.I)
CARD_NUMBER = re.compile(r"(?<![\d.,-])[3-6]\d{3}([ -]?)\d{4,6}\1\d{4,5}(?:\1\d{4})?(?![\d.,-])")  # not a row of years
ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a picture is not described, in words for the author."""

    detail: str


@dataclass(frozen=True, slots=True)
class Limit:
    """From which score on a picture is refused, and what is said to show: "This picture seems to show `words`"."""

    score: float
    words: str


# Our choice, measured on no classifier: a site states its own once it knows its classifier's errors.
LIMITS: Mapping[str, Limit] = MappingProxyType(
    {
        "sexual": Limit(0.7, "sexual content"),
        "minors": Limit(0.3, "sexual content with children"),  # a miss costs far more than an empty box
        "violence": Limit(0.8, "violence"),  # history and news show it too; what is described should be described
        "gore": Limit(0.8, "injuries or dead bodies"),
        "hate": Limit(0.8, "symbols of hate"),
        "self_harm": Limit(0.5, "self-harm"),
    }
)


@runtime_checkable
class SafetyClassifier(Protocol):
    """What a dotted path must name: a class without arguments whose objects have these three."""

    name: str
    version: str

    def scores(self, image: Image.Image) -> Mapping[str, float]:
        """A score 0..1 for each thing that must not be described, 1 = certainly there; names as in the limits."""
        ...


class SafetyUnanswered(CaptionError):
    """The safety classifier raised for this picture, or its scores cannot be judged; the picture is not let through."""


def refuse(sight: Sight, page: PageWords) -> Refusal | None:
    """A refusal for tests of humanity (WCAG G143: name the purpose, never solve it) and for payment cards."""
    read = " ".join(line.text for line in sight.lines)
    near = " ".join((page.link_label, page.caption, *page.headings[-1:], page.before[-200:], page.after[:200]))
    if TEST_WORDS.search(read) or TEST_TASK.search(read) or TEST_TASK.search(near) or re.search("captcha", near, re.I):
        return Refusal("This looks like a CAPTCHA. Its text alternative names the purpose and must not solve it.")
    if any(is_card_number(match.group()) for line in sight.lines for match in CARD_NUMBER.finditer(line.text)):
        return Refusal("The picture shows what reads like a payment card number; nothing of it is repeated.")
    return None


def load_classifier(path: str) -> SafetyClassifier | None:
    """The classifier that `path`, "package.module:Class", names; None for an empty path: nothing is filtered.

    :raises CaptionerUnavailable: one is named but cannot be had. It is never left out silently.
    """
    if not path.strip():
        return None
    module_name, _, attribute = path.strip().partition(":")
    if not module_name or not attribute:
        raise CaptionerUnavailable(f"The safety classifier {path!r} is no 'package.module:Class'.")
    try:
        classifier = getattr(importlib.import_module(module_name), attribute)()
    except Exception as error:  # a site's own code may raise anything, and all of it means: no filter
        raise CaptionerUnavailable(f"The safety classifier {path!r} does not load: {error}") from error
    if not isinstance(classifier, SafetyClassifier):
        raise CaptionerUnavailable(f"The safety classifier {path!r} lacks one of name, version, scores(image).")
    return classifier


def screen(
    classifier: SafetyClassifier | None, image: Image.Image, limits: Mapping[str, Limit] = LIMITS
) -> Refusal | None:
    """A refusal where a score reaches its limit; None where none does, or where no classifier is named.

    :raises SafetyUnanswered: see there; also for a name without a limit, which would otherwise pass at any score.
    """
    if classifier is None:
        return None
    try:
        scores = dict(classifier.scores(image))
    except Exception as error:
        raise SafetyUnanswered(f"The safety classifier {classifier.name} failed on this picture: {error}") from error
    return judge(scores, limits, by=classifier.name)


def judge(scores: Mapping[str, float], limits: Mapping[str, Limit] = LIMITS, *, by: str = "") -> Refusal | None:
    """The policy alone. The refusal names what lies furthest over its limit first.

    :raises SafetyUnanswered: there are no scores, one is no number in 0..1, or one has no limit.
    """
    unjudged = sorted(set(scores) - set(limits))
    if unjudged or not scores:
        raise SafetyUnanswered(f"The safety classifier {by} gave {', '.join(unjudged) or 'no scores'}: no limit fits.")
    if wrong := [name for name, score in sorted(scores.items()) if not _is_score(score)]:
        raise SafetyUnanswered(f"The safety classifier {by} gave no number from 0 to 1 for {', '.join(wrong)}.")
    over = sorted(name for name in scores if scores[name] >= limits[name].score)
    if not over:
        return None
    over.sort(key=lambda name: scores[name] - limits[name].score, reverse=True)
    shown = ", ".join(limits[name].words for name in over)
    return Refusal(f"The safety filter stopped this picture: it seems to show {shown}. A person writes its text.")


def version(classifier: SafetyClassifier | None, limits: Mapping[str, Limit] = LIMITS) -> str:
    """Classifier and limits, for a captioner's `versions`: with other limits other pictures are refused."""
    if classifier is None:
        return ABSENT
    return " ".join([classifier.name, classifier.version, *(f"{name}={limits[name].score}" for name in sorted(limits))])


def is_card_number(text: str) -> bool:
    """True for 13-19 digits with a right check digit (Luhn, ISO/IEC 7812-1) that are not all the same."""
    digits = [int(character) for character in pagewords.plain(text) if character.isdigit()]
    doubled = [digit if place % 2 == 0 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(reversed(digits))]
    return 13 <= len(digits) <= 19 and len(set(digits)) > 1 and sum(doubled) % 10 == 0


def _is_score(value: object) -> bool:
    try:
        return 0.0 <= float(value) <= 1.0  # type: ignore[arg-type]  # NaN is neither
    except (TypeError, ValueError):
        return False
