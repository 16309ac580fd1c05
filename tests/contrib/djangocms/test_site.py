"""The example site: what it loads, that loading again changes nothing, and that its pages are sound."""

from __future__ import annotations

import html5lib
import pytest
from cms.models import CMSPlugin, PageContent
from django.contrib.auth import get_user_model
from django.test import Client
from djangocms_versioning.models import Version
from filer.models import Image

from alttext.project.cms_site import content

pytestmark = pytest.mark.django_db


@pytest.fixture
def site(at):
    return content.load(at=at)


def plugins(slug, language="en", state="published"):
    """The plugins of a page in document order, as instances of their own class."""
    for page_content in PageContent.admin_manager.filter(page__reverse_id=slug, language=language):
        if Version.objects.get_for_content(page_content).state == state:
            rows = CMSPlugin.objects.filter(placeholder__in=page_content.get_placeholders())
            return [row.get_plugin_instance()[0] for row in rows.order_by("placeholder", "position")]
    raise AssertionError(f"{slug} has no {state} version in {language}")


def of_type(slug, plugin_type, **where):
    return [plugin for plugin in plugins(slug, **where) if plugin.plugin_type == plugin_type]


def test_every_page_picture_and_account_is_loaded(site):
    assert (site.articles, site.files, site.accounts) == (20, 17, 3)
    assert site.illustrations == 23


def test_loading_again_creates_and_changes_nothing(site, at):
    before = list(CMSPlugin.objects.order_by("pk").values_list("pk", "changed_date"))
    again = content.load(at=at)
    assert (again.articles, again.illustrations, again.files, again.accounts) == (0, 0, 0, 0)
    assert list(CMSPlugin.objects.order_by("pk").values_list("pk", "changed_date")) == before


def test_each_kind_of_place_is_there(site):
    assert of_type("rocket-club", "PicturePlugin")[0].caption_text.startswith("Launch Complex 40")
    assert of_type("ticket-help", "ImagePlugin")[0].rel_image.original_filename == "reminders-window.png"
    assert [slide.rel_image.label for slide in of_type("observatory", "CarouselSlidePlugin")] == [
        "moon.png", "hubble_deep_field.jpg",
    ]  # fmt: skip
    assert len(of_type("photography-course", "GridColumnPlugin")) == 2
    assert of_type("clock-repair", "PicturePlugin")[0].parent.plugin_type == "AccordionItemPlugin"
    (text,) = of_type("cat-shelter", "TextPlugin")
    assert f'data-cms-src="filer.image:{Image.objects.get(original_filename="chelsea.png").pk}"' in text.body
    (child,) = of_type("quay-morning", "PicturePlugin")
    assert child.parent.plugin_type == "TextPlugin"
    assert f'id="{child.pk}"' in child.parent.get_plugin_instance()[0].body
    assert of_type("museum-visitors", "IllustrationPlugin")[0].image.original_filename == "visitors-2019-2025.png"


def test_a_linked_picture_leads_to_the_page_that_the_words_name(site):
    first, beside, ornament = of_type("whats-on", "PicturePlugin")
    assert first.link_page.reverse_id == "rocket-club"
    assert beside.parent.plugin_type == "TextLinkPlugin"
    assert beside.parent.get_plugin_instance()[0].name == "Read about the photography course"
    assert ornament.attributes == {"alt": ""}


def test_texts_by_people_are_as_they_were_given_and_undecided_images_have_none(site):
    assert of_type("coin-club", "PicturePlugin")[0].attributes["alt"].startswith("Twenty-four worn silver coins")
    german = of_type("coin-club", "PicturePlugin", language="de")[0]
    assert german.attributes["alt"].startswith("Vierundzwanzig abgegriffene Silbermünzen")
    assert of_type("rocket-club", "PicturePlugin")[0].attributes == {}
    assert Image.objects.get(original_filename="horse.png").default_alt_text == "Black outline of a horse"


def test_there_are_published_pages_newer_drafts_and_a_page_that_never_was_published(site):
    def states(slug, language="en"):
        found = PageContent.admin_manager.filter(page__reverse_id=slug, language=language)
        return sorted(Version.objects.get_for_content(item).state for item in found)

    assert states("rocket-club") == ["published"]
    assert states("rocket-club", "de") == ["published"]
    assert states("brickworks") == ["draft", "published"]
    assert states("shuttle-talk") == ["draft"]
    assert "Dogs are welcome" in plugins("brickworks", state="draft")[-1].body
    assert "Dogs are welcome" not in plugins("brickworks")[-1].body


def test_positions_in_each_placeholder_are_without_gaps(site):
    for page_content in PageContent.admin_manager.all():
        for placeholder in page_content.get_placeholders():
            positions = CMSPlugin.objects.filter(placeholder=placeholder).order_by("position")
            assert list(positions.values_list("position", flat=True)) == list(range(1, positions.count() + 1))


@pytest.mark.slow
def test_every_public_page_is_valid_html_with_its_language_and_every_image_has_one_alt(site):
    client = Client()
    seen = 0
    for page_content in PageContent.objects.all():
        answer = client.get(page_content.page.get_absolute_url(page_content.language))
        assert answer.status_code == 200
        text = answer.content.decode()
        html5lib.HTMLParser(strict=True).parse(text)
        assert f'<html lang="{page_content.language}"' in text
        assert text.count("<img") == text.count(" alt=")
        seen += text.count("<img")
    assert seen >= 20


@pytest.mark.parametrize("name", ["author", "lead"])
def test_the_authors_of_the_demonstration_may_edit_and_publish_a_draft(site, name):
    user = get_user_model().objects.get(username=name)
    draft = PageContent.admin_manager.filter(page__reverse_id="shuttle-talk").first()
    placeholder = draft.get_placeholders()[0]
    picture = plugins("shuttle-talk", state="draft")[1]
    assert user.is_staff
    assert placeholder.has_change_permission(user)
    assert placeholder.has_add_plugin_permission(user, "ImagePlugin")
    assert placeholder.has_change_plugin_permission(user, picture)
    assert Version.objects.get_for_content(draft).can_be_published()
    assert draft.page.has_publish_permission(user)
    assert user.has_perm("filer.add_image")


def test_a_visitor_may_do_none_of_that(site, outsider):
    draft = PageContent.admin_manager.filter(page__reverse_id="shuttle-talk").first()
    assert not draft.get_placeholders()[0].has_change_permission(outsider)
