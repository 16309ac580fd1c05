"""The rendered pages are valid HTML: html-validate over what the HTTP client gets."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from django.test import Client

from alttext.operations import decisions
from tests.conftest import skip_unless

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "var/node/node_modules/.bin/html-validate"
pytestmark = [pytest.mark.slow, pytest.mark.django_db]


@pytest.fixture
def pages(make_placement, suggest, author, lead, at, make_illustration):
    """Addresses of pages in many states, by name."""
    offered, abstained, failed, done, opened, waiting = (make_placement(caption="A caption") for _ in range(6))
    suggest(offered, 'A "red" <b>cat</b> & dog', flags=["markup"])
    suggest(abstained, reasons=("object_unsupported", "text_unverified"))
    done_suggestion = suggest(done, "A cat")
    decisions.save_text(
        placement=done, text="A black cat", seen=decisions.seen(done, done_suggestion), by=author, at=at
    )
    type(failed).objects.filter(pk=failed.pk).update(state="FAILED", problem="The file is cut off.")
    type(waiting).objects.filter(pk=waiting.pk).update(state="WAITING")
    found = {name: f"/alttext/placement/{row.pk}/" for name, row in [
        ("offered", offered), ("abstained", abstained), ("failed", failed), ("done", done), ("open", opened),
        ("waiting", waiting),
    ]}  # fmt: skip
    return found | {
        "queue": "/alttext/queue/?state=all",
        "empty-queue": "/alttext/queue/?search=nothing-is-called-this",
        "keys": "/alttext/keys/",
        "texts": "/alttext/texts/",
        "guide": f"/alttext/placement/{opened.pk}/guide/?answers=n",
        "dashboards": "/alttext/dashboards/",
        "login": "/accounts/login/",
        "home": "/",
        "article": done.page_url,
    }


def test_every_page_is_valid_html(pages, lead, tmp_path):
    skip_unless(PROGRAM.exists(), "html-validate; `make test` installs it where npm is present")
    client, anonymous = Client(), Client()
    client.force_login(lead)
    for name, address in pages.items():
        answer = (anonymous if name == "login" else client).get(address)
        assert answer.status_code == 200, (name, answer.status_code)
        (tmp_path / f"{name}.html").write_bytes(answer.content)
    config = ROOT / "tests/browser/htmlvalidate.json"
    files = sorted(str(path) for path in tmp_path.glob("*.html"))
    run = subprocess.run([PROGRAM, "--config", config, "--formatter", "json", *files], capture_output=True, text=True)
    assert run.stdout, run.stderr
    findings = [
        f"{Path(result['filePath']).name}:{message['line']} {message['ruleId']}: {message['message']}"
        for result in json.loads(run.stdout)
        for message in result["messages"]
    ]
    assert findings == []
