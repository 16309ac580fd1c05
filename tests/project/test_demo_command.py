"""`make demo ONCE=1` without the installing: the main job on the demonstration site, in processes of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from alttext.project.demo import content
from tests.conftest import skip_unless

ROOT = Path(__file__).resolve().parents[2]
FINAL = {"OFFERED", "ABSTAINED", "FAILED", "DONE", "HUMAN"}
pytestmark = pytest.mark.slow


def demo(folder: Path, captioner: str) -> list[dict]:
    """The table of one run."""
    environment = {**os.environ, "ALTTEXT_VAR": str(folder / "var"), "ALTTEXT_CAPTIONER": captioner}
    environment.pop("DATABASE_URL", None)
    out = folder / "demo.json"
    command = [sys.executable, "manage.py", "alttext_demo", "--once", "--out", str(out)]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=220)
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]
    return json.loads(out.read_text())


def test_every_placement_reaches_a_final_state_and_a_second_run_changes_nothing(tmp_path):
    rows = demo(tmp_path, "canned")
    assert len(rows) >= 12
    assert {row["state"] for row in rows} <= FINAL
    assert demo(tmp_path, "canned") == rows


@pytest.mark.weights
def test_the_starter_does_the_main_job_on_real_photographs(tmp_path):
    from captioner import fetching

    skip_unless((fetching.weights_folder() / "starter").exists(), "weights; `python -m captioner fetch starter`")
    rows = demo(tmp_path, "starter")
    offered = [row for row in rows if row["text"]]
    abstained = [row for row in rows if row["state"] == "ABSTAINED"]
    assert len(offered) >= 4
    assert len(abstained) >= 2
    assert all(row["reasons"] and row["detail"] for row in abstained)
    assert all(row["evidence"].get("support") for row in offered)
    by_image: dict[str, set[str]] = {}
    for row in rows:
        by_image.setdefault(row["content_hash"], set()).add(row["context_hash"])
    assert max(len(contexts) for contexts in by_image.values()) >= 2
    [human] = [row for row in rows if row["state"] == "HUMAN"]
    assert human["current_alt"]
    assert human["seconds"] is None
    [decorative] = [row for row in rows if row["role"] == "decorative"]
    assert (decorative["seconds"], decorative["captioner"]) == (None, "")
    absent = {word for page in content.pages() for word in page.absent}
    assert absent
    for row in offered:
        assert not absent & set(row["text"].lower().split()), row["text"]
