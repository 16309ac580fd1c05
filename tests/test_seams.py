"""What the modules promise each other and the documents promise the reader."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from alttext import conf

ROOT = Path(__file__).resolve().parents[1]
HEAVY = ("torch", "transformers", "timm", "open_clip", "onnxruntime", "rapidocr", "numpy")


def modules_after(code: str) -> set[str]:
    """Names of the modules that a fresh interpreter holds after `code`."""
    program = f"{code}\nimport sys; print('\\n'.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    return set(run.stdout.split())


def test_the_captioners_door_loads_neither_django_nor_torch():
    loaded = modules_after("import captioner, captioner.prepare.images")
    assert not loaded & {"django", "celery", "rest_framework", *HEAVY}


def test_the_web_process_loads_no_torch():
    code = (
        "import os; os.environ['DJANGO_SETTINGS_MODULE'] = 'alttext.project.settings'\n"
        "import alttext.project.wsgi\n"
        "from django.urls import get_resolver; get_resolver().url_patterns\n"
        "from django.test import Client; assert Client().get('/accounts/login/').status_code == 200"
    )
    assert not modules_after(code) & set(HEAVY)


def test_the_workers_parent_loads_no_torch():
    code = (
        "import os; os.environ['DJANGO_SETTINGS_MODULE'] = 'alttext.project.settings'\n"
        "import django; django.setup()\n"
        "import alttext.workers, alttext.tasks, alttext.captioning"
    )
    assert not modules_after(code) & set(HEAVY)


def test_the_import_contracts_hold():
    run = subprocess.run([Path(sys.executable).parent / "lint-imports"], capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stdout


def test_only_one_module_imports_levenshtein():
    users = [
        path.relative_to(ROOT).as_posix()
        for folder in ("alttext", "captioner")
        for path in (ROOT / folder).rglob("*.py")
        if re.search(r"^\s*(import|from) Levenshtein", path.read_text(), re.M)
    ]
    assert users == ["alttext/edits.py"]


def test_the_readme_has_every_setting_with_its_default_and_meaning():
    readme = (ROOT / "README.md").read_text()
    for key, default, meaning in conf.table():
        assert f"| `{key}` | `{default}` | {meaning} |" in readme


def test_every_setting_is_read_somewhere():
    sources = "".join(path.read_text() for path in (ROOT / "alttext").rglob("*.py"))
    assert [key for key, _, _ in conf.table() if f'get("{key}")' not in sources] == []


def test_the_documents_name_every_column_of_the_csv():
    from alttext import exports

    page = (ROOT / "docs/architecture.md").read_text()
    assert [column for column in exports.EDIT_COLUMNS if f"`{column}`" not in page] == []


def test_the_documents_name_every_check_id():
    sources = "".join(path.read_text() for path in (ROOT / "alttext").rglob("checks.py"))
    ids = set(re.findall(r'id="(alttext\.[EW]\d+)"', sources))
    assert len(ids) > 15
    documents = "".join(path.read_text() for path in (ROOT / "docs").glob("*.md"))
    assert {check for check in ids if check not in documents} == set()


def test_the_documents_name_only_commands_and_targets_that_exist():
    texts = "".join(
        path.read_text() for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    )
    from django.core.management import get_commands

    ours = {path.stem for path in (ROOT / "alttext").rglob("management/commands/*.py")}  # adapters' too
    for command in re.findall(r"manage\.py (\w+)", texts):
        assert command in {*get_commands(), *ours}
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.M))
    for target in re.findall(r"`make (\w+)", texts):
        assert target in targets
    told = subprocess.run([sys.executable, "-m", "captioner", "--help"], capture_output=True, text=True, cwd=ROOT)
    subcommands = set(re.findall(r"^    (\w+)(?: |$)", told.stdout, re.M))
    for command in re.findall(r"python -m captioner (\w+)", texts):
        assert command in subcommands


def test_the_documents_link_to_files_that_exist():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), (page.name, target)


def test_every_image_in_the_documents_has_a_text():
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for text in re.findall(r"!\[([^\]]*)\]\(", page.read_text()):
            assert len(text.split()) > 3, page.name


@pytest.mark.parametrize("name", ["Pillow", "Django", "djangorestframework"])
def test_installed_versions_are_above_the_security_floors(name):
    from importlib.metadata import version

    from packaging.version import Version

    floors = {"Pillow": ["13.0.0"], "Django": ["5.2.19", "6.0.10", "6.1.3"], "djangorestframework": ["3.18.2"]}
    installed = Version(version(name))
    same_series = [Version(floor) for floor in floors[name] if Version(floor).release[:2] == installed.release[:2]]
    floor = same_series[0] if same_series else max(Version(item) for item in floors[name])
    assert installed >= floor


def test_the_vendored_htmx_is_the_one_whose_checksum_is_kept():
    import hashlib

    folder = ROOT / "static/alttext/vendor"
    lines = (folder / "SHA256SUMS").read_text().split("\n")
    sums = dict(reversed(line.split(maxsplit=1)) for line in lines if line)
    assert sums
    for name, expected in sums.items():
        assert hashlib.sha256((folder / name.lstrip("*")).read_bytes()).hexdigest() == expected
    assert re.search(r'version:"2\.0\.\d+"', next(folder.glob("htmx*.js")).read_text())
