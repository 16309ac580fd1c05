"""The embedded worker: works on the job table until it is stopped. No broker is needed."""

from __future__ import annotations

import signal
import threading
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from alttext import captioning, workers


class Command(BaseCommand):
    help = "Work on captioning jobs until stopped. Runs beside any number of other workers."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--lane", action="append", choices=["plain", "text"], help="work on this lane only; repeatable"
        )
        parser.add_argument("--until-empty", action="store_true", help="stop as soon as no job is open")

    def handle(self, *args: Any, **options: Any) -> None:
        stop = threading.Event()
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, lambda *_: stop.set())
        try:
            workers.register()
        except captioning.Unavailable as error:
            raise CommandError(f"The captioner does not start: {error}") from error
        self.stdout.write("Worker ready.")
        try:
            count = workers.run(stop=stop, lanes=options["lane"], until_empty=options["until_empty"])
        finally:
            captioning.use(None)
        self.stdout.write(f"Worker stopped after {count} jobs.")
