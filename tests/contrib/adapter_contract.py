"""What every adapter has to keep. A subclass gives the fixture `stage`: one image, without alt text, on one page."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Protocol

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test.utils import CaptureQueriesContext

from alttext.adapters import Adapter, Alt, ChangedElsewhere, Context, NotThere, TextDoesNotFit
from alttext.models import Placement

LONG = "Forty people wait on the quay for the ferry. " * 7  # 315 graphemes
EXACT = [
    'A sign reads "Stop."',
    " two spaces  inside and at both ends ",
    "e\u0301 decomposed",
    "<b>5 > 3</b> & more",
    "日本語の看板。",
    "👩‍🚀 on deck",
    LONG,
]


class Stage(Protocol):
    """One CMS page with one image, and hands to change it behind the adapter's back."""

    adapter: Adapter
    key: str
    data: bytes
    language: str
    page_title: str
    context: Context
    editor: Any
    superuser: Any
    stranger: Any

    def change(self, text: str) -> None:
        """Somebody else saves `text` as the alt text in the CMS."""

    def edit_page(self) -> None:
        """Somebody edits the words of the page."""

    def add(self) -> None:
        """One more page with an image."""

    def remove(self) -> None:
        """The image leaves the page."""

    def lose_file(self) -> None:
        """The file vanishes from the storage."""

    def narrow(self) -> tuple[str, int]:
        """Key of an image whose alt column is narrow, and how many characters fit."""


class AdapterContract:
    """Tests that each adapter's test class inherits."""

    def test_each_use_is_found_once(self, stage: Stage):
        assert [place.key for place in stage.adapter.places()].count(stage.key) == 1

    def test_looking_twice_finds_the_same(self, stage: Stage):
        stage.add()
        assert list(stage.adapter.places()) == list(stage.adapter.places())

    def test_one_place_alone_is_the_one_of_the_list(self, stage: Stage):
        listed = next(place for place in stage.adapter.places() if place.key == stage.key)
        assert stage.adapter.place(stage.key) == listed

    def test_more_pages_take_no_more_queries(self, stage: Stage, django_assert_num_queries):
        with CaptureQueriesContext(connection) as few:
            before = len(list(stage.adapter.places()))
        for _ in range(3):
            stage.add()
        with django_assert_num_queries(len(few)):
            assert len(list(stage.adapter.places())) == before + 3

    def test_the_key_stays_when_page_and_text_are_edited(self, stage: Stage):
        before = stage.adapter.place(stage.key)
        stage.edit_page()
        stage.change("Somebody's words")
        assert stage.key in [place.key for place in stage.adapter.places()]
        assert stage.adapter.place(stage.key).context != before.context

    def test_keys_and_scopes_fit_their_columns(self, stage: Stage):
        for place in stage.adapter.places():
            assert 0 < len(place.key) <= 200
            assert 0 < len(place.scope) <= 200

    def test_the_context_is_that_of_the_page(self, stage: Stage):
        place = stage.adapter.place(stage.key)
        assert place.context == stage.context
        assert (place.page_title, place.language) == (stage.page_title, stage.language)
        assert place.page_url.startswith("/")

    def test_an_undecided_image_has_neither_text_nor_mark(self, stage: Stage):
        assert stage.adapter.place(stage.key).alt == Alt()

    def test_the_bytes_are_the_original_ones(self, stage: Stage):
        assert stage.adapter.read_image(stage.key) == stage.data

    def test_a_lost_file_is_not_there(self, stage: Stage):
        stage.lose_file()
        with pytest.raises(NotThere):
            stage.adapter.read_image(stage.key)

    def test_a_removed_image_is_not_there(self, stage: Stage):
        stage.remove()
        assert stage.key not in [place.key for place in stage.adapter.places()]
        with pytest.raises(NotThere):
            stage.adapter.place(stage.key)
        with pytest.raises(NotThere):
            stage.adapter.read_image(stage.key)
        with pytest.raises(NotThere):
            stage.adapter.apply(stage.key, alt=Alt("Too late"), expected=Alt(), by=stage.editor)

    @pytest.mark.parametrize(
        "make", [lambda key: "", lambda key: ":", lambda key: key + "x", lambda key: "x" + key, lambda key: f" {key}"]
    )
    def test_a_malformed_key_is_not_there(self, stage: Stage, make):
        with pytest.raises(NotThere):
            stage.adapter.place(make(stage.key))

    @pytest.mark.parametrize(("who", "may"), [("editor", True), ("superuser", True), ("stranger", False)])
    def test_only_those_with_permission_may_edit(self, stage: Stage, who: str, may: bool):
        assert self.may_edit(stage, getattr(stage, who)) is may

    @pytest.mark.parametrize("who", ["editor", "superuser"])
    def test_an_inactive_account_may_edit_nothing(self, stage: Stage, who: str):
        user = getattr(stage, who)
        user.is_active = False
        user.save()
        assert not self.may_edit(stage, type(user).objects.get(pk=user.pk))

    def test_a_visitor_may_edit_nothing(self, stage: Stage):
        assert not self.may_edit(stage, AnonymousUser())

    def test_the_permission_ends_at_the_adapter(self, stage: Stage):
        placement = record(stage)
        placement.adapter = "another"
        placement.save()
        assert not Placement.objects.filter(stage.adapter.editable(stage.editor)).exists()
        assert not Placement.objects.filter(stage.adapter.editable(stage.superuser)).exists()

    @pytest.mark.parametrize("text", EXACT)
    def test_a_text_is_written_to_the_byte(self, stage: Stage, text: str):
        stage.adapter.apply(stage.key, alt=Alt(text), expected=Alt(), by=stage.editor)
        assert stage.adapter.place(stage.key).alt == Alt(text)

    def test_decorative_is_written_and_taken_back(self, stage: Stage):
        stage.adapter.apply(stage.key, alt=Alt(decorative=True), expected=Alt(), by=stage.editor)
        assert stage.adapter.place(stage.key).alt == Alt(decorative=True)
        stage.adapter.apply(stage.key, alt=Alt("Words again"), expected=Alt(decorative=True), by=stage.editor)
        assert stage.adapter.place(stage.key).alt == Alt("Words again")

    @pytest.mark.parametrize("expected", [Alt(), Alt("What the author saw"), Alt(decorative=True)])
    def test_a_stale_apply_is_refused(self, stage: Stage, expected: Alt):
        stage.change("Somebody was faster")
        with pytest.raises(ChangedElsewhere):
            stage.adapter.apply(stage.key, alt=Alt("Mine"), expected=expected, by=stage.editor)
        assert stage.adapter.place(stage.key).alt == Alt("Somebody was faster")

    def test_the_second_of_two_saves_is_refused(self, stage: Stage):
        stage.adapter.apply(stage.key, alt=Alt("First"), expected=Alt(), by=stage.editor)
        with pytest.raises(ChangedElsewhere):
            stage.adapter.apply(stage.key, alt=Alt("Second"), expected=Alt(), by=stage.editor)
        assert stage.adapter.place(stage.key).alt == Alt("First")

    def test_a_text_that_does_not_fit_is_refused_before_it_is_written(self, stage: Stage):
        key, limit = stage.narrow()
        stage.adapter.apply(key, alt=Alt("x" * limit), expected=Alt(), by=stage.editor)
        with pytest.raises(TextDoesNotFit) as refused:
            stage.adapter.apply(key, alt=Alt("x" * (limit + 1)), expected=Alt("x" * limit), by=stage.editor)
        assert refused.value.limit == limit
        assert stage.adapter.place(key).alt == Alt("x" * limit)

    def may_edit(self, stage: Stage, user: Any) -> bool:
        """Asked for a list and for one row alike."""
        placement = record(stage)
        allowed = Placement.objects.filter(stage.adapter.editable(user))
        assert list(allowed) == list(allowed.filter(pk=placement.pk))
        return allowed.exists()


def record(stage: Stage) -> Placement:
    """The placement row of the stage's image."""
    place, at = stage.adapter.place(stage.key), datetime(2026, 3, 2, tzinfo=UTC)
    return Placement.objects.create(
        adapter=stage.adapter.name,
        key=place.key,
        scope=place.scope,
        alt_hash=place.alt.hash,
        created_at=at,
        updated_at=at,
    )
