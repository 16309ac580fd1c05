"""The panel in a CMS's form over HTTP: what it shows, who gets it, and that it never stores a text."""

from __future__ import annotations

import pytest
from django.urls import reverse

from alttext.models import Decision, Job, Placement
from tests.conftest import key_of

pytestmark = pytest.mark.django_db
HTMX = {"headers": {"HX-Request": "true"}}


def url(name, key, adapter="imagefields"):
    return reverse(f"alttext:{name}", args=[adapter, key])


def test_it_shows_the_suggestion_with_a_button_that_uses_it(client, author, make_placement, suggest):
    placement = make_placement()
    suggest(placement, 'A "red" cat')
    client.force_login(author)
    answer = client.get(url("field", placement.key), **HTMX)
    assert answer.status_code == 200
    assert 'data-use="A &quot;red&quot; cat"' in answer.text
    assert "<html" not in answer.text
    assert placement.get_absolute_url() in answer.text


def test_it_says_why_there_is_no_text(client, author, make_placement, suggest):
    placement = make_placement()
    suggest(placement, reasons=["nothing_supported"])
    client.force_login(author)
    answer = client.get(url("field", placement.key), **HTMX)
    assert "No suggestion this time." in answer.text


def test_while_the_captioner_works_it_looks_again_by_itself(client, author, make_placement):
    placement = make_placement()
    client.force_login(author)
    client.post(url("field-ask", placement.key), **HTMX)
    answer = client.get(url("field", placement.key), **HTMX)
    assert "The captioner is at work." in answer.text
    assert reverse("alttext:suggestion", args=[placement.pk]) in answer.text
    assert Job.objects.get().requested_by == author


def test_asking_brings_an_image_that_no_scan_has_seen(client, author, make_illustration):
    row = make_illustration()
    client.force_login(author)
    assert "does not know this image here" in client.get(url("field", key_of(row)), **HTMX).text
    assert client.get(url("field", key_of(row)) + "?unknown=1", **HTMX).status_code == 204
    answer = client.post(url("field-ask", key_of(row)), **HTMX)
    assert "The captioner is at work." in answer.text
    assert Placement.objects.get().state == Placement.State.WAITING


def test_a_stranger_gets_nothing_and_leaves_nothing_behind(client, outsider, make_illustration):
    row = make_illustration()
    client.force_login(outsider)
    assert client.post(url("field-ask", key_of(row)), **HTMX).status_code == 404
    assert not Placement.objects.exists()
    assert not Job.objects.exists()


def test_a_stranger_sees_no_suggestion(client, outsider, make_placement, suggest):
    placement = make_placement()
    suggest(placement, "A secret cat")
    client.force_login(outsider)
    assert "secret" not in client.get(url("field", placement.key), **HTMX).text


@pytest.mark.parametrize("name", ["field", "field-ask"])
def test_a_visitor_is_asked_to_sign_in(client, make_placement, name):
    placement = make_placement()
    ask = client.get if name == "field" else client.post
    assert ask(url(name, placement.key), **HTMX).status_code == 401


@pytest.mark.parametrize("key", ["demo.illustration:999999:image", "nonsense", "new:1", "a/b/c"])
def test_an_image_that_the_site_does_not_have_yet_is_told_in_words(client, author, key):
    client.force_login(author)
    answer = client.post(url("field-ask", key), **HTMX)
    assert answer.status_code == 200
    assert "Save the page as a draft first" in answer.text


@pytest.mark.parametrize(("adapter", "key"), [("nobody", "x"), ("imagefields", "x\0y")])
def test_an_adapter_that_the_site_does_not_have_is_no_error(client, author, adapter, key):
    client.force_login(author)
    assert client.post(url("field-ask", key, adapter), **HTMX).status_code in (200, 404)


def test_a_decorative_image_is_not_asked_about(client, author, make_placement):
    placement = make_placement(decorative=True)
    client.force_login(author)
    answer = client.post(url("field-ask", placement.key), **HTMX)
    assert "decorative" in answer.text
    assert not Job.objects.exists()


def test_it_stores_no_text(client, author, make_placement, suggest, illustration_of):
    placement = make_placement()
    suggest(placement, "A red cat")
    client.force_login(author)
    client.post(url("field-ask", placement.key), {"text": "typed"}, **HTMX)
    client.get(url("field", placement.key), {"text": "typed"}, **HTMX)
    assert illustration_of(placement).alt_text == ""
    assert not Decision.objects.exists()


def test_without_htmx_it_is_a_page(client, author, make_placement):
    placement = make_placement()
    client.force_login(author)
    assert "<!doctype html>" in client.get(url("field", placement.key)).text


class TestAdmin:
    """Django's own admin, with the mixin."""

    def change_url(self, row):
        return reverse("admin:demo_illustration_change", args=[row.pk])

    def test_the_panel_stands_below_the_alt_field(self, client, admin, make_illustration):
        row = make_illustration()
        client.force_login(admin)
        page = client.get(self.change_url(row)).text
        assert f'data-alttext-field="id_alt_text" data-alttext-url="{url("field", key_of(row))}"' in page
        assert '<script src="/static/alttext/field.js" type="module">' in page

    def test_a_row_that_is_not_saved_has_none(self, client, admin):
        client.force_login(admin)
        assert "data-alttext-field" not in client.get(reverse("admin:demo_illustration_add")).text

    def test_saving_there_is_recorded_with_its_outcome(self, client, admin, make_placement, suggest, illustration_of):
        placement = make_placement()
        suggest(placement, "A red cat")
        client.force_login(admin)
        row = illustration_of(placement)
        form = client.get(self.change_url(row)).context["adminform"].form
        sent = {name: form[name].value() or "" for name in form.fields if name != "image"}
        answer = client.post(self.change_url(row), {**sent, "alt_text": "A red cat sleeps"})
        assert answer.status_code == 302, answer.context["adminform"].form.errors
        decision = Decision.objects.get()
        assert (decision.outcome, decision.final_text, decision.by) == ("EDITED", "A red cat sleeps", admin)
