"""What happens in the CMS reaches the queue after the commit: cheaply, once, and without asking a captioner again."""

from __future__ import annotations

import pytest
from cms.api import add_plugin
from cms.models import CMSPlugin
from django.core import serializers
from django.core.files.base import ContentFile
from django.db import connection, transaction
from django.test import Client, TestCase
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from djangocms_versioning.models import Version
from filer.models import Image

from alttext import tasks
from alttext.adapters import Alt
from alttext.contrib.djangocms import following, signals
from alttext.contrib.djangocms.adapter import DjangoCMSAdapter
from alttext.models import Job, Placement, Suggestion
from alttext.operations import decisions, placements
from tests.conftest import picture
from tests.contrib.djangocms import stage as cms
from tests.contrib.djangocms.stage import CmsStage, library_image

pytestmark = pytest.mark.django_db
MANY = 300


@pytest.fixture
def commit(django_capture_on_commit_callbacks):
    """A block that ends with a commit; what was noted before it belongs to it."""
    return lambda: django_capture_on_commit_callbacks(execute=True)


@pytest.fixture
def automatic(settings):
    settings.ALTTEXT = {**settings.ALTTEXT, "AUTOMATIC": True}


def row_of(page, file):
    return Placement.objects.get(key=f"page:{page.pk}:en:content:PicturePlugin.picture:{file.pk}:1")


def rolled_back(act):
    """Do something, and take it back."""
    with transaction.atomic():
        act()
        transaction.set_rollback(True)


class TestPlugins:
    def test_a_saved_image_is_queued_after_the_commit(self, page, into, commit, automatic):
        with commit():
            image = library_image()
            cms.photo(into, image)
            assert not Placement.objects.exists()
        assert row_of(page, image).state == "WAITING"
        assert Job.objects.filter(placement=row_of(page, image)).count() == 1

    def test_without_automatic_jobs_it_is_known_all_the_same(self, page, into, commit):
        with commit():
            image = library_image()
            cms.photo(into, image)
        assert row_of(page, image).state == "OPEN"
        assert not Job.objects.exists()

    def test_a_deleted_plugin_leaves_the_queue(self, page, into, commit):
        with commit():
            image = library_image()
            plugin = cms.photo(into, image)
        with commit():
            into.delete_plugin(CMSPlugin.objects.get(pk=plugin.pk))
        assert row_of(page, image).state == "GONE"

    def test_a_plugin_that_comes_back_is_in_the_queue_again(self, page, into, commit):
        with commit():
            image = library_image()
            plugin = cms.photo(into, image)
        with commit():
            into.clear()
        with commit():
            plugin = cms.photo(into, image)
        assert plugin.pk
        assert row_of(page, image).state == "OPEN"

    def test_another_file_in_the_same_plugin_is_another_image(self, page, into, commit):
        with commit():
            first, second = library_image(), library_image()
            plugin = cms.photo(into, first)
        with commit():
            plugin.picture = second
            plugin.save()
        assert (row_of(page, first).state, row_of(page, second).state) == ("GONE", "OPEN")

    def test_words_of_the_page_change_the_context_of_its_images(self, page, into, commit):
        with commit():
            image = library_image()
            words = cms.text(into, "<p>One</p>")
            cms.photo(into, image)
        before = row_of(page, image).snapshot
        with commit():
            words.body = "<p>Two</p>"
            words.save()
        assert row_of(page, image).snapshot.before == "Two"
        assert before.before == "One"

    def test_a_new_title_changes_the_context_of_its_images(self, page, into, commit):
        with commit():
            image = library_image()
            cms.photo(into, image)
        with commit():
            content = cms.content(page)
            content.title = "Another title"
            content.save()
        placement = row_of(page, image)
        assert (placement.page_title, placement.snapshot.title) == ("Another title", "Another title")

    def test_a_move_through_the_editor_is_followed(self, root, commit):
        page = cms.page(root, template=cms.TWO_COLUMNS)
        first, second = cms.content(page).get_placeholders().order_by("pk")
        with commit():
            image = library_image()
            plugin = cms.photo(first, image)
        client = Client()
        client.force_login(root)
        with commit():
            answer = client.post(
                "/en/admin/cms/placeholder/move-plugin/?cms_path=/en/x/",
                {"plugin_id": plugin.pk, "placeholder_id": second.pk, "target_language": "en", "target_position": 1},
            )
            if answer.status_code == 404:
                answer = client.post(
                    "/admin/cms/placeholder/move-plugin/?cms_path=/en/x/",
                    {
                        "plugin_id": plugin.pk,
                        "placeholder_id": second.pk,
                        "target_language": "en",
                        "target_position": 1,
                    },
                )
        assert answer.status_code == 200
        states = {row.key.split(":")[3]: row.state for row in Placement.objects.filter(key__startswith="page:")}
        assert states == {first.slot: "GONE", second.slot: "OPEN"}

    def test_a_language_copy_is_a_placement_of_its_own(self, root, page, into, commit):
        from cms.api import create_page_content
        from cms.utils.plugins import copy_plugins_to_placeholder

        with commit():
            image = library_image()
            cms.photo(into, image, attributes={"alt": "Tulips"})
        with commit():
            create_page_content("de", "Frühling", page, created_by=root, template=cms.TEMPLATE)
            copy_plugins_to_placeholder(
                list(CMSPlugin.objects.filter(placeholder=into)), cms.slot(page, "de"), language="de"
            )
        german = Placement.objects.get(key__startswith=f"page:{page.pk}:de:")
        assert (german.language, german.state, german.current_alt) == ("de", "HUMAN", "Tulips")

    def test_a_page_that_is_deleted_leaves_the_queue(self, page, into, commit):
        with commit():
            image = library_image()
            cms.photo(into, image)
        key = row_of(page, image).key
        with commit():
            page.delete()
        assert Placement.objects.get(key=key).state == "GONE"

    def test_what_was_rolled_back_is_not_followed(self, page, into, commit):
        with commit():
            image = library_image()
            rolled_back(lambda: cms.photo(into, image))
            cms.text(into, "<p>After</p>")
        assert [row.key for row in Placement.objects.all()] == [f"file:{image.pk}"]

    def test_loading_a_fixture_tells_nothing(self, into, django_capture_on_commit_callbacks):
        stored = serializers.serialize("json", [library_image(), cms.photo(into, library_image())])
        with django_capture_on_commit_callbacks() as told:
            for item in serializers.deserialize("json", stored):
                item.save()
        assert told == []

    def test_our_own_write_tells_nothing(self, stage: CmsStage, django_capture_on_commit_callbacks):
        with django_capture_on_commit_callbacks() as told:
            stage.adapter.apply(stage.key, alt=Alt("By the workbench"), expected=Alt(), by=stage.editor)
            stage.adapter.apply(f"file:{stage.image.pk}", alt=Alt("x"), expected=Alt(), by=stage.superuser)
        assert signals._follow not in told

    def test_other_models_and_other_placeholders_cost_nothing(self, django_capture_on_commit_callbacks):
        from cms.models import Placeholder

        with django_capture_on_commit_callbacks(execute=True) as told:
            cms.user("somebody")
        assert told == []
        with django_capture_on_commit_callbacks(execute=True):
            add_plugin(Placeholder.objects.create(slot="clipboard"), "TextPlugin", "en", body="x")
        assert not Placement.objects.exists()

    def test_a_note_that_fails_never_reaches_the_save(self, into, monkeypatch, caplog, commit):
        monkeypatch.setattr(following, "follow", lambda note: 1 / 0)
        with commit():
            cms.photo(into, library_image())
        assert CMSPlugin.objects.filter(plugin_type="PicturePlugin").exists()

    def test_one_odd_image_does_not_keep_the_others_from_being_followed(self, page, into, commit, monkeypatch, caplog):
        enqueue = tasks.enqueue_place

        def sometimes(*, adapter, key):
            if key.startswith("file:"):
                raise RuntimeError("odd")
            enqueue(adapter=adapter, key=key)

        monkeypatch.setattr(tasks, "enqueue_place", sometimes)
        with commit():
            image = library_image()
            cms.photo(into, image)
        assert row_of(page, image).state == "OPEN"
        assert "could not be brought up to date" in caplog.text

    def test_nothing_runs_before_the_workbench_is_migrated(self, into, commit, monkeypatch):
        monkeypatch.setattr(following, "_tables_are_there", False)
        monkeypatch.setattr(Placement._meta, "db_table", "alttext_not_there_yet")
        with CaptureQueriesContext(connection) as asked, commit():
            cms.photo(into, library_image())
        monkeypatch.undo()
        assert not [
            row for row in asked.captured_queries if "alttext_" in row["sql"] and "sqlite_master" not in row["sql"]
        ]
        assert not Placement.objects.exists()


class TestLibrary:
    def test_an_image_that_arrives_is_queued_for_a_default_text(self, commit, automatic):
        with commit():
            image = library_image()
        assert Placement.objects.get(key=f"file:{image.pk}").state == "WAITING"

    def test_a_file_replaced_under_the_same_id_is_another_image(self, page, into, commit):
        with commit():
            image = library_image()
            cms.photo(into, image)
        before = row_of(page, image).asset
        with commit():
            image.file = ContentFile(picture(), name="other.png")
            image.save()
        assert row_of(page, image).asset != before
        assert Placement.objects.get(key=f"file:{image.pk}").asset == row_of(page, image).asset

    def test_a_new_default_text_leaves_the_uses_alone(self, page, into, commit, monkeypatch):
        with commit():
            image = library_image()
            cms.photo(into, image)
        told = []
        enqueue = tasks.enqueue_place
        monkeypatch.setattr(
            tasks, "enqueue_place", lambda *, adapter, key: (told.append(key), enqueue(adapter=adapter, key=key))
        )
        with commit():
            image.default_alt_text = "Somebody's words"
            image.save()
        assert told == [f"file:{image.pk}"]
        assert Placement.objects.get(key=f"file:{image.pk}").state == "HUMAN"

    def test_an_image_that_is_deleted_leaves_the_queue_with_all_its_uses(self, page, into, commit):
        with commit():
            image = library_image()
            cms.photo(into, image)
            cms.component(into, "ImagePlugin", picture=cms.reference(image))
        assert Placement.objects.count() == 3
        with commit():
            image.delete()
        assert set(Placement.objects.values_list("state", flat=True)) == {"GONE"}

    def test_an_image_whose_file_is_missing_is_no_error(self, commit, caplog):
        with commit():
            image = library_image()
            image.file.storage.delete(image.file.name)
        assert not Placement.objects.exists()
        assert caplog.text == ""


class TestVersions:
    def test_a_draft_copy_asks_for_nothing_and_changes_nothing(self, root, page, into, commit, automatic, monkeypatch):
        with commit():
            image = library_image()
            cms.photo(into, image)
            cms.publish(page, root)
        before = row_of(page, image)
        jobs = Job.objects.count()
        told = []
        monkeypatch.setattr(tasks, "enqueue_place", lambda *, adapter, key: told.append(key))
        with commit():
            cms.new_draft(page, root)
        after = row_of(page, image)
        assert (told, Job.objects.count()) == ([], jobs)
        assert (after.state, after.updated_at) == (before.state, before.updated_at)
        assert after.page_url != before.page_url  # the preview of the draft: what an edit is written into

    def test_an_edit_in_the_transaction_that_made_the_draft_is_followed(self, root, page, into, commit):
        with commit():
            image = library_image()
            cms.photo(into, image)
            cms.publish(page, root)
        with commit(), transaction.atomic():
            cms.new_draft(page, root)
            (plugin,) = cms.plugins(cms.slot(page))
            plugin.attributes = {"alt": "At once"}
            plugin.save()
        assert row_of(page, image).current_alt == "At once"

    def test_publishing_closes_what_people_made_of_the_suggestions(self, root, page, into, commit, suggest):
        with commit():
            image = library_image()
            cms.photo(into, image)
        placement, now = row_of(page, image), timezone.now()
        suggestion = suggest(placement, "A red picture", when=now)
        decisions.save_text(
            placement=placement, text="A red picture", seen=decisions.seen(placement, suggestion), by=root, at=now
        )
        assert Suggestion.objects.get().closed_at is None
        with commit():
            cms.publish(page, root)
        assert Suggestion.objects.get().closed_at is not None
        assert row_of(page, image).state == "DONE"

    def test_a_publishing_or_deletion_that_was_rolled_back_closes_and_forgets_nothing(self, root, page, into, commit):
        with commit():
            image = library_image()
            cms.photo(into, image)
        with commit():
            rolled_back(lambda: (cms.publish(page, root), Image.objects.get(pk=image.pk).delete()))
            cms.text(into, "<p>x</p>")
        assert row_of(page, image).state == "OPEN"
        assert Placement.objects.get(key__startswith="file:").state == "OPEN"

    def test_taking_a_page_back_takes_its_images_out_of_the_queue(self, root, page, into, commit):
        with commit():
            image = library_image()
            cms.photo(into, image)
            cms.publish(page, root)
        with commit():
            cms.version(page).unpublish(root)
        assert row_of(page, image).state == "GONE"

    def test_an_archived_draft_gives_way_to_what_is_published(self, root, page, into, commit):
        with commit():
            image = library_image()
            cms.photo(into, image)
            cms.publish(page, root)
            cms.new_draft(page, root)
            (plugin,) = cms.plugins(cms.slot(page))
            plugin.attributes = {"alt": "In the draft"}
            plugin.save()
        assert row_of(page, image).current_alt == "In the draft"
        with commit():
            cms.version(page, state="draft").archive(root)
        assert (row_of(page, image).current_alt, row_of(page, image).state) == ("", "OPEN")

    def test_a_draft_that_is_thrown_away_gives_way_too(self, root, page, into, commit):
        with commit():
            image = library_image()
            cms.photo(into, image)
            cms.publish(page, root)
        with commit():
            cms.new_draft(page, root)
            cms.slot(page).clear()
        assert row_of(page, image).state == "GONE"
        with commit():
            cms.version(page, state="draft").delete()
        assert row_of(page, image).state == "OPEN"

    def test_a_reverted_version_brings_its_own_images(self, root, page, into, commit):
        with commit():
            old, new = library_image(), library_image()
            cms.photo(into, old)
            cms.publish(page, root)
        with commit():
            first = cms.version(page)
            cms.new_draft(page, root)
            (plugin,) = cms.plugins(cms.slot(page))
            plugin.picture = new
            plugin.save()
            cms.publish(page, root)
        assert (row_of(page, old).state, row_of(page, new).state) == ("GONE", "OPEN")
        with commit():
            Version.objects.get(pk=first.pk).copy(root)
        assert (row_of(page, old).state, row_of(page, new).state) == ("OPEN", "GONE")

    def test_an_edit_of_history_is_no_news(self, root, page, into, commit):
        with commit():
            image = library_image()
            plugin = cms.photo(into, image)
            cms.publish(page, root)
            cms.new_draft(page, root)
        with commit():
            plugin.attributes = {"alt": "Behind the back of the CMS"}
            plugin.save()
        assert row_of(page, image).current_alt == ""


class TestCost:
    @pytest.fixture
    def told(self, monkeypatch):
        """The keys that were followed one by one; each costs some fifteen queries and a look into the file."""
        keys, enqueue = [], tasks.enqueue_place
        monkeypatch.setattr(
            tasks, "enqueue_place", lambda *, adapter, key: (keys.append(key), enqueue(adapter=adapter, key=key))
        )
        return keys

    @pytest.mark.slow
    def test_three_hundred_images_are_followed_with_few_queries(self, root, page, into, automatic, told, commit):
        image = library_image()
        cms.text(into, "<h2>Start</h2>" + "<p>" + "words " * 500 + "</p>")
        first = cms.photo(into, image)
        for number in range(3, MANY + 2):  # as `add_plugin` makes them, without its queries for each position
            more = type(first)(placeholder=into, language="en", plugin_type="PicturePlugin", position=number)
            more.picture, more.caption_text = image, f"Caption of number {number}"
            more.save()
        cms.publish(page, root)
        placements.scan(DjangoCMSAdapter(), at=timezone.now())
        assert Placement.objects.filter(key__startswith="page:").count() == MANY
        signals._thread.note = signals.Note()

        cost = {"draft": self.queries_of(lambda: cms.new_draft(page, root), commit)}
        words = next(row for row in cms.plugins(cms.slot(page)) if row.plugin_type == "TextPlugin")
        cost["save without a change"] = self.queries_of(words.save, commit)
        cost["publish"] = self.queries_of(lambda: cms.publish(page, root), commit)
        print(cost)
        assert max(cost.values()) <= 30
        assert (told, Job.objects.count()) == ([], 0)

        cms.new_draft(page, root)
        words = next(row for row in cms.plugins(cms.slot(page)) if row.plugin_type == "TextPlugin")
        words.body = words.body.replace("words </p>", "other words </p>")
        started = timezone.now()
        with commit():
            words.save()
        # those whose 2,000 characters before reach up to the change; their files are not read again
        assert 50 < Placement.objects.filter(updated_at__gte=started).count() < 150
        assert told == []

    @staticmethod
    def queries_of(act, commit) -> int:
        """How many queries follow the commit of `act`."""
        with TestCase.captureOnCommitCallbacks() as callbacks:
            act()
        with CaptureQueriesContext(connection) as asked:
            for callback in callbacks:
                if callback is signals._follow:
                    callback()
        return len(asked)
