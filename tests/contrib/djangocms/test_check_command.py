"""manage.py alttext_check: what it names, when it fails, and that it changes nothing."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from cms.models import CMSPlugin
from django.core.management import call_command
from django.utils import timezone

from alttext.adapters import Alt
from alttext.contrib.djangocms.adapter import DjangoCMSAdapter
from alttext.contrib.djangocms.checking import Problem, wrong_with
from alttext.models import Placement
from alttext.operations import placements
from tests.contrib.djangocms import stage as cms
from tests.contrib.djangocms.stage import library_image

pytestmark = pytest.mark.django_db
PROCESSOR = "alttext.contrib.djangocms.output.normalise_alt"


@pytest.fixture
def root():
    return cms.user("root", superuser=True)


@pytest.fixture
def page(root):
    return cms.page(root, title="Tulips")


def check(*options):
    """Output and exit status."""
    out = StringIO()
    try:
        call_command("alttext_check", *options, stdout=out)
    except SystemExit as stopped:
        return out.getvalue(), stopped.code
    return out.getvalue(), 0


def problems(*options):
    text, status = check("--json", *options)
    return json.loads(text), status


class TestFindings:
    def test_a_site_without_images_has_nothing_to_do(self, page):
        text, status = check()
        assert status == 0
        assert "0 images on 1 pages looked at: 0 to do" in text

    @pytest.mark.parametrize("processed", [True, False])
    def test_what_the_processor_puts_right_is_told_and_is_no_failure(self, settings, page, processed):
        settings.CMS_PLUGIN_PROCESSORS = [PROCESSOR] if processed else []
        cms.photo(cms.slot(page), library_image(), attributes={"alt": "Tulips"})
        found, status = problems()
        (one,) = found["problems"]
        assert (one["problem"], one["printed"], one["repaired"]) == ("DOUBLE", ["Tulips", "Tulips"], processed)
        assert (one["stored"], one["plugin_type"], one["state"]) == ("Tulips", "PicturePlugin", "draft")
        assert one["template"] == "djangocms_picture/default/picture.html"
        assert one["page_title"] == "Tulips"
        assert one["page_url"].startswith("/")
        assert (found["to_do"], status) == ((0, 0) if processed else (1, 1))

    def test_each_defect_is_named_once(self, settings, page):
        settings.CMS_PLUGIN_PROCESSORS = []
        into = cms.slot(page)
        cms.photo(into, library_image(alt="Default"), attributes={"alt": ""})
        cms.component(into, "ImagePlugin", picture=cms.reference(library_image()))
        carousel = cms.component(into, "CarouselPlugin")
        cms.component(
            into, "CarouselSlidePlugin", target=carousel, carousel_image=cms.reference(library_image()),
            carousel_image_alt="The moon",
        )  # fmt: skip
        found, status = problems()
        assert [(one["plugin_type"], one["problem"]) for one in found["problems"]] == [
            ("PicturePlugin", "DOUBLE"),
            ("PicturePlugin", "NOT_DECORATIVE"),
            ("ImagePlugin", "UNDECIDED"),
            ("ImagePlugin", "MISSING"),
            ("CarouselSlidePlugin", "DROPPED"),
        ]
        assert status == 1

    def test_undecided_images_are_left_out_where_only_templates_are_asked_for(self, page):
        cms.photo(cms.slot(page), library_image())
        assert [one["problem"] for one in problems()[0]["problems"]] == ["UNDECIDED"]
        assert problems("--template-only") == ({"pages": 1, "images": 1, "to_do": 0, "problems": []}, 0)

    def test_an_image_within_a_text_that_a_person_marked_as_decorative_is_decided(self, root, page):
        image = library_image()
        cms.text(cms.slot(page), f'<p><img data-cms-src="filer.image:{image.pk}" alt=""></p>')
        adapter = DjangoCMSAdapter()
        assert [one["problem"] for one in problems()[0]["problems"]] == ["UNDECIDED"]
        key = next(place.key for place in adapter.places() if place.key.startswith("page:"))
        placement, _ = placements.refresh(adapter, adapter.place(key), at=timezone.now())
        Placement.objects.filter(pk=placement.pk).update(decorative=True, alt_hash=Alt(decorative=True).hash)
        assert problems()[0]["problems"] == []

    def test_an_image_within_a_text_without_any_attribute_is_missing_one(self, page):
        cms.text(cms.slot(page), f'<p><img data-cms-src="filer.image:{library_image().pk}"></p>')
        assert [one["problem"] for one in problems("--template-only")[0]["problems"]] == ["MISSING"]

    def test_a_file_that_left_the_library_and_a_template_that_fails_are_named(self, page, monkeypatch):
        into = cms.slot(page)
        cms.component(into, "ImagePlugin", picture={"model": "filer.image", "pk": 999})
        cms.photo(into, library_image(), template="no-such-template")
        found, status = problems("--template-only")
        assert [one["problem"] for one in found["problems"]] == ["FILE_GONE", "NOT_RENDERED"]
        assert "TemplateDoesNotExist" in found["problems"][1]["detail"]
        assert status == 1

    def test_lines_name_page_plugin_template_and_what_is_printed(self, settings, page):
        settings.CMS_PLUGIN_PROCESSORS = []
        plugin = cms.photo(cms.slot(page), library_image(name="tulips.png"), attributes={"alt": "Red tulips"})
        text, status = check()
        assert status == 1
        for words in (
            "Tulips [en, draft] /", f"PicturePlugin {plugin.pk}", "tulips.png in content",
            "printed: ['Red tulips', 'Red tulips']", "1 × djangocms_picture/default/picture.html",
            "1 images on 1 pages looked at: 1 to do, 0 put right",
        ):  # fmt: skip
            assert words in text

    def test_published_pages_are_looked_at_as_well(self, root, page):
        cms.photo(cms.slot(page), library_image())
        cms.publish(page, root)
        (one,) = problems()[0]["problems"]
        assert (one["state"], one["page_url"]) == ("published", page.get_absolute_url("en"))


def test_nothing_is_changed(page):
    into = cms.slot(page)
    cms.photo(into, library_image(), attributes={"alt": "x", "class": "wide"}, alignment="left")
    before = list(CMSPlugin.objects.values()), [row.attributes for row in cms.plugins(into)]
    check()
    assert (list(CMSPlugin.objects.values()), [row.attributes for row in cms.plugins(into)]) == before
    assert not Placement.objects.exists()


@pytest.mark.parametrize(
    ("printed", "stored", "wrong"),
    [
        ([], Alt(), [Problem.MISSING]),
        ([], Alt("x"), [Problem.MISSING, Problem.DROPPED]),
        (["x"], Alt("x"), []),
        (["x", "x"], Alt("x"), [Problem.DOUBLE]),
        (["y", "x"], Alt("x"), [Problem.DOUBLE, Problem.DROPPED]),
        (["y"], Alt(decorative=True), [Problem.NOT_DECORATIVE]),
        (["", "y"], Alt(decorative=True), [Problem.DOUBLE]),
        ([""], Alt(), []),
    ],
)
def test_the_first_attribute_is_the_one_that_browsers_read(printed, stored, wrong):
    assert list(wrong_with(printed, stored)) == wrong
