"""The ETag of a placement, and If-Match back to what the author had on screen. Knows no HTTP framework.

A tag reads plc-<id>-<version>-<image>-<words>-<alt>-<suggestion>-<rest>. The version and the three hashes decide
whether a decision is accepted; <rest> makes the tag differ whenever anything shown differs, and is not compared, so
that a suggestion that arrives while an author types is no conflict.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

from alttext.api.errors import PreconditionRequired, WrongTag
from alttext.models import Placement, Suggestion
from alttext.operations import decisions
from alttext.operations.decisions import Seen

DIGITS = 16  # hex digits kept of each sha256: it tells changes apart, it is no secret
REST_DIGITS = 12
# a compressing proxy may weaken a tag (Django's GZipMiddleware does): what we compare inside it is as strong as before
TAG = re.compile(
    r'(?:W/)?"plc-(?P<id>[0-9]{1,19})-(?P<version>[0-9]{1,10})'
    r"-(?P<image>[0-9a-f]{16}|none)-(?P<words>[0-9a-f]{16}|none)-(?P<alt>[0-9a-f]{16})"
    r'-(?P<suggestion>[0-9]{1,19})-[0-9a-f]{12}"'
)


def tag(placement: Placement, suggestion: Suggestion | None, shown: Mapping[str, Any]) -> str:
    """The ETag, with its quotes, of `shown`: the representation of `placement` with its newest suggestion."""
    screen = decisions.seen(placement, suggestion)
    rest = hashlib.sha256(json.dumps(shown, cls=DjangoJSONEncoder, sort_keys=True).encode()).hexdigest()
    parts = [
        str(placement.pk),
        str(screen.version),
        _short(screen.content_hash),
        _short(screen.context_hash),
        _short(screen.alt_hash),
        str(screen.suggestion_id or 0),
        rest[:REST_DIGITS],
    ]
    return f'"plc-{"-".join(parts)}"'


def seen(if_match: str | None, placement: Placement, *, suggestion_id: int | None = None) -> Seen:
    """What the author had on screen, from an If-Match header.

    A hash that differs from the one in force stays a prefix, so the comparison in the operation fails on it by name.

    :param suggestion_id: overrides the suggestion named in the tag.
    :raises PreconditionRequired: no header.
    :raises WrongTag: not exactly one of our tags; "*" says nothing about what was seen.
    """
    if if_match is None or not if_match.strip():
        raise PreconditionRequired()
    found = TAG.fullmatch(if_match.strip())
    if found is None or int(found["id"]) != placement.pk:
        raise WrongTag()
    now = decisions.seen(placement)
    return Seen(
        version=int(found["version"]),
        content_hash=_whole(found["image"], now.content_hash),
        context_hash=_whole(found["words"], now.context_hash),
        alt_hash=_whole(found["alt"], now.alt_hash),
        suggestion_id=suggestion_id or int(found["suggestion"]) or None,
    )


def _short(value: str) -> str:
    return value[:DIGITS] or "none"


def _whole(short: str, now: str) -> str:
    return now if short == _short(now) else short
