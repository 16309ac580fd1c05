"""A captioner over a data file: one result a row, and one report over all results. No figure without its n.

Times and counts only what a captioner answers; it never corrects or hides a row.
"""

from __future__ import annotations

import csv
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from captioner.metrics import judging
from captioner.metrics.intervals import clopper_pearson
from captioner.metrics.judging import Judgement
from captioner.metrics.rows import Row, Skipped
from captioner.prepare import images, pagewords
from captioner.rooms.gate import calibration
from captioner.types import Captioner, CaptionRequest, Outcome, versions_key


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one row. `outcome` is None where the picture was refused at the door; `refusal` says why.

    :ivar seconds: of the captioner alone, without decoding the file.
    :ivar content_hash: sha256 of the file, hex.
    """

    row: Row
    outcome: Outcome | None = None
    refusal: str = ""
    seconds: float = 0.0
    content_hash: str = ""

    @property
    def text(self) -> str | None:
        return self.outcome.text if self.outcome else None

    @property
    def judgement(self) -> Judgement:
        return judging.judge(self.row, self.outcome) if self.outcome else Judgement()


def run(captioner: Captioner, rows: Iterable[Row], skipped: Skipped) -> Iterator[Result]:
    """One result a row, in order. A file that cannot be opened any more goes into `skipped`."""
    for row in rows:
        try:
            data = row.image.read_bytes()
        except OSError as error:
            skipped.add(f"image unreadable: {error.strerror}", row.name)
            continue
        intake = images.take_in(data, name=row.image.name)
        if intake.outcome != images.ACCEPT:
            yield Result(row, refusal=intake.code, content_hash=intake.content_hash)
            continue
        request = CaptionRequest(row.name, image=intake.large, context=row.context, role=row.role)
        started = time.perf_counter()
        [outcome] = captioner.describe([request])
        seconds = time.perf_counter() - started
        yield Result(row, outcome, seconds=seconds, content_hash=intake.content_hash)


def report(results: Sequence[Result], *, captioner: Captioner, data: str, skipped: Skipped) -> dict[str, Any]:
    """All measures as JSON types. Shares are None where nothing was counted, never 0."""
    answered = [result for result in results if result.outcome is not None]
    offered = [result for result in answered if result.text is not None]
    lengths = [pagewords.graphemes(result.text or "") for result in offered]
    return {
        "data": data,
        "captioner": captioner.name,
        "versions": dict(captioner.versions),
        "versions_key": versions_key(captioner.versions),
        "n": len(results),
        "skipped": skipped.report(),
        "refused": dict(Counter(result.refusal for result in results if result.refusal)),
        "offered": len(offered),
        "coverage": share(len(offered), len(results)),
        "abstained": dict(
            Counter(str(reason) for one in answered for reason in (one.outcome.reasons if one.outcome else ()))
        ),
        "flags": dict(Counter(flag for one in answered if one.outcome for flag in one.outcome.flags)),
        "by_kind": _by_kind(results),
        "objects": _objects(results),
        "unmentioned": _unmentioned(offered),
        "length_graphemes": {"mean": mean(lengths), "max": max(lengths, default=None)},
        "distinct_texts": share(len({result.text for result in offered}), len(offered)),
        "seconds": _seconds([result.seconds for result in answered]),
    }


def share(part: int, whole: int) -> dict[str, Any]:
    """A share with its counts and exact 95 % interval; None where there is nothing to divide by."""
    if not whole:
        return {"k": part, "n": whole, "share": None, "interval": None}
    low, high = clopper_pearson(part, whole)
    return {"k": part, "n": whole, "share": round(part / whole, 4), "interval": [round(low, 4), round(high, 4)]}


def mean(values: Sequence[float]) -> float | None:
    return round(statistics.fmean(values), 3) if values else None


def _by_kind(results: Sequence[Result]) -> dict[str, Any]:
    kinds = dict.fromkeys(sorted(result.row.kind or "unlabelled" for result in results))
    return {
        kind: share(sum(one.text is not None for one in group), len(group))
        for kind in kinds
        if (group := [one for one in results if (one.row.kind or "unlabelled") == kind])
    }


def _objects(results: Sequence[Result]) -> dict[str, Any] | None:
    """Named things against labels; None where no row is labelled."""
    labelled = [result for result in results if result.row.objects is not None]
    if not labelled:
        return None
    judged = [result.judgement for result in labelled if result.text is not None]
    naming = [one for one in judged if one.names]
    certain = [one for one in naming if one.right or one.false]
    mentions = sum(len(one.mentions) for one in judged)
    found = [set(one.judgement.mentions) & judging.present(one.row) for one in labelled]
    true = sum(len(judging.present(one.row)) for one in labelled)
    return {
        "rows": len(labelled),
        "all_judged_names_right": share(sum(not one.false for one in certain), len(certain)),
        "all_names_right_counting_unjudged_as_wrong": share(
            sum(not one.false and not one.unjudged for one in naming), len(naming)
        ),
        "texts_naming_nothing": len(judged) - len(naming),
        "names": {
            "right": sum(len(one.right) for one in judged),
            "false": dict(Counter(name for one in judged for name in one.false)),
            "unjudged": dict(Counter(name for one in judged for name in one.unjudged)),
        },
        "CHAIR_s": share(sum(bool(one.false_mentions) for one in judged), len(judged)),
        "CHAIR_i": share(sum(len(one.false_mentions) for one in judged), mentions),
        "object_recall": share(sum(map(len, found)), true),
    }


def _unmentioned(offered: Sequence[Result]) -> dict[str, Any] | None:
    """Upper bound of the risk: texts that name a thing which neither human text nor caption mentions."""
    checked = [(one, judging.named(one.outcome)) for one in offered if one.outcome and one.row.references]
    naming = [(one, names) for one, names in checked if names]
    if not naming:
        return None
    loose = Counter(name for one, names in naming for name in names if not judging.is_mentioned(name, [one.row.said]))
    texts = sum(any(not judging.is_mentioned(name, [one.row.said]) for name in names) for one, names in naming)
    return {"texts": share(texts, len(naming)), "names": dict(loose.most_common())}


def _seconds(values: Sequence[float]) -> dict[str, float | None]:
    ordered = sorted(values)
    at = {
        name: round(ordered[min(len(ordered) - 1, int(part * len(ordered)))], 3) if ordered else None
        for name, part in (("p50", 0.5), ("p95", 0.95))
    }
    return {"mean": mean(values), **at}


COLUMNS = (
    "row",
    "image",
    "kind",
    "role",
    "text",
    "reasons",
    "detail",
    "right",
    "false",
    "unjudged",
    "flags",
    "seen_kind",
    "seconds",
    "content_hash",
    "versions_key",
    "stratum",
    "score",
    "wrong",
)


def write_rows(results: Iterable[Result], path: Path) -> Iterator[Result]:
    """Pass `results` on and write each as a line of CSV when it comes, so that a long run loses nothing.

    The last five columns are what `calibrate` reads; `wrong` is empty, for a person to fill in.

    :raises OSError: the file cannot be written.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for result in results:
            writer.writerow(_cells(result))
            file.flush()
            yield result


def _cells(result: Result) -> list[object]:
    outcome, judged = result.outcome, result.judgement
    kinds = outcome.evidence.get("kinds") if outcome else None
    return [
        result.row.name,
        result.row.image.name,
        result.row.kind,
        str(result.row.role),
        result.text or "",
        " ".join(map(str, outcome.reasons)) if outcome else f"refused: {result.refusal}",
        outcome.detail if outcome else "",
        "; ".join(judged.right),
        "; ".join(judged.false),
        "; ".join(judged.unjudged),
        " ".join(outcome.flags) if outcome else "",
        max(kinds, key=lambda kind: kinds[kind]) if kinds else "",
        round(result.seconds, 3),
        result.content_hash,
        calibration.key_of(outcome.versions) if outcome else "",
        outcome.evidence.get("stratum", "") if outcome else "",
        "" if (score := score_of(outcome)) is None else f"{score:.6f}",
        "",
    ]


def score_of(outcome: Outcome | None) -> float | None:
    """How sure a captioner was of its text, 0..1; None without a text.

    The gate's fitted score where there is one. A captioner without it is as sure as its weakest evidence.
    """
    if outcome is None or outcome.text is None:
        return None
    fitted = outcome.evidence.get("score")
    weakest = min((support["score"] for support in outcome.evidence.get("support", ())), default=0.0)
    return float(weakest if fitted is None else fitted)


Progress = Callable[[int], None]


def counted(results: Iterable[Result], tell: Progress, every: int = 50) -> Iterator[Result]:
    """Pass `results` on and tell how many there were, now and then."""
    for number, result in enumerate(results, 1):
        yield result
        if number % every == 0:
            tell(number)
