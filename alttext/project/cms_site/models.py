"""A plugin of the site's own: an image with fields for its alternative text, as many sites have one."""

from __future__ import annotations

from cms.models import CMSPlugin
from django.db import models
from filer.fields.image import FilerImageField


class Illustration(CMSPlugin):
    """A picture with a caption and, in columns of its own, the alternative text."""

    image = FilerImageField(null=True, blank=False, on_delete=models.SET_NULL, related_name="+")
    alt_text = models.TextField("Alternative text", blank=True)
    decorative = models.BooleanField("Decorative", default=False)
    caption = models.TextField(blank=True)

    def __str__(self) -> str:
        return self.image.label if self.image else "No picture"

    def copy_relations(self, old_instance: Illustration) -> None:
        """The picture belongs to the copy as well."""
        self.image = old_instance.image
