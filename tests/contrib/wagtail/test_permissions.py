"""Who may do what with images in Wagtail: one table of roles and acts, run against the workbench's own pages."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser, Group
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from wagtail.models import Collection, GroupApprovalTask, Workflow, WorkflowPage, WorkflowTask

from alttext import permissions, queries
from alttext.adapters import Alt, Refused
from alttext.contrib.wagtail import keys
from alttext.contrib.wagtail.adapter import WagtailAdapter
from alttext.models import Decision, Placement
from alttext.operations import decisions, placements
from alttext.project.wagtail_site.models import ArticlePage
from tests.contrib.wagtail.stage import IMAGE, block

pytestmark = pytest.mark.django_db
ROLES = (
    *("visitor", "no_rights", "other_section", "page_editor", "publisher", "collection_only", "page_and_collection"),
    *("owner", "superuser", "inactive"),
)
PAGE = {"page_editor", "publisher", "page_and_collection", "owner", "superuser"}
LIBRARY = {"collection_only", "page_and_collection", "superuser"}
BOTH = PAGE & LIBRARY
ALLOWED = {
    "see": PAGE,
    "open": PAGE,
    "save": PAGE,
    "save where the page is locked": set(),
    "see a shared text": BOTH,
    "save a shared text": BOTH,
    "see a description": LIBRARY,
    "save a description": LIBRARY,
}


@pytest.fixture
def world(home, make_page, make_library_image, make_user, make_editor, collection, at):
    """A page with an image of its own text and one that shares the library's, and a user for each role."""
    image = make_library_image()
    page = make_page(body=[{"type": "image", "id": IMAGE, "value": block(image)}], teaser=image)
    section = home.get_parent().add_child(instance=type(home)(title="Elsewhere", slug="elsewhere"))
    users = {
        "visitor": AnonymousUser(),
        "no_rights": make_editor(),
        "other_section": make_editor(pages={"change": section, "publish": section}),
        "page_editor": make_editor(pages={"change": home}),
        "publisher": make_editor(pages={"change": home, "publish": home}),
        "collection_only": make_editor(images={"change": collection}),
        "page_and_collection": make_editor(pages={"change": home}, images={"change": collection}),
        "owner": make_editor(pages={"add": home}),
        "superuser": make_user("admin"),
        "inactive": make_editor(pages={"change": home}, images={"change": collection}, is_active=False),
    }
    ArticlePage.objects.filter(pk=page.pk).update(owner=users["owner"])
    found = {
        "own": keys.page_key(page.pk, f"body.{IMAGE}"),
        "shared": keys.page_key(page.pk, "teaser"),
        "library": keys.image_key(image.pk),
    }
    adapter = WagtailAdapter()
    rows = {name: placements.refresh(adapter, adapter.place(key), at=at)[0] for name, key in found.items()}
    return page, users, rows


def lock(page, by):
    ArticlePage.objects.filter(pk=page.pk).update(locked=True, locked_by=by, locked_at=timezone.now())


def save(user, row, at) -> bool:
    """Through the operation behind every button: permission, then write."""
    if not permissions.editable_by(user).filter(pk=row.pk).exists():
        with pytest.raises(Refused):  # and were it not asked, the adapter itself would refuse
            WagtailAdapter().apply(row.key, alt=Alt("Mine"), expected=Alt(), by=user)
        return False
    row = Placement.objects.select_related("asset", "snapshot").get(pk=row.pk)
    try:
        decisions.save_text(placement=row, text="Mine", seen=decisions.seen(row), by=user, at=at)
    except Refused:
        return False
    return True


def may(act, role, world, client, at, locker) -> bool:
    page, users, rows = world
    user = users[role]
    if act in ("see", "see a shared text", "see a description"):
        row = rows[{"see": "own", "see a shared text": "shared", "see a description": "library"}[act]]
        return queries.queue(user=user, state="all").filter(pk=row.pk).exists()
    if act == "open":
        if user.is_authenticated:
            client.force_login(user)
        return client.get(reverse("alttext:placement", args=[rows["own"].pk])).status_code == 200
    if act == "save where the page is locked":
        lock(page, locker)
    row = rows[{"save a shared text": "shared", "save a description": "library"}.get(act, "own")]
    return save(user, row, at)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("act", ALLOWED)
def test_the_table_of_roles_and_acts(act, role, world, client, at, make_user):
    if act == "save where the page is locked":
        locker = make_user("admin")
        assert may(act, role, world, client, at, locker) is False
        assert not Decision.objects.exists()
        return
    allowed = may(act, role, world, client, at, None)
    assert allowed is (role in ALLOWED[act])
    assert Decision.objects.exists() is (allowed and act.startswith("save"))


def test_whoever_locked_the_page_may_save(world, at):
    page, users, rows = world
    lock(page, users["page_editor"])
    assert save(users["page_editor"], rows["own"], at)


def test_a_locked_page_does_not_keep_the_description_from_being_saved(world, at):
    page, users, rows = world
    lock(page, users["superuser"])
    assert save(users["collection_only"], rows["library"], at)


def test_the_author_is_told_whom_to_ask_to_unlock_the_page(world):
    page, users, rows = world
    lock(page, users["superuser"])
    with pytest.raises(Refused, match=rf"locked by {users['superuser'].get_username()}\. Ask them to unlock it"):
        WagtailAdapter().apply(rows["own"].key, alt=Alt("x"), expected=Alt(), by=users["page_editor"])


def test_a_page_that_is_scheduled_is_not_written(world):
    page, users, rows = world
    article = ArticlePage.objects.get(pk=page.pk)
    article.go_live_at = timezone.now() + timedelta(days=1)
    article.save_revision().publish()
    with pytest.raises(Refused, match=r"scheduled for publishing\. Cancel the schedule"):
        WagtailAdapter().apply(rows["own"].key, alt=Alt("x"), expected=Alt(), by=users["publisher"])


def test_rights_follow_the_page_when_it_is_moved(world):
    page, users, rows = world
    elsewhere = page.get_parent().get_siblings().get(slug="elsewhere")
    page.move(elsewhere, pos="last-child")
    allowed = {role for role in ROLES if permissions.editable_by(fresh(users[role])).filter(pk=rows["own"].pk).exists()}
    assert allowed == {"other_section", "superuser"}


def test_rights_follow_the_image_into_another_collection(world, collection, make_editor):
    page, _, rows = world
    private = collection.add_child(instance=Collection(name="Private"))
    only_private = make_editor(images={"change": private})
    assert not permissions.editable_by(only_private).filter(pk=rows["library"].pk).exists()
    image = page.teaser
    image.collection = private
    image.save()
    assert permissions.editable_by(fresh(only_private)).filter(pk=rows["library"].pk).exists()


def fresh(user):
    """Without remembered permissions."""
    return type(user).objects.get(pk=user.pk) if user.pk else user


class TestReviews:
    @pytest.fixture
    def in_review(self, world, make_editor, home):
        page, users, rows = world
        reviewer = make_editor()
        workflow = Workflow.objects.create(name="Review", active=True)
        task = GroupApprovalTask.objects.create(name="Look", active=True)
        task.groups.add(Group.objects.get(user=reviewer))
        WorkflowTask.objects.create(workflow=workflow, task=task, sort_order=1)
        WorkflowPage.objects.create(workflow=workflow, page=home)
        article = ArticlePage.objects.get(pk=page.pk)
        article.save_revision()
        workflow.start(ArticlePage.objects.get(pk=page.pk), users["page_editor"])
        return reviewer, users, rows

    def test_a_reviewer_may_see_and_save_what_is_in_review(self, in_review, at):
        reviewer, _, rows = in_review
        seen = set(permissions.editable_by(reviewer).values_list("key", flat=True))
        assert seen == {rows["own"].key}
        assert save(reviewer, rows["own"], at)

    def test_others_may_not_write_behind_the_reviewer(self, in_review):
        _, users, rows = in_review
        with pytest.raises(Refused, match="with a reviewer"):
            WagtailAdapter().apply(rows["own"].key, alt=Alt("x"), expected=Alt(), by=users["page_editor"])


def test_the_queue_takes_the_same_few_queries_for_any_number_of_pages(world, make_page, make_library_image, at):
    _, users, _ = world
    user, adapter = users["page_and_collection"], WagtailAdapter()
    with CaptureQueriesContext(connection) as few:
        before = len(queries.queue(user=fresh(user), state="all"))
    for _ in range(3):
        page = make_page(hero=make_library_image())
        placements.refresh(adapter, adapter.place(keys.page_key(page.pk, "hero")), at=at)
    with CaptureQueriesContext(connection) as many:
        assert len(queries.queue(user=fresh(user), state="all")) == before + 3
    assert len(few) == len(many) <= 10
