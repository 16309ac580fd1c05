"""The sample for judging by eye is fixed by its seed and gives every kind its turn."""

import csv

from captioner.metrics.sampling import main, stratified


def line(number, kind, text="x"):
    return {"row": f"line {number:03}", "image": f"{number}.png", "seen_kind": kind, "text": text}


LINES = [line(n, "photo") for n in range(50)] + [line(n, "map") for n in range(50, 52)] + [line(99, "photo", text="")]


def test_rare_kinds_are_not_drowned():
    kinds = [one["seen_kind"] for one in stratified(LINES, 10, seed=1)]
    assert kinds.count("map") == 2


def test_the_same_seed_draws_the_same_sample_in_whatever_order_the_rows_come():
    assert stratified(LINES, 10, seed=1) == stratified(LINES[::-1], 10, seed=1)
    assert stratified(LINES, 10, seed=1) != stratified(LINES, 10, seed=2)


def test_silence_is_never_drawn_and_a_small_file_gives_all_it_has():
    assert len(stratified(LINES, 500, seed=1)) == 52


def test_the_written_sample_has_empty_columns_for_the_judgement(tmp_path):
    rows, sample = tmp_path / "rows.csv", tmp_path / "sample.csv"
    with rows.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["row", "image", "seen_kind", "text"])
        writer.writeheader()
        writer.writerows(LINES)
    main([str(rows), str(sample), "--size", "5"])
    written = list(csv.DictReader(sample.open()))
    assert len(written) == 5
    assert {one["correct"] for one in written} == {""}
