"""The demonstration site as a Django app."""

from django.apps import AppConfig


class DemoConfig(AppConfig):
    name = "alttext.project.demo"
    label = "demo"
    verbose_name = "Harbour Valley"
    default_auto_field = "django.db.models.BigAutoField"
