"""App configuration: brings the adapter along, and has its signals connected by the core."""

from django.apps import AppConfig


class DjangoCMSConfig(AppConfig):
    name = "alttext.contrib.djangocms"
    label = "alttext_djangocms"
    verbose_name = "Alternative texts in django CMS"

    @property
    def alttext_adapter(self) -> str:
        """Path of the adapter; empty where the CMS is not installed, which the check alttext.E009 says."""
        from alttext.contrib.djangocms import checks

        return "alttext.contrib.djangocms.adapter.DjangoCMSAdapter" if checks.is_usable() else ""

    def ready(self) -> None:
        from alttext.contrib.djangocms import checks  # noqa: F401  (registers them)
