"""Pairs of a better and a worse text for the same picture in the same words: from authors' edits and from samples.

An edit is a preference only where it changed what is said. Used as offered gives no pair, dismissed without a text
gives no pair, and decorative is no text. Held out by author and by picture. Knows no loss.
"""

from __future__ import annotations

import re
import statistics
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from captioner.funnel import splits
from captioner.funnel.records import AUTHOR, DESCRIBED, Decided, Skipped
from captioner.types import PageContext, Role

DETECTOR = "detector"
MEANINGLESS = ("P", "Z", "C")  # Unicode categories: punctuation, spaces, controls
SPOKEN = frozenset("%‰&@#§")  # punctuation to Unicode, words to a reader
MINUS = re.compile(r"(?<![\w.,])[-−–](?=[.,]?\d)")
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
POINT = re.compile(r"(?<=\d)[.,:/](?=\d)|(?<!\w)\.(?=\d)")
MINUS_SIGN, POINT_SIGN = "−", "·"


@dataclass(frozen=True, slots=True)
class Preference:
    """One pair. `author` is empty for pairs that no person made."""

    name: str
    image: Path | None
    content_hash: str
    context: PageContext
    role: Role
    chosen: str
    rejected: str
    source: str
    licence: str
    author: str = ""

    @property
    def length_difference(self) -> int:
        """Words of the chosen text more than of the rejected one: a loss can learn length instead of truth."""
        return len(self.chosen.split()) - len(self.rejected.split())


@dataclass(frozen=True, slots=True)
class Sample:
    """One sampled caption. `clean`: a calibrated detector found every named object."""

    text: str
    clean: bool


@dataclass(frozen=True, slots=True)
class Sampled:
    """What was sampled for one picture on one page."""

    name: str
    image: Path | None
    content_hash: str
    context: PageContext
    licence: str
    samples: Sequence[Sample]
    role: Role = Role.UNKNOWN


def meaning(text: str) -> str:
    """What is left of a text when case, punctuation and spaces are not looked at.

    A minus before a number and the point within one stay, and so do % and other signs that are read out.
    """
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    text = POINT.sub(POINT_SIGN, THOUSANDS.sub("", MINUS.sub(MINUS_SIGN, text)))
    return "".join(
        char for char in text
        if char == POINT_SIGN or char in SPOKEN or not unicodedata.category(char).startswith(MEANINGLESS)
    )  # fmt: skip


def from_decisions(decisions: Iterable[Decided], dropped: Skipped) -> Iterator[Preference]:
    """Final over suggested, where a person changed what is said about the same picture in the same words."""
    for decided in decisions:
        if reason := _no_pair(decided):
            dropped.add(reason, decided.name)
            continue
        assert decided.final is not None
        assert decided.suggested is not None
        yield Preference(
            name=decided.name,
            image=decided.image,
            content_hash=decided.content_hash,
            context=decided.context,
            role=decided.role,
            chosen=decided.final,
            rejected=decided.suggested,
            source=AUTHOR,
            licence=decided.licence,
            author=decided.author,
        )


def from_samples(sampled: Iterable[Sampled], dropped: Skipped, *, per_picture: int = 1) -> Iterator[Preference]:
    """Clean over not clean, at most `per_picture` pairs a picture: those nearest in length, then in the order drawn."""
    for item in sampled:
        clean = [sample.text for sample in item.samples if sample.clean]
        other = [sample.text for sample in item.samples if not sample.clean]
        if not clean or not other:
            dropped.add("labels are equal" if item.samples else "no samples", item.name)
            continue
        pairs = [(good, bad) for good in clean for bad in other if meaning(good) != meaning(bad)]
        if not pairs:
            dropped.add("the same text with both labels", item.name)
            continue
        pairs.sort(key=lambda pair: abs(len(pair[0].split()) - len(pair[1].split())))  # stable: ties in order
        for number, (good, bad) in enumerate(dict.fromkeys(pairs[:per_picture]), 1):
            yield Preference(
                name=f"{item.name}: pair {number}",
                image=item.image,
                content_hash=item.content_hash,
                context=item.context,
                role=item.role,
                chosen=good,
                rejected=bad,
                source=DETECTOR,
                licence=item.licence,
            )


def hold_out(
    preferences: Iterable[Preference], dropped: Skipped, *, share: float, salt: str
) -> tuple[list[Preference], list[Preference]]:
    """(to train on, held out): no author and no picture stands on both sides.

    Authors are drawn, and pictures where no author is known. A pair by another author on a picture that is held out is
    dropped. With few authors the share held out can be far from `share`.
    """
    if not 0 <= share <= 1:
        raise splits.WrongShares(f"The share held out has to be between 0 and 1, not {share}.")
    everything = list(preferences)
    drawn = [splits.draw(item.author or item.content_hash, f"{salt} held out") < share for item in everything]
    pictures = {item.content_hash for item, is_drawn in zip(everything, drawn, strict=True) if is_drawn}
    train, held = [], []
    for item, is_drawn in zip(everything, drawn, strict=True):
        if is_drawn or (not item.author and item.content_hash in pictures):
            held.append(item)
        elif item.content_hash in pictures:
            dropped.add("its picture is held out", item.name)
        else:
            train.append(item)
    return train, held


def lengths(preferences: Sequence[Preference]) -> dict[str, Any]:
    """How far chosen and rejected texts differ in words; None without pairs. To be logged beside every training."""
    differences = [item.length_difference for item in preferences]
    if not differences:
        return {"pairs": 0, "mean_difference_words": None, "median_difference_words": None, "chosen_is_longer": None}
    return {
        "pairs": len(differences),
        "mean_difference_words": statistics.fmean(differences),
        "median_difference_words": statistics.median(differences),
        "chosen_is_longer": sum(difference > 0 for difference in differences) / len(differences),
    }


def _no_pair(decided: Decided) -> str:
    """Why a decision is no preference; "" if it is one."""
    if decided.outcome not in ("EDITED", "REPLACED"):
        return f"no pair: {decided.outcome.lower()}"
    if not decided.final or not decided.suggested:
        return "no pair: a text is missing"
    if not decided.same_image:
        return "no pair: the image changed in between"
    if not decided.same_context:
        return "no pair: the words around it changed in between"
    if decided.role not in DESCRIBED:
        return f"no pair: role {decided.role}"
    if meaning(decided.final) == meaning(decided.suggested):
        return "no pair: only case, punctuation or spaces changed"
    return ""
