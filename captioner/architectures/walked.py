"""What is known of one walk through the rooms: what may be named, its stratum, its seed, and all of it as evidence.

Pure functions; they decide nothing but the language of a text.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from typing import Any

from captioner.architectures import evidence
from captioner.prepare import answers, phrases, routing
from captioner.prepare.prompts import Prompt
from captioner.rooms.decode import wording
from captioner.rooms.gate import verdict
from captioner.rooms.gate.freetext import Decided
from captioner.rooms.gate.verdict import Seen, Thresholds
from captioner.rooms.line import Walk
from captioner.types import CaptionRequest, Reason, Role

Mentions = Mapping[str, tuple[int, str]]


def weigh(walk: Walk, thresholds: Thresholds) -> tuple[Seen, Mentions]:
    """What may be named, as the starter weighs it, and which of it the page has words for."""
    assert walk.sight is not None
    words = evidence.look_up(walk.page, walk.request.context.language)
    seen = verdict.weigh(
        walk.sight,
        evidence.VOCABULARY(),
        named=words.named,
        mentioned=words.mentioned,
        strict=routing.choose(walk.sight, walk.request.role).strict,
        thresholds=thresholds,
    )
    return seen, words.mentions


def known(walk: Walk, thresholds: Thresholds) -> dict[str, Any]:
    """What was seen, written and judged, as JSON types; nothing of a picture that must not be described."""
    if walk.sight is None or walk.lane is None:
        return {}
    seen, mentions = weigh(walk, thresholds)
    route = routing.choose(walk.sight, walk.request.role)
    found = evidence.gather(walk.sight, seen, route, walk.page, mentions, walk.request.context.language)
    found |= {
        "lane": {"lane": str(walk.lane.lane), "token_budget": walk.lane.token_budget, "why": walk.lane.why},
        "stratum": stratum_of(walk),
    }
    if walk.drafts is not None and walk.decided is not None:
        found |= {"draft": walk.drafts.text, **walk.decided.evidence}
    return found


def language_of(walk: Walk) -> str:
    """Primary subtag of the page's language."""
    return wording.primary_language(walk.request.context.language)


def stratum_of(walk: Walk) -> str:
    """The kind of request that a calibration is made for: lane and primary language, "plain en"."""
    return f"{walk.lane.lane if walk.lane else ''} {language_of(walk)}".strip()


def seed_of(request: CaptionRequest, prompt: Prompt, key: str) -> int:
    """0..2^31-1 from the bytes, the trimmed page with role and language (all in the prompt), and the versions."""
    content = request.content_hash or hashlib.sha256(request.image).hexdigest()
    parts = (content, prompt.system, prompt.after_image, str(request.lane), key)
    return int.from_bytes(hashlib.sha256("\x00".join(parts).encode()).digest()[:4]) % 2**31


def in_its_language(decided: Decided, walk: Walk) -> Decided:
    """One objection more where the text is clearly not in the page's language; words of the picture may be in any."""
    assert walk.drafts is not None
    language = walk.request.context.language
    said = phrases.QUOTED.sub(" ", walk.drafts.text)
    if walk.request.role is Role.TEXT or not answers.is_other_language(said, language):
        return decided
    detail = f"{decided.detail} The writer did not answer in {language}.".strip()
    return dataclasses.replace(decided, reasons=(*decided.reasons, Reason.LANGUAGE_UNSUPPORTED), detail=detail)
