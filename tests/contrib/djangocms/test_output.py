"""The plugin processor: exactly one alt, and no other byte is touched."""

from __future__ import annotations

import html5lib
import pytest
from cms.models import CMSPlugin
from django.test import Client
from lxml import html as lxml_html

from alttext.contrib.djangocms import output, tags
from tests.contrib.djangocms import defect_table, stage
from tests.contrib.djangocms.defect_table import TABLE

pytestmark = pytest.mark.django_db


@pytest.fixture
def root():
    return stage.user("root", superuser=True)


@pytest.fixture
def advanced(monkeypatch):
    """Choose DJANGOCMS_FRONTEND_SHOW_ADVANCED_SETTINGS, which is read when the models are loaded."""
    import djangocms_frontend.models as frontend_models

    return lambda shown: monkeypatch.setattr(frontend_models, "SHOW_ADVANCED_SETTINGS", shown)


class TestDefects:
    def test_the_defect_table_is_repaired_in_every_row_and_nothing_else_changes(self, root, advanced):
        lines, page = [], stage.page(root)
        for row in TABLE:
            advanced(row.advanced)
            before, after = defect_table.rendered(row, page)
            found = (defect_table.alts(row.plugin, before), defect_table.alts(row.plugin, after))
            lines.append(defect_table.line(row, *found))
            assert found == (row.stock, row.repaired), lines[-1]
            assert without_alt(before) == without_alt(after)
        print("\n" + "\n".join(["| plugin | stored | file default | stock | with the processor |", *lines]))

    @pytest.mark.parametrize("row", [row for row in TABLE if row.stored == defect_table.QUOTED], ids=str)
    def test_browsers_and_strict_parsers_read_the_same_text(self, root, row):
        _, after = defect_table.rendered(row, stage.page(root))
        assert lxml_html.fromstring(f"<div>{after}</div>").xpath("//img/@alt") == [row.stored]
        parsed = html5lib.HTMLParser(namespaceHTMLElements=False).parse(f"<!DOCTYPE html><title>x</title>{after}")
        assert [image.get("alt") for image in parsed.iter("img")] == [row.stored]

    def test_a_responsive_image_keeps_its_sources(self, root, settings):
        settings.DJANGOCMS_PICTURE_RESPONSIVE_IMAGES = True
        row = defect_table.Row("PicturePlugin", "", "Default", [], [], more={"caption_text": "A <b> caption"})
        before, after = defect_table.rendered(row, stage.page(root))
        assert "<figcaption>A &lt;b&gt; caption" in after
        assert tags.images(after)[0].alts == [""]
        assert without_alt(before) == without_alt(after)


class TestOwnImage:
    def test_the_image_of_a_child_keeps_its_own_text(self, root):
        page = stage.page(root)
        into = stage.slot(page)
        carousel = stage.component(into, "CarouselPlugin")
        slide = stage.component(
            into, "CarouselSlidePlugin", target=carousel, carousel_image=stage.reference(stage.library_image()),
            carousel_image_alt="The slide",
        )  # fmt: skip
        stage.photo(into, stage.library_image(), target=slide, attributes={"alt": "The child"})
        stage.publish(page, root)
        markup = Client().get(page.get_absolute_url("en")).content.decode()
        assert [tag.alts for tag in tags.images(markup)] == [["The slide"], ["The child"]]

    def test_a_slide_without_an_image_leaves_its_children_alone(self, root):
        page = stage.page(root)
        into = stage.slot(page)
        carousel = stage.component(into, "CarouselPlugin")
        slide = stage.component(into, "CarouselSlidePlugin", target=carousel, carousel_image_alt="Left over")
        stage.component(
            into, "ImagePlugin", target=slide, picture=stage.reference(stage.library_image()),
            attributes={"alt": "The child"},
        )  # fmt: skip
        stage.publish(page, root)
        markup = Client().get(page.get_absolute_url("en")).content.decode()
        assert [tag.alts for tag in tags.images(markup)] == [["The child"]]

    @pytest.mark.parametrize(
        "template",
        [
            '<picture><source srcset="b.webp"><img src="x.png" alt="a" alt></picture>',
            "<IMG SRC=x.png ALT='a' class='b' ALT>",
            '<figure>\n<img\n src="x.png"\n alt\n></figure>',
            '<a title="a > b"><img alt="a"src="x.png"></a>',
            "<img src=x.png/>",
        ],
    )
    def test_templates_of_the_site_are_repaired_as_well(self, root, template):
        plugin = stage.photo(stage.slot(stage.page(root)), stage.library_image(), attributes={"alt": 'New "text"'})
        after = output.normalise_alt(plugin, None, template, {})
        assert tags.images(after)[0].alts == ['New "text"']
        assert without_alt(template) == without_alt(after)

    def test_an_image_that_is_right_already_comes_back_as_it_was(self, root):
        plugin = stage.photo(stage.slot(stage.page(root)), stage.library_image(), attributes={"alt": "Right"})
        markup = "<p><img src='x' alt='Right'  ></p>"
        assert output.normalise_alt(plugin, None, markup, {}) == markup

    @pytest.mark.parametrize(
        "markup", ["", "no image", "<img", "<img src='x alt=>", "<!-- <img src=x> -->", "<p>&lt;img&gt;</p>", "<imgx>"]
    )
    def test_without_an_image_nothing_is_touched(self, root, markup):
        plugin = stage.photo(stage.slot(stage.page(root)), None, attributes={"alt": "x"})
        assert output.normalise_alt(plugin, None, markup, {}) == markup


class TestOthers:
    def test_other_plugins_pass_through_untouched(self, root):
        body = "<p>Text <img src='x' alt='a' alt='b'></p>"
        into = stage.slot(stage.page(root))
        assert output.normalise_alt(stage.text(into, body), into, body, {}) is body

    @pytest.mark.parametrize("attributes", [None, [], "alt", 7, {"alt": 5}, {"alt": ["x"]}])
    def test_odd_attributes_never_break_a_page(self, root, attributes):
        plugin = stage.photo(stage.slot(stage.page(root)), stage.library_image())
        plugin.__dict__["attributes"] = attributes
        markup = '<img src="x" alt="a" alt="a">'
        assert len(tags.images(output.normalise_alt(plugin, None, markup, {}))[0].alts) == 1

    def test_a_plugin_that_cannot_be_read_leaves_the_page_as_it_is(self, root, caplog):
        class Broken:
            plugin_type, pk = "PicturePlugin", 7

        markup = '<img src="x" alt="a" alt="a">'
        assert output.normalise_alt(Broken(), None, markup, {}) == markup
        assert "plugin 7" in caplog.text

    def test_an_alt_in_other_spelling_is_read(self, root):
        plugin = stage.photo(stage.slot(stage.page(root)), stage.library_image(), attributes={"Alt": "Capital"})
        after = output.normalise_alt(plugin, None, '<img src="x" alt="" Alt="Capital">', {})
        assert tags.images(after)[0].alts == ["Capital"]

    def test_the_processor_asks_no_database(self, root, django_assert_num_queries):
        plugin = stage.photo(stage.slot(stage.page(root)), stage.library_image(), attributes={"alt": "x"})
        plugin = CMSPlugin.objects.get(pk=plugin.pk).get_plugin_instance()[0]
        with django_assert_num_queries(0):
            output.normalise_alt(plugin, None, '<img src="x" alt="a">', {})


def without_alt(markup: str) -> str:
    """The markup with the alt attributes of its images cut out, and the space before them."""
    for tag in reversed(tags.images(markup)):
        text = tag.text
        for attribute in reversed(tag.attributes):
            if attribute.name == "alt":
                text = f"{text[: attribute.start].rstrip()} {text[attribute.end :].lstrip()}"
        markup = (
            markup[: tag.start] + " ".join(text.replace("/>", " />").replace(">", " >").split()) + markup[tag.end :]
        )
    return markup
