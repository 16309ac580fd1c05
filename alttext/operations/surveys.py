"""What a scan would find and ask for, counted before it is run. Writes nothing, opens no file."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

from django.db.models import Exists, OuterRef, QuerySet

from alttext.adapters import Adapter, Place
from alttext.models import Placement, Suggestion
from alttext.operations import placements

WITHOUT, WITH, DECORATIVE = "without a text", "with a text", "decorative"
TEXTS = (WITHOUT, WITH, DECORATIVE)
BATCH_PLACES = 100
log = logging.getLogger("alttext.operations")


@dataclass(slots=True)
class Survey:
    """Counts of places.

    :ivar kinds: (kind, one of TEXTS) -> places.
    :ivar states: state of the placement -> places; "" where there is none yet.
    :ivar odd: places that cannot be counted or stored.
    :ivar broken: the error with which the adapter stopped telling its places.
    :ivar captions: suggestions that a scan would ask for; pictures that only differ in their file are not told apart.
    """

    found: int = 0
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    states: Counter[str] = field(default_factory=Counter)
    captions: int = 0
    odd: int = 0
    broken: str = ""


def unanswered(adapter: str) -> QuerySet[Placement]:
    """Placements without a text that no captioner has looked at as they are now.

    One answer for these bytes in these words is enough: a person who rejected it is not asked about another.
    """
    return Placement.objects.filter(~_answered(), adapter=adapter, state=Placement.State.OPEN)


def survey(adapter: Adapter, places: Iterable[Place], *, limit: int | None = None) -> Survey:
    """Count `places` of `adapter`, or the first `limit` of them."""
    counted = Survey()
    each = islice(placements.until_broken(places), limit)
    while batch := list(islice(each, BATCH_PLACES)):
        if isinstance(batch[-1], Exception):
            counted.broken = f"{type(batch[-1]).__name__}: {batch[-1]}"
        usable = [place for place in batch if not isinstance(place, Exception) and placements.is_usable(place.key)]
        keys = [place.key for place in usable]
        rows = Placement.objects.filter(adapter=adapter.name, key__in=keys).annotate(answered=_answered())
        known = {row.key: row for row in rows.select_related("snapshot")}
        for place in usable:
            try:
                _count(counted, place, known.get(place.key))
            except Exception:  # one odd place must not keep the others from being counted
                log.exception("place %s of %s", place.key, adapter.name)
                counted.odd += 1
        counted.odd += len(batch) - len(usable) - bool(counted.broken)
    return counted


def _count(counted: Survey, place: Place, known: Placement | None) -> None:
    is_current = known is not None and placements.is_current(known, place)
    text = DECORATIVE if place.alt.decorative else WITH if place.alt.text.strip() else WITHOUT
    counted.found += 1
    counted.kinds[place.kind or "image", text] += 1
    counted.states[known.state if known else ""] += 1
    if text != WITHOUT or (known and known.decorative and not place.stores_decorative):
        return
    if known is None or not is_current:
        counted.captions += 1
    elif known.state == Placement.State.OPEN:
        counted.captions += not getattr(known, "answered")  # noqa: B009  (an annotation)


def _answered() -> Exists:
    same = Suggestion.objects.filter(placement=OuterRef("pk"), asset=OuterRef("asset"), snapshot=OuterRef("snapshot"))
    return Exists(same)
