"""The corpus of nasty files, and a sandbox that is empty before and after each test that counts its children."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import psutil
import pytest

from captioner.prepare import sandbox

BESIDE = pathlib.Path(__file__).resolve().parents[4] / "shared" / "tools" / "nasty_corpus.py"


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """(folder, manifest) as the corpus script writes them; ALTTEXT_NASTY names the script."""
    script = pathlib.Path(os.environ.get("ALTTEXT_NASTY", BESIDE))
    if not script.is_file():
        if os.environ.get("CI"):
            pytest.fail("the script that writes the corpus is required in CI: set ALTTEXT_NASTY")
        pytest.skip("no script that writes the corpus: set ALTTEXT_NASTY")
    folder = tmp_path_factory.mktemp("nasty")
    subprocess.run([sys.executable, str(script), str(folder)], check=True, capture_output=True, timeout=120)
    return folder, json.loads((folder / "manifest.json").read_text())


def children() -> list[psutil.Process]:
    """Decoding processes of this process, zombies included."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if process.status() == psutil.STATUS_ZOMBIE or "captioner.prepare.sandbox" in process.cmdline():
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found


@pytest.fixture
def fresh_sandbox():
    """No child before; none after. Gives the function that lists them."""
    sandbox.close()
    yield children
    sandbox.close()
    assert children() == []
