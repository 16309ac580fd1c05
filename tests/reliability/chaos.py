"""Kill workers while they work: `python -m tests.reliability.chaos --worker embedded|redis|rabbitmq`.

Each kill is a SIGKILL of one worker's whole process tree. One wake-up in ten is never sent. The run ends when every job
is final or the time is over; it counts what was lost and what was done twice, and exits with 1 if anything was.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import random
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass

from tests.reliability.services import ServiceMissing, rabbitmq_server, redis_server
from tests.reliability.site import Site

WORKERS = 2
KILL_EVERY_SECONDS = (1.0, 3.0)


@dataclass
class Result:
    """Counts of one run; `lost`: jobs without a suggestion; `twice`: suggestions beyond one a job."""

    worker: str
    database: str
    jobs: int
    kills: int
    lost: int
    twice: int
    not_final: int
    dead: int
    longest_attempts: int
    wall_seconds: float
    load_average: float
    python: str = platform.python_version()

    @property
    def sound(self) -> bool:
        return self.lost == self.twice == self.not_final == 0


def run(*, worker: str, database: str, jobs: int, kills: int, timeout: float = 300.0) -> Result:
    """One bounded run.  :raises ServiceMissing: the broker or the database is not on this machine."""
    with contextlib.ExitStack() as stack:
        broker = ""
        if worker != "embedded":
            server = redis_server if worker == "redis" else rabbitmq_server
            broker, _ = stack.enter_context(server())
        site = stack.enter_context(Site(database=database, broker=broker))
        return _run(site, worker, jobs=jobs, kills=kills, timeout=timeout)


def _run(site: Site, worker: str, *, jobs: int, kills: int, timeout: float) -> Result:
    from alttext import tasks
    from alttext.models import Job, Suggestion

    for placement in site.placements(jobs):
        tasks.suggestions.request(placement=placement, captioner="canned", prio=9, at=tasks.timezone.now())
    if worker != "embedded":
        sent = sum(tasks.wake("plain") for number in range(jobs // 10) if number % 10)
        print(f"{worker}: {jobs} rows, {sent} wake-ups sent", file=sys.stderr)
    chance = random.Random(1)
    started, done = time.monotonic(), 0
    processes = [_start(site, worker) for _ in range(WORKERS)]
    helpers = [] if worker == "embedded" else [_start_beat(site)]
    opened = Job.objects.filter(state__in=["QUEUED", "RUNNING"])
    try:
        while opened.exists() and time.monotonic() - started < timeout:
            time.sleep(chance.uniform(*KILL_EVERY_SECONDS))
            if done < kills:
                victim = chance.randrange(WORKERS)
                _kill(processes[victim])
                processes[victim] = _start(site, worker)
                done += 1
                print(f"{worker}: kill {done}, {opened.count()} open", file=sys.stderr)
    finally:
        for process in processes + helpers:
            _kill(process)
    answered = Suggestion.objects.filter(job__isnull=False).values("job").distinct().count()
    return Result(
        worker=worker,
        database=site.database,
        jobs=Job.objects.count(),
        kills=done,
        lost=jobs - answered,
        twice=Suggestion.objects.count() - answered,
        not_final=opened.count(),
        dead=Job.objects.filter(state="DEAD").count(),
        longest_attempts=max(Job.objects.values_list("attempts", flat=True), default=0),
        wall_seconds=round(time.monotonic() - started, 1),
        load_average=round(os.getloadavg()[0], 1),
    )


def _start(site: Site, worker: str) -> subprocess.Popen[bytes]:
    if worker == "embedded":
        return site.start("manage.py", "alttext_worker")
    return site.start(
        "-m", "celery", "-A", "alttext.project.celery", "worker", "-P", "solo", "-Q", "alttext-plain,alttext-text",
        "--loglevel", "CRITICAL", "--without-gossip", "--without-mingle", "--hostname", f"w{random.random()}@%h",
    )  # fmt: skip


def _start_beat(site: Site) -> subprocess.Popen[bytes]:
    schedule = f"{site.folder.name}/beat"
    return site.start(
        "-m", "celery", "-A", "alttext.project.celery", "beat", "--loglevel", "CRITICAL",
        "--schedule", schedule, "--pidfile", "",
    )  # fmt: skip


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker", choices=["embedded", "redis", "rabbitmq"], help="all three if not given")
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=20)
    options = parser.parse_args()
    if options.worker is None:
        arguments = [f"--{name}={getattr(options, name)}" for name in ("database", "jobs", "kills")]
        command = [sys.executable, "-m", "tests.reliability.chaos", *arguments]
        codes = [subprocess.call([*command, "--worker", name]) for name in ("embedded", "redis", "rabbitmq")]
        return max(codes)
    try:
        result = run(worker=options.worker, database=options.database, jobs=options.jobs, kills=options.kills)
    except ServiceMissing as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps(asdict(result)))
    return 0 if result.sound else 1


if __name__ == "__main__":
    sys.exit(main())
