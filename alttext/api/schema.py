"""The OpenAPI description of these routes alone, whatever other APIs the site has. Needs no setting."""

from __future__ import annotations

from typing import Any

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from drf_spectacular.views import SpectacularJSONAPIView
from rest_framework.permissions import IsAuthenticated

from alttext.api import errors
from alttext.api.requests import Reads
from alttext.api.serializers import ConflictSerializer, InvalidSerializer, ProblemSerializer


class OursOnly(SchemaGenerator):
    """Leaves out the views of other packages."""

    def _get_paths_and_endpoints(self) -> list:
        found = super()._get_paths_and_endpoints()
        # this view itself is left out, too: a site's default schema class may not be drf-spectacular's
        ours = [item for item in found if type(item[-1]).__module__.startswith("alttext.api")]
        return [item for item in ours if not isinstance(item[-1], SchemaView)]

    def get_schema(self, *args: Any, **kwargs: Any) -> dict:
        described = super().get_schema(*args, **kwargs)
        described["info"]["title"] = "Alt-text workbench"
        return described


class SchemaView(SpectacularJSONAPIView):
    """OpenAPI 3, for whoever has signed in."""

    generator_class = OursOnly
    permission_classes = [IsAuthenticated]
    throttle_classes = [Reads]

    def get_exception_handler(self) -> Any:
        return errors.respond


def _problem(words: str, kind: Any = ProblemSerializer) -> OpenApiResponse:
    return OpenApiResponse(kind, description=words)


EVERYWHERE = {
    401: _problem("Not signed in, where the site asks for credentials"),
    403: _problem("Not signed in, or the CSRF token is missing"),
    429: _problem("Too many requests"),
    503: _problem("The database is busy; Retry-After says when to come back"),
}
WITH_QUERY = {400: _problem("A query parameter cannot be used", InvalidSerializer)}
ONE_ROW = {404: _problem("No such row, or not yours to see")}
WITH_BODY = {
    400: _problem("The body is no JSON"),
    413: _problem("The body is too big"),
    415: _problem("The body is not declared as JSON"),
    422: _problem("A value cannot be used", InvalidSerializer),
}
DECIDING = {
    **WITH_BODY,
    400: _problem("The body is no JSON, or If-Match holds no ETag of this placement"),
    409: _problem(
        "The words around the image changed: send again with the new ETag if the text still fits. "
        "Or there is nothing to reject or to undo",
        ConflictSerializer,
    ),
    412: _problem("Somebody saved another text, or the image was replaced; nothing was written", ConflictSerializer),
    428: _problem("If-Match is missing"),
}
ETAG = OpenApiParameter(
    "ETag", OpenApiTypes.STR, OpenApiParameter.HEADER, response=[200, 201, 409, 412], description="for If-Match"
)
IF_MATCH = OpenApiParameter(
    "If-Match",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    required=True,
    description="ETag of what the author had on screen",
)
LOCATION = OpenApiParameter(
    "Location", OpenApiTypes.URI_REF, OpenApiParameter.HEADER, response=[202], description="where the job can be polled"
)
