"""Runs where Wagtail is installed and its profile chosen: pytest --ds=alttext.project.profiles.both."""

import itertools

import pytest
from django.apps import apps

collect_ignore_glob = [] if apps.is_installed("wagtail") else ["test_*.py", "stage.py"]
_numbers = itertools.count(1)


@pytest.fixture(autouse=True)
def _no_remembered_addresses():
    """Wagtail keeps the addresses of sites in the cache, which outlives a test's database."""
    from django.core.cache import cache

    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def adapter():
    from alttext import adapters

    return adapters.get("wagtail")


@pytest.fixture
def home(db):
    """The page below which a test puts its articles; a site shows it."""
    from wagtail.models import Locale, Page, Site

    from alttext.project.wagtail_site.models import HomePage

    locale, _ = Locale.objects.get_or_create(language_code="en")
    root = Page.objects.filter(depth=1).first() or Page.add_root(title="Root", slug="root", locale=locale)
    found = root.add_child(instance=HomePage(title="Home", slug=f"home-{next(_numbers)}", locale=locale))
    Site.objects.all().delete()
    Site.objects.create(hostname="testserver", port=80, root_page=found, is_default_site=True)
    return found


@pytest.fixture
def make_library_image(make_image, collection):
    """An image in Wagtail's library."""
    from django.core.files.base import ContentFile
    from wagtail.images import get_image_model

    def make(*, data=None, title="", name=None, **fields):
        number = next(_numbers)
        image = get_image_model()(title=title or f"IMG_{number}", **fields)
        content = ContentFile(make_image() if data is None else data, name=name or f"IMG_{number}.png")
        image.file = content
        image.save()
        return image

    return make


@pytest.fixture
def make_page(home):
    """An article: live as it stands, or, with `draft`, never published."""
    from alttext.project.wagtail_site.models import ArticlePage

    def make(*, parent=None, draft=False, title="Harbour Days", **fields):
        article = ArticlePage(title=title, slug=f"article-{next(_numbers)}", live=not draft, **fields)
        (parent or home).add_child(instance=article)
        if draft:
            article.save_revision()
        return ArticlePage.objects.get(pk=article.pk)

    return make


@pytest.fixture
def make_editor(db):
    """A user with Wagtail's rights: `pages` and `images` are {permission codename: page or collection}."""
    from django.contrib.auth import get_user_model
    from django.contrib.auth.models import Group, Permission
    from wagtail.models import GroupCollectionPermission, GroupPagePermission

    def make(*, pages=None, images=None, admin=True, **fields):
        number = next(_numbers)
        user = get_user_model().objects.create_user(f"editor{number}", password="x", **fields)
        group = Group.objects.create(name=f"group{number}")
        user.groups.add(group)
        if admin:
            group.permissions.add(Permission.objects.get(codename="access_admin"))
        for kind, page in (pages or {}).items():
            permission = Permission.objects.get(content_type__app_label="wagtailcore", codename=f"{kind}_page")
            GroupPagePermission.objects.create(group=group, page=page, permission=permission)
        for kind, collection in (images or {}).items():
            permission = Permission.objects.get(content_type__app_label="wagtailimages", codename=f"{kind}_image")
            GroupCollectionPermission.objects.create(group=group, collection=collection, permission=permission)
        return get_user_model().objects.get(pk=user.pk)  # without the permission cache

    return make


@pytest.fixture
def collection(db):
    """The root of all collections."""
    from wagtail.models import Collection

    return Collection.objects.filter(depth=1).first() or Collection.add_root(name="Root")


@pytest.fixture
def place_of(adapter):
    """The only place of a page whose path ends with `ending`."""

    def find(page, ending=""):
        from alttext.contrib.wagtail import keys

        head = keys.page_head(page.pk)
        (found,) = [place for place in adapter.places() if place.key.startswith(head) and place.key.endswith(ending)]
        return found

    return find
