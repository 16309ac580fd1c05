"""What is saved in Wagtail reaches the workbench: by a press as an act, by the editor's timer as news of new images."""

from __future__ import annotations

import pytest
from django.core.files.base import ContentFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from wagtail.models import Locale, ReferenceIndex
from wagtail.test.utils.form_data import nested_form_data, rich_text, streamfield

from alttext.contrib.wagtail import editing, keys, signals
from alttext.models import Decision, Job, Placement, Suggestion
from alttext.operations import placements
from alttext.project.wagtail_site.models import ArticlePage
from tests.contrib.wagtail.stage import IMAGE, block

pytestmark = pytest.mark.django_db
JSON = {"HTTP_ACCEPT": "application/json"}
State = Placement.State


@pytest.fixture
def committed(django_capture_on_commit_callbacks):
    """What is done in here is committed at its end, as a request is."""
    return lambda: django_capture_on_commit_callbacks(execute=True)


@pytest.fixture
def make_page(make_page, committed):
    def make(**fields):
        with committed():
            return make_page(**fields)

    return make


@pytest.fixture
def make_library_image(make_library_image, committed):
    def make(**fields):
        with committed():
            return make_library_image(**fields)

    return make


@pytest.fixture
def suggest(suggest):
    """As a worker does, just now: Wagtail's own requests have no other clock, and an offer ends after a while."""
    return lambda *args, **more: suggest(*args, when=timezone.now(), **more)


@pytest.fixture
def chief(make_user):
    return make_user("admin")


@pytest.fixture
def editor(client, chief):
    client.force_login(chief)
    return client


@pytest.fixture
def save(editor, committed):
    """Save an article in Wagtail's editor: by a press, by the timer (`autosave`), or with an action."""

    def post(page, *, image=None, alt="", words="Words of the page", title=None, autosave=False, action=None, **more):
        body = [("image", {"image": image.pk, "alt_text": alt}, IMAGE)] if image else []
        body.append(("heading", words, "00000000-0000-4000-8000-00000000aaaa"))
        data = {
            "title": title or page.title,
            "slug": page.slug,
            "intro": rich_text("<p>Intro</p>", features=["bold"]),
            "hero": "",
            "hero_alt": "",
            "teaser": "",
            "body": _with_ids(body),
            "comments": {"TOTAL_FORMS": 0, "INITIAL_FORMS": 0, "MIN_NUM_FORMS": 0, "MAX_NUM_FORMS": ""},
            **more,
        }
        flat = nested_form_data(data)
        flat["comments-MAX_NUM_FORMS"] = ""
        if action:
            flat[f"action-{action}"] = "1"
        with committed():
            answer = editor.post(f"/cms/pages/{page.pk}/edit/", flat, **(JSON if autosave else {}))
        assert answer.status_code == (200 if autosave else 302), answer.content[:2000]
        return answer

    return post


def _with_ids(items):
    data = streamfield([(kind, value) for kind, value, _ in items])
    for number, (_, _, name) in enumerate(items):
        data[str(number)]["id"] = name
    return data


@pytest.fixture
def page(make_page):
    return make_page(draft=True)


def known(page, path=f"body.{IMAGE}"):
    return Placement.objects.select_related("snapshot", "asset").filter(key=keys.page_key(page.pk, path)).first()


class TestSaves:
    def test_a_saved_page_brings_its_images(self, page, save, make_library_image):
        save(page, image=make_library_image())
        assert known(page).state == State.OPEN
        assert not Decision.objects.exists()

    def test_a_text_typed_into_the_editor_counts_as_an_act_on_the_suggestion(
        self, page, save, make_library_image, suggest, chief
    ):
        image = make_library_image()
        save(page, image=image)
        suggestion = suggest(known(page), "A red boat")
        save(page, image=image, alt="A red boat in the harbour", words="Other words")
        decision = Decision.objects.get()
        assert (decision.suggestion_id, decision.final_text, decision.by) == (
            suggestion.pk,
            "A red boat in the harbour",
            chief,
        )
        suggestion.refresh_from_db()
        assert suggestion.state == Suggestion.State.EDITED
        assert known(page).state == State.DONE

    def test_saving_again_records_nothing(self, page, save, make_library_image):
        image = make_library_image()
        save(page, image=image)
        save(page, image=image, alt="A boat")
        save(page, image=image, alt="A boat")
        assert Decision.objects.count() == 1

    def test_texts_of_a_page_that_no_scan_has_seen_are_nobodys_act(self, page, save, make_library_image):
        """Else undoing the act of somebody who changed another word would take an old text away."""
        image = make_library_image()
        save(page, image=image, alt="Written years ago")
        assert not Decision.objects.exists()
        assert known(page).state == State.HUMAN

    def test_other_words_around_overtake_the_suggestion(self, page, save, make_library_image, suggest):
        image = make_library_image()
        save(page, image=image)
        suggestion = suggest(known(page))
        save(page, image=image, words="All is different now")
        suggestion.refresh_from_db()
        assert suggestion.state == Suggestion.State.SUPERSEDED
        assert known(page).snapshot.after == "All is different now"

    def test_an_image_that_was_taken_off_the_page_leaves_the_queue(self, page, save, make_library_image):
        save(page, image=make_library_image())
        save(page)
        assert known(page).state == State.GONE

    def test_an_image_that_comes_back_is_back_in_the_queue(self, page, save, make_library_image):
        image = make_library_image()
        save(page, image=image)
        save(page)
        save(page, image=image)
        assert known(page).state == State.OPEN

    def test_another_image_in_the_same_block_is_looked_at(self, page, save, make_library_image):
        save(page, image=make_library_image())
        before = known(page).asset_id
        save(page, image=make_library_image())
        assert known(page).asset_id != before

    def test_with_automatic_on_a_suggestion_is_asked_for(self, page, save, make_library_image, settings):
        settings.ALTTEXT = {**settings.ALTTEXT, "AUTOMATIC": True}
        save(page, image=make_library_image())
        assert Job.objects.filter(placement=known(page)).count() == 1

    def test_a_failure_of_ours_does_not_cost_the_author_the_save(self, page, save, make_library_image, monkeypatch):
        def fail(*args, **kwargs):
            raise RuntimeError("disk full")

        monkeypatch.setattr(placements, "refresh", fail)
        save(page, image=make_library_image(), title="Saved all the same")
        assert ArticlePage.objects.get(pk=page.pk).draft_title == "Saved all the same"


class TestAutosaves:
    def test_a_new_image_is_known_at_once(self, page, save, make_library_image):
        save(page, image=make_library_image(), autosave=True)
        assert known(page).state == State.OPEN

    def test_typing_is_no_act_and_overtakes_no_suggestion(self, page, save, make_library_image, suggest):
        image = make_library_image()
        save(page, image=image, autosave=True)
        suggestion = suggest(known(page))
        for typed in ("A", "A b", "A bo"):
            save(page, image=image, alt=typed, words=f"Words {typed}", autosave=True)
        suggestion.refresh_from_db()
        assert suggestion.state == Suggestion.State.PENDING
        assert not Decision.objects.exists()
        assert known(page).current_alt == ""

    def test_the_press_at_the_end_counts_what_the_timer_had_saved(self, page, save, make_library_image, suggest):
        image = make_library_image()
        save(page, image=image, autosave=True)
        suggestion = suggest(known(page), "A boat")
        save(page, image=image, alt="A boat", autosave=True)
        save(page, image=image, alt="A boat")
        assert Decision.objects.get().suggestion == suggestion

    def test_a_text_that_came_with_a_new_image_is_an_act_of_the_press(self, page, save, make_library_image):
        save(page, image=make_library_image())
        before, image = known(page), make_library_image()
        save(page, image=image, alt="Typed before the timer", autosave=True)
        assert known(page) == before
        save(page, image=image, alt="Typed before the timer")
        assert Decision.objects.get().final_text == "Typed before the timer"

    def test_an_image_that_is_missing_for_a_moment_stays(self, page, save, make_library_image):
        save(page, image=make_library_image())
        save(page, autosave=True)
        assert known(page).state == State.OPEN

    def test_another_image_is_looked_at_so_that_no_suggestion_speaks_of_the_old_one(
        self, page, save, make_library_image, suggest
    ):
        save(page, image=make_library_image(), autosave=True)
        suggestion = suggest(known(page))
        save(page, image=make_library_image(), autosave=True)
        suggestion.refresh_from_db()
        assert suggestion.state == Suggestion.State.SUPERSEDED


class TestPublishing:
    def test_publishing_records_and_closes(self, page, save, make_library_image, suggest):
        image = make_library_image()
        save(page, image=image)
        suggestion = suggest(known(page), "A boat")
        save(page, image=image, alt="A boat", action="publish")
        suggestion.refresh_from_db()
        assert (suggestion.state, suggestion.closed_at is not None) == (Suggestion.State.AS_IS, True)
        assert known(page).page_url == ArticlePage.objects.get(pk=page.pk).url

    def test_what_the_author_saved_is_the_authors_when_another_publishes(
        self, page, save, make_library_image, suggest, chief, committed
    ):
        image = make_library_image()
        save(page, image=image)
        suggest(known(page), "A boat")
        save(page, image=image, alt="A boat", autosave=True)
        with committed():
            ArticlePage.objects.get(pk=page.pk).latest_revision.publish()
        assert Decision.objects.get().by == chief

    def test_unpublishing_leads_to_the_editor(self, page, save, make_library_image, committed):
        image = make_library_image()
        save(page, image=image)
        save(page, image=image, alt="A boat", action="publish")
        with committed():
            ArticlePage.objects.get(pk=page.pk).unpublish()
        assert known(page).page_url == f"/cms/pages/{page.pk}/edit/"
        assert known(page).state == State.DONE

    def test_a_reverted_page_has_its_old_words_again(self, page, save, make_library_image, editor, committed):
        image = make_library_image()
        save(page, image=image, words="Old words")
        old = ArticlePage.objects.get(pk=page.pk).latest_revision
        save(page, image=image, words="New words", alt="A boat")
        with committed():
            old.as_object().save_revision(previous_revision=old).publish()
        assert known(page).snapshot.after == "Old words"
        assert known(page).current_alt == ""


class TestPages:
    def test_a_new_page_is_looked_at(self, make_page, make_library_image):
        page = make_page(body=[{"type": "image", "id": IMAGE, "value": block(make_library_image())}])
        assert known(page).state == State.OPEN

    def test_a_copy_has_uses_of_its_own_and_its_texts_are_no_acts(
        self, make_page, make_library_image, chief, home, committed
    ):
        image = make_library_image()
        rich = f'<embed embedtype="image" format="left" id="{image.pk}"/>'
        body = [{"type": "image", "id": IMAGE, "value": block(image, "A boat")}]
        page = make_page(body=body, intro=rich)
        with committed():
            copied = page.copy(to=home, update_attrs={"slug": "copied", "title": "Copied"}, user=chief)
        assert Placement.objects.filter(key__startswith=keys.page_head(copied.pk), state=State.OPEN).count() == 1
        assert not Decision.objects.exists()

    def test_a_translation_has_uses_of_its_own(self, make_page, make_library_image, committed):
        german, _ = Locale.objects.get_or_create(language_code="de")
        page = make_page(body=[{"type": "image", "id": IMAGE, "value": block(make_library_image())}])
        with committed():
            page.get_parent().copy_for_translation(german)
            translated = page.copy_for_translation(german)
        assert known(translated).language == "de"
        assert known(page).language == "en"

    def test_a_deleted_page_and_those_below_leave_the_queue(self, make_page, make_library_image, home, committed):
        page = make_page(body=[{"type": "image", "id": IMAGE, "value": block(make_library_image())}])
        with committed():
            home.specific.delete()
        assert known(page).state == State.GONE

    def test_a_moved_page_is_found_at_its_new_address(self, make_page, make_library_image, home, committed):
        page = make_page(body=[{"type": "image", "id": IMAGE, "value": block(make_library_image())}])
        top = home.add_child(instance=type(home)(title="Archive", slug="archive"))
        with committed():
            page.move(top, pos="last-child")
        assert known(page).page_url == ArticlePage.objects.get(pk=page.pk).url
        assert "/archive/" in known(page).page_url


class TestLibrary:
    def library(self, image):
        return Placement.objects.filter(key=keys.image_key(image.pk)).first()

    def test_a_new_image_is_known(self, make_library_image):
        assert self.library(make_library_image()).state == State.OPEN

    @pytest.mark.parametrize("names", [["focal_point_x"], ["file_hash"], ["file_size"]])
    def test_what_wagtails_own_jobs_write_costs_nothing(self, make_library_image, names, committed):
        image = make_library_image()
        with CaptureQueriesContext(connection) as queries, committed():
            image.save(update_fields=names)
        assert [query for query in queries if "wagtailimages_" in query["sql"]]
        assert not [query for query in queries if "alttext_" in query["sql"]]

    def test_a_description_typed_in_the_library_is_an_act(
        self, make_library_image, editor, chief, suggest, collection, committed
    ):
        image = make_library_image()
        suggest(self.library(image), "A boat")
        data = {"title": image.title, "description": "A boat", "collection": collection.pk, "tags": "", "file": ""}
        with committed():
            answer = editor.post(f"/cms/images/{image.pk}/", data)
        assert answer.status_code == 302
        decision = Decision.objects.get()
        assert (decision.placement, decision.by, decision.outcome) == (self.library(image), chief, "AS_IS")

    def test_a_description_reaches_the_uses_that_show_it(self, make_library_image, make_page, committed):
        image = make_library_image()
        page = make_page(teaser=image)
        assert known(page, "teaser").state == State.OPEN
        image.description = "Described"
        with committed():
            image.save()
        assert (known(page, "teaser").current_alt, known(page, "teaser").state) == ("Described", State.HUMAN)
        assert not Decision.objects.exists()

    def test_a_replaced_file_overtakes_what_was_suggested_for_all_its_uses(
        self, make_library_image, make_page, make_image, suggest, committed
    ):
        image = make_library_image()
        page = make_page(hero=image)
        suggestion, before = suggest(known(page, "hero")), known(page, "hero").asset_id
        image.file = ContentFile(make_image(), name="new.png")
        image._set_image_file_metadata()
        with committed():
            image.save()
        suggestion.refresh_from_db()
        assert suggestion.state == Suggestion.State.SUPERSEDED
        assert known(page, "hero").asset_id == self.library(image).asset_id != before

    def test_a_deleted_image_takes_its_uses_along(self, make_library_image, make_page, committed):
        image = make_library_image()
        page = make_page(body=[{"type": "image", "id": IMAGE, "value": block(image)}], teaser=image)
        library = self.library(image)
        with committed():
            image.delete()
        library.refresh_from_db()
        assert {library.state, known(page).state, known(page, "teaser").state} == {State.GONE}

    def test_images_are_not_said_to_be_used_by_the_workbench(self, make_library_image, make_page):
        image = make_library_image()
        make_page(hero=image)
        assert Placement.objects.exists()
        assert ReferenceIndex.get_references_to(image).count() == 1
        assert not any(model.__module__.startswith("alttext.models") for model in ReferenceIndex.indexed_models)


class TestKeys:
    def test_an_editor_is_told_key_image_and_path_of_each_use(self, page, save, make_library_image):
        image = make_library_image()
        save(page, image=image, hero=str(image.pk))
        found = editing.keys_of(ArticlePage.objects.get(pk=page.pk).get_latest_revision_as_object())
        path = f"body.{IMAGE}"
        assert found == [
            editing.Use(keys.page_key(page.pk, "hero"), image.pk, "hero"),
            editing.Use(keys.page_key(page.pk, path), image.pk, path),
        ]


class TestCost:
    @pytest.fixture
    def large(self, make_page, make_library_image):
        image = make_library_image()
        page = make_page(draft=True)
        page.body = [
            {"type": "image", "id": f"{number:08d}-bbbb-4000-8000-000000000000", "value": block(image)}
            for number in range(300)
        ]
        page.save_revision()
        return ArticlePage.objects.get(pk=page.pk).get_latest_revision_as_object()

    @pytest.mark.slow
    def test_a_page_with_300_images_costs_a_bounded_number_of_queries_when_nothing_changed(
        self, large, chief, at, adapter
    ):
        editing.record_page(large, by=chief, at=at)
        assert Placement.objects.filter(key__startswith=keys.page_head(large.pk), state=State.OPEN).count() == 300
        fresh = ArticlePage.objects.get(pk=large.pk).get_latest_revision_as_object()
        with CaptureQueriesContext(connection) as saved:
            editing.record_page(fresh, by=chief, at=at)
        with CaptureQueriesContext(connection) as timer:
            editing.note_new(fresh)
        assert len(saved) <= 8
        assert len(timer) <= 8
        with CaptureQueriesContext(connection) as listed:
            assert len([place for place in adapter.places() if place.key.startswith("page:")]) == 300
        assert len(listed) <= 14

    def test_connecting_again_changes_nothing(self, page, save, make_library_image):
        signals.connect()
        signals.connect()
        image = make_library_image()
        save(page, image=image)
        save(page, image=image, alt="A boat")
        assert Decision.objects.count() == 1
