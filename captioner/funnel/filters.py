"""The funnel: named filters in a row, each of which counts what came in, what went on, and why the rest stayed behind.

A share of the records is drawn before any filter of quality, kept whatever those say, and flagged: what a filter takes
away cannot be seen in what it leaves. Knows no model; cosines come from a callable.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from captioner.funnel import splits
from captioner.funnel.records import Record

CLIP_THRESHOLD = 0.28  # cosine of ViT-B/32 embeddings, LAION (2111.02114 used 0.3); 5,000 M pairs -> 360 M at 0.28
SYNTHETIC_SHARE = 0.8  # of texts in the mix; the rest are the original ones
BATCH = 256
EXAMPLES = 5  # names kept for each reason
UNFILTERED, SYNTHETIC = "unfiltered", "synthetic"

T = TypeVar("T")
Judge = Callable[[Sequence[Record]], Sequence[str]]
"""One word a record, in order: why it stays behind, "" if it goes on."""
Cosines = Callable[[Sequence[Record]], Sequence[float]]
"""Cosine of picture and target of each record, -1..1, in order."""


class WrongLength(Exception):
    """A filter or a model gave another number of answers than it got records."""


@dataclass(frozen=True, slots=True)
class Filter:
    """One step. `quality`: the unfiltered sample passes by; a rule of law or form is for all."""

    name: str
    judge: Judge
    quality: bool = True


@dataclass
class Count:
    """What one filter did."""

    came: int = 0
    went_on: int = 0
    spared: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def add(self, record: Record, reason: str) -> None:
        self.came += 1
        if not reason:
            self.went_on += 1
            return
        self.reasons[reason] += 1
        named = self.examples.setdefault(reason, [])
        if len(named) < EXAMPLES:
            named.append(record.name)

    def report(self) -> dict[str, Any]:
        """JSON types; came = went on + sum of the reasons, and `spared` of those that went on were not looked at."""
        reasons = {
            reason: {"count": count, "examples": self.examples[reason]}
            for reason, count in sorted(self.reasons.items())
        }
        return {"came": self.came, "went_on": self.went_on, "spared": self.spared, "reasons": reasons}


class Funnel:
    """The filters in order. `counts` grows while `run` is read.

    :param unfiltered_share: of all records, drawn by the hash of the pair id; 0 for none.
    """

    def __init__(self, filters: Sequence[Filter], *, unfiltered_share: float, salt: str) -> None:
        if not 0 <= unfiltered_share <= 1:
            raise splits.WrongShares(f"The unfiltered share has to be between 0 and 1, not {unfiltered_share}.")
        if len({item.name for item in filters}) < len(filters):
            raise ValueError("Two filters have the same name.")
        self.filters, self.unfiltered_share, self.salt = tuple(filters), unfiltered_share, salt
        self.counts = {item.name: Count() for item in filters}

    def run(self, records: Iterable[Record]) -> Iterator[Record]:
        """The records that pass, in order, the unfiltered sample flagged.  :raises WrongLength: a filter is broken."""
        source = iter(records)
        while batch := list(itertools.islice(source, BATCH)):
            batch = [self._flagged(record) for record in batch]
            for item in self.filters:
                batch = _passed(item, batch, self.counts[item.name])
            yield from batch

    def report(self) -> dict[str, Any]:
        """The share drawn and the count of each filter, in order; JSON types."""
        counts = {name: count.report() for name, count in self.counts.items()}
        return {"unfiltered_share": self.unfiltered_share, "salt": self.salt, "filters": counts}

    def _flagged(self, record: Record) -> Record:
        if splits.draw(record.pair_id, f"{self.salt} {UNFILTERED}") >= self.unfiltered_share:
            return record
        return dataclasses.replace(record, flags=(*record.flags, UNFILTERED))


def cosine(cosines: Cosines, threshold: float = CLIP_THRESHOLD) -> Filter:
    """Keep pairs whose picture and text are at least so near; use a cleaner model than the one that is trained."""

    def judge(records: Sequence[Record]) -> list[str]:
        found = _checked(cosines(records), records, "cosines")
        return ["" if value >= threshold else _below(value, threshold) for value in found]

    return Filter(f"cosine of at least {threshold:g}", judge)


def has_image() -> Filter:
    """Keep records whose picture is there."""
    return Filter("has an image", lambda records: ["" if r.image else "no image" for r in records], quality=False)


def licensed(allowed: Callable[[str], bool]) -> Filter:
    """Keep records whose licence text is allowed."""

    def judge(records: Sequence[Record]) -> list[str]:
        return ["" if allowed(r.licence) else f"licence: {r.licence or 'not stated'}" for r in records]

    return Filter("licence", judge, quality=False)


def repeated(limit: int) -> Filter:
    """Keep the first `limit` records of each text: one that fits many pictures tells nothing of any."""
    seen: Counter[str] = Counter()

    def judge(records: Sequence[Record]) -> list[str]:
        found = []
        for record in records:
            text = record.target.casefold()
            seen[text] += 1
            found.append("" if seen[text] <= limit else f"text seen more than {limit} times")
        return found

    return Filter("repeated texts", judge)


def mixed(
    records: Iterable[Record], synthetic: Mapping[str, str], *, salt: str, share: float = SYNTHETIC_SHARE
) -> Iterator[Record]:
    """Each record once, with its synthetic text in `share` of the draws and its own in the rest.

    The draw goes by the pair id of the original text, so it does not change when the captioner or the order does.
    A record without a synthetic text keeps its own; one drawn for a synthetic text is flagged and has it as target.

    :param synthetic: pair id -> text.
    """
    if not 0 <= share <= 1:
        raise splits.WrongShares(f"The synthetic share has to be between 0 and 1, not {share}.")
    for record in records:
        text = synthetic.get(record.pair_id)
        if text and splits.draw(record.pair_id, f"{salt} {SYNTHETIC}") < share:
            yield dataclasses.replace(record, target=text, flags=(*record.flags, SYNTHETIC))
        else:
            yield record


def _passed(item: Filter, batch: Sequence[Record], count: Count) -> list[Record]:
    spared = [item.quality and UNFILTERED in record.flags for record in batch]
    judged = [record for record, spare in zip(batch, spared, strict=True) if not spare]
    reasons = iter(_checked(item.judge(judged), judged, item.name) if judged else ())
    count.spared += sum(spared)
    kept = []
    for record, spare in zip(batch, spared, strict=True):
        reason = "" if spare else next(reasons)
        count.add(record, reason)
        if not reason:
            kept.append(record)
    return kept


def _checked(answers: Sequence[T], records: Sequence[Record], what: str) -> Sequence[T]:
    if len(answers) != len(records):
        raise WrongLength(f"{what}: {len(answers)} answers for {len(records)} records.")
    return answers


def _below(value: float, threshold: float) -> str:
    return "no cosine" if math.isnan(value) else f"cosine under {threshold:g}"
