"""The API keeps to its own OpenAPI description, whatever is sent: generated requests, in-process, as two people."""

from __future__ import annotations

import json

import pytest
import schemathesis
from django.core.cache import cache
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.test import Client
from django.urls import reverse
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from werkzeug.test import Client as WerkzeugClient

from alttext.api.schema import OursOnly
from alttext.models import Decision, Placement
from alttext.operations import decisions
from alttext.project.demo.models import Illustration

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
]
CSRF = "a" * 32
# function-scoped fixtures: the examples of one operation share a database on purpose, as requests to a site do
bounded = settings(
    max_examples=15,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much],
)


class Browser:
    """The site as a WSGI application, in a browser that somebody signed in with: the generator drops Cookie headers."""

    def __init__(self):
        self.cookies = ""

    def sign_in(self, user):
        client = Client()
        client.force_login(user)
        self.cookies = f"csrftoken={CSRF}; sessionid={client.cookies['sessionid'].value}"

    def __call__(self, environ, start_response):
        environ = {**environ, "HTTP_COOKIE": self.cookies, "HTTP_X_CSRFTOKEN": CSRF}
        return get_wsgi_application()(environ, start_response)


browser = Browser()
# the route gives the same document to signed-in users only (tested below), and nobody has signed in at import
DOCUMENT = OursOnly().get_schema(request=None, public=True)


def described(*, corner_cases):
    """The routes, with generated requests alone or also one request for each edge of each parameter."""
    config = schemathesis.Config.from_dict({"phases": {"coverage": {"enabled": corner_cases}}})
    found = schemathesis.openapi.from_dict(DOCUMENT, config=config)
    found.app = browser
    return found


all_edges, drawn = described(corner_cases=True), described(corner_cases=False)


@pytest.fixture(autouse=True)
def _no_rate_is_reached(settings):
    cache.clear()
    rates = {"alttext": None, "alttext-writes": None}
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "DEFAULT_THROTTLE_RATES": rates}


@pytest.fixture(autouse=True)
def _the_connection_of_the_test_stays_open():
    """Django's test client does the same: outside tests each request closes what is left from the one before."""
    signals = [request_started, request_finished]
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture
def placement(make_placement, suggest, author, at):
    """A placement with history, and one that has a text on offer."""
    placement = make_placement()
    suggestion = suggest(placement, "A red boat", evidence={"support": [{"phrase": "boat", "score": 0.9}]})
    decisions.save_text(
        placement=placement, text="A boat", seen=decisions.seen(placement, suggestion), by=author, at=at
    )
    offered = make_placement()
    suggest(offered, "A blue boat", flags=["markup"])
    suggest(make_placement(), reasons=("object_unsupported",))
    return offered


@pytest.fixture
def signed_in_author(author):
    browser.sign_in(author)


@pytest.fixture
def signed_in_outsider(outsider):
    browser.sign_in(outsider)


@pytest.mark.slow
@drawn.parametrize()
@bounded
def test_generated_requests_of_an_author_get_described_answers(case, placement, signed_in_author):
    case.call_and_validate(checks=CHECKS)


@pytest.mark.slow
@all_edges.parametrize()
@bounded
def test_generated_requests_for_real_rows_get_described_answers(case, placement, signed_in_author):
    headers = {}
    if "id" in (case.path_parameters or {}):
        rows = {"jobs": placement.jobs, "suggestions": placement.suggestions, "decisions": Decision.objects}
        kind = case.path.split("/")[3]
        case.path_parameters["id"] = rows.get(kind, Placement.objects).order_by("pk").last().pk
    if case.operation.definition.raw.get("operationId") == "placements_decide":
        address = reverse("alttext:api-placement-detail", args=[case.path_parameters["id"]])
        headers["If-Match"] = WerkzeugClient(browser).get(address).headers["ETag"]
    case.call_and_validate(checks=CHECKS, headers=headers)


@pytest.mark.slow
@drawn.parametrize()
@bounded
def test_generated_requests_of_an_outsider_change_and_show_nothing(case, placement, signed_in_outsider):
    before = (list(Placement.objects.values()), list(Decision.objects.values()), list(Illustration.objects.values()))
    answer = case.call_and_validate(checks=CHECKS)
    assert b"boat" not in answer.content
    assert before == (
        list(Placement.objects.values()), list(Decision.objects.values()), list(Illustration.objects.values())
    )  # fmt: skip


def test_the_description_is_valid_and_complete(tmp_path):
    target = tmp_path / "openapi.yaml"
    call_command("spectacular", validate=True, fail_on_warn=True, file=str(target))
    assert "/alttext/api/placements/{id}/decisions/" in target.read_text()


def test_the_served_description_holds_these_routes_and_names_each(db, author, client):
    client.force_login(author)
    served = json.loads(client.get(reverse("alttext:api-schema")).content)
    assert served == DOCUMENT
    names = [verb["operationId"] for path in served["paths"].values() for verb in path.values()]
    assert sorted(names) == [
        "decisions_list",
        "decisions_retrieve",
        "jobs_retrieve",
        "placements_decide",
        "placements_decisions_list",
        "placements_list",
        "placements_request",
        "placements_retrieve",
        "placements_suggestions_list",
        "suggestions_list",
        "suggestions_retrieve",
    ]
    decide = served["paths"]["/alttext/api/placements/{id}/decisions/"]["post"]
    codes = {"200", "201", "400", "401", "403", "404", "409", "412", "413", "415", "422", "428", "429", "503"}
    assert set(decide["responses"]) == codes
    assert "ETag" in decide["responses"]["412"]["headers"]
