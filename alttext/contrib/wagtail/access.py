"""Who may edit what in Wagtail, as a condition in the database. The rights themselves are Wagtail's.

Scopes: "page:<pk>", "snippet:<app.model>:<pk>" and "image:<pk>". A use whose text belongs to the library needs both
rights; its scope is the key of the image, 36 characters wide, and then that of the page.
"""

from __future__ import annotations

import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Cast, Concat, LPad, Replace, Substr
from django.db.models.lookups import In
from wagtail.images import get_image_model
from wagtail.models import AbstractPage, Page, TaskState
from wagtail.permissions import page_permission_policy, policy_registry

from alttext.contrib.wagtail import keys
from alttext.contrib.wagtail.documents import snippet_models

WIDTH = 36
TEXT = models.TextField()


def scope_of_image(pk: Any) -> str:
    """The scope of an image's description."""
    return f"image:{keys.text_of(pk)}"


def scope_of_use(scope: str, image_pk: Any) -> str:
    """The scope of a use on a page or in a snippet whose text is the image's description."""
    return _padded(image_pk) + scope


def scopes_with_image(image_pk: Any) -> Q:
    """Condition on Placement: uses whose text is the description of this image."""
    return Q(adapter=keys.NAME, scope__startswith=_padded(image_pk))


def editable(user: Any) -> Q:
    """Condition on Placement for what `user` may edit: pages, snippets, images, and what needs two of these rights."""
    if not user.is_active:
        return Q(pk__in=[])
    images = _images(user)
    allowed = Q(scope__in=_texts(images, "image:"))
    shared = Q(In(Substr(F("scope"), 1, WIDTH), _texts(images, "", width=WIDTH)))
    for scopes in _documents(user):
        allowed |= Q(scope__in=scopes)
        allowed |= shared & Q(In(Substr(F("scope"), WIDTH + 1), scopes))
    return Q(adapter=keys.NAME) & allowed


def may_edit(user: Any, row: Any) -> bool:
    """The same question for one page, snippet or image."""
    if not getattr(user, "is_active", False):
        return False
    if isinstance(row, AbstractPage):
        return row.permissions_for_user(user).can_edit()
    return policy_registry.get_by_type(type(row)).user_has_permission_for_instance(user, "change", row)


def _documents(user: Any) -> list[models.QuerySet]:
    """Querysets of scopes."""
    found = [_texts(page_permission_policy.instances_user_has_permission_for(user, "change"), "page:")]
    if getattr(settings, "WAGTAIL_WORKFLOW_ENABLED", True) and not user.is_superuser:
        found.append(_reviewed(user))
    for model in snippet_models():
        rows = policy_registry.get_by_type(model).instances_user_has_permission_for(user, "change")
        found.append(_texts(rows, keys.snippet_head(model._meta.label, "").rstrip(":") + ":"))
    return found


def _reviewed(user: Any) -> models.QuerySet:
    """Scopes of the pages that are with `user` for review: reviewers may edit them."""
    states = TaskState.objects.reviewable_by(user).filter(
        workflow_state__base_content_type__app_label=Page._meta.app_label,
        workflow_state__base_content_type__model=Page._meta.model_name,
    )
    scope = Concat(Value("page:", TEXT), Cast("workflow_state__object_id", TEXT), output_field=TEXT)
    return states.order_by().values_list(scope, flat=True)


def _images(user: Any) -> models.QuerySet:
    return policy_registry.get_by_type(get_image_model()).instances_user_has_permission_for(user, "change")


def _texts(rows: models.QuerySet, prefix: str, *, width: int = 0) -> models.QuerySet:
    """The scopes of `rows`, or their padded keys, as a subquery: what `scope_of_*` makes of a row, in SQL."""
    pk: models.Func = Cast("pk", TEXT)
    if isinstance(rows.model._meta.pk, models.UUIDField):
        pk = Replace(pk, Value("-", TEXT), Value("", TEXT), output_field=TEXT)  # PostgreSQL casts with hyphens
    if width:
        pk = LPad(pk, width, Value("0", TEXT), output_field=TEXT)
    return rows.order_by().values_list(Concat(Value(prefix, TEXT), pk, output_field=TEXT), flat=True)


def _padded(pk: Any) -> str:
    return (pk.hex if isinstance(pk, uuid.UUID) else str(pk)).rjust(WIDTH, "0")
