"""The gate for free text: may what a language model wrote for one picture on one page leave, and if not, why.

It sees strings and numbers only. Every objection is named, not the first alone, and none of the signals can make up
for another: agreement and a high score never lift a phrase without support.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from captioner.prepare import flags, pagewords, phrases
from captioner.prepare.pagewords import PageWords
from captioner.prepare.phrases import PhraseKind, Phraser, PhraserMissing, Phrases
from captioner.prepare.routing import choose
from captioner.prepare.vocabulary import Vocabulary, vocabulary
from captioner.rooms.gate import agreement, form, support, verdict
from captioner.rooms.gate.agreement import Agreement
from captioner.rooms.gate.calibration import Calibration
from captioner.rooms.gate.score import Score
from captioner.rooms.gate.support import Evidence, Found, Judged
from captioner.rooms.gate.verdict import Seen, Thresholds
from captioner.types import Drafts, Reason, Role, Sight, Support

VERSION = "1"  # raise it whenever the same drafts and sight can get another answer
OF_KIND = {
    PhraseKind.OBJECT: (Reason.OBJECT_UNSUPPORTED, "Not seen surely enough to be named: {}."),
    PhraseKind.SCENE: (Reason.OBJECT_UNSUPPORTED, "A detector denies: {}."),
    PhraseKind.MEDIUM: (Reason.OBJECT_UNSUPPORTED, "Not surely this kind of picture: {}."),
    PhraseKind.TEXT: (Reason.TEXT_UNVERIFIED, "Not surely read in the picture: {}."),
    PhraseKind.CARRIER: (Reason.TEXT_UNVERIFIED, "No words were surely read in the picture, but the text says: {}."),
    PhraseKind.NAME: (Reason.NAME_UNVERIFIED, "Names that page and picture do not bear out together: {}."),
    PhraseKind.NUMBER: (Reason.VALUE_UNVERIFIED, "Numbers that were not read in the picture: {}."),
}
Objections = list[tuple[Reason, str]]


@dataclass(frozen=True, slots=True)
class Limits:
    """Where the gate closes. Apart from `things`, choices: no weights were at hand to measure them on.

    :ivar agreement: share of the samples that must say each object; 2/3 is two of three.
    :ivar overlap: words shared with the samples, Jaccard, where no phrase can be read.
    :ivar gap: nats per token; under it the page or the prior wrote the text.
    :ivar copied: share of word trigrams that stand on the page and not in the picture.
    :ivar demand_calibration: no text without a valid threshold. Where no phrase can be read it is always demanded,
        unless `trust_unread` is set.
    """

    agreement: float = 2 / 3
    overlap: float = 0.5
    gap: float = 0.1
    copied: float = flags.COPIED_SHARE
    demand_calibration: bool = False
    trust_unread: bool = False
    things: Thresholds = field(default_factory=Thresholds)

    def version(self) -> str:
        """All limits in one string, for `versions`."""
        own = [f"{one.name}={getattr(self, one.name):g}" for one in fields(self) if one.name != "things"]
        return " ".join([f"freetext={VERSION}", *own, self.things.version()])


@dataclass(frozen=True, slots=True)
class Decided:
    """The answer of the gate.

    :ivar reasons: empty where the text may leave.  :ivar detail: words for the author.
    :ivar score: 0..1, None where no score is fitted.  :ivar evidence: JSON types only.
    """

    reasons: tuple[Reason, ...]
    detail: str
    phrases: tuple[Judged, ...]
    score: float | None
    evidence: dict[str, Any]

    @property
    def passes(self) -> bool:
        return not self.reasons

    @property
    def supports(self) -> tuple[Support, ...]:
        """Why the text may be said, as every outcome lists it."""
        return tuple(judged.as_support() for judged in self.phrases if judged.supported)


@dataclass(frozen=True, slots=True)
class _Case:
    """One text with everything that was found out about it."""

    drafts: Drafts
    said: Phrases
    judged: tuple[Judged, ...]
    agreed: Agreement
    evidence: Evidence
    limits: Limits
    read: bool  # phrases could be read in this language

    @property
    def page(self) -> PageWords:
        return self.evidence.page

    @property
    def copied(self) -> float:
        """Share of word trigrams that stand on the page and were not read in the picture, 0..1."""
        return form.copied_share(self.drafts.text, self.page.everything, self.evidence.words.text)

    @property
    def unchecked(self) -> int:
        """Claims that nothing verifies: scenes, attributes, actions, and what a word says beyond its concept."""
        left = [one for one in self.judged if one.supported is None and one.phrase.kind is not PhraseKind.FRAME]
        more = [one for one in self.judged if one.phrase.claims_more]
        return len(left) + len(more) + len(self.said.attributes) + len(self.said.actions)

    @property
    def blank_equal(self) -> bool:
        return self.drafts.blank_text is not None and pagewords.plain(self.drafts.text) == pagewords.plain(
            self.drafts.blank_text
        )


def decide(
    drafts: Drafts,
    sight: Sight,
    page: PageWords,
    *,
    role: Role = Role.UNKNOWN,
    language: str = "en",
    phraser: Phraser | None,
    limits: Limits | None = None,
    opened: Mapping[str, Found] | None = None,
    seen: Seen | None = None,
    destination: str = "",
    score: Score | None = None,
    calibration: Calibration | None = None,
    versions: Mapping[str, str] | str = "",
    stratum: str = "",
    words: Vocabulary | None = None,
) -> Decided:
    """Whether `drafts.text` may be offered.

    :param phraser: of the language, from `phrases.load`; None for a language that has none.
    :param opened: casefolded phrase or head -> verdict of an open-vocabulary detector.
    :param seen: what may be named, where the caller has weighed the sight already.
    :param destination: words of the link around the image; its label is known from `page`.
    :param versions: of the captioner without its calibration, or their key.
    :raises PhraserMissing: an English text without a phraser.
    """
    limits, tree = limits or Limits(), words or vocabulary()
    if phraser is None and pagewords.plain(language).split()[:1] == [phrases.LANGUAGE]:
        raise PhraserMissing("an English free text may not be offered without a phrase check")
    evidence = Evidence(
        sight=sight,
        seen=seen if seen is not None else _weigh(sight, page, role, phraser, limits, tree),
        page=page,
        vocabulary=tree,
        role=role,
        words=support.words_of(sight),
        opened={name.casefold(): found for name, found in (opened or {}).items()},
        destination=f"{page.link_label}\n{destination}",
    )
    case = _examine(drafts, evidence, phraser, limits)
    values = features(case)
    rated = score.of(values) if score is not None else None
    found = [*_of_form(case), *_of_picture(case), *_of_samples(case)]
    found += _of_calibration(case, rated, calibration, versions, stratum)
    return Decided(
        reasons=tuple(dict.fromkeys(reason for reason, _ in found)),
        detail=" ".join(dict.fromkeys(words for _, words in found)),
        phrases=case.judged,
        score=rated,
        evidence=_as_evidence(case, values, rated, calibration, versions, stratum, language),
    )


def features(case: _Case) -> dict[str, float | None]:
    """The numbers that a score may use, by the names of `score.DEFAULTS`."""
    checked = [judged for judged in case.judged if judged.supported is not None]
    return {
        "min_support": min((judged.score if judged.supported else 0.0 for judged in checked), default=None),
        "min_agreement": case.agreed.minimum,
        "mean_agreement": case.agreed.mean,
        "gap": case.drafts.gap,
        "mean_log_probability": case.drafts.mean_log_probability,
        "checked": float(len(checked)),
        "unchecked": float(case.unchecked),
        "words": float(len(pagewords.words(case.drafts.text))),
    }


def _weigh(
    sight: Sight, page: PageWords, role: Role, phraser: Phraser | None, limits: Limits, tree: Vocabulary
) -> Seen:
    named = frozenset(pagewords.mentions(page, phraser.forms)) if phraser is not None else frozenset()
    return verdict.weigh(
        sight,
        tree,
        named=named,
        mentioned=named if pagewords.words(page.everything) and phraser is not None else None,
        strict=choose(sight, role).strict,
        thresholds=limits.things,
    )


def _examine(drafts: Drafts, evidence: Evidence, phraser: Phraser | None, limits: Limits) -> _Case:
    quoted = phrases.bare(drafts.text)
    whole = evidence.role is Role.TEXT and not quoted.of(PhraseKind.TEXT)  # the words alone, in any language
    if whole:
        said, agreed = phrases.whole(drafts.text), agreement.of_words(drafts.text, drafts.samples)
    elif phraser is None:
        said, agreed = quoted, agreement.of_words(drafts.text, drafts.samples)
    else:
        said = phraser.read(drafts.text)
        agreed = agreement.measure(said, [phraser.read(sample) for sample in drafts.samples], evidence.vocabulary)
    judged = tuple(support.judge(phrase, evidence) for phrase in said.phrases)
    return _Case(drafts, said, judged, agreed, evidence, limits, read=whole or phraser is not None)


def _of_form(case: _Case) -> Objections:
    """What no alt text may be, whatever the picture shows."""
    text = case.drafts.text
    if form.is_generic(text):
        return [(Reason.GENERIC_TEXT, "The text is empty, a file name or a word for any picture.")]
    if form.is_talk(text):
        return [(Reason.GENERIC_TEXT, "The text talks about the answer instead of the picture.")]
    if case.page.caption and pagewords.plain(text) == pagewords.plain(case.page.caption):
        return [(Reason.ALREADY_SAID, "The visible caption says the same. An empty alt may be right; you decide.")]
    if case.evidence.role is Role.TEXT and pagewords.contains(case.page.nearby, text):
        return [(Reason.ALREADY_SAID, "The words in the picture also stand beside it. An empty alt may be right.")]
    return []


def _of_picture(case: _Case) -> Objections:
    """What the picture does not bear out."""
    found: Objections = []
    gap = case.drafts.gap
    if gap is not None and gap < case.limits.gap:
        found.append((Reason.IMAGE_NOT_USED, f"The text is as likely without the picture ({gap:.2f} nats a token)."))
    if case.blank_equal:
        found.append((Reason.IMAGE_NOT_USED, "A blank picture got the same text."))
    for kind, (reason, words) in OF_KIND.items():
        missing = [judged for judged in case.judged if judged.supported is False and judged.phrase.kind is kind]
        if missing:
            found.append((reason, words.format(", ".join(map(_in_words, missing)))))
    if case.read and not any(judged.supported for judged in case.judged) and not found:
        found.append((Reason.OBJECT_UNSUPPORTED, "No part of the text could be checked against the picture."))
    return found + _of_page(case) + _of_link(case)


def _of_link(case: _Case) -> Objections:
    """A link needs a word of where it goes (T5); words that were read in the picture may say it too."""
    goes = set(pagewords.words(case.evidence.destination)) & set(pagewords.words(case.drafts.text))
    read = any(one.supported and one.phrase.kind is PhraseKind.TEXT for one in case.judged)
    if case.evidence.role is not Role.FUNCTIONAL or goes - form.EMPTY_WORDS or read:
        return []
    return [(Reason.OBJECT_UNSUPPORTED, "It names the picture, not where the link goes.")]


def _of_page(case: _Case) -> Objections:
    """Words of the page that the picture does not bear out (T6, prompt injection)."""
    things = (PhraseKind.OBJECT, PhraseKind.SCENE)
    loose = [judged.phrase for judged in case.judged if judged.supported is False and judged.phrase.kind in things]
    taken = [phrase.head for phrase in loose if pagewords.contains(case.page.everything, phrase.head)]
    if taken:
        return [(Reason.COPIED_FROM_PAGE, f"On the page, but not seen in the picture: {', '.join(taken)}.")]
    foreign = case.evidence.role is not Role.FUNCTIONAL and (case.unchecked or not case.read)
    if foreign and case.copied > case.limits.copied:
        return [(Reason.COPIED_FROM_PAGE, f"{100 * case.copied:.0f} % of the text stands on the page word for word.")]
    return []


def _of_samples(case: _Case) -> Objections:
    under = case.agreed.under(case.limits.agreement)
    if under:
        return [(Reason.SAMPLES_DISAGREE, f"Further attempts do not say: {', '.join(under)}.")]
    if not case.read and case.agreed.jaccard is not None and case.agreed.jaccard < case.limits.overlap:
        return [(Reason.SAMPLES_DISAGREE, f"Further attempts share {case.agreed.jaccard:.2f} of the words.")]
    return []


def _of_calibration(
    case: _Case,
    rated: float | None,
    calibration: Calibration | None,
    versions: Mapping[str, str] | str,
    stratum: str,
) -> Objections:
    valid = calibration is not None and calibration.valid_for(versions, stratum)
    if valid and calibration is not None and calibration.threshold is None:
        return [(Reason.NOT_CALIBRATED, calibration.sentence)]
    if valid and calibration is not None and calibration.threshold is not None and rated is not None:
        if calibration.accepts(rated):
            return []
        return [(Reason.SCORE_BELOW_THRESHOLD, f"Score {rated:.3f}; {calibration.threshold:.3f} is needed.")]
    if not case.read and not case.limits.trust_unread:
        return [(Reason.NOT_CALIBRATED, "No phrase can be checked in this language, and no threshold stands for it.")]
    if case.limits.demand_calibration:
        return [(Reason.NOT_CALIBRATED, _why_void(calibration, valid))]
    return []


def _why_void(calibration: Calibration | None, valid: bool) -> str:
    if calibration is None:
        return "A calibrated threshold is demanded and there is none."
    if not valid:
        return "The threshold was made for other versions or another kind of picture, so it is void."
    return "There is a threshold but no score to hold against it."


def _as_evidence(
    case: _Case,
    values: Mapping[str, float | None],
    rated: float | None,
    calibration: Calibration | None,
    versions: Mapping[str, str] | str,
    stratum: str,
    language: str,
) -> dict[str, Any]:
    drafts = case.drafts
    valid = calibration is not None and calibration.valid_for(versions, stratum)
    return {
        "language": language,
        "phrase_check": "yes" if case.read else "none for this language: only quotes, digits, gap and word overlap",
        "phrases": [_phrase_entry(judged, case) for judged in case.judged],
        "negated": [phrase.lemma for phrase in case.said.negated],
        "attributes": list(case.said.attributes),
        "actions": list(case.said.actions),
        "samples": list(drafts.samples),
        "agreement": {
            "samples": case.agreed.samples,
            "minimum": case.agreed.minimum,
            "mean": case.agreed.mean,
            "jaccard": case.agreed.jaccard,
        },
        "mean_log_probability": drafts.mean_log_probability,
        "gap": drafts.gap,
        "blank_text": drafts.blank_text,
        "copied": round(case.copied, 4),
        "tokens": dict(drafts.tokens),
        "not_measured": _not_measured(case),
        "features": dict(values),
        "score": rated,
        "calibration": calibration.as_json() | {"valid": valid} if calibration is not None else None,
        "limits": case.limits.version(),
    }


def _phrase_entry(judged: Judged, case: _Case) -> dict[str, Any]:
    return judged.as_json() | {"agreement": case.agreed.shares.get(judged.phrase.lemma)}


def _not_measured(case: _Case) -> list[str]:
    missing = {
        "samples": not case.drafts.samples,
        "gap": case.drafts.gap is None,
        "blank": case.drafts.blank_text is None and case.drafts.gap is None,
        "mean_log_probability": case.drafts.mean_log_probability is None,
        "phrases": not case.read,
        **dict.fromkeys(case.evidence.sight.missing, True),
    }
    return [name for name, absent in missing.items() if absent]


def _in_words(judged: Judged) -> str:
    near = f"{judged.detail}, {judged.score:.2f}" if judged.detail and judged.score else judged.detail
    return f"{judged.phrase.head} ({near})" if near else judged.phrase.head
