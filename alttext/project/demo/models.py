"""The pages of the invented town site and the pictures on them; plain models that know nothing of the workbench."""

from __future__ import annotations

from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse

from alttext.roles import LABELS, Role

LANGUAGES = [("en", "English"), ("de", "Deutsch")]
ROLES = [(role.value, LABELS[role]) for role in Role if role is not Role.UNKNOWN]
safe_link = RegexValidator(r"^(/|https?://)", "Begin with / for a page of this site, or with https://.")


class Article(models.Model):
    """One page: a title, a summary, and sections that each hold one illustration."""

    slug = models.SlugField(unique=True)
    title = models.CharField(max_length=200)
    language = models.CharField(max_length=35, choices=LANGUAGES, default="en")
    summary = models.TextField()
    position = models.PositiveSmallIntegerField(default=0)
    published_at = models.DateTimeField()

    class Meta:
        ordering = ["position", "slug"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("demo:article", args=[self.slug])


class Illustration(models.Model):
    """A picture in a section of a page. Texts are plain; an empty line parts paragraphs."""

    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="illustrations")
    position = models.PositiveSmallIntegerField(default=0)
    # no width_field: Django would open a broken or lost file each time a row is loaded
    image = models.ImageField(upload_to="demo/")
    alt_text = models.TextField(blank=True)
    decorative = models.BooleanField(default=False)
    role = models.CharField(max_length=16, choices=ROLES, blank=True)
    heading = models.CharField(max_length=200, blank=True)
    text_before = models.TextField(blank=True)
    text_after = models.TextField(blank=True)
    caption = models.TextField(blank=True)
    link_url = models.CharField(max_length=300, blank=True, validators=[safe_link])
    link_label = models.CharField(
        max_length=200, blank=True, help_text="words in the link, or title of its destination"
    )
    link_text_visible = models.BooleanField(default=False, help_text="show the label beside the picture")
    credit = models.TextField(blank=True, help_text="source and licence of the picture")

    class Meta:
        ordering = ["article__position", "article_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["article", "position"], name="demo_illustration_one_a_position"),
            models.CheckConstraint(
                condition=Q(decorative=False) | Q(alt_text=""),
                name="demo_illustration_decorative_has_no_text",
                violation_error_message="A decorative picture has no alternative text: empty it, or take the mark off.",
            ),
        ]

    def __str__(self) -> str:
        return f"Picture {self.position} of {self.article}"

    @property
    def headings(self) -> list[str]:
        """Headings above the picture, below the page's title."""
        return [self.heading] if self.heading else []
