"""App configuration: brings the adapter along, and has its signals connected by the core."""

from django.apps import AppConfig


class WagtailConfig(AppConfig):
    name = "alttext.contrib.wagtail"
    label = "alttext_wagtail"
    verbose_name = "Alternative texts in Wagtail"

    @property
    def alttext_adapter(self) -> str:
        """Path of the adapter; empty where Wagtail is not installed, which the check alttext.E010 says."""
        from alttext.contrib.wagtail import checks

        return "alttext.contrib.wagtail.adapter.WagtailAdapter" if checks.is_usable() else ""

    def ready(self) -> None:
        from alttext.contrib.wagtail import checks  # noqa: F401  (registers them)
