"""A site of its own for a reliability run: a temporary folder, its own database, the canned captioner, many placements.

Used as `with Site(...) as site`; the driver process configures Django once, so one site a process.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
POSTGRESQL = os.environ.get("ALTTEXT_POSTGRESQL", "postgresql://postgres@127.0.0.1/postgres")


class Site:
    """Environment and rows for worker processes.

    :param database: "sqlite" or "postgresql" (a database of its own on the server of ALTTEXT_POSTGRESQL).
    """

    def __init__(self, *, database: str, broker: str = "", lease_seconds: float = 5.0, captioner_seconds: float = 0.05):
        self.folder = tempfile.TemporaryDirectory(prefix="alttext-site-")
        self.database, self.name = database, f"alttext_run_{secrets.token_hex(4)}"
        url = f"sqlite:///{self.folder.name}/site.sqlite3"
        if database == "postgresql":
            self._admin(f"CREATE DATABASE {self.name}")
            url = POSTGRESQL.rsplit("/", 1)[0] + f"/{self.name}"
        self.environment = {
            **os.environ,
            "ALTTEXT_VAR": self.folder.name,
            "DATABASE_URL": url,
            "CELERY_BROKER_URL": broker,
            "ALTTEXT_CAPTIONER": "canned",
            "ALTTEXT_LEASE_SECONDS": str(lease_seconds),
            "ALTTEXT_CANNED_SECONDS": str(captioner_seconds),
            "ALTTEXT_LOG": "ERROR",
            "DJANGO_SETTINGS_MODULE": "alttext.project.settings",
            "PYTHONPATH": str(ROOT),
        }

    def __enter__(self) -> Site:
        os.environ.update(self.environment)
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        return self

    def __exit__(self, *exc_info: object) -> None:
        from django.db import connections

        connections.close_all()
        if self.database == "postgresql":
            self._admin(f"DROP DATABASE {self.name} WITH (FORCE)")
        self.folder.cleanup()

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """A Python process of the site, leader of a group of its own so that the whole tree can be killed."""
        return subprocess.Popen(
            [sys.executable, *arguments], cwd=ROOT, env=self.environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )  # fmt: skip

    def placements(self, count: int) -> list[Any]:
        """`count` uses of one small picture, each in words of its own."""
        from django.core.files.base import ContentFile
        from django.db import transaction
        from django.utils import timezone

        from alttext import adapters
        from alttext.operations import placements
        from alttext.project.demo.models import Article, Illustration
        from tests.conftest import picture

        at = timezone.now()
        article = Article.objects.create(slug="run", title="Run", summary="-", published_at=at)
        first = Illustration(article=article, position=0)
        first.image.save("run.png", ContentFile(picture(size=(160, 100), seed=1)), save=False)
        rows = [
            Illustration(
                article=article, position=number, image=first.image.name,
                text_before=f"Paragraph number {number}.",
            )
            for number in range(count)
        ]  # fmt: skip
        Illustration.objects.bulk_create(rows)
        adapter = adapters.get("imagefields")
        with transaction.atomic():
            ours = (place for place in adapter.places() if place.page_title == "Run")
            return [placements.refresh(adapter, place, at=at)[0] for place in ours]

    @staticmethod
    def _admin(statement: str) -> None:
        import psycopg

        with psycopg.connect(POSTGRESQL, autocommit=True, connect_timeout=3) as connection:
            connection.execute(statement)
