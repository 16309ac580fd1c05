"""What a captioner is told of the page: words in document order, across plugins, columns and slides."""

from __future__ import annotations

import pytest

from alttext.adapters import Context
from alttext.contrib.djangocms import reading
from alttext.contrib.djangocms.adapter import DjangoCMSAdapter
from alttext.contrib.djangocms.reading import Words
from tests.contrib.djangocms import stage

pytestmark = pytest.mark.django_db


@pytest.fixture
def root():
    return stage.user("root", superuser=True)


@pytest.fixture
def page(root):
    return stage.page(root, title="Spring", menu_title="Not this")


@pytest.fixture
def into(page):
    return stage.slot(page)


@pytest.fixture
def image():
    return stage.library_image(alt="A default text that is no word of the page", label="A label")


def places(page):
    """The places of one page in order."""
    return [place for place in DjangoCMSAdapter().places() if place.key.startswith(f"page:{page.pk}:")]


def contexts(page):
    return [place.context for place in places(page)]


class TestOrder:
    def test_words_before_and_after_are_those_of_the_whole_slot_in_order(self, page, into, image):
        stage.text(into, "<p>One</p><p>two</p>")
        stage.text(into, "<h2>First part</h2><p>Three</p>")
        stage.photo(into, image)
        stage.text(into, "<p>Four</p>")
        stage.text(into, "<h3>Second part</h3><p>Five &amp; six</p>")
        assert contexts(page) == [
            Context(
                title="Spring", headings=("First part",), before="One\ntwo\nThree",
                after="Four\nSecond part\nFive & six",
            )
        ]  # fmt: skip

    def test_columns_accordions_and_slides_are_walked_in_their_order(self, page, into, image):
        row = stage.component(stage.slot(page), "GridRowPlugin")
        left = stage.component(into, "GridColumnPlugin", target=row)
        right = stage.component(into, "GridColumnPlugin", target=row)
        stage.text(into, "<p>Left words</p>", target=left)
        stage.component(into, "ImagePlugin", target=right, picture=stage.reference(image))
        accordion = stage.component(into, "AccordionPlugin")
        item = stage.component(into, "AccordionItemPlugin", target=accordion, accordion_item_header="Opening hours")
        stage.text(into, "<p>Nine to five</p>", target=item)
        carousel = stage.component(into, "CarouselPlugin")
        for words in ("<p>Moon</p>", "<p>Stars</p>"):
            stage.component(
                into, "CarouselSlidePlugin", target=carousel, carousel_image=stage.reference(image),
                carousel_content=words,
            )  # fmt: skip
        first, second, third = contexts(page)
        assert (first.before, first.after) == ("Left words", "Opening hours\nNine to five\nMoon\nStars")
        assert (second.headings, second.before, second.after) == (
            ("Opening hours",), "Left words\nNine to five", "Moon\nStars",
        )  # fmt: skip
        assert (third.before, third.after) == ("Left words\nNine to five\nMoon", "Stars")

    def test_a_heading_component_is_a_heading(self, page, into, image):
        stage.component(into, "HeadingPlugin", heading="What you need", heading_id="need", heading_level="h2")
        stage.photo(into, image)
        (context,) = contexts(page)
        assert (context.headings, context.before) == (("What you need",), "")

    def test_an_image_within_a_text_stands_where_it_stands(self, page, into, image):
        stage.text(
            into, f'<p>Before <img data-cms-src="filer.image:{image.pk}" alt="old"> after</p><h2>Later</h2><p>End</p>'
        )
        assert contexts(page) == [Context(title="Spring", before="Before", after="after\nLater\nEnd")]

    def test_a_plugin_within_a_text_stands_where_its_tag_stands(self, page, into, image):
        body = stage.text(into, "<p>x</p>")
        child = stage.photo(into, image, target=body)
        body.body = f'<p>Before</p><cms-plugin id="{child.pk}" alt="Picture - x">left over</cms-plugin><p>After</p>'
        body.save()
        assert contexts(page) == [Context(title="Spring", before="Before", after="After")]

    def test_the_other_slots_of_the_page_are_other_words(self, root, image):
        page = stage.page(root, template=stage.TWO_COLUMNS)
        first, second = stage.content(page).get_placeholders().order_by("pk")
        stage.text(first, "<p>Here</p>")
        stage.text(second, "<p>There</p>")
        stage.photo(second, image)
        (context,) = contexts(page)
        assert (context.before, context.after) == ("There", "")


class TestLinks:
    def test_a_linked_picture_tells_where_it_leads(self, root, page, into, image):
        other = stage.page(root, title="Other", slug="other-page")
        stage.publish(other, root)
        stage.photo(into, image, link_page=other)
        (context,) = contexts(page)
        assert context.link_target == other.get_absolute_url("en")
        assert (context.link_label, context.link_text_visible) == ("", False)

    def test_a_link_to_a_page_that_nobody_can_see_is_no_link(self, root, page, into, image):
        stage.photo(into, image, link_page=stage.page(root, title="Only a draft"))
        assert contexts(page)[0].link_target == ""

    @pytest.mark.parametrize(
        ("link", "target"),
        [
            ({"external_link": "https://example.org/x"}, "https://example.org/x"),
            ({"internal_link": "cms.page:{page}"}, "/en/target/"),
            ({"internal_link": "cms.page:{page}", "anchor": "#part"}, "/en/target/#part"),
            ({"internal_link": "cms.page:99999999"}, ""),
            ({"internal_link": "no.such:1"}, ""),
            ({"internal_link": "nonsense"}, ""),
            ({}, ""),
            ("", ""),
            (None, ""),
        ],
    )
    def test_a_component_tells_its_link(self, root, page, into, image, link, target):
        other = stage.page(root, title="Target", slug="target")
        stage.publish(other, root)
        if link and "internal_link" in link:
            link = {**link, "internal_link": link["internal_link"].format(page=other.pk)}
        stage.component(into, "ImagePlugin", picture=stage.reference(image), link=link)
        assert contexts(page)[0].link_target == target

    def test_a_picture_within_a_link_has_its_words_as_visible_label(self, page, into, image):
        link = stage.component(into, "TextLinkPlugin", name="Read more", link={"external_link": "https://example.org/"})
        stage.photo(into, image, target=link)
        (context,) = contexts(page)
        assert (context.link_target, context.link_label) == ("https://example.org/", "Read more")
        assert context.link_text_visible

    @pytest.mark.parametrize(
        ("body", "label"),
        [
            ('<p>Go: <a href="/x/">{img}</a></p>', ""),
            ('<p>Go: <a href="/x/">{img} to the tulips</a> now</p>', "to the tulips"),
            ('<p>Go: <a href="/x/">See {img} them</a> now</p>', "See them"),
        ],
    )
    def test_an_image_within_the_link_of_a_text(self, page, into, image, body, label):
        stage.text(into, body.format(img=f'<img data-cms-src="filer.image:{image.pk}" alt="">'))
        (context,) = contexts(page)
        assert (context.link_target, context.link_label) == ("/x/", label)
        assert context.link_text_visible is bool(label)

    def test_links_to_many_pages_take_no_more_queries(self, root, page, into, image, django_assert_num_queries):
        from django.db import connection
        from django.test.utils import CaptureQueriesContext

        targets = [stage.page(root) for _ in range(4)]
        for target in targets:
            stage.publish(target, root)
        stage.photo(into, image, link_page=targets[0])
        places(page)
        with CaptureQueriesContext(connection) as few:
            places(page)
        for target in targets[1:]:
            stage.photo(into, image, link_page=target)
        with django_assert_num_queries(len(few)):
            assert len({context.link_target for context in contexts(page)}) == 4


class TestCaptions:
    def test_the_caption_of_a_picture_is_told_apart(self, page, into, image):
        stage.text(into, "<p>Before</p>")
        stage.photo(into, image, caption_text="By the > wall")
        stage.photo(into, image, caption_text="The second")
        first, second = contexts(page)
        assert (first.caption, first.after) == ("By the > wall", "The second")
        assert (second.caption, second.before) == ("The second", "Before\nBy the > wall")

    def test_the_caption_of_a_figure_around_an_image(self, page, into, image):
        # the figure of djangocms-frontend keeps its caption so; any component around the image may
        figure = stage.component(into, "GridContainerPlugin", figure_caption="<p>Seen from <b>above</b></p>")
        stage.component(into, "ImagePlugin", target=figure, picture=stage.reference(image))
        (context,) = contexts(page)
        assert (context.caption, context.before, context.after) == ("Seen from above", "", "")

    def test_the_caption_of_a_figure_within_a_text(self, page, into, image):
        inline = f'<img data-cms-src="filer.image:{image.pk}" alt="">'
        stage.text(into, f"<p>a</p><figure>{inline}<figcaption>The <i>wall</i></figcaption></figure><p>b</p>")
        (context,) = contexts(page)
        assert (context.caption, context.before, context.after) == ("The wall", "a", "b")


class TestWhatIsLeftOut:
    def test_no_alt_text_is_a_word_of_the_page(self, page, into, image):
        stage.text(into, f'<p>Before <img data-cms-src="filer.image:{image.pk}" alt="SECRET one" title="SECRET"></p>')
        stage.photo(into, image, attributes={"alt": "SECRET two", "title": "SECRET", "Alt": "SECRET"})
        stage.component(into, "ImagePlugin", picture=stage.reference(image), attributes={"alt": "SECRET three"})
        carousel = stage.component(into, "CarouselPlugin")
        stage.component(
            into, "CarouselSlidePlugin", target=carousel, carousel_image=stage.reference(image),
            carousel_image_alt="SECRET four",
        )  # fmt: skip
        from cms.api import add_plugin

        add_plugin(into, "IllustrationPlugin", "en", image=image, alt_text="SECRET five", caption="A caption")
        found = contexts(page)
        assert len(found) == 5
        assert "SECRET" not in repr(found)
        assert "default text" not in repr(found)
        assert found[0].after == "A caption"

    def test_settings_of_components_are_no_words(self, page, into, image):
        stage.component(into, "SpacingPlugin", space_property="m", space_size="3")
        stage.component(into, "ImagePlugin", picture=stage.reference(image), alignment="center", width=300)
        assert contexts(page) == [Context(title="Spring")]

    def test_the_menu_title_and_the_browser_title_are_not_the_title(self, root, image):
        page = stage.page(root, title="The title", menu_title="Menu", page_title="Browser")
        stage.photo(stage.slot(page), image)
        (place,) = places(page)
        assert (place.page_title, place.context.title) == ("The title", "The title")

    def test_a_long_page_gives_a_bounded_context(self, page, into, image):
        for _ in range(3):
            stage.text(into, "<p>" + "word " * 4000 + "</p>")
        stage.photo(into, image)
        stage.text(into, "<p>" + "more " * 4000 + "</p>")
        (context,) = contexts(page)
        assert len(context.before) <= 6000
        assert len(context.after) <= 6000


class TestMarkup:
    @pytest.mark.parametrize(
        ("markup", "words"),
        [
            ("<p>never closed <b>x", ["never closed x"]),
            ("a < b, AT&T", ["a < b, AT&T"]),
            ("<h2>Open heading <p>word", ["Open heading\nword"]),
            ("</h2>word</a></figure>", ["word"]),
            ("<!-- <h2>no</h2> -->yes", ["yes"]),
            ("<p>&lt;b&gt; &amp;lt;</p>", ["<b> &lt;"]),
            ('<cms-plugin id="x">a</cms-plugin>b', ["b"]),
            ('<cms-plugin id="3">a', ["a"]),
            ("<p>e\u0301</p>", ["é"]),
            ("", []),
        ],
    )
    def test_broken_markup_is_read_as_far_as_it_goes(self, markup, words):
        found = reading.markup_events(markup)
        assert [event.text for event in found if isinstance(event, Words)] == words

    @pytest.mark.parametrize(
        "broken", ["<!--", "<", "<a ", "<a x='", "<img ", "<h2>", "<a href=x>", "<figure>", "<cms-plugin>"]
    )
    def test_broken_markup_is_read_in_linear_time(self, broken):
        import time

        started = time.process_time()
        reading.markup_events("<p>" + broken * (200_000 // len(broken)))
        assert time.process_time() - started < 5
