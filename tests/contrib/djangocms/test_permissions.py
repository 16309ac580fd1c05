"""Who may do what in django CMS: one table of roles and acts, on pages with versions, locks and page permissions."""

from __future__ import annotations

import pytest
from cms.models import ACCESS_PAGE, ACCESS_PAGE_AND_DESCENDANTS, GlobalPagePermission, PagePermission
from cms.utils.permissions import clear_permission_lru_caches
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from djangocms_versioning.models import Version

from alttext.adapters import Alt, Refused
from alttext.contrib.djangocms.adapter import DjangoCMSAdapter
from alttext.models import Placement
from alttext.operations import decisions, placements
from tests.contrib.djangocms import stage as cms
from tests.contrib.djangocms.stage import CmsStage

pytestmark = pytest.mark.django_db

CHANGE_PICTURE = "djangocms_picture.change_picture"
ROLES = {
    "anonymous": None,
    "inactive": ([*cms.RIGHTS, *cms.PLUGINS], {"active": False}),
    "staff without rights": ([], {}),
    "plugin rights only": ([CHANGE_PICTURE], {}),
    "page rights only": (["cms.change_page"], {}),
    "rights, no staff": ([CHANGE_PICTURE, "cms.change_page"], {"staff": False}),
    "page editor": ([CHANGE_PICTURE, "cms.change_page"], {}),
    "publisher": ([CHANGE_PICTURE, "cms.change_page", "cms.publish_page"], {}),
    "superuser": ([], {"superuser": True}),
}
ACTS = ["queue", "open", "save", "save on published", "save on locked"]
YES, NO = True, False
TABLE = {
    # role:                 queue, open, save, on a published page, on a page locked by another
    "anonymous": (NO, NO, NO, NO, NO),
    "inactive": (NO, NO, NO, NO, NO),
    "staff without rights": (NO, NO, NO, NO, NO),
    "plugin rights only": (NO, NO, NO, NO, NO),
    "page rights only": (NO, NO, NO, NO, NO),
    "rights, no staff": (NO, NO, NO, NO, NO),
    "page editor": (YES, YES, YES, YES, NO),
    "publisher": (YES, YES, YES, YES, NO),
    "superuser": (YES, YES, YES, YES, NO),
}


def account(role):
    if ROLES[role] is None:
        return AnonymousUser()
    rights, more = ROLES[role]
    return cms.user(role.replace(" ", "-"), *rights, **more)


@pytest.fixture
def locks(monkeypatch):
    """Version locks, as DJANGOCMS_VERSIONING_LOCK_VERSIONS switches them on when the app is loaded."""
    from cms.models.fields import PlaceholderRelationField
    from djangocms_versioning import conf, models
    from djangocms_versioning.helpers import placeholder_content_is_unlocked_for_user

    monkeypatch.setattr(conf, "LOCK_VERSIONS", True)
    monkeypatch.setattr(models, "LOCK_VERSIONS", True)
    checks = [*PlaceholderRelationField.default_checks, placeholder_content_is_unlocked_for_user]
    monkeypatch.setattr(PlaceholderRelationField, "default_checks", checks)


@pytest.fixture
def placement(stage: CmsStage):
    made, _ = placements.refresh(stage.adapter, stage.adapter.place(stage.key), at=timezone.now())
    return made


class TestTable:
    @pytest.mark.parametrize("role", ROLES)
    def test_queue_and_page_show_what_may_be_edited(self, stage, placement, role):
        user, (may_list, may_open, *_) = account(role), TABLE[role]
        client = Client()
        if user.is_authenticated and user.is_active:
            client.force_login(user)
        listed = client.get(reverse("alttext:queue"))
        assert (listed.status_code == 200 and placement.get_absolute_url() in listed.content.decode()) is may_list
        assert (client.get(placement.get_absolute_url()).status_code == 200) is may_open

    @pytest.mark.parametrize("role", ROLES)
    def test_a_text_is_saved_only_with_the_rights_for_page_and_plugin(self, stage, role):
        self.try_to_save(stage, account(role), may=TABLE[role][2])

    @pytest.mark.parametrize("role", ROLES)
    def test_a_published_page_gets_a_draft_only_from_those_who_may_make_one(self, stage, role):
        cms.publish(stage.page, stage.superuser)
        self.try_to_save(stage, account(role), may=TABLE[role][3])
        drafts = Version.objects.filter(state="draft").count()
        assert drafts == int(TABLE[role][3])

    @pytest.mark.parametrize("role", ROLES)
    def test_a_page_locked_by_another_is_left_alone_and_the_other_is_named(self, stage, role, locks):
        holder = cms.user("holder", *cms.RIGHTS)
        Version.objects.filter(state="draft").update(locked_by=holder)
        self.try_to_save(stage, account(role), may=TABLE[role][4])
        if TABLE[role][2]:
            with pytest.raises(Refused, match=f"{holder}.*locked"):
                stage.adapter.apply(stage.key, alt=Alt("x"), expected=Alt(), by=account(role))

    @staticmethod
    def try_to_save(stage, user, *, may):
        if may:
            stage.adapter.apply(stage.key, alt=Alt("New"), expected=Alt(), by=user)
            assert stage.alt() == Alt("New")
        else:
            with pytest.raises(Refused):
                stage.adapter.apply(stage.key, alt=Alt("New"), expected=Alt(), by=user)
            assert stage.alt() == Alt()


class TestLocks:
    def test_the_holder_of_the_lock_saves(self, stage, locks):
        Version.objects.filter(state="draft").update(locked_by=stage.editor)
        stage.adapter.apply(stage.key, alt=Alt("Mine"), expected=Alt(), by=stage.editor)
        assert stage.alt() == Alt("Mine")

    def test_a_new_draft_is_locked_by_who_saves(self, stage, locks):
        cms.publish(stage.page, stage.superuser)
        stage.adapter.apply(stage.key, alt=Alt("Mine"), expected=Alt(), by=stage.editor)
        assert cms.version(stage.page).locked_by == stage.editor

    def test_a_locked_page_stays_in_the_queue(self, stage, placement, locks):
        Version.objects.filter(state="draft").update(locked_by=stage.superuser)
        assert Placement.objects.filter(stage.adapter.editable(stage.editor), pk=placement.pk).exists()

    def test_the_author_is_told_in_the_workbench_and_nothing_is_recorded(self, stage, placement, locks):
        Version.objects.filter(state="draft").update(locked_by=stage.superuser)
        with pytest.raises(Refused):
            decisions.save_text(
                placement=placement, text="x", seen=decisions.seen(placement), by=stage.editor, at=timezone.now()
            )
        assert not placement.decisions.exists()

    def test_a_note_tells_where_the_text_went(self, stage, placement):
        cms.publish(stage.page, stage.superuser)
        decision = decisions.save_text(
            placement=placement, text="x", seen=decisions.seen(placement), by=stage.editor, at=timezone.now()
        )
        assert "new draft" in decision.note


class TestPagePermissions:
    """CMS_PERMISSION: rights page by page."""

    @pytest.fixture
    def tree(self, settings, stage: CmsStage):
        settings.CMS_PERMISSION = True
        parent, other = stage.page, cms.page(stage.superuser)
        child = cms.page(stage.superuser, parent=parent)
        for page in (child, other):
            stage.fill(page)
        placements.scan(stage.adapter, at=timezone.now())
        return {"parent": parent, "child": child, "other": other}

    def may(self, tree, user):
        user = get_user_model().objects.get(pk=user.pk)
        clear_permission_lru_caches(user)
        rows = Placement.objects.filter(DjangoCMSAdapter().editable(user), key__startswith="page:")
        pages = {int(row.key.split(":")[1]) for row in rows}
        return {name for name, page in tree.items() if page.pk in pages}

    @pytest.mark.parametrize(
        ("grant", "names"),
        [(ACCESS_PAGE, {"parent"}), (ACCESS_PAGE_AND_DESCENDANTS, {"parent", "child"}), (None, set())],
    )
    def test_each_page_by_its_own_permission(self, stage, tree, grant, names):
        from cms.cache.permissions import clear_permission_cache

        clear_permission_cache()
        if grant:
            PagePermission.objects.create(
                user=stage.editor, page=type(stage.page).objects.get(pk=stage.page.pk), grant_on=grant, can_change=True
            )
        assert self.may(tree, stage.editor) == names

    def test_a_global_permission_is_for_all_pages_of_its_sites(self, stage, tree):
        from django.contrib.sites.models import Site

        permission = GlobalPagePermission.objects.create(user=stage.editor, can_change=True)
        assert self.may(tree, stage.editor) == {"parent", "child", "other"}
        permission.sites.add(Site.objects.create(domain="other.example", name="Other"))
        assert self.may(tree, stage.editor) == set()

    def test_who_may_not_change_the_page_is_refused(self, stage, tree):
        with pytest.raises(Refused, match="this page"):
            stage.adapter.apply(stage.key, alt=Alt("x"), expected=Alt(), by=stage.editor)

    def test_the_condition_is_one_query_however_many_pages(self, stage, tree, django_assert_max_num_queries):
        PagePermission.objects.create(
            user=stage.editor,
            page=type(stage.page).objects.get(pk=stage.page.pk),
            grant_on=ACCESS_PAGE,
            can_change=True,
        )
        self.may(tree, stage.editor)
        user = get_user_model().objects.get(pk=stage.editor.pk)
        with django_assert_max_num_queries(12):  # permissions of the user, of the site, and the list itself
            list(Placement.objects.filter(stage.adapter.editable(user)))


class TestKinds:
    def test_each_kind_of_plugin_has_its_own_permission(self, stage: CmsStage):
        into = cms.slot(stage.page)
        cms.component(into, "ImagePlugin", picture=cms.reference(stage.image))
        placements.scan(stage.adapter, at=timezone.now())
        for right, kind in (("image.change_image", "ImagePlugin"), (CHANGE_PICTURE, "PicturePlugin")):
            user = cms.user("one", "cms.change_page", right)
            rows = Placement.objects.filter(stage.adapter.editable(user))
            assert {row.scope.rpartition(":")[2] for row in rows} == {kind}

    def test_a_kind_whose_name_ends_alike_is_another_kind(self, stage, placement):
        Placement.objects.filter(pk=placement.pk).update(scope=f"page:{stage.page.pk}:MyPicturePlugin")
        assert not Placement.objects.filter(stage.adapter.editable(stage.editor), pk=placement.pk).exists()

    def test_the_message_names_the_kind_and_a_way_on(self, stage):
        with pytest.raises(Refused, match="Image.*Ask an administrator"):
            stage.adapter.apply(stage.key, alt=Alt("x"), expected=Alt(), by=cms.user("x", "cms.change_page"))


class TestLibrary:
    @pytest.fixture
    def of_file(self, stage: CmsStage):
        made, _ = placements.refresh(stage.adapter, stage.adapter.place(f"file:{stage.image.pk}"), at=timezone.now())
        return made

    @pytest.mark.parametrize(
        ("rights", "more", "may"),
        [
            ((), {}, False),
            (("filer.change_image",), {}, True),
            (("filer.change_image",), {"staff": False}, False),
            (("filer.change_image",), {"active": False}, False),
            (("filer.change_file", "cms.change_page", CHANGE_PICTURE), {}, False),
            ((), {"superuser": True}, True),
        ],
    )
    def test_the_default_text_is_for_those_who_may_change_images(self, stage, of_file, rights, more, may):
        user = cms.user("somebody", *rights, **more)
        assert Placement.objects.filter(stage.adapter.editable(user), pk=of_file.pk).exists() is may
        if may:
            stage.adapter.apply(of_file.key, alt=Alt("x"), expected=Alt(), by=user)
        elif user.is_staff:
            with pytest.raises(Refused, match="library"):
                stage.adapter.apply(of_file.key, alt=Alt("x"), expected=Alt(), by=user)

    def test_permissions_of_folders_narrow_it(self, stage, of_file, monkeypatch):
        from filer import settings as filer_settings
        from filer.models import Folder, FolderPermission, foldermodels

        monkeypatch.setattr(filer_settings, "FILER_ENABLE_PERMISSIONS", True)
        assert foldermodels.filer_settings is filer_settings
        user = cms.user("somebody", "filer.change_image", "filer.change_file")

        def may():
            from django.core.cache import cache

            cache.clear()
            fresh = get_user_model().objects.get(pk=user.pk)
            return Placement.objects.filter(stage.adapter.editable(fresh), pk=of_file.pk).exists()

        assert not may()
        folder = Folder.objects.create(name="Press")
        stage.image.folder = folder
        stage.image.save()
        permission = FolderPermission.objects.create(
            folder=folder, user=user, type=FolderPermission.THIS, can_edit=FolderPermission.ALLOW
        )
        assert may()
        permission.delete()
        assert not may()
        stage.image.owner = user
        stage.image.save()
        assert may()


def test_the_table_names_every_role_and_act():
    assert list(TABLE) == list(ROLES)
    assert {len(row) for row in TABLE.values()} == {len(ACTS)}
