"""The home page and the articles of the example site; plain Wagtail that knows nothing of the workbench."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.http import HttpRequest
from wagtail.admin.panels import FieldPanel, MultiFieldPanel
from wagtail.fields import RichTextField, StreamField
from wagtail.models import Page

from alttext.project.wagtail_site.blocks import WORDS, BodyBlock

IMAGE_MODEL = "wagtailimages.Image"


class HomePage(Page):
    """The list of the articles below it."""

    summary = models.TextField(blank=True)

    content_panels = [*Page.content_panels, FieldPanel("summary")]
    parent_page_types = ["wagtailcore.Page"]
    subpage_types = ["wagtail_site.ArticlePage"]
    template = "wagtail_site/home.html"

    def get_context(self, request: HttpRequest, *args: Any, **kwargs: Any) -> dict[str, Any]:
        articles = ArticlePage.objects.child_of(self).live().select_related("teaser").order_by("path")
        return super().get_context(request, *args, **kwargs) | {"articles": articles}


class ArticlePage(Page):
    """One article. The hero image has a text of its own; the teaser, shown in lists, has none."""

    intro = RichTextField(blank=True, features=WORDS)
    hero = models.ForeignKey(IMAGE_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    hero_alt = models.CharField("alternative text of the hero image", max_length=255, blank=True)
    teaser = models.ForeignKey(IMAGE_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    body = StreamField(BodyBlock(), blank=True)

    content_panels = [
        *Page.content_panels,
        FieldPanel("intro"),
        MultiFieldPanel([FieldPanel("hero"), FieldPanel("hero_alt"), FieldPanel("teaser")], heading="Images"),
        FieldPanel("body"),
    ]
    parent_page_types = ["wagtail_site.HomePage"]
    subpage_types: list[str] = []
    template = "wagtail_site/article.html"
