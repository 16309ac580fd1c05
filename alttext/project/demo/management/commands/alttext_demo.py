"""The main job on the demonstration site: load it, caption every image, print the table, then serve it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from django.utils.module_loading import import_string

from alttext import queries
from alttext.models import Job, Placement

FINAL = [
    Placement.State.OFFERED,
    Placement.State.ABSTAINED,
    Placement.State.FAILED,
    Placement.State.DONE,
    Placement.State.HUMAN,
]
ADDRESS = "127.0.0.1:8000"


class Command(BaseCommand):
    help = "Load the demonstration site, caption its images with the embedded worker, print the table, serve the site."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--once", action="store_true", help="do not serve; fail if a placement reached no final state"
        )
        parser.add_argument("--out", type=Path, help="write the table to this file as JSON")
        parser.add_argument("--address", default=ADDRESS, help=f"host:port to serve on; {ADDRESS} if not given")
        parser.add_argument("--timeout", type=float, default=900.0, help="seconds to wait for the captioner")

    def handle(self, *args: Any, **options: Any) -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, _stop)  # by itself it would end this process and leave the worker behind
        call_command("migrate", verbosity=0)
        import_string(settings.DEMO_CONTENT)(at=timezone.now())
        call_command("alttext_scan", stdout=self.stdout)
        worker = None
        try:
            if _open_jobs() or not options["once"]:
                worker = _start_worker()
            self._wait(worker, options["timeout"])
            rows = [
                _row(placement) for placement in Placement.objects.exclude(state=Placement.State.GONE).order_by("pk")
            ]
            self._print(rows)
            if options["out"]:
                options["out"].write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
            unfinished = [row for row in rows if row["state"] not in FINAL]
            if options["once"]:
                if unfinished:
                    raise CommandError(f"{len(unfinished)} of {len(rows)} placements reached no final state.")
                return
            self._serve(options["address"])
        finally:
            if worker is not None:
                worker.terminate()
                worker.wait(timeout=30)

    def _wait(self, worker: subprocess.Popen[bytes] | None, timeout: float) -> None:
        """Until no job is open, with a line for each that ends."""
        started, total, left = time.monotonic(), _open_jobs(), -1
        if total:
            self.stdout.write(f"Captioning {total} images. The captioner loads its weights first.")
        while (now_left := _open_jobs()) and time.monotonic() - started < timeout:
            if worker is not None and worker.poll() is not None:
                raise CommandError("The worker stopped; its message stands above.")
            if now_left != left:
                left = now_left
                self.stdout.write(f"  {total - left} of {total} done, {time.monotonic() - started:.0f} s", ending="\n")
                self.stdout.flush()
            time.sleep(0.2)
        if total:
            self.stdout.write(
                f"  {total - now_left} of {total} done; captioning took {time.monotonic() - started:.1f} s"
            )

    def _print(self, rows: list[dict[str, Any]]) -> None:
        self.stdout.write("")
        for row in rows:
            said = f"“{row['text']}”" if row["text"] else f"silent: {', '.join(row['reasons']) or row['state'].lower()}"
            seconds = f"{row['seconds']:.1f} s" if row["seconds"] is not None else "-"
            self.stdout.write(
                f"{row['placement']:>3}  {row['page'][:34]:34}  {row['role'][:11]:11}  {seconds:>6}  {said}"
            )
            if settings.DEMO_EDITOR:  # of a content system: which kind of place it is
                self.stdout.write(f"{'':5}{row['place']}  words {row['context_hash'][:8]}")
            if row["detail"]:
                self.stdout.write(f"{'':5}{row['detail']}")
        offered = sum(row["state"] == Placement.State.OFFERED for row in rows)
        silent = sum(row["state"] == Placement.State.ABSTAINED for row in rows)
        self.stdout.write(f"\n{len(rows)} placements: {offered} texts offered, {silent} abstentions.")
        if rows:
            self.stdout.write(f"Captioner: {next((row['captioner'] for row in rows if row['captioner']), 'none')}")

    def _serve(self, address: str) -> None:
        self.stdout.write(f"\nThe site:      http://{address}/")
        if settings.DEMO_EDITOR:
            self.stdout.write(f"The editor:    http://{address}{settings.DEMO_EDITOR}")
        self.stdout.write(f"The workbench: http://{address}/alttext/")
        self.stdout.write("Log in as author, lead or admin; each password is the name. Stop with Ctrl+C.\n")
        self.stdout.flush()
        call_command("runserver", address, use_reloader=False, skip_checks=True)


def _stop(number: int, frame: object) -> None:
    raise SystemExit(128 + number)


def _open_jobs() -> int:
    return Job.objects.filter(state__in=Job.OPEN).count()


def _start_worker() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "django", "alttext_worker"], cwd=settings.BASE_DIR)


def _row(placement: Placement) -> dict[str, Any]:
    suggestion = queries.suggestion_of(placement)
    row: dict[str, Any] = {
        "placement": placement.pk,
        "place": f"{placement.adapter} {placement.key}",
        "page": placement.page_title,
        "image": placement.image_name,
        "role": placement.role,
        "language": placement.language,
        "state": placement.state,
        "context_hash": placement.snapshot.context_hash if placement.snapshot else "",
        "content_hash": placement.asset.content_hash if placement.asset else "",
        "current_alt": placement.current_alt,
        "text": None,
        "reasons": [],
        "detail": placement.problem,
        "flags": [],
        "evidence": {},
        "seconds": None,
        "captioner": "",
    }
    if suggestion is not None:
        version = suggestion.captioner_version
        row |= {
            "text": suggestion.text,
            "reasons": suggestion.reason_list,
            "detail": suggestion.detail,
            "flags": suggestion.flags,
            "evidence": suggestion.evidence,
            "seconds": suggestion.seconds,
            "captioner": f"{version.name} {version.key}",
        }
    elif placement.decorative:
        row |= {"reasons": ["declared_decorative"], "detail": "A person marked it; no captioner was called."}
    elif placement.state == Placement.State.HUMAN:
        row |= {"reasons": ["human_text"], "detail": "It has a text by a person; no captioner was called."}
    return row
