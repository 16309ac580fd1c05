"""The adapter for django CMS: the shared contract on a real page with versions, and what is special to it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from cms.api import add_plugin
from cms.models import CMSPlugin
from django.core.files.base import ContentFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from djangocms_versioning.models import Version
from filer.models import File, Image

from alttext.adapters import Alt, ChangedElsewhere, NotThere, Refused, TextDoesNotFit
from alttext.contrib.djangocms import editing, keys
from alttext.contrib.djangocms.adapter import DjangoCMSAdapter
from alttext.contrib.djangocms.keys import FileKey, NewKey, PageKey
from alttext.models import Decision, Placement, Suggestion
from alttext.operations import decisions, placements
from tests.conftest import picture
from tests.contrib.adapter_contract import AdapterContract
from tests.contrib.djangocms import stage as cms
from tests.contrib.djangocms.stage import CmsStage, library_image

pytestmark = pytest.mark.django_db
IN_DRAFT = "Saved in the draft of the page; it shows once the page is published."
IN_NEW_DRAFT = "Saved in a new draft of the page; it shows once the page is published."


@pytest.fixture
def image():
    return library_image()


@pytest.fixture
def adapter():
    return DjangoCMSAdapter()


def found(page, language="en"):
    """The keys of one page in order."""
    return [place.key for place in DjangoCMSAdapter().places() if place.key.startswith(f"page:{page.pk}:{language}:")]


def place_of(page, number=0):
    return DjangoCMSAdapter().place(found(page)[number])


class TestContract(AdapterContract):
    """The contract, on a published page that has a draft."""


class TestKeys:
    def test_keys_survive_two_rounds_of_publishing_and_drafting(self, stage: CmsStage):
        before = found(stage.page)
        pks = {stage.plugin.pk}
        for _ in range(2):
            cms.publish(stage.page, stage.superuser)
            assert found(stage.page) == before
            cms.new_draft(stage.page, stage.superuser)
            assert found(stage.page) == before
            pks.add(stage.plugin.pk)
        assert len(pks) == 3  # other rows each time, as the CMS copies them

    def test_edits_above_and_moves_within_the_slot_leave_keys_as_they_are(self, page, into):
        images = [library_image(), library_image()]
        first, second = (cms.photo(into, image) for image in images)
        before = found(page)
        cms.photo(into, library_image(), position="first-child")
        cms.text(into, "<p>x</p>")
        assert found(page)[1:] == before
        first = CMSPlugin.objects.get(pk=first.pk)
        into.move_plugin(first, CMSPlugin.objects.get(pk=second.pk).position)
        assert sorted(found(page)[1:]) == sorted(before)
        assert found(page)[1:] != before

    def test_the_same_file_twice_gives_two_keys(self, page, into, image):
        cms.photo(into, image)
        cms.photo(into, image)
        one, two = found(page)
        assert (one[-2:], two[-2:]) == (":1", ":2")

    def test_each_language_has_places_of_its_own(self, root, page, into, image):
        from cms.api import create_page_content

        cms.photo(into, image, attributes={"alt": "Tulips"})
        create_page_content("de", "Frühling", page, created_by=root, template=cms.TEMPLATE)
        assert found(page, "de") == []  # what visitors get there as a fallback is the English use
        cms.photo(cms.slot(page, "de"), image)
        (english,), (german,) = found(page, "en"), found(page, "de")
        assert DjangoCMSAdapter().place(german).language == "de"
        assert DjangoCMSAdapter().place(german).alt == Alt()
        assert DjangoCMSAdapter().place(english).alt == Alt("Tulips")

    @pytest.mark.parametrize(
        "key",
        [
            PageKey(1, "en", "content", "PicturePlugin", "picture", 7, 1),
            PageKey(10**11, "zh-hant-hk", "~" + "0" * 20, "x" * 50, "text", 10**11, 10**11),
            FileKey(5),
            NewKey(1, "pt-br", 3, "PicturePlugin", 9, 1_700_000_000),
        ],
    )
    def test_a_key_is_read_as_it_was_written(self, key):
        assert keys.parse(str(key)) == key
        assert len(str(key)) <= 200

    @pytest.mark.parametrize(
        "key",
        [
            *("page:0:en:content:PicturePlugin.picture:1:1", "page:01:en:content:PicturePlugin.picture:1:1"),
            *("page:1:en:content:PicturePlugin:1:1", "page:1::content:PicturePlugin.picture:1:1", "file:", "file:0"),
            *(
                "file:-1",
                "file:1 ",
                "file:" + "9" * 40,
                "new:1:en:1:PicturePlugin:1",
                "FILE:1",
                "file:１",
                "\x00",
                "a" * 999,
            ),
        ],
    )
    def test_no_other_text_is_a_key(self, adapter, key):
        for act in (adapter.place, adapter.read_image):
            with pytest.raises(NotThere):
                act(key)
        with pytest.raises(NotThere):
            adapter.apply(key, alt=Alt("x"), expected=Alt(), by=None)

    def test_a_slot_with_a_long_or_odd_name_fits_into_a_key(self, page, into, image):
        cms.photo(into, image)
        into.slot = "näme with : and spaces " * 8
        into.save()
        page_content = cms.content(page)
        page_content.template = "INHERIT"  # no template names such a slot here
        page_content.save()
        (key,) = found(page)
        assert len(key) <= 200
        assert DjangoCMSAdapter().place(key).key == key


class TestNewest:
    def test_only_the_newest_content_is_told(self, stage: CmsStage):
        assert Version.objects.count() == 2
        assert len(found(stage.page)) == 1
        stage.change("In the draft")
        assert stage.alt() == Alt("In the draft")

    def test_what_was_taken_back_or_archived_is_no_place(self, root, page, into, image):
        cms.photo(into, image)
        cms.publish(page, root)
        assert len(found(page)) == 1
        cms.version(page).unpublish(root)
        assert found(page) == []
        with pytest.raises(NotThere):
            DjangoCMSAdapter().place(f"page:{page.pk}:en:content:PicturePlugin.picture:{image.pk}:1")

    def test_an_archived_draft_gives_way_to_what_is_published(self, stage: CmsStage):
        stage.change("In the draft")
        cms.version(stage.page).archive(stage.superuser)
        assert stage.alt() == Alt()

    def test_a_reverted_version_counts_again(self, root, page, into, image):
        cms.photo(into, image, attributes={"alt": "Old"})
        cms.publish(page, root)
        old = cms.version(page)
        cms.new_draft(page, root)
        cms.slot(page).clear()
        cms.publish(page, root)
        assert found(page) == []
        Version.objects.get(pk=old.pk).copy(root)
        assert place_of(page).alt == Alt("Old")

    def test_a_slot_that_the_template_no_longer_shows_is_no_place(self, root, image):
        page = cms.page(root, template=cms.TWO_COLUMNS)
        for slot in cms.content(page).get_placeholders():
            cms.photo(slot, image)
        assert len(found(page)) == 2
        page_content = cms.content(page)
        page_content.template = cms.TEMPLATE
        page_content.save()
        assert [keys.parse(key).slot for key in found(page)] == ["content"]

    def test_where_pages_have_no_versions_the_one_content_counts(self, monkeypatch, page, into, image):
        from django.apps import apps

        extension = apps.get_app_config("djangocms_versioning").cms_extension
        cms.photo(into, image)
        monkeypatch.setattr(extension, "is_content_model_versioned", lambda model: False)
        (key,) = found(page)
        editor = cms.user("root", superuser=True)
        assert DjangoCMSAdapter().apply(key, alt=Alt("At once"), expected=Alt(), by=editor) == ""
        assert DjangoCMSAdapter().place(key).alt == Alt("At once")

    def test_changed_pages_and_images_are_told_since_a_moment(self, root, image):
        quiet, changed = cms.page(root), cms.page(root)
        for each in (quiet, changed):
            cms.photo(cms.slot(each), image)
        past = timezone.now() - timedelta(days=2)
        from cms.models import PageContent

        PageContent.admin_manager.all().update(changed_date=past)
        Version.objects.update(modified=past)
        CMSPlugin.objects.update(changed_date=past)
        Image.objects.update(modified_at=past)
        since = timezone.now() - timedelta(days=1)
        assert list(DjangoCMSAdapter().places_since(since)) == []
        CMSPlugin.objects.filter(placeholder=cms.slot(changed)).update(changed_date=timezone.now())
        assert [place.key for place in DjangoCMSAdapter().places_since(since)] == found(changed)


class TestHoldings:
    def test_each_kind_of_plugin_tells_its_image(self, page, into):
        images = [library_image() for _ in range(5)]
        cms.photo(into, images[0], attributes={"alt": "One"})
        cms.component(into, "ImagePlugin", picture=cms.reference(images[1]), attributes={"alt": "Two"})
        carousel = cms.component(into, "CarouselPlugin")
        cms.component(into, "CarouselSlidePlugin", target=carousel, carousel_image=cms.reference(images[2]))
        cms.text(into, f'<p><img data-cms-src="filer.image:{images[3].pk}" alt="Four"></p>')
        add_plugin(into, "IllustrationPlugin", "en", image=images[4], alt_text="Five")
        places = [place for place in DjangoCMSAdapter().places() if place.key.startswith("page:")]
        assert [(place.alt.text, place.stores_decorative, place.kind) for place in places] == [
            ("One", True, "picture plugin"),
            ("Two", True, "image plugin"),
            ("", True, "carousel slide plugin"),
            ("Four", False, "image in a text"),
            ("Five", True, "illustration plugin"),
        ]
        assert [place.image_name for place in places] == [Path(image.file.name).name for image in images]
        assert all(place.fingerprint.startswith("sha1:") for place in places)

    @pytest.mark.parametrize(
        ("make", "expected"),
        [
            ({}, Alt()),
            ({"alt": ""}, Alt(decorative=True)),
            ({"alt": "A text"}, Alt("A text")),
            ({"Alt": "Capital"}, Alt("Capital")),
            ({"ALT": ""}, Alt(decorative=True)),
            ({"alt": "small", "Alt": "Capital"}, Alt("small")),
            ({"alt": None}, Alt()),
            ({"alt": "  "}, Alt("  ")),
        ],
    )
    def test_an_absent_key_is_undecided_and_an_empty_one_decorative(self, page, into, image, make, expected):
        cms.photo(into, image, attributes=make)
        cms.component(into, "ImagePlugin", picture=cms.reference(image), attributes=make)
        assert [place_of(page, number).alt for number in (0, 1)] == [expected, expected]

    def test_writing_leaves_one_spelling_and_all_other_attributes(self, root, page, into, image):
        plugin = cms.photo(into, image, attributes={"class": "wide", "Alt": "Capital", "data-x": "1"})
        (key,) = found(page)
        DjangoCMSAdapter().apply(key, alt=Alt("New"), expected=Alt("Capital"), by=root)
        plugin.refresh_from_db()
        assert plugin.attributes == {"class": "wide", "data-x": "1", "alt": "New"}

    def test_taking_back_leaves_no_key(self, root, page, into, image):
        plugin = cms.component(into, "ImagePlugin", picture=cms.reference(image), attributes={"alt": "x", "id": "y"})
        before = dict(plugin.config)
        (key,) = found(page)
        DjangoCMSAdapter().apply(key, alt=Alt(), expected=Alt("x"), by=root)
        plugin.refresh_from_db()
        assert plugin.config == {**before, "attributes": {"id": "y"}}

    def test_the_form_of_a_slide_keeps_the_text_of_its_image(self, root, page, into, image):
        carousel = cms.component(into, "CarouselPlugin")
        slide = cms.component(into, "CarouselSlidePlugin", target=carousel, carousel_image=cms.reference(image))
        (key,) = found(page)
        DjangoCMSAdapter().apply(key, alt=Alt("The moon"), expected=Alt(), by=root)
        from djangocms_frontend.contrib.carousel.forms import CarouselSlideForm

        slide = type(slide).objects.get(pk=slide.pk)
        form = CarouselSlideForm(
            {"carousel_image": image.pk, "carousel_content": "", "tag_type": "div"}, instance=slide
        )
        assert form.is_valid(), form.errors
        form.save()
        assert DjangoCMSAdapter().place(key).alt == Alt("The moon")

    def test_an_external_address_leaves_the_library_image_out(self, page, into, image):
        cms.photo(into, image, external_picture="https://example.org/x.png")
        cms.photo(into, None, external_picture="https://example.org/x.png")
        cms.component(into, "ImagePlugin", picture=cms.reference(image), external_picture="https://example.org/x.png")
        assert found(page) == []

    @pytest.mark.parametrize(
        "reference",
        [
            *({"model": "filer.image", "pk": 999_999}, {"model": "filer.image", "pk": "x"}, {"model": "filer.image"}),
            *({"model": "auth.user", "pk": 1}, {"pk": 1}, {"model": None, "pk": None}, [], "filer.image:1", 7, None),
        ],
    )
    def test_a_reference_that_leads_nowhere_is_no_place(self, page, into, image, reference):
        cms.component(into, "ImagePlugin", picture=reference)
        assert found(page) == []

    def test_a_plain_file_is_no_image(self, page, into):
        scan = File.objects.create(original_filename="scan.tiff", file=ContentFile(b"II*\x00", name="scan.tiff"))
        cms.component(into, "ImagePlugin", picture={"model": "filer.image", "pk": scan.pk})
        cms.text(into, f'<p><img data-cms-src="filer.image:{scan.pk}" alt=""></p>')
        assert list(DjangoCMSAdapter().places()) == []
        with pytest.raises(NotThere):
            DjangoCMSAdapter().read_image(f"file:{scan.pk}")

    def test_an_svg_is_an_image_like_others(self, adapter, page, into):
        svg = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'
        cms.photo(into, library_image(svg, name="drawing.svg"))
        (key,) = found(page)
        assert adapter.read_image(key) == svg

    def test_heic_is_read_as_the_bytes_it_is(self, adapter, page, into):
        data = b"\x00\x00\x00\x18ftypheic" + b"\x00" * 40
        cms.photo(into, library_image(data, name="photo.heic"))
        (key,) = found(page)
        assert adapter.read_image(key) == data

    def test_a_plugin_whose_code_is_gone_is_passed_over_with_all_in_it(self, page, into, image):
        text = cms.text(into, "<p>x</p>")
        cms.photo(into, image, target=text)
        CMSPlugin.objects.filter(pk=text.pk).update(plugin_type="GonePlugin")
        assert found(page) == []

    def test_an_image_without_a_decorative_column_cannot_say_so(self):
        from alttext.contrib.djangocms.stores import Column

        class Row:
            alt = "x"

        store, row = Column("alt", 20), Row()
        assert not store.knows_decorative
        assert store.write(row, Alt(decorative=True)) == ["alt"]
        assert store.read(row) == Alt()
        with pytest.raises(TextDoesNotFit) as refused:
            store.write(row, Alt("x" * 21))
        assert refused.value.limit == 20


class TestLibrary:
    def test_each_image_has_a_place_for_its_default_text(self, adapter, root):
        image = library_image(alt="A default", label="Tulips in spring")
        (place,) = adapter.places()
        assert (place.key, place.alt, place.scope) == (f"file:{image.pk}", Alt("A default"), "file")
        assert place.page_title == "Tulips in spring"
        assert place.page_url == f"/admin/filer/image/{image.pk}/change/"
        assert place.context.before == place.context.title == ""
        assert adapter.apply(place.key, alt=Alt(), expected=Alt("A default"), by=root) == ""
        assert adapter.place(place.key).alt == Alt()

    def test_an_image_whose_file_lies_in_a_private_storage_is_read(self, adapter):
        data = picture()
        image = library_image(data)
        image.is_public = False
        image.save()
        assert adapter.read_image(f"file:{image.pk}") == data

    def test_an_image_without_a_file_is_no_place(self, adapter, page, into):
        image = library_image()
        cms.photo(into, image)
        Image.objects.filter(pk=image.pk).update(file="")
        assert list(adapter.places()) == []
        Image.objects.filter(pk=image.pk).update(file=None)
        assert list(adapter.places()) == []

    def test_a_file_replaced_under_the_same_id_keeps_the_key_and_gives_the_new_bytes(self, adapter, page, into, image):
        cms.photo(into, image)
        (key,) = found(page)
        before = adapter.place(key).fingerprint
        data = picture()
        image.file = ContentFile(data, name="other.png")
        image.save()
        assert found(page) == [key]
        assert adapter.read_image(key) == data
        assert adapter.place(key).fingerprint != before

    def test_an_image_deleted_from_the_library_is_not_there(self, adapter, page, into, image):
        cms.photo(into, image)
        cms.component(into, "ImagePlugin", picture=cms.reference(image))
        one, two = found(page)
        image.delete()
        assert found(page) == []
        for key in (one, two):
            with pytest.raises(NotThere):
                adapter.place(key)
            with pytest.raises(NotThere):
                adapter.read_image(key)


class TestWriting:
    def test_into_the_draft_that_is_there(self, stage: CmsStage):
        drafts = Version.objects.filter(state="draft").count()
        assert stage.adapter.apply(stage.key, alt=Alt("New"), expected=Alt(), by=stage.editor) == IN_DRAFT
        assert Version.objects.filter(state="draft").count() == drafts
        assert stage.plugin.attributes == {"alt": "New"}

    def test_what_is_published_stays_as_it_is(self, stage: CmsStage):
        published = cms.plugins(cms.slot(stage.page, state="published"))
        before = [(row.pk, row.changed_date) for row in published]
        stage.adapter.apply(stage.key, alt=Alt("New"), expected=Alt(), by=stage.editor)
        after = cms.plugins(cms.slot(stage.page, state="published"))
        assert [(row.pk, row.changed_date) for row in after] == before
        assert after[1].attributes == {}

    def test_a_published_page_gets_a_draft_with_the_text(self, root, page, into, image):
        editor = cms.user("editor", *cms.RIGHTS, *cms.PLUGINS)
        cms.photo(into, image)
        cms.publish(page, root)
        (key,) = found(page)
        assert DjangoCMSAdapter().apply(key, alt=Alt("New"), expected=Alt(), by=editor) == IN_NEW_DRAFT
        version = cms.version(page)
        assert (version.state, version.created_by) == ("draft", editor)
        assert found(page) == [key]
        assert DjangoCMSAdapter().place(key).alt == Alt("New")
        assert cms.plugins(cms.slot(page, state="published"))[0].attributes == {}
        assert DjangoCMSAdapter().apply(key, alt=Alt("Newer"), expected=Alt("New"), by=editor) == IN_DRAFT
        assert Version.objects.filter(state="archived").count() == 0

    def test_a_refused_write_leaves_no_draft_behind(self, root, page, into, image):
        cms.photo(into, image, attributes={"alt": "Standing"})
        cms.publish(page, root)
        (key,) = found(page)
        with pytest.raises(ChangedElsewhere):
            DjangoCMSAdapter().apply(key, alt=Alt("New"), expected=Alt(), by=root)
        assert cms.version(page).state == "published"

    def test_the_date_of_the_version_follows_and_caches_are_cleared(self, stage, django_capture_on_commit_callbacks):
        from cms.cache.placeholder import get_placeholder_cache, set_placeholder_cache
        from django.test import RequestFactory

        Version.objects.update(modified=timezone.now() - timedelta(days=1))
        into, request = cms.slot(stage.page), RequestFactory().get("/")
        set_placeholder_cache(into, lang="en", site_id=1, content={"content": "old", "sekizai": {}}, request=request)
        assert get_placeholder_cache(into, lang="en", site_id=1, request=request)
        with django_capture_on_commit_callbacks(execute=True):
            stage.adapter.apply(stage.key, alt=Alt("New"), expected=Alt(), by=stage.editor)
        assert timezone.now() - cms.version(stage.page).modified < timedelta(minutes=1)
        assert not get_placeholder_cache(into, lang="en", site_id=1, request=request)

    def test_only_the_columns_of_the_text_are_saved(self, stage: CmsStage):
        from djangocms_picture.models import Picture

        plugin = stage.plugin
        with CaptureQueriesContext(connection) as asked:
            stage.adapter.apply(stage.key, alt=Alt("New"), expected=Alt(), by=stage.editor)
        table = Picture._meta.db_table
        (update,) = [row["sql"] for row in asked.captured_queries if row["sql"].startswith(f'UPDATE "{table}"')]
        assert "caption_text" not in update
        assert "attributes" in update
        plugin.refresh_from_db()
        assert plugin.caption_text == "By the old wall"

    def test_another_author_in_between_is_noticed_under_the_lock(self, stage: CmsStage, monkeypatch):
        from alttext.contrib.djangocms import writing

        allow = writing._allow
        monkeypatch.setattr(writing, "_allow", lambda spot, by: (allow(spot, by), stage.change("Faster")))
        with pytest.raises(ChangedElsewhere):
            stage.adapter.apply(stage.key, alt=Alt("Mine"), expected=Alt(), by=stage.editor)

    @pytest.mark.django_db(transaction=True)
    def test_of_many_writers_to_a_published_page_one_wins_and_one_draft_is_made(self, root, page, into, image):
        cms.photo(into, image)
        cms.publish(page, root)
        (key,) = found(page)
        barrier = threading.Barrier(4)

        def write(number: int) -> str:
            barrier.wait(timeout=30)
            try:
                DjangoCMSAdapter().apply(key, alt=Alt(f"Text {number}"), expected=Alt(), by=root)
            except ChangedElsewhere:
                return ""
            finally:
                connection.close()
            return f"Text {number}"

        with ThreadPoolExecutor(4) as threads:
            written = [text for text in threads.map(write, range(4)) if text]
        assert [DjangoCMSAdapter().place(key).alt.text] == written
        assert sorted(Version.objects.values_list("state", flat=True)) == ["draft", "published"]


class TestRichText:
    @pytest.fixture
    def text(self, into, image):
        this, other = f'data-cms-src="filer.image:{image.pk}"', f'data-cms-src="filer.image:{library_image().pk}"'
        body = (
            f'<p>Fish &amp; chips&nbsp;<img src="/m/a.png"  {this} alt="One" title="t"> x</p>\n'
            f'<p><img alt="Two" {other}><img {this}></p><p><img src="/pasted.png" alt="Pasted"></p>'
        )
        plugin = cms.text(into, "<p>x</p>")
        type(plugin).objects.filter(pk=plugin.pk).update(body=body)
        plugin.refresh_from_db()
        return plugin

    def test_each_library_image_is_a_place_and_pasted_ones_are_not(self, page, text):
        assert [DjangoCMSAdapter().place(key).alt.text for key in found(page)] == ["One", "Two", ""]

    def test_only_the_alt_of_the_addressed_image_changes(self, root, page, text):
        before, (one, two, three) = text.body, found(page)
        DjangoCMSAdapter().apply(one, alt=Alt('New "text" <b>'), expected=Alt("One"), by=root)
        text.refresh_from_db()
        assert text.body == before.replace('alt="One"', 'alt="New &quot;text&quot; &lt;b&gt;"')
        DjangoCMSAdapter().apply(three, alt=Alt("Three"), expected=Alt(), by=root)
        assert [DjangoCMSAdapter().place(key).alt.text for key in (one, two, three)] == [
            'New "text" <b>',
            "Two",
            "Three",
        ]
        DjangoCMSAdapter().apply(two, alt=Alt(decorative=True), expected=Alt("Two"), by=root)
        assert DjangoCMSAdapter().place(two).alt == Alt()

    def test_the_editors_own_form_of_the_text_is_changed_alike(self, root, page, text):
        three = found(page)[2]
        text.json = document(page, ["One", "Two", None])
        text.rte = "tiptap"
        type(text).objects.filter(pk=text.pk).update(json=text.json, rte="tiptap")
        DjangoCMSAdapter().apply(three, alt=Alt("Three"), expected=Alt(), by=root)
        text.refresh_from_db()
        assert text.json == document(page, ["One", "Two", "Three"])

    @pytest.mark.parametrize(
        ("alts", "rte"),
        [
            (["Other", "Two", None], "tiptap"),
            (["One", "Two"], "tiptap"),
            (["One", "Two", None], "another"),
            ([], "tiptap"),
        ],
    )
    def test_a_second_form_that_differs_is_not_guessed_at(self, root, page, text, alts, rte):
        type(text).objects.filter(pk=text.pk).update(json=document(page, alts), rte=rte)
        with pytest.raises(Refused, match="editor"):
            DjangoCMSAdapter().apply(found(page)[0], alt=Alt("New"), expected=Alt("One"), by=root)
        before = text.body
        text.refresh_from_db()
        assert text.body == before

    def test_broken_markup_gives_the_images_that_browsers_show(self, page, into, image):
        cms.text(into, "<p>x</p>")
        from djangocms_text.models import Text

        this = f'<img data-cms-src="filer.image:{image.pk}'
        Text.objects.update(body=f"<!-- {this}\"> --><p>{this}\" alt=x><img data-cms-src='nonsense'>{this} alt=>")
        assert [DjangoCMSAdapter().place(key).alt.text for key in found(page)] == ["x"]

    def test_the_copy_in_a_draft_has_the_same_keys(self, root, page, text):
        before = found(page)
        cms.publish(page, root)
        cms.new_draft(page, root)
        assert found(page) == before


def document(page, alts):
    """A Tiptap document with the images of the text on `page`."""
    files = [keys.parse(key).file for key in found(page)]
    nodes = [
        {"type": "image", "attrs": {"src": "/m.png", "alt": alt, "data-cms-src": f"filer.image:{file}"}}
        for file, alt in zip(files, alts, strict=False)
    ]
    return {"type": "doc", "content": [{"type": "paragraph", "content": [{"type": "text", "text": "x"}, *nodes]}]}


class TestAboutToBe:
    def new_key(self, into, image, *, position=2, kind="PicturePlugin", hours=0.0):
        return editing.new_key(
            placeholder_id=into.pk, language="en", position=position, plugin_type=kind, file_id=image.pk,
            at=timezone.now() - timedelta(hours=hours),
        )  # fmt: skip

    def test_the_words_are_those_at_the_position(self, adapter, page, into, image):
        cms.text(into, "<h2>Part</h2><p>Before</p>")
        cms.text(into, "<p>After</p>")
        key = self.new_key(into, image)
        place = adapter.place(key)
        assert (place.context.headings, place.context.before, place.context.after) == (("Part",), "Before", "After")
        assert (place.key, place.alt, place.page_title) == (key, Alt(), "Spring tulips")
        assert place.scope == f"page:{page.pk}:PicturePlugin"
        assert adapter.read_image(key)
        assert adapter.place(self.new_key(into, image, position=1)).context.before == ""
        assert adapter.place(self.new_key(into, image, position=99)).context.after == ""

    def test_it_is_in_no_listing_and_takes_no_text(self, adapter, root, into, image):
        key = self.new_key(into, image)
        assert [place.key for place in adapter.places()] == [f"file:{image.pk}"]
        with pytest.raises(Refused, match="not on the page yet"):
            adapter.apply(key, alt=Alt("x"), expected=Alt(), by=root)

    @pytest.mark.parametrize("hours", [24.1, 9_000, -1])
    def test_it_ends_after_a_day(self, adapter, into, image, hours):
        with pytest.raises(NotThere):
            adapter.place(self.new_key(into, image, hours=hours))
        adapter.place(self.new_key(into, image, hours=23.9))

    def test_what_it_names_must_be_there(self, adapter, into, image):
        for key in (
            self.new_key(into, image, kind="NoSuchPlugin"),
            self.new_key(into, image).replace(":en:", ":de:"),
            self.new_key(into, image).replace(f":{image.pk}:", ":99999:"),
            self.new_key(into, image).replace("new:", "new:9999"),
        ):
            with pytest.raises(NotThere):
                adapter.place(key)

    def test_only_those_who_may_edit_the_page_may_see_it(self, adapter, at, into, image):
        placement, _ = placements.refresh(adapter, adapter.place(self.new_key(into, image)), at=at)
        for who, may in ((cms.user("editor", *cms.RIGHTS, *cms.PLUGINS), True), (cms.user("other"), False)):
            assert Placement.objects.filter(adapter.editable(who), pk=placement.pk).exists() is may

    def test_saving_takes_the_suggestion_along_and_records_the_act(self, adapter, at, root, into, image, suggest):
        key = self.new_key(into, image, position=1)
        placement, _ = placements.refresh(adapter, adapter.place(key), at=timezone.now())
        suggest(placement, "Red tulips by a wall", when=timezone.now())
        plugin = cms.photo(into, image, attributes={"alt": "Red tulips by a wall"})
        editing.after_save(plugin, by=root, new_key=key)
        placement.refresh_from_db()
        assert placement.key == editing.key_of(plugin)
        decision = Decision.objects.get(placement=placement)
        assert (decision.outcome, decision.by, decision.final_text) == ("AS_IS", root, "Red tulips by a wall")
        assert Suggestion.objects.get(placement=placement).state == "AS_IS"


class TestEditing:
    def test_keys_of_a_plugin_are_those_of_the_listing(self, page, into, image):
        plugins = [
            cms.photo(into, image),
            cms.photo(into, image),
            cms.component(into, "ImagePlugin", picture=cms.reference(image)),
            cms.text(
                into, f'<p><img data-cms-src="filer.image:{image.pk}"><img data-cms-src="filer.image:{image.pk}"></p>'
            ),
        ]
        assert [key for plugin in plugins for key in editing.keys_of(plugin)] == found(page)
        assert editing.key_of(plugins[1]) == editing.key_of(plugins[1], "picture") == found(page)[1]
        assert editing.key_of(plugins[3], "2") == found(page)[4]
        assert editing.key_of(plugins[0], "no_such_part") == ""

    def test_a_plugin_on_no_page_or_without_an_image_has_no_key(self, into):
        from cms.models import Placeholder

        clipboard = Placeholder.objects.create(slot="clipboard")
        assert editing.keys_of(add_plugin(clipboard, "PicturePlugin", "en", picture=library_image())) == []
        assert editing.keys_of(cms.photo(into, None)) == []
        assert editing.keys_of(CMSPlugin(pk=99_999)) == []

    def test_a_text_saved_in_the_plugin_form_is_an_act_of_its_author(self, stage: CmsStage):
        placements.refresh(stage.adapter, stage.adapter.place(stage.key), at=timezone.now())
        stage.change("By hand")
        editing.after_save(stage.plugin, by=stage.editor)
        decision = Decision.objects.get()
        assert (decision.by, decision.final_text, decision.act) == (stage.editor, "By hand", "SAVE")
        editing.after_save(stage.plugin, by=stage.editor)
        assert Decision.objects.count() == 1

    def test_a_failure_never_reaches_the_authors_save(self, stage: CmsStage, monkeypatch, caplog):
        def broken(**rest):
            raise RuntimeError("out of order")

        monkeypatch.setattr(decisions, "record_written", broken)
        editing.after_save(stage.plugin, by=stage.editor)
        monkeypatch.setattr(placements, "placed", broken)
        editing.after_save(stage.plugin, by=stage.editor, new_key="new:1")
        assert ["recorded" in line or "taken along" in line for line in caplog.messages] == [True, True]

    def test_a_lost_file_is_no_failure(self, stage: CmsStage, caplog):
        stage.lose_file()
        editing.after_save(stage.plugin, by=stage.editor)
        assert caplog.text == ""
