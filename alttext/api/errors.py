"""Named errors of the operations as HTTP answers, all with one body: `code` for programs, `detail` in words.

Conditional requests: RFC 9110 (412) and RFC 6585 (428, 429). Knows no view.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import OperationalError
from django.http import Http404
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.views import set_rollback

from alttext import adapters
from alttext.operations import decisions, jobs, suggestions

log = logging.getLogger("alttext.api")
BUSY_SECONDS = 1


class Unprocessable(exceptions.APIException):
    """The body is JSON, but a value in it cannot be used; `errors` holds sentences by field."""

    status_code = status.HTTP_422_UNPROCESSABLE_ENTITY
    default_code = "invalid"
    default_detail = "Some values cannot be used."

    def __init__(self, errors: Mapping[str, Any]) -> None:
        super().__init__()
        self.errors = errors


class WrongQuery(exceptions.APIException):
    """A query parameter cannot be used; `errors` holds sentences by parameter."""

    status_code = status.HTTP_400_BAD_REQUEST
    default_code = "invalid"
    default_detail = "Some query parameters cannot be used."

    def __init__(self, errors: Mapping[str, Any]) -> None:
        super().__init__()
        self.errors = errors


class PreconditionRequired(exceptions.APIException):
    """A decision without If-Match: nobody could tell what the author had seen."""

    status_code = status.HTTP_428_PRECONDITION_REQUIRED
    default_code = "precondition_required"
    default_detail = "Send If-Match with the ETag of the placement that the author had on screen."


class WrongTag(exceptions.APIException):
    """If-Match holds something that is no ETag of a placement."""

    status_code = status.HTTP_400_BAD_REQUEST
    default_code = "wrong_tag"
    default_detail = "If-Match has to hold exactly one ETag, as GET gave it for this placement."


class TooBig(exceptions.APIException):
    """The body is larger than any decision can be."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_big"
    default_detail = "The body is too big."


# what an operation raises -> status and code; its message goes to the client as it is
NAMED: dict[type[Exception], tuple[int, str]] = {
    adapters.NotThere: (status.HTTP_404_NOT_FOUND, "not_there"),
    adapters.Refused: (status.HTTP_422_UNPROCESSABLE_ENTITY, "refused"),
    decisions.KeyReused: (status.HTTP_422_UNPROCESSABLE_ENTITY, "key_reused"),
    adapters.TextDoesNotFit: (status.HTTP_422_UNPROCESSABLE_ENTITY, "text_does_not_fit"),
    decisions.TextChanged: (status.HTTP_412_PRECONDITION_FAILED, "text_changed"),
    decisions.ImageChanged: (status.HTTP_412_PRECONDITION_FAILED, "image_changed"),
    decisions.ContextChanged: (status.HTTP_409_CONFLICT, "context_changed"),
    decisions.NothingToUndo: (status.HTTP_409_CONFLICT, "nothing_to_undo"),
    decisions.NothingToReject: (status.HTTP_409_CONFLICT, "nothing_to_reject"),
    suggestions.NothingToAsk: (status.HTTP_409_CONFLICT, "nothing_to_ask"),
    suggestions.AlreadyAnswered: (status.HTTP_409_CONFLICT, "already_answered"),
    jobs.TooManyOpenJobs: (status.HTTP_429_TOO_MANY_REQUESTS, "too_many_open_jobs"),
}


def respond(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """The answer for `error`, or None for what only a bug can cause. A DRF exception handler."""
    if isinstance(error, Http404):
        error = exceptions.NotFound()
    elif isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied()
    if type(error) in NAMED:
        code, name = NAMED[type(error)]
        return _answer(code, name, str(error), **({"limit": error.limit} if hasattr(error, "limit") else {}))
    if isinstance(error, OperationalError):
        log.warning("database: %s", error)
        words = "The database is busy; send the same request again."
        busy = _answer(status.HTTP_503_SERVICE_UNAVAILABLE, "database_busy", words)
        busy["Retry-After"] = str(BUSY_SECONDS)
        return busy
    if isinstance(error, exceptions.APIException):
        return _of_framework(error)
    return None


def stale(error: decisions.Stale, *, placement: Mapping[str, Any], tag: str, typed: str | None) -> Response:
    """The answer to an outdated If-Match: what stands there now, and the text that was sent, so that none is lost."""
    code, name = NAMED[type(error)]
    answer = _answer(code, name, str(error), placement=placement, typed=typed)
    answer["ETag"] = tag
    return answer


def _of_framework(error: exceptions.APIException) -> Response:
    detail = error.detail
    if isinstance(detail, exceptions.ErrorDetail):
        answer = _answer(error.status_code, str(detail.code), str(detail))
    else:  # a ValidationError; ours carry `errors` instead
        answer = _answer(error.status_code, "invalid", "Some values cannot be used.", errors=detail)
    if errors := getattr(error, "errors", None):
        answer.data["errors"] = errors
    if header := getattr(error, "auth_header", None):
        answer["WWW-Authenticate"] = header
    if wait := getattr(error, "wait", None):
        answer["Retry-After"] = str(int(wait) + 1)
    return answer


def _answer(code: int, name: str, words: str, **more: Any) -> Response:
    set_rollback()
    return Response({"code": name, "detail": words, **more}, status=code)
