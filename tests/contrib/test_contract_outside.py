"""An adapter from outside: the example of docs/adapters.md, loaded from there, keeps the contract and is scanned."""

from __future__ import annotations

import ast
import importlib
import io
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.utils import timezone

from alttext import adapters
from alttext.adapters import Context
from alttext.models import Placement
from alttext.operations import decisions, placements
from tests.conftest import picture
from tests.contrib.adapter_contract import AdapterContract

ROOT = Path(__file__).resolve().parents[2]
CODE = re.compile(r"^```python\n# (\S+\.py)\n(.*?)^```$", re.M | re.S)


def code_of_the_page() -> dict[str, str]:
    """File name -> code, of the blocks that begin with a file's name."""
    return dict(CODE.findall((ROOT / "docs/adapters.md").read_text()))


@pytest.fixture
def folder_site(tmp_path, monkeypatch, settings):
    """The example as an importable package, with a folder of pages."""
    package = tmp_path / "outside/folder_site"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    for name, code in code_of_the_page().items():
        if name.startswith("folder_site/"):
            (package / Path(name).name).write_text(code)
    monkeypatch.syspath_prepend(str(package.parent))
    settings.PAGES_DIR = tmp_path / "pages"
    settings.PAGES_DIR.mkdir()
    yield importlib.import_module("folder_site.alttext_adapter")
    for name in [name for name in sys.modules if name.partition(".")[0] == "folder_site"]:
        del sys.modules[name]


class FolderStage:
    """One page in a file, with one picture between two paragraphs."""

    key, language, page_title = "harbour-days:a", "de", "Hafentage"
    context = Context(title="Hafentage", before="Erst dies.", after="Dann das.")

    def __init__(self, module: Any, folder: Path, account: Any) -> None:
        self.adapter, self.folder, self.data = module.FolderAdapter(), folder, picture()
        self.limit: int = module.MOST_CHARS
        self.editor = account("editor", may=True)
        self.stranger = account("stranger")
        self.superuser = account("admin", is_superuser=True)
        self.make("harbour-days", self.data)

    def make(self, slug: str, data: bytes) -> None:
        (self.folder / f"{slug}.png").write_bytes(data)
        blocks = ["Erst dies.", {"id": "a", "file": f"{slug}.png", "alt": ""}, "Dann das."]
        page = {"title": self.page_title, "url": f"/{slug}/", "language": self.language, "blocks": blocks}
        self.save(page, slug)

    def page(self) -> dict[str, Any]:
        return json.loads((self.folder / "harbour-days.json").read_text())

    def save(self, page: dict[str, Any], slug: str = "harbour-days") -> None:
        (self.folder / f"{slug}.json").write_text(json.dumps(page))

    def change(self, text: str) -> None:
        page = self.page()
        [block] = [block for block in page["blocks"] if isinstance(block, dict)]
        block["alt"] = text
        self.save(page)

    def edit_page(self) -> None:
        page = self.page()
        page["blocks"].insert(0, "Ein neuer Anfang.")
        self.save(page)

    def add(self) -> None:
        self.make(f"page-{len(list(self.folder.glob('*.json')))}", picture())

    def remove(self) -> None:
        page = self.page()
        page["blocks"] = [block for block in page["blocks"] if isinstance(block, str)]
        self.save(page)

    def lose_file(self) -> None:
        (self.folder / "harbour-days.png").unlink()

    def narrow(self) -> tuple[str, int]:
        return self.key, self.limit


@pytest.fixture
def account(db):
    """A user, by the permission that the example asks for."""
    kind, _ = ContentType.objects.get_or_create(app_label="folder_site", model="page")
    permission = Permission.objects.create(codename="change_page", content_type=kind, name="Can change page")

    def make(name: str, *, may: bool = False, **fields: Any) -> Any:
        user = get_user_model().objects.create_user(name, **fields)
        user.user_permissions.set([permission] if may else [])
        return user

    return make


@pytest.fixture
def stage(folder_site, settings, account):
    return FolderStage(folder_site, settings.PAGES_DIR, account)


class TestTheExample(AdapterContract):
    """All of the contract."""


@pytest.fixture
def installed(stage, settings):
    """The example as the site's only adapter."""
    settings.ALTTEXT = {**settings.ALTTEXT, "ADAPTERS": ["folder_site.alttext_adapter.FolderAdapter"]}
    return stage


def test_the_example_is_scanned_and_decided_on_like_any_other(installed, author):
    out = io.StringIO()
    call_command("alttext_scan", "--request", stdout=out)
    assert "folder: 1 found, 1 new" in out.getvalue()
    assert "1 suggestions asked for" in out.getvalue()
    placement = Placement.objects.get()
    decisions.save_text(
        placement=placement, text="Boote", seen=decisions.seen(placement), by=installed.editor, at=timezone.now()
    )
    assert installed.page()["blocks"][1]["alt"] == "Boote"


def test_a_page_of_the_example_that_does_not_parse_keeps_no_other_from_being_found(installed):
    installed.add()
    placements.scan(installed.adapter, at=timezone.now())
    (installed.folder / "harbour-days.json").write_text("{")
    seen = placements.scan(installed.adapter, at=timezone.now())
    assert (seen.found, seen.gone, seen.broken) == (1, 0, "")
    assert not Placement.objects.filter(state=Placement.State.GONE).exists()


def test_the_example_reads_no_unchanged_file_again_and_knows_what_changed(installed):
    installed.add()
    then = timezone.now()
    assert placements.scan(installed.adapter, at=then).read == 2
    assert placements.scan(installed.adapter, at=then).read == 0
    os.utime(installed.folder / "harbour-days.json", (0, 0))
    assert [place.key for place in installed.adapter.places_since(then.replace(year=2000))] == ["page-1:a"]


def test_an_app_brings_its_adapter_along(folder_site, settings):
    settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, "folder_site"]
    assert "folder_site.alttext_adapter.FolderAdapter" in adapters.paths()
    assert adapters.get("folder").name == "folder"


def test_the_contract_can_be_copied_alone():
    tree = ast.parse((ROOT / "tests/contrib/adapter_contract.py").read_text())
    names = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    names |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    ours = {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names)
    assert ours == {"alttext", "django", "pytest"}
