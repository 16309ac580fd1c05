"""The admin shows history and changes none; its one action asks again for what failed."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.urls import reverse

from alttext.models import Asset, CaptionerVersion, Decision, Job, Placement, Suggestion
from alttext.operations import decisions, suggestions
from alttext.project.demo.models import Illustration

pytestmark = pytest.mark.django_db
MODELS = [Asset, Placement, CaptionerVersion, Suggestion, Decision, Job]


def page(model, name, *args):
    return reverse(f"admin:alttext_{model._meta.model_name}_{name}", args=args)


@pytest.fixture
def history(make_placement, suggest, author, at):
    """One row of each kind; returns the placement."""
    placement = make_placement()
    suggestion = suggest(placement, "A red boat")
    decisions.save_text(
        placement=placement, text="A boat", seen=decisions.seen(placement, suggestion), by=author, at=at
    )
    return placement


@pytest.fixture
def failed_job(make_placement, at):
    """Makes a job that ended without an answer, and its placement."""

    def make(state="DEAD"):
        placement = make_placement()
        job, _ = suggestions.request(placement=placement, captioner="canned", prio=1, at=at)
        Job.objects.filter(pk=job.pk).update(state=state, code="killed", finished_at=at)
        Placement.objects.filter(pk=placement.pk).update(state="FAILED", problem="It stopped.")
        return job

    return make


@pytest.fixture
def staff(client, make_user):
    """A client of a staff member with the given permissions."""

    def sign_in(*codenames):
        user = make_user("outsider", is_staff=True)
        user.user_permissions.set(Permission.objects.filter(content_type__app_label="alttext", codename__in=codenames))
        client.force_login(user)
        return client

    return sign_in


@pytest.mark.parametrize("model", MODELS)
def test_a_superuser_can_look_and_not_change(model, history, admin_client):
    row = model.objects.get()
    assert admin_client.get(page(model, "changelist"), {"q": "a"}).status_code == 200
    shown = admin_client.get(page(model, "change", row.pk))
    assert shown.status_code == 200
    assert b'name="_save"' not in shown.content
    assert admin_client.get(page(model, "add")).status_code == 403
    assert admin_client.post(page(model, "add"), {}).status_code == 403
    assert admin_client.post(page(model, "change", row.pk), {"text": "x", "final_text": "x"}).status_code == 403
    assert admin_client.post(page(model, "delete", row.pk), {"post": "yes"}).status_code == 403
    delete_all = {"action": "delete_selected", "_selected_action": [row.pk], "post": "yes"}
    admin_client.post(page(model, "changelist"), delete_all)
    assert list(model.objects.values()) == list(model.objects.filter(pk=row.pk).values())
    assert model.objects.count() == 1


@pytest.mark.parametrize("model", MODELS)
def test_staff_without_the_view_permission_sees_nothing(model, history, staff):
    client = staff()
    assert client.get(page(model, "changelist")).status_code == 403
    assert client.get(page(model, "change", model.objects.get().pk)).status_code in (302, 403)


@pytest.mark.parametrize("model", MODELS)
def test_a_list_costs_the_same_queries_for_one_row_and_for_four(
    model, make_placement, suggest, author, at, admin_client, django_assert_num_queries, django_assert_max_num_queries
):
    def add():
        placement = make_placement()
        suggestion = suggest(placement, version=f"canned-{placement.pk}")
        decisions.reject(placement=placement, seen=decisions.seen(placement, suggestion), by=author, at=at)

    add()
    with django_assert_max_num_queries(10) as one:
        admin_client.get(page(model, "changelist"))
    for _ in range(3):
        add()
    with django_assert_num_queries(len(one)):
        admin_client.get(page(model, "changelist"))


def test_decisions_of_a_deleted_account_are_still_listed(history, author, admin_client):
    pk = author.pk
    author.delete()
    assert f"deleted account {pk}" in admin_client.get(page(Decision, "changelist")).content.decode()
    assert (
        f"deleted account {pk}"
        in admin_client.get(page(Decision, "change", Decision.objects.get().pk)).content.decode()
    )


def test_the_lease_token_of_a_job_is_not_shown(failed_job, admin_client):
    job = failed_job()
    Job.objects.update(token="0123456789abcdef")
    assert "0123456789abcdef" not in admin_client.get(page(Job, "change", job.pk)).content.decode()


@pytest.mark.parametrize("state", ["FAILED", "DEAD"])
def test_asking_again_makes_a_new_job_and_keeps_the_old_row(state, failed_job, admin_client):
    job = failed_job(state)
    answer = admin_client.post(
        page(Job, "changelist"), {"action": "ask_again", "_selected_action": [job.pk]}, follow=True
    )
    assert "Asked again: 1. Left as they are: 0." in answer.content.decode()
    job.refresh_from_db()
    new = Job.objects.exclude(pk=job.pk).get()
    assert (job.state, new.state, new.placement_id) == (state, "QUEUED", job.placement_id)
    assert new.placement.state == "WAITING"
    assert LogEntry.objects.get().change_message == f"Asked again as job {new.pk}."
    assert set(Illustration.objects.values_list("alt_text", flat=True)) == {""}


def test_asking_again_leaves_what_is_open_answered_or_decided(
    failed_job, history, make_placement, author, at, admin_client
):
    open_job, _ = suggestions.request(placement=make_placement(), captioner="canned", prio=1, at=at)
    decided = failed_job()
    placement = Placement.objects.get(pk=decided.placement_id)
    decisions.save_text(placement=placement, text="Mine", seen=decisions.seen(placement), by=author, at=at)
    answered = history.jobs.get()
    chosen = [open_job.pk, decided.pk, answered.pk]
    answer = admin_client.post(
        page(Job, "changelist"), {"action": "ask_again", "_selected_action": chosen}, follow=True
    )
    assert "Asked again: 0. Left as they are: 3." in answer.content.decode()
    assert set(Job.objects.values_list("pk", flat=True)) == set(chosen)


def test_asking_again_needs_its_own_permission(failed_job, staff):
    job = failed_job()
    order = {"action": "ask_again", "_selected_action": [job.pk]}
    staff("view_job").post(page(Job, "changelist"), order)
    assert Job.objects.count() == 1
    staff("view_job", "change_job").post(page(Job, "changelist"), order)
    assert Job.objects.count() == 2
