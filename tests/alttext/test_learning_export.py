"""Real decisions, exported by the command, read by the funnel: the two sides agree on what a person decided."""

from __future__ import annotations

import hashlib
import io
import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from alttext import adapters, exports
from alttext.models import Decision, Placement
from alttext.operations import decisions, placements
from captioner.funnel import preferences, records
from captioner.prepare import images
from captioner.types import PageContext, Role
from tests.conftest import key_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def save(at):
    def act(placement, suggestion, text, by, when=None, **rest):
        placement.refresh_from_db()
        seen = decisions.seen(placement, suggestion)
        return decisions.save_text(placement=placement, text=text, seen=seen, by=by, at=when or at, **rest)

    return act


@pytest.fixture
def export(tmp_path):
    """Run the command; what it said and the lines it wrote."""

    def run(*options, folder="out"):
        said = io.StringIO()
        call_command("alttext_export", "--out", str(tmp_path / folder), *options, stdout=said)
        path = tmp_path / folder / exports.LEARNING_FILE
        lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        return said.getvalue(), lines

    run.folder = tmp_path / "out"
    return run


@pytest.fixture
def decided(make_placement, suggest, save, author, other_author, at):
    """Seven placements, decided in each way by two authors, and one that nobody decided on."""
    made = {}
    for name, final, by in [
        ("as is", "A red cat on a wall", author),
        ("edited", "A red cat asleep on a wall", author),
        ("punctuation", "a red cat, on a wall", other_author),
        ("replaced", "Two boats leave the harbour", other_author),
    ]:
        made[name] = make_placement(title=f"Page {name}", text_before="Before it.", text_after="After it.")
        shown = suggest(made[name], "A red cat on a wall", version="v1")
        save(made[name], shown, final, by, cleared=name == "replaced")
    made["rejected"] = make_placement()
    decisions.reject(
        placement=made["rejected"], seen=decisions.seen(made["rejected"], suggest(made["rejected"])), by=author, at=at
    )
    made["decorative"] = make_placement()
    shown = suggest(made["decorative"])
    decisions.mark_decorative(
        placement=made["decorative"], seen=decisions.seen(made["decorative"], shown), by=author, at=at
    )
    made["written"] = make_placement()
    save(made["written"], None, "A hand-written text", author)
    made["open"] = make_placement()
    suggest(made["open"])
    return made


def by_outcome(lines):
    found = {}
    for line in lines:
        found.setdefault(line["outcome"], []).append(line)
    return found


def test_every_decision_is_exported_once_and_nothing_undecided(export, decided):
    said, lines = export("--licence", "CC BY 4.0")
    assert {outcome: len(found) for outcome, found in by_outcome(lines).items()} == {
        "AS_IS": 1, "EDITED": 2, "REPLACED": 1, "REJECTED": 1, "DECORATIVE": 1, "WRITTEN": 1,
    }  # fmt: skip
    assert said.startswith("7 decisions (as_is 1, decorative 1, edited 2, rejected 1, replaced 1, written 1)")
    assert {line["licence"] for line in lines} == {"CC BY 4.0"}


def test_a_line_tells_what_was_offered_where_and_what_became_of_it(export, decided):
    [line] = [line for line in export()[1] if line["final_text"] == "A red cat asleep on a wall"]
    placement = decided["edited"]
    assert line["suggested_text"] == "A red cat on a wall"
    assert (line["captioner"], line["versions_key"]) == ("canned", "v1")
    assert (line["language"], line["content_hash"]) == ("en", placement.asset.content_hash)
    assert (line["context"]["title"], line["context"]["before"]) == ("Page edited", "Before it.")
    assert (line["same_image"], line["same_context"]) == (True, True)
    assert line["decided_on"] == "2026-03-02"


def test_the_funnel_reads_what_the_command_writes(export, decided):
    export("--licence", "CC BY 4.0")
    dropped = records.Skipped()
    found = {record.target: record for record in records.read(export.folder / exports.LEARNING_FILE, dropped)}
    assert {target: record.weight for target, record in found.items()} == {
        "A red cat on a wall": 0.3,
        "A red cat asleep on a wall": 1.0,
        "a red cat, on a wall": 1.0,
        "Two boats leave the harbour": 1.0,
        "A hand-written text": 1.0,
    }
    edited = found["A red cat asleep on a wall"]
    assert (edited.source, edited.licence, edited.role) == ("authors", "CC BY 4.0", Role.UNKNOWN)
    assert edited.context == PageContext(title="Page edited", before="Before it.", after="After it.")
    assert edited.content_hash == decided["edited"].asset.content_hash
    assert images.open_derivative(edited.image.read_bytes()).size == (320, 200)
    assert {reason: item["count"] for reason, item in dropped.report().items()} == {
        "no text to learn: rejected": 1,
        "no text to learn: decorative": 1,
    }


def test_preference_pairs_are_the_edits_that_changed_the_meaning(export, decided):
    export()
    dropped = records.Skipped()
    pairs = list(
        preferences.from_decisions(records.read_decisions(export.folder / exports.LEARNING_FILE, dropped), dropped)
    )
    assert {(pair.chosen, pair.rejected) for pair in pairs} == {
        ("A red cat asleep on a wall", "A red cat on a wall"),
        ("Two boats leave the harbour", "A red cat on a wall"),
    }
    assert len({pair.author for pair in pairs}) == 2
    assert sorted(dropped.rows) == [
        "no pair: as_is", "no pair: decorative", "no pair: only case, punctuation or spaces changed",
        "no pair: rejected", "no pair: written",
    ]  # fmt: skip


def test_words_that_changed_between_suggestion_and_text_make_no_pair(
    make_placement, suggest, author, at, export, illustration_of, adapter
):
    placement = make_placement(text_before="Old words")
    suggestion = suggest(placement, "A red cat on a wall")
    shown = decisions.seen(placement, suggestion)
    first = decisions.save_text(placement=placement, text="A cat on the wall", seen=shown, by=author, at=at)
    row = illustration_of(placement)
    row.text_before = "New words"
    row.save()
    placement, _ = placements.refresh(adapter, adapter.place(placement.key), at=at)
    again = decisions.save_text(
        placement=placement, text="A dog on the wall", seen=decisions.seen(placement, suggestion), by=author, at=at
    )
    assert again.pk != first.pk
    lines = export()[1]
    dropped = records.Skipped()
    found = list(
        preferences.from_decisions(records.read_decisions(export.folder / exports.LEARNING_FILE, dropped), dropped)
    )
    about_new_words = [line for line in lines if line["context"]["before"] == "New words"]
    assert [line["final_text"] for line in about_new_words] == ["A dog on the wall"]
    assert "A dog on the wall" not in {pair.chosen for pair in found}


def test_the_export_agrees_with_the_measured_outcomes(export, decided):
    for line in export()[1]:
        stored = Decision.objects.get(pk=int(line["id"].removeprefix("decision-")))
        assert line["outcome"] == (stored.outcome or {"SAVE": "WRITTEN"}.get(stored.act) or stored.suggestion.state)
        if stored.suggestion is not None:
            assert line["outcome"] == stored.suggestion.state


def test_only_the_last_text_in_force_counts(make_placement, suggest, save, author, at, export):
    placement = make_placement()
    suggestion = suggest(placement, "A red cat on a wall")
    save(placement, suggestion, "A first text here", author)
    save(placement, suggestion, "A second text here", author, at + timedelta(minutes=1))
    save(placement, suggestion, "A third text here", author, at + timedelta(minutes=2))
    placement.refresh_from_db()
    decisions.undo(placement=placement, seen=decisions.seen(placement), by=author, at=at + timedelta(minutes=3))
    assert [line["final_text"] for line in export()[1]] == ["A second text here"]


def test_what_was_taken_back_or_came_after_the_window_is_no_record(make_placement, suggest, save, author, at, export):
    undone, late = make_placement(), make_placement()
    save(undone, suggest(undone), "A text here", author)
    undone.refresh_from_db()
    decisions.undo(placement=undone, seen=decisions.seen(undone), by=author, at=at)
    save(late, suggest(late), "A text here", author, at + timedelta(days=29))
    said, lines = export()
    assert lines == []
    assert said.startswith("0 decisions (none)")


def test_authors_are_told_apart_and_not_named(export, decided, author, other_author, settings):
    _, lines = export()
    raw = (export.folder / exports.LEARNING_FILE).read_text()
    assert author.get_username() not in raw
    keys = {line["author"] for line in lines}
    assert keys == {exports.author_key(user.pk, exports.author_secret()) for user in (author, other_author)}
    settings.SECRET_KEY = "another site's key"
    assert not keys & {line["author"] for line in export(folder="other")[1]}


def test_the_images_lie_beside_the_file_as_captioners_see_them(export, decided):
    _, lines = export()
    for line in lines:
        data = (export.folder / line["image"]).read_bytes()
        assert line["image"] == f"images/{line['content_hash']}.jpg"
        assert data == images.take_in(_original(line["content_hash"])).large
    assert sorted(path.name for path in export.folder.rglob("*") if path.is_file()) == sorted(
        {exports.LEARNING_FILE, *(f"{line['content_hash']}.jpg" for line in lines)}
    )


def _original(content_hash):
    placement = Placement.objects.get(asset__content_hash=content_hash)
    data = adapters.get("imagefields").read_image(placement.key)
    assert hashlib.sha256(data).hexdigest() == content_hash
    return data


def test_images_that_are_gone_or_others_now_are_counted_and_left_out(export, decided, illustration_of, make_image):
    gone, replaced = illustration_of(decided["edited"]), illustration_of(decided["replaced"])
    gone.image.storage.delete(gone.image.name)
    with replaced.image.storage.open(replaced.image.name, "wb") as file:
        file.write(make_image())
    said, lines = export()
    assert len(lines) == 5
    assert "2 left out (image gone 1, image replaced since 1)" in said
    assert len(export("--no-images", folder="hashes")[1]) == 7


def test_without_images_only_the_hashes_leave_the_site(export, decided):
    _, lines = export("--no-images")
    assert {line["image"] for line in lines} == {None}
    assert all(len(line["content_hash"]) == 64 for line in lines)
    assert [path.name for path in export.folder.iterdir()] == [exports.LEARNING_FILE]
    assert all(
        record.image is None for record in records.read(export.folder / exports.LEARNING_FILE, records.Skipped())
    )


def test_a_dry_run_counts_and_writes_nothing(export, decided):
    said, lines = export("--dry-run")
    assert "7 decisions" in said
    assert "nothing written" in said
    assert lines == []
    assert not export.folder.exists()


def test_since_and_limit_narrow_the_export(export, make_placement, save, author, at):
    for day in range(3):
        save(make_placement(), None, f"Text of day {day}", author, at + timedelta(days=day))
    assert [line["final_text"] for line in export("--since", "2026-03-03")[1]] == ["Text of day 1", "Text of day 2"]
    assert len(export("--limit", "2")[1]) == 2


@pytest.mark.parametrize(
    "options", [["--since", "2026-02-31"], ["--since", "soon"], ["--limit", "0"], ["--limit", "x"]]
)
def test_options_that_mean_nothing_are_refused_in_words(export, options):
    with pytest.raises(CommandError, match="is no"):
        export(*options)


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path, decided):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CommandError, match="file"):
        call_command("alttext_export", "--out", str(tmp_path / "file" / "out"))


def test_the_export_changes_nothing_on_the_site(export, decided, illustration_of):
    before = {}
    for name, item in decided.items():
        item.refresh_from_db()
        before[name] = (illustration_of(item).alt_text, item.state)
    count = Decision.objects.count()
    export()
    after = {}
    for name, item in decided.items():
        item.refresh_from_db()
        after[name] = (illustration_of(item).alt_text, item.state)
    assert after == before
    assert Decision.objects.count() == count


def test_the_number_of_queries_does_not_grow_with_the_decisions(
    export, make_placement, suggest, save, author, django_assert_num_queries
):
    with django_assert_num_queries(1):
        export("--no-images")
    for _ in range(6):
        placement = make_placement()
        save(placement, suggest(placement), "A text of some words", author)
    with django_assert_num_queries(1):
        assert len(export("--no-images")[1]) == 6


def test_the_place_of_an_image_is_not_told(export, decided, illustration_of):
    export()
    raw = (export.folder / exports.LEARNING_FILE).read_text()
    assert key_of(illustration_of(decided["edited"])) not in raw
