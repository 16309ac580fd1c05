"""Write what persons decided as records to learn from: a JSONL file and the images beside it."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from django.utils.dateparse import parse_date

from alttext import captioning, exports


class Command(BaseCommand):
    help = "Export authors' decisions as learning records. Only what a person decided; names of persons stay here."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="made if it is not there")
        parser.add_argument("--since", type=_day, metavar="DATE", help="decided on this day or later, e.g. 2026-01-31")
        parser.add_argument("--licence", default="", metavar="TEXT", help="under which texts and images may be used")
        parser.add_argument("--limit", type=_positive, metavar="N", help="write no more than this many decisions")
        parser.add_argument("--no-images", action="store_true", help="name the images by their hashes only")
        parser.add_argument("--dry-run", action="store_true", help="count only; read no image and write nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            told = exports.learning(
                options["out"],
                derive=None if options["no_images"] else _derivative,
                licence=options["licence"],
                since=options["since"],
                limit=options["limit"],
                dry_run=options["dry_run"],
            )
        except OSError as error:
            raise CommandError(f"{error.filename or options['out']}: {error.strerror}") from error
        except captioning.Unavailable as error:
            raise CommandError(f"No image can be opened now: {error}") from error
        done = "nothing written" if options["dry_run"] else f"written to {options['out'] / exports.LEARNING_FILE}"
        self.stdout.write(f"{told.written} decisions ({_counted(told.outcomes)}); {done}")
        if told.skipped:
            self.stdout.write(f"{told.skipped.total()} left out ({_counted(told.skipped)})")


def _derivative(data: bytes) -> bytes:
    return captioning.prepare(data).large


def _counted(numbers: Any) -> str:
    return ", ".join(f"{name.lower()} {count}" for name, count in sorted(numbers.items())) or "none"


def _day(text: str) -> datetime:
    """:raises ArgumentTypeError: no date."""
    try:
        day = parse_date(text)
    except ValueError:
        day = None
    if day is None:
        raise ArgumentTypeError(f"{text!r} is no date like 2026-01-31")
    return timezone.make_aware(datetime(day.year, day.month, day.day))


def _positive(text: str) -> int:
    """:raises ArgumentTypeError: no whole number above 0."""
    if not text.isdecimal() or not int(text):
        raise ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)
