"""A made-up site for figures: rows written directly, so that dates, authors and fates are known exactly."""

from __future__ import annotations

import itertools
from datetime import datetime, timedelta

from django.contrib.auth import get_user_model

from alttext import edits
from alttext.models import Asset, CaptionerVersion, ContextSnapshot, Decision, Job, Placement, Suggestion

OFFERED = "A red cat"
DECIDED = {"AS_IS", "EDITED", "REPLACED", "REJECTED", "DECORATIVE"}
_numbers = itertools.count(1)


class Site:
    """Suggestions with their fates; each is the only one of its placement unless told otherwise."""

    def __init__(self, at: datetime, key: str = "v1") -> None:
        self.at = at
        self.asset = Asset.objects.create(content_hash=f"{next(_numbers):064x}", size_bytes=1, created_at=at)
        self.version = self.another_version("starter", key)
        self._snapshots: dict[str, ContextSnapshot] = {}

    def another_version(self, name: str, key: str) -> CaptionerVersion:
        return CaptionerVersion.objects.create(name=name, key=key, first_seen_at=self.at, last_seen_at=self.at)

    def authors(self, number: int) -> list:
        model = get_user_model()
        return [model.objects.create_user(f"person-{next(_numbers)}", password="x") for _ in range(number)]

    def snapshot(self, language: str) -> ContextSnapshot:
        if language not in self._snapshots:
            self._snapshots[language] = ContextSnapshot.objects.create(
                context_hash=f"{next(_numbers):064x}", language=language, role="unknown", created_at=self.at
            )
        return self._snapshots[language]

    def placement(self, language: str = "en") -> Placement:
        number = next(_numbers)
        return Placement.objects.create(
            adapter="imagefields", key=f"made-up:{number}", scope="demo.illustration", asset=self.asset,
            snapshot=self.snapshot(language), language=language, alt_hash="0" * 64, created_at=self.at,
            updated_at=self.at, image_name=f"IMG_{number}.jpg",
        )  # fmt: skip

    def suggestion(
        self, state: str, *, days_ago: float = 3, language: str = "en", text: str = OFFERED, reasons: str = "",
        version: CaptionerVersion | None = None, **fields,
    ) -> Suggestion:  # fmt: skip
        when = self.at - timedelta(days=days_ago)
        return Suggestion.objects.create(
            placement=self.placement(language), asset=self.asset, snapshot=self.snapshot(language),
            captioner_version=version or self.version, text=None if reasons else text, reasons=reasons, state=state,
            language=language, suggested_at=when, state_at=when, **fields,
        )  # fmt: skip

    def kept(self, final: str, *, by, cleared: bool = False, seconds: float | None = None, **fields) -> Suggestion:
        """A suggestion from which `by` kept the text `final`, an hour later."""
        text = fields.setdefault("text", OFFERED)
        edit = edits.measure(text, final, language=fields.get("language", "en"), cleared=cleared)
        suggestion = self.suggestion(edit.outcome.value, trivial=edit.trivial, **fields)
        self.act(suggestion, "SAVE", by=by, final=final, cleared=cleared, seconds=seconds)
        return suggestion

    def act(
        self, suggestion: Suggestion, act: str, *, by, final: str = "", cleared: bool = False, hours: float = 1,
        seconds: float | None = None, undoes: Decision | None = None,
    ) -> Decision:  # fmt: skip
        """Record an act and nothing else: the state of the suggestion stays."""
        measured = {}
        if act == "SAVE":
            edit = edits.measure(suggestion.text, final, language=suggestion.language, cleared=cleared)
            measured = {
                "outcome": edit.outcome.value, "distance": edit.distance, "distance_norm": edit.distance_norm,
                "distance_words": edit.distance_words, "insertions": edit.insertions, "deletions": edit.deletions,
                "substitutions": edit.substitutions, "trivial": edit.trivial,
            }  # fmt: skip
        version = suggestion.placement.decisions.count() + 1
        return Decision.objects.create(
            placement=suggestion.placement, suggestion=suggestion, version=version, act=act, by=by, final_text=final,
            at=suggestion.suggested_at + timedelta(hours=hours), cleared=cleared, active_seconds=seconds,
            undoes=undoes, **measured,
        )  # fmt: skip

    def failure(self, code: str, *, state: str = "FAILED", days_ago: float = 3) -> Job:
        when = self.at - timedelta(days=days_ago)
        return Job.objects.create(
            state=state, placement=self.placement(), content_hash=self.asset.content_hash, context_hash="0" * 64,
            versions_key=self.version.key, run_at=when, created_at=when, finished_at=when, code=code,
        )  # fmt: skip


def small_period(at: datetime) -> Site:
    """28 days with five authors of texts. Offered: "A red cat", 9 characters, 3 words, read in 0.75 s at the fastest.

    Kept 14: 10 as they were (1 trivial; 4 timed, 2 of them too fast), 3 edited (d 1, 9, 1), 1 replaced (d 19).
    Changed/kept by author: 1/5, 1/4, 0/2, 1/2, 1/1. Rejected 2, decorative 1, pending 3, superseded 2 (1 by an author),
    abstained 4, failed 3; 40 days ago 2 expired.
    """
    site = Site(at)
    one, two, three, four, five, six = site.authors(6)
    for final, seconds in [("A red cat", 0.2), ("A red cat.", 0.5), ("A red cat", 3.0), ("A red cat", 10.0)]:
        site.kept(final, by=one, seconds=seconds)
    site.kept("A red cats", by=one)
    for final in ("A red cat", "A red cat", "A red cat", "A red cat sleeping"):
        site.kept(final, by=two)
    site.kept("A red cat", by=three)
    site.kept("A red cat", by=three)
    site.kept("A red cat", by=four)
    site.kept("A red cat and a mouse asleep", by=four, cleared=True)
    site.kept("A red cats", by=five)
    for person, act, state in [
        (six, "REJECT", "REJECTED"),
        (one, "REJECT", "REJECTED"),
        (six, "DECORATIVE", "DECORATIVE"),
    ]:
        site.act(site.suggestion(state), act, by=person)
    for _ in range(3):
        site.suggestion("PENDING")
    site.suggestion("SUPERSEDED")
    site.suggestion("SUPERSEDED", superseded_by_author=True)
    for reasons in ("samples_disagree", "samples_disagree", "samples_disagree,generic_text", "text_unverified"):
        site.suggestion("ABSTAINED", reasons=reasons)
    for _ in range(2):
        site.suggestion("EXPIRED", days_ago=40)
    site.failure("unreadable")
    site.failure("unreadable")
    site.failure("hung", state="DEAD")
    return site
