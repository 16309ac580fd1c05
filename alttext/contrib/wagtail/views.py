"""What the editor's script asks: which images the form it is in holds, and where the panel of each is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest, JsonResponse
from django.urls import Resolver404, resolve, reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from wagtail.images import get_image_model

from alttext.contrib.wagtail import access, documents, keys, walk
from alttext.contrib.wagtail.documents import Document
from alttext.contrib.wagtail.places import Sight


@require_safe
@never_cache
def uses(request: HttpRequest) -> JsonResponse:
    """The images that the page or snippet edited at `?at=` holds as it was last saved; empty to who may not edit it.

    Each has its content path, the image's key, and the address of its panel; an image of the library has the id of
    its input instead. `closed`: there will be none here. `library` is the address of the panel of any image of the
    library, with {} for the image's key.
    """
    try:
        match = resolve(request.GET.get("at", ""))
    except Resolver404:
        return _answer()
    if match.view_name == "wagtailimages:edit":
        return _library(request.user, next(iter([*match.args, *match.kwargs.values()]), ""))
    if match.url_name == "add":
        return _answer()
    document = _document(match.view_name, next(iter([*match.args, *match.kwargs.values()]), ""))
    if document is None or not access.may_edit(request.user, document.row):
        return _answer(closed=True)
    return _answer(uses=list(_uses(document)))


def _uses(document: Document) -> Iterator[dict[str, str]]:
    """Those with a text of their own: one that shares the library's has no input here."""
    for found in Sight([document]).found():
        if found.picture.kept != walk.DESCRIPTION:
            yield {"path": found.picture.path, "image": keys.text_of(found.image.pk), "url": _panel(found.key)}


def _library(user: Any, pk: Any) -> JsonResponse:
    model = get_image_model()
    image = model._default_manager.filter(pk=documents.clean_pk(model, pk)).first()
    if image is None or not access.may_edit(user, image):
        return _answer(closed=True)
    return _answer(fields={"id_description": _panel(keys.image_key(image.pk))})


def _document(view_name: str, pk: Any) -> Document | None:
    """The page or snippet that a view edits; None for all other views."""
    if view_name == "wagtailadmin_pages:edit":
        return documents.page(str(pk))
    for model in documents.snippet_models():
        viewset = getattr(model, "snippet_viewset", None)
        if viewset is not None and view_name == viewset.get_url_name("edit"):
            return documents.snippet(model._meta.label_lower, keys.text_of(documents.clean_pk(model, pk)))
    return None


def _panel(key: str) -> str:
    return reverse("alttext:field", args=[keys.NAME, key])


def _answer(**found: Any) -> JsonResponse:
    library = _panel(keys.image_key("{}")).replace("%7B%7D", "{}")
    return JsonResponse({"uses": [], "fields": {}, "library": library} | found)
