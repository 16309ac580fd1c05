"""How long a scan of an existing site takes and what it holds: `python -m tests.bench_scan`, 10,000 placements.

Plain models of the demonstration, each use with a small file of its own, on a temporary SQLite database; also on the
PostgreSQL server of DATABASE_URL where that is set. Prints a table; figures of a shared machine, so its load is told.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SLOW_SECONDS = 0.05  # a storage behind a network, for a part of the files


def fill(count: int, kilobytes: int) -> None:
    """`count` uses of images that no scan has seen."""
    from django.conf import settings
    from django.utils import timezone

    from alttext.project.demo.models import Article, Illustration
    from tests.conftest import picture

    folder = Path(settings.MEDIA_ROOT) / "demo"
    folder.mkdir(parents=True)
    data = picture(size=(160, 100), seed=1).ljust(kilobytes * 1000, b"\0")
    articles = [
        Article(slug=f"page-{number}", title=f"Page {number}", summary="-", published_at=timezone.now())
        for number in range(-(-count // 50))
    ]
    Article.objects.bulk_create(articles, batch_size=1000)
    rows = []
    for number in range(count):
        (folder / f"{number}.png").write_bytes(data + number.to_bytes(4, "big"))
        words = f"Paragraph {number} of the page, as long as such paragraphs are. " * 10
        article = articles[number // 50]
        rows.append(Illustration(article=article, position=number, image=f"demo/{number}.png", text_before=words))
    Illustration.objects.bulk_create(rows, batch_size=1000)


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(what: str, count: int, work: Callable[[], Any]) -> dict[str, Any]:
    """One row: seconds for each thousand, how far the peak of memory rose, statements that wrote, what was counted."""
    from django.db import connection

    wrote = 0

    def count_writes(execute: Any, sql: str, *rest: Any) -> Any:
        nonlocal wrote
        wrote += sql.lstrip().upper().startswith(("INSERT", "UPDATE", "DELETE"))
        return execute(sql, *rest)

    before, begun, worked = peak_megabytes(), time.perf_counter(), time.process_time()
    with connection.execute_wrapper(count_writes):
        result = work()
    seconds, cpu_seconds = time.perf_counter() - begun, time.process_time() - worked
    return {
        "what": what,
        "seconds_per_1000": round(seconds * 1000 / count, 2),
        "cpu_seconds_per_1000": round(cpu_seconds * 1000 / count, 2),
        "peak_rise_mb": round(peak_megabytes() - before, 1),
        "writes": wrote,
        "counted": result,
    }


def on(database: str, count: int, kilobytes: int) -> dict[str, Any]:
    """All rows for one database, in this process; addresses are loaded before anything is measured."""
    from tests.reliability.site import Site

    with Site(database=database):
        from django.utils import timezone

        from alttext import tasks
        from alttext.contrib.imagefields.adapter import ImageFieldsAdapter
        from alttext.models import Job
        from alttext.operations import placements, surveys

        fill(count, kilobytes)
        next(ImageFieldsAdapter().places())

        class Plain(ImageFieldsAdapter):
            """A CMS that cannot tell whether a file is the same."""

            def places(self) -> Iterator[Any]:
                return (replace(place, fingerprint=self.fingerprint(place)) for place in super().places())

            def place(self, key: str) -> Any:
                found = super().place(key)
                return replace(found, fingerprint=self.fingerprint(found))

            def fingerprint(self, place: Any) -> str:
                return ""

        class Vouched(Plain):
            """A CMS that keeps a hash of each file."""

            def fingerprint(self, place: Any) -> str:
                return str(place.image_name)

        class Far(Plain):
            def read_image(self, key: str) -> bytes:
                time.sleep(SLOW_SECONDS)
                return super().read_image(key)

        class FarVouched(Vouched, Far):
            pass

        def scan(adapter: Any, **options: Any) -> str:
            seen = placements.scan(adapter, at=timezone.now(), **options)
            assert not seen.broken, seen.broken
            return f"{seen.found} found, {seen.new} new, {seen.changed} changed, {seen.read} read"

        def ask() -> str:
            waiting = placements.pages(surveys.unanswered("imagefields"))
            return f"{sum(tasks.enqueue_if_open(one, prio=Job.BULK) is not None for one in waiting)} asked for"

        def survey() -> str:
            plain = Plain()
            return f"{surveys.survey(plain, plain.places()).captions} to ask for"

        few = min(count, 200)
        rows = [
            measured("dry run", count, survey),
            measured("first scan", count, lambda: scan(Plain())),
            measured("second scan, files read again", count, lambda: scan(Plain())),
            measured("scan that learns fingerprints", count, lambda: scan(Vouched())),
            measured("scan with fingerprints", count, lambda: scan(Vouched())),
            measured(
                f"{few} from a storage {SLOW_SECONDS} s away, with them", few, lambda: scan(FarVouched(), limit=few)
            ),
            measured(f"{few} of it without", few, lambda: scan(Far(), limit=few)),
            measured("asking for suggestions", count, ask),
        ]
        scan(Vouched())  # learns again what the last scan could not tell
        rows.append(measured("scan and nothing to ask", count, lambda: f"{scan(Vouched())}; {ask()}"))
        return {"database": database, "rows": rows, "peak_mb": round(peak_megabytes(), 1)}


def table(result: dict[str, Any], count: int, kilobytes: int) -> str:
    head = f"{result['database']}, {count:,} placements, files of {kilobytes} kB; peak memory {result['peak_mb']} MB"
    lines = [head, f"{'':42}{'s per 1,000':>12}{'of it CPU':>10}{'peak rises MB':>15}{'writes':>9}  counted"]
    for row in result["rows"]:
        figures = f"{row['seconds_per_1000']:>12.2f}{row['cpu_seconds_per_1000']:>10.2f}{row['peak_rise_mb']:>15.1f}"
        lines.append(f"{row['what']:42}{figures}{row['writes']:>9}  {row['counted']}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--kilobytes", type=int, default=20)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.database:  # in a process of its own: the peak of memory is one figure a process
        print(json.dumps(on(options.database, options.n, options.kilobytes)))
        return 0
    server = os.environ.pop("DATABASE_URL", "")
    for database in ["sqlite", *(["postgresql"] if server.startswith("postgres") else [])]:
        command = [sys.executable, "-m", "tests.bench_scan", "--database", database, "--n", str(options.n)]
        run = subprocess.run(
            [*command, "--kilobytes", str(options.kilobytes)], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True,
            env={**os.environ, "ALTTEXT_POSTGRESQL": server},
        )  # fmt: skip
        print(table(json.loads(run.stdout.splitlines()[-1]), options.n, options.kilobytes), end="\n\n")
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    return 0


if __name__ == "__main__":
    sys.exit(main())
