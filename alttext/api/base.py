"""What all routes of the API share, and the answer to addresses that are none. Knows no model."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.utils.cache import patch_cache_control
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import extend_schema
from rest_framework import viewsets
from rest_framework.permissions import SAFE_METHODS, IsAuthenticated
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from alttext.api import errors, requests


class OurViews(viewsets.GenericViewSet):
    """What all routes share, stated here so that a site needs no REST_FRAMEWORK setting."""

    permission_classes = [IsAuthenticated]
    parser_classes = [requests.BoundedJSON]
    renderer_classes = [JSONRenderer]
    pagination_class = requests.ById
    filter_backends: list = []
    metadata_class = None
    schema = AutoSchema()
    lookup_value_converter = "int"

    def get_throttles(self) -> list:
        return [requests.Reads() if self.request.method in SAFE_METHODS else requests.Writes()]

    def get_exception_handler(self) -> Any:
        return errors.respond

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)
        patch_cache_control(response, private=True, no_cache=True)  # other people's drafts
        return response

    def checked_body(self, kind: type) -> dict[str, Any]:
        """The body as `kind` reads it.  :raises Unprocessable: a value cannot be used."""
        body = kind(data=self.request.data)
        if not body.is_valid():
            raise errors.Unprocessable(body.errors)
        return dict(body.validated_data)

    def answer_page(self, rows: QuerySet, kind: type) -> Response:
        """One page of `rows`, each as `kind` writes it."""
        return self.get_paginated_response(kind(self.paginate_queryset(rows), many=True).data)


class NoSuchRoute(OurViews):
    """Any other address below the API: JSON here too."""

    @extend_schema(exclude=True)
    def refuse(self, request: Request, **kwargs: Any) -> Response:
        """:raises Http404: always."""
        raise Http404
