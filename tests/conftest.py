"""What every test may use: users by role, pictures made in memory, placements in the demonstration CMS, the canned
captioner in place of a model, and no network beyond this machine.
"""

from __future__ import annotations

import io
import itertools
import os
import random
from datetime import UTC, datetime

import pytest
from PIL import Image

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CI = os.environ.get("CI", "").lower() in ("1", "true")
_numbers = itertools.count(1)


def skip_unless(condition: object, reason: str) -> None:
    """Skip with a reason where a piece of the machine is absent; in CI all pieces are required."""
    if not condition:
        if CI:
            pytest.fail(f"required in CI: {reason}")
        pytest.skip(reason)


@pytest.fixture(autouse=True)
def _only_this_machine(socket_enabled):
    import pytest_socket

    pytest_socket.socket_allow_hosts(["127.0.0.1", "::1", "localhost"], allow_unix_socket=True)
    yield
    pytest_socket.enable_socket()


@pytest.fixture(autouse=True)
def _files_of_the_test(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.ALTTEXT = {**settings.ALTTEXT, "CAPTIONER": "canned", "WAKE": "", "POLL_SECONDS": 0.05, "AUTOMATIC": False}
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def canned():
    """The canned captioner, in this process: a fake at the captioner's seam."""
    from alttext import captioning
    from captioner.architectures.canned import Canned

    captioner = Canned()
    captioning.use(captioner)
    yield captioner
    captioning.use(None)


@pytest.fixture
def at() -> datetime:
    """The clock of a test."""
    return AT


def picture(*, colour=(200, 40, 40), size=(320, 200), kind="PNG", seed=None) -> bytes:
    """Bytes of a picture that is not flat; every call gives other bytes unless `seed` is given."""
    number = next(_numbers) if seed is None else seed
    image = Image.new("RGB", size, colour)
    marks = random.Random(number)
    image.paste((marks.randrange(256), 250, 250), (0, 0, size[0] // 4, size[1] // 4))
    image.putpixel((size[0] - 1, size[1] - 1), (marks.randrange(256), marks.randrange(256), number % 256))
    buffer = io.BytesIO()
    image.save(buffer, kind)
    return buffer.getvalue()


@pytest.fixture
def make_image():
    return picture


@pytest.fixture
def make_user(db):
    """A user of the demonstration site: author, lead, admin, or somebody without any rights."""
    from django.contrib.auth import get_user_model
    from django.contrib.auth.models import Permission

    rights = {"author": ["change_illustration"], "lead": ["change_illustration", "view_dashboards"], "outsider": []}

    def make(role="author", name=None, **fields):
        model = get_user_model()
        name = name or f"{role}{next(_numbers)}"
        if role == "admin":
            return model.objects.create_superuser(name, password=name, **fields)
        user = model.objects.create_user(name, password=name, **fields)
        user.user_permissions.set(Permission.objects.filter(codename__in=rights[role]))
        return model.objects.get(pk=user.pk)  # without the permission cache

    return make


@pytest.fixture
def author(make_user):
    return make_user("author")


@pytest.fixture
def other_author(make_user):
    return make_user("author")


@pytest.fixture
def lead(make_user):
    return make_user("lead")


@pytest.fixture
def admin(make_user):
    return make_user("admin")


@pytest.fixture
def outsider(make_user):
    return make_user("outsider")


@pytest.fixture
def make_illustration(db):
    """One use of an image in the demonstration CMS."""
    from django.core.files.base import ContentFile

    from alttext.project.demo.models import Article, Illustration

    def make(*, article=None, title="Harbour Days", language="en", data=None, name=None, **fields):
        number = next(_numbers)
        article = article or Article.objects.create(
            slug=f"page-{number}", title=title, language=language, summary="A page", published_at=AT
        )
        illustration = Illustration(article=article, **{"position": number, **fields})
        content = ContentFile(picture() if data is None else data)
        illustration.image.save(name or f"IMG_{number}.png", content, save=False)
        illustration.save()
        return illustration

    return make


@pytest.fixture
def adapter():
    from alttext import adapters

    return adapters.get("imagefields")


def key_of(illustration) -> str:
    """The key of a demonstration image within its adapter."""
    return f"demo.illustration:{illustration.pk}:image"


@pytest.fixture
def make_placement(make_illustration, adapter, at):
    """A placement with its snapshot, as a scan leaves it."""
    from alttext.operations import placements

    def make(**fields):
        illustration = make_illustration(**fields)
        placement, _ = placements.refresh(adapter, adapter.place(key_of(illustration)), at=at)
        return placement

    return make


@pytest.fixture
def illustration_of(db):
    """The CMS row behind a placement."""
    from alttext.project.demo.models import Illustration

    def find(placement):
        return Illustration.objects.get(pk=placement.key.split(":")[1])

    return find


@pytest.fixture
def suggest(at):
    """Ask for a suggestion and record `text`, or the reasons of an abstention, as a worker does."""
    from alttext.operations import jobs, suggestions

    def record(
        placement, text="A red picture", *, reasons=(), when=None, flags=(), evidence=None, version="canned-1", by=None
    ):
        when = when or at
        job, _ = suggestions.request(placement=placement, captioner="canned", prio=1, at=when, by=by)
        type(job).objects.filter(pk=job.pk).update(prio=0)
        claim = jobs.claim(at=when)
        assert claim is not None
        assert claim.id == job.pk
        answer = suggestions.Answer(
            captioner="canned",
            versions_key=version,
            text=None if reasons else text,
            reasons=tuple(reasons),
            flags=tuple(flags),
            evidence=evidence or {},
            language=placement.language,
        )
        stored = suggestions.record(job_id=claim.id, token=claim.token, answer=answer, at=when)
        placement.refresh_from_db()
        return stored

    return record
