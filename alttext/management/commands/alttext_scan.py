"""Find the uses of images in the CMS, and ask for suggestions where no person has written a text."""

from __future__ import annotations

import time
from argparse import ArgumentParser, ArgumentTypeError, BooleanOptionalAction
from datetime import datetime
from itertools import islice
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from alttext import adapters, captioning, conf, tasks
from alttext.models import Job
from alttext.operations import checkpoints, placements, surveys

PROGRESS_SECONDS = 2.0
RECENT_SECONDS = 120  # a checkpoint younger than this is more likely of a scan that runs than of one that was killed


class Command(BaseCommand):
    help = (
        "Bring placements up to date and ask for suggestions for images without a text. Nothing is written into the "
        "CMS, and human texts are never touched. A second run finds nothing to do."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="count, and estimate the time; write nothing")
        parser.add_argument("--adapter", metavar="NAME", help="only this adapter, e.g. djangocms or wagtail")
        parser.add_argument(
            "--limit", type=_above_zero, metavar="N", help="look at no more than N places; ask for no more than N texts"
        )
        where = parser.add_mutually_exclusive_group()
        where.add_argument("--since", type=_moment, metavar="DATE", help="only pages changed since, e.g. 2026-03-31")
        where.add_argument("--resume", action="store_true", help="go on where an interrupted scan came to")
        parser.add_argument(
            "--reread", action="store_true", help="open each file, also where the CMS says it is the same"
        )
        parser.add_argument(
            "--request", action=BooleanOptionalAction, help='ask for suggestions (default: ALTTEXT["AUTOMATIC"])'
        )
        parser.add_argument(
            "--progress", action=BooleanOptionalAction, help="tell on stderr how far it is (default: on a terminal)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        broken = []
        for adapter in self._chosen(options["adapter"]):
            if options["since"] and not hasattr(adapter, "places_since"):
                self.stdout.write(f"{adapter.name}: cannot tell which pages changed since then; looking at all")
            if options["dry_run"]:
                if self._survey(adapter, since=options["since"], limit=options["limit"]).broken:
                    broken.append(adapter.name)
                continue
            if self._scan(adapter, options).broken:
                broken.append(adapter.name)
            if options["request"] if options["request"] is not None else conf.get("AUTOMATIC"):
                self._request(adapter, options["limit"])
            elif options["request"] is None:
                self.stdout.write(f'{adapter.name}: ALTTEXT["AUTOMATIC"] is off; --request asks all the same')
        if broken:
            raise CommandError(f"The list of places broke off: {', '.join(broken)}. The error is in the log.")

    def _chosen(self, name: str | None) -> list[adapters.Adapter]:
        found = adapters.all_adapters()
        if name and name not in [adapter.name for adapter in found]:
            raise CommandError(
                f"No adapter is called {name!r}; there are: {', '.join(a.name for a in found) or 'none'}."
            )
        return [adapter for adapter in found if name in (None, adapter.name)]

    def _scan(self, adapter: adapters.Adapter, options: dict[str, Any]) -> placements.Scanned:
        now = timezone.now()
        self._tell_of_checkpoint(adapter.name, resume=options["resume"], now=now)
        seen = placements.scan(
            adapter,
            at=now,
            tell=self._progress(adapter.name, options["progress"]),
            **{name: options[name] for name in ("limit", "since", "resume", "reread")},
        )
        self.stdout.write(
            f"{adapter.name}: {seen.found} found, {seen.new} new, {seen.changed} changed, {seen.gone} gone, "
            f"{seen.unreadable} without a readable file; {seen.read} files read"
        )
        if seen.broken:
            self.stderr.write(f"{adapter.name}: broke off after {seen.found} places: {seen.broken}")
        elif not seen.found and not options["since"]:
            self.stdout.write("No image was found, so none was taken as gone. Check the settings of the adapter.")
        return seen

    def _tell_of_checkpoint(self, name: str, *, resume: bool, now: datetime) -> None:
        left = checkpoints.left_by(name)
        if left is None:
            if resume:
                self.stdout.write(f"{name}: no scan was interrupted; starting from the beginning")
        elif resume:
            self.stdout.write(f"{name}: going on after {left.found} places, looked at before {left.saved_at:%F %H:%M}")
        elif (now - left.saved_at).total_seconds() < RECENT_SECONDS:
            self.stdout.write(f"{name}: another scan may be at work; two do no harm, only work twice")
        else:
            self.stdout.write(f"{name}: a scan was interrupted after {left.found} places; --resume goes on there")

    def _progress(self, name: str, wanted: bool | None) -> Any:
        """What tells a person how far the scan is; None: nobody looks."""
        if not (self.stderr.isatty() if wanted is None else wanted):
            return None
        started = told = time.monotonic()

        def tell(seen: placements.Scanned) -> None:
            nonlocal told
            now = time.monotonic()
            if now - told >= PROGRESS_SECONDS or (wanted and told == started):
                told = now
                rate = seen.found / max(now - started, 0.001)
                self.stderr.write(
                    f"{name}: {seen.found} places, {seen.new} new, {seen.read} files read, {rate:.0f} places a second"
                )

        return tell

    def _survey(self, adapter: adapters.Adapter, *, since: datetime | None, limit: int | None) -> surveys.Survey:
        changed = getattr(adapter, "places_since", None) if since else None
        seen = surveys.survey(adapter, changed(since) if changed else adapter.places(), limit=limit)
        self.stdout.write(f"{adapter.name}: {seen.found} images")
        for kind in sorted({kind for kind, _ in seen.kinds}):
            counts = ", ".join(f"{seen.kinds[kind, text]} {text}" for text in surveys.TEXTS)
            self.stdout.write(f"  {kind}: {counts}")
        states = ", ".join(f"{count} {state or 'not known yet'}" for state, count in sorted(seen.states.items()))
        self.stdout.write(f"  state: {states or 'none'}")
        if seen.odd:
            self.stdout.write(f"  {seen.odd} odd ones that cannot be counted; the log names them")
        if seen.broken:
            self.stderr.write(f"{adapter.name}: broke off after {seen.found} places: {seen.broken}")
        self.stdout.write(f"  {seen.captions} suggestions to ask for{_cost(seen.captions)}")
        self.stdout.write("  Nothing was written.")
        return seen

    def _request(self, adapter: adapters.Adapter, limit: int | None) -> None:
        waiting = islice(placements.pages(surveys.unanswered(adapter.name)), limit)
        asked = sum(tasks.enqueue_if_open(placement, prio=Job.BULK) is not None for placement in waiting)
        self.stdout.write(f"{adapter.name}: {asked} suggestions asked for")


def _cost(captions: int) -> str:
    """How long that takes, and what the figure assumes."""
    if not captions:
        return ""
    takes = captioning.estimate(captions)
    duration = "" if takes.hours is None else f", about {_duration(takes.hours)} of one worker"
    return (
        f'{duration} with the captioner "{conf.get("CAPTIONER")}": {takes.assumes}. '
        "The same picture in the same words is looked at once."
    )


def _duration(hours: float) -> str:
    minutes = max(round(hours * 60), 1)
    return f"{hours:.1f} hours" if hours >= 1 else f"{minutes} minute{'' if minutes == 1 else 's'}"


def _above_zero(given: str) -> int:
    if not given.isdigit() or int(given) < 1:
        raise ArgumentTypeError(f"{given!r} is no number above 0")
    return int(given)


def _moment(given: str) -> datetime:
    """A date or time in ISO 8601; without a zone, in that of the site."""
    try:
        moment = datetime.fromisoformat(given)
    except ValueError as error:
        raise ArgumentTypeError(f"{given!r} is no date such as 2026-03-31 or 2026-03-31T18:00") from error
    moment = moment if timezone.is_aware(moment) else timezone.make_aware(moment)
    if moment > timezone.now():
        raise ArgumentTypeError(f"{given!r} lies in the future")
    return moment
