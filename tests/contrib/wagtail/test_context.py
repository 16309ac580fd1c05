"""The words around an image in Wagtail: what belongs to it, what does not, and in which order."""

from __future__ import annotations

import pytest
from wagtail.models import Locale

from alttext.adapters import Alt
from alttext.contrib.wagtail import keys, markup
from tests.contrib.wagtail.stage import block

pytestmark = pytest.mark.django_db
_ids = [f"{number:08d}-aaaa-4000-8000-000000000000" for number in range(40)]


def stream(*items):
    """Blocks with ids in order: ("heading", "Words"), ..."""
    return [{"type": kind, "id": _ids[number], "value": value} for number, (kind, value) in enumerate(items)]


@pytest.fixture
def show(make_page, adapter):
    """The places of an article with this body, by the end of their paths."""

    def find(body=(), **fields):
        page = make_page(body=list(body), **fields)
        head = keys.page_head(page.pk)
        return {place.key.removeprefix(head): place for place in adapter.places() if place.key.startswith(head)}

    return find


class TestOrder:
    def test_words_stand_in_reading_order_on_both_sides(self, show, make_library_image):
        body = stream(
            ("paragraph", "<p>One</p><ul><li>two</li><li>three</li></ul>"),
            ("image", block(make_library_image())),
            ("paragraph", "<p>four<br/>five</p>"),
            ("paragraph", "<p>six</p>"),
        )
        words = show(body, intro="<p>Zero</p>")[f"body.{_ids[1]}"].context
        assert words.before == "Zero\nOne\ntwo\nthree"
        assert words.after == "four\nfive\nsix"

    def test_only_headings_above_the_image_count_and_deeper_ones_end_with_their_section(self, show, make_library_image):
        body = stream(
            ("heading", "Gardens"),
            ("paragraph", "<h3>Roses</h3><p>Red ones.</p>"),
            ("heading", "Harbour"),
            ("paragraph", "<h2>Boats</h2><h3>Ferries</h3><h3>Tugs</h3>"),
            ("image", block(make_library_image())),
            ("heading", "Stations"),
        )
        words = show(body)[f"body.{_ids[4]}"].context
        assert words.headings == ("Boats", "Tugs")
        assert words.after == "Stations"

    def test_a_heading_in_one_column_is_none_of_the_other(self, show, make_library_image):
        left = [{"type": "heading", "id": _ids[20], "value": "Left"}]
        right = [{"type": "image", "id": _ids[21], "value": block(make_library_image())}]
        body = stream(("heading", "Above"), ("columns", {"left": left, "right": right}))
        assert show(body)[f"body.{_ids[1]}.right.{_ids[21]}"].context.headings == ("Above",)

    def test_the_title_of_a_panel_is_a_heading_of_its_content(self, show, make_library_image):
        inner = [{"type": "image", "id": _ids[21], "value": block(make_library_image())}]
        panel = {"type": "item", "id": _ids[20], "value": {"title": "Opening hours", "content": inner}}
        body = stream(("heading", "Visit"), ("accordion", [panel]))
        place = show(body)[f"body.{_ids[1]}.{_ids[20]}.content.{_ids[21]}"]
        assert place.context.headings == ("Visit", "Opening hours")

    def test_fields_stand_in_the_order_of_the_editor(self, show, make_library_image):
        image = make_library_image()
        found = show(stream(("paragraph", "<p>Body</p>")), intro="<p>Intro</p>", hero=image, teaser=image)
        assert (found["hero"].context.before, found["hero"].context.after) == ("Intro", "Body")


class TestLeftOut:
    def test_alts_of_this_and_other_images_are_no_words_of_the_page(self, show, make_library_image):
        images = [make_library_image(description="Described") for _ in range(4)]
        rich = f'<p>Text</p><embed embedtype="image" format="left" id="{images[2].pk}" alt="Rich alt"/>'
        body = stream(
            ("image", block(images[0], "First alt")),
            ("paragraph", rich),
            ("image", block(images[1], "Second alt")),
            ("old_image", images[3].pk),
        )
        for place in show(body, hero=images[0], hero_alt="Hero alt").values():
            said = repr(place.context)
            assert "alt" not in said.replace("alttext", "")
            assert "Described" not in said
            assert "Text" in said

    def test_fields_of_the_page_that_the_editor_does_not_show_are_no_words(self, show, make_library_image):
        found = show(hero=make_library_image(), seo_title="Search words", search_description="More search words")
        assert "earch words" not in repr(found["hero"].context)


class TestFigure:
    def figure(self, image, **fields):
        empty = {"caption": "", "link_page": None, "link_url": "", "link_label": "", "show_label": False}
        return stream(
            ("paragraph", "<p>Before</p>"),
            ("figure", {"image": block(image), **empty, **fields}),
            ("image", block(image)),
        )

    def test_the_caption_is_said_of_its_own_image_only(self, show, make_library_image):
        found = show(self.figure(make_library_image(), caption="The old crane"))
        figure, other = found[f"body.{_ids[1]}.image"].context, found[f"body.{_ids[2]}"].context
        assert figure.caption == "The old crane"
        assert "crane" not in figure.before + figure.after
        assert other.caption == ""
        assert other.before == "Before\nThe old crane"

    def test_a_linked_page_is_told_by_its_address_and_title(self, show, make_library_image, make_page):
        target = make_page(title="Tickets")
        words = show(self.figure(make_library_image(), link_page=target.pk))[f"body.{_ids[1]}.image"].context
        assert words.link_target == target.url
        assert (words.link_label, words.link_text_visible) == ("Tickets", False)

    @pytest.mark.parametrize("visible", [True, False])
    def test_a_label_beside_the_image_is_told_and_whether_it_shows(self, show, make_library_image, visible):
        body = self.figure(make_library_image(), link_url="https://x.test/", link_label="Buy", show_label=visible)
        words = show(body)[f"body.{_ids[1]}.image"].context
        assert (words.link_target, words.link_label, words.link_text_visible) == ("https://x.test/", "Buy", visible)
        assert "Buy" not in words.before + words.after

    def test_a_link_to_a_page_that_is_gone_is_no_link(self, show, make_library_image):
        words = show(self.figure(make_library_image(), link_page=999_999))[f"body.{_ids[1]}.image"].context
        assert (words.link_target, words.link_label) == ("", "")

    def test_a_link_in_rich_text_is_that_of_the_image_in_it(self, show, make_library_image, make_page):
        target, image = make_page(title="Tickets"), make_library_image()
        embed = f'<embed embedtype="image" format="left" id="{image.pk}"/>'
        rich = f'<p><a linktype="page" id="{target.pk}">{embed} Buy now</a></p>{embed}<a href="/x/">{embed}</a>'
        found = show(stream(("paragraph", rich)))
        first, second, third = (found[f"body.{_ids[0]}#{image.pk}.{number}"].context for number in (1, 2, 3))
        assert (first.link_target, first.link_label, first.link_text_visible) == (target.url, "Buy now", True)
        assert second.link_target == ""
        assert (third.link_target, third.link_label, third.link_text_visible) == ("/x/", "", False)


class TestPlaces:
    def test_every_kind_of_use_has_a_key_of_its_own(self, show, make_library_image, adapter):
        image = make_library_image(description="In the library")
        item = {"type": "item", "id": _ids[30], "value": block(image)}
        embed = f'<embed embedtype="image" format="left" id="{image.pk}" alt="x"/>'
        body = stream(
            ("image", block(image)),
            ("gallery", [item]),
            ("paragraph", f"<p>{embed}</p>{embed}"),
            ("old_image", image.pk),
        )
        found = show(body, hero=image, teaser=image, intro=embed)
        assert set(found) == {
            *("hero", "teaser", f"intro#{image.pk}.1", f"body.{_ids[0]}", f"body.{_ids[1]}.{_ids[30]}"),
            *(f"body.{_ids[2]}#{image.pk}.1", f"body.{_ids[2]}#{image.pk}.2", f"body.{_ids[3]}"),
        }
        marks = {path: place.stores_decorative for path, place in found.items()}
        assert not any(marks[path] for path in ("hero", "teaser", f"body.{_ids[3]}"))
        assert sum(marks.values()) == 5
        assert found["teaser"].alt == found[f"body.{_ids[3]}"].alt == Alt("In the library")
        assert found["hero"].alt == Alt()

    @pytest.mark.parametrize(
        ("stored", "expected"),
        [
            ({"alt_text": "", "decorative": False}, Alt()),
            ({"alt_text": "kept", "decorative": True}, Alt(decorative=True)),
            ({"alt_text": None, "decorative": None}, Alt()),
            ({"alt_text": "A boat", "decorative": False}, Alt("A boat")),
            ({}, Alt()),
        ],
    )
    def test_what_a_block_says(self, show, make_library_image, stored, expected):
        body = stream(("image", {"image": make_library_image().pk, **stored}))
        assert show(body)[f"body.{_ids[0]}"].alt == expected

    @pytest.mark.parametrize(
        ("attribute", "expected"),
        [("", Alt()), (' alt=""', Alt(decorative=True)), (' alt="&quot;5&quot; &lt; 6 &amp; 7"', Alt('"5" < 6 & 7'))],
    )
    def test_what_an_image_in_rich_text_says(self, show, make_library_image, attribute, expected):
        image = make_library_image()
        rich = f'<embed embedtype="image" format="left" id="{image.pk}"{attribute}/>'
        assert show(stream(("paragraph", rich)))[f"body.{_ids[0]}#{image.pk}.1"].alt == expected

    def test_the_language_is_that_of_the_page(self, show, make_library_image):
        locale, _ = Locale.objects.get_or_create(language_code="de")
        assert show(hero=make_library_image(), locale=locale)["hero"].language == "de"

    def test_a_draft_is_seen_where_the_page_is_live(self, make_page, make_library_image, place_of):
        page = make_page(hero=make_library_image(), hero_alt="Live")
        page.hero_alt, page.title = "Draft", "Draft title"
        page.save_revision()
        place = place_of(page, "hero")
        assert (place.alt, place.page_title) == (Alt("Draft"), "Draft title")
        assert place.page_url == page.url

    def test_a_page_that_was_never_published_leads_to_the_editor(self, make_page, make_library_image, place_of):
        page = make_page(draft=True, hero=make_library_image())
        assert place_of(page, "hero").page_url == f"/cms/pages/{page.pk}/edit/"

    def test_a_page_of_another_site_leads_to_the_editor(self, make_page, make_library_image, place_of, home):
        from wagtail.models import Site

        page = make_page(hero=make_library_image())
        other = home.get_parent().add_child(instance=type(home)(title="Other", slug="other"))
        Site.objects.create(hostname="other.test", port=80, root_page=other)
        assert place_of(page, "hero").page_url == f"/cms/pages/{page.pk}/edit/"


class TestMarkup:
    def test_of_two_alts_the_one_that_wagtail_reads_is_read_and_written(self):
        source = '<embed embedtype="image" id="1" alt="first" format="left" alt="second"/>'
        (embed,) = markup.embeds(source)
        assert embed.alt == "second"
        assert markup.rewritten(source, embed, "new") == source.replace("second", "new")

    @pytest.mark.parametrize("alt", ['5 > 3 & "x" <b>', "&quot;", "&amp;lt;", "日本", " spaces  at both ends ", "a\nb"])
    def test_an_alt_reads_back_as_written_and_all_else_stays(self, alt):
        source = '<p>&quot; <b>x</p><embed embedtype="image" id="1" format="left" alt="old"/><p data-alt="old">old'
        (embed,) = markup.embeds(source)
        written = markup.rewritten(source, embed, alt)
        (again,) = markup.embeds(written)
        assert again.alt == alt
        assert markup.rewritten(written, again, "old") == source
        from wagtail.rich_text.rewriters import FIND_EMBED_TAG, extract_attrs

        assert extract_attrs(FIND_EMBED_TAG.search(written)[1])["alt"] == alt

    def test_an_alt_that_is_added_can_be_taken_away(self):
        source = '<embed embedtype="image" id="1" format="left"/>'
        (embed,) = markup.embeds(source)
        written = markup.rewritten(source, embed, "")
        (again,) = markup.embeds(written)
        assert again.alt == ""
        assert markup.rewritten(written, again, None) == source

    @pytest.mark.parametrize(
        "source",
        [
            *('<embed embedtype="image" id="1" format="left">', '<embed embedtype="media" url="x"/>', "<embed"),
            *('<embed embedtype="image" format="left"/>', '<embedtype="image" id="1"/>', "<embed/>"),
        ],
    )
    def test_what_wagtail_does_not_show_is_no_image(self, source):
        assert list(markup.embeds(source)) == []

    @pytest.mark.parametrize(
        "source", ["<embed" * 30_000, "<embed" * 30_000 + ">", "<a <a " * 30_000, "<!--" * 50_000, '<a b="' * 30_000]
    )
    @pytest.mark.timeout(20)
    def test_broken_markup_takes_no_time(self, source):
        assert [piece for piece in markup.pieces(source) if isinstance(piece, markup.Embed)] == []
