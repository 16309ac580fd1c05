"""Filters that turn figures into words and into chart geometry. Know no request and start no query."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django import template

from alttext import wording
from alttext.models.suggestions import StatedRisk
from alttext.rates import Bucket, Interval, share
from alttext.reports import Overview

register = template.Library()

NO_DATA = "No data yet"
FAILURES = {
    "missing": "The image file was not there any more.",
    "empty": "The file was empty.",
    "too_big": "The file was too large.",
    "not_allowed": "The kind of file cannot be read here.",
    "type_mismatch": "The file was named like one kind and held another.",
    "aspect": "The picture was too long or too narrow.",
    "pixels": "The picture had too many pixels.",
    "unreadable": "No picture could be found in the file.",
    "truncated": "The file ended before the picture did.",
    "corrupt": "The file was damaged.",
    "malformed": "The captioner gave an unusable answer.",
    "hung": "The captioner took too long.",
    "killed": "The captioner stopped at work.",
    "error": "The captioner could not work on the image.",
}
CHART_HEIGHT_PX = 190
TOP_PX = 26  # room for the number above the tallest bar
FLOOR_PX = 160  # where bars stand; their names are below


FATES = ("AS_IS", "EDITED", "REPLACED", "REJECTED", "DECORATIVE", "PENDING", "EXPIRED", "SUPERSEDED", "ABSTAINED")


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of some suggestions."""

    label: str
    count: int
    share: float | None


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a histogram. x and width in % of the chart's width, the rest in px from its top."""

    label: str
    count: int
    percent: str
    up_to: str
    x: float
    middle: float
    width: float
    y: float
    height: float
    above: float
    below: float


@register.filter
def percent(part: float | None) -> str:
    """A share with at most one decimal; never rounded to "0 %" or "100 %" where it is neither."""
    if part is None:
        return NO_DATA
    if 0 < part < 0.001:
        return "under 0.1 %"
    if 0.999 < part < 1:
        return "over 99.9 %"
    return f"{_short(part)} %"


@register.filter
def percent_range(interval: Interval | None) -> str:
    """Both ends, e.g. 12–52 %; empty without an interval."""
    return f"{_short(interval.low)}–{_short(interval.high)} %" if interval else ""


@register.filter
def bars(buckets: Iterable[Bucket]) -> list[Bar]:
    """A bar for each bucket, the highest as high as the chart allows; none without values."""
    buckets = list(buckets)
    highest = max((bucket.count for bucket in buckets), default=0)
    if not highest:
        return []
    step = 100 / len(buckets)
    return [_bar(bucket, index * step, step, highest) for index, bucket in enumerate(buckets)]


@register.filter
def fullest(buckets: Iterable[Bucket]) -> Bucket:
    """The bucket with most values, the first of several."""
    return max(buckets, key=lambda bucket: bucket.count)


@register.filter
def fates(overview: Overview) -> list[Fate]:
    """What became of all answers; what people did as one line only, where it is not shown."""
    if overview.acts is None:
        counts = {
            "Reviewed": overview.reviewed,
            "Not reviewed": overview.unreviewed,
            wording.FATES["SUPERSEDED"]: overview.superseded,
            wording.FATES["ABSTAINED"]: overview.abstained,
        }
    else:
        counts = {wording.FATES[state]: getattr(overview.acts.counts, state.lower()) for state in FATES}
    return [Fate(label, count, share(count, overview.answered)) for label, count in counts.items()]


@register.filter
def width_of(interval: Interval) -> str:
    """Distance of both ends in % of the whole."""
    return of_hundred(interval.high - interval.low)


@register.filter
def count_of(number: int, nouns: str) -> str:
    """`number` with its noun: 1 author, 7 authors. `nouns`: one word, or "one,many" where an s will not do."""
    one, _, many = nouns.partition(",")
    return f"{number:,} {one if number == 1 else many or one + 's'}"


@register.filter
def of_hundred(part: float | None) -> str:
    """A share as a number for an SVG length in %; 0 without data."""
    return f"{100 * (part or 0):.2f}"


@register.filter
def reason_words(code: str) -> str:
    """Why there was no suggestion."""
    return wording.reason(code).what if code in wording.REASONS else _readable(code)


@register.filter
def failure_words(code: str) -> str:
    """Why a job ended without an answer."""
    return FAILURES.get(code) or _readable(code)


@register.filter
def risk_words(risk: StatedRisk) -> str:
    """The promise of a calibration as a sentence."""
    about = f"{risk.stratum.capitalize()}: at" if risk.stratum else "At"
    if risk.confidence is None:
        return f"{about} most {percent(risk.alpha)} of all images with a wrong text, on average, n = {risk.n:,}"
    return (
        f"{about} most {percent(risk.alpha)} wrong among those offered, with {percent(risk.confidence)} confidence, "
        f"n = {risk.n:,}"
    )


@register.filter
def coverage_words(risk: StatedRisk) -> str:
    """How many items got a text, and how many of those were wrong, as far as the calibration tells."""
    about = f"{risk.stratum.capitalize()}: " if risk.stratum else ""
    if risk.accepted is None:
        return about + (percent(risk.coverage) if risk.coverage is not None else "number not told")
    offered = f"{about}{risk.accepted:,} of {risk.n:,}"
    if risk.coverage is not None:
        offered += f" ({percent(risk.coverage)})"
    return offered if risk.errors is None else f"{offered}, {risk.errors:,} of them wrong"


def _bar(bucket: Bucket, left: float, step: float, highest: int) -> Bar:
    height = round((FLOOR_PX - TOP_PX) * bucket.count / highest, 1)
    return Bar(
        label=bucket.label,
        count=bucket.count,
        percent=percent(bucket.share),
        up_to=percent(bucket.up_to),
        x=round(left + step * 0.14, 2),
        middle=round(left + step / 2, 2),
        width=round(step * 0.72, 2),
        y=round(FLOOR_PX - height, 1),
        height=height,
        above=round(FLOOR_PX - height - 8, 1),
        below=FLOOR_PX + 20,
    )


def _short(part: float) -> str:
    return f"{part * 100:.1f}".removesuffix(".0")


def _readable(code: str) -> str:
    return code.replace("_", " ").capitalize() + "."
