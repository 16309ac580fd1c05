"""What an author has on the desk: images claimed, drafts, images put off, words to colleagues, saved filters.

None of it is a decision, and none reaches the CMS. Rows of a deleted account go with it, comments stay.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models

from alttext.models.placements import Placement


class Claim(models.Model):
    """Somebody is at work on the placement until `until`; others are served another one."""

    placement = models.OneToOneField(Placement, on_delete=models.CASCADE, related_name="claim")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="alttext_claims")
    since = models.DateTimeField()
    until = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.placement_id} by {self.by_id} until {self.until:%H:%M}"


class Draft(models.Model):
    """A text that its author has typed and not saved, with what was on screen then."""

    placement = models.ForeignKey(Placement, on_delete=models.CASCADE, related_name="drafts")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="alttext_drafts")
    text = models.TextField()
    version = models.PositiveIntegerField()
    content_hash = models.CharField(max_length=64, blank=True)
    context_hash = models.CharField(max_length=64, blank=True)
    alt_hash = models.CharField(max_length=64, blank=True)
    suggestion_id = models.BigIntegerField(null=True, help_text="the suggestion on screen; it may be overtaken since")
    saved_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["placement", "by"], name="alttext_draft_one_an_author")]

    def __str__(self) -> str:
        return f"{self.placement_id} by {self.by_id}"


class Later(models.Model):
    """The author does not want to be served the placement before `until`."""

    placement = models.ForeignKey(Placement, on_delete=models.CASCADE, related_name="put_off")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="alttext_put_off")
    until = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["placement", "by"], name="alttext_later_one_an_author")]

    def __str__(self) -> str:
        return f"{self.placement_id} by {self.by_id} until {self.until:%c}"


class Comment(models.Model):
    """A word to a colleague or lead about one placement."""

    placement = models.ForeignKey(Placement, on_delete=models.CASCADE, related_name="comments")
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="alttext_comments"
    )
    at = models.DateTimeField()
    text = models.TextField()

    def __str__(self) -> str:
        return self.text[:60]


class SavedFilter(models.Model):
    """Filters of the queue under a name, for one author."""

    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="alttext_filters")
    name = models.CharField(max_length=60)
    query = models.CharField(max_length=500, help_text="a query string of the queue's own filters")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["by", "name"], name="alttext_filter_name_is_unique")]

    def __str__(self) -> str:
        return self.name
