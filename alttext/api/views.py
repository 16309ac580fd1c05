"""Placements, suggestions, decisions and jobs over HTTP: one call down, one answer out.

Every list and every row starts from what the CMS lets the user edit, asked anew by each request, reading or writing.
"""

from __future__ import annotations

import uuid
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_cache_control
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.permissions import SAFE_METHODS, IsAuthenticated
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from alttext import permissions, queries, tasks
from alttext.api import errors, etags, requests, schema, serializers
from alttext.models import Decision, Job, Placement, Suggestion
from alttext.operations import decisions, jobs, suggestions


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

    def answer_page(self, rows: QuerySet, kind: type) -> Response:
        """One page of `rows`, each as `kind` writes it."""
        return self.get_paginated_response(kind(self.paginate_queryset(rows), many=True).data)


class PlacementViews(OurViews):
    """Uses of images that the user may edit."""

    queryset = Placement.objects.none()
    serializer_class = serializers.PlacementSerializer

    @extend_schema(
        operation_id="placements_list",
        parameters=[serializers.PlacementQuery],
        responses={200: serializers.PlacementSerializer(many=True), **schema.WITH_QUERY, **schema.EVERYWHERE},
    )
    def list(self, request: Request) -> Response:
        """Placements in id order, each with its newest suggestion."""
        wanted = requests.checked_query(serializers.PlacementQuery, request)
        rows: list[Any] = self.paginate_queryset(queries.queue(user=request.user, **wanted)) or []
        latest = {row.placement_id: row for row in queries.latest_suggestions([row.pk for row in rows])}
        for row in rows:
            row.shown_suggestion = latest.get(row.pk)
        return self.get_paginated_response(serializers.PlacementSerializer(rows, many=True).data)

    @extend_schema(
        operation_id="placements_retrieve",
        parameters=[schema.ETAG],
        responses={200: serializers.PlacementSerializer, **schema.ONE_ROW, **schema.EVERYWHERE},
    )
    def retrieve(self, request: Request, pk: int) -> Response:
        """One placement with its image, the words around it and its newest suggestion; the ETag is for decisions."""
        shown, tag = _shown(self._placement(pk))
        return Response(shown, headers={"ETag": tag})

    @extend_schema(
        operation_id="placements_request",
        parameters=[schema.LOCATION],
        request=serializers.SuggestionRequest,
        responses={
            202: serializers.JobSerializer,
            409: serializers.ProblemSerializer,
            **schema.WITH_BODY,
            **schema.ONE_ROW,
            **schema.EVERYWHERE,
        },
    )
    @action(detail=True, methods=["post"], url_path="request", url_name="request")
    def ask(self, request: Request, pk: int) -> Response:
        """Ask for a suggestion. Published text stays as it is; a second request meets the open one."""
        placement = self._placement(pk)
        wanted = _checked_body(serializers.SuggestionRequest, request)
        job = tasks.enqueue_suggestion(placement=placement, by=request.user, again=wanted["again"])
        headers = {"Location": reverse("alttext:api-job-detail", args=[job.pk])}
        return Response(serializers.JobSerializer(job).data, status=status.HTTP_202_ACCEPTED, headers=headers)

    @extend_schema(
        operation_id="placements_suggestions_list",
        responses={
            200: serializers.SuggestionSerializer(many=True),
            **schema.WITH_QUERY,
            **schema.ONE_ROW,
            **schema.EVERYWHERE,
        },
    )
    @action(detail=True)
    def suggestions(self, request: Request, pk: int) -> Response:
        """What captioners said about this placement, oldest first."""
        rows = self._placement(pk).suggestions.select_related("captioner_version")
        return self.answer_page(rows, serializers.SuggestionSerializer)

    @extend_schema(
        operation_id="placements_decisions_list",
        responses={
            200: serializers.DecisionSerializer(many=True),
            **schema.WITH_QUERY,
            **schema.ONE_ROW,
            **schema.EVERYWHERE,
        },
    )
    @action(detail=True)
    def decisions(self, request: Request, pk: int) -> Response:
        """What people decided on this placement, oldest first."""
        rows = _with_authors(self._placement(pk).decisions.all())
        return self.answer_page(rows, serializers.DecisionSerializer)

    @extend_schema(
        operation_id="placements_decide",
        parameters=[schema.IF_MATCH, schema.ETAG],
        request=serializers.DecisionRequest,
        responses={
            200: serializers.MadeSerializer,
            201: serializers.MadeSerializer,
            **schema.DECIDING,
            **schema.ONE_ROW,
            **schema.EVERYWHERE,
        },
    )
    @decisions.mapping.post
    def decide(self, request: Request, pk: int) -> Response:
        """Record one act of the signed-in person; 200 where nothing was left to record, 201 otherwise."""
        placement = self._placement(pk)
        act = _checked_body(serializers.DecisionRequest, request)
        act.setdefault("idempotency_key", uuid.uuid4())
        _refuse_foreign(placement, act)
        try:
            seen = etags.seen(request.headers.get("If-Match"), placement, suggestion_id=act.get("suggestion"))
            made = _decide(placement, act, seen=seen, by=request.user)
        except decisions.Stale as error:
            _ask_anew(error)
            shown, tag = _shown(error.placement)
            return errors.stale(error, placement=shown, tag=tag, typed=act.get("text"))
        shown, tag = _shown(self._placement(pk))
        body = {"decision": serializers.DecisionSerializer(made).data, "placement": shown}
        fresh = made.idempotency_key == act["idempotency_key"]
        code = status.HTTP_201_CREATED if fresh else status.HTTP_200_OK
        return Response(body, status=code, headers={"ETag": tag})

    def _placement(self, pk: int) -> Placement:
        return permissions.get_placement_or_404(user=self.request.user, placement_id=pk)


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
        return _with_authors(Decision.objects.filter(placement__in=permissions.editable_by(self.request.user)))

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


class NoSuchRoute(OurViews):
    """Any other address below the API: JSON here too."""

    @extend_schema(exclude=True)
    def refuse(self, request: Request, **kwargs: Any) -> Response:
        """:raises Http404: always."""
        raise Http404


def _shown(placement: Placement) -> tuple[dict[str, Any], str]:
    """A placement with all that the editor shows, and its ETag."""
    suggestion = queries.suggestion_of(placement)
    placement.shown_suggestion = suggestion  # type: ignore[attr-defined]
    shown = dict(serializers.PlacementSerializer(placement).data)
    return shown, etags.tag(placement, suggestion, shown)


def _with_authors(rows: QuerySet[Decision]) -> QuerySet[Decision]:
    # prefetched, not joined: a join would drop the decisions of deleted accounts
    return rows.select_related("suggestion__captioner_version").prefetch_related("by")


def _checked_body(kind: type, request: Request) -> dict[str, Any]:
    body = kind(data=request.data)
    if not body.is_valid():
        raise errors.Unprocessable(body.errors)
    return dict(body.validated_data)


def _refuse_foreign(placement: Placement, act: dict[str, Any]) -> None:
    """:raises Unprocessable: the suggestion or the key belongs to another placement."""
    suggestion = act.get("suggestion")
    if suggestion and not placement.suggestions.filter(pk=suggestion).exists():
        raise errors.Unprocessable({"suggestion": ["This placement has no such suggestion."]})
    if Decision.objects.filter(idempotency_key=act["idempotency_key"]).exclude(placement=placement).exists():
        raise errors.Unprocessable({"idempotency_key": ["This key was used for something else."]})


def _decide(placement: Placement, act: dict[str, Any], *, seen: decisions.Seen, by: Any) -> Decision:
    given = {"placement": placement, "seen": seen, "by": by, "at": timezone.now(), "key": act["idempotency_key"]}
    match act["act"]:
        case serializers.DecisionRequest.SAVE:
            more = {"cleared": act["cleared"], "active_seconds": act.get("active_seconds")}
            return decisions.save_text(text=act["text"], **more, **given)
        case serializers.DecisionRequest.DECORATIVE:
            return decisions.mark_decorative(active_seconds=act.get("active_seconds"), **given)
        case serializers.DecisionRequest.REJECT:
            return decisions.reject(reason=act["reason"], **given)
        case _:
            return decisions.undo(**given)


def _ask_anew(error: decisions.Stale) -> None:
    """Another image or other words: what the author saw no longer holds, so a new suggestion is asked for."""
    if isinstance(error, decisions.TextChanged):
        return
    try:
        tasks.enqueue_suggestion(placement=error.placement)
    except (suggestions.NothingToAsk, jobs.TooManyOpenJobs):
        return
