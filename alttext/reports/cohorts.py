"""Which suggestions and jobs a report is about. A cohort is all that was suggested in a period, whenever decided.

By date suggested, never by date reviewed: the other way old leftovers change today's figure.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from alttext import permissions
from alttext.models import CaptionerVersion, ContextSnapshot, Job, Suggestion

NOT_AT_ONCE = (Suggestion.Display.AFTER, Suggestion.Display.BLANK)


@dataclass(frozen=True, slots=True)
class Cohort:
    """Suggested from `since` up to `until`, `since` None for all; by one captioner, in one language."""

    since: datetime | None
    until: datetime
    captioner_version: CaptionerVersion | None = None
    language: str = ""

    @property
    def is_part(self) -> bool:
        """Whether it is smaller than the whole site. A period is no part: everybody is in it."""
        return bool(self.captioner_version or self.language)

    def suggestions(self, user: Any) -> QuerySet[Suggestion]:
        """The suggestions, if `user` may see dashboards; none otherwise."""
        if not permissions.may_see_dashboards(user):
            return Suggestion.objects.none()
        rows = Suggestion.objects.filter(suggested_at__lte=self.until)
        rows = rows.exclude(display__in=NOT_AT_ONCE, shown_at=None)  # nobody has seen it: nobody could edit it
        if self.since is not None:
            rows = rows.filter(suggested_at__gte=self.since)
        if self.captioner_version is not None:
            rows = rows.filter(captioner_version=self.captioner_version)
        if self.language:
            rows = rows.filter(snapshot__language=self.language)
        return rows

    def failed_jobs(self, user: Any) -> QuerySet[Job]:
        """Jobs that ended in the period without an answer, if `user` may see dashboards."""
        if not permissions.may_see_dashboards(user):
            return Job.objects.none()
        rows = Job.objects.filter(state__in=[Job.State.FAILED, Job.State.DEAD], finished_at__lte=self.until)
        if self.since is not None:
            rows = rows.filter(finished_at__gte=self.since)
        if self.captioner_version is not None:
            rows = rows.filter(versions_key=self.captioner_version.key)
        if self.language:
            rows = rows.filter(placement__language=self.language)
        return rows


def captioner_versions() -> list[CaptionerVersion]:
    """Versions that ever answered, the latest first."""
    return list(CaptionerVersion.objects.order_by("-last_seen_at", "-pk"))


def languages() -> list[str]:
    """Languages of the pages that images stood on, in order."""
    return list(ContextSnapshot.objects.order_by("language").values_list("language", flat=True).distinct())
