"""A dead or frozen broker neither fails an upload nor holds it up."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.conftest import skip_unless


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["refused", pytest.param("frozen", marks=pytest.mark.redis)])
def test_uploads_are_stored_and_wait_no_longer_than_the_publishing_limit(kind):
    command = [sys.executable, "-m", "tests.reliability.outage", "--kind", kind, "--uploads", "12"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    skip_unless(run.returncode != 2, "redis-server; on Debian: apt-get install redis-server")
    assert run.returncode == 0, run.stderr[-2000:]
    counts = json.loads(run.stdout)
    assert counts["stored"] == counts["job_rows"] == 12
    assert counts["request_status"] < 500
    assert counts["first_seconds"] < 10  # a hang is what this looks for; the defaults hung for over 40 s
