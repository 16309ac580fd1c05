"""Suggestions, decisions and jobs, over all placements that the user may edit: to look at. Writes nothing."""

from __future__ import annotations

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import mixins
from rest_framework.request import Request
from rest_framework.response import Response

from alttext import permissions
from alttext.api import schema, serializers
from alttext.api.base import OurViews
from alttext.models import Decision, Job, Suggestion


class SuggestionViews(mixins.RetrieveModelMixin, OurViews):
    """What captioners said, over all placements that the user may edit."""

    queryset = Suggestion.objects.none()
    serializer_class = serializers.SuggestionSerializer

    def get_queryset(self) -> QuerySet[Suggestion]:
        own = Suggestion.objects.filter(placement__in=permissions.editable_by(self.request.user))
        return own.select_related("captioner_version")

    @extend_schema(
        operation_id="suggestions_list",
        responses={200: serializers.SuggestionSerializer(many=True), **schema.WITH_QUERY, **schema.EVERYWHERE},
    )
    def list(self, request: Request) -> Response:
        """Suggestions and abstentions, oldest first."""
        return self.answer_page(self.get_queryset(), self.serializer_class)

    @extend_schema(
        operation_id="suggestions_retrieve",
        responses={200: serializers.SuggestionSerializer, **schema.ONE_ROW, **schema.EVERYWHERE},
    )
    def retrieve(self, request: Request, pk: int) -> Response:
        """One suggestion or abstention."""
        return super().retrieve(request, pk=pk)


class DecisionViews(mixins.RetrieveModelMixin, OurViews):
    """What people decided, over all placements that the user may edit. Made through a placement."""

    queryset = Decision.objects.none()
    serializer_class = serializers.DecisionSerializer

    def get_queryset(self) -> QuerySet[Decision]:
        return with_authors(Decision.objects.filter(placement__in=permissions.editable_by(self.request.user)))

    @extend_schema(
        operation_id="decisions_list",
        responses={200: serializers.DecisionSerializer(many=True), **schema.WITH_QUERY, **schema.EVERYWHERE},
    )
    def list(self, request: Request) -> Response:
        """Decisions, oldest first."""
        return self.answer_page(self.get_queryset(), self.serializer_class)

    @extend_schema(
        operation_id="decisions_retrieve",
        responses={200: serializers.DecisionSerializer, **schema.ONE_ROW, **schema.EVERYWHERE},
    )
    def retrieve(self, request: Request, pk: int) -> Response:
        """One decision."""
        return super().retrieve(request, pk=pk)


class JobViews(mixins.RetrieveModelMixin, OurViews):
    """Requests for suggestions: to poll after a 202."""

    queryset = Job.objects.none()
    serializer_class = serializers.JobSerializer

    def get_queryset(self) -> QuerySet[Job]:
        own = Job.objects.filter(placement__in=permissions.editable_by(self.request.user))
        return own.select_related("suggestion")

    @extend_schema(
        operation_id="jobs_retrieve",
        responses={200: serializers.JobSerializer, **schema.ONE_ROW, **schema.EVERYWHERE},
    )
    def retrieve(self, request: Request, pk: int) -> Response:
        """One job."""
        return super().retrieve(request, pk=pk)


def with_authors(rows: QuerySet[Decision]) -> QuerySet[Decision]:
    # prefetched, not joined: a join would drop the decisions of deleted accounts
    return rows.select_related("suggestion__captioner_version").prefetch_related("by")
