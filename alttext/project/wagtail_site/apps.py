"""App configuration of the example site."""

from django.apps import AppConfig


class WagtailSiteConfig(AppConfig):
    name = "alttext.project.wagtail_site"
    label = "wagtail_site"
    default_auto_field = "django.db.models.BigAutoField"
