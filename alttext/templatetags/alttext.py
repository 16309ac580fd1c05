"""Filters of the workbench's templates: codes to words, direction of a language, what changed between two texts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from django import template

from alttext import roles, wording
from alttext.models import Placement

register = template.Library()

RIGHT_TO_LEFT = frozenset({"ar", "arc", "ckb", "dv", "fa", "he", "iw", "ks", "ps", "sd", "ug", "ur", "yi"})
# words, spaces and signs; scripts written without spaces are compared sign by sign
PIECES = re.compile(
    r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]|[^\W\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]+|\s+|[^\w\s]"
)
MOST_PIECES = 1000  # the comparison takes quadratic time


@dataclass(frozen=True, slots=True)
class Piece:
    """Some words, and whether they stayed ("same"), were added ("added") or removed ("removed")."""

    kind: str
    text: str


@register.filter
def changes_to(before: str, after: str) -> list[Piece]:
    """What turns `before` into `after`, in words; two whole texts where they are long or share nothing."""
    old, new = PIECES.findall(before), PIECES.findall(after)
    if before == after:
        return [Piece("same", before)] if before else []
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if len(old) + len(new) > MOST_PIECES or matcher.ratio() < 0.3:
        return [piece for piece in (Piece("removed", before), Piece("added", after)) if piece.text]
    found = []
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind == "equal":
            found.append(Piece("same", "".join(old[i1:i2])))
            continue
        found += [Piece("removed", "".join(old[i1:i2]))] if i2 > i1 else []
        found += [Piece("added", "".join(new[j1:j2]))] if j2 > j1 else []
    return found


@register.filter
def reason_words(code: str) -> wording.Explanation:
    """Why there is no suggestion, and what the author can do."""
    return wording.reason(code)


@register.filter
def flag_words(code: str) -> str:
    """What a mark beside a suggestion warns of."""
    return wording.flag(code)


@register.filter
def state_words(placement: Placement) -> str:
    """The state of a placement."""
    if placement.decorative:
        return "Decorative"
    return wording.STATES.get(placement.state, placement.state)


@register.filter
def role_word(placement: Placement) -> str:
    """The role in a word or two, for use after "Role:"."""
    return placement.get_role_display().partition(":")[0].lower()


@register.filter
def role_label(role: str) -> str:
    """The role in words, with what it means."""
    return roles.LABELS[roles.Role(role)]


@register.filter
def fate_words(state: str) -> str:
    """What became of a suggestion."""
    return wording.FATES.get(state, state)


@register.filter
def direction(language: str) -> str:
    """ "rtl" or "ltr", for the dir attribute."""
    return "rtl" if re.split("[-_]", language or "")[0].lower() in RIGHT_TO_LEFT else "ltr"


@register.filter
def tail(text: str, length: int) -> str:
    """The last `length` characters or fewer, from a word's start; the end is what stands next to the image."""
    return text if len(text) <= length else "… " + text[-length:].partition(" ")[2]


@register.filter
def head(text: str, length: int) -> str:
    """The first `length` characters or fewer, up to a word's end."""
    return text if len(text) <= length else text[:length].rpartition(" ")[0] + " …"


@register.simple_tag
def image_alt(placement: Placement, number: Any, total: Any) -> str:
    """What the image is called inside the workbench, so that a blind author can work the queue."""
    if placement.current_alt:
        return placement.current_alt
    state = "marked as decorative" if placement.decorative else "no alternative text yet"
    return f"Image {number} of {total}, {state}"
