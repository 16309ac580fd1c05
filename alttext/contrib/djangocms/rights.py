"""Who may edit which images, as the CMS and the library say. Knows the scopes of places, no plugin object."""

from __future__ import annotations

from typing import Any

from cms.models import Page, PermissionTuple
from cms.plugin_pool import plugin_pool
from cms.utils.conf import get_cms_setting
from cms.utils.permissions import (
    get_model_permission_codename,
    get_page_actions_for_user,
    has_global_permission,
    has_plugin_permission,
)
from django.contrib.sites.models import Site
from django.db.models import Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Concat

from alttext.contrib.djangocms import holdings, library
from alttext.contrib.djangocms.keys import NAME
from alttext.contrib.djangocms.places import FILES

NOTHING = Q(pk__in=[])


def editable(user: Any) -> Q:
    """Condition on Placement for what `user` may edit: active staff, page by page and plugin by plugin."""
    if not _is_let_in(user):
        return NOTHING
    if user.is_superuser:
        return Q(adapter=NAME)
    return Q(adapter=NAME) & (_pages(user) | _files(user))


def may_change_plugins(user: Any, plugin_type: str) -> bool:
    """Whether `user` may change plugins of this kind at all."""
    return bool(_is_let_in(user) and has_plugin_permission(user, plugin_type, "change"))


def may_change_file(user: Any, file: int) -> bool:
    """Whether `user` may change this image of the library."""
    if not _is_let_in(user) or not user.has_perm(get_model_permission_codename(library.image_model(), "change")):
        return False
    allowed = _allowed_files(user)
    return allowed is None or allowed.filter(pk=file).exists()


def _is_let_in(user: Any) -> bool:
    """Neither the editor nor the library lets anybody in but active staff."""
    return bool(user.is_authenticated and user.is_active and (user.is_staff or user.is_superuser))


def _pages(user: Any) -> Q:
    if not user.has_perm(get_model_permission_codename(Page, "change")):
        return NOTHING
    allowed = _allowed_pages(user)
    found = NOTHING
    for plugin_type, plugin in plugin_pool.plugins.items():
        if holdings.may_hold(plugin.model) and has_plugin_permission(user, plugin_type, "change"):
            found |= _of_type(plugin_type, allowed)
    return found


def _of_type(plugin_type: str, allowed: QuerySet | None) -> Q:
    if allowed is None:
        return Q(scope__startswith="page:", scope__endswith=f":{plugin_type}")
    text = TextField()
    made = Concat(Value("page:", text), Cast("pk", text), Value(f":{plugin_type}", text), output_field=text)
    return Q(scope__in=allowed.order_by().values_list(made, flat=True))


def _allowed_pages(user: Any) -> QuerySet | None:
    """The pages that `user` may change; None: all of them."""
    if not get_cms_setting("PERMISSION"):
        return None
    found, everywhere = NOTHING, True
    for site in Site.objects.all():
        # not by get_change_perm_tuples: its cache knows no site, and would hand the pages of one to all others
        if user.is_superuser or has_global_permission(user, site, action="change_page"):
            found |= Q(site=site)
            continue
        everywhere = False
        for permission in get_page_actions_for_user(user, site).get("change_page", ()):
            found |= Q(site=site) & PermissionTuple(permission).allow_list()
    return None if everywhere else Page.objects.filter(found)


def _files(user: Any) -> Q:
    if not user.has_perm(get_model_permission_codename(library.image_model(), "change")):
        return NOTHING
    allowed = _allowed_files(user)
    if allowed is None:
        return Q(scope=FILES)
    text = TextField()
    made = Concat(Value("file:", text), Cast("pk", text), output_field=text)
    return Q(scope=FILES) & Q(key__in=allowed.order_by().values_list(made, flat=True))


def _allowed_files(user: Any) -> QuerySet | None:
    """The images that `user` may change by the permissions of folders; None: all of them."""
    from filer import settings
    from filer.models import FolderPermission

    if user.is_superuser or not settings.FILER_ENABLE_PERMISSIONS:
        return None
    rows = library.image_model()._base_manager
    if not user.has_perm("filer.change_file"):
        return rows.none()
    folders = FolderPermission.objects.get_edit_id_list(user)
    if folders == "All":
        return None
    return rows.filter(Q(owner=user) | Q(folder__owner=user) | Q(folder__in=folders))
