"""History for the site's staff, to look at: nothing can be added, changed or deleted here, by anyone.

Who may look is decided by Django's view permissions. The one thing to do is to ask again for what failed.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import ObjectDoesNotExist
from django.db.models import QuerySet
from django.http import HttpRequest

from alttext import tasks
from alttext.models import Asset, CaptionerVersion, Decision, Job, Placement, Suggestion
from alttext.operations import jobs, suggestions

DECIDED = (Placement.State.DONE, Placement.State.HUMAN, Placement.State.GONE)


class ReadOnly(admin.ModelAdmin):
    """Lists and single rows, without a form."""

    show_full_result_count = False
    ordering = ["-pk"]

    def has_add_permission(self, request: HttpRequest, *rest: Any) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Asset)
class AssetAdmin(ReadOnly):
    list_display = ["__str__", "format", "width_px", "height_px", "size_bytes", "intake", "created_at"]
    list_filter = ["format"]
    search_fields = ["content_hash"]


@admin.register(Placement)
class PlacementAdmin(ReadOnly):
    list_display = ["image_name", "page_title", "language", "role", "state", "stale", "current_alt", "updated_at"]
    list_filter = ["state", "stale", "role", "language", "adapter"]
    search_fields = ["image_name", "page_title", "current_alt", "key"]


@admin.register(CaptionerVersion)
class CaptionerVersionAdmin(ReadOnly):
    list_display = ["name", "key", "first_seen_at", "last_seen_at"]
    search_fields = ["name", "key"]


@admin.register(Suggestion)
class SuggestionAdmin(ReadOnly):
    list_display = ["__str__", "placement", "state", "captioner_version", "suggested_at"]
    list_filter = ["state", "language", "captioner_version"]
    list_select_related = ["placement", "captioner_version"]
    search_fields = ["text", "reasons", "placement__image_name", "placement__page_title"]


@admin.register(Decision)
class DecisionAdmin(ReadOnly):
    """How long an author took is no matter for a list of acts: it is left out."""

    list_display = ["placement", "version", "act", "outcome", "author", "at"]
    list_filter = ["act", "outcome"]
    list_select_related = ["placement"]
    search_fields = ["final_text", "placement__image_name", "placement__page_title"]
    fields = [
        *("placement", "version", "act", "author", "at", "suggestion", "final_text", "final_decorative"),
        *("prior_text", "prior_decorative", "outcome", "distance", "distance_norm", "reason", "undoes"),
    ]
    readonly_fields = ["author"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Decision]:
        # prefetched, not joined: a join would drop the decisions of deleted accounts
        return super().get_queryset(request).prefetch_related("by")

    @admin.display(description="by")
    def author(self, decision: Decision) -> str:
        """The name of the account, or what is left of it."""
        try:
            return decision.by.get_username()
        except ObjectDoesNotExist:
            return f"deleted account {decision.by_id}"


@admin.register(Job)
class JobAdmin(ReadOnly):
    list_display = ["pk", "placement", "state", "code", "attempts", "outages", "requested_by", "created_at"]
    list_filter = ["state", "lane", "code"]
    list_select_related = ["placement", "requested_by"]
    search_fields = ["placement__image_name", "placement__page_title", "code"]
    exclude = ["token"]
    actions = ["ask_again"]

    def has_requeue_permission(self, request: HttpRequest) -> bool:
        """Whoever may change jobs by Django's permissions may ask again; nobody may edit a row."""
        return request.user.has_perm("alttext.change_job")

    @admin.action(description="Ask again for what failed", permissions=["requeue"])
    def ask_again(self, request: HttpRequest, chosen: QuerySet[Job]) -> None:
        """A new job for each chosen one that failed, unless a person has decided meanwhile; the old row stays."""
        asked = 0
        for job in chosen.select_related("placement"):
            if new := _ask_again(job):
                asked += 1
                self.log_change(request, job, f"Asked again as job {new.pk}.")
        left = chosen.count() - asked
        self.message_user(request, f"Asked again: {asked}. Left as they are: {left}.", messages.SUCCESS)


def _ask_again(job: Job) -> Job | None:
    if job.state not in (Job.State.FAILED, Job.State.DEAD) or job.placement.state in DECIDED:
        return None
    try:
        return tasks.enqueue_suggestion(placement=job.placement, prio=Job.BULK)
    except (suggestions.NothingToAsk, jobs.TooManyOpenJobs):
        return None
