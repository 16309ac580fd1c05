"""The example site: what it loads, where its images stand, and what readers get."""

from __future__ import annotations

import html5lib
import pytest
from django.test import Client
from django.utils import timezone

from alttext.contrib.wagtail import keys
from alttext.project.demo import content as demo
from tests.conftest import AT


@pytest.fixture
def site(db, collection):
    """The loaded site: pages by slug."""
    from wagtail.models import Locale, Page

    from alttext.project.wagtail_site import content
    from alttext.project.wagtail_site.models import ArticlePage

    if not Page.objects.exists():
        Page.add_root(title="Root", slug="root", locale=Locale.objects.get_or_create(language_code="en")[0])
    content.load(at=AT)
    return {page.slug: page for page in ArticlePage.objects.select_related("locale")}


def shown(page):
    """What a reader gets, parsed; its markup must be valid."""
    answer = Client().get(page.get_url(), headers={"accept-language": page.locale.language_code})
    assert answer.status_code == 200
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    return parser.parse(answer.content.decode())


def alts(tree):
    return [image.get("alt") for image in tree.iter("img")]


def test_it_holds_the_words_of_the_demonstration_in_two_languages_and_is_loaded_once(site):
    from alttext.project.wagtail_site import content

    assert {words.slug for words in demo.pages()} <= set(site)
    again = content.load(at=timezone.now())
    assert (again.articles, again.illustrations, again.files, again.accounts) == (0, 0, 0, 0)
    observatory, german = site["observatory"], site["sternwarte"]
    assert observatory.first_published_at == AT
    assert "riveted copper" in observatory.intro
    assert observatory.body.raw_data[0]["value"] == "What you can see on a clear night"
    assert german.locale.language_code == "de"
    assert german.translation_key == observatory.translation_key
    assert site["motorrad-werkstatt"].locale == german.locale


def test_an_image_stands_in_every_kind_of_place_with_words_of_its_own_around(site, adapter):
    names = {page.pk: slug for slug, page in site.items()}
    places = [place for place in adapter.places() if place.key.startswith("page:")]
    found = {}
    for place in places:
        _, pk, path = place.key.split(":")
        found.setdefault(names[int(pk)], {})[path] = place
    assert [path for path in found["cat-shelter"] if path in ("hero", "teaser")] == ["hero", "teaser"]
    assert any(path.startswith("intro#") for path in found["brickworks"])
    assert any("#" in path and path.startswith("body.") for path in found["quay-morning"])
    assert any(path.endswith(".image") for path in found["rocket-club"])
    assert any(".right." in path for path in found["clock-repair"])
    assert any(".content." in path for path in found["photography-course"])
    assert len(found["pictures-of-the-season"]) == 3
    assert len(found["eye-health"]) == 1
    texts = {
        (place.context.title, place.context.before, place.context.after, place.context.caption) for place in places
    }
    assert all(place.context.before or place.context.after for place in places)
    assert len(texts) >= len(places) - 4  # images of one gallery share their words
    linked = [place for place in found["whats-on"].values() if place.context.link_target]
    assert [place.context.link_text_visible for place in linked] == [False, True]


@pytest.mark.slow
def test_readers_get_valid_pages_with_exactly_the_texts_that_people_wrote(site, adapter):
    written = {}
    for slug, page in site.items():
        if page.live:
            tree = shown(page)
            assert tree.get("lang") == page.locale.language_code
            assert len(tree.findall(".//h1")) == 1
            written[slug] = alts(tree)
    text = "Twenty-four worn silver coins in four rows of six on a dark board; most show a head in profile."
    assert written.pop("coin-club") == [text]
    assert {alt for alts in written.values() for alt in alts} == {""}  # undecided, or decorative: never a file's name
    assert Client().get("/site/brickworks/", follow=True).status_code == 404
    course = site["photography-course"]
    assert course.has_unpublished_changes
    uses = [place.key for place in adapter.places() if place.key.startswith(keys.page_head(course.pk))]
    assert len(uses) == len(written["photography-course"]) + 1  # a newer draft has one more


def test_the_accounts_have_the_rights_they_are_named_for(site, django_user_model):
    from wagtail.images import get_image_model
    from wagtail.permissions import policy_registry

    images = policy_registry.get_by_type(get_image_model())
    found = {}
    for user in django_user_model.objects.all():
        rights = site["observatory"].permissions_for_user(user)
        found[user.username] = (rights.can_edit(), rights.can_publish(), images.user_has_permission(user, "change"))
    assert found == {"author": (True, False, True), "lead": (True, True, True), "admin": (True, True, True)}
