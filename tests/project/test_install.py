"""The install pages, followed to the letter: a fresh django CMS project, a fresh Wagtail project, and back again.

The code and the commands are read out of docs/*.md, so a page that is wrong fails here. The package is the built wheel;
the CMSs come from this environment, and each project from the CMS's own command for a new one.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import skip_unless

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
HEAD = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "mysite.settings{dev}"
import warnings; warnings.simplefilter("ignore")
import django; django.setup()
from django.core.management import call_command
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel, unpacked: first on the path, so that nothing of the working tree is seen."""
    folder = tmp_path_factory.mktemp("wheel")
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert built.returncode == 0, built.stdout[-2000:] + built.stderr[-2000:]
    [file] = folder.glob("*.whl")
    zipfile.ZipFile(file).extractall(folder / "packages")
    return folder / "packages"


class Project:
    """A site in a folder of its own."""

    def __init__(self, folder: Path, packages: Path, *, settings: str, dev: str = "") -> None:
        self.folder, self.dev = folder, dev
        self.files = {"settings.py": folder / settings, "urls.py": folder / "mysite/urls.py"}
        self.environment = {
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "PYTHONPATH": f"{packages}:{folder}",
            "DJANGO_SETTINGS_MODULE": f"mysite.settings{dev}",
            "PYTHONWARNINGS": "ignore",
        }

    def run(self, *arguments: str, stdin: str = "") -> str:
        done = subprocess.run(
            arguments, cwd=self.folder, env=self.environment, input=stdin, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, (arguments[:3], done.stdout[-2500:], done.stderr[-2500:])
        return done.stdout + done.stderr

    def python(self, *code: str) -> str:
        """What the code says, run in one process of the project."""
        return self.run(sys.executable, "-c", HEAD.format(dev=self.dev) + "".join(code))

    def follow(self, page: str) -> str:
        """Append the code of an install page to the files it names, and run its commands; what they said."""
        text = (ROOT / "docs" / page).read_text()
        code, commands = code_of(text), commands_of(text)
        assert set(code) == {"settings.py", "urls.py"}
        assert sum(len(lines.splitlines()) for lines in code.values()) <= 5
        for name, lines in code.items():
            with self.files[name].open("a") as file:
                file.write(f"\n# the workbench\n{lines}")
        return "".join(self.run(sys.executable, *command.split()[1:]) for command in commands)

    def take_back(self) -> None:
        """Remove what `follow` appended."""
        for file in self.files.values():
            file.write_text(file.read_text().partition("\n# the workbench\n")[0] + "\n")


def stands(said: str) -> list[str]:
    """The lines about texts and pages."""
    return [line for line in said.splitlines() if line.startswith(("TEXTS", "PAGE"))]


def code_of(text: str) -> dict[str, str]:
    """File name -> lines, of the first Python block."""
    match = re.search(r"^```python\n(.*?)^```$", text, re.M | re.S)
    assert match
    parts = re.split(r"^# (\S+\.py)\n", match[1], flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def commands_of(text: str) -> list[str]:
    """The lines of the first shell block."""
    match = re.search(r"^```shell\n(.*?)^```$", text, re.M | re.S)
    assert match
    return match[1].splitlines()


VISIT = """
from django.contrib.auth import get_user_model
from django.test import Client
import alttext
assert "wheel" in alttext.__file__, alttext.__file__
from django.core.checks import run_checks
print("CHECKS", sorted(message.id for message in run_checks() if str(message.id).startswith("alttext.")))
stranger = Client(SERVER_NAME="localhost")
asked = stranger.get("/alttext/", follow=True)
assert asked.status_code == 200 and b"password" in asked.content, (asked.status_code, asked.redirect_chain)
client = Client(SERVER_NAME="localhost")
client.force_login(get_user_model().objects.create_superuser("boss", "b@example.org", "x"))
answer = client.get("/alttext/queue/?state=all")
assert answer.status_code == 200, answer.status_code
assert "Spring tulips" in answer.content.decode()
from alttext.models import Job, Placement
print("PLACES", sorted((p.state, p.current_alt) for p in Placement.objects.all()), "JOBS", Job.objects.count())
"""
PICTURE = """
import io
from PIL import Image as Pixels
from django.core.files.base import ContentFile
def picture(name):
    buffer = io.BytesIO()
    Pixels.effect_noise((64, 48), 90).convert("RGB").save(buffer, "PNG")
    return ContentFile(buffer.getvalue(), name=name)
"""

# ---- django CMS ----

CMS_PAGE = (
    PICTURE
    + """
call_command("migrate", verbosity=0)
from django.contrib.auth import get_user_model
from cms.api import add_plugin, create_page
from filer.models import Image
user = get_user_model().objects.create_superuser("editor", "e@example.org", "x")
page = create_page("Spring tulips", "cms-base.html", "en-us", created_by=user)
content = page.pagecontent_set(manager="admin_manager").get()
slot, _ = content.placeholders.get_or_create(slot="content")
for name, alt in (("a.png", "A person's words"), ("b.png", None)):
    image = Image.objects.create(original_filename=name, file=picture(name), owner=user)
    plugin = add_plugin(slot, "ImagePlugin", "en-us")
    plugin.initialize_from_form()
    plugin.config["picture"] = {"model": "filer.image", "pk": image.pk}
    if alt is not None:
        plugin.config["attributes"] = {"alt": alt}
    plugin.save()
content.versions.get().publish(user)
"""
)
CMS_TEXTS = """
from djangocms_frontend.models import FrontendUIItem
print("TEXTS", [plugin.config for plugin in FrontendUIItem.objects.order_by("pk")])
from django.test import Client
print("PAGE", Client(SERVER_NAME="localhost").get("/spring-tulips/").status_code)
"""


@pytest.fixture
def cms_project(tmp_path, wheel) -> Project:
    """What `djangocms .` makes of a new project with the rules that the CMS ships; packages not here are left out."""
    skip_unless(find_spec("cms") and find_spec("djangocms_versioning"), "the packages of demo-djangocms")
    project = Project(tmp_path, wheel, settings="mysite/settings.py")
    project.run(str(BIN / "django-admin"), "startproject", "mysite", ".")
    command = [str(BIN / "djangocms"), ".", "--use-bundled-install-rules", "--no-alias"]
    project.run(*command, stdin="yes\nno\n")
    settings = project.files["settings.py"]
    settings.write_text(re.sub(r"^.*djangocms_simple_admin_style.*\n", "", settings.read_text(), flags=re.M))
    (tmp_path / "templates/cms-base.html").write_text(
        "{% load cms_tags sekizai_tags %}<!DOCTYPE html><html><head>{% render_block 'css' %}</head>"
        "<body>{% cms_toolbar %}{% placeholder 'content' %}{% render_block 'js' %}</body></html>"
    )
    with settings.open("a") as file:
        file.write('\nMEDIA_ROOT, MEDIA_URL = BASE_DIR / "media", "/media/"\n')
    return project


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_page_on_django_cms_can_be_followed_and_taken_back(cms_project):
    before = stands(cms_project.python(CMS_PAGE, CMS_TEXTS))
    assert "A person's words" in before[0]
    assert before[-1] == "PAGE 200"
    said = cms_project.follow("djangocms.md")
    assert "djangocms: 4 found, 4 new" in said  # two on the page, and their files in the library
    seen = cms_project.python(VISIT, CMS_TEXTS)
    assert "CHECKS ['alttext.W001']" in seen  # SQLite as the template has it
    assert "('HUMAN', \"A person's words\")" in seen
    assert "JOBS 3" in seen
    assert stands(seen) == before
    cms_project.run(sys.executable, "manage.py", "migrate", "alttext", "zero")
    cms_project.take_back()
    assert stands(cms_project.python("call_command('check')", CMS_TEXTS)) == before


# ---- Wagtail ----

WAGTAIL_MODELS = """
from django.db import models
from wagtail.admin.panels import FieldPanel
from wagtail.blocks import RichTextBlock
from wagtail.fields import StreamField
from wagtail.images.blocks import ImageBlock
from wagtail.models import Page


class HomePage(Page):
    body = StreamField([("words", RichTextBlock()), ("picture", ImageBlock())], blank=True)
    content_panels = [*Page.content_panels, FieldPanel("body")]
"""
WAGTAIL_PAGE = (
    PICTURE
    + """
call_command("makemigrations", "home", verbosity=0)
call_command("migrate", verbosity=0)
from home.models import HomePage
from wagtail.images import get_image_model
home = HomePage.objects.get()
home.title = "Spring tulips"
blocks = [{"type": "words", "value": "<p>Before</p>"}]
for name, alt in (("a.png", "A person's words"), ("b.png", "")):
    image = get_image_model().objects.create(title=name, file=picture(name))
    blocks.append({"type": "picture", "value": {"image": image.pk, "alt_text": alt, "decorative": False}})
home.body = blocks
home.save_revision().publish()
"""
)
WAGTAIL_TEXTS = """
from home.models import HomePage
from wagtail.images import get_image_model
home = HomePage.objects.get()
print("TEXTS", home.body.get_prep_value(), home.latest_revision_id)
print("TEXTS", list(get_image_model().objects.order_by("pk").values("pk", "description")))
from django.test import Client
print("PAGE", Client(SERVER_NAME="localhost").get("/").status_code)
"""


@pytest.fixture
def wagtail_project(tmp_path, wheel) -> Project:
    """What `wagtail start` makes, with a page that holds images."""
    skip_unless(find_spec("wagtail"), "the packages of demo-wagtail")
    project = Project(tmp_path, wheel, settings="mysite/settings/base.py", dev=".dev")
    project.run(str(BIN / "wagtail"), "start", "mysite", ".")
    (tmp_path / "home/models.py").write_text(WAGTAIL_MODELS)
    return project


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_page_on_wagtail_can_be_followed_and_taken_back(wagtail_project):
    before = stands(wagtail_project.python(WAGTAIL_PAGE, WAGTAIL_TEXTS))
    assert "A person's words" in before[0]
    assert before[-1] == "PAGE 200"
    said = wagtail_project.follow("wagtail.md")
    assert "wagtail: 4 found, 4 new" in said  # two on the page, and their files in the library
    seen = wagtail_project.python(VISIT, WAGTAIL_TEXTS)
    assert "CHECKS ['alttext.W001']" in seen  # SQLite as the template has it
    assert "('HUMAN', \"A person's words\")" in seen
    assert "JOBS 3" in seen
    assert stands(seen) == before
    wagtail_project.run(sys.executable, "manage.py", "migrate", "alttext", "zero")
    wagtail_project.take_back()
    assert stands(wagtail_project.python("call_command('check')", WAGTAIL_TEXTS)) == before
