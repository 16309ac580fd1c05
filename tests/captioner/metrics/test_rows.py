"""Every shape of record is read; broken rows are counted, named and survived."""

import json

import pytest
from PIL import Image

from captioner.metrics import rows
from captioner.types import Role


@pytest.fixture
def read(tmp_path):
    """Write records as JSONL beside one image and read them back: (rows, skipped)."""
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")

    def read_back(*records, limit=None):
        lines = (record if isinstance(record, str) else json.dumps(record) for record in records)
        path = tmp_path / "data.jsonl"
        path.write_text("\n".join(lines), encoding="utf-8")
        skipped = rows.Skipped()
        return list(rows.read(path, skipped, limit=limit)), skipped

    return read_back


def test_a_textbook_figure_is_read(read):
    record = {
        "image": "a.png",
        "alt": "A cell",
        "kind": "diagram",
        "page_title": "Biology",
        "chapter": "Cells",
        "section": "Walls",
    }
    record |= {"heading": "Walls", "text_before": "before", "text_after": "after", "caption": "Figure 1"}
    [row], _ = read(record)
    assert (row.kind, row.references, row.objects, row.role) == ("diagram", ("A cell",), None, Role.UNKNOWN)
    context = row.context
    assert (context.title, context.headings) == ("Biology", ("Cells", "Walls"))
    assert (context.before, context.after, context.caption) == ("before", "after", "Figure 1")


def test_an_image_of_a_web_page_is_read(read):
    record = {
        "image": "a.png",
        "alt": "Home",
        "role": "functional",
        "para_before": "b",
        "para_after": "c",
        "href": "/home",
    }
    [row], _ = read(record)
    assert (row.role, row.context.before, row.context.after, row.context.link_target) == (
        Role.FUNCTIONAL,
        "b",
        "c",
        "/home",
    )


def test_a_role_that_is_no_role_is_unknown(read):
    [row], _ = read({"image": "a.png", "alt": "x", "role": "alt_missing_or_decorative_unreliable"})
    assert row.role is Role.UNKNOWN


def test_a_labelled_photo_is_read(read):
    [row], _ = read({"image": "a.png", "captions": ["A dog", "A dog", "Dog runs"], "objects": ["dog"]})
    assert (row.references, row.objects) == (("A dog", "Dog runs"), frozenset({"dog"}))


def test_a_photo_without_captions_is_usable_by_its_labels(read):
    [row], _ = read({"image": "a.png", "captions": [], "objects": []})
    assert (row.references, row.objects) == ((), frozenset())


def test_one_image_on_two_pages_is_two_rows(read):
    pages = [{"page_title": "One", "para_before": "x"}, {"page_title": "Two", "page_text": "y"}]
    found, _ = read({"image": "a.png", "alt": "A loaf", "contexts": pages})
    assert [(row.context.title, row.context.before) for row in found] == [("One", "x"), ("Two", "y")]
    assert len({row.name for row in found}) == 2


BROKEN = [
    ("not JSON", "{nope"),
    ("not a JSON object", "[1]"),
    ("names no image", {"alt": "x"}),
    ("names no image", {"image": 7, "alt": "x"}),
    ("image file missing", {"image": "gone.png", "alt": "x"}),
    ("no human text and no labels", {"image": "a.png", "alt": " \u200b", "captions": None}),
    ("no human text and no labels", {"image": "a.png", "objects": None}),
]


@pytest.mark.parametrize(("reason", "record"), BROKEN)
def test_a_broken_row_is_counted_named_and_survived(read, reason, record):
    found, skipped = read(record, {"image": "a.png", "alt": "good"})
    assert len(found) == 1
    assert skipped.count == 1
    assert skipped.report()[reason]["rows"][0].startswith("line 1")


def test_wrong_types_in_other_fields_are_taken_as_absent(read):
    [row], _ = read(
        {"image": "a.png", "alt": "x", "page_title": None, "heading": 3, "caption": ["x"], "contexts": "no"}
    )
    assert row.context.title == row.context.caption == ""


def test_blank_lines_are_no_rows_and_a_limit_counts_usable_rows(read):
    good = {"image": "a.png", "alt": "x"}
    found, skipped = read("", "{nope", good, good, good, limit=2)
    assert (len(found), skipped.count) == (2, 1)


def test_a_file_that_is_no_text_is_an_error(tmp_path):
    (tmp_path / "x.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(rows.DataUnreadable, match="UTF-8"):
        list(rows.read(tmp_path / "x.jsonl", rows.Skipped()))


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(rows.DataUnreadable, match="No such file"):
        list(rows.read(tmp_path / "x.jsonl", rows.Skipped()))
