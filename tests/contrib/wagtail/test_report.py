"""The report in Wagtail's admin: who sees which rows, by what they are filtered, what is exported."""

from __future__ import annotations

import csv
import io

import pytest
from django.urls import reverse

from alttext.operations import placements
from tests.conftest import AT


@pytest.fixture
def report(client):
    def read(user, **filters):
        client.force_login(user)
        return client.get(reverse("alttext_wagtail:report"), filters)

    return read


@pytest.fixture
def scanned(adapter):
    return lambda: placements.scan(adapter=adapter, at=AT)


@pytest.fixture
def two_pages(make_page, make_library_image, scanned):
    first = make_page(title="The ferry", hero=make_library_image(name="ferry.png"), hero_alt="A red ferry")
    second = make_page(title="The lighthouse", hero=make_library_image(name="light.png"))
    scanned()
    return first, second


def names(answer):
    return {row.image_name for row in answer.context["object_list"]}


def test_it_lists_what_its_reader_may_edit(report, two_pages, make_editor, collection):
    first, _ = two_pages
    editor = make_editor(pages={"change": first})
    assert names(report(editor)) == {"ferry.png"}
    both = make_editor(pages={"change": first.get_parent()}, images={"change": collection})
    assert len(report(both).context["object_list"]) == 4  # two uses, two descriptions
    assert "A red ferry" in report(editor).content.decode()


@pytest.mark.parametrize("view", ["report", "report_results"])
def test_who_may_change_nothing_is_not_let_in(client, two_pages, make_editor, view):
    client.force_login(make_editor())
    answer = client.get(reverse(f"alttext_wagtail:{view}"))
    assert answer.status_code == 302
    assert answer.url == reverse("wagtailadmin_home")


def test_it_filters_by_state_and_language(report, two_pages, make_editor):
    editor = make_editor(pages={"change": two_pages[0].get_parent()})
    assert names(report(editor, state="done")) == {"ferry.png"}
    assert names(report(editor, state="todo")) == {"light.png"}
    assert names(report(editor, language="en")) == {"ferry.png", "light.png"}
    answer = report(editor, language="xx")  # no choice: shown as an error, filters nothing
    assert answer.status_code == 200
    assert "Select a valid choice" in answer.content.decode()


def test_the_results_alone_can_be_asked_for(client, two_pages, make_editor):
    client.force_login(make_editor(pages={"change": two_pages[0]}))
    answer = client.get(reverse("alttext_wagtail:report_results"), {"state": "done"})
    assert "ferry.png" in answer.content.decode()
    assert "<html" not in answer.content.decode()


def test_an_export_makes_no_formula_of_a_text(report, make_page, make_library_image, make_editor, scanned):
    page = make_page(hero=make_library_image(name="ferry.png"), hero_alt='=HYPERLINK("http://example.org")')
    scanned()
    answer = report(make_editor(pages={"change": page}), export="csv")
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    assert [row["Alternative text"][0] for row in rows] == ["'"]
    assert rows[0]["Image"] == "ferry.png"


def test_hostile_words_are_shown_as_words(report, make_page, make_library_image, make_editor, scanned):
    hostile = "<script>alert(1)</script>"
    page = make_page(title=hostile, hero=make_library_image(), hero_alt=hostile)
    scanned()
    answer = report(make_editor(pages={"change": page}))
    assert hostile not in answer.content.decode()


def test_more_rows_cost_no_more_queries(
    report, make_page, make_library_image, make_editor, scanned, django_assert_max_num_queries, home
):
    editor = make_editor(pages={"change": home})
    image = make_library_image()

    def count():
        with django_assert_max_num_queries(60) as counted:
            report(editor)
        return len(counted.captured_queries)

    make_page(hero=image)
    scanned()
    report(editor)
    few = count()
    for _ in range(8):
        make_page(hero=image)
    scanned()
    assert count() <= few
