"""How long the author's pages take with 100,000 placements: `python -m tests.bench_desk`.

Server time and CPU time of one request in this process, through the middleware and templates, on a temporary SQLite
database and on the PostgreSQL server of DATABASE_URL where that is set. Machine-made figures: the load is told.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import time
from typing import Any

ROUNDS = 20
STATES = (("OFFERED", 40), ("ABSTAINED", 15), ("OPEN", 10), ("DONE", 20), ("HUMAN", 14), ("FAILED", 1))


def fill(count: int) -> Any:
    """Placements in all states on pages of 20 images; every second offered one with its suggestion. Gives an author."""
    from django.contrib.auth import get_user_model
    from django.contrib.auth.models import Permission
    from django.utils import timezone

    from alttext.adapters import Alt, Context
    from alttext.models import Asset, CaptionerVersion, Placement, Suggestion
    from alttext.operations import placements
    from tests.conftest import picture

    at, marks = timezone.now(), random.Random(1)
    asset = placements.asset(picture(seed=1), at=at)
    words = placements.snapshot(
        Context(title="A page", before="Some words. " * 40), language="en", role="unknown", at=at
    )
    names, weights = [name for name, _ in STATES], [weight for _, weight in STATES]
    rows = []
    for number in range(count):
        state = marks.choices(names, weights)[0]
        text = f"A text by a person, number {number}" if state in ("DONE", "HUMAN") else ""
        rows.append(
            Placement(
                adapter="imagefields", key=f"demo.illustration:{number + 1}:image", scope="demo.illustration",
                page_title=f"Page {number // 20}", page_url=f"/pages/{number // 20}/", image_name=f"IMG_{number}.png",
                image_url="/media/x.png", asset=asset, snapshot=words, language="en" if number % 3 else "de",
                current_alt=text, alt_hash=Alt(text).hash, state=state, stale=marks.random() < 0.02,
                created_at=at, updated_at=at,
            )
        )  # fmt: skip
    Placement.objects.bulk_create(rows, batch_size=2000)
    version = CaptionerVersion.objects.create(name="canned", key="bench", first_seen_at=at, last_seen_at=at)
    offered = Placement.objects.filter(state="OFFERED").values_list("pk", flat=True)
    Suggestion.objects.bulk_create(
        [
            Suggestion(
                placement_id=pk, asset=asset, snapshot=words, captioner_version=version, text=f"A red ferry {pk}",
                state="PENDING", language="en", suggested_at=at, state_at=at,
            )
            for pk in offered
        ],
        batch_size=2000,
    )  # fmt: skip
    assert Asset.objects.count() == 1
    user = get_user_model().objects.create_user("author")
    user.user_permissions.set(Permission.objects.filter(codename="change_illustration"))
    return user


def measure(client: Any, url: str) -> dict[str, Any]:
    """Milliseconds of ROUNDS requests after a warm one, and statements of the last."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    client.get(url)
    wall, cpu = [], []
    for _ in range(ROUNDS):
        begun, worked = time.perf_counter(), time.process_time()
        response = client.get(url)
        wall.append((time.perf_counter() - begun) * 1000)
        cpu.append((time.process_time() - worked) * 1000)
        assert response.status_code in (200, 302), response.status_code
    with CaptureQueriesContext(connection) as caught:
        client.get(url)
    cut = statistics.quantiles(wall, n=20)
    return {"p50": statistics.median(wall), "p95": cut[18], "cpu": statistics.median(cpu), "queries": len(caught)}


def on(database: str, count: int) -> None:
    """Print the rows for one database."""
    from tests.reliability.site import Site

    with Site(database=database):
        from django.db import connection
        from django.test import Client
        from django.urls import reverse

        from alttext.models import Placement

        user = fill(count)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
        client = Client()
        client.force_login(user)
        pks = list(Placement.objects.order_by("pk").values_list("pk", flat=True))
        queue = reverse("alttext:queue")
        pages = {
            "queue, to do": queue,
            "queue, all, from the middle": f"{queue}?state=all&after={pks[len(pks) // 2]}",
            "queue, done, German": f"{queue}?state=done&language=de",
            "queue, search that finds nothing": f"{queue}?state=all&search=zeppelin",
            "queue, one page": f"{queue}?state=all&page={pks[len(pks) // 2]}",
            "editor": reverse("alttext:placement", args=[pks[len(pks) // 2]]),
            "next image": f"{reverse('alttext:next')}?after={pks[len(pks) // 2]}",
        }
        print(
            f"{database}, {count:,} placements, {ROUNDS} requests each\n"
            f"{'':36}{'p50 ms':>9}{'p95 ms':>9}{'CPU ms':>9}{'queries':>9}"
        )
        for name, url in pages.items():
            row = measure(client, url)
            print(f"{name:36}{row['p50']:>9.0f}{row['p95']:>9.0f}{row['cpu']:>9.0f}{row['queries']:>9}")
        print()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    options = parser.parse_args()
    on(options.database, options.n)
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    return 0


if __name__ == "__main__":
    sys.exit(main())
