"""The wheel works alone: in an empty environment, a site of a few lines checks, migrates and serves a page."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from importlib.metadata import Distribution, PathDistribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
SITE = """
SECRET_KEY = "test"
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "site.sqlite3",
                         "OPTIONS": {"transaction_mode": "IMMEDIATE"}}}
INSTALLED_APPS = ["django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes",
                  "django.contrib.sessions", "django.contrib.messages", "django.contrib.staticfiles",
                  "django_htmx", "template_partials", "rest_framework", "alttext"]
MIDDLEWARE = ["django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.csrf.CsrfViewMiddleware",
              "django.contrib.auth.middleware.AuthenticationMiddleware",
              "django.contrib.messages.middleware.MessageMiddleware", "django_htmx.middleware.HtmxMiddleware"]
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True, "OPTIONS": {
    "context_processors": ["django.template.context_processors.request", "django.contrib.auth.context_processors.auth",
                           "django.contrib.messages.context_processors.messages"]}}]
ROOT_URLCONF = "urls"
LOGIN_URL = "admin:login"
ALTTEXT = {"ADAPTERS": []}
STATIC_URL = "/static/"
USE_TZ = True
ALLOWED_HOSTS = ["testserver"]
"""
URLS = """
from django.contrib import admin
from django.urls import include, path
urlpatterns = [path("admin/", admin.site.urls), path("alttext/", include("alttext.urls"))]
"""
VISIT = (
    "import os; os.environ['DJANGO_SETTINGS_MODULE'] = 'site_settings'\n"
    "import django; django.setup()\n"
    "from django.contrib.auth.models import User\n"
    "from django.test import Client\n"
    "from django.contrib.staticfiles import finders\n"
    "client = Client(); client.force_login(User.objects.create_superuser('a'))\n"
    "answer = client.get('/alttext/queue/')\n"
    "assert answer.status_code == 200, answer.status_code\n"
    "assert finders.find('alttext/screen.css'), 'no static files'\n"
    "import alttext, captioner; print(alttext.__file__)\n"
)


def closure(root: Distribution, *, extras: frozenset[str]) -> dict[str, Distribution]:
    """The distributions that `root` declares, and theirs; without an index, as tests reach no network."""
    found: dict[str, Distribution] = {}
    waiting = [(root, extras)]
    while waiting:
        parent, wanted = waiting.pop()
        for line in parent.requires or []:
            need = Requirement(line)
            marked = need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in wanted | {""})
            key = need.name.lower().replace("_", "-")
            if marked and (key not in found or need.extras):
                found[key] = distribution(need.name)
                waiting.append((found[key], frozenset(need.extras)))
    return found


def link(needed: Distribution, packages: Path) -> None:
    """Put a distribution of this environment into another one."""
    for top in {file.parts[0] for file in needed.files or [] if file.parts[0] not in ("..", "__pycache__")}:
        target = packages / top
        if not target.exists():
            target.symlink_to(Path(str(needed.locate_file(top))))


@pytest.mark.slow
def test_the_wheel_installs_alone_and_a_small_site_runs_with_it(tmp_path):
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path / "dist"), str(ROOT)]
    built = subprocess.run(build, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout[-2000:] + built.stderr[-2000:]
    [wheel] = (tmp_path / "dist").glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "alttext/templates/alttext/base.html" in names
    assert "alttext/static/alttext/screen.css" in names
    assert not [name for name in names if name.startswith(("alttext/project/", "tests/", "templates/"))]
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True)
    python = tmp_path / "env/bin/python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", str(wheel)], check=True)
    [packages] = (tmp_path / "env").glob("lib/python*/site-packages")
    [installed] = packages.glob("django_alttext_workbench-*.dist-info")
    for needed in closure(PathDistribution(installed), extras=frozenset()).values():
        link(needed, packages)
    (tmp_path / "site_settings.py").write_text(SITE)
    (tmp_path / "urls.py").write_text(URLS)
    for arguments in (["-m", "django", "check", "--fail-level", "WARNING"], ["-m", "django", "migrate"], ["-c", VISIT]):
        run = subprocess.run(
            [python, *arguments],
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "DJANGO_SETTINGS_MODULE": "site_settings", "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
        )
        assert run.returncode == 0, (arguments, run.stdout[-1500:], run.stderr[-1500:])
    assert str(tmp_path / "env") in run.stdout
