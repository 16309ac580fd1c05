"""What a client may send: size and shape of a body, speed, and the window on a list. Knows no model."""

from __future__ import annotations

import io
from typing import Any

from rest_framework import exceptions, pagination, parsers, serializers, throttling
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.utils.urls import replace_query_param

from alttext import conf
from alttext.api.errors import TooBig, WrongQuery

MAX_BODY_BYTES = 1_000_000  # a decision is a few kB; DATA_UPLOAD_MAX_MEMORY_SIZE does not bound what a parser reads
MAX_ROWS = 100  # of one page of a list
MAX_ID = 2**63 - 1


class BoundedJSON(parsers.JSONParser):
    """JSON up to a size; one nested too deeply for the reader is malformed, not our fault."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        """:raises TooBig: above `MAX_BODY_BYTES`.  :raises ParseError: not JSON."""
        body = stream.read(MAX_BODY_BYTES + 1)
        if len(body) > MAX_BODY_BYTES:
            raise TooBig(f"The body is above {MAX_BODY_BYTES} bytes.")
        try:
            return super().parse(io.BytesIO(body), media_type, parser_context)
        except RecursionError as error:
            raise exceptions.ParseError("The JSON is nested too deeply.") from error


class Reads(throttling.UserRateThrottle):
    """Requests of one user; REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"]["alttext"] overrides the rate. For fairness:
    hard limits are rows in the database.
    """

    scope = "alttext"
    default = "600/min"  # a page that polls every two seconds makes 30

    def get_rate(self) -> str | None:
        given: Any = api_settings.DEFAULT_THROTTLE_RATES or {}
        return given.get(self.scope, self.default)


class Writes(Reads):
    """Decisions and requests for suggestions, counted apart: "alttext-writes"."""

    scope = "alttext-writes"
    default = "120/min"


class Window(serializers.Serializer):
    """Where a page of a list starts, and how long it is."""

    after = serializers.IntegerField(default=0, min_value=0, max_value=MAX_ID, help_text="id of the last row you have")
    limit = serializers.IntegerField(
        required=False, min_value=1, max_value=MAX_ROWS, help_text="rows on a page; default: ALTTEXT['PAGE_SIZE']"
    )


def checked_query(kind: type[serializers.Serializer], request: Request) -> dict[str, Any]:
    """Query parameters as `kind` reads them.  :raises WrongQuery: one cannot be used."""
    query = kind(data=request.query_params)
    if not query.is_valid():
        raise WrongQuery(query.errors)
    return query.validated_data


class ById(pagination.BasePagination):
    """Rows in id order after an id: nothing is skipped or shown twice when rows leave the list in between."""

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list:
        """:raises WrongQuery: `after` or `limit` cannot be used."""
        window = checked_query(Window, request)
        size = min(window.get("limit") or conf.get("PAGE_SIZE"), MAX_ROWS)
        rows = list(queryset.filter(pk__gt=window["after"]).order_by("pk")[: size + 1])
        self.next_url = None
        if len(rows) > size:
            rows = rows[:size]
            self.next_url = replace_query_param(request.build_absolute_uri(), "after", rows[-1].pk)
        return rows

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"next": self.next_url, "results": data})

    def get_paginated_response_schema(self, schema: dict) -> dict:
        """Read by drf-spectacular."""
        address = {"type": "string", "format": "uri", "nullable": True, "description": "null on the last page"}
        return {
            "type": "object",
            "required": ["next", "results"],
            "properties": {"next": address, "results": schema},
        }

    def get_schema_operation_parameters(self, view: Any) -> list[dict]:
        """Read by drf-spectacular."""
        whole = {"type": "integer", "minimum": 0, "maximum": MAX_ID}
        rows = {"type": "integer", "minimum": 1, "maximum": MAX_ROWS}
        return [
            {
                "name": "after",
                "in": "query",
                "required": False,
                "schema": whole,
                "description": "id of the last row",
            },
            {"name": "limit", "in": "query", "required": False, "schema": rows, "description": "rows on a page"},
        ]
