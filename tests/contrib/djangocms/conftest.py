"""Runs where django CMS is installed and its profile chosen: pytest --ds=alttext.project.profiles.both."""

from __future__ import annotations

import pytest
from django.apps import apps

collect_ignore_glob = [] if apps.is_installed("cms") else ["test_*.py"]


@pytest.fixture(autouse=True)
def _nothing_of_another_test():
    from django.core.cache import cache

    cache.clear()
    if apps.is_installed("cms"):
        from alttext.contrib.djangocms import signals

        signals._thread.note = signals.Note()  # a test's transaction ends without a commit
    if apps.is_installed("djangocms_versioning"):
        from tests.contrib.djangocms.desk import forget_types

        forget_types()


@pytest.fixture(autouse=True)
def _library_files(_files_of_the_test, settings, tmp_path):
    """The library made its storages when it was loaded; the files of a test belong to the test."""
    if not apps.is_installed("filer"):
        return
    from filer import settings as filer_settings

    for name in ("FILER_PUBLICMEDIA_STORAGE", "FILER_PRIVATEMEDIA_STORAGE"):
        _move(getattr(filer_settings, name), tmp_path / name.lower())
    for name in ("FILER_PUBLICMEDIA_THUMBNAIL_STORAGE", "FILER_PRIVATEMEDIA_THUMBNAIL_STORAGE"):
        _move(getattr(filer_settings, name), tmp_path / name.lower())


def _move(storage, folder):
    storage._location = str(folder)
    for name in ("base_location", "location"):
        storage.__dict__.pop(name, None)


@pytest.fixture
def stage(db):
    from tests.contrib.djangocms.stage import CmsStage

    return CmsStage()


@pytest.fixture
def root(db):
    from tests.contrib.djangocms import stage

    return stage.user("root", superuser=True)


@pytest.fixture
def page(root):
    from tests.contrib.djangocms import stage

    return stage.page(root)


@pytest.fixture
def into(page):
    from tests.contrib.djangocms import stage

    return stage.slot(page)
