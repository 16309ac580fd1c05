"""Placements over HTTP: look, ask for a suggestion, decide. One call down, one answer out.

Each request, reading or writing, starts from what the CMS lets the user edit.
"""

from __future__ import annotations

import uuid
from typing import Any

from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from alttext import permissions, queries, tasks
from alttext.api import errors, etags, requests, schema, serializers
from alttext.api.base import OurViews
from alttext.api.history import with_authors
from alttext.models import Decision, Placement
from alttext.operations import decisions, jobs, suggestions


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
        wanted = self.checked_body(serializers.SuggestionRequest)
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
        rows = with_authors(self._placement(pk).decisions.all())
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
        act = self.checked_body(serializers.DecisionRequest)
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


def _shown(placement: Placement) -> tuple[dict[str, Any], str]:
    """A placement with all that the editor shows, and its ETag."""
    suggestion = queries.suggestion_of(placement)
    placement.shown_suggestion = suggestion  # type: ignore[attr-defined]
    shown = dict(serializers.PlacementSerializer(placement).data)
    return shown, etags.tag(placement, suggestion, shown)


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
