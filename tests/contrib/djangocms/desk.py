"""A page being edited: what the tests of forms, toolbar and journeys start from."""

from __future__ import annotations

import itertools
from urllib.parse import urlencode

from cms.api import add_plugin, create_page
from cms.models import CMSPlugin, PageContent
from django.apps import apps
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.files.base import ContentFile
from django.urls import reverse
from djangocms_versioning.models import Version
from filer.models import Image

from alttext.project.cms_site import content
from tests.conftest import picture

_numbers = itertools.count(1)


def editor(name="editor", *, without=()):
    """A person of staff with the rights of the demonstration's authors, but for those named."""
    user = get_user_model().objects.create_user(name, password=name, is_staff=True)
    rights = content.rights()
    user.user_permissions.set(rights.exclude(codename__in=without))
    assert Permission.objects.filter(user=user).exists()
    return get_user_model().objects.get(pk=user.pk)


def library_image(name=None, *, default=None, owner=None, **fields):
    """An image of the library."""
    name = name or f"IMG_{next(_numbers)}.png"
    file = ContentFile(picture(**fields), name=name)
    return Image.objects.create(original_filename=name, file=file, default_alt_text=default, owner=owner)


def draft(user, *, title="Ferry to the island", language="en", page=None):
    """A page with one draft; its placeholder "content"."""
    from cms.api import create_page_content

    template = "cms_site/page.html"
    if page is None:
        page = create_page(title, template, language, created_by=user, slug=f"page-{next(_numbers)}")
    else:
        create_page_content(language, title, page, created_by=user, template=template, slug=f"page-{next(_numbers)}")
    return newest(page, language).get_placeholders().get(slot="content")


def newest(page, language="en"):
    """The newest content of a page."""
    return PageContent.admin_manager.filter(page=page, language=language).order_by("-pk").first()


def publish(page, user, language="en"):
    """Publish the newest version."""
    Version.objects.get_for_content(newest(page, language)).publish(user)


def words(placeholder, text, language="en"):
    """A rich text at the end."""
    return add_plugin(placeholder, "TextPlugin", language, body=f"<p>{text}</p>")


def add_url(placeholder, plugin_type, *, language="en", position=1, parent=None):
    """Address of the form that adds a plugin."""
    given = {
        "placeholder_id": placeholder.pk,
        "plugin_type": plugin_type,
        "cms_path": "/en/",
        "plugin_language": language,
        "plugin_position": position,
    }
    if parent is not None:
        given["plugin_parent"] = parent.pk
    return f"{reverse('admin:cms_placeholder_add_plugin')}?{urlencode(given)}"


def edit_url(plugin):
    """Address of the form that changes a plugin."""
    return f"{reverse('admin:cms_placeholder_edit_plugin', args=[plugin.pk])}?cms_path=/en/"


def saved(answer, plugin_type="PicturePlugin"):
    """The plugin that the form saved; the form's errors where it did not."""
    errors = answer.context["adminform"].form.errors if "adminform" in (answer.context or {}) else {}
    assert not errors, errors
    assert answer.status_code == 200
    return CMSPlugin.objects.filter(plugin_type=plugin_type).order_by("-pk").first().get_bound_plugin()


def forget_types():
    """A flushed database numbers its content types anew, and versioning remembers the old numbers."""
    for versionable in apps.get_app_config("djangocms_versioning").cms_extension.versionables:
        versionable.__dict__.pop("content_types", None)
