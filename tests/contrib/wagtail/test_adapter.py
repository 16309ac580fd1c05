"""The adapter for Wagtail: the shared contract in each place where an alt text is kept, and what is special to each."""

from __future__ import annotations

import hashlib

import pytest
from django.apps import apps
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.db import connection, models
from django.utils import timezone

from alttext.adapters import Alt, ChangedElsewhere, Refused, TextDoesNotFit
from alttext.contrib.wagtail import documents, keys
from alttext.models import Placement
from alttext.project.wagtail_site.models import ArticlePage
from tests.contrib.adapter_contract import EXACT, LONG, AdapterContract
from tests.contrib.wagtail import stage as stages


@pytest.fixture
def make_stage(make_page, make_library_image, make_editor, make_user, home, collection, make_image):
    def make(kind):
        return kind(make_page, make_library_image, make_editor, make_user, home, collection, make_image)

    return make


class TestBlock(AdapterContract):
    """An ImageBlock in the body."""

    @pytest.fixture
    def stage(self, make_stage):
        return make_stage(stages.PageStage)


class TestNestedBlock(AdapterContract):
    """An ImageBlock in a stream within a struct within the body."""

    @pytest.fixture
    def stage(self, make_stage):
        return make_stage(stages.NestedStage)


class TestRichText(AdapterContract):
    """An image in rich text."""

    @pytest.fixture
    def stage(self, make_stage):
        return make_stage(stages.RichTextStage)


class TestHero(AdapterContract):
    """A foreign key whose text has a column of its own, but no mark for "decorative"."""

    @pytest.fixture
    def stage(self, make_stage):
        return make_stage(stages.HeroStage)

    @pytest.mark.parametrize("text", [text for text in EXACT if text != LONG])
    def test_a_text_is_written_to_the_byte(self, stage, text):
        stage.adapter.apply(stage.key, alt=Alt(text), expected=Alt(), by=stage.editor)
        assert stage.adapter.place(stage.key).alt == Alt(text)

    def test_decorative_is_written_and_taken_back(self, stage):
        assert not stage.adapter.place(stage.key).stores_decorative
        stage.adapter.apply(stage.key, alt=Alt("Words"), expected=Alt(), by=stage.editor)
        stage.adapter.apply(stage.key, alt=Alt(decorative=True), expected=Alt("Words"), by=stage.editor)
        assert stage.adapter.place(stage.key).alt == Alt()
        stage.adapter.apply(stage.key, alt=Alt("Again"), expected=Alt(decorative=True), by=stage.editor)
        assert stage.adapter.place(stage.key).alt == Alt("Again")


@pytest.fixture(scope="module")
def card_models(django_db_setup, django_db_blocker):
    """A snippet with rows of its own: what the example site has none of. Wagtail's registry is not touched."""
    from modelcluster.fields import ParentalKey
    from modelcluster.models import ClusterableModel
    from wagtail.fields import RichTextField
    from wagtail.models import Orderable

    class Card(ClusterableModel):
        name = models.CharField(max_length=50)
        words = RichTextField(blank=True)

        panels = ["name", "photos", "words"]

        class Meta:
            app_label = "wagtail_site"

        def __str__(self):
            return self.name

    class CardPhoto(Orderable):
        card = ParentalKey(Card, on_delete=models.CASCADE, related_name="photos")
        photo = models.ForeignKey("wagtailimages.Image", on_delete=models.CASCADE, related_name="+")
        photo_alt = models.CharField(max_length=100, blank=True)
        photo_decorative = models.BooleanField(default=False)
        caption = models.CharField(max_length=100, blank=True)

        class Meta(Orderable.Meta):
            app_label = "wagtail_site"

    with django_db_blocker.unblock(), connection.schema_editor() as editor:
        editor.create_model(Card)
        editor.create_model(CardPhoto)
    yield Card, CardPhoto
    with django_db_blocker.unblock(), connection.schema_editor() as editor:
        editor.delete_model(CardPhoto)
        editor.delete_model(Card)
    for name in ("card", "cardphoto"):
        del apps.all_models["wagtail_site"][name]
    apps.clear_cache()
    ContentType.objects.clear_cache()


class TestSnippets:
    @pytest.fixture
    def card(self, card_models, make_library_image, monkeypatch, db):
        card_model, photo_model = card_models
        monkeypatch.setattr(documents, "get_snippet_models", lambda: [card_model])
        image = make_library_image()
        embed = f'<embed embedtype="image" format="left" id="{image.pk}"/>'
        card = card_model(name="Opening hours", words=f"<p>Daily</p>{embed}")
        card.photos = [photo_model(photo=image, caption="The gate"), photo_model(photo=image, caption="The lock")]
        card.save()
        yield card
        ContentType.objects.clear_cache()  # the row for this model goes with the transaction

    def keys_of(self, adapter):
        return [place.key for place in adapter.places() if place.key.startswith("snippet:")]

    def test_rows_of_a_panel_and_rich_text_are_uses(self, card, adapter):
        head = f"snippet:wagtail_site.card:{card.pk}:"
        gate, lock = card.photos.all()
        expected = [f"{head}photos.{row.pk}.photo" for row in (gate, lock)]
        assert self.keys_of(adapter) == [*expected, f"{head}words#{gate.photo_id}.1"]
        place = adapter.place(expected[0])
        assert (place.page_title, place.scope) == ("Opening hours", head.rstrip(":"))
        assert (place.context.caption, place.context.before, place.context.after) == (
            "The gate",
            "Opening hours",
            "The lock\nDaily",
        )

    def test_the_text_of_one_row_is_written_and_no_other(self, card, adapter, make_user):
        chief, (gate, lock, words) = make_user("admin"), self.keys_of(adapter)
        assert adapter.apply(lock, alt=Alt("An iron lock"), expected=Alt(), by=chief) == ""
        adapter.apply(words, alt=Alt(decorative=True), expected=Alt(), by=chief)
        adapter.apply(gate, alt=Alt(decorative=True), expected=Alt(), by=chief)
        alts = [adapter.place(key).alt for key in (gate, lock, words)]
        assert alts == [Alt(decorative=True), Alt("An iron lock"), Alt(decorative=True)]
        fresh = type(card).objects.get(pk=card.pk)
        assert [row.photo_alt for row in fresh.photos.all()] == ["", "An iron lock"]
        with pytest.raises(ChangedElsewhere):
            adapter.apply(lock, alt=Alt("x"), expected=Alt(), by=chief)
        with pytest.raises(TextDoesNotFit):
            adapter.apply(lock, alt=Alt("x" * 101), expected=Alt("An iron lock"), by=chief)

    def test_who_may_change_the_model_may_write(self, card, adapter, make_editor):
        kind = ContentType.objects.get_for_model(type(card))
        permission = Permission.objects.create(codename="change_card", name="x", content_type=kind)
        may, may_not = make_editor(), make_editor()
        may.user_permissions.add(permission)
        key = self.keys_of(adapter)[0]
        place = adapter.place(key)
        at = timezone.now()
        Placement.objects.create(
            adapter="wagtail", key=key, scope=place.scope, alt_hash=place.alt.hash, created_at=at, updated_at=at
        )
        assert Placement.objects.filter(adapter.editable(may)).exists()
        assert not Placement.objects.filter(adapter.editable(may_not)).exists()
        with pytest.raises(Refused, match="may not edit this entry"):
            adapter.apply(key, alt=Alt("x"), expected=Alt(), by=may_not)
        adapter.apply(key, alt=Alt("x"), expected=Alt(), by=may)


class TestListing:
    def test_places_say_what_holds_them(self, make_stage, adapter):
        make_stage(stages.RichTextStage)
        kinds = {place.kind: place.in_library for place in adapter.places()}
        assert kinds == {"image in rich text": False, "library image": True}

    def test_the_hash_that_wagtail_keeps_tells_that_a_file_is_known(self, make_stage, adapter):
        stage = make_stage(stages.PageStage)
        assert adapter.place(stage.key).fingerprint == ""
        stage.image._set_image_file_metadata()
        stage.image.save()
        assert adapter.place(stage.key).fingerprint == hashlib.sha1(stage.data).hexdigest()

    def test_a_page_whose_code_fails_is_left_out_and_logged(self, make_stage, adapter, monkeypatch, caplog):
        stage = make_stage(stages.PageStage)
        other = stage.make_page(hero=stage.image)
        address = ArticlePage.get_url

        def fail(page, *args, **kwargs):
            if page.pk == other.pk:
                raise RuntimeError("site code")
            return address(page, *args, **kwargs)

        monkeypatch.setattr(ArticlePage, "get_url", fail)
        caplog.set_level("CRITICAL", logger="alttext.wagtail")
        found = [place.key for place in adapter.places()]
        assert stage.key in found
        assert not [key for key in found if key.startswith(keys.page_head(other.pk))]

    def test_only_what_changed_since_is_listed(self, make_stage, adapter):
        stage = make_stage(stages.PageStage)
        ArticlePage.objects.update(first_published_at=None, last_published_at=None, latest_revision_created_at=None)
        now = timezone.now()
        assert list(adapter.places_since(now)) == []
        stage.change("Somebody's words")
        assert [place.key for place in adapter.places_since(now)] == [stage.key]

    def test_more_pages_than_one_chunk_are_listed_once(self, make_stage, adapter, monkeypatch):
        monkeypatch.setattr(documents, "CHUNK_ROWS", 2)
        stage = make_stage(stages.PageStage)
        for _ in range(4):
            stage.add()
        found = [place.key for place in adapter.places() if place.key.startswith("page:")]
        assert len(found) == len(set(found)) == 5
