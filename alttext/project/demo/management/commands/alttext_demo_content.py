"""Loads the demonstration site."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils import timezone
from django.utils.module_loading import import_string


class Command(BaseCommand):
    help = "Create the pages, pictures and accounts of the demonstration site that are missing."

    def handle(self, *args: Any, **options: Any) -> None:
        made = import_string(settings.DEMO_CONTENT)(at=timezone.now())
        self.stdout.write(
            f"Demonstration site: {made.articles} new pages, {made.illustrations} new illustrations,"
            f" {made.files} files written, {made.accounts} new accounts."
        )
