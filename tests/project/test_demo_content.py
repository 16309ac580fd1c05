"""The demonstration site: the cases it has to show, what a second load changes, and the pages it serves."""

from __future__ import annotations

import io
import re
from pathlib import Path

import html5lib
import pytest
from django.contrib.auth import authenticate
from django.core.management import call_command
from PIL import Image, ImageStat

from alttext.contrib.imagefields.adapter import ImageFieldsAdapter
from alttext.project.demo import accounts, content, pictures
from alttext.project.demo.models import Article, Illustration

IMG = re.compile(r"<img\b[^>]*>")


@pytest.fixture
def loaded(db, at):
    return content.load(at=at)


@pytest.fixture
def places(loaded):
    return list(ImageFieldsAdapter().places())


def fetch(client, address: str) -> str:
    """Source of a page, given as path or slug."""
    answer = client.get(address if address.startswith("/") else f"/pages/{address}/")
    assert answer.status_code == 200
    return answer.content.decode()


class TestCases:
    """By properties, so that the site may be rewritten."""

    def test_there_are_enough_pages_with_real_text(self, loaded):
        assert len({row.article_id for row in Illustration.objects.all()}) >= 14
        assert 16 <= Illustration.objects.count() <= 20
        for row in Illustration.objects.filter(decorative=False):
            assert row.heading
            assert len(f"{row.text_before} {row.text_after}".split()) >= 60, row

    def test_one_image_serves_two_pages_with_different_words(self, places):
        contexts: dict[str, list] = {}
        for place in places:
            contexts.setdefault(place.image_name, []).append(place)
        twice = [found for found in contexts.values() if len({place.page_title for place in found}) > 1]
        assert twice
        for found in twice:
            assert len({place.context for place in found}) == len(found)

    def test_one_image_is_the_only_content_of_a_link(self, places):
        alone = [place for place in places if place.context.link_target and not place.context.link_text_visible]
        assert alone
        assert all(place.context.link_label for place in alone)

    def test_one_link_has_words_beside_its_image(self, places):
        assert any(place.context.link_target and place.context.link_text_visible for place in places)

    def test_links_lead_to_pages_of_the_site(self, client, places):
        for target in {place.context.link_target for place in places} - {""}:
            fetch(client, target)

    def test_one_image_was_marked_decorative_by_a_person(self, places):
        assert [place.image_name for place in places if place.alt.decorative] == ["wave.png"]

    def test_one_image_has_a_human_text_that_is_not_its_file_name(self, places):
        human = [place for place in places if place.alt.text]
        assert len(human) == 1
        assert len(human[0].alt.text.split()) > 5

    def test_all_other_images_are_undecided(self, places):
        assert sum(not place.alt.text and not place.alt.decorative for place in places) == len(places) - 2

    def test_one_page_is_german(self, places):
        german = [place for place in places if place.language == "de"]
        assert german
        for place in german:
            words = set(place.context.before.lower().split())
            assert {"der", "und", "ist"} <= words

    def test_one_page_talks_at_length_of_things_that_are_not_in_its_picture(self, loaded):
        page = next(page for page in content.pages() if page.absent)
        prose = " ".join(f"{given['text_before']} {given['text_after']}" for given in page.illustrations).lower()
        assert sum(prose.count(thing) for thing in page.absent) >= 12
        assert all(thing in prose for thing in page.absent)

    def test_the_figures_of_the_chart_stand_in_the_text_beside_it(self, places):
        chart = next(place for place in places if place.role == "complex")
        for year, thousands in pictures.VISITORS.items():
            assert f"{thousands} in {year}" in chart.context.after

    def test_every_packaged_picture_names_its_source(self, loaded):
        for row in Illustration.objects.exclude(image="demo/wave.png"):
            assert "CC0" in row.credit or "sample data of scikit-image" in row.credit

    def test_the_setting_finds_every_illustration(self, places):
        assert len(places) == Illustration.objects.count()
        assert all(place.page_url.startswith("/pages/") for place in places)


class TestPictures:
    @pytest.mark.parametrize("draw", [pictures.ornament, pictures.visitors_chart, pictures.settings_window])
    def test_a_drawn_picture_has_the_same_bytes_every_time(self, draw):
        assert draw.__wrapped__() == draw.__wrapped__()

    @pytest.mark.parametrize("name", sorted(pictures.PICTURES))
    def test_a_picture_opens_and_shows_something(self, name):
        with Image.open(io.BytesIO(pictures.PICTURES[name].read())) as opened:
            grey = opened.convert("RGBA").convert("LA")
        assert max(ImageStat.Stat(grey).stddev) > 3

    def test_the_window_has_the_size_of_a_screenshot(self):
        with Image.open(io.BytesIO(pictures.settings_window())) as opened:
            assert opened.size == (1000, 700)

    def test_every_picture_is_used(self):
        used = {given["picture"] for page in content.pages() for given in page.illustrations}
        assert used == set(pictures.PICTURES)


class TestLoading:
    def test_a_second_load_changes_nothing(self, loaded, at):
        before = [*Article.objects.values(), *Illustration.objects.values()]
        assert content.load(at=at.replace(year=2027)) == content.Loaded(0, 0, 0, 0)
        assert [*Article.objects.values(), *Illustration.objects.values()] == before

    def test_what_people_wrote_survives_a_load(self, loaded, at):
        Illustration.objects.filter(alt_text="", decorative=False).update(alt_text="Typed by a person")
        human = Illustration.objects.exclude(alt_text__in=["", "Typed by a person"]).get()
        Illustration.objects.filter(pk=human.pk).update(alt_text="", decorative=True)
        Article.objects.filter(slug="whats-on").update(title="Rewritten")
        before = [*Article.objects.values(), *Illustration.objects.values()]
        content.load(at=at)
        assert [*Article.objects.values(), *Illustration.objects.values()] == before

    def test_what_was_deleted_or_damaged_comes_back(self, loaded, at):
        Article.objects.filter(slug="observatory").delete()
        row = Illustration.objects.filter(image="demo/coffee.png").get()
        Path(row.image.path).write_bytes(b"half a file")
        assert content.load(at=at) == content.Loaded(articles=1, illustrations=2, files=1, accounts=0)
        assert Path(row.image.path).read_bytes() == pictures.PICTURES["coffee"].read()

    def test_a_picture_on_two_pages_is_one_file(self, loaded):
        assert loaded.files == len(pictures.PICTURES) < loaded.illustrations

    def test_the_command_says_what_it_made(self, db, capsys):
        call_command("alttext_demo_content")
        assert "16 new pages, 20 new illustrations, 17 files written, 3 new accounts" in capsys.readouterr().out


class TestAccounts:
    def test_each_account_may_what_its_line_says(self, loaded):
        author, lead, admin = (authenticate(username=name, password=name) for name in ("author", "lead", "admin"))
        change, see = "demo.change_illustration", "alttext.view_dashboards"
        assert (author.has_perm(change), author.has_perm(see), author.is_staff) == (True, False, False)
        assert (lead.has_perm(change), lead.has_perm(see), lead.is_staff) == (True, True, False)
        assert (admin.is_superuser, admin.is_staff) == (True, True)

    def test_an_account_that_is_there_keeps_its_password(self, db, django_user_model, at):
        django_user_model.objects.create_user("author", password="changed")
        assert content.load(at=at).accounts == 2
        assert authenticate(username="author", password="author") is None
        assert authenticate(username="author", password="changed")

    @pytest.mark.parametrize("shown", [True, False])
    def test_the_sign_in_page_names_the_accounts_of_a_demonstration_only(self, client, settings, loaded, shown):
        settings.DEMO_LOGINS = shown
        page = fetch(client, "/accounts/login/")
        assert all((f"<code>{account.name}</code>" in page) is shown for account in accounts.ACCOUNTS)

    def test_a_wrong_password_is_told_at_the_fields_and_the_name_kept(self, client, loaded):
        answer = client.post("/accounts/login/", {"username": "author", "password": "no", "next": "/alttext/"})
        page = answer.content.decode()
        assert 'role="alert"' in page
        assert page.count('aria-describedby="login-error"') == 2
        assert 'value="author"' in page
        assert 'name="next" value="/alttext/"' in page

    def test_signing_in_leads_back_to_the_page_asked_for_but_not_off_the_site(self, client, loaded):
        given = {"username": "author", "password": "author"}
        assert client.post("/accounts/login/", {**given, "next": "/pages/whats-on/"}).url == "/pages/whats-on/"
        assert client.post("/accounts/login/", {**given, "next": "https://example.org/"}).url == "/alttext/"


class TestPages:
    def test_each_image_has_its_alt_attribute_exactly_once(self, client, loaded):
        for page in content.pages():
            images = IMG.findall(fetch(client, page.slug))
            assert len(images) == len(page.illustrations), page.slug
            assert [len(re.findall(r"\balt\s*=", image)) for image in images] == [1] * len(images), page.slug

    def test_each_page_is_valid_html_in_its_language(self, client, loaded):
        languages = {page.slug: page.language for page in content.pages()}
        for address in [*languages, "/", "/accounts/login/"]:
            parser = html5lib.HTMLParser(namespaceHTMLElements=False)
            tree = parser.parse(fetch(client, address))
            assert parser.errors == [], address
            assert tree.get("lang") == languages.get(address, "en"), address
            assert len(tree.findall(".//h1")) == 1, address
            identifiers = [element.get("id") for element in tree.iter() if element.get("id")]
            assert len(identifiers) == len(set(identifiers)), address

    def test_no_page_holds_code_that_a_strict_policy_would_block(self, client, loaded):
        for address in [*(page.slug for page in content.pages()), "/", "/accounts/login/"]:
            assert not re.search(r"<script|<style|\sstyle=|\son[a-z]+=|=.data:", fetch(client, address)), address

    def test_a_decorative_image_is_announced_by_nothing(self, client, loaded):
        source = fetch(client, "whats-on")
        image = next(found for found in IMG.findall(source) if "wave.png" in found)
        assert re.findall(r"([a-z-]+)=", image) == ["src", "alt"]
        assert 'alt=""' in image

    def test_a_text_is_escaped_once(self, client, loaded):
        Illustration.objects.filter(image="demo/moon.png").update(alt_text='5 > 3 & a "sign" <b>')
        source = fetch(client, "observatory")
        assert 'alt="5 &gt; 3 &amp; a &quot;sign&quot; &lt;b&gt;"' in source

    def test_page_text_is_escaped(self, client, loaded):
        Illustration.objects.filter(image="demo/moon.png").update(text_before="<script>alert(1)</script>")
        assert "<script>alert" not in fetch(client, "observatory")

    def test_a_page_names_its_pictures_sources(self, client, loaded):
        assert "Brooklyn Museum Collection" in fetch(client, "coin-club")

    def test_a_page_starts_two_queries_for_a_visitor(self, client, loaded, django_assert_num_queries):
        with django_assert_num_queries(2):
            fetch(client, "observatory")

    def test_only_editors_get_the_way_to_the_workbench(self, client, loaded, django_user_model):
        row = Illustration.objects.get(image="demo/coins.png")
        link = f"/alttext/find/imagefields/demo.illustration:{row.pk}:image/"
        assert link not in fetch(client, "coin-club")
        client.force_login(django_user_model.objects.create_user("visitor"))
        assert link not in fetch(client, "coin-club")
        client.force_login(django_user_model.objects.get(username="author"))
        assert link in fetch(client, "coin-club")

    @pytest.mark.parametrize("address", ["/pages/nowhere/", "/pages/", "/nowhere", "/pages/%00/"])
    def test_a_page_that_is_not_there_is_told_in_the_sites_own_words(self, client, loaded, address):
        answer = client.get(address)
        assert answer.status_code == 404
        assert "There is no such page" in answer.content.decode()

    def test_the_site_without_pages_says_so(self, client, db):
        assert "no pages yet" in fetch(client, "/")
