"""The gate: which things were seen surely enough to be named, and whether a finished text may leave.

It sees scores and strings, never a tensor or a pixel, and does not know how a thing is said in a language.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from captioner.prepare import pagewords
from captioner.prepare.pagewords import PageWords
from captioner.prepare.vocabulary import Vocabulary
from captioner.rooms.gate import thresholds as calibrated
from captioner.types import Detection, Reason, Sight, Support

SAME_PLACE = 0.7  # intersection over union from which two labels are two names for one thing
BARELY_OVERLAPPING = 0.3  # below it two boxes of one class are two things


@dataclass(frozen=True, slots=True)
class Thresholds:
    """When a thing counts as seen. All 0..1, chosen on the training images of `docs/evaluation.md`.

    :ivar detector: score from which one detection of a class is enough; `detector_default` for classes not listed.
    :ivar unmentioned: score needed of a thing for which a page with words has none.
    :ivar tiny: score needed of a box under `TINY_AREA` of the picture.
    :ivar agree_detector: score that is enough where the tags give the class at least `agree_tags`.
    :ivar second: score of a second box, barely overlapping, from which the plural is said.
    :ivar leaf: probability for a name from the tags alone; `leaf_named` where the page says that very name.
    :ivar ancestor: summed probability for a wider name from the tags alone; `wide_ancestor` for the widest.
    :ivar strict_*: the same where the picture is no sure photo; both detector and tags, or the page, must agree.
    """

    detector: Mapping[str, float] = field(default_factory=lambda: calibrated.DETECTOR)
    detector_default: float = calibrated.DETECTOR_DEFAULT
    unmentioned: float = calibrated.UNMENTIONED
    tiny: float = calibrated.TINY
    agree_detector: float = calibrated.AGREE_DETECTOR
    agree_tags: float = calibrated.AGREE_TAGS
    leaf: float = calibrated.LEAF
    leaf_named: float = calibrated.LEAF_NAMED
    ancestor: float = calibrated.ANCESTOR
    wide_ancestor: float = calibrated.WIDE_ANCESTOR
    second: float = calibrated.SECOND
    strict_detector: float = calibrated.STRICT_DETECTOR
    strict_leaf: float = calibrated.STRICT_LEAF
    strict_ancestor: float = calibrated.STRICT_ANCESTOR

    def version(self) -> str:
        """All thresholds in one string, for `versions`."""
        numbers = [f"{name}={getattr(self, name):g}" for name in self.__slots__ if name != "detector"]
        return " ".join([*numbers, *(f"{label}={score:g}" for label, score in sorted(self.detector.items()))])


@dataclass(frozen=True, slots=True)
class Thing:
    """Something seen. `concept` is a name of the vocabulary, `plural_of` the wider one that the boxes are of.

    :ivar many: two or more sure, barely overlapping boxes.
    :ivar score: detector score or tag probability, 0..1.  :ivar area: share of the picture, 0..1.
    """

    concept: str
    source: str
    score: float
    area: float = 1.0
    many: bool = False
    plural_of: str = ""
    detail: str = ""

    @property
    def prominence(self) -> float:
        """How much of the eye it takes, 0..1."""
        return self.score * math.sqrt(self.area)


@dataclass(frozen=True, slots=True)
class Seen:
    """:ivar sure: may be named, most prominent first.  :ivar unsure: for the author's eyes only, "unverified"."""

    sure: tuple[Thing, ...] = ()
    unsure: tuple[Thing, ...] = ()


def weigh(
    sight: Sight,
    vocabulary: Vocabulary,
    *,
    named: Collection[str] = (),
    mentioned: Collection[str] | None = None,
    strict: bool = False,
    thresholds: Thresholds | None = None,
) -> Seen:
    """Sort what was seen into sure and unsure.

    :param named: concepts that the page names; they lower the bar for a leaf tag, and never add a thing by themselves.
    :param mentioned: concepts that the page has any word for; None where there is no page text to go by.
    :param strict: the picture is no sure photo.
    """
    limits = thresholds or Thresholds()
    chances = tag_chances(sight, vocabulary)
    foreign = {label for label in {one.label for one in sight.detections} if _is_foreign(label, mentioned, vocabulary)}
    boxed = _from_boxes(sight, chances, limits, named=named, foreign=foreign, strict=strict)
    tagged = _from_tags(sight, vocabulary, chances, limits, named=named, strict=strict)
    return _merge(boxed, tagged, vocabulary)


def tag_chances(sight: Sight, vocabulary: Vocabulary) -> dict[str, float]:
    """Probability of each concept from the tags: leaves summed up the tree, or the hedged tag's own sum if larger."""
    sums: dict[str, float] = {}
    hedged: dict[str, float] = {}
    for tag in sight.tags:
        name = vocabulary.concept_of(tag)
        if tag.leaf:
            for concept in vocabulary.covers(tag):
                sums[concept] = sums.get(concept, 0.0) + tag.probability
        elif name is not None:
            hedged[name] = max(hedged.get(name, 0.0), tag.probability)
    return {name: min(1.0, max(sums.get(name, 0.0), hedged.get(name, 0.0))) for name in {*sums, *hedged}}


def _from_boxes(
    sight: Sight,
    chances: Mapping[str, float],
    limits: Thresholds,
    *,
    named: Collection[str],
    foreign: Collection[str],
    strict: bool,
) -> Seen:
    sure, unsure = [], []
    for label in dict.fromkeys(detection.label for detection in sight.detections):
        boxes = sorted((one for one in sight.detections if one.label == label), key=lambda one: -one.score)
        chance = chances.get(label, 0.0)
        needed = limits.detector.get(label, limits.detector_default)
        needed = max(needed, limits.unmentioned) if label in foreign else needed
        needed = max(needed, limits.tiny) if boxes[0].box.area < calibrated.TINY_AREA else needed
        if strict:
            backed = label in named or chance >= limits.agree_tags or label == "person"  # no tag could back a person
            enough = boxes[0].score >= limits.strict_detector and backed
        else:
            enough = boxes[0].score >= needed or (
                boxes[0].score >= limits.agree_detector and chance >= limits.agree_tags
            )
        if enough and not _named_better(boxes[0], sight.detections, limits):
            sure.append(_thing(boxes, chance, limits.second))
        else:
            unsure.append(_thing(boxes[:1], chance, limits.second))
    return Seen(tuple(sure), tuple(unsure))


def _is_foreign(label: str, mentioned: Collection[str] | None, vocabulary: Vocabulary) -> bool:
    """True for a thing that the page, though it has words, has no word for. People are at home on every page."""
    return mentioned is not None and label != "person" and not vocabulary.wider(label) & set(mentioned)


def _thing(boxes: Sequence[Detection], chance: float, second: float) -> Thing:
    best = boxes[0]
    apart = [best]
    for one in boxes[1:]:
        if one.score >= second and all(_overlap(one, other) < BARELY_OVERLAPPING for other in apart):
            apart.append(one)
    return Thing(
        concept=best.label,
        source="detector",
        score=best.score,
        area=min(1.0, sum(one.box.area for one in apart)),
        many=len(apart) > 1,
        plural_of=best.label,
        detail=f"tags {chance:.2f}" if chance else "",
    )


def _named_better(detection: Detection, others: Sequence[Detection], limits: Thresholds) -> bool:
    """True where another label of a higher score stands in the same place: one of the two names is wrong."""
    return any(
        other.label != detection.label and other.score > detection.score and _overlap(detection, other) > SAME_PLACE
        for other in others
    )


def _from_tags(
    sight: Sight,
    vocabulary: Vocabulary,
    chances: Mapping[str, float],
    limits: Thresholds,
    *,
    named: Collection[str],
    strict: bool,
) -> Seen:
    leaves = {vocabulary.concept_of(tag) for tag in sight.tags if tag.leaf}
    alone = "detector" in sight.missing  # nothing else to agree with: stricter
    sure, unsure = [], []
    for name, chance in chances.items():
        concept = vocabulary.concepts[name]
        if name == "person":  # ImageNet has no class of people: a "person" tag is one of three trades
            continue
        if name in leaves:
            bar = limits.strict_leaf if strict or alone else limits.leaf
            if name in named and not strict:
                bar = limits.leaf_named
            elif not concept.everyday:
                bar = math.inf
        else:
            bar = limits.wide_ancestor if name in calibrated.WIDE else limits.ancestor
            bar = max(bar, limits.strict_ancestor) if strict or alone else bar
        thing = Thing(name, "tags", chance)
        if chance >= bar and (not strict or name in named):
            sure.append(thing)
        elif chance >= 0.2 and concept.everyday:
            unsure.append(thing)
    return Seen(tuple(sure), tuple(unsure))


def _merge(boxed: Seen, tagged: Seen, vocabulary: Vocabulary) -> Seen:
    """One list: the narrowest supported name of each thing, tags that only repeat a box in wider words left out."""
    narrow = [
        thing
        for thing in tagged.sure
        if not any(other is not thing and vocabulary.is_kind_of(other.concept, thing.concept) for other in tagged.sure)
    ]
    sure = []
    for thing in boxed.sure:
        better = next((tag for tag in narrow if vocabulary.is_kind_of(tag.concept, thing.concept)), None)
        if better is not None and not thing.many:
            narrow.remove(better)
            thing = Thing(
                better.concept,
                "detector+tags",
                better.score,
                thing.area,
                False,
                thing.concept,
                f"detector {thing.score:.2f}",
            )
        sure.append(thing)
    said = [thing.concept for thing in sure]
    sure += [tag for tag in narrow if not any(vocabulary.is_kind_of(name, tag.concept) for name in said)]
    known = {name for thing in sure for name in vocabulary.wider(thing.concept)}
    unsure = {thing.concept: thing for thing in (*tagged.unsure, *boxed.unsure) if thing.concept not in known}
    return Seen(
        tuple(sorted(sure, key=lambda thing: -thing.prominence)),
        tuple(sorted(unsure.values(), key=lambda thing: -thing.score)),
    )


def _overlap(first: Detection, second: Detection) -> float:
    """Intersection over union, 0..1."""
    a, b = first.box, second.box
    width = min(a.right, b.right) - max(a.left, b.left)
    height = min(a.bottom, b.bottom) - max(a.top, b.top)
    shared = max(0.0, width) * max(0.0, height)
    union = a.area + b.area - shared
    return shared / union if union > 0 else 0.0


def unsupported(text: str, supports: Sequence[Support], frame: Collection[str]) -> list[str]:
    """Words of `text` that no support backs and that are no frame words ("and", "titled"); empty where all is well."""
    backed = {word for support in supports for word in pagewords.words(support.phrase)}
    return [word for word in pagewords.words(text) if word not in backed and word not in frame]


def objections(
    text: str, supports: Sequence[Support], frame: Collection[str], page: PageWords, *, quoted: str = ""
) -> tuple[tuple[Reason, str], ...]:
    """Why `text` must not be offered: pairs of reason and words for the author; empty where it may leave.

    :param quoted: words read in the picture that the text repeats (T7: already beside it, so perhaps an empty alt).
    """
    loose = unsupported(text, supports, frame)
    if not pagewords.plain(text):
        return ((Reason.GENERIC_TEXT, "There is nothing to say that is more than the kind of picture."),)
    if loose:
        return ((Reason.OBJECT_UNSUPPORTED, f"Nothing in the picture supports: {', '.join(loose)}."),)
    if page.caption and pagewords.plain(text) == pagewords.plain(page.caption):
        return ((Reason.ALREADY_SAID, "The visible caption says the same. An empty alt may be right; you decide."),)
    if quoted and pagewords.contains(page.nearby, quoted):
        return ((Reason.ALREADY_SAID, "The words in the picture also stand beside it. An empty alt may be right."),)
    return ()
