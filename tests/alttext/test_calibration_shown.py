"""What a captioner says of its own risk: from the child process to the row of its version to the dashboard."""

from __future__ import annotations

import json

import html5lib
import pytest
from django.urls import reverse
from django.utils import timezone

import captioner as door
from alttext import captioning, workers
from alttext.models import CaptionerVersion
from alttext.operations import suggestions
from captioner.architectures.canned import Canned
from captioner.isolation import IsolatedCaptioner
from tests.alttext.calibrated import CALIBRATION, KEY, Calibrated
from tests.alttext.made_up import Site
from tests.conftest import picture

XHTML = "{http://www.w3.org/1999/xhtml}"


def in_a_child(name):
    with IsolatedCaptioner(f"tests.alttext.calibrated:{name}") as captioner:
        return dict(captioner.versions), captioner.calibration


@pytest.mark.slow
@pytest.mark.parametrize(("name", "expected"), [("Calibrated", CALIBRATION), ("Unspeakable", None)])
def test_the_child_sends_its_calibration_with_its_versions(name, expected):
    assert in_a_child(name) == (dict(Canned.versions), expected)


@pytest.mark.slow
def test_a_captioner_without_a_calibration_has_none_in_the_child_too():
    with IsolatedCaptioner("canned") as captioner:
        assert captioner.calibration is None


def describe(captioner_now, placement):
    captioning.use(captioner_now)
    prepared = captioning.prepare(picture(seed=1))
    return captioning.describe(prepared, asset=placement.asset, snapshot=placement.snapshot, request_id="1")


def version(key=KEY, **fields):
    now = timezone.now()
    return CaptionerVersion.objects.create(name="canned", key=key, first_seen_at=now, last_seen_at=now, **fields)


@pytest.mark.django_db
def test_the_first_answer_of_a_registered_version_stores_its_calibration(make_placement):
    placement = make_placement()
    captioning.use(Calibrated())
    workers.register()
    describe(Calibrated(), placement)
    assert CaptionerVersion.objects.get(key=KEY).calibration == CALIBRATION


@pytest.mark.django_db
def test_a_version_nobody_has_registered_is_calibrated_with_the_next_answer(make_placement, at):
    placement = make_placement()
    describe(Calibrated(), placement)
    assert not CaptionerVersion.objects.exists()
    suggestions.register_version(name="canned", key=KEY, versions=Canned.versions, at=at)
    captioning.keep_calibration(Canned.versions)
    assert CaptionerVersion.objects.get(key=KEY).calibration == CALIBRATION


@pytest.mark.django_db
def test_a_calibration_is_stored_once_and_never_overwritten(make_placement):
    row = version(calibration={"n": 1})
    describe(Calibrated(), make_placement())
    row.refresh_from_db()
    assert row.calibration == {"n": 1}


@pytest.mark.django_db
def test_a_captioner_without_a_calibration_leaves_null_and_asks_no_query(make_placement, django_assert_num_queries):
    placement = make_placement()
    row = version()
    with django_assert_num_queries(0):
        describe(Canned(), placement)
    row.refresh_from_db()
    assert row.calibration is None


@pytest.mark.django_db
def test_answers_after_the_first_ask_no_query_for_it(make_placement, django_assert_num_queries):
    placement = make_placement()
    version()
    describe(Calibrated(), placement)
    with django_assert_num_queries(0):
        captioning.keep_calibration(Canned.versions)


@pytest.mark.django_db
@pytest.mark.parametrize("given", [{"alpha": float("nan")}, {"alpha": object()}, {"name": "a\x00b"}, 7])
def test_a_calibration_that_cannot_be_stored_is_none_and_stops_no_answer(make_placement, given):
    class Odd(Canned):
        calibration = given

    row = version()
    assert describe(Odd(), make_placement()).text
    row.refresh_from_db()
    assert row.calibration is None


@pytest.mark.django_db
def test_a_calibration_named_in_the_versions_keeps_its_warrant(make_placement, at):
    """It is no part of its own key: without the entry "calibration" the versions are those it was made for."""
    own = {**Canned.versions, "calibration": "sha256 of its file"}

    class Named(Canned):
        versions = own
        calibration = {**CALIBRATION, "versions_key": KEY}

    row = version(key=door.versions_key(own))
    describe(Named(), make_placement())
    row.refresh_from_db()
    assert row.calibration["versions_key"] == row.key != KEY
    assert [risk.n for risk in row.stated_risks] == [400]


def test_another_versions_key_voids_the_calibration():
    row = CaptionerVersion(key=KEY, calibration=CALIBRATION)
    assert [(risk.alpha, risk.confidence, risk.n) for risk in row.stated_risks] == [(0.1, 0.9, 400)]
    row.key = "another"
    assert row.stated_risks == []


@pytest.mark.parametrize(
    "change",
    [{"alpha": None}, {"alpha": "0.1"}, {"alpha": 7}, {"delta": None}, {"n": 0}, {"n": True}, {"threshold": None},
     {"accepted": 0}],
)  # fmt: skip
def test_a_calibration_that_warrants_nothing_states_no_risk(change):
    assert CaptionerVersion(key=KEY, calibration={**CALIBRATION, **change}).stated_risks == []


@pytest.mark.parametrize("calibration", [None, [], "ltt", {}, {"calibrations": ["x", None]}])
def test_what_is_no_calibration_states_no_risk(calibration):
    assert CaptionerVersion(key=KEY, calibration=calibration).stated_risks == []


@pytest.fixture
def table(client, lead):
    """Cells of the dashboard's table of captioners, a row a version."""

    def get(**query):
        client.force_login(lead)
        response = client.get(reverse("alttext:dashboards"), query)
        assert response.status_code == 200
        tree = html5lib.HTMLParser(strict=True).parse(response.content.decode())
        section = next(item for item in tree.iter(f"{XHTML}section") if item.get("aria-labelledby") == "versions")
        assert section.find(f".//{XHTML}caption") is not None
        assert {item.get("scope") for item in section.iter(f"{XHTML}th")} == {"row", "col"}
        rows = section.find(f".//{XHTML}tbody")
        return [[" ".join("".join(cell.itertext()).split()) for cell in row] for row in rows]

    return get


@pytest.mark.django_db
def test_the_dashboard_states_the_risk_in_words(table):
    version(calibration=CALIBRATION)
    [row] = table()
    assert row[:3] == [
        f"canned {KEY}",
        "At most 10 % wrong among those offered, with 90 % confidence, n = 400",
        "120 of 400 (30 %), 4 of them wrong",
    ]


@pytest.mark.django_db
@pytest.mark.parametrize("calibration", [None, {**CALIBRATION, "versions_key": "another"}])
def test_a_version_without_a_valid_calibration_is_shown_as_not_calibrated(table, calibration):
    version(calibration=calibration)
    [row] = table()
    assert row[1:3] == ["Not calibrated", "Not known"]


@pytest.mark.django_db
def test_a_promise_on_average_is_not_dressed_as_one_with_confidence(table):
    version(calibration={**CALIBRATION, "method": "crc", "delta": None})
    [row] = table()
    assert row[1] == "At most 10 % of all images with a wrong text, on average, n = 400"


@pytest.mark.django_db
def test_each_stratum_states_its_own_risk(table):
    strata = [{**CALIBRATION, "stratum": "photo"}, {**CALIBRATION, "stratum": "chart", "threshold": None}]
    version(calibration={"calibrations": strata})
    [row] = table()
    assert row[1] == "Photo: at most 10 % wrong among those offered, with 90 % confidence, n = 400"


@pytest.mark.django_db
def test_the_choice_of_a_captioner_narrows_the_table(table):
    site = Site(timezone.now(), key="v1")
    version(calibration=CALIBRATION)
    assert {row[0] for row in table()} == {"starter v1", f"canned {KEY}"}
    assert [row[0] for row in table(version=site.version.pk)] == ["starter v1"]


@pytest.mark.django_db
def test_what_a_captioner_sends_is_shown_as_text(table, client, lead):
    version(calibration={**CALIBRATION, "stratum": "<script>alert(1)</script>"})
    client.force_login(lead)
    assert "<script>alert" not in client.get(reverse("alttext:dashboards")).content.decode()
    assert "&lt;script&gt;" in client.get(reverse("alttext:dashboards")).content.decode().lower()


def test_the_row_can_hold_what_the_gate_writes():
    """The fields that the gate's calibration writes are those that are read here."""
    from captioner.rooms.gate.calibration import Calibration

    made = Calibration(
        method="ltt", alpha=0.1, delta=0.05, n=500, grid=(0.5, 1.0), threshold=0.6, accepted=250, errors=9.0,
        base_risk=0.3, needed=29, stratum="photo", versions_key=KEY, date="2026-03-01",
    )  # fmt: skip
    row = CaptionerVersion(key=KEY, calibration=json.loads(json.dumps(made.as_json())))
    [risk] = row.stated_risks
    assert (risk.alpha, risk.confidence, risk.n, risk.accepted, risk.errors) == (0.1, 0.95, 500, 250, 9)
    assert (risk.coverage, risk.stratum) == (0.5, "photo")
