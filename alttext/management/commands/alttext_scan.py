"""Find the uses of images in the CMS, and ask for suggestions where no person has written a text."""

from __future__ import annotations

from argparse import ArgumentParser
from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand
from django.db.models import Exists, OuterRef
from django.utils import timezone

from alttext import adapters, tasks
from alttext.models import Job, Placement, Suggestion
from alttext.operations import placements


class Command(BaseCommand):
    help = (
        "Bring placements up to date and ask for suggestions for images without a text. Human texts are never touched."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="count only; write nothing")
        parser.add_argument("--limit", type=int, help="look at no more than this many places")
        parser.add_argument("--no-request", action="store_true", help="ask for no suggestion")

    def handle(self, *args: Any, **options: Any) -> None:
        for adapter in adapters.all_adapters():
            if options["dry_run"]:
                self._count(adapter, options["limit"])
                continue
            seen = placements.scan(adapter, at=timezone.now(), limit=options["limit"])
            self.stdout.write(
                f"{adapter.name}: {seen.found} found, {seen.new} new, {seen.changed} changed, "
                f"{seen.gone} gone, {seen.unreadable} without a readable file"
            )
            if not seen.found:
                self.stdout.write("No image was found, so none was taken as gone. Check the settings of the adapter.")
            if not options["no_request"]:
                self._request(adapter)

    def _count(self, adapter: adapters.Adapter, limit: int | None) -> None:
        kinds: Counter[str] = Counter()
        for number, place in enumerate(adapter.places()):
            if limit is not None and number >= limit:
                break
            kinds[
                "decorative" if place.alt.decorative else "with a text" if place.alt.text.strip() else "without a text"
            ] += 1
        counted = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "no images"
        self.stdout.write(f"{adapter.name}: {counted}; nothing written")

    def _request(self, adapter: adapters.Adapter) -> None:
        # one answer for these bytes in these words is enough: a person who rejected it is not asked about another
        answered = Suggestion.objects.filter(
            placement=OuterRef("pk"), asset=OuterRef("asset"), snapshot=OuterRef("snapshot")
        )
        waiting = Placement.objects.filter(~Exists(answered), adapter=adapter.name, state=Placement.State.OPEN)
        asked = sum(
            tasks.enqueue_if_open(placement, prio=Job.BULK) is not None for placement in placements.pages(waiting)
        )
        self.stdout.write(f"{adapter.name}: {asked} suggestions asked for")
