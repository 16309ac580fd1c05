"""The runnable site. Nothing imports it; it is left out of the wheel."""

from alttext.project.celery import app as celery_app

__all__ = ["celery_app"]
