"""Measurements as ratios within one run: `make bench`, or `python -m tests.bench --placements 200`.

Timings of a shared machine are noisy: the sides of each ratio are measured in turns, and the load is told.
Prints JSON. Nothing here is a test.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from tests.reliability.services import free_port
from tests.reliability.site import Site

ROUND = 10
BLIP_IMAGES = 4


def pictures() -> list[bytes]:
    """Real photographs that a package ships."""
    import skimage.data

    folder = Path(skimage.data.__file__).parent
    names = ["astronaut.png", "chelsea.png", "coffee.png", "rocket.jpg", "motorcycle_left.png", "page.png", "coins.png"]
    return [(folder / name).read_bytes() for name in names]


def queue_overhead(site: Site, count: int, name: str) -> dict[str, Any]:
    """Seconds a placement through rows, lease, intake, captioner and record, over intake and captioner alone."""
    from alttext import captioning, tasks, workers
    from alttext.models import Placement

    uses = spread(site, count)
    workers.register()
    alone: list[float] = []
    queued: list[float] = []
    for start in range(0, len(uses), ROUND):
        batch = uses[start : start + ROUND]
        begun = time.perf_counter()
        for placement, data in batch:
            prepared = captioning.prepare(data, name=placement.image_name)
            if prepared.accepted:
                captioning.describe(prepared, asset=placement.asset, snapshot=placement.snapshot, request_id="bench")
        alone.append((time.perf_counter() - begun) / len(batch))
        for placement, _ in batch:
            tasks.enqueue_suggestion(placement=placement)
        begun = time.perf_counter()
        done = workers.drain(seconds=3600)
        queued.append((time.perf_counter() - begun) / len(batch))
        assert done == len(batch), (done, len(batch))
    waiting = Placement.objects.filter(state=Placement.State.WAITING).count()
    return {
        "captioner": name,
        "placements": len(uses),
        "unanswered": waiting,
        "alone_seconds_each": round(statistics.mean(alone), 4),
        "queued_seconds_each": round(statistics.mean(queued), 4),
        "overhead": round(sum(queued) / sum(alone) - 1, 4),
        "overhead_median_of_rounds": round(statistics.median(q / a for q, a in zip(queued, alone, strict=True)) - 1, 4),
    }


def spread(site: Site, count: int) -> list[tuple[Any, bytes]]:
    """`count` placements over the photographs, each in words of its own so that no answer is reused."""
    from django.core.files.base import ContentFile
    from django.utils import timezone

    from alttext import adapters
    from alttext.operations import placements
    from alttext.project.demo.models import Article, Illustration

    at, adapter = timezone.now(), adapters.get("imagefields")
    article = Article.objects.create(slug="bench", title="Bench", summary="-", published_at=at)
    files = pictures()
    names = []
    for number, data in enumerate(files):
        row = Illustration(article=article, position=number)
        row.image.save(f"bench{number}.img.png", ContentFile(data), save=False)
        names.append(row.image.name)
    rows = []
    for number in range(count):
        words = f"Paragraph {number} of the page."
        rows.append(Illustration(article=article, position=number, image=names[number % len(names)], text_before=words))
    Illustration.objects.bulk_create(rows)
    found = [placements.refresh(adapter, place, at=at)[0] for place in adapter.places()]
    return [(placement, files[number % len(files)]) for number, placement in enumerate(found)]


def memory_of_the_worker(name: str) -> dict[str, Any]:
    """Peak memory of this process's children now alive: the captioner's process and the picture sandbox."""
    peaks = {}
    for child in psutil.Process().children(recursive=True):
        try:
            words = " ".join(child.cmdline())
        except psutil.Error:
            continue
        label = "captioner" if "serve" in words else "sandbox" if "sandbox" in words or "child" in words else "other"
        peaks[label] = max(peaks.get(label, 0.0), _peak_megabytes(child.pid))
    peaks["parent"] = _peak_megabytes(os.getpid())
    return {"captioner": name, "peak_mb": peaks, "sum_mb": round(sum(peaks.values()), 1)}


def _peak_megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM"):
                return round(int(line.split()[1]) / 1024, 1)
    return round(psutil.Process(pid).memory_info().rss / 1e6, 1)


def memory_of_the_web_process(site: Site) -> dict[str, Any]:
    """Peak memory of a gunicorn process after 300 requests to queue, editor and dashboard; whether it holds torch."""
    import urllib.request

    from django.contrib.auth import get_user_model
    from django.test import Client

    from alttext.models import Placement

    user = get_user_model().objects.create_superuser("bench")
    client = Client()
    client.force_login(user)
    session = client.cookies["sessionid"].value
    port = free_port()
    web = site.start(
        "-m", "gunicorn", "--workers", "1", "--threads", "4", "--bind", f"127.0.0.1:{port}", "--log-level", "error",
        "alttext.project.wsgi:application",
    )  # fmt: skip
    try:
        keys = list(Placement.objects.values_list("pk", flat=True)[:50])
        pages = ["/alttext/queue/", "/alttext/dashboards/", *(f"/alttext/placement/{key}/" for key in keys)]
        statuses: dict[int, int] = {}
        deadline = time.monotonic() + 20
        for number in range(300):
            request = urllib.request.Request(  # noqa: S310
                f"http://127.0.0.1:{port}{pages[number % len(pages)]}", headers={"Cookie": f"sessionid={session}"}
            )
            while True:
                try:
                    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
                        statuses[answer.status] = statuses.get(answer.status, 0) + 1
                    break
                except urllib.error.URLError:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(0.2)
        [worker] = psutil.Process(web.pid).children()
        maps = {item.path for item in worker.memory_maps()}
        return {
            "requests": statuses,
            "peak_mb": _peak_megabytes(worker.pid),
            "torch_loaded": any("libtorch" in path for path in maps),
        }
    finally:
        web.terminate()
        web.wait()


def against_blip() -> dict[str, Any]:
    """Seconds an image of the starter and of BLIP-base with random weights, greedy, 20 tokens, in turns, same cores."""
    code = Path(__file__).with_name("bench_blip.py")
    run = subprocess.run(
        [sys.executable, "-m", "tests.bench_blip"], capture_output=True, text=True, cwd=code.parents[1]
    )
    if run.returncode:
        return {"skipped": run.stderr.strip().splitlines()[-1] if run.stderr.strip() else "failed"}
    result: dict[str, Any] = json.loads(run.stdout)
    return result


def of_language_model() -> dict[str, Any]:
    """Image tokens, shared prefill and dedupe as ratios, in a process with one thread."""
    run = subprocess.run([sys.executable, "-m", "tests.bench_lm"], capture_output=True, text=True)
    if run.returncode:
        return {"skipped": run.stderr.strip().splitlines()[-1] if run.stderr.strip() else "failed"}
    result: dict[str, Any] = json.loads(run.stdout)
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--placements", type=int, default=200)
    parser.add_argument("--captioner", default="starter")
    options = parser.parse_args()
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    with Site(database="sqlite", lease_seconds=60, captioner_seconds=0) as site:
        from django.conf import settings

        settings.ALTTEXT["CAPTIONER"] = options.captioner
        from alttext import captioning

        result: dict[str, Any] = {"queue": queue_overhead(site, options.placements, options.captioner)}
        print(json.dumps(result["queue"]), file=sys.stderr)
        result["worker"] = memory_of_the_worker(options.captioner)
        captioning.use(None)
        result["web"] = memory_of_the_web_process(site)
    result["language_model"] = of_language_model()
    result["blip"] = against_blip() if options.captioner == "starter" else {}
    result["machine"] = {
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 1),
        "seen": platform.machine(),
    }
    print(json.dumps(result, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
