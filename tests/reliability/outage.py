"""Uploads while the broker is away: `python -m tests.reliability.outage --kind refused|frozen --uploads 40`.

Shown: every upload is stored with its job row, and the first one waits no longer than the publishing limit.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
import time

from tests.reliability.services import ServiceMissing, free_port, redis_server
from tests.reliability.site import Site


def run(*, kind: str, uploads: int) -> dict:
    """Counts and seconds of one bounded run.  :raises ServiceMissing: redis-server is not installed."""
    with contextlib.ExitStack() as stack:
        if kind == "refused":
            broker = f"redis://127.0.0.1:{free_port()}/0"
        else:
            broker, process = stack.enter_context(redis_server())
            process.send_signal(signal.SIGSTOP)
        site = stack.enter_context(Site(database="sqlite", broker=broker))
        return _upload(site, uploads) | {"kind": kind}


def _upload(site: Site, uploads: int) -> dict:
    from django.contrib.auth import get_user_model
    from django.core.files.base import ContentFile
    from django.test import Client
    from django.utils import timezone

    from alttext.models import Job
    from alttext.project.demo.models import Article, Illustration
    from tests.conftest import picture

    get_user_model().objects.create_superuser("admin")
    client = Client()
    client.force_login(get_user_model().objects.get())
    article = Article.objects.create(slug="run", title="Run", summary="-", published_at=timezone.now())
    seconds = []
    for number in range(uploads):
        row = Illustration(article=article, position=number, text_before=f"Paragraph {number}.")
        begun = time.perf_counter()
        row.image.save(f"{number}.png", ContentFile(picture(seed=number)), save=False)
        row.save()
        seconds.append(time.perf_counter() - begun)
    placement = Job.objects.order_by("id").first().placement
    answer = client.post(f"/alttext/placement/{placement.pk}/request/", headers={"hx-request": "true"})
    return {
        "uploads": uploads,
        "stored": Illustration.objects.count(),
        "job_rows": Job.objects.count(),
        "request_status": answer.status_code,
        "first_seconds": round(seconds[0], 3),
        "longest_later_seconds": round(max(seconds[1:]), 3),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=["refused", "frozen"], required=True)
    parser.add_argument("--uploads", type=int, default=40)
    options = parser.parse_args()
    try:
        print(json.dumps(run(kind=options.kind, uploads=options.uploads)))
    except ServiceMissing as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
