"""The dashboard through HTTP: who sees it, what it says, and that its figures are the hand-computed ones."""

from __future__ import annotations

import re

import html5lib
import pytest
from django.urls import reverse
from django.utils import timezone

from alttext import exports
from tests.alttext.made_up import Site, small_period

pytestmark = pytest.mark.django_db
XHTML, SVG = "{http://www.w3.org/1999/xhtml}", "{http://www.w3.org/2000/svg}"


@pytest.fixture
def now():
    return timezone.now()


@pytest.fixture
def page(client, lead):
    """Ask for the dashboard as a lead; the answer parsed as strict HTML."""
    client.force_login(lead)

    def get(status=200, **query):
        response = client.get(reverse("alttext:dashboards"), query)
        assert response.status_code == status
        return Page(response.content.decode())

    return get


class Page:
    def __init__(self, markup: str) -> None:
        self.markup = markup
        self.tree = html5lib.HTMLParser(strict=True).parse(markup)
        self.main = self.tree.find(f".//{XHTML}main")
        self.text = words(self.main)

    def cards(self) -> dict[str, list[str]]:
        cards = next(item for item in self.main.iter(f"{XHTML}dl") if item.get("class") == "cards")
        return {words(card[0]): [words(part) for part in card[1:]] for card in cards}

    def section(self, name: str):
        return next(item for item in self.main.iter(f"{XHTML}section") if item.get("aria-labelledby") == name)

    def rows(self, section: str) -> list[list[str]]:
        """Cells of all body rows of the section's tables."""
        bodies = self.section(section).iter(f"{XHTML}tbody")
        return [[words(cell) for cell in row] for body in bodies for row in body]


def words(element) -> str:
    return " ".join("".join(element.itertext()).split())


@pytest.mark.parametrize("name", ["alttext:dashboards", "alttext:edits-csv"])
@pytest.mark.parametrize(("role", "status"), [("author", 403), ("outsider", 403), ("lead", 200), ("admin", 200)])
def test_only_leads_may_look(client, make_user, name, role, status):
    client.force_login(make_user(role))
    response = client.get(reverse(name))
    assert response.status_code == status
    if status == 403:
        assert b"Only leads can see" in response.content


@pytest.mark.parametrize("name", ["alttext:dashboards", "alttext:edits-csv"])
def test_nobody_looks_without_signing_in(client, name):
    response = client.get(reverse(name), {"period": "90"})
    assert response.status_code == 302
    assert response["Location"].startswith("/accounts/login/?next=")


@pytest.mark.parametrize("name", ["alttext:dashboards", "alttext:edits-csv"])
def test_looking_is_all_one_can_do(client, lead, name):
    client.force_login(lead)
    assert client.post(reverse(name)).status_code == 405


def test_a_refused_author_sees_no_figure(client, author, now):
    small_period(now)
    client.force_login(author)
    text = client.get(reverse("alttext:dashboards")).content.decode()
    assert "28.6" not in text
    assert "<table" not in text


def test_the_four_rates_stand_together_with_items_and_authors(page, now):
    small_period(now)
    cards = page().cards()
    assert cards == {
        "Edit rate": ["28.6 %", "4 texts changed of 14 kept, by 5 authors"],
        "Not used": ["17.6 %", "2 rejected and 1 marked decorative of 17 reviewed"],
        "Abstention": ["15.4 %", "4 without a text of 26 answers"],
        "Coverage": ["85 %", "17 reviewed of 20 offered texts"],
    }


def test_interval_and_bounds_stand_beside_the_edit_rate(page, now):
    small_period(now)
    body = page().section("certainty").find(f".//{XHTML}tbody")
    assert {words(row[0]): words(row.find(f".//{XHTML}strong")) for row in body} == {
        "Edit rate": "28.6 %",
        "Mean of the authors’ rates": "39 %",
        "95 % interval over authors": "0–86.8 %",
        "Bounds for the unreviewed": "23.5–41.2 %",
    }


def test_sizes_of_changes_are_shown_as_chart_and_table(page, now):
    small_period(now)
    found = page()
    assert found.rows("sizes") == [
        ["1–3", "2", "50 %", "50 %"],
        ["4–10", "1", "25 %", "75 %"],
        ["11–30", "1", "25 %", "100 %"],
        ["31–80", "0", "0 %", "100 %"],
        ["over 80", "0", "0 %", "100 %"],
        ["1", "3", "75 %", "75 %"],
        ["2–3", "0", "0 %", "75 %"],
        ["4–6", "1", "25 %", "100 %"],
        ["7–15", "0", "0 %", "100 %"],
        ["over 15", "0", "0 %", "100 %"],
    ]
    charts = list(found.section("sizes").iter(f"{SVG}svg"))
    for chart, expected in zip(charts, ([2, 1, 1, 0, 0], [3, 0, 1, 0, 0]), strict=True):
        heights = [float(bar.get("height")) for bar in chart.iter(f"{SVG}rect")]
        assert [round(height / heights[0] * expected[0], 2) for height in heights] == expected


def test_every_chart_has_a_name_or_is_hidden_and_stands_with_a_table(page, now):
    small_period(now)
    found = page()
    named = {item.get("id"): words(item) for item in found.main.iter() if item.get("id")}
    charts = list(found.main.iter(f"{SVG}svg"))
    assert len(charts) >= 3
    for chart in charts:
        if chart.get("aria-hidden") != "true":
            assert chart.get("role") == "img"
            assert named[chart.get("aria-labelledby")]
    for section in found.main.iter(f"{XHTML}section"):
        if section.find(f".//{SVG}svg") is not None:
            assert section.find(f".//{XHTML}table") is not None


def test_reasons_and_failures_are_said_in_words(page, now):
    small_period(now)
    found = page()
    assert [row[1:3] for row in found.rows("abstentions")] == [["3", "75 %"], ["1", "25 %"], ["1", "25 %"]]
    assert "contradicted each other" in found.rows("abstentions")[0][0]
    assert [row[:3] for row in found.rows("failures")] == [
        ["No picture could be found in the file. unreadable", "2", "66.7 %"],
        ["The captioner took too long. hung", "1", "33.3 %"],
    ]


def test_all_answers_are_accounted_for(page, now):
    small_period(now)
    rows = page().rows("fates")
    assert {row[0]: int(row[1]) for row in rows} == {
        "Used as offered": 10, "Used after edits": 3, "Replaced by another text": 1, "Rejected": 2,
        "Marked decorative instead": 1, "Offered, undecided": 3, "Its time ran out without a decision": 0,
        "Overtaken by a newer one": 2, "No text, with a reason": 4,
    }  # fmt: skip
    assert sum(int(row[1]) for row in rows) == 26


def test_without_data_the_page_says_so_and_shows_no_zero(page):
    found = page()
    assert "No data yet" in found.text
    assert not re.search(r"\b0 %", found.text.partition("What the words mean")[0])


def test_without_kept_texts_the_edit_rate_is_no_data(page, now):
    site = Site(now)
    site.suggestion("PENDING")
    cards = page().cards()
    assert cards["Edit rate"][0] == cards["Not used"][0] == "No data yet"
    assert cards["Coverage"][0] == "0 %"  # one offered, none reviewed: that is a figure


def test_a_missing_interval_is_explained(page, now):
    site = Site(now)
    for person in site.authors(3):
        site.kept("A red cat", by=person)
    assert "An interval needs 5 authors, this has 3." in page().text


def test_equal_authors_are_named_as_the_reason(page, now):
    site = Site(now)
    for person in site.authors(6):
        site.kept("A red cat", by=person)
    assert "All authors have the same rate" in page().text


def test_a_part_with_few_authors_hides_what_they_did(page, now):
    site = Site(now)
    for person in site.authors(3):
        site.kept("A red cats", by=person, language="de")
    found = page(language="de")
    assert "fewer than 5 authors; here it is 3" in found.text
    assert set(found.cards()) == {"Abstention", "Coverage"}
    assert "Used after edits" not in found.text
    assert page().cards()["Edit rate"][0] == "100 %"


def test_the_choices_narrow_the_figures(page, now):
    site = small_period(now)
    other = site.another_version("starter", "v2")
    for person in site.authors(5):
        site.kept("A red cats", by=person, version=other, language="de")
    assert page().cards()["Edit rate"][0] == "47.4 %"  # 9 of 19
    assert page(version=other.pk).cards()["Edit rate"][0] == "100 %"
    assert page(language="en").cards()["Edit rate"][0] == "28.6 %"
    assert page(period="90").cards()["Coverage"][1] == "22 reviewed of 27 offered texts"
    chosen = page(period="all", version=other.pk, language="de")
    assert "All time, starter v2, pages in “de”" in chosen.text
    selected = [item.get("value") for item in chosen.main.iter(f"{XHTML}option") if item.get("selected") is not None]
    assert selected == ["all", str(other.pk), "de"]


@pytest.mark.parametrize("query", [{"period": "7"}, {"version": "999"}, {"version": "x"}, {"language": "tlh"}])
def test_an_unknown_choice_is_refused_beside_its_field(page, now, query):
    small_period(now)
    found = page(status=422, **query)
    (name,) = query
    field = next(item for item in found.main.iter(f"{XHTML}select") if item.get("name") == name)
    assert field.get("aria-invalid") == "true"
    error = next(item for item in found.main.iter() if item.get("id") == field.get("aria-describedby"))
    assert "not one of the available choices" in words(error)
    assert not list(found.main.iter(f"{XHTML}table"))


def test_the_page_carries_its_policy_and_nothing_inline(client, lead, now):
    site = small_period(now)
    site.another_version("<script>alert(1)</script>", "x")
    client.force_login(lead)
    response = client.get(reverse("alttext:dashboards"))
    main = response.content.decode().partition("<main")[2]
    assert "default-src 'self'" in response["Content-Security-Policy"]
    assert not re.search(r"<script|<style|\sstyle=|\son\w+=", main)
    assert "&lt;script&gt;" in main


def test_the_page_asks_the_database_the_same_number_of_times_for_more_data(
    client, lead, now, django_assert_num_queries
):
    small_period(now)
    client.force_login(lead)
    with django_assert_num_queries(10):  # session, user, 2 x permissions, 2 x choices, 4 x figures
        client.get(reverse("alttext:dashboards"))
    more = Site(now, key="v9")
    for person in more.authors(10):
        more.kept("A red cats", by=person)
    with django_assert_num_queries(10):
        client.get(reverse("alttext:dashboards"))


@pytest.fixture
def csv_rows(client, lead):
    client.force_login(lead)

    def get(**query):
        response = client.get(reverse("alttext:edits-csv"), query)
        assert response.status_code == 200
        assert response["Content-Type"] == "text/csv; charset=utf-8"
        return exports.read_csv(b"".join(response.streaming_content).decode())

    return get


def test_the_file_holds_each_kept_text_once_and_no_names(csv_rows, now):
    small_period(now)
    rows = csv_rows()
    assert len(rows) == 14
    assert sum(row["outcome"] in ("EDITED", "REPLACED") for row in rows) == 4
    assert sorted(int(row["distance_graphemes"]) for row in rows)[-4:] == [1, 1, 9, 19]
    assert len({row["author_key"] for row in rows}) == 5
    assert all(re.fullmatch(r"a[0-9a-f]{12}", row["author_key"]) for row in rows)
    assert "person-" not in str(rows)
    assert rows[-1]["final_text"] == "A red cats"
    assert set(rows[0]) == set(exports.EDIT_COLUMNS)


def test_with_few_authors_the_file_tells_nobody_apart(csv_rows, now):
    site = Site(now)
    for person in site.authors(4):
        site.kept("A red cat", by=person)
    assert {row["author_key"] for row in csv_rows()} == {""}


def test_a_part_with_few_authors_has_no_file(client, lead, now):
    site = Site(now)
    for person in site.authors(4):
        site.kept("A red cat", by=person, language="de")
    client.force_login(lead)
    response = client.get(reverse("alttext:edits-csv"), {"language": "de"})
    assert response.status_code == 403
    assert "fewer than 5 authors" in " ".join(response.content.decode().split())


@pytest.mark.parametrize("text", ["=HYPERLINK(1)", "+1", "-", "@home", "'=1", 'a, "b"\nc'])
def test_texts_reach_the_file_neutralised_and_come_back(client, lead, now, csv_rows, text):
    site = Site(now)
    (person,) = site.authors(1)
    site.kept(text, by=person)
    raw = b"".join(client.get(reverse("alttext:edits-csv")).streaming_content).decode()
    assert not re.search(r"(^|,)\"?[=+\-@\t\r]", raw, re.M)
    (row,) = csv_rows()
    assert row["final_text"] == text


def test_the_link_to_the_file_keeps_the_choices(page, now):
    small_period(now)
    links = [item.get("href") for item in page(period="90", language="en").main.iter(f"{XHTML}a")]
    assert any("edits.csv?period=90&language=en" in link for link in links)
