"""Images by their bytes, their uses on pages, and the page text around each use."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.urls import reverse

from alttext.roles import LABELS, Role

ROLES = [(role.value, LABELS[role]) for role in Role]


class Asset(models.Model):
    """Image bytes, by content hash. What intake found out about them; no path and no page."""

    content_hash = models.CharField(max_length=64, unique=True, help_text="sha256 of the original bytes, hex")
    size_bytes = models.PositiveBigIntegerField()
    format = models.CharField(max_length=16, blank=True)
    width_px = models.PositiveIntegerField(null=True)
    height_px = models.PositiveIntegerField(null=True)
    perceptual_hash = models.CharField(max_length=16, blank=True, help_text="empty for flat pictures")
    text_share = models.FloatField(null=True, help_text="share of the picture covered by read text, 0..1")
    intake = models.CharField(
        max_length=64, blank=True, help_text="ACCEPT, ABSTAIN:code or REJECT:code; empty: not opened yet"
    )
    intake_detail = models.TextField(blank=True)
    flags = models.JSONField(default=list)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(text_share__isnull=True) | (Q(text_share__gte=0) & Q(text_share__lte=1)),
                name="alttext_asset_text_share_is_a_share",
            ),
        ]

    def __str__(self) -> str:
        return self.content_hash[:12]


class ContextSnapshot(models.Model):
    """The words around one use of an image, as the captioner gets them. Rows never change."""

    context_hash = models.CharField(max_length=64, unique=True, help_text="sha256 over all fields, language and role")
    title = models.TextField(blank=True)
    headings = models.JSONField(default=list)
    before = models.TextField(blank=True)
    after = models.TextField(blank=True)
    caption = models.TextField(blank=True)
    link_target = models.TextField(blank=True)
    link_label = models.TextField(blank=True)
    link_text_visible = models.BooleanField(default=False)
    language = models.CharField(max_length=35)
    role = models.CharField(max_length=16, choices=ROLES)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.title} ({self.context_hash[:12]})"

    def same_words(self, other: ContextSnapshot) -> bool:
        """Whether both hold the same page words; a role chosen in between is no such difference."""
        names = ("title", "headings", "before", "after", "caption", "link_target", "link_label", "language")
        return all(getattr(self, name) == getattr(other, name) for name in names)


class Placement(models.Model):
    """One use of an image on a page in one language."""

    class State(models.TextChoices):
        """What the queue shows. The fate of a suggestion and the state of a job are kept with those."""

        OPEN = "OPEN", "Needs a text"
        WAITING = "WAITING", "Waiting for the captioner"
        OFFERED = "OFFERED", "Suggestion offered"
        ABSTAINED = "ABSTAINED", "No suggestion, with a reason"
        FAILED = "FAILED", "Image could not be processed"
        DONE = "DONE", "A person decided"
        HUMAN = "HUMAN", "Had a text when found"
        GONE = "GONE", "No longer on the page"

    adapter = models.CharField(max_length=64)
    key = models.CharField(max_length=200, help_text="stable name of the place within its adapter")
    scope = models.CharField(max_length=200, help_text="what the adapter decides permission by, e.g. a model label")
    page_title = models.TextField(blank=True)
    page_url = models.TextField(blank=True)
    image_name = models.TextField(blank=True)
    image_url = models.TextField(blank=True)
    asset = models.ForeignKey(Asset, null=True, on_delete=models.PROTECT, related_name="placements")
    fingerprint = models.CharField(
        max_length=200, blank=True, help_text="what the adapter said of the file when its bytes were read"
    )
    snapshot = models.ForeignKey(ContextSnapshot, null=True, on_delete=models.PROTECT, related_name="placements")
    role = models.CharField(max_length=16, choices=ROLES, default=Role.UNKNOWN)
    chosen_role = models.CharField(max_length=16, choices=ROLES, blank=True, help_text="by a person, in the workbench")
    language = models.CharField(max_length=35, default="en")
    current_alt = models.TextField(blank=True)
    alt_hash = models.CharField(max_length=64, help_text="sha256 over text and the decorative flag")
    decorative = models.BooleanField(default=False)
    in_library = models.BooleanField(default=False, help_text="the image's own text, without a page; served last")
    stale = models.BooleanField(default=False, help_text="bytes or page text changed after the last decision")
    state = models.CharField(max_length=16, choices=State.choices, default=State.OPEN)
    problem = models.TextField(blank=True, help_text="why the image could not be processed, in words for the author")
    version = models.PositiveIntegerField(default=0, help_text="counts decisions; compare-and-set")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["adapter", "key"], name="alttext_placement_key_is_unique"),
            models.CheckConstraint(
                condition=Q(decorative=False) | Q(current_alt=""), name="alttext_placement_decorative_has_no_text"
            ),
            models.CheckConstraint(
                condition=Q(role__in=[role.value for role in Role]), name="alttext_placement_role_is_known"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["OPEN", "WAITING", "OFFERED", "ABSTAINED", "FAILED", "DONE", "HUMAN", "GONE"]),
                name="alttext_placement_state_is_known",
            ),
        ]
        indexes = [
            models.Index(fields=["state", "id"], name="alttext_placement_state"),
            models.Index(fields=["id"], condition=Q(in_library=True), name="alttext_placement_library"),
        ]
        permissions = [
            ("view_dashboards", "Can see the dashboards of all authors together"),
        ]

    def __str__(self) -> str:
        return f"{self.image_name} on {self.page_title}"

    def get_absolute_url(self) -> str:
        return reverse("alttext:placement", args=[self.pk])

    @property
    def settled_state(self) -> str:
        """State of a placement that has a text, or is decorative: by a decision here, or found so."""
        return self.State.DONE if self.version else self.State.HUMAN

    @property
    def is_settled(self) -> bool:
        """Whether a text, or the choice "decorative", stands in the CMS."""
        return self.decorative or bool(self.current_alt.strip())
