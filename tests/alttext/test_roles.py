"""The W3C decision tree, asked one question at a time."""

from __future__ import annotations

import itertools

import pytest

from alttext import roles
from alttext.models import Decision, Placement
from tests.alttext.test_views import HTMX, post, text_in_box, url


@pytest.mark.parametrize(
    ("answers", "role"),
    [
        ("ynnn", "text"),  # a poster whose words stand nowhere else
        ("yy", "decorative"),  # the words stand beside it
        ("yny", "decorative"),  # an ornament of letters
        ("ynnyy", "functional"),  # an icon with a word that is a button
        ("ny", "functional"),  # the only content of a link
        ("nnyy", "complex"),  # a chart
        ("nnynn", "informative"),  # a photograph that adds something
        ("nnyny", "decorative"),  # the text beside it says it
        ("nnn", "decorative"),  # a line between two parts
    ],
)
def test_answers_lead_to_the_role(answers, role):
    assert roles.ask(answers) == roles.End(role, roles.ask(answers).why)


def test_every_way_ends_after_few_questions():
    for answers in itertools.product("yn", repeat=8):
        assert isinstance(roles.ask("".join(answers)), roles.End)


def test_every_step_can_be_reached():
    reached = {id(roles.ask("".join(way))) for length in range(8) for way in itertools.product("yn", repeat=length)}
    assert reached == {id(step) for step in roles.TREE.values()}


def test_what_comes_after_the_end_is_left_out():
    assert roles.ask("nyyyyyyn") == roles.ask("ny")


@pytest.mark.django_db
class TestGuide:
    def test_it_asks_and_remembers_the_answers(self, client, author, make_placement):
        placement = make_placement()
        client.force_login(author)
        page = client.get(url("guide", placement, answers="n"), **HTMX).text
        assert page.lstrip().startswith(f'<div id="guide-{placement.pk}"')
        assert "Is the image the only content of a link or a button?" in page
        assert "?answers=ny" in page

    def test_the_role_that_was_found_is_recorded(self, client, author, make_placement):
        placement = make_placement()
        client.force_login(author)
        end = client.get(url("guide", placement, answers="nnyy"), **HTMX).text
        assert 'name="guided" value="complex"' in end
        answer = post(client, "role", placement, text="Half a senten", guided="complex", role="text")
        placement.refresh_from_db()
        assert (placement.role, placement.chosen_role) == ("complex", "complex")
        assert text_in_box(answer) == "Half a senten"

    def test_decorative_is_left_to_the_person(self, client, author, make_placement):
        placement = make_placement()
        client.force_login(author)
        page = client.get(url("guide", placement, answers="nnn"), **HTMX).text
        assert "only a person can say so" in page
        assert not Decision.objects.exists()
        assert Placement.objects.get().decorative is False

    @pytest.mark.parametrize("answers", ["", "x", "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy", "%00", "n%3Cscript%3E"])
    def test_answers_that_mean_nothing_are_no_error(self, client, author, make_placement, answers):
        placement = make_placement()
        client.force_login(author)
        assert client.get(f"{url('guide', placement)}?answers={answers}").status_code == 200

    def test_without_scripts_it_is_the_page_with_the_questions_open(self, client, author, make_placement):
        placement = make_placement()
        client.force_login(author)
        page = client.get(url("guide", placement, answers="n")).text
        assert "<!doctype html>" in page
        assert '<details class="more" open>' in page

    def test_a_stranger_is_asked_nothing(self, client, outsider, make_placement):
        client.force_login(outsider)
        assert client.get(url("guide", make_placement())).status_code == 404
