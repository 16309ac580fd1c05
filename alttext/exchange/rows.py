"""What leaves for one placement, and what comes back of it; the token that tells whether it is still the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from django.core import signing

from alttext import queries
from alttext.models import Placement, Suggestion
from alttext.operations import decisions
from alttext.operations.decisions import Seen

MOST_BYTES = 10_000_000  # 5,000 units of XLIFF take about 6 MB
MOST_ROWS = 5_000  # a site's sheet of 5,000 images is about 3 MB; more comes in parts
PAGE_ROWS = 500
SALT = "alttext.exchange.seen"
DAMAGED_TOKEN = "The mark “seen” is missing or damaged. Download the file again, and change only the text."  # noqa: S105


class Unreadable(Exception):
    """The file cannot be read; the message says what is wrong, with the line where there is one."""


class BadToken(ValueError):
    """A token that this site did not write, or not for this placement."""


@dataclass(frozen=True, slots=True)
class Row:
    """One placement as it leaves. `suggestion` only if the author may see it and it is still about this image."""

    placement: Placement
    suggestion: Suggestion | None
    token: str


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a file.

    :ivar number: its line in the file, from 1.
    :ivar decorative: None: the file does not say.
    :ivar problem: why the row cannot be used; the other values may be empty then.
    :ivar source: the text it was translated from, where the file has one.
    """

    number: int
    id: str
    text: str = ""
    decorative: bool | None = None
    token: str = ""
    problem: str = ""
    source: str = ""


def rows(*, user: Any, state: str = "all", language: str = "") -> Iterator[Row]:
    """Placements that `user` may edit, in id order, some at a time."""
    found = queries.queue(user=user, state=state, language=language)
    after: int | None = 0
    while after is not None:
        page = queries.page(found, after=after, size=PAGE_ROWS)
        offered = _offered(page.placements)
        for placement in page.placements:
            suggestion = offered.get(placement.pk)
            yield Row(placement, suggestion, token(placement, suggestion))
        after = page.next_after


def _offered(placements: list[Placement]) -> dict[int, Suggestion]:
    """Pending suggestions by placement: shown ones that are about the image and words as they are."""
    pending = Suggestion.objects.filter(placement__in=placements, state=Suggestion.State.PENDING)
    known = {placement.pk: placement for placement in placements}
    return {
        row.placement_id: row
        for row in pending.select_related("snapshot")
        if row.is_shown and decisions.still_about(row, known[row.placement_id])
    }


def token(placement: Placement, suggestion: Suggestion | None) -> str:
    """What was seen, signed, for one cell of a file."""
    seen = asdict(decisions.seen(placement, suggestion))
    return signing.dumps({"placement": placement.pk, **seen}, salt=SALT, compress=True)


def seen_in(token: str, *, placement_id: int) -> Seen:
    """The inverse of `token`.  :raises BadToken: damaged, or of another placement."""
    try:
        found = signing.loads(token.strip(), salt=SALT)
    except signing.BadSignature as error:
        raise BadToken(DAMAGED_TOKEN) from error
    if found.pop("placement") != placement_id:
        raise BadToken("The mark “seen” belongs to another image. Were cells moved between rows?")
    return Seen(**found)
