"""Texts are judged without their system, and go back to it."""

from __future__ import annotations

import csv

from captioner.metrics import blind

LINES = [
    {"row": "1", "image": "a.webp", "seen_kind": "photo", "caption": "", "d": "A person", "g": "Mark Twain"},
    {"row": "2", "image": "b.webp", "seen_kind": "photo", "caption": "", "d": "A cat", "g": "A cat"},
    {"row": "3", "image": "c.webp", "seen_kind": "art", "caption": "", "d": "", "g": "A poster"},
    {"row": "4", "image": "d.webp", "seen_kind": "map", "caption": "", "d": "", "g": ""},
]


def test_rows_where_nobody_speaks_are_not_drawn():
    assert {line["row"] for line in blind.draw(LINES, ["d", "g"], 10, seed=1)} == {"1", "2", "3"}


def test_an_equal_text_is_judged_once():
    entries = blind.sheet(LINES, ["d", "g"])
    assert sorted((entry["row"], entry["text"]) for entry in entries) == [
        ("1", "A person"),
        ("1", "Mark Twain"),
        ("2", "A cat"),
        ("3", "A poster"),
    ]
    assert all("system" not in entry for entry in entries)


def test_the_first_letter_is_not_always_the_same_system():
    lines = [{**LINES[0], "row": str(number)} for number in range(64)]
    first = [entry["text"] for entry in blind.sheet(lines, ["d", "g"]) if entry["letter"] == "A"]
    assert 16 < first.count("Mark Twain") < 48  # binomial(64, .5) leaves this range once in 30,000


def test_judgements_go_back_to_every_system_that_said_the_text(tmp_path):
    texts, sheet, judged = tmp_path / "texts.csv", tmp_path / "sheet.csv", tmp_path / "judged.csv"
    with texts.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(LINES[0]))
        writer.writeheader()
        writer.writerows(LINES)
    blind.main(["make", str(texts), str(sheet), "--systems", "d,g", "--size", "9"])
    with sheet.open(newline="") as file:
        entries = list(csv.DictReader(file))
    for entry in entries:
        if entry["row"] != "3":
            entry.update(correct="1", specificity="2")
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(entries[0]))
        writer.writeheader()
        writer.writerows(entries)
    blind.main(["reveal", str(texts), str(sheet), str(judged), "--systems", "d,g"])
    with judged.open(newline="") as file:
        found = [(line["row"], line["system"], line["text"]) for line in csv.DictReader(file)]
    assert found == [("1", "d", "A person"), ("1", "g", "Mark Twain"), ("2", "d", "A cat"), ("2", "g", "A cat")]
