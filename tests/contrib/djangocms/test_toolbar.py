"""The toolbar's menu and the entry in the menus of plugins: for whom, with what, and at what cost."""

from __future__ import annotations

import pytest
from cms.api import add_plugin
from cms.plugin_pool import plugin_pool
from cms.toolbar.utils import get_object_edit_url, get_object_preview_url, get_object_structure_url
from django.contrib.auth.models import AnonymousUser
from django.core.management import call_command
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from alttext.contrib.djangocms import cms_toolbars, editing
from alttext.models import Placement
from tests.contrib.djangocms.desk import draft, editor, library_image, publish

pytestmark = pytest.mark.django_db


@pytest.fixture
def user(db):
    return editor()


@pytest.fixture
def client(user):
    signed_in = Client()
    signed_in.force_login(user)
    return signed_in


@pytest.fixture
def content(user):
    return draft(user)


@pytest.fixture
def put(content):
    def make(alt=None, **given):
        attributes = {} if alt is None else {"alt": alt}
        return add_plugin(content, "PicturePlugin", "en", picture=library_image(**given), attributes=attributes)

    return make


def scan():
    call_command("alttext_scan", stdout=open("/dev/null", "w"))  # noqa: SIM115


def menu_of(client, content, url=get_object_edit_url):
    """Labels and addresses of the menu's entries; None without a menu."""
    answer = client.get(url(content.source, "en"))
    assert answer.status_code == 200
    menu = answer.wsgi_request.toolbar.menus.get(cms_toolbars.MENU)
    if menu is None:
        return None
    return menu.name, [
        (str(item.name).removesuffix("...").strip(), item.url) for item in menu.items if hasattr(item, "url")
    ]


def test_the_menu_lists_what_is_open_on_the_page_and_leads_to_it(client, content, put):
    first, decided, decorative = put(name="boat.png"), put("A boat"), put("")
    other = draft(editor("other"), title="Elsewhere")
    add_plugin(other, "PicturePlugin", "en", picture=library_image())
    scan()
    name, entries = menu_of(client, content)
    placement = Placement.objects.get(key=editing.key_of(first))
    assert name == "Alternative texts (1)"
    assert entries == [
        ("boat.png: no text yet", placement.get_absolute_url()),
        ("Queue", reverse("alttext:queue")),
    ]
    assert client.get(entries[0][1]).status_code == 200
    assert decided.pk != decorative.pk


def test_what_was_decided_leaves_the_menu_and_what_was_offered_says_so(client, content, put, suggest):
    put(name="boat.png")
    scan()
    placement = Placement.objects.get(key__startswith="page:")
    suggest(placement, "A boat", when=timezone.now())
    assert menu_of(client, content)[1][0][0] == "boat.png: suggestion waits"
    placement.state = Placement.State.DONE
    placement.save()
    assert menu_of(client, content)[0] == "Alternative texts (0)"
    assert menu_of(client, content)[1][0][0] == "Nothing open on this page"


def test_the_preview_has_the_menu_as_well(client, content, put):
    put()
    scan()
    assert menu_of(client, content, url=get_object_preview_url)[0] == "Alternative texts (1)"


def test_of_many_the_menu_lists_twenty_and_then_the_queue_of_the_page(client, content, put):
    for _ in range(22):
        put()
    scan()
    name, entries = menu_of(client, content)
    assert name == "Alternative texts (22)"
    assert len(entries) == 21
    assert entries[-1][0] == "All 22 in the queue"
    page = client.get(entries[-1][1])
    assert page.status_code == 200


def test_only_those_who_may_edit_the_page_have_the_menu(content, put):
    put()
    scan()
    reader = Client()
    reader.force_login(editor("reader", without=["change_page"]))
    assert menu_of(reader, content, url=get_object_preview_url) is None
    without_plugin = Client()
    without_plugin.force_login(editor("writer", without=["change_picture"]))
    assert menu_of(without_plugin, content)[0] == "Alternative texts (0)"


def test_readers_of_the_site_cost_no_query_of_ours(user, content, put, django_assert_num_queries):
    put()
    scan()
    publish(content.source.page, user)
    url = content.source.page.get_absolute_url("en")
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(
        connection,
    ) as seen:
        assert Client().get(url).status_code == 200
    assert [query["sql"] for query in seen if "alttext_" in query["sql"]] == []


@pytest.mark.parametrize("many", [1, 25])
def test_the_menu_costs_two_queries_however_many_are_open(client, content, put, many):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    for _ in range(many):
        put()
    scan()
    url = get_object_edit_url(content.source, "en")
    client.get(url)
    with CaptureQueriesContext(connection) as seen:
        client.get(url)
    ours = [query["sql"] for query in seen if "alttext_placement" in query["sql"]]
    assert len(ours) == (1 if many == 1 else 2)


# ---- menus of plugins -----------------------------------------------------------------------------------------------


def entries(plugin, user):
    request = RequestFactory().get("/")
    request.user = user
    carrier = plugin_pool.plugins["AlternativeTextPlugin"]
    return carrier.get_extra_plugin_menu_items(request, plugin) or []


def test_a_plugin_with_an_image_has_an_entry_that_opens_its_placement(client, user, put, django_assert_num_queries):
    plugin = put()
    user.get_all_permissions()
    with django_assert_num_queries(0):
        (entry,) = entries(plugin, user)
    assert (entry.name, entry.action) == ("Alternative text", "sideframe")
    answer = client.get(entry.url, follow=True)
    placement = Placement.objects.get(key=editing.key_of(plugin))
    assert answer.redirect_chain[-1][0] == placement.get_absolute_url()
    assert answer.status_code == 200


def test_a_plugin_without_an_image_has_no_entry(user, content):
    assert entries(add_plugin(content, "TextPlugin", "en", body="<p>Words</p>"), user) == []
    assert entries(add_plugin(content, "PicturePlugin", "en", external_picture="https://example.org/a.png"), user) == []


def test_who_may_not_change_such_plugins_has_no_entry_and_no_address(put):
    plugin = put()
    stranger = editor("stranger", without=["change_picture"])
    assert entries(plugin, stranger) == []
    assert entries(plugin, AnonymousUser()) == []
    client = Client()
    client.force_login(stranger)
    assert client.get(reverse("admin:alttext_open", args=[plugin.pk]), follow=True).status_code == 404
    assert not Placement.objects.exists()


def test_a_plugin_that_is_gone_or_holds_no_image_opens_nothing(client, content):
    text = add_plugin(content, "TextPlugin", "en", body="<p>Words</p>")
    for pk in (text.pk, 999_999):
        assert client.get(reverse("admin:alttext_open", args=[pk]), follow=True).status_code == 404


def test_the_structure_board_shows_the_entry(client, content, put):
    plugin = put()
    page = client.get(get_object_structure_url(content.source, "en")).content.decode()
    assert reverse("admin:alttext_open", args=[plugin.pk]) in page
