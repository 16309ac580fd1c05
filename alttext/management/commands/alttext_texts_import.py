"""Bring an edited file of texts back, as recorded acts of one person."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from alttext import adapters, exchange
from alttext.management.commands.alttext_texts_export import acting_person
from alttext.operations import bulk, decisions

REASONS = (
    adapters.TextDoesNotFit,
    adapters.NotThere,
    adapters.Refused,
    bulk.NotAllowed,
    bulk.NotInBulk,
    decisions.Stale,
)


class Command(BaseCommand):
    help = (
        "Save the texts of a file that alttext_texts_export wrote and a person edited. Each is an act of that person."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="CSV or XLIFF 1.2")
        parser.add_argument("--user", required=True, metavar="NAME", help="the person who wrote or checked the texts")
        parser.add_argument("--dry-run", action="store_true", help="tell what would change and save nothing")
        parser.add_argument("--limit", type=int, metavar="N", help="save no more than this many texts")

    def handle(self, *args: Any, **options: Any) -> None:
        user = acting_person(options["user"])
        try:
            lines = exchange.read(options["file"].read_bytes())
        except OSError as error:
            raise CommandError(f"{options['file']}: {error.strerror}") from error
        except exchange.Unreadable as error:
            raise CommandError(str(error)) from error
        found = exchange.plan(lines, user=user, at=timezone.now())
        for refusal in found.refusals:
            self._tell_refused(refusal.number, refusal.name, refusal.why, refusal.text, refusal.current)
        changes = found.changes[: options["limit"]]
        saved = 0
        for change in changes:
            self.stdout.write(f"line {change.number}, {change.name}: {_words(change)}")
            saved += not options["dry_run"] and self._save(change, user)
        done = f"{len(changes)} would be saved" if options["dry_run"] else f"{saved} saved"
        refused = len(found.refusals) + (0 if options["dry_run"] else len(changes) - saved)
        self.stdout.write(f"{done}, {found.unchanged} unchanged, {refused} refused")
        if refused:
            raise CommandError(f"{refused} rows were refused; the reasons are above.")

    def _save(self, change: exchange.Change, user: Any) -> bool:
        try:
            exchange.carry_out(change, by=user, at=timezone.now())
        except REASONS as error:
            current = error.placement.current_alt if isinstance(error, decisions.Stale) else None
            self._tell_refused(change.number, change.name, str(error), change.text, current)
            return False
        return True

    def _tell_refused(self, number: int, name: str, why: str, text: str, current: str | None) -> None:
        self.stderr.write(f"line {number}, {name}: refused. {why}")
        if current is not None:
            self.stderr.write(f"  now: {current!r}\n  in the file: {text!r}")


def _words(change: exchange.Change) -> str:
    before = "decorative" if change.before_decorative else repr(change.before)
    return f"{before} -> {'decorative' if change.decorative else repr(change.text)}"
