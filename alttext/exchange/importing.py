"""From the rows of a file to recorded acts: what would change, what is refused and why, then one act at a time."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from django.core import signing

from alttext import edits, forms, queries, rules
from alttext.adapters import Alt
from alttext.exchange.rows import BadToken, Line, seen_in
from alttext.models import Claim, ContextSnapshot, Decision, Draft, Placement
from alttext.operations import decisions
from alttext.operations.bulk import NotAllowed, NotInBulk
from alttext.operations.decisions import ContextChanged, ImageChanged, Seen, Stale, TextChanged
from alttext.roles import Role

CHUNK_IDS = 500
MOST_NAME = 200
PACKED = ("number", "placement_id", "name", "language", "text", "decorative")
DRAFT = "You have a draft of your own for it, which would be lost: save it or throw it away first."
SALT = "alttext.exchange.plan"
EMPTY = "An empty text is not saved. If the image needs none, write yes in “decorative”."
NOBODYS = "There is no image of this number that you may edit."


class Damaged(ValueError):
    """The plan is not as it was shown, or was shown to somebody else."""


@dataclass(frozen=True, slots=True)
class Change:
    """What one row of a file would change.

    :ivar before: the text that stands there, empty with `before_decorative`.
    :ivar notes: what a person should know before; `findings`: what the rules say about the text.
    """

    number: int
    placement_id: int
    name: str
    language: str
    text: str
    decorative: bool
    seen: Seen
    key: uuid.UUID
    before: str = ""
    before_decorative: bool = False
    image_url: str = ""
    notes: tuple[str, ...] = ()
    findings: tuple[rules.Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """A row that changes nothing, and why.

    :ivar current: what stands there now, where that is part of the reason; `text` and `decorative` are the file's.
    """

    number: int
    name: str
    why: str
    placement_id: int | None = None
    language: str = ""
    text: str = ""
    decorative: bool = False
    current: str | None = None
    current_decorative: bool = False


@dataclass(slots=True)
class Plan:
    """What a file would do. `unchanged` counts rows that are as they left, or say what stands there already."""

    changes: list[Change] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    unchanged: int = 0


def plan(lines: Iterable[Line], *, user: Any, at: datetime) -> Plan:
    """What the rows would change if `user` brought them now. Writes nothing."""
    lines, made = list(lines), Plan()
    known = _Known(user, at, {int(line.id) for line in lines if _is_id(line.id)})
    first: dict[str, int] = {}
    for line in lines:
        if line.id in first:
            why = f"The image stands in the file twice, first in line {first[line.id]}. Only that one counts."
            made.refusals.append(_refusal(line, known.placement(line), why))
            continue
        if line.id:
            first[line.id] = line.number
        found = _look(line, known)
        if found is None:
            made.unchanged += 1
        elif isinstance(found, Change):
            made.changes.append(found)
        else:
            made.refusals.append(found)
    return made


def carry_out(change: Change, *, by: Any, at: datetime) -> Decision:
    """Make the change, as an act of `by`; its own key again does nothing twice.

    :raises NotAllowed: gone, or not to be edited.
    :raises NotInBulk: the person has a draft for it.
    :raises Stale: something else stands there than when the file was made.
    Raises as `decisions.save_text` does.
    """
    placement = queries.queue(user=by, state="all").filter(pk=change.placement_id).first()
    if placement is None:
        raise NotAllowed("This image is gone, or you may no longer edit it.")
    if not Decision.objects.filter(idempotency_key=change.key, placement=placement).exists():
        # stricter than the act itself, which lets a person's own newer act pass: a file is older than that
        if error := _outdated(placement, change.seen):
            raise error
        if _draft(placement.pk, by):
            raise NotInBulk(DRAFT)
    if change.decorative:
        return decisions.mark_decorative(placement=placement, seen=change.seen, by=by, at=at, key=change.key)
    return decisions.save_text(placement=placement, text=change.text, seen=change.seen, by=by, at=at, key=change.key)


def pack(changes: Iterable[Change], *, user: Any) -> str:
    """The changes as they were shown, signed, for the way through a page."""
    kept = [
        {
            **{name: getattr(change, name) for name in PACKED},
            "seen": asdict(change.seen),
            "key": str(change.key),
        }
        for change in changes
    ]
    return signing.dumps({"user": user.pk, "changes": kept}, salt=SALT, compress=True)


def unpack(packed: str, *, user: Any) -> list[Change]:
    """The inverse of `pack`, less what was only shown.  :raises Damaged: not what was shown to `user`."""
    try:
        found = signing.loads(packed, salt=SALT)
    except signing.BadSignature as error:
        raise Damaged from error
    if found["user"] != user.pk:
        raise Damaged
    return [Change(**{**one, "seen": Seen(**one["seen"]), "key": uuid.UUID(one["key"])}) for one in found["changes"]]


class _Known:
    """The placements that the rows are about, with claims of others and drafts of the person's own."""

    def __init__(self, user: Any, at: datetime, ids: set[int]) -> None:
        self.rows: dict[int, Placement] = {}
        self.held: dict[int, str] = {}
        self.drafts: set[int] = set()
        ordered = sorted(ids)
        for start in range(0, len(ordered), CHUNK_IDS):
            chunk = ordered[start : start + CHUNK_IDS]
            self.rows |= {row.pk: row for row in queries.queue(user=user, state="all").filter(pk__in=chunk)}
            claims = Claim.objects.filter(placement__in=chunk, until__gt=at).exclude(by=user).select_related("by")
            self.held |= {claim.placement_id: claim.by.get_username() for claim in claims}
            drafts = Draft.objects.filter(placement__in=chunk, by=user)
            self.drafts |= set(drafts.values_list("placement_id", flat=True))

    def placement(self, line: Line) -> Placement | None:
        return self.rows.get(int(line.id)) if _is_id(line.id) else None


def _look(line: Line, known: _Known) -> Change | Refusal | None:
    """What the row would change, why it is refused, or None: it says what stands there."""
    placement = known.placement(line)
    if line.problem:
        return _refusal(line, placement, line.problem)
    if not _is_id(line.id):
        return _refusal(line, None, f"The cell “id” says “{line.id[:20]}”, which is no number of an image.")
    if placement is None:
        return _refusal(line, None, NOBODYS)
    text, decorative = _plain(line.text), bool(line.decorative)
    if (text, decorative) == (_plain(placement.current_alt), placement.decorative):
        return None
    try:
        seen = seen_in(line.token, placement_id=placement.pk)
    except BadToken as error:
        return _refusal(line, placement, str(error))
    if Alt(line.text, decorative).hash == seen.alt_hash:
        return None  # as it left: nothing is wanted, whatever stands there now
    if outdated := _outdated(placement, seen):
        return _refusal(line, placement, str(outdated), both=True)
    if placement.pk in known.drafts:
        return _refusal(line, placement, DRAFT)
    if why := _against(text, decorative, placement):
        return _refusal(line, placement, why)
    held = known.held.get(placement.pk)
    return Change(
        number=line.number,
        placement_id=placement.pk,
        name=str(placement)[:MOST_NAME],
        language=placement.language,
        text=text,
        decorative=decorative,
        before=placement.current_alt,
        before_decorative=placement.decorative,
        seen=seen,
        key=uuid.uuid4(),
        image_url=placement.image_url,
        notes=tuple(_notes(line, placement, text, decorative, held)),
        findings=() if decorative else tuple(_findings(placement, text)),
    )


def _against(text: str, decorative: bool, placement: Placement) -> str:
    if decorative:
        return "A decorative image has no text: empty the cell “text”, or write no in “decorative”." if text else ""
    if not text and placement.decorative:
        return "To take the mark “decorative” off, write a text."
    return forms.problem_of(text) if edits.normalise(text) else EMPTY


def _notes(line: Line, placement: Placement, text: str, decorative: bool, held: str | None) -> Iterable[str]:
    if held:
        yield f"{held} has it open."
    if line.source and line.source == text != placement.current_alt:
        yield "It is the same as the text that it was translated from."
    words = placement.snapshot
    if decorative and placement.role == Role.FUNCTIONAL and not (words and words.link_text_visible):
        yield "It is all that its link or button holds, which is then without a name."


def _findings(placement: Placement, text: str) -> list[rules.Finding]:
    subject = rules.Subject.in_place(
        text,
        words=placement.snapshot or ContextSnapshot(),
        language=placement.language,
        role=placement.role,
        image_name=placement.image_name,
    )
    return rules.check(subject)


def _outdated(placement: Placement, seen: Seen) -> Stale | None:
    """What changed since the file was made; the operation asks the CMS once more."""
    now = decisions.seen(placement)
    if now.content_hash != seen.content_hash:
        return ImageChanged(placement, "The image was replaced since the file was made.")
    if (now.version, now.alt_hash) != (seen.version, seen.alt_hash):
        return TextChanged(placement, "Another text was saved since the file was made.")
    if now.context_hash != seen.context_hash:
        return ContextChanged(placement, "The words around the image changed since the file was made.")
    return None


def _draft(placement_id: int, user: Any) -> bool:
    return Draft.objects.filter(placement=placement_id, by=user).exists()


def _refusal(line: Line, placement: Placement | None, why: str, *, both: bool = False) -> Refusal:
    """:param both: tell what stands there now as well."""
    if placement is None:
        name = f"number {line.id[:20]}" if line.id else "a row without a number"
        return Refusal(line.number, name, why, text=line.text)
    return Refusal(
        line.number,
        str(placement)[:MOST_NAME],
        why,
        placement_id=placement.pk,
        language=placement.language,
        text=line.text,
        decorative=bool(line.decorative),
        current=placement.current_alt if both else None,
        current_decorative=placement.decorative,
    )


def _plain(text: str) -> str:
    """Line ends as the workbench stores them: a spreadsheet writes its own."""
    return text.replace("\r\n", "\n")


def _is_id(value: str) -> bool:
    return value.isascii() and value.isdecimal() and len(value) < 19
