"""Racing saves have one winner: a small run of `make races` for each database."""

from __future__ import annotations

import json
import socket
import subprocess
import sys

import pytest

from tests.conftest import skip_unless


def answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_racing_saves_have_one_winner_and_no_lost_text(database):
    if database == "postgresql":
        skip_unless(answers(5432), "PostgreSQL on 127.0.0.1:5432; on Debian: apt-get install postgresql")
    command = [sys.executable, "-m", "tests.reliability.races", "--database", database, "--rounds=4", "--threads=8"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=230)
    assert run.returncode == 0, (run.stdout, run.stderr[-2000:])
    counts = json.loads(run.stdout)
    assert counts["winners"] == 4
    assert counts["overwritten"] == 0
    assert counts["repeat_decisions"] == 1
