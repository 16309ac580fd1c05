"""Workers killed while they work lose nothing and do nothing twice: a small run of `make chaos` for each kind."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.conftest import skip_unless


def chaos(**options) -> dict:
    arguments = [f"--{name}={value}" for name, value in options.items()]
    command = [sys.executable, "-m", "tests.reliability.chaos", *arguments]
    run = subprocess.run(command, capture_output=True, text=True, timeout=230)
    skip_unless(run.returncode != 2, run.stderr.strip().splitlines()[-1] if run.stderr.strip() else "a service")
    assert run.stdout, run.stderr[-2000:]
    return json.loads(run.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(
    "worker",
    ["embedded", pytest.param("redis", marks=pytest.mark.redis), pytest.param("rabbitmq", marks=pytest.mark.rabbitmq)],
)
def test_killed_workers_lose_nothing_and_do_nothing_twice(worker):
    counts = chaos(worker=worker, jobs=30, kills=2)
    assert counts["kills"] == 2
    assert (counts["lost"], counts["twice"], counts["not_final"], counts["dead"]) == (0, 0, 0, 0)
