"""App configuration: checks, and the signals of the adapters that want to hear of saved images."""

from django.apps import AppConfig
from django.utils.module_loading import import_string


class AlttextConfig(AppConfig):
    name = "alttext"
    verbose_name = "Alternative texts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from alttext import adapters, checks  # noqa: F401  (registers the checks; models are loaded only now)

        for path in adapters.paths():
            try:
                connect = getattr(import_string(path), "connect", None)
            except ImportError:
                continue  # the system check alttext.E003 names it; a command such as `check` must still start
            if connect:
                connect()
