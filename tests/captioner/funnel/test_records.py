"""Public sets and exported decisions become the same records; what does not is counted by reason."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from captioner.funnel import records
from captioner.types import PageContext, Role
from tests.conftest import picture, skip_unless

DATA = Path(os.environ.get("ALTTEXT_DATA", Path(__file__).resolve().parents[4] / "shared/data"))


@pytest.fixture
def jsonl(tmp_path):
    """Write lines to a file with one picture beside it."""

    def write(*lines):
        folder = tmp_path / "set"
        (folder / "images").mkdir(parents=True, exist_ok=True)
        (folder / "images/a.png").write_bytes(picture(seed=1))
        path = folder / "data.jsonl"
        path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
        return path

    return write


def public(**fields):
    return {
        "image": "images/a.png",
        "alt": "A red square on white",
        "source": "book@1",
        "licence": "CC BY 4.0",
        **fields,
    }


def decided(**fields):
    words = {"title": "Zoo", "headings": ["Cats"], "before": "b", "after": "a", "caption": "", "link_target": "",
             "link_label": "", "link_text_visible": False, "language": "en"}  # fmt: skip
    line = {
        "schema": 1, "id": "decision-7", "image": None, "content_hash": "0" * 64, "perceptual_hash": "f" * 16,
        "context": words, "role": "informative", "outcome": "EDITED", "suggested_text": "A cat",
        "final_text": "A grey cat on a wall", "same_image": True, "same_context": True, "author": "a1",
        "captioner": "starter", "versions_key": "k", "licence": "own",
    }  # fmt: skip
    return line | fields


def reasons(dropped):
    return {reason: found["count"] for reason, found in dropped.report().items()}


def test_a_textbook_line_becomes_a_record_with_its_page_words(jsonl):
    path = jsonl(public(page_title="Biology", chapter="1", heading="Cells", text_before="x", kind="photo"))
    [record] = records.read(path, records.Skipped())
    assert record == records.Record(
        name="set/data.jsonl:1: text 1",
        image=path.parent / "images/a.png",
        content_hash=hashlib.sha256(picture(seed=1)).hexdigest(),
        context=PageContext(title="Biology", headings=("1", "Cells"), before="x"),
        target="A red square on white",
        source="book@1",
        licence="CC BY 4.0",
        kind="photo",
    )


def test_the_captions_of_one_photo_share_the_weight_of_one(jsonl):
    """Three captions, one of them said twice and one a fragment: two records of weight 1/2."""
    path = jsonl(public(alt=None, captions=["A cat on a mat", "A cat on a mat.", "A cat on a mat", "A cat with a"]))
    dropped = records.Skipped()
    found = list(records.read(path, dropped))
    assert [(record.target, record.weight) for record in found] == [("A cat on a mat", 0.5), ("A cat on a mat.", 0.5)]
    assert reasons(dropped) == {"text: fragment": 1}


def test_only_informative_web_images_are_learned_from(jsonl):
    roles = ("informative", "functional", "decorative", "alt_missing_or_decorative_unreliable")
    path = jsonl(*(public(role=role, para_before="near") for role in roles))
    dropped = records.Skipped()
    [record] = records.read(path, dropped)
    assert (record.role, record.context.before) == (Role.INFORMATIVE, "near")
    assert reasons(dropped) == {"role functional": 1, "role decorative": 1, "role not to be trusted": 1}


def test_every_line_is_a_record_or_counted(jsonl):
    path = jsonl(
        public(), "{broken", "[1]", public(image="images/none.png"), public(image=None), public(alt="..."),
        public(alt="two words"), decided(), decided(schema=2), decided(outcome="MAYBE"), decided(context={}), "",
    )  # fmt: skip
    dropped = records.Skipped()
    found = list(records.read(path, dropped))
    assert len(found) + dropped.count == 11
    assert reasons(dropped) == {
        "not JSON": 1, "not a JSON object": 1, "image file missing": 1, "names no image": 1, "no human text": 1,
        "text: under the least words": 1, "another schema": 1, "malformed decision": 2,
    }  # fmt: skip


def test_a_file_that_cannot_be_read_is_a_clear_error(tmp_path):
    with pytest.raises(records.DataUnreadable, match="No such file"):
        list(records.read(tmp_path / "none.jsonl", records.Skipped()))
    (tmp_path / "bytes.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(records.DataUnreadable, match="not UTF-8"):
        list(records.read(tmp_path / "bytes.jsonl", records.Skipped()))


def test_a_text_used_as_offered_is_a_weak_positive(jsonl):
    path = jsonl(decided(), decided(outcome="AS_IS"), decided(outcome="WRITTEN", suggested_text=None))
    assert [record.weight for record in records.read(path, records.Skipped())] == [1.0, 0.3, 1.0]


def test_a_decision_without_a_text_is_nothing_to_learn_from(jsonl):
    path = jsonl(
        decided(outcome="REJECTED", final_text=None), decided(outcome="DECORATIVE", final_text=None),
        decided(role="functional"), decided(final_text="Menu"),
    )  # fmt: skip
    dropped = records.Skipped()
    assert list(records.read(path, dropped)) == []
    assert reasons(dropped) == {
        "no text to learn: rejected": 1, "no text to learn: decorative": 1, "role functional": 1,
        "text: under the least words": 1,
    }  # fmt: skip


def test_the_limit_counts_records(jsonl):
    path = jsonl(*(public(alt=f"A red square number {number}") for number in range(5)))
    assert len(list(records.read(path, records.Skipped(), limit=2))) == 2


def test_the_pair_id_goes_by_picture_and_text_alone(jsonl):
    path = jsonl(public(), public(heading="Elsewhere"), public(alt="A red square on grey"))
    one, other_page, other_text = records.read(path, records.Skipped())
    assert one.pair_id == other_page.pair_id != other_text.pair_id


@pytest.mark.data
@pytest.mark.parametrize("name", ["openstax/val.jsonl", "coco_subset/val.jsonl", "web_context/data.jsonl"])
def test_the_public_sets_give_clean_records_and_account_for_every_line(name):
    skip_unless((DATA / name).is_file(), f"no {DATA / name}")
    dropped, lines = records.Skipped(), set()
    for record in records.read(DATA / name, dropped):
        lines.add(record.name.partition(": ")[0])
        assert 3 <= len(record.target.split()) <= 40
        assert record.role in (Role.UNKNOWN, Role.INFORMATIVE)
        assert record.licence
        assert 0 < record.weight <= 1
    told = {item.partition(": ")[0] for items in dropped.rows.values() for item in items}
    assert len(lines | told) == sum(bool(line.strip()) for line in (DATA / name).open())
