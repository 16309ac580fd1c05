"""Pages and pictures in Django's admin."""

from __future__ import annotations

from django.contrib import admin

from alttext.contrib.imagefields.admin import SuggestionsMixin
from alttext.project.demo.models import Article, Illustration


@admin.register(Article)
class ArticleAdmin(admin.ModelAdmin):
    list_display = ["title", "language", "position"]
    prepopulated_fields = {"slug": ["title"]}


@admin.register(Illustration)
class IllustrationAdmin(SuggestionsMixin, admin.ModelAdmin):
    list_display = ["__str__", "alt_text", "decorative"]
    list_select_related = ["article"]
